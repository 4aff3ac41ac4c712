"""Names that users' schemes, relations and topologies may use: declarations of the page are those of the code."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from wormcast import algorithms
from wormcast.algorithms import RELATIONS, SCHEMES, TOPOLOGIES

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
DECLARED = {node.name: node for block in re.findall(r"```pyi\n(.*?)```", PAGE, re.DOTALL)
            for node in ast.parse(block).body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def sources(kind):
    """Syntax trees of a class and its bases in this package, the class first."""
    for one in kind.__mro__:
        if one.__module__.startswith("wormcast."):
            tree = ast.parse(Path(inspect.getfile(importlib.import_module(one.__module__))).read_text())
            yield next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == one.__name__)


def members(node):
    """Declarations of a class by name, as text: signatures without bodies, attributes with types and defaults."""
    found = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            found[item.name] = signature(item)
        elif isinstance(item, ast.AnnAssign):
            found[item.target.id] = ast.unparse(item)
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            found[item.targets[0].id] = ast.unparse(item)
    return found


def signature(item):
    """A function's decorators that callers see, arguments and result, as text."""
    seen = [one for one in map(ast.unparse, item.decorator_list) if one in ("property", "cached_property")]
    result = f" -> {ast.unparse(item.returns)}" if item.returns else ""
    text = f"{' '.join(seen).replace('cached_', '')} def {item.name}({ast.unparse(item.args)}){result}"
    return text.replace("'", "").strip()


@pytest.mark.parametrize("name", DECLARED)
def test_declarations_of_the_page_are_those_of_the_code(name):
    declared = DECLARED[name]
    if isinstance(declared, ast.FunctionDef):
        function = getattr(algorithms, name)
        tree = ast.parse(inspect.getsource(function)).body[0]
        assert signature(declared) == signature(tree)
        return
    kind = getattr(algorithms, name)
    code = {}
    for node in reversed(list(sources(kind))):
        code |= members(node)
    for member, text in members(declared).items():
        assert text.replace("'", "") == code[member].replace("'", ""), member


@pytest.mark.parametrize("name", [name for name, node in DECLARED.items() if isinstance(node, ast.ClassDef)])
def test_what_a_class_must_define_is_on_the_page(name):
    needed = getattr(getattr(algorithms, name), "__abstractmethods__", frozenset())
    bases = [ast.unparse(base) for base in DECLARED[name].bases]
    declared = set(members(DECLARED[name]))
    for base in bases:
        declared |= set(members(DECLARED[base])) if base in DECLARED else set()
    assert needed <= declared


def test_entry_points_of_the_page_are_those_that_are_read():
    groups = set(re.findall(r"entry point in the group `([\w.]+)`", PAGE))
    assert groups == {registry._group for registry in (SCHEMES, RELATIONS, TOPOLOGIES)}


def test_the_triples_of_the_page_are_those_of_schemes_along_labels():
    [block] = re.findall(r"```python\n(def visit_triples.*?)```", PAGE, re.DOTALL)
    names = {"np": np}
    exec(block, names)
    mesh = algorithms.topology("mesh:3x3")
    listed = set(map(tuple, names["visit_triples"](None, mesh).tolist()))
    assert listed == set(map(tuple, SCHEMES["dual-path"].visit_triples(mesh).tolist()))
