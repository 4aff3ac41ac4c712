"""Link between components: flits forward, credits back."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

__all__ = ["LinkSignature", "flit_layout"]


def flit_layout(width: int) -> data.StructLayout:
    """Return the layout of a flit: ``head`` marks header flits, ``tail`` the last flit, ``data`` has ``width`` bits.

    A worm has at least one payload flit, so none of its flits has both marks. The marks do not show which header flit
    is the last one; this follows from the header's format and data. In the network, a flit with both marks terminates a
    damaged worm. Ignore its data.
    """
    return data.StructLayout({"head": 1, "tail": 1, "data": width})


class LinkSignature(wiring.Signature):
    """One direction of a physical link, with its virtual channels, seen from the sender.

    Each member comes from a flip-flop. A flit is on the link for exactly one cycle. Each flit that is sent on a virtual
    channel uses one of the sender's credits, except on links to deep switches, where only the first flit of a chunk
    uses a credit. The sender starts with one credit per flit, or chunk, of the receiver's buffer.

    Members
    -------
    valid : Out(1)
        A flit is on the link in this cycle.
    vc : Out(range(vcs))
        The virtual channel that the flit belongs to. Virtual-channel numbers out of range are not detected.
    flit : Out(flit_layout(width))
        Head mark, tail mark and data.
    credit : In(vcs)
        A pulse per virtual channel: the receiver has freed one flit, or one chunk.
    arrived : In(vcs)
        A pulse per virtual channel: the headers of all copies of the worm on this virtual channel have arrived. This
        member exists only with parameter ``arrived``. Wrong pulses of ``arrived`` are not detected.

    Parameters
    ----------
    vcs, width : int
        Virtual channels, and data bits of a flit.
    arrived : bool
        True: the receiver reports arrivals on ``arrived``.
    """

    @checked
    def __init__(self, *, vcs: int, width: int, arrived: bool = False):
        for field, value in (("vcs", vcs), ("width", width)):
            if value < 1:
                raise WormcastError(f"LinkSignature.{field}: {value} is not valid. Allowed: 1 or more.")
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
