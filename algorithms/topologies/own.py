"""Networks in users' Python files."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import WormcastError, users_code
from ..python_file import is_defined_in, run_file
from .base import Topology
from .validation import validate_topology

__all__ = ["load_topology"]


def load_topology(file: str, name: str | None) -> Topology:
    """Run a user's file as a Python program, and return its network.

    Parameters
    ----------
    name : str, optional
        Name of a `Topology`, or of a function that returns one when called without arguments. No name is needed if the
        file has a single `Topology`, or no `Topology` and a single function that returns one.

    Raises
    ------
    WormcastError
        The file or the name does not exist, the file cannot be run, or it contains no valid network.
    """
    module = run_file("topology", Path(file))
    if name is None:
        name = _only_name(file, module)
    elif not hasattr(module, name):
        raise WormcastError(f"{file} has no {name!r}. {_offer(file, module)}")
    thing = getattr(module, name)
    if not isinstance(thing, Topology):
        if not callable(thing):
            raise WormcastError(f"{file}: {name} has type {type(thing).__name__}. Allowed: Topology, or a function "
                                "that returns one.")
        thing = _call(thing, name, file, module)
    return validate_topology(thing, f"{name} of {file}")


def _call(function: Callable[[], Any], name: str, file: str, module: ModuleType) -> Topology:
    label = f"{'class' if inspect.isclass(function) else 'function'} {name}"
    with users_code(f"{file}: {label} fails", module.__name__):
        thing = function()
    if not isinstance(thing, Topology):
        raise WormcastError(f"{file}: {label} returns a value of type {type(thing).__name__}. Needed: a Topology.")
    return thing


def _only_name(file: str, module: ModuleType) -> str:
    for choice in (_networks(module), _functions(module)):
        if len(choice) == 1:
            return choice[0]
        if choice:
            break
    raise WormcastError(f"{file} has {'more than one' if choice else 'no'} topology. {_offer(file, module)}")


def _offer(file: str, module: ModuleType) -> str:
    names = _networks(module) + _functions(module)
    return f"Allowed: {', '.join(f'{file}:{name}' for name in names)}." if names else (
        "Needed: a Topology, or a function without arguments that returns one.")


def _networks(module: ModuleType) -> list[str]:
    """Names of the networks that the file defines."""
    return [name for name, thing in vars(module).items()
            if isinstance(thing, Topology) and is_defined_in(module, thing)]


def _functions(module: ModuleType) -> list[str]:
    """Names of the public functions that are defined in the file and need no arguments."""
    return [
        name for name, thing in vars(module).items()
        if inspect.isfunction(thing) and is_defined_in(module, thing) and not name.startswith("_")
        and all(parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL,
                                                                               parameter.VAR_KEYWORD)
                for parameter in inspect.signature(thing).parameters.values())
    ]
