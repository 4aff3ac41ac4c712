"""Errors on the wire: what a switch can find wrong, and where it says so."""

from amaranth.lib import data, enum

__all__ = ["Cause", "fault_layout"]


class Cause(enum.Enum, shape=3):
    """What was wrong with a flit, or with a credit."""

    NONE = 0
    NO_HEADER = 1  #: payload where a worm must begin: dropped up to its tail
    LIST_CUT = 2  #: payload while header flits were still announced: taken as the worm's payload
    LIST_TOO_LONG = 3  #: a header flit behind the last one: the worm ends there, the rest is dropped
    NO_TAIL = 4  #: a worm begins before the one in front has ended: that one is given a tail
    NO_SUCH_DESTINATION = 5  #: an address outside the network: nothing is sent towards it
    WRONG_ORDER = 6  #: a destination that the relation does not reach from here by a legal hop: the same
    CREDIT = 7  #: a credit for a flit that was not sent: the virtual channel sends no more


def fault_layout(ports: int, vcs: int) -> data.StructLayout:
    """Layout of a latched fault: its cause, and the port and virtual channel where it was seen first.

    The port is an input's number; with ``Cause.CREDIT`` an output's.
    """
    return data.StructLayout({
        "cause": Cause,
        "port": range(max(ports, 2)),
        "vc": range(max(vcs, 2)),
    })
