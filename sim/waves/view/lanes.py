"""Where routers, nodes and virtual channels lie in the drawn network: a lane for each virtual channel."""

from collections import defaultdict
from dataclasses import dataclass

from wormcast.algorithms import Topology, WormcastError

from .history import History, Link

__all__ = ["BOX", "HOST", "Ground", "lay_out", "require_layout"]

Point = tuple[float, float]

CELL = 116  # from router to router
BOX = 24  # half a router
HOST = 12  # half a node
CORNER = 57  # of a node, right and down from its router
MIDDLE = 9  # from the line between two routers to the first lane on either side
SPREAD = 10  # from there to the last one
LANE = 5  # from lane to lane, at most
LETTER = 8  # of a name's width
LABEL = 54  # above a router, for its name
PLANES = 60  # between two planes


@dataclass(frozen=True)
class Ground:
    """The drawn network; x to the right, y down.

    Parameters
    ----------
    corner, size : (float, float)
        Least x and y; width and height.
    nodes : dict of int to (float, float)
        Middle of each router that is drawn; its node lies `CORNER` to the right and down.
    planes : tuple of (str, (float, float))
        Names of planes, and where to write them; none in two dimensions.
    lanes : tuple of tuple of tuple of (float, float), [links][vcs][points]
        The way of each virtual channel, from where it begins.
    """

    corner: Point
    size: Point
    nodes: dict[int, Point]
    planes: tuple[tuple[str, Point], ...]
    lanes: tuple[tuple[tuple[Point, ...], ...], ...]


def require_layout(topology: Topology) -> None:
    """Refuse what `lay_out` cannot draw, before there is a history."""
    if topology.kind != "mesh" or len(topology.shape) > 3:
        raise WormcastError(f"replay: {topology.name} is given, meshes of two and three dimensions can be drawn")


def lay_out(history: History) -> Ground:
    """Lay out what a history tells of: rows down and columns across; in three dimensions a plane for each y.

    ::

                 0.0 +---+ >>>>>>>>> +---+       links keep to the right of the line between their routers,
                     |   | <<<<<<<<< |   |       a lane for each virtual channel
                     +---+           +---+
                      v ^ \\\\            .        the node, to the right and down: consumption channels
                      v ^  [ ]                   and injection lead there

    Planes stand side by side, x to the right and z down; links between them run above their row. Only the part of the
    network is drawn in which there are links to see.

    Raises
    ------
    WormcastError
        The topology is no mesh of two or three dimensions.
    """
    require_layout(history.topology)
    places = _Places(history)
    # the links of a node come one after the other, and so do those between the same planes
    at_node: dict[int, list[tuple[int, int]]] = defaultdict(list)
    lanes: list[list[tuple[Point, ...]]] = [[()] * link.vcs for link in history.links]
    for number, link in enumerate(history.links):
        for vc in range(link.vcs):
            if link.kind != "network":
                at_node[link.source].append((number, vc))
            elif places.plane(link.source) == places.plane(link.target):
                lanes[number][vc] = places.straight(link, vc)
            else:
                lanes[number][vc] = places.above(link, vc)
    for node, found in at_node.items():
        found.sort(key=lambda one: history.links[one[0]].kind == "injection")  # consumption first
        for place, (number, vc) in enumerate(found):
            way = places.aside(node, place, len(found))
            lanes[number][vc] = way[::-1] if history.links[number].kind == "injection" else way
    return Ground(*places.extent, places.nodes, places.planes, tuple(map(tuple, lanes)))


class _Places:
    """Places of routers, and the ways between them."""

    def __init__(self, history: History):
        topology = history.topology
        # in two dimensions row.column, in three x.y.z
        axes = (1, None, 0) if len(topology.shape) == 2 else (0, 1, 2)
        where = {node: tuple(0 if axis is None else int(topology.coordinates[node, axis]) for axis in axes)
                 for node in range(topology.nodes)}
        seen = [where[node] for link in history.links for node in (link.source, link.target)] or [*where.values()]
        low = tuple(min(one) for one in zip(*seen, strict=True))
        high = tuple(max(one) for one in zip(*seen, strict=True))
        self._where = {node: tuple(value - least for value, least in zip(at, low, strict=True))
                       for node, at in where.items()
                       if all(a <= b <= c for a, b, c in zip(low, at, high, strict=True))}
        columns, planes, rows = (b - a + 1 for a, b in zip(low, high, strict=True))
        vcs = max((link.vcs for link in history.links if link.kind == "network"), default=1)
        self._between = _spacing(2 * vcs, 30)
        # links between planes: a track for each column, above each row
        self._track = self._between * (2 * vcs - 1) + 10
        tracks = columns * self._track if planes > 1 else 0
        across, down = columns * CELL + PLANES, CELL + tracks
        self.nodes = {node: (plane * across + column * CELL, row * down)
                      for node, (column, plane, row) in self._where.items()}
        top = -LABEL - tracks
        named = planes > 1 or len(topology.shape) == 3
        self.planes = tuple((f"y = {low[1] + plane}", (plane * across - BOX, top - 12))
                            for plane in range(planes)) if named else ()
        left = -BOX - LETTER * max(len(topology.node_name(node)) for node in self.nodes)
        top -= 30 if named else -8
        self.extent = ((left, top), (planes * across - PLANES - CELL + CORNER + HOST + 8 - left,
                                     (rows - 1) * down + CORNER + HOST + 8 - top))

    def plane(self, node: int) -> int:
        """Which plane a router is in."""
        return self._where[node][1]

    def straight(self, link: Link, vc: int) -> tuple[Point, ...]:
        """A lane between neighbours in a plane."""
        (x, y), (to_x, to_y) = self.nodes[link.source], self.nodes[link.target]
        length = abs(to_x - x) + abs(to_y - y)
        along = (to_x - x) / length, (to_y - y) / length
        aside = MIDDLE + vc * min(LANE, SPREAD / max(1, link.vcs - 1))
        right = -along[1] * aside, along[0] * aside
        return ((x + along[0] * BOX + right[0], y + along[1] * BOX + right[1]),
                (to_x - along[0] * BOX + right[0], to_y - along[1] * BOX + right[1]))

    def above(self, link: Link, vc: int) -> tuple[Point, ...]:
        """A lane to another plane: up from the router, across, and down."""
        there = self.plane(link.source) < self.plane(link.target)
        start, end = (link.source, link.target) if there else (link.target, link.source)
        (x, y), (to_x, to_y) = self.nodes[start], self.nodes[end]
        # those that go there and those that come back lie inside each other
        inset = self._between * (vc if there else 2 * link.vcs - 1 - vc)
        width = self._between * (2 * link.vcs - 1)
        left = x + BOX + 10 + width + inset  # to the right of what comes from the plane before
        right = to_x + BOX + 4 + width - inset
        height = y - LABEL - self._where[start][0] * self._track - width + inset
        way = ((x + BOX, y - BOX), (left, y - BOX - 12), (left, height), (right, height), (right, to_y - BOX - 12),
               (to_x + BOX, to_y - BOX))
        return way if there else way[::-1]

    def aside(self, node: int, place: int, among: int) -> tuple[Point, ...]:
        """A lane from a router to its node, one of several beside each other."""
        x, y = self.nodes[node]
        off = (place - (among - 1) / 2) * _spacing(among, 32) * 0.7
        near, far = BOX, CORNER - HOST
        if off >= 0:
            return (x + near - 2 * off, y + near), (x + far, y + far + 2 * off)
        return (x + near, y + near + 2 * off), (x + far - 2 * off, y + far)


def _spacing(lanes: int, room: float) -> float:
    return min(LANE, room / max(1, lanes - 1))

