"""The link: flits forward, credits back."""

from dataclasses import dataclass

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from .options import MOST_SHALLOW

__all__ = ["LinkSignature", "PortSpec", "flit_layout"]


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


@dataclass(frozen=True)
class PortSpec:
    """One port of a switch.

    Parameters
    ----------
    name : str
        As it appears in signal names and in the topology (``east``, ``local``).
    vcs : int
        Virtual channels; consumption channels where the port is an ejection port.
    depth : int
        Flits of buffer per virtual channel at the receiving end: the own buffer of an input, the credits of an
        output. 1 to 16; of chunks any number of them from 2.
    to_node : bool
        It is an ejection port.
    chunk : int
        Flits that a credit stands for. Of more than one: it is spent with the first flit of each worm, and of each
        chunk of it.
    """

    name: str
    vcs: int = 1
    depth: int = 4
    to_node: bool = False
    chunk: int = 1

    def __post_init__(self):
        if self.vcs < 1:
            raise WormcastError(f"PortSpec.vcs: must be at least 1, not {self.vcs}")
        if self.chunk < 1:
            raise WormcastError(f"PortSpec.chunk: must be at least 1 flit, not {self.chunk}")
        if self.chunk == 1 and not 1 <= self.depth <= MOST_SHALLOW:
            raise WormcastError(f"PortSpec.depth: must be 1 to {MOST_SHALLOW} flits, not {self.depth}")
        if self.chunk > 1 and (self.depth % self.chunk or self.depth < 2 * self.chunk):
            raise WormcastError(f"PortSpec.depth: must be 2 chunks of {self.chunk} flits or more, not {self.depth} "
                                "flits")

    @property
    def credits(self) -> int:
        """Credits of a virtual channel that has sent nothing."""
        return self.depth // self.chunk
