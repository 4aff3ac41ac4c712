"""Steps that a page asks its reader to do: commands and their output, files to write, Python to run.

- A fenced block with lines ``$ wormcast ...`` shows commands, and what each prints up to the next; ``...`` stands for
  lines that are left out.
- A line ``wormcast ...`` or ``make demo`` in a fenced or indented block, and a whole command in code within a text or
  table, is run. A line that ends in a backslash goes on in the next.
- A fenced block with a title, as ``toml title="sweep.toml"``, is the file of that name.
- Any other block of Python is run.

What the text says of a command stands behind ``#`` or in the rest of its line, and in the paragraph behind its block.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

import typer
from extras import named

from tools.reference.commands import commands

__all__ = ["Command", "Python", "WrittenFile", "complete", "steps"]

BLOCK = re.compile(r"^```(\w*)(.*)\n((?:.*\n)*?)```$|(?<=\n\n)((?:    .*\n)+)|(?<!`)`(wormcast [^`]+)`(?!`)",
                   re.MULTILINE)

#: Commands that the Makefile runs for these targets, after the installation.
MAKE = {"make demo": "wormcast demo --out out"}

#: A word that stands for what the reader puts there.
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\.\.\.").search


@dataclass(frozen=True)
class Command:
    """A command, and what the page says it prints.

    Parameters
    ----------
    words : tuple of str
        Behind ``wormcast``.
    line : int
        Of the page, from 1.
    comment : str
        Behind ``#``, or of one within a text what follows it in its line.
    shown : tuple of str, optional
        Lines; None where nothing is shown.
    behind : str
        Of the last command of a block the paragraph behind it.
    installed : frozenset of str
        Extras that the page has its reader install before, or behind it in the same line.
    """

    words: tuple[str, ...]
    line: int
    comment: str = ""
    shown: tuple[str, ...] | None = None
    behind: str = ""
    installed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The command as typed."""
        return shlex.join(["wormcast", *self.words])


@dataclass(frozen=True)
class Python:
    """Python to run."""

    text: str
    line: int
    installed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WrittenFile:
    """A file that the reader writes."""

    name: str
    text: str
    line: int


def steps(text: str) -> Iterator[Command | Python | WrittenFile]:
    """Steps of a page in the order in which they stand there."""
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        language, attributes, fenced, indented, inline = found.groups()
        installed = named(text[:found.start()])
        if inline:
            if complete(inline):
                rest = text[found.end():].partition("\n")[0]
                comment = rest.partition("`wormcast ")[0].strip(" |")
                yield replace(_command(inline, line), comment=comment, installed=installed | named(rest))
        elif title := re.search(r'title="(.+?)"', attributes or ""):
            yield WrittenFile(title[1], fenced, line)
        elif language == "python":
            yield Python(fenced, line, installed)
        else:
            *first, last = [*_commands(fenced, indented, line)] or [None]
            yield from (replace(command, installed=installed) for command in first)
            if last:
                yield replace(last, behind=_paragraph(text[found.end():]), installed=installed)


def complete(inline: str) -> bool:
    """Return whether a command in a text can be typed: it has all its arguments, and no placeholders."""
    _, name, *words = shlex.split(inline)
    if PLACEHOLDER(inline) or name not in commands():
        return False
    try:
        commands()[name].make_context(name, words)
    except typer.TyperException:
        return False
    return True


def _commands(fenced: str | None, indented: str | None, line: int) -> Iterator[Command]:
    """Commands of a block."""
    if fenced is None:
        return _listed(indented or "", line)
    return (_shown if re.search(r"^\$ ", fenced, re.MULTILINE) else _listed)(fenced, line + 1)


def _paragraph(text: str) -> str:
    """The paragraph that a text begins with, behind pictures; nothing where a heading, list, table or block begins."""
    first = next((part for part in text.strip("\n").split("\n\n") if not part.startswith("![")), "")
    return "" if re.match(r"[#|-]|```|    ", first) else " ".join(first.split())


def _listed(block: str, line: int) -> Iterator[Command]:
    joined = re.sub(r"\\\n", "  ", block)
    for text in joined.splitlines():
        if text.strip().startswith(("wormcast ", *MAKE)) and not PLACEHOLDER(text.partition("#")[0]):
            yield _command(text, line)


def _shown(block: str, line: int) -> Iterator[Command]:
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block, flags=re.MULTILINE)
    for text, shown in zip(parts[1::2], parts[2::2], strict=True):
        text = text.replace("\\\n", " ")
        if text.startswith(("wormcast ", *MAKE)):
            yield _command(text, line, tuple(shown.splitlines()))


def _command(text: str, line: int, shown: tuple[str, ...] | None = None) -> Command:
    text, _, comment = text.strip().partition(" #")
    for make, command in MAKE.items():
        if text.startswith(make):
            text = command
    return Command(tuple(shlex.split(text)[1:]), line, comment.strip(), shown)
