"""Python files that users name: run as modules of their own, whatever goes wrong in them told in a sentence."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from .errors import WormcastError, told

__all__ = ["run_file", "split_file"]


def split_file(text: str) -> tuple[str | None, str | None]:
    """Part ``FILE.py[:NAME]`` into file and name; no file where the text has none."""
    before, _, after = text.rpartition(":")
    file, name = (before, after) if before.endswith(".py") else (text, None)
    return (file, name) if file.endswith(".py") else (None, None)


def run_file(what: str, file: Path) -> ModuleType:
    """Run a file and give the module.

    Parameters
    ----------
    what : str
        The word for what it is run for, as error sentences begin: ``"scheme"``.

    Raises
    ------
    WormcastError
        There is no such file, or it cannot be run.
    """
    if not file.is_file():
        raise WormcastError(f"{what}: there is no file {file}")
    unique = f"_wormcast_{what}_{file.stem}_{abs(hash(file.resolve()))}"
    specification = importlib.util.spec_from_file_location(unique, file)
    assert specification is not None  # as the name ends in .py
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[unique] = module  # dataclasses look their module up
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[unique]
        raise WormcastError(f"{what}: {file} could not be run ({told(error, unique)})") from error
    return module
