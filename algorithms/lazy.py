"""Packages that import their modules at the first use of a name."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

__all__ = ["lazily"]

NOTHING: Mapping[str, str] = MappingProxyType({})


def lazily(package: str, names: Mapping[str, Sequence[str]],
           renamed: Mapping[str, str] = NOTHING) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    An exported name must differ from the names of the package's modules: importing a module would replace the object.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : mapping of str to sequence of str
        Names that the package exports from each of its modules.
    renamed : mapping of str to str
        New names of renamed exports. An old name raises an ImportError with the new one: Python replaces the text of an
        AttributeError in ``from package import name``.
    """
    modules = {name: module for module, its in names.items() for name in its}

    def load(name: str) -> Any:
        if name in renamed:
            raise ImportError(f"{name} is renamed: {renamed[name]}")
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
