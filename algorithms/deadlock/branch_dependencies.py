"""Dependencies of worms that switches replicate."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..token_groups import NO_TOKEN, TokenGroups
from .branch_pairs import BranchPairs
from .channel_use import ChannelUse

__all__ = ["BranchDependencies", "Edges", "ResourceNumbers", "beyond", "branch_dependencies"]

Integers = npt.NDArray[np.integer]


class Edges(NamedTuple):
    """Dependencies as in `DependencyGraph`: arrays with one row for each edge."""

    starts: Integers
    ends: Integers
    witness: Integers
    copied: Integers


class BranchDependencies(NamedTuple):
    """Dependencies of replicated worms beyond those from channel to channel of one branch.

    Parameters
    ----------
    to_tokens : Edges
        From the channel by which a worm enters a switch that replicates it, to the switch's token.
    from_tokens : Edges
        From the token of a switch that replicates a worm to the first channel of each branch at the switch.
    across : Edges
        From the channels of one branch to the first channel of another branch of the same worm.
    """

    to_tokens: Edges
    from_tokens: Edges
    across: Edges


class ResourceNumbers(NamedTuple):
    """Mapping from places of `BranchPairs` (channels, and ends at nodes) to resources of the graph.

    Parameters
    ----------
    share : int
        Number of resources of each channel.
    channels : int
        Number of channels (link and class) that the relation distinguishes.
    ends : int
        Index of the first resource that worms request at their last destination. Each ejection port has one resource
        that worms request at their last destination.
    tokens : int
        Index of the first resource that is a token.
    """

    share: int
    channels: int
    ends: int
    tokens: int

    def of(self, places: Integers, one: int) -> Integers:
        """Return a resource of each place: of a channel, its resource number `one` (0 to share - 1); of an end at a
        node, its only resource."""
        return np.where(places < self.channels, places * self.share + one, self.ends + places - self.channels)


def branch_dependencies(part: ChannelUse, splits: BranchPairs, numbering: ResourceNumbers, tokens: TokenGroups | None,
                        consumed: bool) -> BranchDependencies:
    """Return the dependencies that replication adds for the worms of one scheme. ``tokens`` and ``consumed`` are as in
    `dependency_graph`."""
    topology, channels = part.topology, numbering.channels
    pairs = splits.pairs if not consumed else splits.pairs[(splits.pairs[:, :2] < channels).all(axis=1)]
    switch, one = pairs[:, 2], range(numbering.share)
    across = [Edges(numbering.of(pairs[:, 0], k), numbering.of(pairs[:, 1], j), pairs[:, 3:], switch)
              for k in one for j in one]
    if tokens is None:
        none = _joined([])
        return BranchDependencies(none, none, _joined(across))
    entered = np.flatnonzero(splits.enters[:, 0] >= 0)
    number = tokens.numbers[topology.links[entered // part.vc_classes, 2]]
    entered, number = entered[number != NO_TOKEN], numbering.tokens + number[number != NO_TOKEN]
    to_tokens = [Edges(numbering.of(entered, k), number, splits.enters[entered], np.full(len(entered), -1))
                 for k in one]
    held = np.flatnonzero(tokens.numbers[switch] != NO_TOKEN)
    from_tokens = [Edges(numbering.tokens + tokens.numbers[switch[held]], numbering.of(pairs[held, 1], k),
                         pairs[held, 3:], switch[held]) for k in one]
    return BranchDependencies(_joined(to_tokens), _joined(from_tokens), _joined(across))


def beyond(across: Edges, starts: Integers, ends: Integers) -> Edges:
    """Replace each edge to the first channel of a branch by edges to the resources that follow this channel.

    The replicated worm already holds the first channel of the branch.

    Parameters
    ----------
    starts, ends
        Edges from each resource to the next, of any worm: the replicated worm may wait behind that worm.
    """
    order = np.argsort(starts, kind="stable")
    first, last = (np.searchsorted(starts[order], across.ends, side) for side in ("left", "right"))
    count = last - first
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + first[row]
    return Edges(across.starts[row], ends[order][place], across.witness[row], across.copied[row])


def _joined(edges: list[Edges]) -> Edges:
    if not edges:
        return Edges(*(np.empty(shape, np.int32) for shape in (0, 0, (0, 3), 0)))
    return Edges(*map(np.concatenate, zip(*edges, strict=True)))
