"""The link: flits forward, credits back."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["LinkSignature", "flit_layout"]


def flit_layout(width: int) -> data.StructLayout:
    """Layout of a flit: ``head`` marks every header flit, ``tail`` the worm's last flit, ``data`` has ``width`` bits.

    A worm has at least one payload flit, and which header flit is the last one its data say: so no flit of a worm is
    both. One that is both ends what an error has left of a worm; its data say nothing.
    """
    return data.StructLayout({"head": 1, "tail": 1, "data": width})


class LinkSignature(wiring.Signature):
    """One direction of a physical link, with its virtual channels, seen from the sender.

    Every member leaves a flip-flop. A flit lies on the link for exactly one cycle; the sender may send on a
    virtual channel only as many flits as it holds credits for, and starts with one credit per flit of the
    receiver's buffer.

    Members
    -------
    valid : Out(1)
        A flit is on the link in this cycle.
    vc : Out(range(vcs))
        The virtual channel that the flit belongs to. The link itself is trusted: of a number beyond the last one
        nobody hears.
    flit : Out(flit_layout(width))
        Head mark, tail mark and data.
    credit : In(vcs)
        A pulse per virtual channel: the receiver has freed one flit.
    arrived : In(vcs)
        A pulse per virtual channel: all headers of the worm that was to report have arrived; only where reports are.
        It is trusted, as what goes forward beside the flit is.

    Parameters
    ----------
    vcs, width : int
        Virtual channels, and data bits of a flit.
    arrived : bool
        Receivers report arrivals.
    """

    def __init__(self, *, vcs: int, width: int, arrived: bool = False):
        self.vcs = vcs
        self.width = width
        self.arrived = arrived
        super().__init__({
            "valid": Out(1),
            "vc": Out(range(vcs)),
            "flit": Out(flit_layout(width)),
            "credit": In(vcs),
            **({"arrived": In(vcs)} if arrived else {}),
        })
