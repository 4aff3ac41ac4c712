"""Tables as CSV: booleans as in JSON, cells without a value empty."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["write_csv"]


def write_csv(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write a header and the rows in their order, with all columns in the order in which they occur first."""
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, [*dict.fromkeys(name for row in rows for name in row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
