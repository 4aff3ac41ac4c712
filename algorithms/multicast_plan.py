"""One multicast, readable and checked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .consumption import NO_CLASS
from .errors import WormcastError
from .lookup import load_scheme
from .packet_steps import DISCIPLINES, forwarded_alone, packet_steps, require_packets
from .routing import Routes
from .routing.ties import routes_of
from .schemes import Scheme, ask, classes_of
from .topologies import Topology
from .turns import require_turns
from .typecheck import require_kind
from .worms import AT_ONCE, HOST, INTERFACE, TIERS, Worms, steps_of

__all__ = ["Plan", "PlannedWorm", "plan"]


@dataclass(frozen=True)
class PlannedWorm:
    """One worm of a plan.

    Parameters
    ----------
    id : int
        Place in the plan.
    source : int
        Node that sends it.
    destinations : tuple of int
        Nodes in visiting order; of a tree in any.
    links : tuple of (int, int)
        Hops from switch to switch, in the order in which the head takes them; where the relation leaves a choice,
        those that it prefers. The first leaves the switch where the source injects, and the last leads to the one
        where the last destination consumes; there is none where that is the same switch. Of a tree its edges: each
        goes on from the last one before it that leads to where it starts, or from the source.
    after : int or None
        The worm whose receipt at this worm's source releases it; None where it is sent at once.
    rank : int
        Place among its source's sends, from 0.
    classes : tuple of (int or None)
        Class of consumption channel at each destination; None at the last, and where any free one will do.
    step : int
        Message-passing step in which it is sent, from 1: as the scheme counts them, or else a node sends one worm a
        step, and begins in the step after its receipt.
    signs : tuple of int, or None
        What its header says of each destination where both ways around a ring are as long: bit d set, dimension d
        downwards. None where the scheme leaves that to the hosts, see `default_signs`.
    vc_classes : tuple of str, or None
        Class of virtual channels that it takes on each of the links; None where the relation tells none apart.
    tier : int
        Who sends it: its source's host (``HOST``), or the network interface there (``INTERFACE``), packet by packet.
    """

    id: int
    source: int
    destinations: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    after: int | None
    rank: int
    classes: tuple[int | None, ...]
    step: int
    signs: tuple[int, ...] | None = None
    vc_classes: tuple[str, ...] | None = None
    tier: int = HOST

    @cached_property
    def before(self) -> list[int | None]:
        """Of each of the links the place of the one that leads to where it starts; None where that is the source."""
        came: dict[int, int] = {}
        found = []
        for hop, (start, end) in enumerate(self.links):
            found.append(came.get(start))
            came[end] = hop
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give the worm as plain data for JSON."""
        return {
            "id": self.id,
            "source": self.source,
            "destinations": list(self.destinations),
            "links": [list(link) for link in self.links],
            "after": self.after,
            "rank": self.rank,
            "tier": TIERS[self.tier],
            "class": self.classes[0],
            "classes": list(self.classes),
            "step": self.step,
            "signs": None if self.signs is None else list(self.signs),
            "vc_classes": None if self.vc_classes is None else list(self.vc_classes),
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
    worms : tuple of PlannedWorm
        Each later than the one that releases it.
    packets : int
        Of the message.

    Raises
    ------
    WormcastError
        The worms do not do what was asked; see `check`.
    """

    topology: Topology
    scheme: Scheme
    source: int
    destinations: frozenset[int]
    worms: tuple[PlannedWorm, ...]
    packets: int = 1

    def __post_init__(self) -> None:
        self.check()

    @cached_property
    def arrays(self) -> Worms:
        """Its worms as arrays, as the scheme has computed them."""
        visits = [worm.destinations for worm in self.worms]
        said = [worm.signs for worm in self.worms if worm.signs is not None]
        return Worms(
            message_offsets=np.array([0, len(self.worms)]),
            source=np.array([worm.source for worm in self.worms], np.int32),
            rank=np.array([worm.rank for worm in self.worms], np.int32),
            after=np.array([AT_ONCE if worm.after is None else worm.after for worm in self.worms], np.int64),
            destination_offsets=np.cumsum([0, *map(len, visits)]),
            destinations=np.array([node for some in visits for node in some], np.int32),
            signs=np.array([one for some in said for one in some], np.int64) if len(said) == len(visits) else None,
            steps=np.array([worm.step for worm in self.worms], np.int32),
            tier=np.array([worm.tier for worm in self.worms], np.int8),
        )

    @property
    def form(self) -> str:
        """Which form the scheme takes on this topology."""
        return ask(self.scheme, "form", self.topology)

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
        return _distinct(self.worms)

    @property
    def start_ups(self) -> int:
        """Number of worms that the busiest node sends one after the other."""
        return max(Counter(worm.source for worm in self.worms).values())

    @property
    def phases(self) -> int:
        """Number of worms in the longest chain of receipts: 1 where none waits for another."""
        chain: list[int] = []
        for worm in self.worms:
            chain.append(1 if worm.after is None else 1 + chain[worm.after])
        return max(chain)

    @property
    def steps(self) -> int:
        """Number of message-passing steps."""
        return max(worm.step for worm in self.worms)

    @property
    def by_step(self) -> list[dict[str, int]]:
        """Of each step its number, its ``worms``, their ``hops``, and distinct links, ``channels``."""
        sent: dict[int, list[PlannedWorm]] = {}
        for worm in self.worms:
            sent.setdefault(worm.step, []).append(worm)
        return [{"step": step, "worms": len(worms), "hops": sum(len(worm.links) for worm in worms),
                 "channels": _distinct(worms)} for step, worms in sorted(sent.items())]

    def packet_steps(self, discipline: str) -> npt.NDArray[np.int64] | None:
        """Say in which step each packet of each worm is sent, as the function of this name does.

        None where hosts send worms on, or a worm goes to several nodes.
        """
        if not self.scheme.forwarded or not forwarded_alone(self.arrays):
            return None
        return packet_steps(self.arrays, self.packets, discipline)

    @cached_property
    def slots(self) -> dict[str, list[dict[str, int]]] | None:
        """Which interface sends which packet in which step, for each of `DISCIPLINES`; None where `packet_steps` is.

        In the order of steps, and of nodes in each: ``step``, ``node`` and ``to``, and ``packet`` from 1.
        """
        found = {}
        for discipline in DISCIPLINES:
            steps = self.packet_steps(discipline)
            if steps is None:
                return None
            sends = sorted((step, worm.source, worm.destinations[0], packet)
                           for worm, when in zip(self.worms, steps.tolist(), strict=True)
                           for packet, step in enumerate(when, start=1))
            found[discipline] = [{"step": step, "node": node, "to": to, "packet": packet}
                                 for step, node, to, packet in sends]
        return found

    def arrivals(self, worm: PlannedWorm) -> list[int | None]:
        """Of each destination of a worm the place of the link by which it comes there; None where it starts there."""
        homes = self.topology.consumptions[list(worm.destinations), 0].tolist()
        if self.scheme.is_tree:
            came: dict[int, int | None] = {end: hop for hop, (_, end) in enumerate(worm.links)}
            return [came.get(home) for home in homes]
        path = [int(self.topology.injections[worm.source, 0]), *(end for _, end in worm.links)]
        found, at = [], 0
        for home in homes:
            at = path.index(home, at)
            found.append(at - 1 if at else None)
        return found

    def check(self) -> None:
        """Check that each destination is reached once, by worms of those who have the message, over legal hops.

        A worm is sent by the plan's source, or by a destination of an earlier worm, after its receipt.

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
        for place, worm in enumerate(self.worms):
            if worm.id != place:
                self._refuse(f"worm {worm.id} is in place {place}, an id is the place in the plan")
            self._check_release(worm)
            self._check_classes(worm)
        routes = self.scheme.relation_on(self.topology).on(self.topology)
        for rows, taken in routes_of(routes, self.arrays):
            for row in rows.tolist():
                (self._check_tree if self.scheme.is_tree else self._check_links)(self.worms[row], taken)

    def _check_release(self, worm: PlannedWorm) -> None:
        if worm.tier not in (HOST, INTERFACE):
            self._refuse(f"worm {worm.id} has tier {worm.tier}, allowed are {HOST} and {INTERFACE}")
        if worm.tier == INTERFACE and worm.after is None:
            self._refuse(f"worm {worm.id} is forwarded by a network interface and comes after none, whose packets it "
                         "would forward")
        if worm.after is None:
            if worm.source != self.source:
                self._refuse(f"worm {worm.id} is sent at once by node {worm.source} instead of {self.source}")
        elif not 0 <= worm.after < worm.id:
            self._refuse(f"worm {worm.id} comes after worm {worm.after}, which is none before it")
        elif worm.source not in self.worms[worm.after].destinations:
            self._refuse(
                f"worm {worm.id} comes after worm {worm.after}, which does not reach its sender, node {worm.source}"
            )

    def _check_classes(self, worm: PlannedWorm) -> None:
        count = len(classes_of(self.scheme, self.topology))
        if len(worm.classes) != len(worm.destinations) or worm.classes[-1:] != (None,):
            self._refuse(
                f"worm {worm.id} has consumption classes {worm.classes} for {len(worm.destinations)} destinations, "
                "it must have one for each, and None for the last"
            )
        for one in worm.classes:
            if one is not None and not 0 <= one < count:
                self._refuse(f"worm {worm.id} has consumption class {one}, the scheme states {count}")

    def _check_links(self, worm: PlannedWorm, routes: Routes) -> None:
        classes = len(routes.classes)
        homes = self.topology.consumptions[:, 0].tolist()
        at, phases = int(self.topology.injections[worm.source, 0]), {int(routes.phase_of_node[worm.source])}
        ahead = list(worm.destinations)
        for start, end in worm.links:
            while ahead and homes[ahead[0]] == at:
                ahead.pop(0)
            if start != at or end < 0 or end not in self.topology.neighbours[at]:
                self._refuse(f"worm {worm.id} takes {start} to {end} at switch {at}, which is no link there")
            # by which of parallel links it goes is not told, nor matters
            codes = {int(code) for phase in phases for code in routes.options[phase, at, ahead[0]]} if ahead else set()
            taken = {int(self.topology.link_of_port[at, code // classes]) for code in codes if code >= 0}
            phases = {int(routes.phase_of_link[link]) for link in taken if self.topology.links[link, 2] == end}
            if not phases:
                self._refuse(
                    f"worm {worm.id} goes from switch {start} to {end}, which is not the next hop of "
                    f"{routes.relation.name}"
                )
            at = end
        missed = [node for node in ahead if homes[node] != at]
        if missed:
            self._refuse(f"worm {worm.id} ends at switch {at}, before it reaches node {missed[0]}")

    def _check_tree(self, worm: PlannedWorm, routes: Routes) -> None:
        """Check a worm that is copied: over each link once, and over no other than those to its destinations.

        One that goes up as a whole may come to a switch again on its way down.
        """
        homes = self.topology.consumptions[:, 0].tolist()
        ahead = {int(self.topology.injections[worm.source, 0]): set(worm.destinations)}
        for start, end in worm.links:
            if start not in ahead or (end in ahead and (ahead[end] or not routes.together)):
                self._refuse(f"worm {worm.id} takes {start} to {end}, which is no link from where it has been to where "
                             "it has not")
            hops = {node: routes.next_hop(start, node) for node in ahead[start] if homes[node] != start}
            onwards = {node for node, hop in hops.items() if hop == end}
            upwards = {hop for node, hop in hops.items() if self._goes_on_whole(routes, start, node)}
            if upwards:
                onwards = ahead[start] if end in upwards else set()
            if not onwards:
                self._refuse(f"worm {worm.id} goes from switch {start} to {end}, which is not the next hop of "
                             f"{routes.relation.name} to any of its destinations")
            ahead[end] = onwards
            ahead[start] = ahead[start] - onwards
        missed = sorted(node for switch, nodes in ahead.items() for node in nodes if homes[node] != switch)
        if missed:
            self._refuse(f"worm {worm.id} does not reach node {missed[0]}")

    def _goes_on_whole(self, routes: Routes, switch: int, node: int) -> bool:
        """Whether a worm to this node goes on as one for all others, see `Routes`."""
        if not routes.together:
            return False
        code = int(routes.options[0, switch, node, 0])
        link = int(self.topology.link_of_port[switch, code // len(routes.classes)]) if code >= 0 else -1
        return link >= 0 and int(routes.phase_of_link[link]) == 0

    def _refuse(self, what: str) -> None:
        raise WormcastError(f"plan of {self.scheme.name} on {self.topology.name}: {what}")

    def to_dict(self) -> dict[str, Any]:
        """Give the plan as plain data for JSON, as ``wormcast plan --json`` prints it."""
        kind = self.scheme.header
        header = kind.on(self.topology, kind.ideal_width_on(self.topology, 1))
        return {
            "topology": self.topology.name,
            "scheme": self.scheme.name,
            "form": self.form,
            "provenance": self.scheme.provenance,
            "source": self.source,
            "worms": [worm.to_dict() | {"header": header.parts(worm.destinations)} for worm in self.worms],
            "copies": self.copies,
            "hops": self.hops,
            "channels": self.channels,
            "start_ups": self.start_ups,
            "phases": self.phases,
            "steps": self.steps,
            "by_step": self.by_step,
            "packets": self.packets,
            "slots": self.slots,
        }


def _distinct(worms: Iterable[PlannedWorm]) -> int:
    """Number of distinct links of some worms."""
    return len({link for worm in worms for link in worm.links})


def plan(
    topology: Topology,
    scheme: str | Scheme,
    source: int | str,
    destinations: str | Iterable[int | str],
    *,
    packets: int | None = None,
) -> Plan:
    """Plan one multicast.

    Parameters
    ----------
    topology : Topology
        The network.
    scheme : str or Scheme
        As `load_scheme` finds it, or one of your own.
    source : int or str
        A node as `Topology.node` reads it: an id, ``"3.2"`` or ``"@25"``.
    destinations : iterable of int or str, or str
        Nodes in any order; one string joins them by commas, and ``"all"`` is all but the source.
    packets : int, optional
        Of the message; by default those that the scheme is for.

    Raises
    ------
    WormcastError
        There are no packets; the scheme is unknown or refuses the topology; a node is outside it; there is no
        destination, one is given twice, or the source is among them.
    """
    require_kind("topology", topology, Topology)
    require_kind("scheme", scheme, str, Scheme)
    if isinstance(scheme, str):
        scheme = load_scheme(scheme)
    if packets is not None:
        require_packets(packets)
        scheme = scheme.for_packets(packets)
    scheme = scheme.on(topology)
    start = topology.node(source)
    nodes = topology.destination_set(destinations, start)
    worms = scheme.batch(topology, [start], [0, len(nodes)], nodes)
    routes = scheme.relation.on(topology)
    classes = [NO_CLASS] * len(worms.destinations)
    if not scheme.is_tree:
        classes = classes_of(scheme, topology).of_visits(routes, worms).tolist()
    taken: list[list[int]] = [[]] * len(worms)
    for some, ways in routes_of(routes, worms):
        for row in some.tolist():
            taken[row] = scheme.taken(ways, int(worms.source[row]), worms.visits(row).tolist())
    if not scheme.is_tree and not scheme.needs_whole_packet:
        require_turns(scheme.name, routes, worms)
    ends, count = topology.links[:, [0, 2]].tolist(), len(routes.classes)
    steps = steps_of(worms)
    rows = []
    for row, (first, end) in enumerate(pairwise(worms.destination_offsets.tolist())):
        sender, after = int(worms.source[row]), int(worms.after[row])
        rows.append(
            PlannedWorm(
                id=row,
                source=sender,
                destinations=tuple(worms.visits(row).tolist()),
                links=tuple((start, end) for start, end in (ends[channel // count] for channel in taken[row])),
                after=None if after == AT_ONCE else after,
                rank=int(worms.rank[row]),
                classes=tuple(None if one == NO_CLASS else one for one in classes[first:end]),
                step=steps[row],
                signs=None if worms.signs is None else tuple(worms.signs[first:end].tolist()),
                vc_classes=tuple(routes.classes[channel % count] for channel in taken[row]) if count > 1 else None,
                tier=int(worms.tier[row]),
            )
        )
    return Plan(topology, scheme, start, frozenset(nodes), tuple(rows),
                scheme.packets if packets is None else packets)
