"""What the registers of a deep switch say in words: which rows an input holds, and where in its worm an output is."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..logic import bits_for
from .switch_spec import DeepSwitchSpec

__all__ = ["describe_fetch", "describe_reader", "describe_rows", "reader_fields", "row_fields"]

Read = Callable[[str], Any]
"""Full name of a register of the switch -> its values; those of a memory have a further dimension, its rows."""


def row_fields(switch: DeepSwitchSpec, port: int, read: Read) -> Any:
    """Read what `describe_rows` needs of an input, in a further dimension."""
    store = f"{switch.inputs[port].name}_input.store"
    single = [read(f"{store}.{name}") for name in ("used", "lane", "closed_row", "write_row")]
    return np.concatenate([np.stack(single, axis=-1), read(f"{store}.pending")], axis=-1)


def describe_rows(switch: DeepSwitchSpec, fields: Any) -> str:
    """Write the rows of an input with flits, the oldest first: ``3:2,4:1,5+,6+3``.

    Row 3 has a counter of 2: so many outputs have yet to fetch it. Row 5 is full and is not closed yet, as its last
    flit is passing. Row 6 has three flits so far.
    """
    used, lane, *numbers = map(int, fields[:4])
    pending, filling = fields[4:], int(lane != 0)
    closed, written = (number & (1 << bits_for(switch.rows)) - 1 for number in numbers)
    waiting = written - closed + switch.rows * (written < closed or (written == closed and numbers[0] != numbers[1]))
    whole = [(closed - 1 - k) % switch.rows for k in reversed(range(max(0, used - waiting - filling)))]
    return ",".join([*(f"{row}:{int(pending[row])}" for row in whole),
                     *(f"{(closed + k) % switch.rows}+" for k in range(waiting)),
                     *[f"{written}+{lane}"] * filling])


def reader_fields(switch: DeepSwitchSpec, output: int, read: Read) -> Any:
    """Read what `describe_reader` and `describe_fetch` need of an output, in a further dimension."""
    reader = f"{switch.outputs[output].name}_reader"
    return np.stack([read(f"{reader}.{name}") for name in (
        "owner", "row", "place", "holding", "following", "has_current", "has_behind", "asked")], axis=-1)


def describe_reader(switch: DeepSwitchSpec, fields: Any) -> str:
    """Write whose worm an output sends, and which flit of its rows comes next: ``p0:3.5``; nothing without a worm.

    ``p0:3.5,follows``: it takes flits as they pass. Otherwise it sends a row that it has fetched, or waits for it.
    """
    owner, number, place, holding, following, *fetched = map(int, fields)
    if not (holding or any(fetched)):
        return ""
    return f"{_row_before(switch, owner, number, sum(fetched))}.{place}" + ",follows" * bool(following)


def describe_fetch(switch: DeepSwitchSpec, fields: Any) -> str:
    """Write which row was fetched for an output in the cycle before: ``p0:3``; nothing if none was."""
    owner, number, *_, asked = map(int, fields)
    return _row_before(switch, owner, number, 1) if asked else ""


def _row_before(switch: DeepSwitchSpec, owner: int, number: int, rows: int) -> str:
    """The input that is the owner, and the row that comes so many before one of a number."""
    [port] = [port.name for i, port in enumerate(switch.inputs) if owner >> i & 1]
    return f"{port}:{((number & (1 << bits_for(switch.rows)) - 1) - rows) % switch.rows}"
