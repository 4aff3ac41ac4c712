"""Bus from switch to switch that writes routing tables before the first cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from amaranth.hdl import Module
    from amaranth.lib.data import StructLayout

__all__ = ["TableBus", "pass_on"]

HOPS = 12
"""Width in bits of the field ``hops``, for the number of switches in the largest network."""


class TableBus(NamedTuple):
    """Field widths of the bus, which writes one entry per cycle.

    ::

        tables_in ─┬─ hops = 0: written here, at once
                   └─▶ register, hops - 1 ─▶ tables_out ─▶ the next switch's tables_in

    All switches of a network are in one chain, in any order, with one layout. ``write`` is the write enable. ``hops``
    counts the switches that the write still has to pass, so that a switch needs no number of its own. ``input`` is the
    number of the table in the switch, ``address`` the address in the table, and ``entry`` the data. The tables of the
    inputs have the first numbers, and tables of other units have the numbers after them.

    Parameters
    ----------
    tables, address_bits, entry_bits : int
        Maximum over the chain: tables of a switch (one per input, then those of other units), bits of an address, bits
        of an entry.
    """

    tables: int
    address_bits: int
    entry_bits: int

    @property
    def layout(self) -> StructLayout:
        """Layout of the bus."""
        from amaranth.lib.data import StructLayout

        return StructLayout({
            "write": 1,
            "hops": HOPS,
            "input": max(self.tables - 1, 1).bit_length(),
            "address": self.address_bits,
            "entry": self.entry_bits,
        })


def pass_on(m: Module, bus, following, tables: list) -> None:
    """Write entries for this switch into its tables, and pass entries for other switches on in the next cycle.

    Parameters
    ----------
    bus, following : views of the layout of a `TableBus`
    tables : list of views of `Decoder.table_layout`
        Tables of the inputs, then of other units.
    """
    for i, table in enumerate(tables):
        m.d.comb += [
            table.write.eq(bus.write & (bus.hops == 0) & (bus.input == i)),
            table.address.eq(bus.address),
            table.entry.eq(bus.entry),
        ]
    m.d.sync += [
        following.write.eq(bus.write & (bus.hops != 0)),
        following.hops.eq(bus.hops - 1),
        following.input.eq(bus.input),
        following.address.eq(bus.address),
        following.entry.eq(bus.entry),
    ]
