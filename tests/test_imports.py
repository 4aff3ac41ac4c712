"""Imports point one way: from what runs hardware to hardware to what to send, and downwards among the rooms of sim."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Each may import those before it.
ROOMS = ("algorithms", "hw", "sim/common", "sim/lowering", "sim/build", "sim/drawing", "sim/host", "sim/engines",
         "sim/waves", "sim/experiments", "sim/export", "sim", "sim/cli", "tools")


def room(parts):
    """The room of a module, by its path's parts."""
    return "/".join(parts[:2]) if parts[0] == "sim" and (ROOT / Path(*parts[:2])).is_dir() else parts[0]


def imported(file):
    """Modules of the package that a file imports, as parts of their paths; for types alone, too."""
    package = file.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[:len(package) - (node.level - 1)]
            yield (*above, *(node.module.split(".") if node.module else ()))
        elif isinstance(node, ast.ImportFrom) and node.module == "wormcast":
            yield from ((name.name,) for name in node.names if (ROOT / name.name).is_dir())
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wormcast."):
            yield tuple(node.module.split(".")[1:])
        elif isinstance(node, ast.Import):
            yield from (tuple(name.name.split(".")[1:]) for name in node.names if name.name.startswith("wormcast."))


def modules():
    """Files of the package, by their modules."""
    found = {}
    for folder in ("algorithms", "hw", "sim", "tools"):
        for file in (ROOT / folder).rglob("*.py"):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found[parts[:-1] if parts[-1] == "__init__" else parts] = file
    return found


@pytest.mark.parametrize("name", ROOMS)
def test_rooms_import_from_those_below_alone(name):
    below = ROOMS[:ROOMS.index(name) + 1]
    wrong = [(str(file.relative_to(ROOT)), "/".join(target)) for file in modules().values()
             if room(file.relative_to(ROOT).parts) == name for target in imported(file) if target
             if room(target) not in below]
    assert wrong == []


def test_no_modules_import_each_other():
    """Through however many others; a package's own list of names is none of its modules."""
    files = modules()
    ahead = {name: {target for target in imported(file) if target in files and target != name[:len(target)]}
             for name, file in files.items() if file.name != "__init__.py"}
    done, path = set(), []

    def visit(name):
        if name in path:
            circle = [*path[path.index(name):], name]
            pytest.fail(" -> ".join("/".join(one) for one, _ in pairwise([*circle, ()])))
        if name in done:
            return
        path.append(name)
        for target in sorted(ahead.get(name, ())):
            visit(target)
        path.pop()
        done.add(name)

    for name in sorted(ahead):
        visit(name)
