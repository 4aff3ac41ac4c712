"""Results of a sweep as a table, and as Parquet. Interruptions of the sweep do not change the files' bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...common.requirements import require
from ..option_grid import Sweep
from .file import OPTIONS
from .point import Point

__all__ = ["cells_of", "require_parquet", "row", "write_parquet"]


def row(sweep: Sweep, point: Point, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a point's cells by column: the swept options as given, the other options as run, then the results.

    A mean with its interval has two columns, ``NAME_mean`` and ``NAME_half_width``. Column ``deadlock`` is a boolean.
    """
    return {**sweep.columns(point.given, point.resolved), **cells_of(result)}


def cells_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result's cells by column, see `row`."""
    return _apart({**result, "deadlock": result["deadlock"] is not None} if "deadlock" in result else result)


def _apart(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten values: each entry of a mapping gets its own column."""
    cells: dict[str, Any] = {}
    for name, value in values.items():
        cells |= _apart({f"{name}_{part}": one for part, one in value.items()}) if isinstance(value, Mapping) else {
            name: value}
    return cells


def require_parquet() -> None:
    """Raise `ToolMissing` if pyarrow, which writes Parquet, is not installed."""
    require("pyarrow", "parquet")


def write_parquet(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write the rows in their order as Parquet. Cells without a value are null.

    Columns are bool, int64, double or string. A column of an option without any value has the option's type. A column
    of results without any value is double.
    """
    pyarrow, parquet = require("pyarrow", "parquet"), require("pyarrow.parquet", "parquet")
    types = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    columns = {name: pyarrow.array([cells[name] for cells in rows], types[_kind(name, rows)]) for name in rows[0]}
    parquet.write_table(pyarrow.table(columns), file)


def _kind(name: str, rows: Sequence[Mapping[str, Any]]) -> type:
    kinds = {type(cells[name]) for cells in rows} - {type(None)}
    if len(kinds) == 1:
        return kinds.pop()
    return float if kinds or name not in OPTIONS else OPTIONS[name].kind
