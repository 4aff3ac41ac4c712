"""Text form of a deep switch's registers: the rows of an input, and the position of an output in its worm."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..logic import bits_for
from .switch_spec import DeepSwitchSpec

__all__ = ["describe_fetch", "describe_reader", "describe_rows", "reader_fields", "row_fields"]

Read = Callable[[str], Any]
"""Function from a register's full name to its values. A memory's values have a further dimension, its rows."""


def row_fields(switch: DeepSwitchSpec, port: int, read: Read) -> Any:
    """Read the registers of an input that `describe_rows` needs, stacked along a last dimension."""
    store = f"{switch.inputs[port].name}_input.store"
    single = [read(f"{store}.{name}") for name in ("used", "bank", "closed_row", "write_row")]
    return np.concatenate([np.stack(single, axis=-1), read(f"{store}.pending")], axis=-1)


def describe_rows(switch: DeepSwitchSpec, fields: Any) -> str:
    """Return the rows of an input that have flits, as text, oldest first, for example ``3:2,4:1,5+,6+3``.

    ``3:2``: row 3 has a replication chunk counter of 2, as two outputs have not fetched it. ``5+``: row 5 has received
    its last flit, and is not closed yet. ``6+3``: row 6 has three flits so far.
    """
    used, flits, *numbers = map(int, fields[:4])
    pending, filling = fields[4:], int(flits != 0)
    closed, written = (number & (1 << bits_for(switch.rows)) - 1 for number in numbers)
    waiting = written - closed + switch.rows * (written < closed or (written == closed and numbers[0] != numbers[1]))
    whole = [(closed - 1 - k) % switch.rows for k in reversed(range(max(0, used - waiting - filling)))]
    return ",".join([*(f"{row}:{int(pending[row])}" for row in whole),
                     *(f"{(closed + k) % switch.rows}+" for k in range(waiting)),
                     *[f"{written}+{flits}"] * filling])


def reader_fields(switch: DeepSwitchSpec, output: int, read: Read) -> Any:
    """Read the registers of an output for `describe_reader` and `describe_fetch`, stacked along a last dimension."""
    reader = f"{switch.outputs[output].name}_reader"
    return np.stack([read(f"{reader}.{name}") for name in (
        "owner", "row", "place", "holding", "following", "has_current", "has_behind", "was_fetched")], axis=-1)


def describe_reader(switch: DeepSwitchSpec, fields: Any) -> str:
    """Return the input, row and position of the next flit that an output sends, as text; empty without a worm.

    ``p0:3.5``: flit 5 of row 3 of input p0; the output sends a row that it has fetched, or waits for a row.
    ``p0:3.5,follows``: the output takes the flits in cut-through, as they pass.
    """
    owner, number, place, holding, following, *fetched = map(int, fields)
    if not (holding or any(fetched)):
        return ""
    return f"{_row_before(switch, owner, number, sum(fetched))}.{place}" + ",follows" * bool(following)


def describe_fetch(switch: DeepSwitchSpec, fields: Any) -> str:
    """Return the input and row that was fetched for an output in the cycle before, for example ``p0:3``; empty without
    a fetch."""
    owner, number, *_, was_fetched = map(int, fields)
    return _row_before(switch, owner, number, 1) if was_fetched else ""


def _row_before(switch: DeepSwitchSpec, owner: int, number: int, rows: int) -> str:
    """Return the name of the input ``owner``, and the number of the row that is ``rows`` rows before row ``number``."""
    [port] = [port.name for i, port in enumerate(switch.inputs) if owner >> i & 1]
    return f"{port}:{((number & (1 << bits_for(switch.rows)) - 1) - rows) % switch.rows}"
