"""Index of the terms that pages of ``docs/`` define in tables with a first column called ``word``."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .markdown import anchor, table

__all__ = ["Term", "find_words", "words_page"]


@dataclass(frozen=True)
class Term:
    """A term and its definition.

    Parameters
    ----------
    name : str
        In Markdown, as in the table.
    meaning : str
        Text of the other cells of the term's row.
    page, heading : str
        File of the page, and the heading above the table.
    """

    name: str
    meaning: str
    page: str
    heading: str


def find_words(page: str, text: str) -> Iterable[Term]:
    """Yield the terms that a page defines, in the order of its tables."""
    heading, columns = "", list[str]()
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if not cells:
            columns = []
        elif re.match(r"word\b", cells[0]):
            columns = cells
        elif columns and not set(line) <= set("|-: "):
            parts = [f"{title}: {text}" if title in ("excluded", "elsewhere") else text
                     for title, text in zip(columns[1:], cells[1:], strict=True) if text]
            meaning = re.sub(r"\]\(#", f"]({page}#", "; ".join(parts))
            for name in cells[0].split(", "):
                yield Term(name, meaning, page, heading)


def words_page(pages: Mapping[str, str]) -> str:
    """Return an alphabetical index of the terms of all pages."""
    found = [word for page, text in pages.items() for word in find_words(page, text)]
    rows = [[word.name, word.meaning, f"[{word.heading}]({word.page}#{anchor(word.heading)})"]
            for word in sorted(found, key=lambda word: re.sub(r"[^\w ]", "", word.name).lower())]
    return "# Words\n\nAll terms that these pages define.\n\n" + table(["word", "meaning", "where"], rows)
