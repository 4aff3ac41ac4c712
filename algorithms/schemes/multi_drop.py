"""Schemes with multi-drop worms: a worm for each switch, or for each chain of switches."""

from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..consumption import ConsumptionClasses
from ..headers import Header, MultiDrop
from ..headers.multi_drop import IDS
from ..irregular import descent, longest_chain, phased_worms
from ..routing import UP_DOWN
from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .base import Scheme

__all__ = ["MultiDropScheme", "PathGreedy", "PathLessGreedy", "SsrGreedy", "SsrLessGreedy"]


class MultiDropScheme(Scheme):
    """A scheme whose worms deliver to several nodes of a switch, and continue to at most one switch.

    The switches that a worm visits are a chain (`chains`): links down lead from each to the next. A worm that goes from
    each switch of a chain to the next by shortest up*/down* paths obeys up*/down* on its whole path (Theorem 4 of
    [Sivaram98]). If switches store whole worms, a worm along a chain waits only for resources for which a unicast waits
    (Theorem 5).

    With ``NAME:by=ni`` network interfaces forward the message packet by packet. [Sivaram98] mentions the combination of
    replicating switches and forwarding interfaces (section 1) and does not simulate it. With ``NAME:ids=node`` headers
    identify a switch by a node there, see `MultiDrop`.

    Attributes
    ----------
    whole_chains, all_send : bool
        As in `phased_worms`.
    """

    kinds = ()
    both_ways = True
    relation = UP_DOWN
    header = MultiDrop
    replication = "asynchronous"
    needs_whole_packet = True
    whole_chains: bool
    all_send: bool
    ids = "switch"
    parameters: ClassVar[Mapping[str, str]] = {"by": "hosts", "ids": "switch"}
    choices: ClassVar[Mapping[str, Collection[str]]] = {"by": ("hosts", "ni"), "ids": IDS}

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Set the ids in headers, and the forwarding of messages: by ``hosts``, or by network interfaces, packet by
        packet (``ni``)."""
        self.forwarded = given["by"] == "ni"
        self.ids = given["ids"]

    def header_on(self, topology: Topology, flit_width: int, relations: int = 1,
                  signed: tuple[int, ...] = ()) -> Header:
        return MultiDrop.on(topology, flit_width, relations, signed, ids=self.ids)

    def ideal_header_width(self, topology: Topology, destinations: int, relations: int = 1,
                           signed: tuple[int, ...] = ()) -> int:
        return MultiDrop.ideal_width_on(topology, destinations, relations, signed, ids=self.ids)

    def form(self, topology: Topology) -> str:
        """Describe the destinations of a worm, and the destinations that forward the message."""
        return ("a worm for each " + ("chain of switches" if self.whole_chains else "switch") + "; then "
                + ("all destinations send" if self.all_send else "one destination of each switch sends"))

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return no consumption class: a branch that is consumed delays no other branch."""
        return ConsumptionClasses()

    def most_visits(self, topology: Topology) -> int:
        """Count the switches of the longest possible chain of a worm; 1 if each worm goes to one switch."""
        homes = np.unique(topology.consumptions[:, 0])
        return longest_chain(topology, homes) if self.whole_chains else 1

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """List the triples along chains, with one node per switch; no triples if each worm goes to one switch."""
        homes, first = np.unique(topology.consumptions[:, 0], return_index=True)
        if not self.whole_chains:
            return np.empty((0, 3), np.int32)
        pairs = np.argwhere(descent(topology).below[np.ix_(homes, homes)])
        pairs = first[pairs[pairs[:, 0] != pairs[:, 1]]]
        sources = np.unique(topology.injections[:, 0], return_index=True)[1]
        return np.column_stack([np.repeat(sources, len(pairs)), np.tile(pairs, (len(sources), 1))]).astype(np.int32)

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms in the order of steps."""
        worms = phased_worms(topology, messages, whole_chains=self.whole_chains, all_send=self.all_send)
        return worms.forwarded_by_interfaces() if self.forwarded else worms


class SsrGreedy(MultiDropScheme):
    """One worm per switch with destinations. All nodes that have the message send worms.

    Worms with more destinations are sent first; worms with the same number of destinations are sent in the order of
    their chains (`chains`). In every step each node with the message sends one worm, so that no other order of the
    worms needs fewer steps.

    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-g"
    description = "a worm for each switch with destinations, sent on by all nodes that have the message"
    provenance = "[Sivaram98], sections 5.2.1 and 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = True


class SsrLessGreedy(MultiDropScheme):
    """One worm per switch with destinations. At each switch that has received the message, one destination sends.

    As `SsrGreedy`, but in every step at most one worm starts at each switch, not counting worms from the source.
    `SsrLessGreedy` needs at least as many steps as `SsrGreedy`, but fewer worms of a step wait for each other's links.

    Source: [Sivaram98], sections 5.2.1 and 5.2.5.
    """

    name = "ssr-lg"
    description = "a worm for each switch with destinations, sent on by one node of each switch"
    provenance = "[Sivaram98], sections 5.2.1 and 5.2.5 (ties: ours)"
    whole_chains = False
    all_send = False


class PathGreedy(MultiDropScheme):
    """One worm per chain of switches. All nodes that have the message send worms.

    A worm replicates to the destinations at each switch of its chain (`chains`). In every step each node with the
    message sends one worm, so that no other order of the worms needs fewer steps. The number of worms is the number of
    chains, which is small but not always minimal.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-g"
    description = "a worm for each chain of switches along down links, sent on by all nodes that have the message"
    provenance = "[Sivaram98], sections 5.2.2 to 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = True


class PathLessGreedy(MultiDropScheme):
    """One worm per chain of switches. At each switch that has received the message, one destination sends.

    As `PathGreedy`, but in every step at most one worm starts at each switch, not counting worms from the source.
    `PathLessGreedy` needs at least as many steps as `PathGreedy`, but fewer worms of a step wait for each other's
    links. [Sivaram98] uses the algorithm of `PathLessGreedy` for all comparisons.

    Source: [Sivaram98], sections 5.2.2, 5.2.4 and 5.2.5.
    """

    name = "path-lg"
    description = "a worm for each chain of switches that links down lead along, sent on by one node of each switch"
    provenance = "[Sivaram98], sections 5.2.2 to 5.2.5 (ties: ours)"
    whole_chains = True
    all_send = False
