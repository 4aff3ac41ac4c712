"""Base class of multicast schemes."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..consumption import ConsumptionClasses
from ..errors import MessageError, WormcastError, users_code
from ..headers import Header
from ..old_names import ATTRIBUTES
from ..routing import Relation, Routes
from ..topologies.base import Topology
from ..topologies.parameters import NO_CHOICES, read_parameters
from ..topologies.port_uses import require_both_ways
from ..visit_triples import visit_triples_of_pairs
from ..worm_validation import validate_worms, visits_are_wanted
from ..worms import MessageBatch, Worms, select_entries
from .batch_merge import merge_batches
from .cost import Cost

__all__ = ["Scheme", "ask", "check_scheme", "classes_of", "describe_multicast", "require_new_names"]


class Scheme(ABC):
    """An algorithm that turns multicasts into worms, millions of multicasts per call.

    A subclass states the attributes below, its consumption classes and its worms. The hops of worms follow from the
    scheme's relation.

    Attributes
    ----------
    name : str
        Name on the command line.
    description : str
        One line for ``list schemes``.
    provenance : str
        Paper and section; or ``"reconstructed"`` and the sources, if no description was available. Default: ``"own"``.
    kinds : tuple of str
        Kinds of topology on which the scheme is defined. `kinds` is empty if the scheme is defined on all kinds, or on
        all networks whose links go `both_ways`.
    relation : Relation
        Relation that routes the scheme's worms, unless the topology decides; see `relation_on`.
    header : type
        Header format of the scheme's worms; made for a network by ``header.on(topology, flit_width)``.
    """

    name: str
    description: str = ""
    provenance: str = "own"
    kinds: tuple[str, ...]
    relation: Relation
    header: type[Header]

    broadcasts = False
    """The scheme's multicasts are all broadcasts to all other nodes."""

    is_tree = False
    """The scheme's worms are trees: switches replicate a worm where the paths to its destinations part."""

    both_ways = False
    """The scheme is defined only on networks whose links all go both ways."""

    replication: str | None = None
    """Replication in switches, see `TreeInput`. If `replication` is None, switches copy a worm only to deliver it at a
    node on its way."""

    needs_whole_packet = False
    """Switches must store a whole worm, so that no branch waits for another."""

    forwarded = False
    """Network interfaces forward the scheme's worms packet by packet, in place of hosts (`Worms.tier`)."""

    parameters: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Parameters that follow the scheme's name, ``NAME:PARAMETER=...,...``, with their defaults."""

    choices: ClassVar[Mapping[str, Collection[str]]] = NO_CHOICES
    """Allowed values of the parameters that are words, by parameter."""

    packets = 1
    """Number of packets per message for which the scheme computes worms, if the worms depend on this number."""

    pairs_are_complete = True
    """`visit_triples`, by default the triples of all multicasts to two destinations, has all visit triples of the
    scheme's worms. A scheme sets `pairs_are_complete` to False if larger multicasts may have further visit triples."""

    def most_visits(self, topology: Topology) -> int:
        """Return the largest number of entries that a worm's header can have. By default, a header can have one entry
        for each node but the source."""
        return max(1, topology.nodes - 1)

    @property
    def reconstructed(self) -> bool:
        """The scheme is reconstructed from what other papers say about it."""
        return self.provenance.startswith("reconstructed")

    @property
    def networks(self) -> str:
        """Networks on which the scheme is defined, in words."""
        return ", ".join(self.kinds) or ("any with links both ways" if self.both_ways else "any")

    @property
    def own_relation(self) -> Relation:
        """Relation that routes the scheme's worms by default."""
        return type(self).relation

    @property
    def module(self) -> str:
        """Name of the module of the scheme's class."""
        return type(self).__module__

    @abstractmethod
    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return the consumption classes of the scheme, by which its worms reserve consumption channels at stops."""

    @abstractmethod
    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms of messages. The method `batch` checks the messages before it calls `worms`."""

    def with_parameters(self, text: str) -> "Scheme":
        """Return the scheme with parameters, ``"k=2,order=id"``, under the name that includes them.

        Raises
        ------
        WormcastError
            A parameter is unknown or not valid.
        """
        if not self.parameters:
            raise WormcastError(f"scheme: '{self.name}:{text}' is not valid: {self.name} has no parameters. Allowed: "
                                f"{self.name}.")
        other = copy(self)
        other.name = f"{self.name}:{text}"
        other.set_parameters(read_parameters(self.name, text, self.parameters, self.choices, what="scheme"))
        return other

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Set the parameters. `with_parameters` calls this method on a copy of the scheme, with all parameters.

        By default, the parameters become attributes of the scheme, as texts.
        """
        vars(self).update(given)

    def for_packets(self, packets: int) -> "Scheme":
        """Return the scheme for messages of this number of packets. Most schemes are the same for any number of
        packets."""
        return self

    def routed_by(self, relation: Relation) -> "Scheme":
        """Return the same scheme with its worms routed by another relation. The worms keep their order of visits.

        ``wormcast.algorithms.deadlock.check.check`` decides whether the scheme with this relation is free of deadlock.
        """
        other = copy(self)
        other.relation = relation
        return other

    def relation_on(self, topology: Topology) -> Relation:
        """Return the relation that routes worms on a topology. By default, the relation is the same on all
        topologies."""
        return self.relation

    def on(self, topology: Topology) -> "Scheme":
        """Return the scheme bound to its relation on a topology."""
        relation = self.relation_on(topology)
        return self if relation is self.relation else self.routed_by(relation)

    def is_tree_to(self, destinations: int) -> bool:
        """Return whether a worm to this number of destinations is a tree. By default, either all worms are trees, or
        none is (`is_tree`)."""
        return self.is_tree

    def parts(self) -> "tuple[Scheme, ...]":
        """Return the schemes that share the network if the scheme mixes several, by default the scheme alone."""
        return (self,)

    def channels(self, routes: Routes, source: int, destinations: list[int]) -> list[int]:
        """List the channels of a worm, ``link * classes + class``, in the order in which its header uses them.

        By default, a worm takes one path, which visits the destinations in their order.
        """
        return routes.channels(source, destinations)

    def hops(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
        """Count the links of each of the scheme's worms, int64 [worms]."""
        return routes.hops(worms)

    def check(self, topology: Topology) -> None:
        """Refuse a topology on which the scheme or its relation is not defined."""
        if self.kinds and topology.kind not in self.kinds:
            raise WormcastError(
                f"scheme {self.name}: topology {topology.name} is not valid. "
                f"Allowed: networks of kind {', '.join(self.kinds)}."
            )
        if self.both_ways:
            require_both_ways(topology, f"scheme {self.name}")
        self.relation_on(topology).on(topology)

    def form(self, topology: Topology) -> str:
        """Describe in words how the scheme works on a topology on which it is defined.

        By default, the description is ``its only form``, for schemes that work in the same way on all topologies.
        """
        return "its only form"

    def header_on(self, topology: Topology, flit_width: int, relations: int = 1,
                  signed: tuple[int, ...] = ()) -> Header:
        """Return the format of the worms' headers on a network, see `Header.on`."""
        return self.header.on(topology, flit_width, relations, signed)

    def ideal_header_width(self, topology: Topology, destinations: int, relations: int = 1,
                           signed: tuple[int, ...] = ()) -> int:
        """Compute the flit width with which the header of this number of destinations is one flit, see
        `Header.ideal_width_on`."""
        return self.header.ideal_width_on(topology, destinations, relations, signed)

    def cost(self, topology: Topology) -> Cost | None:
        """Return the cost of a contention-free broadcast by nodes that use all ports at once. The result is None if no
        formula is known."""
        return None

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """List the triples of a worm's source or stop and its next two stops, for the deadlock analysis.

        A triple (u, v, w) states that some worm with source u, or with a stop at u, stops next at v and then at w.
        Triples may repeat. Triples that no worm has are allowed: they can make the deadlock analysis too strict, but
        never too lax.

        By default, the triples are those of all multicasts to two destinations. The default is correct if the remainder
        of a worm at each of its stops is itself a worm of the scheme. Other schemes override this method.

        Returns
        -------
        int32 array [triples, 3]

        Raises
        ------
        WormcastError
            The topology is refused, or too large to enumerate.
        """
        return visit_triples_of_pairs(self.batch, topology)

    def batch(
        self,
        topology: Topology,
        sources: npt.ArrayLike,
        destination_offsets: npt.ArrayLike,
        destinations: npt.ArrayLike,
        *,
        packets: npt.ArrayLike | None = None,
        validated: bool = False,
    ) -> Worms:
        """Turn many messages into worms.

        Parameters
        ----------
        sources : int [messages]
            Source of each message.
        destination_offsets : int [messages + 1]
            Destinations of message m are destinations[destination_offsets[m]:destination_offsets[m + 1]].
        destinations : int [all destinations]
            Nodes in any order.
        packets : int [messages], optional
            Packets of each message. Default: the scheme's `packets`.
        validated : bool
            Validate all arrays of the worms. By default, this is done for users' schemes alone: of the worms of
            wormcast's own schemes, which loads plan by the million, only the destinations are compared with those of
            the messages.

        Raises
        ------
        WormcastError
            The topology is refused, or the arrays do not fit together. Other reasons: a message has no destinations, a
            repeated destination, its own source as a destination, or a node outside the topology; a user's scheme
            fails; a scheme returns worms that are not valid.
        """
        check_scheme(self, topology)
        messages = MessageBatch(
            np.ascontiguousarray(sources, np.int32),
            np.ascontiguousarray(destination_offsets, np.int64),
            np.ascontiguousarray(destinations, np.int32),
        )
        _check_messages(topology, messages)
        if packets is None:
            return self._computed(self, topology, messages, validated)
        return self._of_packets(np.asarray(packets, np.int64), topology, messages, validated)

    def _computed(self, scheme: "Scheme", topology: Topology, messages: MessageBatch, validated: bool) -> Worms:
        """Compute the worms of messages by ``scheme``: this scheme for some number of packets; see `batch`."""
        own = _is_own(scheme)
        with users_code(f"scheme {self.name}: its worms cannot be computed", type(self).__module__):
            worms = scheme.worms(topology, messages if own else messages.copy())
        if not isinstance(worms, Worms):
            raise WormcastError(f"scheme {self.name}: worms returns a value of type {type(worms).__name__}. "
                                "Needed: Worms.")

        def where(message: int | None) -> str:
            if message is None:
                return f"scheme {self.name}"
            return describe_multicast(self, topology, int(messages.sources[message]), messages.of(message))

        if own and not validated and visits_are_wanted(worms, topology.nodes, messages):
            return worms
        return validate_worms(worms, topology, messages, where)

    def _of_packets(self, packets: npt.NDArray[np.int64], topology: Topology, messages: MessageBatch,
                    validated: bool) -> Worms:
        """Compute the worms of messages with these numbers of packets, one batch per number."""
        schemes = {count: ask(self, "for_packets", count) for count in sorted(set(packets.tolist()))}
        if len(set(map(id, schemes.values()))) <= 1:
            return self._computed(next(iter(schemes.values()), self), topology, messages, validated)
        parts, numbers = [], []
        for count, scheme in schemes.items():
            numbers.append(np.flatnonzero(packets == count))
            places, offsets = select_entries(numbers[-1], messages.destination_offsets)
            part = MessageBatch(messages.sources[numbers[-1]], offsets, messages.destinations[places])
            parts.append(self._computed(scheme, topology, part, validated))
        return merge_batches(parts, numbers)


def ask(scheme: Scheme, method: str, *arguments: Any) -> Any:
    """Call a method of a scheme. Errors in users' code are raised as `WormcastError`."""
    with users_code(f"scheme {scheme.name}: {method} fails", type(scheme).__module__):
        return getattr(scheme, method)(*arguments)


def check_scheme(scheme: Scheme, topology: Topology) -> None:
    """Refuse a scheme with an attribute of an old name, and a topology on which the scheme is not defined."""
    require_new_names(scheme)
    ask(scheme, "check", topology)


def require_new_names(scheme: Scheme, place: str = "scheme") -> None:
    """Refuse a scheme with an attribute of an old name: wormcast would ignore the attribute, without a message.

    Parameters
    ----------
    place : str
        First word of the refusal, or the file that defines the scheme.
    """
    for old, new in ATTRIBUTES.items():
        if inspect.getattr_static(scheme, old, None) is not None:
            raise WormcastError(f"{place}: class {type(scheme).__name__} has the old attribute {old}. "
                                f"New name: {new}.")


def classes_of(scheme: Scheme, topology: Topology) -> ConsumptionClasses:
    """Return the consumption classes of a scheme on a topology. Errors in users' code are raised as `WormcastError`."""
    with users_code(f"scheme {scheme.name}: classes_on fails", type(scheme).__module__):
        classes = scheme.classes_on(topology)
    if not isinstance(classes, ConsumptionClasses):
        raise WormcastError(f"scheme {scheme.name}: classes_on returns a value of type {type(classes).__name__}. "
                            "Needed: ConsumptionClasses.")
    return classes


def describe_multicast(scheme: Scheme, topology: Topology, source: int, destinations: list[int]) -> str:
    """Return the beginning of error messages about the worms of a multicast: its scheme, source and destinations."""
    names = ", ".join(map(topology.node_title, destinations)) or "no node"
    return f"scheme {scheme.name}, a multicast from {topology.node_title(source)} to {names}"


def _is_own(scheme: Scheme) -> bool:
    """Return whether code of this package computes the scheme's worms. The package's tests validate such worms."""
    package = __name__.partition(".")[0]
    return type(scheme).__module__.partition(".")[0] == package and "worms" not in vars(scheme)


def _check_messages(topology: Topology, messages: MessageBatch) -> None:
    sources, destination_offsets, destinations = messages
    if (
        sources.ndim != 1
        or destinations.ndim != 1
        or destination_offsets.shape != (len(sources) + 1,)
        or destination_offsets[0] != 0
        or destination_offsets[-1] != len(destinations)
        or (np.diff(destination_offsets) < 0).any()
    ):
        raise WormcastError(
            f"batch: {list(destination_offsets.shape)} destination offsets are not valid for "
            f"{list(destinations.shape)} destinations and {list(sources.shape)} sources. Needed: one offset more than "
            "sources, in ascending order, from 0 to the number of destinations."
        )
    fault, message, node = _first_fault(topology.nodes, sources, destination_offsets, destinations)
    if fault < 0:
        return
    key = "source" if fault == 0 and node == sources[message] else "destinations"
    title = topology.node_title(node) if 0 <= node < topology.nodes else ""
    reason = (
        f"node {node} is not in {topology.name}. Allowed: 0 to {topology.nodes - 1}.",
        "a multicast has no destinations. Needed: 1 or more.",
        f"node {title} is not valid: it is the source. Allowed: other nodes.",
        f"node {title} is not valid: it occurs twice. Allowed: once.",
    )[fault]
    raise MessageError(f"{key}: {reason}", message, several=len(sources) > 1)


@compiled_from(LINEAR)
def _first_fault(nodes, sources, destination_offsets, destinations):
    """Find the first message that is not valid: (number of its error text in `_check_messages`, message, node)."""
    last_seen = np.full(nodes, -1, np.int64)  # for each node: the last message so far to this node
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
