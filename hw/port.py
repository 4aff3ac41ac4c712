"""Parameters of a switch port."""

from dataclasses import dataclass

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import require_kind

from .options import MOST_SHALLOW

__all__ = ["PortSpec", "numbers_of_links"]


@dataclass(frozen=True)
class PortSpec:
    """Parameters of a switch port.

    Parameters
    ----------
    name : str
        Name in signal names, such as ``east``, ``x_plus`` or ``local``; see `SwitchKind.name`.
    vcs : int
        Number of virtual channels; at an ejection port, of consumption channels.
    depth : int
        Flits of buffer per virtual channel at the receiving end of the link: at an input in the port's own buffer, at
        an output in the buffer at the other end of the link. Range: 1 to 16. With chunks of several flits, the depth is
        a multiple of a chunk, 2 chunks or more, without an upper limit.
    to_node : bool
        The port is an ejection port.
    chunk : int
        Flits per credit. With more than one flit per credit, the first flit of a worm and the first flit of each
        further chunk use a credit.
    """

    name: str
    vcs: int = 1
    depth: int = 4
    to_node: bool = False
    chunk: int = 1

    def __post_init__(self):
        for field in ("vcs", "depth", "chunk"):
            require_kind(f"PortSpec.{field}", vars(self)[field], int)
        if self.vcs < 1:
            raise WormcastError(f"PortSpec.vcs: {self.vcs} is not valid. Allowed: 1 or more.")
        if self.chunk < 1:
            raise WormcastError(f"PortSpec.chunk: {self.chunk} is not valid. Allowed: 1 flit or more.")
        if self.chunk == 1 and not 1 <= self.depth <= MOST_SHALLOW:
            raise WormcastError(f"PortSpec.depth: {self.depth} is not valid. Allowed: 1 to {MOST_SHALLOW} flits.")
        if self.chunk > 1 and (self.depth % self.chunk or self.depth < 2 * self.chunk):
            raise WormcastError(f"PortSpec.depth: {self.depth} is not valid. Allowed: a multiple of {self.chunk} flits "
                                f"from {2 * self.chunk}.")

    @property
    def credits(self) -> int:
        """Number of credits of a virtual channel after reset: one for each chunk that the receiver's buffer holds."""
        return self.depth // self.chunk


def numbers_of_links(output: int, ejection: int, each: int) -> range:
    """Return the allocator's numbers of an output's links.

    Outputs with numbers from ``ejection`` on are ejection ports with ``each`` links each; other outputs have one link.
    """
    if output < ejection:
        return range(output, output + 1)
    first = ejection + (output - ejection) * each
    return range(first, first + each)
