"""The results of a sweep as CSV: the same bytes, however often it was interrupted."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .file import Sweep
from .point import Point

__all__ = ["row", "write"]


def row(sweep: Sweep, point: Point, result: Mapping[str, Any]) -> dict[str, Any]:
    """Give a point's cells by column: the swept options as given, the others as run, then the results.

    A mean with its interval is two columns, ``NAME_mean`` and ``NAME_half_width``; of a deadlock, whether there is one.
    """
    cells = {name: point.given[name] for name in sweep.swept}
    cells |= {name: value for name, value in point.resolved.items() if name not in sweep.swept}
    for name, value in result.items():
        if name == "deadlock":
            cells[name] = value is not None
        elif isinstance(value, Mapping):
            cells |= {f"{name}_{part}": number for part, number in value.items()}
        else:
            cells[name] = value
    return cells


def write(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write the rows in their order, a header before them; cells without a value are empty."""
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in cells.items()} for cells in rows)


def _cell(value: Any) -> Any:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value
