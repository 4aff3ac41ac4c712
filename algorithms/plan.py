"""One multicast, readable and checked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .errors import WormcastError
from .schemes import SCHEMES, Scheme
from .topologies import Topology
from .worms import ANY_CLASS

__all__ = ["Plan", "Worm", "plan"]


@dataclass(frozen=True)
class Worm:
    """One worm of a plan.

    Parameters
    ----------
    id : int
        Place in the plan.
    source : int
        Node that sends it.
    destinations : tuple of int
        Nodes in visiting order.
    links : tuple of (int, int)
        Hops from switch to switch, in the order in which the head takes them.
    rank : int
        Place among the source's sends, from 0.
    consumption_class : int or None
        Class of consumption channel at intermediate destinations; None where any free one will do.
    """

    id: int
    source: int
    destinations: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    rank: int
    consumption_class: int | None

    def to_dict(self) -> dict[str, Any]:
        """Give the worm as plain data for JSON. Every worm so far is sent by the host, and waits for none."""
        return {
            "id": self.id,
            "source": self.source,
            "destinations": list(self.destinations),
            "links": [list(link) for link in self.links],
            "after": None,
            "rank": self.rank,
            "tier": "host",
            "class": self.consumption_class,
        }


@dataclass(frozen=True)
class Plan:
    """The worms that one multicast becomes; checked when it is made.

    Parameters
    ----------
    topology : Topology
        The network.
    scheme : Scheme
        Whose plan it is.
    source : int
        Node whose multicast it is.
    destinations : frozenset of int
        Nodes asked for.
    worms : tuple of Worm
        In the order in which they are sent.

    Raises
    ------
    WormcastError
        The worms do not do what was asked; see `check`.
    """

    topology: Topology
    scheme: Scheme
    source: int
    destinations: frozenset[int]
    worms: tuple[Worm, ...]

    def __post_init__(self) -> None:
        self.check()

    @property
    def copies(self) -> int:
        """Number of worms."""
        return len(self.worms)

    @property
    def hops(self) -> int:
        """Sum of the worms' path lengths, links between switches."""
        return sum(len(worm.links) for worm in self.worms)

    @property
    def channels(self) -> int:
        """Number of distinct links between switches."""
        return len({link for worm in self.worms for link in worm.links})

    @property
    def start_ups(self) -> int:
        """Number of worms that the busiest node sends one after the other."""
        return max(Counter(worm.source for worm in self.worms).values())

    @property
    def phases(self) -> int:
        """Number of worms in the longest chain of receipts: 1, as no worm waits for one so far."""
        return 1

    def check(self) -> None:
        """Check that each destination is reached once, and that every hop is a link and legal.

        Raises
        ------
        WormcastError
            A sentence that names the scheme, the worm and what is wrong.
        """
        visits = Counter(node for worm in self.worms for node in worm.destinations)
        for node in sorted(self.destinations | visits.keys()):
            expected = int(node in self.destinations)
            if visits[node] != expected:
                self._refuse(f"node {node} is visited {visits[node]} times instead of {expected}")
        ranks = Counter((worm.source, worm.rank) for worm in self.worms)
        for (source, rank), count in ranks.items():
            if count > 1:
                self._refuse(f"node {source} sends {count} worms of rank {rank} instead of one")
        for worm in self.worms:
            if worm.source != self.source:
                self._refuse(f"worm {worm.id} is sent by node {worm.source} instead of {self.source}")
            if worm.consumption_class is not None and not (
                0 <= worm.consumption_class < self.scheme.consumption_classes
            ):
                self._refuse(
                    f"worm {worm.id} has consumption class {worm.consumption_class}, "
                    f"the scheme states {self.scheme.consumption_classes}"
                )
            self._check_links(worm)

    def _check_links(self, worm: Worm) -> None:
        routes = self.scheme.relation.on(self.topology)
        homes = self.topology.attachments[:, 0].tolist()
        at = homes[worm.source]
        ahead = list(worm.destinations)
        for start, end in worm.links:
            while ahead and homes[ahead[0]] == at:
                ahead.pop(0)
            if start != at or end < 0 or end not in self.topology.neighbours[at]:
                self._refuse(f"worm {worm.id} takes {start} to {end} at switch {at}, which is no link there")
            if not ahead or end != routes.next_hop(at, ahead[0]):
                self._refuse(
                    f"worm {worm.id} goes from switch {start} to {end}, "
                    f"which is not the next hop of {self.scheme.relation.name}"
                )
            at = end
        missed = [node for node in ahead if homes[node] != at]
        if missed:
            self._refuse(f"worm {worm.id} ends at switch {at}, before it reaches node {missed[0]}")

    def _refuse(self, what: str) -> None:
        raise WormcastError(f"plan of {self.scheme.name} on {self.topology.name}: {what}")

    def to_dict(self) -> dict[str, Any]:
        """Give the plan as plain data for JSON, as ``wormcast plan --json`` prints it."""
        return {
            "topology": self.topology.name,
            "scheme": self.scheme.name,
            "provenance": self.scheme.provenance,
            "source": self.source,
            "worms": [worm.to_dict() for worm in self.worms],
            "copies": self.copies,
            "hops": self.hops,
            "channels": self.channels,
            "start_ups": self.start_ups,
            "phases": self.phases,
        }


def plan(
    topology: Topology, scheme: str | Scheme, source: int | str, destinations: str | Iterable[int | str]
) -> Plan:
    """Plan one multicast.

    Parameters
    ----------
    topology : Topology
        The network.
    scheme : str or Scheme
        Name of a scheme, or one of your own.
    source : int or str
        A node as `Topology.node` reads it: an id, ``"3.2"`` or ``"@25"``.
    destinations : iterable of int or str, or str
        Nodes in any order; one string joins them by commas.

    Raises
    ------
    WormcastError
        The scheme is unknown or refuses the topology; a node is outside it; there is no destination, one is
        given twice, or the source is among them.
    """
    if isinstance(scheme, str):
        scheme = SCHEMES[scheme]
    start = topology.node(source)
    nodes = topology.node_set(destinations)
    worms = scheme.batch(topology, [start], [0, len(nodes)], nodes)
    routes = scheme.relation.on(topology)
    rows = []
    for row in range(len(worms)):
        visits = tuple(worms.visits(row).tolist())
        switches = routes.path(int(worms.source[row]), visits)
        consumption_class = int(worms.consumption_class[row])
        rows.append(
            Worm(
                id=row,
                source=int(worms.source[row]),
                destinations=visits,
                links=tuple(pairwise(switches)),
                rank=int(worms.rank[row]),
                consumption_class=None if consumption_class == ANY_CLASS else consumption_class,
            )
        )
    return Plan(topology, scheme, start, frozenset(nodes), tuple(rows))
