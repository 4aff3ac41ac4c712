"""Base of broadcasts on square tori: a tree of unicasts, the same from every source."""

from abc import abstractmethod
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..errors import MessageError, WormcastError
from ..routing.ties import default_signs
from ..topologies.base import Topology
from ..worms import AT_ONCE, MessageBatch, Worms
from .unicast import UnicastScheme

__all__ = ["Block", "BroadcastTree", "Offset", "TorusBroadcast"]

Offset = tuple[int, int]
"""Offset (x, y) from one node of a torus to another, counted in nodes, along the axes of [Hou]. x, our second
coordinate, is routed first, growing to the right (east). y, our first coordinate, is routed second, growing to the
bottom (south)."""


class BroadcastTree:
    """Unicasts of a broadcast from node (0, 0) of an n x n torus, each sent after its sender's receipt.

    A node sends in the order in which its unicasts are added.

    Parameters
    ----------
    extent : int
        n.

    Attributes
    ----------
    informed : list of (int, int)
        Nodes with the message, in the order of the sends; coordinates from 0 to n - 1.
    """

    def __init__(self, extent: int) -> None:
        self.extent = extent
        self.informed: list[Offset] = [(0, 0)]
        self._receipt = {(0, 0): AT_ONCE}
        self._sent: dict[Offset, int] = {}
        self._rows: list[tuple[Offset, Offset, int, int, int, int]] = []

    def has(self, node: Offset) -> bool:
        """Return whether the node with these coordinates (x, y), from 0 to n - 1, has the message."""
        return node in self._receipt

    def at(self, sender: Offset, offset: Offset) -> Offset:
        """Return the coordinates of the node at an offset from ``sender``."""
        return (sender[0] + offset[0]) % self.extent, (sender[1] + offset[1]) % self.extent

    def send(self, sender: Offset, offset: Offset, step: int) -> Offset:
        """Add a unicast from ``sender`` to the node at an offset from it, and return the coordinates of this node.

        Where both ways around a ring have the same length, a negative offset selects the way down.
        """
        target = self.at(sender, offset)
        rank = self._sent.get(sender, 0)
        signs = (offset[1] < 0) | (offset[0] < 0) << 1  # bit d is the sign of dimension d of the topology
        self._rows.append((sender, target, rank, self._receipt[sender], signs, step))
        self._sent[sender] = rank + 1
        self._receipt[target] = len(self._rows) - 1
        self.informed.append(target)
        return target

    def send_block(self, sender: Offset, pattern: "Block", unit: int, step: int) -> None:
        """Add the unicasts that reach a block of 16 units in two steps, ``step`` and the next one; see `Block`."""
        first, second = pattern
        reached = {(0, 0): sender}
        for offset in first:
            reached[offset] = self.send(sender, _scaled(offset, unit), step)
        for start, offsets in second.items():
            for offset in offsets:
                self.send(reached[start], _scaled(offset, unit), step + 1)

    def arrays(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Return (x, y) of sender and destination, rank, after, signs, step of each unicast: int64 [unicasts, ...]."""
        columns = zip(*self._rows, strict=True)
        return tuple(np.array(column, np.int64) for column in columns)


Block = tuple[tuple[Offset, ...], dict[Offset, tuple[Offset, ...]]]
"""Sends that inform a block of 4 x 4 units in two steps. The tuple has the offsets of the source's sends in the first
step. The dictionary has, by a unit's offset from the source, the offsets of this unit's sends in the second step.
Offsets are in units."""


def _scaled(offset: Offset, unit: int) -> Offset:
    return offset[0] * unit, offset[1] * unit


class TorusBroadcast(UnicastScheme):
    """A broadcast on n x n tori: each informed node sends unicasts in its own order after its receipt.

    A message to one node is a unicast, so that unicasts and broadcasts can be mixed.

    A subclass states the tree from node (0, 0). The tree from any other source is the tree from node (0, 0), shifted:
    the torus looks the same from every node. [Hou] routes x first, and `E_CUBE` routes the last dimension first. So the
    paper's x is our second coordinate (`Offset`), and all statements of [Hou] on channels hold. Where both ways around
    a ring have the same length, the signs in the header of a worm are those of its offset in the pattern. ``--ties
    signed`` makes routers follow the signs in headers; without this option worms go up (+) at a tie.
    """

    kinds = ("torus",)
    broadcasts = True

    @abstractmethod
    def tree(self, extent: int) -> BroadcastTree:
        """Build the broadcast from node (0, 0) on a torus that `check` accepts."""

    def check(self, topology: Topology) -> None:
        """Refuse networks other than tori of n x n nodes with an extent that the scheme supports."""
        extents = set(topology.shape)
        if topology.kind not in self.kinds or len(topology.shape) != 2 or len(extents) > 1 or (
                not self.allows(topology.shape[0])):
            raise WormcastError(f"scheme {self.name}: topology {topology.name} is not valid. Allowed: {self.extents}.")
        super().check(topology)

    extents = "tori of 2^d x 2^d nodes"
    """Tori on which the scheme is defined, in words."""

    def allows(self, extent: int) -> bool:
        """Return whether the scheme is defined on tori of this extent. By default, the extent must be a power of
        two."""
        return extent > 1 and extent & extent - 1 == 0

    def form(self, topology: Topology) -> str:
        """Describe the orientation: the paper's x is the dimension that is routed first."""
        return "2-D, x of the paper (routed first) is the second coordinate"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms: the tree, shifted to each source. A message to one node is one worm."""
        sources, offsets, destinations = messages
        others, counts = topology.nodes - 1, np.diff(offsets)
        broadcasts = counts == others
        if not (broadcasts | (counts == 1)).all():
            message = int((~broadcasts & (counts != 1)).argmax())
            raise MessageError(f"destinations: {counts[message]} destinations are not valid for {self.name}. Allowed: "
                               f"all {others} other nodes (--destinations all; with load: --destinations-distribution "
                               "all), or one, for a unicast.", message, several=len(sources) > 1)
        extent, worms = topology.shape[0], len(destinations)
        found = Worms(
            message_offsets=np.concatenate([[0], counts.cumsum()]),
            source=np.repeat(sources, counts),
            rank=np.zeros(worms, np.int32),
            after=np.full(worms, AT_ONCE, np.int64),
            destination_offsets=np.arange(worms + 1),
            destinations=np.array(destinations, np.int32),
        )
        signs, steps = default_signs(topology, found), np.ones(worms, np.int32)
        sender, target, rank, after, tree_signs, tree_steps = _template(type(self), extent)
        first = found.message_offsets[:-1][broadcasts, None]
        rows = first + np.arange(others)
        # x of the tree is the second coordinate of the topology
        shift = topology.coordinates[sources[broadcasts]][:, None, ::-1]
        found.source[rows], found.destinations[rows] = (
            ((one + shift) % extent) @ np.array([1, extent]) for one in (sender, target))
        found.rank[rows], signs[rows], steps[rows] = rank, tree_signs, tree_steps
        found.after[rows] = np.where(after == AT_ONCE, AT_ONCE, after + first)
        return replace(found, signs=signs, steps=steps)


@lru_cache(maxsize=32)
def _template(kind: type[TorusBroadcast], extent: int) -> tuple[npt.NDArray[np.int64], ...]:
    return kind().tree(extent).arrays()
