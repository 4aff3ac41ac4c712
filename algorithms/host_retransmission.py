"""Absorb-and-retransmit by hosts: a worm ends at a destination, whose host sends a new worm to the next destination."""

from copy import copy

import numpy as np

from .compiled import LINEAR, compiled_from
from .consumption import ConsumptionClasses
from .routing import Relation
from .schemes import Scheme, ask
from .topologies.base import Topology
from .worms import AT_ONCE, HOST, Worms

__all__ = ["AbsorbedByHosts", "absorbed"]


def absorbed(worms: Worms) -> Worms:
    """Replace each visit of these worms by a worm of its own, which the previous visit's node sends after its receipt.

    A host has memory for all worms that it retransmits, so that no worm waits for memory while it holds a channel
    ([Boppana98], section 3.1). Destinations keep their indices: row i is the worm to ``worms.destinations[i]``. Of the
    worms that wait for one receipt, a node sends the rest of the absorbed worm first.
    """
    source, rank, after = _chains(worms.source, worms.rank, worms.after, worms.destination_offsets, worms.destinations)
    tier = np.full(len(worms.destinations), HOST, np.int8)
    tier[worms.destination_offsets[:-1]] = worms.tier
    return Worms(worms.destination_offsets[worms.message_offsets], source, rank, after,
                 np.arange(len(worms.destinations) + 1), worms.destinations, worms.signs, tier=tier)


class AbsorbedByHosts(Scheme):
    """Wrapper of another scheme: hosts absorb the scheme's worms at each destination, and retransmit them; see
    `absorbed`.

    Parameters
    ----------
    scheme : Scheme
        The wrapped scheme, whose worms are absorbed.
    """

    kinds = ()

    def __init__(self, scheme: Scheme):
        self.scheme = scheme
        self.name = scheme.name
        self.description = scheme.description
        self.provenance = scheme.provenance
        self.relation = scheme.relation
        self.header = scheme.header
        self.pairs_are_complete = scheme.pairs_are_complete
        self.broadcasts = scheme.broadcasts
        self.forwarded = scheme.forwarded

    @property
    def own_relation(self) -> Relation:
        """Relation that routes the worms of the wrapped scheme by default."""
        return self.scheme.own_relation

    @property
    def module(self) -> str:
        """Name of the module that defines the class of the wrapped scheme (`scheme`)."""
        return self.scheme.module

    def check(self, topology: Topology) -> None:
        """Refuse a topology on which the wrapped scheme is not defined."""
        ask(self.scheme, "check", topology)

    def form(self, topology: Topology) -> str:
        """Describe the form of the wrapped scheme."""
        return ask(self.scheme, "form", topology)

    def relation_on(self, topology: Topology) -> Relation:
        """Return the relation that routes the wrapped scheme's worms on a topology."""
        return self.scheme.relation_on(topology)

    def routed_by(self, relation: Relation) -> "AbsorbedByHosts":
        """Return the same scheme with its worms routed by another relation."""
        other = copy(self)
        other.scheme, other.relation = self.scheme.routed_by(relation), relation
        return other

    def for_packets(self, packets: int) -> "AbsorbedByHosts":
        """Return the same scheme for messages of this number of packets."""
        scheme = self.scheme.for_packets(packets)
        return self if scheme is self.scheme else AbsorbedByHosts(scheme)

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return no consumption class: each worm ends where it reserves a consumption channel, so that any channel is
        allowed."""
        return ConsumptionClasses()

    def visit_triples(self, topology: Topology) -> np.ndarray:
        """Return no triples: no worm continues from a destination."""
        return np.empty((0, 3), np.int32)

    def worms(self, topology, messages):
        """Compute the wrapped scheme's worms, and divide them at their destinations."""
        return absorbed(self.scheme.batch(topology, *messages))


@compiled_from(LINEAR)
def _chains(source, rank, after, destination_offsets, destinations):
    """Return the fields ``source``, ``rank`` and ``after`` of the worm to each destination."""
    count = len(destinations)
    sources, ranks, afters = np.empty(count, np.int32), np.zeros(count, np.int32), np.empty(count, np.int64)
    for worm in range(len(source)):
        first, end = destination_offsets[worm], destination_offsets[worm + 1]
        sources[first], ranks[first], afters[first] = source[worm], rank[worm], AT_ONCE
        if after[worm] != AT_ONCE:
            last = destination_offsets[after[worm] + 1] - 1
            for visit in range(destination_offsets[after[worm]], last + 1):
                if destinations[visit] == source[worm]:
                    afters[first] = visit
                    ranks[first] += visit < last
        for visit in range(first + 1, end):
            sources[visit], afters[visit] = destinations[visit - 1], visit - 1
    return sources, ranks, afters
