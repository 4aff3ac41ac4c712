"""Parameters of a port of a switch."""

from dataclasses import dataclass

from wormcast.algorithms.errors import WormcastError

from .options import MOST_SHALLOW

__all__ = ["PortSpec"]


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
