"""Imports point one way: from what runs hardware to hardware to what to send, and downwards among the rooms of sim."""

import ast
import importlib
import pkgutil
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: The drawing of the rooms, whose folders stand at the beginning of its lines.
DRAWING = (ROOT / "docs" / "architecture.md").read_text().split("```text\n", 1)[1].split("```", 1)[0]
DRAWN = [line.split()[0] for line in reversed(DRAWING.splitlines())]
#: Each may import those before it. What the drawing leaves out: the package `sim` itself, and the tools beside it.
ROOMS = (*DRAWN[:-1], "sim", DRAWN[-1], "tools")


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


def test_the_drawing_has_every_room():
    assert {room(file.relative_to(ROOT).parts) for file in modules().values()} == set(ROOMS)
    assert DRAWN[-1] == "sim/cli"


def test_a_room_is_drawn_because_another_one_imports_it():
    """All but the command line, which stands on top."""
    used = {room(target) for file in modules().values() for target in imported(file) if target
            if room(target) != room(file.relative_to(ROOT).parts)}
    assert set(DRAWN) - used <= {"sim/cli"}


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


def public_names(file):
    """Names that a lazy package imports for mypy alone, by its modules; none of other packages."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return {one.module: {name.name for name in one.names} for one in node.body}
    return {}


LAZY = {f"wormcast.{'.'.join(name)}": file for name, file in modules().items()
        if file.name == "__init__.py" and public_names(file)}


@pytest.mark.parametrize("package", LAZY)
def test_lazy_packages_have_the_names_that_mypy_sees(package):
    module, named = importlib.import_module(package), public_names(LAZY[package])
    names = {name for its in named.values() for name in its}
    assert names <= set(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
    for where, its in named.items():
        source = importlib.import_module(f"{package}.{where}")
        assert all(getattr(module, name) is getattr(source, name) for name in its)
    with pytest.raises(AttributeError, match="'unknown'"):
        module.unknown  # noqa: B018


@pytest.mark.parametrize("package", LAZY)
def test_names_of_lazy_packages_are_no_modules(package):
    """Importing a module puts it into its package, in place of what had its name."""
    inside = {one.name for one in pkgutil.iter_modules([str(LAZY[package].parent)])}
    assert inside.isdisjoint(importlib.import_module(package).__all__)
