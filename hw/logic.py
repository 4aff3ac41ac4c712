"""Small expressions that several components share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import hdl

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

__all__ = ["any_of", "bit_at", "bits_for", "late_mux", "next_of"]


def any_of(values: Sequence[Value]) -> Value:
    """OR of several values of any width."""
    result: Value = hdl.C(0)
    for value in values:
        result = result | value
    return result


def bits_for(count: int) -> int:
    """Bits of a number below ``count``; none where there is nothing to count."""
    return max(count - 1, 0).bit_length()


def bit_at(bits: Value | Sequence[Value], index: Value) -> Value:
    """The bit of ``bits`` at ``index``; an index without bits, or beside a single bit, is not looked at."""
    return hdl.Array(bits)[index] if len(bits) > 1 else bits[0]


def next_of(m: Module, name: str, wanted: Value, last: Value) -> Value:
    """The next of the bits that are wanted, one-hot: the first behind the last one, or the lowest of all.

    ``name`` begins the names of new signals; ``last`` is one-hot or 0.
    """
    behind, chosen = (hdl.Signal(len(wanted), name=f"{name}_{what}") for what in ("behind", "next"))
    m.d.comb += [
        behind.eq(wanted & ~(last | (last - 1))),
        chosen.eq(hdl.Mux(behind.any(), behind & -behind, wanted & -wanted)),
    ]
    return chosen


def late_mux(late: Value, one: Value, zero: Value) -> Value:
    """``Mux(late, one, zero)`` for a register's next value, where ``late`` ends the critical path.

    Synthesis makes clock enables and resets of a register's Muxes. Those are reached by slower wires than the
    table in front of the flip-flop, and a reset first meets the global one; AND and OR stay in the table.
    """
    chosen = late.replicate(len(one)) if len(one) > 1 else late
    return (one & chosen) | (zero & ~chosen)
