"""Table memories of decoders, written before the first cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value
    from amaranth.lib.data import StructLayout

__all__ = ["RouteRows", "TableBits", "look_up"]


@dataclass(frozen=True)
class RouteRows:
    """Contents of a table memory in all switches of one kind.

    Parameters
    ----------
    path : tuple of str
        Path of submodules from the switch to the memory.
    table : int
        Number of the memory's table on the configuration bus.
    first : int
        Address of the memory's first row within the table.
    rows : int64 array, or object for rows of more than 63 bits, [members, rows]
    nowhere : int
        Value of a row that has not been written.
    """

    path: tuple[str, ...]
    table: int
    first: int
    rows: npt.NDArray[Any]
    nowhere: int = 0


class TableBits(NamedTuple):
    """Bits of an address, and bits of an entry, in the tables of a decoder."""

    address: int
    entry: int

    @property
    def layout(self) -> StructLayout:
        """Layout of a write to a table: write enable, address, entry."""
        from amaranth.lib.data import StructLayout

        return StructLayout({"write": 1, **self._asdict()})


def look_up(m: Module, name: str, place: Value, *, bits: int, rows: int, write: Value, address: Value, entry: Value,
            init: Sequence[int] = ()) -> Value:
    """Build a memory of LUTs as submodule ``name`` with a write port, and return the row at ``place``."""
    from amaranth.lib import memory

    store: memory.Memory = memory.Memory(shape=bits, depth=rows, init=list(init), attrs={"ram_style": "distributed"})
    m.submodules[name] = store
    into, out = store.write_port(), store.read_port(domain="comb")
    m.d.comb += [into.en.eq(write), into.addr.eq(address), into.data.eq(entry), out.addr.eq(place)]
    return out.data
