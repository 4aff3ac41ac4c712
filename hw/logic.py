"""Small expressions that several components share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import hdl

if TYPE_CHECKING:
    from amaranth.hdl import Module, Signal, Value

__all__ = ["any_of", "bit_at", "bits_for", "late_mux", "next_of", "take_turns"]


def any_of(values: Sequence[Value]) -> Value:
    """Return the OR of several values of any width."""
    result: Value = hdl.C(0)
    for value in values:
        result = result | value
    return result


def bits_for(count: int) -> int:
    """Return the width in bits of a number below ``count``; 0 for counts up to 1."""
    return max(count - 1, 0).bit_length()


def bit_at(bits: Value | Sequence[Value], index: Value) -> Value:
    """Return the bit of ``bits`` at ``index``. If ``bits`` has a single bit, ``index`` is ignored."""
    return hdl.Array(bits)[index] if len(bits) > 1 else bits[0]


def next_of(m: Module, name: str, wanted: Value, last: Value) -> Value:
    """Return the wanted bit that has the next turn, one-hot: the first after ``last``, or else the lowest.

    ``name`` is the prefix of new signals' names. ``last`` is one-hot or 0.
    """
    behind, chosen = (hdl.Signal(len(wanted), name=f"{name}_{what}") for what in ("behind", "next"))
    m.d.comb += [
        behind.eq(wanted & ~(last | (last - 1))),
        chosen.eq(hdl.Mux(behind.any(), behind & -behind, wanted & -wanted)),
    ]
    return chosen


def late_mux(late: Value, one: Value, zero: Value) -> Value:
    """Return the value of ``Mux(late, one, zero)``, for registers with ``late`` on the critical path.

    Synthesis turns the Muxes of a register into clock enables and resets. The wires of clock enables and resets are
    slower than those of the lookup table in front of the flip-flop, and a reset is first combined with the global
    reset. Synthesis maps the AND and OR gates of this function to the lookup table in front of the flip-flop.
    """
    chosen = late.replicate(len(one)) if len(one) > 1 else late
    return (one & chosen) | (zero & ~chosen)


def take_turns(m: Module, name: str, wants: list[Value], sel: Signal, used: Value) -> None:
    """Select one of the requesters of a buffer's reader at a time, in turn.

    The requester that had the last turn comes last in the search. If no other requester wants a turn, this requester is
    selected, even if it wants no further turn. The next selection does not depend on whether the allocator grants the
    present request.
    """
    count = len(wants)
    last, turn, following = (hdl.Signal(range(count), name=f"{name}_{what}") for what in ("last", "turn", "next"))
    m.d.comb += [turn.eq(hdl.Mux(used, sel, last)), following.eq(turn)]
    with m.Switch(turn):
        for v in range(count):
            with m.Case(v):
                for w in [(v - k) % count for k in range(1, count)]:
                    with m.If(wants[w]):
                        m.d.comb += following.eq(w)
    m.d.sync += [last.eq(turn), sel.eq(following)]
