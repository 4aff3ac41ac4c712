"""Pieces of Markdown."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence

from wormcast.sim.common.text import markdown_table

__all__ = ["anchor", "cell", "code", "listing", "of_docstring", "plain", "sentence", "table"]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; what is in its cells is Markdown, as `cell` or `code` give it."""
    return "\n".join(markdown_table(columns, [False] * len(columns), rows)) + "\n"


def plain(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def sentence(text: str) -> str:
    """A line of explanation as a sentence, in plain text."""
    return plain(text[0].upper() + text[1:] + ".")


def cell(text: str) -> str:
    """Plain text for a cell of a table."""
    return plain(" ".join(text.split())).replace("|", r"\|")


def code(text: str) -> str:
    """Code that no line breaks, in a cell of a table too."""
    return f"`{text}`{{.whole}}".replace("|", r"\|") if text else ""


def anchor(title: str) -> str:
    """Name of a heading in links, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def listing(caption: str, pages: Iterable[str]) -> str:
    """Entries of the site's navigation: those below the page on which they stand."""
    named = [f":caption: {caption}"] if caption else []
    return "\n".join(["```{toctree}", ":hidden:", *named, "", *pages, "```", ""])


def of_docstring(thing: object) -> str:
    """What a docstring tells before its parameters, members or attributes."""
    text = re.split(r"\n\n\w+\n-{3,}\n", inspect.getdoc(thing) or "")[0]
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    text = re.sub(r"::\n((?:\n|    .*\n?)+)", lambda drawn: f"\n```text\n{_dedented(drawn[1])}\n```\n\n", text)
    return text.strip() + "\n"


def _dedented(text: str) -> str:
    return textwrap.dedent(text).strip("\n")
