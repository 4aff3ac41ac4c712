"""Routing relations that a user names: one of ours, or one in a Python file."""

import hashlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

from .errors import WormcastError, told
from .routing import E_CUBE, HAMILTONIAN, Relation

__all__ = ["load_relation", "relation_digest", "relation_file"]

OWN = {relation.name: relation for relation in (E_CUBE, HAMILTONIAN)}


def load_relation(text: str) -> Relation:
    """Find the relation that a user names.

    Parameters
    ----------
    text : str
        ``e-cube``, ``hamiltonian``, or ``FILE.py`` or ``FILE.py:NAME`` for a subclass of `Relation` (which is
        called without arguments) or an instance of one. A file with a single one needs no name. The file is run,
        as any Python program.

    Raises
    ------
    WormcastError
        There is no such file or name, the file cannot be run, or what is there is no relation.
    """
    if text in OWN:
        return OWN[text]
    path, name = _split(text)
    file = Path(path)
    module = _run(file)
    if name is None:
        name = _only_name(file, module)
    elif not hasattr(module, name):
        raise WormcastError(f"relation: {file} has no {name!r}, {_offer(module)}")
    thing = getattr(module, name)
    if inspect.isclass(thing) and issubclass(thing, Relation):
        try:
            thing = thing()
        except Exception as error:
            sentence = told(error, module.__name__)
            raise WormcastError(f"relation: {name} of {file} cannot be made ({sentence})") from error
    if not isinstance(thing, Relation):
        raise WormcastError(f"relation: {name} of {file} is a {type(thing).__name__}, it must be a Relation")
    if not isinstance(getattr(thing, "name", None), str) or not thing.name:
        raise WormcastError(f"relation: {name} of {file} has no name, it must state one as text")
    return thing


def relation_file(text: str | None) -> str | None:
    """The file that a user names for a relation, as it is written; None of one that has none."""
    return None if text is None or text in OWN else _split(text)[0]


def relation_digest(text: str | None) -> str | None:
    """Tell one text of a relation's file from another; None of a relation that has no file, or whose file is gone."""
    file = Path(relation_file(text) or "")
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _split(text: str) -> tuple[str, str | None]:
    before, _, after = text.rpartition(":")
    file, name = (before, after) if before.endswith(".py") else (text, None)
    if not file.endswith(".py"):
        raise WormcastError(
            f"relation: {text!r} is unknown, allowed are {', '.join(OWN)}, FILE.py and FILE.py:NAME"
        )
    return file, name


def _run(file: Path) -> ModuleType:
    if not file.is_file():
        raise WormcastError(f"relation: there is no file {file}")
    unique = f"_wormcast_relation_{file.stem}_{abs(hash(file.resolve()))}"
    specification = importlib.util.spec_from_file_location(unique, file)
    assert specification is not None  # as the name ends in .py
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[unique] = module  # dataclasses look their module up
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[unique]
        raise WormcastError(f"relation: {file} could not be run ({told(error, unique)})") from error
    return module


def _names(module: ModuleType) -> list[str]:
    """Names in a file that stand for a relation made there."""
    return [
        name
        for name, thing in vars(module).items()
        if (isinstance(thing, Relation) and thing not in OWN.values())
        or (inspect.isclass(thing) and issubclass(thing, Relation) and not inspect.isabstract(thing)
            and thing.__module__ == module.__name__)
    ]


def _only_name(file: Path, module: ModuleType) -> str:
    names = _names(module)
    instances = [name for name in names if isinstance(getattr(module, name), Relation)]
    for choice in (instances, names):
        if len(choice) == 1:
            return choice[0]
    raise WormcastError(f"relation: {file} does not say which by itself, {_offer(module)}")


def _offer(module: ModuleType) -> str:
    names = _names(module)
    return f"allowed are {', '.join(names)}" if names else "it must have a subclass of Relation, or an instance"
