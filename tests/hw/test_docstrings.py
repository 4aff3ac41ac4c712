"""Docstrings of hardware agree with the code: names of members, and lines of drawings that meet."""

import ast
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "hw").rglob("*.py"))

#: Members that other code makes: straps and tables of a decoder, links of a node's port.
OF_DECODERS, OF_NODES = {"strap_{name}", "table"}, {"local_in", "local_out"}

#: Classes with a signature that is in part another component's.
WRAPPERS = {"AxisInterface", "ForwardingInterface", "StreamInterface"}

#: Ends of a line in a drawing: characters that continue above, and those that continue below.
UP, DOWN = "└┘┴├┤┼", "┌┐┬├┤┼"


def name_of(file):
    return str(file.relative_to(ROOT))


def nodes(file):
    return ast.walk(ast.parse(file.read_text()))


def documented_members(docstring):
    """Yield the names in the section "Members" of a docstring."""
    lines = docstring.split("\n")
    if "Members" not in lines:
        return
    section = lines[lines.index("Members") + 2:]
    for line, after in zip(section, [*section[1:], ""], strict=True):
        if after.startswith("---"):
            return
        if found := re.match(r"(\S.*?) : ", line):
            yield from found[1].split(", ")


def words_of(node):
    """Return the strings and names of arguments in a class, without its docstring."""
    inside = [one for part in node.body[1:] for one in ast.walk(part)]
    return ({one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            | {one.arg for one in inside if isinstance(one, ast.keyword)})


def undeclared(node):
    """Yield the members in a class's docstring that the class does not declare."""
    words = words_of(node)
    for member in documented_members(inspect.cleandoc(ast.get_docstring(node) or "")):
        # an array of ports is declared without its number; ports of all neighbours by the end of their names
        forms = {member} if "{" not in member else {member.split("{")[0].rstrip("_"), member.split("{")[0],
                                                    member.split("}")[-1]} - {""}
        if not forms & words:
            yield member


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_documented_members_are_declared(file):
    missing = {(node.name, member) for node in nodes(file) if isinstance(node, ast.ClassDef)
               for member in undeclared(node) if node.name not in WRAPPERS}
    assert {(name, member) for name, member in missing if member not in OF_DECODERS | OF_NODES} == set()


def test_an_undeclared_member_is_found():
    docstring = "A.\n\n    Members\n    -------\n    a, b : In(1)\n    c_{k} : Out(1)\n"
    [node] = ast.parse(f'class A:\n    """{docstring}"""\n    members = {{"a": In(1), "c": Out(1)}}\n').body
    assert list(undeclared(node)) == ["b"]


def open_ends(docstring):
    """Yield line, column and character of each corner or branch in a drawing that meets nothing above or below."""
    lines = docstring.split("\n")

    def at(line, column):
        return lines[line][column:column + 1].strip() if 0 <= line < len(lines) else ""

    for number, line in enumerate(lines):
        for column, character in enumerate(line):
            if (character in UP and not at(number - 1, column)) or (character in DOWN and not at(number + 1, column)):
                yield number, column, character


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_lines_of_drawings_meet(file):
    found = [(node.name, *end) for node in nodes(file) if isinstance(node, ast.ClassDef | ast.FunctionDef)
             for end in open_ends(ast.get_docstring(node, clean=False) or "")]
    assert found == []


def test_an_open_end_is_found():
    assert list(open_ends("a ─┐\n   └─ b")) == []
    assert list(open_ends("a ─┐\n    └─ b")) == [(0, 3, "┐"), (1, 4, "└")]
