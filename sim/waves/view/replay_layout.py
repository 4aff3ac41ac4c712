"""Placement of switches, nodes and virtual channels in a replay, in pixels.

Each virtual channel is drawn as a line of its own, its track.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...drawing.layout import NetworkLayout, layout_of
from ...drawing.ways import along, beside, cut
from .history import History, RecordedLink

__all__ = ["BOX", "HOST", "QUEUE", "NodePlace", "ReplayLayout", "Router", "lay_out"]

Floats = npt.NDArray[np.float64]
Point = tuple[float, float]

CELL = 116  # distance between neighbouring routers of a two-dimensional mesh
# in other direct networks: CROWDED, smallest distance of neighbours; ACROSS, smallest distance of parallel lines
CROWDED, ACROSS = 140, 46
BOX = 24  # half the width of a router that has its node beside it
QUEUE = 28  # length of a buffer that is drawn in a router; the routers grow by this length
SLOTTED = 16  # largest number of routers whose buffers are drawn
HOST = 12  # half the width of a node
CORNER = 57  # distance from a router's centre to the node beside it, across and down
# a node beside its router keeps this angle from the router's links, if it can; in degrees
CLEAR = 30
CORNERS = (1, 1), (1, -1), (-1, 1), (-1, -1)
MIDDLE = 9  # distance from the line between two routers to the first track on either side
SPREAD = 10  # largest distance from a link's first track to its last one
TRACK = 5  # largest distance between tracks
# if nodes are drawn apart from switches: NODES, smallest distance of neighbours
# GAP, smallest distance between the tracks of two neighbouring links
NODES, GAP = 50, 6
NEAR = 4  # distance from the line between two switches to the first track, if nodes are apart from switches
STEEP = 0.3  # a track is extended to a side of a box only if its angle to the side's normal has at least this cosine
LETTER = 8  # width of a letter
EDGE = 8  # margin of the drawing


@dataclass(frozen=True)
class Router:
    """A switch: its centre, and half its width and height."""

    switch: int
    at: Point
    half: Point


@dataclass(frozen=True)
class NodePlace:
    """A node: its centre, and the position of its name.

    ``kind`` is "both", or "source" and "sink" for the two places of a node that is drawn twice.
    """

    node: int
    at: Point
    kind: str
    name: Point
    anchor: str = "middle"


@dataclass(frozen=True)
class ReplayLayout:
    """The drawn network; x to the right, y down.

    Parameters
    ----------
    corner : (float, float)
        Smallest x and smallest y.
    size : (float, float)
        Width and height.
    routers : tuple of Router
        Switches that are drawn.
    hosts : tuple of NodePlace
        Nodes of the drawn switches.
    planes : tuple of tuple of (float, float)
        Corners of the planes of a three-dimensional network that is drawn whole; else empty.
    names : tuple of (str, (float, float))
        Names of planes, and the positions of these names.
    tracks : tuple of tuple of tuple of (float, float), [links][vcs][points]
        Line of each virtual channel, from the link's source to its target.
    slots : int
        Number of flits that a drawn buffer holds; 0 if buffers are not drawn.
    """

    corner: Point
    size: Point
    routers: tuple[Router, ...]
    hosts: tuple[NodePlace, ...]
    planes: tuple[tuple[Point, ...], ...]
    names: tuple[tuple[str, Point], ...]
    tracks: tuple[tuple[tuple[Point, ...], ...], ...]
    slots: int = 0


def lay_out(history: History) -> ReplayLayout:
    """Place the network of a history as in all drawings of the network (`layout_of`).

    A link has a track for each virtual channel. If there are links in both directions between two routers, each link is
    drawn to the right of the line between the routers, seen in its direction. A node without a position of its own is
    drawn below its router, to the right, or at another corner if a link is there. The tracks of consumption and
    injection channels run between router and node.

    ::

                0.0 +----+ <<<<<<<<< +----+
                    |    | >>>>>>>>> |    |
                    +----+           +----+
                      v ^ \\\\
                      v ^  [ ]

    A node with a position of its own in the layout is drawn at this position. Only the switches in the smallest
    rectangle around the recorded links' switches are drawn.
    """
    places = _Places(history)
    tracks: list[tuple[tuple[Point, ...], ...]] = [()] * len(history.links)
    at_host: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for number, link in enumerate(history.links):
        if link.node is None:
            tracks[number] = tuple(places.between(link, vc) for vc in range(link.vcs))
        else:
            at_host[link.node, link.kind if places.layout.drawn_twice else ""] += [
                (number, vc) for vc in range(link.vcs)]
    for found in at_host.values():
        found.sort(key=lambda one: history.links[one[0]].kind == "injection")  # consumption links first
        ways: dict[int, list[tuple[Point, ...]]] = defaultdict(list)
        for place, (number, _) in enumerate(found):
            ways[number].append(places.to_node(history.links[number], place, len(found)))
        for number, made in ways.items():
            tracks[number] = tuple(made)
    return places.ground(tuple(tracks))


class _Places:
    """Positions of switches and nodes, and the tracks between them."""

    def __init__(self, history: History):
        self.topology = topology = history.topology
        self.layout: NetworkLayout = layout_of(topology)
        self._sides: dict[int, Floats] = {}
        self._rows = history.rows
        self._apart = bool(self.layout.boxes.any())
        vcs = max((link.vcs for link in history.links if link.kind == "network"), default=1)
        self._track = TRACK if self._apart else min(TRACK, SPREAD / max(1, vcs - 1))
        narrow = self.layout.narrowest
        seen = {switch for link in history.links for switch in link.switches} or {*range(topology.switches)}
        low, high = (pick(self.layout.switches[sorted(seen)], axis=0) for pick in (np.min, np.max))
        inside = ((self.layout.switches >= low - 1e-6) & (self.layout.switches <= high + 1e-6)).all(axis=1)
        self._drawn = np.flatnonzero(inside).tolist()
        self._origin = low
        drawn = history.buffers and len(self._drawn) <= SLOTTED
        self.slots = history.depth if drawn else 0
        more = QUEUE if self.slots else 0
        self._box, self._corner = BOX + more, CORNER + more
        if self._apart:
            both = 1 if self.layout.one_way.all() else 2
            self.cell = max(NODES + more, (both * (NEAR + (vcs - 1) * self._track) + GAP) / narrow)
        else:
            self.cell = (CELL if narrow >= 1 else max(CROWDED, ACROSS / narrow)) + 2 * more

    def _at(self, place: Floats) -> Floats:
        return (place - self._origin) * self.cell

    def half(self, switch: int) -> Floats:
        """Return half the width and height of a switch, in pixels."""
        return self.layout.boxes[switch] * self.cell if not self.layout.shared[switch] else np.full(2, self._box)

    def between(self, link: RecordedLink, vc: int) -> tuple[Point, ...]:
        """Return the track of virtual channel ``vc`` of a link between two switches."""
        row = self._rows[link.name]
        way = self._at(self.layout.links[row])
        if self.layout.one_way[row]:
            line = beside(way, (vc - (link.vcs - 1) / 2) * self._track)
        else:
            line = beside(way, (NEAR if self._apart else MIDDLE) + vc * self._track)
        line = self._from_box(line, way, link.source)
        line = self._from_box(line[::-1], way[::-1], link.target)[::-1]
        return _points(cut(line, self._inside(line, link.source), self._inside(line[::-1], link.target)))

    def _from_box(self, line: Floats, way: Floats, switch: int) -> Floats:
        """Extend a track to that side of the switch's box at which the link's line begins."""
        if self.layout.shared[switch]:
            return line
        middle, half, forward = self._at(self.layout.switches[switch]), self.half(switch), along(line[0], line[1])
        side = int(np.argmax(np.abs(way[0] - middle) / half))
        if abs(forward[side]) < STEEP:
            return line
        return np.concatenate([[line[0] + (way[0] - line[0])[side] / forward[side] * forward], line[1:]])

    def _inside(self, line: Floats, switch: int) -> float:
        """Return the length of a track's first part, inside the box of a switch with its node beside it; else 0."""
        if not self.layout.shared[switch]:
            return 0.0
        middle, left = self._at(self.layout.switches[switch]), 0.0
        for start, end in pairwise(line):
            forward = along(start, end)
            with np.errstate(divide="ignore"):
                ahead = (np.sign(forward) * self._box - (start - middle)) / forward
            reach, out = float(np.linalg.norm(end - start)), float(min(ahead[np.isfinite(ahead)]))
            if out <= reach:
                return left + max(0.0, out)
            left += reach
        return left

    def to_node(self, link: RecordedLink, place: int, among: int) -> tuple[Point, ...]:
        """Return track number ``place`` of the ``among`` parallel tracks between a switch and its node."""
        assert link.node is not None
        injects = link.kind == "injection"
        switch = link.target if injects else link.source
        if self.layout.shared[switch]:
            way = self._aside(switch, place, among)
            return way[::-1] if injects else way
        joined = self._at((self.layout.injections if injects else self.layout.consumptions)[link.node])
        off = (place - (among - 1) / 2) * min(TRACK, 2 * HOST / among)
        line = beside(joined, off if injects else -off)
        return _points(cut(line, HOST * injects, HOST * (not injects)))

    def _aside(self, switch: int, place: int, among: int) -> tuple[Point, ...]:
        """Return track number ``place`` of the ``among`` parallel tracks from a router to the node beside it."""
        middle, off = self._at(self.layout.switches[switch]), (place - (among - 1) / 2) * min(
            TRACK, 32 / max(1, among - 1)) * 0.7
        near, far, to = self._box, self._corner - HOST, self._towards_node(switch)
        if off >= 0:
            return _points(np.array([middle + to * (near - 2 * off, near), middle + to * (far, far + 2 * off)]))
        return _points(np.array([middle + to * (near, near + 2 * off), middle + to * (far - 2 * off, far)]))

    def _towards_node(self, switch: int) -> Floats:
        """Return the direction of a router's node beside it: to the right and down, if no link begins or ends there."""
        if switch not in self._sides:
            links, ways = self.topology.links, self.layout.links
            ahead = [along(*ways[row][:2]) for row in np.flatnonzero(links[:, 0] == switch)]
            ahead += [along(*ways[row][:-3:-1]) for row in np.flatnonzero(links[:, 2] == switch)]
            clear = {corner: max((float(way @ corner) for way in ahead), default=-1.0) / np.sqrt(2)
                     for corner in CORNERS}
            free = [corner for corner in CORNERS if clear[corner] <= np.cos(np.radians(CLEAR))]
            self._sides[switch] = np.array(free[0] if free else min(CORNERS, key=clear.__getitem__), float)
        return self._sides[switch]

    def ground(self, tracks: tuple[tuple[tuple[Point, ...], ...], ...]) -> ReplayLayout:
        """Return the drawn network, with ``tracks`` as the lines of its virtual channels."""
        routers = tuple(Router(switch, *map(_point, (self._at(self.layout.switches[switch]), self.half(switch))))
                        for switch in self._drawn)
        hosts = tuple(self._hosts())
        names = tuple((name.text, _point(self._at(np.array(name.at)))) for name in self.layout.names
                      if name.side == "outer")
        drawn = set(self._drawn)
        points = [point for ways in tracks for way in ways for point in way]
        for router in routers:
            points += [(router.at[0] - router.half[0], router.at[1] - router.half[1]),
                       (router.at[0] + router.half[0], router.at[1] + router.half[1])]
            if self.layout.shared[router.switch]:
                wide = LETTER * len(self.topology.switch_title(router.switch))
                points.append((router.at[0] - self._box - wide, router.at[1] - self._box - 24))
        for host in hosts:
            points += [(host.at[0] - HOST, host.at[1] - HOST), (host.at[0] + HOST, host.at[1] + HOST)]
            half = LETTER * len(self.topology.node_name(host.node)) / (2 if host.anchor == "middle" else 1)
            points += [(host.name[0] - half, host.name[1] - 8), (host.name[0] + half, host.name[1] + 8)]
        whole = len(drawn) == self.topology.switches
        points += [(x - 60 if name else x, y) for name, (x, y) in names] if whole else []
        corners = np.array(points)
        low, high = corners.min(axis=0) - EDGE, corners.max(axis=0) + EDGE
        planes = tuple(_points(self._at(plane)) for plane in self.layout.planes) if whole else ()
        return ReplayLayout(_point(low), _point(high - low), routers, hosts, planes, names if whole else (), tracks,
                      self.slots)

    def _hosts(self) -> "list[NodePlace]":
        found = []
        drawn = set(self._drawn)
        layout = self.layout
        for node in range(self.topology.nodes):
            for sink, home in enumerate((self.topology.injections[node, 0], self.topology.consumptions[node, 0])):
                if int(home) not in drawn or (sink and not layout.drawn_twice):
                    continue
                kind = ("source", "sink")[sink] if layout.drawn_twice else "both"
                x, y = self._at((layout.sinks if sink else layout.nodes)[node]).tolist()
                if layout.shared[home]:
                    right, down = self._towards_node(int(home)).tolist()
                    at = x + right * self._corner, y + down * self._corner
                    found.append(NodePlace(node, at, kind, (at[0], at[1] + down * (HOST + 8))))
                elif layout.drawn_twice:
                    side = 1 if sink else -1
                    found.append(NodePlace(node, (x, y), kind, (x + side * (HOST + 5), y), ("end", "start")[sink]))
                else:
                    # the name is below the node, or above it if the line to the switch leaves below
                    below = 1 if self._at(layout.switches[home])[1] <= y + 1e-6 else -1
                    found.append(NodePlace(node, (x, y), kind, (x, y + below * (HOST + 8))))
        return found


def _point(place: Floats) -> Point:
    x, y = place.tolist()
    return x, y


def _points(way: Floats) -> tuple[Point, ...]:
    return tuple(map(_point, way))
