"""Small expressions that several components share."""

from collections.abc import Sequence

from amaranth.hdl import Array, C, Value

__all__ = ["any_of", "bit_at", "late_mux"]


def any_of(values: Sequence[Value]) -> Value:
    """OR of several values of any width."""
    result: Value = C(0)
    for value in values:
        result = result | value
    return result


def bit_at(bits: Value | Sequence[Value], index: Value) -> Value:
    """The bit of ``bits`` at ``index``; an index without bits, or beside a single bit, is not looked at."""
    return Array(bits)[index] if len(bits) > 1 else bits[0]


def late_mux(late: Value, one: Value, zero: Value) -> Value:
    """``Mux(late, one, zero)`` for a register's next value, where ``late`` ends the critical path.

    Synthesis makes clock enables and resets of a register's Muxes. Those are reached by slower wires than the
    table in front of the flip-flop, and a reset first meets the global one; AND and OR stay in the table.
    """
    chosen = late.replicate(len(one)) if len(one) > 1 else late
    return (one & chosen) | (zero & ~chosen)
