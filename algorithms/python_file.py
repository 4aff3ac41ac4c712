"""Users' Python files, run as modules of their own. Errors in users' files become refusals."""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import FAILURES, WormcastError, describe_error, no_such_file

__all__ = ["describe_class", "is_defined_in", "run_file", "split_file"]


def split_file(text: str) -> tuple[str | None, str | None]:
    """Split ``FILE.py[:NAME]`` into file and name. File and name are None if the text has no file."""
    before, _, after = text.rpartition(":")
    file, name = (before, after) if before.endswith(".py") else (text, None)
    return (file, name) if file.endswith(".py") else (None, None)


def run_file(what: str, file: Path) -> ModuleType:
    """Run a file and return the module.

    Parameters
    ----------
    what : str
        First word of refusals: ``"scheme"``.

    Raises
    ------
    WormcastError
        The file does not exist or cannot be run.
    """
    if not file.is_file():
        raise no_such_file(what, file)
    unique = f"_wormcast_{what}_{file.stem}_{abs(hash(file.resolve()))}"
    specification = importlib.util.spec_from_file_location(unique, file)
    assert specification is not None  # the file's name ends in .py
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[unique] = module  # dataclasses look up their module in sys.modules
    try:
        specification.loader.exec_module(module)
    except FAILURES as error:
        del sys.modules[unique]
        raise WormcastError(f"{what}: {file} cannot be run ({describe_error(error, unique)})") from error
    return module


def is_defined_in(module: ModuleType, thing: Any) -> bool:
    """Return whether a file's module itself defines a class, function or instance, and does not import it.

    An instance is defined in the file if its class is, or if no other module has it as a global variable.
    """
    if inspect.isclass(thing) or inspect.isfunction(thing):
        return thing.__module__ == module.__name__
    if type(thing).__module__ == module.__name__:
        return True
    others = [getattr(other, "__dict__", {}) for other in [*sys.modules.values()] if other is not module]
    return not any(thing is one for globals_ in others for one in [*globals_.values()])


def describe_class(thing: Any) -> str:
    """Return class and file of an instance: ``"class R of mine.py"``; without a file: ``"class R"``."""
    file = getattr(sys.modules.get(type(thing).__module__), "__file__", None)
    return f"class {type(thing).__name__}" + (f" of {Path(file).name}" if file else "")
