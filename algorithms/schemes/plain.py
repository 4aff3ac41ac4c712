"""Base of schemes in plain Python, one multicast per call: for prototypes."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import index

import numpy as np

from ..errors import FAILURES, WormcastError, describe_error
from ..headers import AddressList
from ..routing import HAMILTONIAN
from ..topologies.base import Topology
from ..worms import AT_ONCE, MessageBatch, Worms
from .base import describe_multicast
from .mesh import MeshScheme

__all__ = ["PlainScheme"]


class PlainScheme(MeshScheme):
    """A scheme that divides one multicast at a time among worms, by default on meshes.

    The multicast's source sends all worms, one after the other. None of the worms waits for a receipt.

    A subclass defines the method `visits`, its name, its relation and its consumption classes (`classes_on`). With
    another value of `kinds`, a subclass is defined on other networks, with coordinates or without. Worms with several
    destinations need switches with one node each, and outside of meshes, tori and rings a relation with one path, one
    phase and one class of virtual channels. A scheme whose worms have one destination each sets ``header = Unicast``
    and ``pairs_are_complete = True``, and runs on all networks.

    A plain scheme needs microseconds per multicast, a compiled scheme nanoseconds. The hardware is the same for plain
    and compiled schemes.
    """

    header = AddressList
    in_two_dimensions = "by its Python code"
    in_more_dimensions = "by its Python code"
    pairs_are_complete = False

    def form(self, topology: Topology) -> str:
        """Describe the form on a mesh as `MeshScheme` does; elsewhere by `in_more_dimensions`, the text of the scheme's
        author."""
        return super().form(topology) if topology.kind == "mesh" else self.in_more_dimensions

    @abstractmethod
    def visits(self, topology: Topology, source: int, destinations: list[int]) -> Sequence[Sequence[int]]:
        """Divide the destinations of a multicast among worms.

        Returns
        -------
        sequence of sequence of int
            Destinations of each worm in visiting order; worms in the order of sending. Empty lists are ignored.
        """

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, message by message.

        Raises
        ------
        WormcastError
            `visits` fails, or does not return each destination once. With relation hamiltonian, worms are refused whose
            labels neither rise nor fall throughout.
        """
        found: list[list[int]] = []
        rank: list[int] = []
        message_offsets = [0]
        for message, source in enumerate(messages.sources.tolist()):
            parts = self._parts(topology, source, messages.of(message))
            found += parts
            rank += range(len(parts))
            message_offsets.append(len(found))
        return Worms(
            message_offsets=np.array(message_offsets),
            source=np.repeat(messages.sources, np.diff(message_offsets)),
            rank=np.array(rank, np.int32),
            after=np.full(len(found), AT_ONCE),
            destination_offsets=np.cumsum([0, *map(len, found)]),
            destinations=np.array(list(chain.from_iterable(found)), np.int32),
        )

    def _parts(self, topology: Topology, source: int, wanted: list[int]) -> list[list[int]]:
        """Return the destinations of each worm of a multicast, after a check."""
        def names(nodes: Iterable[int]) -> str:
            return ", ".join(map(topology.node_title, nodes)) or "no node"

        def refused(why: str) -> WormcastError:
            return WormcastError(f"{describe_multicast(self, topology, source, wanted)}: {why}")

        try:
            given = self.visits(topology, source, list(wanted))
            parts = [[index(node) for node in part] for part in given if len(part)]
        except FAILURES as error:
            raise refused("visits must return one list of nodes per worm "
                          f"({describe_error(error, type(self).__module__)})") from error
        visited = list(chain.from_iterable(parts))
        if sorted(visited) != sorted(wanted):
            seen = names(visited) if all(0 <= node < topology.nodes for node in visited) else f"nodes {visited}"
            raise refused(f"its worms visit {seen}. Needed: each destination once.")
        if self.relation is HAMILTONIAN:
            for part in parts:
                labels = [int(topology.hamiltonian_labels[node]) for node in (source, *part)]
                if labels not in (sorted(labels), sorted(labels, reverse=True)):
                    raise refused(f"a worm with visits {names(part)} and labels {' '.join(map(str, labels[1:]))} is "
                                  "not valid with relation hamiltonian. Needed: labels in ascending or in descending "
                                  f"order from the source's label {labels[0]} on.")
        return parts
