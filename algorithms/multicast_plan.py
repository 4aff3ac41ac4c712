"""Plan of one multicast, checked when it is built."""

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
from .turns import require_passage
from .typecheck import checked
from .worm_validation import validate_worms
from .worms import AT_ONCE, HOST, TIERS, MessageBatch, Worms, steps_of

__all__ = ["Plan", "PlannedWorm", "plan"]


@dataclass(frozen=True)
class PlannedWorm:
    """One worm of a plan.

    Parameters
    ----------
    id : int
        Index in the plan.
    source : int
        Node that sends the worm.
    destinations : tuple of int
        Nodes in visiting order; in any order for a tree.
    links : tuple of (int, int)
        Hops from switch to switch, in the order in which the worm's head takes them; of several candidates, the
        preferred one. The first hop leaves the switch where the source injects. The last hop leads to the switch where
        the last destination consumes. A worm whose source and destinations are at one switch has no hop. The links of a
        tree are its edges. An edge starts at the source's switch, or where an earlier edge ends. If several earlier
        edges end there, the edge continues the last of them.
    link_rows : tuple of int
        Indices of the links in `Topology.links`. Parallel links have different indices.
    after : int or None
        Worm whose receipt at this worm's source releases this worm; None: this worm waits for no receipt.
    rank : int
        Index of the worm among its source's sends, from 0.
    classes : tuple of (int or None)
        Consumption class at each destination; None at the last destination, and where any free channel is allowed.
    step : int
        Message-passing step in which the worm is sent, from 1. By default a node sends one worm per step, beginning in
        the step after its receipt.
    signs : tuple of int, or None
        Signs of each destination in the header, which select the way around a ring where both ways have the same
        length. If bit d of a destination's signs is set, the worm goes downwards in dimension d. If ``signs`` is None,
        hosts use the signs of `default_signs`, which select the way that does not cross the ring's edge.
    vc_classes : tuple of str, or None
        Class of virtual channels on each link of the worm; None if the relation has only one class.
    tier : int
        Sender of the worm: its source's host (``HOST``), or its source's network interface, packet by packet
        (``INTERFACE``).
    """

    id: int
    source: int
    destinations: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    link_rows: tuple[int, ...]
    after: int | None
    rank: int
    classes: tuple[int | None, ...]
    step: int
    signs: tuple[int, ...] | None = None
    vc_classes: tuple[str, ...] | None = None
    tier: int = HOST

    @cached_property
    def before(self) -> list[int | None]:
        """For each link of the worm, the index of the last earlier link that ends where this link starts; None if there
        is no such link."""
        came: dict[int, int] = {}
        found = []
        for hop, (start, end) in enumerate(self.links):
            found.append(came.get(start))
            came[end] = hop
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the worm as plain data for JSON."""
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
    """The worms of one multicast, checked at construction.

    Parameters
    ----------
    topology : Topology
        The network.
    scheme : Scheme
        Scheme of the plan.
    source : int
        Source of the multicast.
    destinations : frozenset of int
        Destinations of the multicast.
    worms : tuple of PlannedWorm
        The worms, each after the worm that releases it.
    packets : int
        Number of packets of the message.

    Raises
    ------
    WormcastError
        The worms do not deliver the multicast; see `check`.
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
        """The worms as arrays, with each worm's step and tier (its sender: a host or a network interface)."""
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
        """The way in which the scheme works on this topology, in words (`Scheme.form`)."""
        return ask(self.scheme, "form", self.topology)

    @property
    def copies(self) -> int:
        """Number of worms."""
        return len(self.worms)

    @property
    def hops(self) -> int:
        """Sum of the worms' path lengths, counted in links between switches."""
        return sum(len(worm.links) for worm in self.worms)

    @property
    def channels(self) -> int:
        """Number of distinct links between switches that the worms take."""
        return _distinct(self.worms)

    @property
    def start_ups(self) -> int:
        """Number of worms that the busiest node sends one after the other."""
        return max(Counter(worm.source for worm in self.worms).values())

    @property
    def phases(self) -> int:
        """Number of worms in the longest chain of receipts: 1 if no worm waits for a receipt."""
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
        """For each step its number, and the numbers of its ``worms``, of their ``hops`` and of their distinct links
        (``channels``)."""
        sent: dict[int, list[PlannedWorm]] = {}
        for worm in self.worms:
            sent.setdefault(worm.step, []).append(worm)
        return [{"step": step, "worms": len(worms), "hops": sum(len(worm.links) for worm in worms),
                 "channels": _distinct(worms)} for step, worms in sorted(sent.items())]

    def packet_steps(self, discipline: str) -> npt.NDArray[np.int64] | None:
        """Return the step in which each packet of each worm is sent, as the function `packet_steps` computes it.

        The result is None unless network interfaces forward the scheme's worms (`Scheme.forwarded`), and each worm goes
        to one node.
        """
        if not self.scheme.forwarded or not forwarded_alone(self.arrays):
            return None
        return packet_steps(self.arrays, self.packets, discipline)

    @cached_property
    def slots(self) -> dict[str, list[dict[str, int]]] | None:
        """Packets that each interface sends in each step, for each of `DISCIPLINES`; None if `packet_steps` is None.

        Entries are sorted by step, then by node. Keys of an entry: ``step``, ``node`` (sender), ``to`` (receiver), and
        ``packet`` from 1.
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
        """Return for each destination of a worm the index of the link by which the worm arrives, or None.

        An index is None if the destination is at the worm's first switch.
        """
        homes = self.topology.consumptions[list(worm.destinations), 0].tolist()
        if self.scheme.is_tree_to(len(worm.destinations)):
            came: dict[int, int | None] = {end: hop for hop, (_, end) in enumerate(worm.links)}
            return [came.get(home) for home in homes]
        path = [int(self.topology.injections[worm.source, 0]), *(end for _, end in worm.links)]
        found, at = [], 0
        for home in homes:
            at = path.index(home, at)
            found.append(at - 1 if at else None)
        return found

    def check(self) -> None:
        """Check that the worms reach each destination once, over legal hops, and are sent by nodes with the message.

        The sender of a worm is the plan's source, or a destination of an earlier worm after its receipt.

        Raises
        ------
        WormcastError
            The message names the scheme and the fault, and the worm if a single worm is concerned.
        """
        for place, worm in enumerate(self.worms):
            if worm.id != place:
                self._refuse(f"worm {worm.id} has index {place} in the plan. Needed: index {worm.id}.")
        nodes = np.array(sorted(self.destinations), np.int32)
        message = MessageBatch(np.array([self.source], np.int32), np.array([0, len(nodes)]), nodes)
        validate_worms(self.arrays, self.topology, message, lambda _: self._where)
        for worm in self.worms:
            self._check_classes(worm)
        routes = self.scheme.relation_on(self.topology).on(self.topology)
        for rows, taken in routes_of(routes, self.arrays):
            for row in rows.tolist():
                is_tree = self.scheme.is_tree_to(len(self.worms[row].destinations))
                (self._check_tree if is_tree else self._check_links)(self.worms[row], taken)

    def _check_classes(self, worm: PlannedWorm) -> None:
        count = len(classes_of(self.scheme, self.topology))
        if len(worm.classes) != len(worm.destinations) or worm.classes[-1:] != (None,):
            self._refuse(
                f"worm {worm.id} has consumption classes {worm.classes} for {len(worm.destinations)} destinations. "
                "Needed: one for each, and None for the last."
            )
        for one in worm.classes:
            if one is not None and not 0 <= one < count:
                self._refuse(f"worm {worm.id} has consumption class {one}. Allowed: "
                             f"{', '.join(map(str, range(count)))}{', or ' * (count > 0)}None.")

    def _check_links(self, worm: PlannedWorm, routes: Routes) -> None:
        classes = len(routes.classes)
        homes = self.topology.consumptions[:, 0].tolist()
        at, phases = int(self.topology.injections[worm.source, 0]), {int(routes.phase_of_node[worm.source])}
        ahead = list(worm.destinations)
        for start, end in worm.links:
            while ahead and homes[ahead[0]] == at:
                ahead.pop(0)
            if start != at or end < 0 or end not in self.topology.neighbours[at]:
                ends = sorted({one for one in self.topology.neighbours[at].tolist() if one >= 0})
                self._refuse(f"worm {worm.id} takes {start} to {end} at switch {at}, which is not a link there. "
                             f"Needed: {at} to {' or '.join(map(str, ends))}.")
            # the plan may take any of several parallel links
            codes = {int(code) for phase in phases for code in routes.options[phase, at, ahead[0]]} if ahead else set()
            taken = {int(self.topology.link_of_port[at, code // classes]) for code in codes if code >= 0}
            phases = {int(routes.phase_of_link[link]) for link in taken if self.topology.links[link, 2] == end}
            if not phases:
                self._refuse_hop(worm, start, end, routes, {int(self.topology.links[link, 2]) for link in taken})
            at = end
        missed = [node for node in ahead if homes[node] != at]
        if missed:
            self._refuse(f"worm {worm.id} ends at switch {at}, before it reaches node {missed[0]}. Needed: links to "
                         "all its destinations.")

    def _check_tree(self, worm: PlannedWorm, routes: Routes) -> None:
        """Check a worm that replicates: it takes each link once, and only links on the way to its destinations.

        A worm that goes up in one piece may return to a switch on its way down.
        """
        homes = self.topology.consumptions[:, 0].tolist()
        ahead = {int(self.topology.injections[worm.source, 0]): set(worm.destinations)}
        for start, end in worm.links:
            if start not in ahead or (end in ahead and (ahead[end] or not routes.together)):
                self._refuse(f"worm {worm.id} takes {start} to {end}, which is not a link from a visited switch to a "
                             "new one. Needed: links of a tree.")
            hops = {node: routes.next_hop(start, node) for node in ahead[start] if homes[node] != start}
            onwards = {node for node, hop in hops.items() if hop == end}
            upwards = {hop for node, hop in hops.items() if self._goes_on_whole(routes, start, node)}
            if upwards:
                onwards = ahead[start] if end in upwards else set()
            if not onwards:
                self._refuse_hop(worm, start, end, routes, upwards or {*hops.values()})
            ahead[end] = onwards
            ahead[start] = ahead[start] - onwards
        missed = sorted(node for switch, nodes in ahead.items() for node in nodes if homes[node] != switch)
        if missed:
            self._refuse(f"worm {worm.id} does not reach node {missed[0]}. Needed: links to all its destinations.")

    def _refuse_hop(self, worm: PlannedWorm, start: int, end: int, routes: Routes, hops: set[int]) -> None:
        """Refuse a link that the relation does not take at a switch. ``hops``: switches to which the relation leads."""
        needed = f"switch {' or '.join(map(str, sorted(hops)))}" if hops else f"the end of the worm at switch {start}"
        self._refuse(f"worm {worm.id} goes from switch {start} to {end}, which is not the next hop of "
                     f"{routes.relation.name}. Needed: {needed}.")

    def _goes_on_whole(self, routes: Routes, switch: int, node: int) -> bool:
        """Return whether a worm to this node leaves this switch by a link up, so that it is not replicated there."""
        if not routes.together:
            return False
        code = int(routes.options[0, switch, node, 0])
        link = int(self.topology.link_of_port[switch, code // len(routes.classes)]) if code >= 0 else -1
        return link >= 0 and int(routes.phase_of_link[link]) == 0

    @property
    def _where(self) -> str:
        return f"plan of {self.scheme.name} on {self.topology.name}"

    def _refuse(self, what: str) -> None:
        raise WormcastError(f"{self._where}: {what}")

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON, as ``wormcast plan --json`` prints it."""
        header = self.scheme.header_on(self.topology, self.scheme.ideal_header_width(self.topology, 1))
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
    """Count the distinct links of some worms."""
    return len({link for worm in worms for link in worm.link_rows})


@checked
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
        Name for `load_scheme`, or a scheme of your own.
    source : int or str
        A node for `Topology.node`: an id, ``"3.2"`` or ``"@25"``.
    destinations : iterable of int or str, or str
        Nodes in any order. In a string the nodes are separated by commas; ``"all"`` is every node but the source.
    packets : int, optional
        Packets of the message. Default: the scheme's `packets`.

    Raises
    ------
    WormcastError
        The number of packets is not valid; the scheme is unknown or refuses the topology; a node is outside the
        topology; there is no destination, a destination occurs twice, or the source is among them.
    """
    if isinstance(scheme, str):
        scheme = load_scheme(scheme)
    if packets is not None:
        require_packets(packets)
        scheme = scheme.for_packets(packets)
    scheme = scheme.on(topology)
    start = topology.node(source, "source")
    nodes = topology.destination_set(destinations, start)
    worms = scheme.batch(topology, [start], [0, len(nodes)], nodes, validated=True)
    routes = scheme.relation.on(topology)
    classes = [NO_CLASS] * len(worms.destinations)
    own = classes_of(scheme, topology)
    require_passage(scheme, routes, own, worms, whole=scheme.needs_whole_packet)
    if not scheme.is_tree:
        classes = own.of_visits(routes, worms).tolist()
    taken: list[list[int]] = [[]] * len(worms)
    for some, ways in routes_of(routes, worms):
        for row in some.tolist():
            taken[row] = scheme.channels(ways, int(worms.source[row]), worms.visits(row).tolist())
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
                link_rows=tuple(channel // count for channel in taken[row]),
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
