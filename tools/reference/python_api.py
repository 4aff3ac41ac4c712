"""Reference page of the functions of the package ``wormcast`` and of their results."""

import inspect
from typing import Any

import wormcast
from wormcast.sim.api.results import CommandResult
from wormcast.sim.export.verilog import entries

from .markdown import cell, code, of_docstring, table

__all__ = ["api_page"]


def api_page() -> dict[str, str]:
    """Return the page, by its file."""
    public = [getattr(wormcast, name) for name in wormcast.__all__]
    functions = [one for one in public if inspect.isfunction(one)]
    results = [one for one in public if inspect.isclass(one) and issubclass(one, CommandResult)]
    parts = ["# Functions of Python\n", ("[From Python](../python.md) explains how to use them. All names are in the "
             "package `wormcast`.\n")]
    for function in functions:
        parts += [f"## {function.__name__}\n", of_docstring(function), _parameters(function)]
    parts += ["## Members of all results\n", _members(CommandResult)]
    for result in results:
        parts += [f"## {result.__name__}\n", of_docstring(result), _parameters(result), _members(result)]
    return {"python.md": "\n".join(parts)}


def _parameters(thing: Any) -> str:
    rows = [[", ".join(code(name.strip()) for name in names.split(",")), cell(kind), cell(said)]
            for names, _, kind, said in ((*head.partition(" : "), said) for head, said in entries(thing, "Parameters"))]
    return table(["parameter", "", ""], rows) if rows else ""


def _members(kind: type) -> str:
    """Return a table of the public properties and methods that a class itself defines."""
    rows = []
    for name, member in vars(kind).items():
        if name.startswith("_") or (not isinstance(member, property | classmethod) and not inspect.isfunction(member)):
            continue
        said = (inspect.getdoc(member) or "").partition("\n\n")[0]
        rows.append([code(name if isinstance(member, property) else f"{name}()"), cell(said)])
    return table(["member", ""], rows) if rows else ""
