"""What a multicast scheme is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..consumption import ConsumptionClasses
from ..errors import MessageError, WormcastError, others_code
from ..headers import Header
from ..routing import Relation, Routes
from ..topologies.base import Topology
from ..topologies.joined import require_both_ways
from ..topologies.parameters import read_parameters
from ..visit_triples import legs_of_pairs
from ..worms import Worms
from .batch_merge import taken, woven
from .cost import Cost

__all__ = ["Scheme", "ask", "classes_of"]


class Scheme(ABC):
    """A way to turn multicasts into worms, for millions of them at a time.

    A scheme states the attributes below, its consumption classes and its worms; hops and links follow from its
    relation.

    Attributes
    ----------
    name : str
        As a user types it.
    description : str
        One line for ``list schemes``.
    provenance : str
        Paper and section; or ``"reconstructed"`` and from what, where no description was to be had. Where nothing is
        stated it is the user's own.
    kinds : tuple of str
        Kinds of topology it is defined on; empty: all of them, or those whose links go `both_ways`.
    relation : Relation
        By which its worms are routed, if the topology does not decide; see `relation_on`.
    header : type
        Header format of its worms; made for a network by ``header.on(topology, flit_width)``.
    """

    name: str
    description: str = ""
    provenance: str = "own"
    kinds: tuple[str, ...]
    relation: Relation
    header: type[Header]

    broadcasts = False
    """Whether its multicasts go to all other nodes, and none to fewer."""

    is_tree = False
    """Whether its worms are trees: copied at each switch to all outputs that lead to destinations, in any order."""

    both_ways = False
    """Whether it is defined on networks alone whose links all go both ways."""

    replication: str | None = None
    """How switches copy its worms to several outputs, see `TreeInput`; None: they do not, but for a consumed copy."""

    needs_whole_packet = False
    """Whether switches are to hold a whole worm, so that none of its copies waits for another one."""

    forwarded = False
    """Whether network interfaces forward its worms, packet by packet, in place of hosts (`Worms.tier`)."""

    parameters: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What a user may add behind its name, ``NAME:PARAMETER=...,...``, each with what it is by default."""

    packets = 1
    """Packets of a message for which its worms are chosen, where they depend on that."""

    pairs_are_complete = True
    """The multicasts to two destinations contain all visit triples. A scheme with its own `visit_triples` sets it."""

    def most_visits(self, topology: Topology) -> int:
        """Count the places that a worm's header may list: here all other nodes, one by one."""
        return max(1, topology.nodes - 1)

    @property
    def networks(self) -> str:
        """On which networks it is defined, in words."""
        return ", ".join(self.kinds) or ("any with links both ways" if self.both_ways else "any")

    @property
    def own_relation(self) -> Relation:
        """The relation that routes its worms where nobody has chosen another."""
        return type(self).relation

    @property
    def module(self) -> str:
        """Where it is written."""
        return type(self).__module__

    @abstractmethod
    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Say which consumption channels its worms reserve on their way, so that they cannot deadlock there."""

    @abstractmethod
    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms; called by `batch`, which has checked everything."""

    def with_parameters(self, text: str) -> "Scheme":
        """Give the scheme with parameters, ``"k=2,order=id"``, and under the name with which a user asks for it.

        Raises
        ------
        WormcastError
            It has no such parameters, or one is not allowed.
        """
        if not self.parameters:
            raise WormcastError(f"scheme: '{self.name}:{text}' is given, {self.name} has no parameters")
        other = copy(self)
        other.name = f"{self.name}:{text}"
        other.set_parameters(read_parameters(self.name, text, self.parameters, what="scheme"))
        return other

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Take what a user has added behind its name; called by `with_parameters` on a copy, with all of them.

        By default they become attributes, as texts.
        """
        vars(self).update(given)

    def for_packets(self, packets: int) -> "Scheme":
        """Give the scheme as it sends messages of so many packets; most do not depend on that."""
        return self

    def routed_by(self, relation: Relation) -> "Scheme":
        """Give the same scheme with its worms routed by another relation: the order of visits stays.

        Whether it is then free of deadlock is for ``wormcast.algorithms.check`` to say.
        """
        other = copy(self)
        other.relation = relation
        return other

    def relation_on(self, topology: Topology) -> Relation:
        """Say by which relation its worms are routed on a topology: here by the same on all."""
        return self.relation

    def on(self, topology: Topology) -> "Scheme":
        """Give the scheme with the relation that it has on a topology as its own."""
        relation = self.relation_on(topology)
        return self if relation is self.relation else self.routed_by(relation)

    def taken(self, routes: Routes, source: int, destinations: list[int]) -> list[int]:
        """List the channels, ``link * classes + class``, that one of its worms takes, in the order in which it does.

        Here along one way, on which it visits the destinations in their order.
        """
        return routes.channels(source, destinations)

    def hops(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
        """Count the links that each of its worms takes, int64 [worms]."""
        return routes.hops(worms)

    def check(self, topology: Topology) -> None:
        """Refuse a topology that the scheme or its relation is not defined on."""
        if self.kinds and topology.kind not in self.kinds:
            raise WormcastError(
                f"scheme {self.name}: it is not defined on {topology.name}, "
                f"allowed are {', '.join(self.kinds)}"
            )
        if self.both_ways:
            require_both_ways(topology, f"scheme {self.name}")
        self.relation_on(topology).on(topology)

    def form(self, topology: Topology) -> str:
        """Say which form the scheme takes on a topology that it is defined on; by default that it has but one."""
        return "its only form"

    def cost(self, topology: Topology) -> Cost | None:
        """Say what a multicast to all takes without contention, with all ports; None where no formula is known."""
        return None

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """List the ways that worms take through their stops, for the deadlock analysis.

        A row (u, v, w) says that some worm sent by u, or with u as its previous stop, visits v and goes on to w.
        Rows may repeat, and there may be more of them than worms make: then the analysis may find too much, but
        never too little.

        This default lists the worms of all multicasts to two destinations. It is right where whatever is left
        of a worm at one of its stops is itself a worm of the scheme; another scheme overrides it.

        Returns
        -------
        int32 array [triples, 3]

        Raises
        ------
        WormcastError
            The topology is refused, or too large to enumerate.
        """
        return legs_of_pairs(self.batch, topology)

    def batch(
        self,
        topology: Topology,
        sources: npt.ArrayLike,
        destination_offsets: npt.ArrayLike,
        destinations: npt.ArrayLike,
        *,
        packets: npt.ArrayLike | None = None,
    ) -> Worms:
        """Turn many messages into worms.

        Parameters
        ----------
        sources : int [messages]
            Source of each message.
        destination_offsets : int [messages + 1]
            Destinations of message m are destinations[destination_offsets[m]:destination_offsets[m + 1]].
        destinations : int [all destinations]
            Nodes, in any order.
        packets : int [messages], optional
            Packets of each message; by default those that the scheme is for.

        Raises
        ------
        WormcastError
            The topology is refused; the arrays do not fit together; a message has no destination, one twice,
            its source among them, or a node outside the topology; the worms of a user's scheme cannot be had.
        """
        ask(self, "check", topology)
        source_array = np.ascontiguousarray(sources, np.int32)
        offset_array = np.ascontiguousarray(destination_offsets, np.int64)
        destination_array = np.ascontiguousarray(destinations, np.int32)
        _check_messages(topology, source_array, offset_array, destination_array)
        given = topology, source_array, offset_array, destination_array
        with others_code(f"scheme {self.name}: no worms can be had from it", type(self).__module__):
            worms = self.worms(*given) if packets is None else self._of_packets(np.asarray(packets, np.int64), *given)
        if not isinstance(worms, Worms):
            raise WormcastError(f"scheme {self.name}: its worms gives a {type(worms).__name__}, it must give Worms")
        return worms

    def _of_packets(
        self,
        packets: npt.NDArray[np.int64],
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms of messages of so many packets each, those of as many together."""
        schemes = {count: self.for_packets(count) for count in sorted(set(packets.tolist()))}
        if len(set(map(id, schemes.values()))) <= 1:
            return next(iter(schemes.values()), self).worms(topology, sources, destination_offsets, destinations)
        parts, messages = [], []
        for count, scheme in schemes.items():
            messages.append(np.flatnonzero(packets == count))
            places, offsets = taken(messages[-1], destination_offsets)
            parts.append(scheme.worms(topology, sources[messages[-1]], offsets, destinations[places]))
        return woven(parts, messages)


def ask(scheme: Scheme, method: str, *arguments: Any) -> Any:
    """Call a method of a scheme, whoever has written it.

    Raises
    ------
    WormcastError
        Whatever it raises.
    """
    with others_code(f"scheme {scheme.name}: its {method} fails", type(scheme).__module__):
        return getattr(scheme, method)(*arguments)


def classes_of(scheme: Scheme, topology: Topology) -> ConsumptionClasses:
    """Give the consumption classes that a scheme states on a topology, whoever has written it.

    Raises
    ------
    WormcastError
        It states none.
    """
    with others_code(f"scheme {scheme.name}: no classes can be had from its classes_on", type(scheme).__module__):
        classes = scheme.classes_on(topology)
    if not isinstance(classes, ConsumptionClasses):
        raise WormcastError(f"scheme {scheme.name}: its classes_on gives a {type(classes).__name__}, it must give "
                            "ConsumptionClasses")
    return classes


def _check_messages(
    topology: Topology,
    sources: npt.NDArray[np.int32],
    destination_offsets: npt.NDArray[np.int64],
    destinations: npt.NDArray[np.int32],
) -> None:
    if (
        sources.ndim != 1
        or destinations.ndim != 1
        or destination_offsets.shape != (len(sources) + 1,)
        or destination_offsets[0] != 0
        or destination_offsets[-1] != len(destinations)
        or (np.diff(destination_offsets) < 0).any()
    ):
        raise WormcastError(
            f"batch: {list(destination_offsets.shape)} destination offsets do not divide "
            f"{list(destinations.shape)} destinations among {list(sources.shape)} sources, "
            "they rise from 0 to the number of destinations, one more than there are sources"
        )
    fault, message, node = _first_fault(topology.nodes, sources, destination_offsets, destinations)
    if fault < 0:
        return
    where = f"message {message}" if len(sources) > 1 else "plan"
    name = topology.node_name(node) if 0 <= node < topology.nodes else ""
    raise MessageError(
        where,
        message,
        (
            f"node {node} is outside {topology.name}, ids go from 0 to {topology.nodes - 1}",
            "no destination is given, a multicast has from one",
            f"node {node} ({name}) is the source and among the destinations, it must not be",
            f"node {node} ({name}) is twice among the destinations, once is allowed",
        )[fault],
    )


@compiled_from(LINEAR)
def _first_fault(nodes, sources, destination_offsets, destinations):
    """Find the first message that is no multicast: (sentence above, message, node), or (-1, 0, 0)."""
    last_seen = np.full(nodes, -1, np.int64)  # the last message that names each node
    for message in range(len(sources)):
        source = sources[message]
        if source < 0 or source >= nodes:
            return 0, message, source
        if destination_offsets[message] == destination_offsets[message + 1]:
            return 1, message, source
        for visit in range(destination_offsets[message], destination_offsets[message + 1]):
            node = destinations[visit]
            if node < 0 or node >= nodes:
                return 0, message, node
            if node == source:
                return 2, message, node
            if last_seen[node] == message:
                return 3, message, node
            last_seen[node] = message
    return -1, 0, np.int32(0)
