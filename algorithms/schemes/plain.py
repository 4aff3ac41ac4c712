"""Schemes in plain Python, told one multicast at a time: for an idea that one wants to see run."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..headers import AddressList
from ..topologies.base import Topology
from ..worms import AT_ONCE, Worms
from .mesh import MeshScheme

__all__ = ["PlainScheme"]


class PlainScheme(MeshScheme):
    """A scheme on meshes that says of one multicast at a time which worms it becomes, all sent by its source at once.

    Beside `visits` it states its name, its relation and its consumption classes (`classes_on`). It takes microseconds
    for each multicast where the others, compiled, take nanoseconds; the hardware it runs on is theirs.
    """

    header = AddressList
    in_two_dimensions = "as its author says"
    in_more_dimensions = "as its author says"

    @abstractmethod
    def visits(self, topology: Topology, source: int, destinations: list[int]) -> Sequence[Sequence[int]]:
        """Divide the destinations of a multicast among worms.

        Returns
        -------
        sequence of sequence of int
            Destinations of each worm in visiting order, the worm that is sent first at the front; empty ones are not
            sent.
        """

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms, message by message.

        Raises
        ------
        WormcastError
            `visits` does not give each destination once.
        """
        found: list[list[int]] = []
        rank: list[int] = []
        message_offsets = [0]
        for source, (first, end) in zip(sources.tolist(), pairwise(destination_offsets), strict=True):
            wanted = destinations[first:end].tolist()
            parts = [[int(node) for node in part] for part in self.visits(topology, source, wanted) if len(part)]
            if sorted(chain.from_iterable(parts)) != sorted(wanted):
                visited = ", ".join(map(str, chain.from_iterable(parts))) or "none"
                raise WormcastError(f"scheme {self.name}: its worms from node {source} visit {visited} and shall visit "
                                    f"{', '.join(map(str, wanted))}, each of them once")
            found += parts
            rank += range(len(parts))
            message_offsets.append(len(found))
        return Worms(
            message_offsets=np.array(message_offsets),
            source=np.repeat(sources, np.diff(message_offsets)),
            rank=np.array(rank, np.int32),
            after=np.full(len(found), AT_ONCE),
            destination_offsets=np.cumsum([0, *map(len, found)]),
            destinations=np.array(list(chain.from_iterable(found)), np.int32),
        )
