"""Networks that users make in Python files."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import WormcastError, told
from ..python_file import run_file
from .base import Topology
from .validation import sound

__all__ = ["load_topology"]


def load_topology(file: str, name: str | None) -> Topology:
    """Run a user's file, as any Python program, and give the network that it makes.

    Parameters
    ----------
    name : str, optional
        Which of its things: a `Topology`, or a function that gives one when called without arguments. A file with a
        single `Topology`, or none and a single such function, needs no name.

    Raises
    ------
    WormcastError
        There is no such file or name, the file cannot be run, or what is there gives no sound network.
    """
    module = run_file("topology", Path(file))
    if name is None:
        name = _only_name(file, module)
    elif not hasattr(module, name):
        raise WormcastError(f"topology: {file} has no {name!r}, {_offer(module)}")
    thing = getattr(module, name)
    if not isinstance(thing, Topology):
        if not callable(thing):
            raise WormcastError(f"topology: {name} of {file} is a {type(thing).__name__}, it must be a Topology or a "
                                "function that gives one")
        thing = _called(thing, name, file, module)
    return sound(thing, f"{name} of {file}")


def _called(function: Callable[[], Any], name: str, file: str, module: ModuleType) -> Topology:
    try:
        thing = function()
    except WormcastError:
        raise
    except (Exception, SystemExit) as error:
        raise WormcastError(f"topology: {name} of {file} cannot be called ({told(error, module.__name__)})") from error
    if not isinstance(thing, Topology):
        raise WormcastError(f"topology: {name} of {file} gives a {type(thing).__name__}, it must give a Topology")
    return thing


def _only_name(file: str, module: ModuleType) -> str:
    for choice in (_networks(module), _functions(module)):
        if len(choice) == 1:
            return choice[0]
        if choice:
            break
    raise WormcastError(f"topology: {file} does not say which by itself, {_offer(module)}")


def _offer(module: ModuleType) -> str:
    names = _networks(module) + _functions(module)
    return f"allowed are {', '.join(names)}" if names else (
        "it must have a Topology, or a function without arguments that gives one")


def _networks(module: ModuleType) -> list[str]:
    return [name for name, thing in vars(module).items() if isinstance(thing, Topology)]


def _functions(module: ModuleType) -> list[str]:
    """Names of the functions that were made in the file, are not hidden, and need no arguments."""
    return [
        name for name, thing in vars(module).items()
        if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_")
        and all(parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL,
                                                                               parameter.VAR_KEYWORD)
                for parameter in inspect.signature(thing).parameters.values())
    ]
