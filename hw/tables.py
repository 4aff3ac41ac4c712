"""How tables of routes come into switches: a bus from switch to switch, used before the first cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from amaranth.hdl import Module
    from amaranth.lib.data import StructLayout

__all__ = ["TableBus", "pass_on"]

HOPS = 12
"""Bits that count switches: as many as a network can have."""


class TableBus(NamedTuple):
    """Sizes of the bus: one write of one entry in a cycle.

    ::

        tables_in ─┬─ hops = 0: written here, at once
                   └─▶ register, hops - 1 ─▶ tables_out ─▶ the next switch's tables_in

    All switches of a network are in one chain, in any order, and have one layout. ``write`` says that there is
    something to do; ``hops`` counts the switches that it still passes by, so that a switch needs no number of its own;
    ``input``, ``address`` and ``entry`` say what is written where; tables that are no input's have the numbers behind
    those of the inputs.

    Parameters
    ----------
    tables, address_bits, entry_bits : int
        Most tables of a switch, one for each input and what comes behind these, and most bits of an address and of an
        entry in the chain.
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
    """Write what is meant for the tables of this switch, and pass the rest on a cycle later.

    Parameters
    ----------
    bus, following : views of the layout of a `TableBus`
    tables : list of views of `Decoder.table_layout`
        One for each input, and for what else has one.
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
