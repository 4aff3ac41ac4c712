"""Markdown for reference pages: tables, code, plain text, headings and navigation."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence

from wormcast.sim.common.text import markdown_table

__all__ = ["anchor", "cell", "code", "listing", "of_docstring", "plain", "sentence", "table"]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table. Cells must be Markdown, as returned by `cell` or `code`."""
    return "\n".join(markdown_table(columns, [False] * len(columns), rows)) + "\n"


def plain(text: str) -> str:
    """Escape backslashes, backticks, asterisks, underscores, square brackets and angle brackets for Markdown."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def sentence(text: str) -> str:
    """Return a line of explanation as an escaped sentence."""
    return plain(text[0].upper() + text[1:] + ".")


def cell(text: str) -> str:
    """Return plain text as a cell of a table."""
    return plain(" ".join(text.split())).replace("|", r"\|")


def code(text: str) -> str:
    """Return code without line breaks, also for a cell of a table."""
    return f"`{text}`{{.whole}}".replace("|", r"\|") if text else ""


def anchor(title: str) -> str:
    """Return the anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def listing(caption: str, pages: Iterable[str]) -> str:
    """Return a toctree with the pages below the current page."""
    named = [f":caption: {caption}"] if caption else []
    return "\n".join(["```{toctree}", ":hidden:", *named, "", *pages, "```", ""])


def of_docstring(thing: object) -> str:
    """Return the part of a docstring before its first section, as Markdown."""
    text = re.split(r"\n\n\w+\n-{3,}\n", inspect.getdoc(thing) or "")[0]
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    text = re.sub(r"::\n((?:\n|    .*\n?)+)", lambda drawn: f"\n```text\n{_dedented(drawn[1])}\n```\n\n", text)
    return text.strip() + "\n"


def _dedented(text: str) -> str:
    return textwrap.dedent(text).strip("\n")
