"""The dependencies of worms that are copied on their way."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..token_groups import NO_TOKEN, TokenGroups
from .branch_pairs import BranchPairs
from .channel_use import ChannelUse

__all__ = ["CopiedEdges", "Edges", "Numbering", "beyond", "branch_dependencies"]

Integers = npt.NDArray[np.integer]


class Edges(NamedTuple):
    """Some dependencies, as `DependencyGraph` has them: arrays of as many rows."""

    starts: Integers
    ends: Integers
    witness: Integers
    copied: Integers


class CopiedEdges(NamedTuple):
    """What worms that are copied may wait for, beside the next channel on the way of each copy.

    Parameters
    ----------
    to_tokens : Edges
        For the token of the switch where they are copied next, with the channel by which they have come there.
    from_tokens : Edges
        For the outputs of that switch, with the token.
    across : Edges
        For the first channel of a branch, with channels of another one.
    """

    to_tokens: Edges
    from_tokens: Edges
    across: Edges


class Numbering(NamedTuple):
    """Which resources places of `BranchPairs` are.

    Parameters
    ----------
    share : int
        Resources of each channel.
    channels : int
        Channels, as the relation has them.
    ends : int
        The first of the ports' resources for worms at their last destination.
    tokens : int
        The first of the tokens.
    """

    share: int
    channels: int
    ends: int
    tokens: int

    def of(self, places: Integers, one: int) -> Integers:
        """One of the resources of each place."""
        return np.where(places < self.channels, places * self.share + one, self.ends + places - self.channels)


def branch_dependencies(part: ChannelUse, splits: BranchPairs, numbering: Numbering, tokens: TokenGroups | None,
                        consumed: bool) -> CopiedEdges:
    """Make the dependencies of some worms; ``tokens`` and ``consumed`` as `dependency_graph` has them."""
    topology, channels = part.topology, numbering.channels
    pairs = splits.pairs if not consumed else splits.pairs[(splits.pairs[:, :2] < channels).all(axis=1)]
    switch, one = pairs[:, 2], range(numbering.share)
    across = [Edges(numbering.of(pairs[:, 0], k), numbering.of(pairs[:, 1], j), pairs[:, 3:], switch)
              for k in one for j in one]
    if tokens is None:
        none = _joined([])
        return CopiedEdges(none, none, _joined(across))
    entered = np.flatnonzero(splits.enters[:, 0] >= 0)
    number = tokens.numbers[topology.links[entered // part.vc_classes, 2]]
    entered, number = entered[number != NO_TOKEN], numbering.tokens + number[number != NO_TOKEN]
    to_tokens = [Edges(numbering.of(entered, k), number, splits.enters[entered], np.full(len(entered), -1))
                 for k in one]
    held = np.flatnonzero(tokens.numbers[switch] != NO_TOKEN)
    from_tokens = [Edges(numbering.tokens + tokens.numbers[switch[held]], numbering.of(pairs[held, 1], k),
                         pairs[held, 3:], switch[held]) for k in one]
    return CopiedEdges(_joined(to_tokens), _joined(from_tokens), _joined(across))


def beyond(across: Edges, starts: Integers, ends: Integers) -> Edges:
    """Let worms wait for what comes after the first channel of a branch, where they have that already.

    Parameters
    ----------
    starts, ends
        What comes after each resource for anyone who comes that way: they may wait behind another worm there.
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
