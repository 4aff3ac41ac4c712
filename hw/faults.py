"""Errors on the wire: their causes, and the register that latches the first one."""

from collections.abc import Iterable

from amaranth.hdl import Module, Signal, Value, ValueLike
from amaranth.lib import data, enum

__all__ = ["Cause", "fault_layout", "first_fault"]


class Cause(enum.Enum, shape=4):
    """Error of a received flit or credit.

    A worm that is cut off ends in a flit with head mark and tail mark. Hosts do not treat a flit with head mark and
    tail mark as payload. Smart interfaces report errors of their child table with some of these causes, see
    `ForwardingInterface`.
    """

    NONE = 0
    NO_SUCH_DESTINATION = 1  #: a destination that does not exist or cannot be reached; nothing is sent to it
    WRONG_ORDER = 2  #: a destination that the relation does not reach from here by a legal hop; nothing is sent to it
    OVERFLOW = 3  #: a flit for a full buffer, sent without a credit; it is dropped
    NO_HEADER = 4  #: payload where a worm must begin; it is dropped up to its tail
    LIST_CUT = 5  #: payload while header flits were still announced; kept as payload, or dropped by deep buffers
    LIST_TOO_LONG = 6  #: a header flit after the last one; the worm is cut off there, the rest is dropped
    NO_TAIL = 7  #: a worm begins before the worm in front has ended; the worm in front is cut off there
    CREDIT = 8  #: a credit for a flit that was not sent; the virtual channel is stopped, see `OutputUnit`


def fault_layout(ports: int, vcs: int) -> data.StructLayout:
    """Return the layout of a latched fault: its cause, port and virtual channel.

    In a switch the port is the number of an input; with ``Cause.CREDIT`` it is the number of an output. A network
    interface numbers its injection ports first, then its consumption links, then (smart interfaces) the link of the
    child table.
    """
    return data.StructLayout({
        "cause": Cause,
        "port": range(max(ports, 2)),
        "vc": range(max(vcs, 2)),
    })


def first_fault(m: Module, layout: data.StructLayout, reports: Iterable[tuple[Value, ValueLike, int, ValueLike]]):
    """Latch the first reported fault until reset, in a register of ``layout``.

    Parameters
    ----------
    reports : (reported, cause, port, virtual channel)
        If several are reported in one cycle, the first in this order is latched.
    """
    fault = Signal(layout, name="first_fault")
    with m.If(fault.cause == Cause.NONE):
        for whether, cause, port, vc in reversed(list(reports)):
            with m.If(whether):
                m.d.sync += [fault.cause.eq(cause), fault.port.eq(port), fault.vc.eq(vc)]
    return fault
