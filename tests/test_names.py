"""Names: modules and public classes have different names, old names are gone, and first lines name the thing."""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import wormcast.algorithms
from wormcast.algorithms.old_names import ATTRIBUTES, EXPORTS

ROOT = Path(__file__).parents[1]
SOURCES = [file for room in ("algorithms", "hw", "sim", "tb", "tools") for file in sorted((ROOT / room).rglob("*.py"))]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

#: Names of modules that may occur more often: words of the field, and those that packages must have.
MODULES = {"__init__", "__main__", "base", "mesh", "torus", "multi_drop", "input_unit", "input_decode", "network",
           "switch", "switch_spec"}

#: Files of the catalogue that stand for a user's, so that their classes may have any names, and the library for
#: benches, a package of its own.
APART = ("sim/experiments/figure/catalogue", "tb")

RENAMES = tomllib.loads((ROOT / "tools/renames.toml").read_text())

#: Words that begin a relative clause, or a question, and no first line.
RELATIVE = re.compile(r"(what|which|who|whom|whose|whether|where|when|how|why|of which|of what|that)\b", re.IGNORECASE)

#: Verbs that begin no first line of a class or property. ``True`` begins no first line either: the first line of a
#: property that is true or false is the statement that is true.
VERBS = re.compile(r"(accepts|adds|builds|computes|decides|decodes|determines|draws|finds|grants|keeps|makes|receives|"
                   r"replaces|sends|takes|tells|turns|writes|true|false)\b", re.IGNORECASE)


@cache
def tree(file):
    return ast.parse(file.read_text())


def public_classes(file):
    return [node.name for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef) and node.name[0] != "_"]


def test_no_public_class_has_the_name_of_another():
    found = Counter(name for file in SOURCES if not str(file.relative_to(ROOT)).startswith(APART)
                    for name in public_classes(file))
    assert [name for name, times in found.items() if times > 1] == []


def test_no_module_name_occurs_more_than_twice():
    found = Counter(file.stem for file in SOURCES)
    assert [name for name, times in found.items() if times > 2 and name not in MODULES] == []


@pytest.mark.parametrize("old", RENAMES["modules"])
def test_a_module_is_called_by_its_new_name(old):
    assert not (ROOT / old).exists()
    assert (ROOT / RENAMES["modules"][old]).exists()


@pytest.mark.parametrize("old", RENAMES["names"])
def test_an_old_name_is_gone(old):
    file, name = old.split(":")
    names = {getattr(node, "name", None) or getattr(node, "id", None) for node in ast.walk(tree(ROOT / file))}
    assert name not in names
    assert RENAMES["names"][old] in names


def test_old_names_of_the_users_api_are_refused():
    """`algorithms/old_names.py` has the renamed attributes of schemes, and the renamed exports of the package."""
    renamed = {tuple(old.split(":")): new for old, new in RENAMES["names"].items()}
    assert {old: new for (file, old), new in renamed.items() if file == "algorithms/schemes/base.py"} == ATTRIBUTES
    exports = {old: new for (file, old), new in renamed.items()
               if file.startswith("algorithms/") and new in wormcast.algorithms.__all__}
    assert exports | {old.split(":")[1]: new for old, new in RENAMES["exports"].items()} == EXPORTS


def test_nothing_new_has_an_old_name():
    modules = {Path(old).stem for old in RENAMES["modules"]}
    names = {old.split(":")[1] for old in RENAMES["names"]}
    found = {str(file.relative_to(ROOT)) for file in SOURCES if file.stem in modules}
    found |= {f"{file.relative_to(ROOT)}:{node.name}" for file in SOURCES for node in tree(file).body
              if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in names}
    assert found == set(RENAMES["elsewhere"])


def words_of_names(file):
    """Words of all names in a file: of classes, functions, variables, parameters and attributes."""
    for node in ast.walk(tree(file)):
        for name in (getattr(node, field, None) for field in ("name", "id", "arg", "attr")):
            if isinstance(name, str):
                yield from re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_name_has_a_retired_word(file):
    assert {word.lower() for word in words_of_names(file)} & set(RENAMES["retired"]) == set()


def signals(file):
    """Names of a file's signals and of members of bundles: those that are declared, and all attributes."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Assign) and calls(node.value) & {"Signal"}:
            yield from (one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name))
        elif isinstance(node, ast.Dict):
            yield from (key.value for key, value in zip(node.keys, node.values, strict=True)
                        if isinstance(key, ast.Constant) and calls(value) & {"In", "Out"})
        elif isinstance(node, ast.keyword) and node.arg == "name" and isinstance(node.value, ast.Constant):
            yield node.value.value


def calls(value):
    """Names of the functions that an expression calls."""
    return {getattr(node.func, "id", None) for node in ast.walk(value) if isinstance(node, ast.Call)}


def test_no_signal_has_an_old_name():
    found = {name: file for file in SOURCES if file.is_relative_to(ROOT / "hw") for name in signals(file)}
    assert {old: str(found[old]) for old in RENAMES["signals"] if old in found} == {}
    assert [new for new in RENAMES["signals"].values() if new not in found] == []


#: Words in code of pages that are no signals: a verdict, Python's `sys.exit`, keys of figures, of JSON and of theory.
NO_SIGNALS = {("deadlock.md", "held"), ("experiments.md", "exit"), ("figures.md", "claims"), ("figures.md", "exit"),
              ("results.md", "wrong"), ("theory.md", "falls")}


def code_words(text):
    """Return the words in code spans of a text: names are split at dots and double underscores."""
    return {word for span in re.findall(r"`+([^`\n]+)`+", text) for word in re.split(r"\W+|__", span)}


def docstrings(file):
    return "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree(file))
                     if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))


def test_no_page_and_no_docstring_has_an_old_name_of_a_signal():
    hardware = [(file.name, docstrings(file)) for file in SOURCES if file.is_relative_to(ROOT / "hw")]
    pages = [(file.name, file.read_text()) for file in PAGES]
    found = {(name, word) for name, text in hardware + pages for word in code_words(text) & set(RENAMES["signals"])}
    assert found == NO_SIGNALS
    # the name of a signal of virtual channels; deep buffers have another signal `fetch`
    assert [name for name, text in pages if "channel_0.fetch`" in text] == []


def test_no_text_has_the_path_of_an_old_module():
    paths = [path for old in RENAMES["modules"] for path in (old, old.removesuffix(".py").replace("/", "."))]
    old = re.compile(r"(?<![\w/.-])(?:wormcast[./])?(?:" + "|".join(map(re.escape, paths)) + r")(?![\w-])")
    files = [*SOURCES, *EXAMPLES, *PAGES, *TESTS]
    assert [(str(file.relative_to(ROOT)), found) for file in files for found in old.findall(file.read_text())] == []


def test_no_docstring_has_an_old_name_of_its_file():
    found = [old for old in RENAMES["names"]
             if re.search(f"`{old.split(':')[1]}[`.(]", (ROOT / old.split(":")[0]).read_text())]
    assert found == []


def test_no_package_lists_an_old_module():
    packages = {old: (ROOT / old).parent / "__init__.py" for old in RENAMES["modules"]}
    assert [old for old, package in packages.items() if f"``{Path(old).stem}``" in package.read_text()] == []


def first_lines(file):
    """First lines of all docstrings, of attributes' too, of ``#:`` comments and of ``help=``, each with its line."""
    text = file.read_text()
    for node in ast.walk(tree(file)):
        for one in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield one.lineno, one.value.value.strip().split("\n")[0]
        if isinstance(node, ast.keyword) and node.arg == "help":
            said = node.value.values[0] if isinstance(node.value, ast.JoinedStr) else node.value
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                yield said.lineno, said.value
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.strip().startswith("#: ") and not lines[number - 1].strip().startswith("#: "):
            yield number + 1, line.strip().removeprefix("#: ")


@pytest.mark.parametrize("file", SOURCES + EXAMPLES + TESTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_first_lines_name_the_thing(file):
    assert [(number, line) for number, line in first_lines(file) if RELATIVE.match(line)] == []


@pytest.mark.parametrize("file", SOURCES + EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_classes_and_properties_begin_with_a_noun(file):
    named = [node for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef) or (
        isinstance(node, ast.FunctionDef) and any("property" in ast.unparse(one) for one in node.decorator_list))]
    assert [(node.lineno, node.name) for node in named if VERBS.match(ast.get_docstring(node) or "")] == []


def test_few_members_are_looked_up_by_a_name_that_is_made():
    """Ports are bundles and arrays: a block diagram can be read off a file that names what it connects."""
    made = [f"{file.relative_to(ROOT)}:{node.lineno}" for file in SOURCES if "tb" not in file.relative_to(ROOT).parts
            for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name) and node.func.id == "getattr"
            and not isinstance(node.args[1], ast.Constant)]
    assert len(made) <= 30, made
    assert sum(place.startswith("hw/") for place in made) <= 3, made
