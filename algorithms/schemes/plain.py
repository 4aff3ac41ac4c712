"""Schemes in plain Python, told one multicast at a time: for an idea that one wants to see run."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from operator import index

import numpy as np
import numpy.typing as npt

from ..errors import FAILURES, WormcastError, told
from ..headers import AddressList
from ..routing import HAMILTONIAN
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
    pairs_are_complete = False

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
            `visits` fails, or does not give each destination once; or, by hamiltonian, labels neither rise nor fall all
            along a worm, which routers refuse.
        """
        found: list[list[int]] = []
        rank: list[int] = []
        message_offsets = [0]
        for source, (first, end) in zip(sources.tolist(), pairwise(destination_offsets), strict=True):
            parts = self._parts(topology, source, destinations[first:end].tolist())
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

    def _parts(self, topology: Topology, source: int, wanted: list[int]) -> list[list[int]]:
        """The destinations of each worm of a multicast, checked."""
        def names(nodes: Iterable[int]) -> str:
            return " ".join(map(topology.node_name, nodes)) or "no node"

        def refused(why: str) -> WormcastError:
            return WormcastError(f"scheme {self.name}, a multicast from {topology.node_name(source)} to "
                                 f"{names(wanted)}: {why}")

        try:
            given = self.visits(topology, source, list(wanted))
            parts = [[index(node) for node in part] for part in given if len(part)]
        except FAILURES as error:
            raise refused("visits must give lists of nodes, a list for each worm "
                          f"({told(error, type(self).__module__)})") from error
        visited = list(chain.from_iterable(parts))
        if sorted(visited) != sorted(wanted):
            seen = names(visited) if all(0 <= node < topology.nodes for node in visited) else f"nodes {visited}"
            raise refused(f"its worms visit {seen}, each destination must be visited once")
        if self.relation is HAMILTONIAN:
            for part in parts:
                labels = [int(topology.hamiltonian_labels[node]) for node in (source, *part)]
                if labels not in (sorted(labels), sorted(labels, reverse=True)):
                    raise refused(f"a worm visits {names(part)}, whose labels are {' '.join(map(str, labels[1:]))}; "
                                  f"by hamiltonian they must all rise from {labels[0]}, or all fall")
        return parts
