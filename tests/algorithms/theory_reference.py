"""Section 3 of [Boppana98] once more, by enumeration in plain Python; it uses nothing of the package.

A worm is its visits behind its source; links are pairs of nodes. A set of DANs is a map from links to numbers, with
None for links in no DAN.
"""

import itertools

from . import dependency_reference as dependencies


def multicasts(nodes, most):
    """Every source with every set of other nodes, up to so many."""
    for source in range(nodes):
        others = [node for node in range(nodes) if node != source]
        for count in range(1, min(most, nodes - 1) + 1):
            for chosen in itertools.combinations(others, count):
                yield source, list(chosen)


def worms_of(function, shape, most):
    """All worms of several destinations in these multicasts, each once."""
    found = set()
    for source, destinations in multicasts(shape[0] * shape[1], most):
        found |= {(source, *visits) for _, _, visits in function(shape, source, destinations) if len(visits) > 1}
    return sorted(found)


def both_orders(worms):
    """Pairs of nodes that some worm visits in one order, and some worm in the other."""
    seen = {pair for _, *visits in worms for pair in itertools.combinations(visits, 2)}
    return {(first, second) for first, second in seen if first < second and (second, first) in seen}


def hops(step, shape, worm):
    """Links of a worm in order, and whether it holds a consumption channel when it asks for each."""
    at, *visits = worm
    links = []
    for index, to in enumerate(visits):
        while at != to:
            following = step(shape, at, to)
            links.append(((at, following), index > 0))
            at = following
    return links


def link_sets(step, shape, worms):
    """Links that worms use at all, by which they come to a destination, and that they use holding a channel."""
    used, arrives, held = set(), set(), set()
    for worm in worms:
        links = hops(step, shape, worm)
        used |= {link for link, _ in links}
        held |= {link for link, holds in links if holds}
        visits = list(worm[1:])
        for link, _ in links:
            if visits and link[1] == visits[0]:
                arrives.add(link)
                visits.pop(0)
    return used, arrives, held


def most_at_a_node(links, end):
    """The most links that begin (end 0) or end (1) at one node."""
    places = [link[end] for link in links]
    return max(map(places.count, places), default=0)


def has_cycle(edges):
    """Return whether a graph has a cycle: remove edges to points without successors until nothing changes."""
    left = set(edges)
    while True:
        starts = {start for start, _ in left}
        fewer = {edge for edge in left if edge[1] in starts}
        if fewer == left:
            return bool(left)
        left = fewer


def is_valid(dan_of, sequences, held):
    """Definition 2, for links of worms in order: acyclic DANs, no other link with a channel held, a partial order."""
    if any(dan_of.get(link) is None for link in held):
        return False
    dans = set(dan_of.values()) - {None}
    if any(has_cycle([link for link, dan in dan_of.items() if dan == one]) for one in dans):
        return False
    steps = set()
    for links in sequences:
        visited = [dan_of.get(link) for link in links if dan_of.get(link) is not None]
        steps |= {(one, other) for one, other in itertools.combinations(visited, 2) if one != other}
    return not has_cycle(steps)


def divisions(things, count):
    """Ways to divide things into so many blocks, each once: numbers of blocks, as they first come."""
    for chosen in itertools.product(range(count), repeat=len(things)):
        firsts = list(dict.fromkeys(chosen))
        if firsts == list(range(count)):
            yield chosen


def can_lock(dan_of, requests, channels):
    """Return whether worms can wait in a cycle. Each takes the channel of its last hop's DAN, or of its next hop's."""
    def class_of(last, following):
        return dan_of[last] if dan_of.get(last) is not None else dan_of[following]

    return dependencies.can_lock(dependencies.dependencies(requests, channels, class_of), channels)
