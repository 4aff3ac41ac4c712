"""Routing on any network once more, in plain Python: it uses nothing of the package but a topology's arrays.

A relation is a function (switch, link by which the worm came or None, destination) -> list of (link, class), empty at
the destination's switch; links are rows of the topology's. A channel is (link, class).
"""

from collections import deque
from itertools import pairwise


def links_of(topology):
    """Links out of each switch, in the order of its ports."""
    out = [[] for _ in range(topology.switches)]
    for row, (start, port, _, _) in enumerate(topology.links.tolist()):
        out[start].append((port, row))
    return [[row for _, row in sorted(links)] for links in out]


def home(topology, node):
    return int(topology.consumptions[node, 0])


def ring_way(extent, at, to, ties=1):
    """Hops around a ring from one place to another: places left, direction, class. The shorter way, ties as given: up,
    down, or ("signed") not over the edge between the last place and the first."""
    upwards = (to - at) % extent
    if ties == "signed":
        ties = 1 if at < to else -1
    step = ties if 2 * upwards == extent else 1 if 2 * upwards < extent else -1
    places = [at]
    while places[-1] != to:
        places.append((places[-1] + step) % extent)
    hops = list(pairwise(places))
    wraps = [abs(first - second) == extent - 1 and (first - second) * step > 0 for first, second in hops]
    crossed = not any(wraps)
    classes = []
    for wrap in wraps:
        classes.append(1 if crossed else 0)
        crossed = crossed or wrap
    return [(first, step, one) for (first, _), one in zip(hops, classes, strict=True)]


def torus_hop(topology, switch, came, node, ties=1):
    """E-cube on a torus: the last dimension that is not right yet, with its class of virtual channels."""
    for dimension in reversed(range(len(topology.shape))):
        at, to = int(topology.coordinates[switch, dimension]), int(topology.coordinates[node, dimension])
        if at == to:
            continue
        _, step, one = ring_way(topology.shape[dimension], at, to, ties)[0]
        beside = list(map(int, topology.coordinates[switch]))
        beside[dimension] = (at + step) % topology.shape[dimension]
        ports = topology.ports[switch]
        names = {(1, 1): "east", (1, -1): "west", (0, 1): "south", (0, -1): "north"}
        port = f"d0{'+' if step > 0 else '-'}" if len(topology.shape) == 1 else names[dimension, step]
        for row, (start, out, end, _) in enumerate(topology.links.tolist()):
            if start == switch and ports[out] == port:
                assert topology.coordinates[end].tolist() == beside
                return [(row, one)]
    return []


def up(topology, root=0):
    """Return for each link whether it leads up a breadth-first tree."""
    level = {root: 0}
    queue = deque([root])
    while queue:
        at = queue.popleft()
        for start, _, end, _ in topology.links.tolist():
            for one, other in ((start, end), (end, start)):
                if one == at and other not in level:
                    level[other] = level[at] + 1
                    queue.append(other)
    return [(level[end], end) < (level[start], start) for start, _, end, _ in topology.links.tolist()]


def nearer(topology, may):
    """The hops on shortest ways among those that may follow each other; `may` is (link before or None, link) -> bool.

    Every such hop, as a relation.
    """
    out, rows = links_of(topology), topology.links.tolist()

    def far(came, switch, goal):
        """Hops from a switch to a goal; breadth first over links taken."""
        seen, queue = {(came, switch)}, deque([(came, switch, 0)])
        while queue:
            before, at, hops = queue.popleft()
            if at == goal:
                return hops
            for link in out[at]:
                if may(before, link) and (link, rows[link][2]) not in seen:
                    seen.add((link, rows[link][2]))
                    queue.append((link, rows[link][2], hops + 1))
        return float("inf")

    def relation(switch, came, node):
        goal = home(topology, node)
        if switch == goal:
            return []
        here = far(came, switch, goal)
        if here == float("inf"):
            return []
        return [(link, 0) for link in out[switch] if may(came, link) and far(link, rows[link][2], goal) == here - 1]

    return relation


def up_down(topology, root=0):
    """All minimal legal hops of up*/down*."""
    rises = up(topology, root)
    return nearer(topology, lambda before, link: before is None or rises[before] or not rises[link])


def walked(topology, relation, sources=None):
    """The channels that worms may hold, as {(source, destination): set of channels}, and what follows what.

    Returns
    -------
    dict (channel, channel or ("any", node)) -> set of (source, destination)
    """
    edges = {}
    for source in range(topology.nodes) if sources is None else sources:
        for node in range(topology.nodes):
            if source == node:
                continue
            begin = int(topology.injections[source, 0])
            waiting, seen = [(None, channel) for channel in relation(begin, None, node)], set()
            assert waiting or begin == home(topology, node), "a worm goes nowhere"
            while waiting:
                before, channel = waiting.pop()
                if before is not None:
                    edges.setdefault((before, channel), set()).add((source, node))
                if channel in seen:
                    continue
                seen.add(channel)
                end = int(topology.links[channel[0], 2])
                if end == home(topology, node):
                    edges.setdefault((channel, ("any", node)), set()).add((source, node))
                    continue
                onwards = relation(end, channel[0], node)
                assert onwards, "a worm goes nowhere"
                waiting += [(channel, following) for following in onwards]
    return edges


def has_cycle(pairs):
    """Return whether a directed graph has a cycle: removing points without successors leaves some points."""
    after, before, count = {}, {}, {}
    for start, end in pairs:
        after.setdefault(start, set()).add(end)
        before.setdefault(end, set()).add(start)
    points = set(after) | set(before)
    for point in points:
        count[point] = len(after.get(point, ()))
    done = [point for point in points if count[point] == 0]
    gone = 0
    while done:
        point = done.pop()
        gone += 1
        for one in before.get(point, ()):
            count[one] -= 1
            if count[one] == 0:
                done.append(one)
    return gone < len(points)


def placements(topology, relation):
    """Every worm that waits somewhere: (destination, channels that it holds in a row, all that its head may take)."""
    found = []
    for node in range(topology.nodes):
        reached, waiting = set(), []
        for source in range(topology.nodes):
            if source != node:
                waiting += relation(int(topology.injections[source, 0]), None, node)
        while waiting:
            channel = waiting.pop()
            if channel not in reached:
                reached.add(channel)
                waiting += relation(int(topology.links[channel[0], 2]), channel[0], node)
        ways = [(channel,) for channel in sorted(reached)]
        while ways:
            way = ways.pop()
            asked = relation(int(topology.links[way[-1][0], 2]), way[-1][0], node)
            if asked:  # at its destination a worm is consumed
                found.append((node, way, frozenset(asked)))
            ways += [(*way, one) for one in asked if one not in way]
    return found


def deadlock(topology, relation):
    """Worms of which no two hold the same channel, and which hold all that any may take; None if there are none."""
    every = placements(topology, relation)
    holding = {}
    for worm in every:
        for channel in worm[1]:
            holding.setdefault(channel, []).append(worm)

    def complete(worms, held, wanted):
        missing = wanted - held
        if not missing:
            return worms
        for worm in holding.get(min(missing), ()):
            if not held & set(worm[1]):
                found = complete([*worms, worm], held | set(worm[1]), wanted | worm[2])
                if found:
                    return found
        return None

    for worm in every:
        found = complete([worm], set(worm[1]), set(worm[2]))
        if found:
            return found
    return None


def duato_is_acyclic(topology, relation, escape=0):
    """Return whether one class of channels connects all nodes, with an acyclic extended dependency graph (Duato).

    From one escape channel to the next: at once, or after channels of other classes, that a worm came back to.
    """
    edges = set()
    for source in range(topology.nodes):
        for node in range(topology.nodes):
            if source == node:
                continue
            waiting = [(None, channel) for channel in relation(int(topology.injections[source, 0]), None, node)]
            seen = set()
            while waiting:
                last, channel = waiting.pop()
                if (last, channel) in seen:
                    continue
                seen.add((last, channel))
                end = int(topology.links[channel[0], 2])
                if channel[1] == escape:
                    if last is not None:
                        edges.add((last, channel))
                    last = channel
                onwards = relation(end, channel[0], node)
                assert not onwards or any(one == escape for _, one in onwards)
                waiting += [(last, following) for following in onwards]
                if last is not None:
                    edges |= {(last, following) for following in onwards if following[1] == escape}
    return not has_cycle(edges)
