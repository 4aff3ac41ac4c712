"""Errors on the wire: what a switch can find wrong, and where it says so."""

from collections.abc import Iterable

from amaranth.hdl import Module, Signal, Value, ValueLike
from amaranth.lib import data, enum

__all__ = ["Cause", "fault_layout", "first_fault"]


class Cause(enum.Enum, shape=4):
    """What was wrong with a flit, or with a credit.

    A worm that is cut off ends in a flit with both marks, which no host takes for payload.
    """

    NONE = 0
    NO_SUCH_DESTINATION = 1  #: an address outside the network: nothing is sent towards it
    WRONG_ORDER = 2  #: a destination that the relation does not reach from here by a legal hop: the same
    OVERFLOW = 3  #: a flit for a full buffer, sent on a credit that nobody gave: dropped
    NO_HEADER = 4  #: payload where a worm must begin: dropped up to its tail
    LIST_CUT = 5  #: payload while header flits were still announced: taken as the worm's payload
    LIST_TOO_LONG = 6  #: a header flit behind the last one: the worm is cut off there, the rest is dropped
    NO_TAIL = 7  #: a worm begins before the one in front has ended: that one is cut off there
    CREDIT = 8  #: a credit for a flit that was not sent: the virtual channel sends no more


def fault_layout(ports: int, vcs: int) -> data.StructLayout:
    """Layout of a latched fault: its cause, and the port and virtual channel where it was seen first.

    The port is an input's number; with ``Cause.CREDIT`` an output's. In a network interface the injection ports come
    first, then the consumption links, and of a smart one the child table's link.
    """
    return data.StructLayout({
        "cause": Cause,
        "port": range(max(ports, 2)),
        "vc": range(max(vcs, 2)),
    })


def first_fault(m: Module, layout: data.StructLayout, reports: Iterable[tuple[Value, ValueLike, int, ValueLike]]):
    """Latch the first fault of all that are reported, until reset: a register of ``layout``.

    Parameters
    ----------
    reports : (whether, cause, port, virtual channel)
        Of those in the same cycle the first in this order is kept.
    """
    fault = Signal(layout, name="first_fault")
    with m.If(fault.cause == Cause.NONE):
        for whether, cause, port, vc in reversed(list(reports)):
            with m.If(whether):
                m.d.sync += [fault.cause.eq(cause), fault.port.eq(port), fault.vc.eq(vc)]
    return fault
