"""Digest of the syntax trees of Python files and of all files that they import."""

import ast
import functools
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import wormcast

from .kept_files import cache_folder, read_kept, write_kept

__all__ = ["imported_files", "package_file", "source_digest"]

ROOT = os.path.dirname(wormcast.__file__)

#: Functions by which code reads docstrings, except the built-in ``help``.
DOCSTRINGS = {"getdoc", "getsource"}

#: String that can be the full name of a module of this package.
MODULE = re.compile(r"wormcast(\.\w+)+")

#: Largest number of files in the table of digests on disk.
#: A larger table is replaced by a table of the files that this process has read.
MOST = 1000

#: Time at which this module was imported.
#: A file that changed after this time may differ from the version that the process has imported.
BEGAN = time.time_ns()


class _Import(NamedTuple):
    """``from {level dots}{module} import {name} as {bound}``, or ``import {module}`` where ``name`` is empty."""

    level: int
    module: str
    name: str
    bound: str


class _Source(NamedTuple):
    """Digests of a file's content and syntax tree, and its imports.

    The imports are those of this package, relative imports, and modules of this package whose names are in strings.
    """

    content: str
    tree: str
    reads_docstrings: bool
    imports: list[_Import]


def package_file(module: str) -> str:
    """Return the file of a module of this package from its full name. The file of a package is its ``__init__.py``."""
    base = os.path.join(ROOT, *module.split(".")[1:])
    return f"{base}.py" if os.path.isfile(f"{base}.py") else os.path.join(base, "__init__.py")


def source_digest(files: Iterable[str | os.PathLike[str]]) -> str:
    """Return a digest that changes when a file, or one of the `imported_files`, has another syntax tree.

    Comments, docstrings and blank lines do not count, unless the code of one of the files reads docstrings: then the
    whole text of all files counts. If a file was written after this module was imported, the digest is a new one, as
    the process may have imported the file's earlier content.

    Parameters
    ----------
    files : paths of Python files
    """
    sources = _follow(files)
    docstrings = any(source.reads_docstrings for source in sources.values())
    parts = sorted(f"{_name(path)} {source.content if docstrings else source.tree}" for path, source in sources.items())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def imported_files(files: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return these files and all files that they import from this package or by relative imports, sorted.

    Imports inside functions, imports for type checking, and strings that name a module of this package count too. A
    name that a package's ``__init__.py`` imports leads to the module where it is defined, and not to the package's
    other modules.
    """
    return sorted(_follow(files))


def _name(path: str) -> str:
    """Name of a file, relative to the package's folder if the file is in the package."""
    return os.path.relpath(path, ROOT) if path.startswith(ROOT + os.sep) else os.path.basename(path)


def _follow(files: Iterable[str | os.PathLike[str]]) -> dict[str, _Source]:
    """Sources of these files and of all files that they import, by path."""
    with _Table() as table:
        ahead = [os.path.abspath(file) for file in files]
        found: dict[str, _Source] = {}
        while ahead:
            path = ahead.pop()
            if path not in found:
                found[path] = table.source(path)
                ahead += [one for entry in found[path].imports for one in _leads_to(table, path, entry)]
    return found


def _leads_to(table: "_Table", path: str, entry: _Import) -> Iterator[str]:
    """Yield the files to which an import leads."""
    if entry.level:
        base = path
        for _ in range(entry.level):
            base = os.path.dirname(base)
        base = os.path.join(base, *entry.module.split(".")) if entry.module else base
    else:
        base = os.path.join(ROOT, *entry.module.split(".")[1:])
    if _is_file(f"{base}.py"):
        yield f"{base}.py"
        return
    package = os.path.join(base, "__init__.py")
    if entry.name:
        own = table.source(package).imports if _is_file(package) else []
        bound = [one for one in own if one.bound == entry.name and one.name]
        for one in bound:
            yield from _leads_to(table, package, one)
        if bound:
            return
        below = os.path.join(base, entry.name)
        for module in (f"{below}.py", os.path.join(below, "__init__.py")):
            if _is_file(module):
                yield module
                return
    if _is_file(package):
        yield package


@functools.cache
def _is_file(path: str) -> bool:
    return os.path.isfile(path)


class _Table:
    """Digests of files by their contents, stored on disk: parsing takes a hundred times as long as reading."""

    def __init__(self) -> None:
        self._seen: dict[str, _Source] = {}
        self._read: set[str] = set()
        self._added = False

    def __enter__(self) -> "_Table":
        self._path = cache_folder() / f"sources-{sys.implementation.cache_tag}.json"
        self._by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        kept = json.loads(read_kept(self._path) or "{}")
        self._known: dict[str, list] = kept["files"] if kept.get("by") == self._by else {}
        return self

    def __exit__(self, *_: object) -> None:
        if self._added:
            if len(self._known) > MOST:
                self._known = {content: self._known[content] for content in self._read}
            write_kept(self._path, json.dumps({"by": self._by, "files": self._known}).encode())

    def source(self, path: str) -> _Source:
        """Return the digests and the imports of a file."""
        if path not in self._seen:
            with open(path, "rb") as file:
                changed = os.fstat(file.fileno()).st_mtime_ns > BEGAN
                text = file.read()
            content = hashlib.sha256(text).hexdigest()
            if content not in self._known:
                self._known[content] = list(_parse(text))
                self._added = True
            self._read.add(content)
            tree, reads_docstrings, imports = self._known[content]
            if changed:
                content = tree = os.urandom(16).hex()
            self._seen[path] = _Source(content, tree, reads_docstrings, [_Import(*one) for one in imports])
        return self._seen[path]


def _parse(text: bytes) -> tuple[str, bool, list[_Import]]:
    """Digest of a file's syntax tree, whether the file reads docstrings, and its imports."""
    tree = ast.parse(text)
    reads_docstrings = False
    imports = []
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or module.partition(".")[0] == "wormcast":
                imports += [_Import(node.level, module, one.name, one.asname or one.name) for one in node.names]
        elif isinstance(node, ast.Import):
            imports += [_Import(0, one.name, "", "") for one in node.names if one.name.partition(".")[0] == "wormcast"]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if MODULE.fullmatch(node.value):  # a header class has the name of its decoder's module in a string
                imports.append(_Import(0, node.value, "", ""))
        elif isinstance(node, ast.Attribute | ast.Name):
            reads_docstrings |= (node.attr if isinstance(node, ast.Attribute) else node.id) in DOCSTRINGS
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), reads_docstrings, imports


def _is_text(statement: ast.stmt) -> bool:
    """Return whether the statement is an unused string: a docstring, or the string after a constant."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(
        statement.value.value, str)
