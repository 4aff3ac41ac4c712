"""Words that results and errors are told in, and tables for documents."""

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["count", "markdown_table"]


def count(number: int, word: str) -> str:
    """Write a number of things: ``1 worm``, ``2 worms``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def markdown_table(columns: Sequence[str], numeric: Sequence[bool], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Write a table in Markdown, line by line as the rows come; columns of numbers to the right, nothing for None."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---:' if right else '---' for right in numeric)}|"
    for row in rows:
        yield f"| {' | '.join('' if cell is None else str(cell) for cell in row)} |"
