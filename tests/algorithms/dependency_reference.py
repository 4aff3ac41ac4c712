"""Deadlock analysis once more, by enumeration and by trial, in plain Python; it uses nothing of the package.

A worm is (source, visits); a map of classes is a function (last link, next link) -> class, or None where every worm
may take any channel. Links are pairs of nodes, ``("cons", exit, group)`` a consumption channel, ``("any", exit)`` the
wait of a worm at its last destination. An exit is the node, or the last link where each has an ejection port.
"""

import itertools

from .reference import label


def all_multicasts(nodes):
    """Every source with every set of other nodes."""
    for source in range(nodes):
        others = [node for node in range(nodes) if node != source]
        for count in range(1, nodes):
            for chosen in itertools.combinations(others, count):
                yield source, list(chosen)


def requests(step, shape, worm):
    """List a worm's requests in order: links, ("stop", node, last link, next link), ("end", node)."""
    source, visits = worm
    hops, stops = [], []
    at = source
    for to in visits:
        while at != to:
            following = step(shape, at, to)
            hops.append((at, following))
            at = following
        stops.append(len(hops))
    asked = []
    for index, link in enumerate(hops):
        asked.append(link)
        if index + 1 in stops[:-1]:
            asked.append(("stop", link[1], link, hops[index + 1]))
    return [*asked, ("end", visits[-1])]


def direction_class(shape, networks, by):
    """Map of directions such as ``0+`` or ``up`` to classes, by the next hop or the last."""

    def of(link):
        (row, column), (to_row, to_column) = divmod(link[0], shape[1]), divmod(link[1], shape[1])
        step = f"1{'+' if to_column > column else '-'}" if row == to_row else f"0{'+' if to_row > row else '-'}"
        names = {step, "up" if label(shape, link[1]) > label(shape, link[0]) else "down"}
        return next((k for k, network in enumerate(networks) if names & set(network)), None)

    def choose(last, following):
        found = of(following) if by == "next" else None
        return of(last) if found is None else found

    return choose


def dependencies(worms, groups, class_of, each_link=False):
    """The edges of the graph, from each worm's requests one after the other."""
    edges = set()
    for asked in worms:
        held = None
        for request in asked:
            if request[0] == "stop":
                _, node, last, following = request
                assert held == last
                node = last if each_link else node
                if class_of is None:
                    edges.add((held, ("any", node)))
                    edges |= {(("cons", node, group), following) for group in range(groups)}
                    held = None
                else:
                    channel = ("cons", node, class_of(last, following) % groups)
                    edges |= {(held, channel), (channel, following)}
                    held = None
            elif request[0] == "end":
                edges.add((held, ("any", held if each_link else request[1])))
            else:
                if held is not None:
                    edges.add((held, request))
                held = request
    return edges


def can_lock(edges, groups):
    """Return whether each choice of channels for worms at their last destinations leaves a cycle.

    A worm waits for ever only if all channels that it may take are lost, so one good choice for each node is enough.
    A good choice never gets worse by what else is safe, so choices are taken as they become good.
    """
    after = {}
    for start, end in edges:
        after.setdefault(start, set()).add(end)
    nodes = {end for ends in after.values() for end in ends} | set(after)
    safe = set()
    while True:
        more = {
            one
            for one in nodes - safe
            if (
                any(("cons", one[1], group) in safe or ("cons", one[1], group) not in after for group in range(groups))
                if one[0] == "any"
                else after.get(one, set()) <= safe
            )
        }
        if not more:
            return bool(nodes - safe)
        safe |= more


def tried(worms, random, *, vcs, channels, classes, class_of, rounds, active=24):
    """Let worms without end take what they ask for, in random order; say whether some of them lock for good.

    A worm keeps all that it has until it has everything; then it is gone, and a new one starts.
    """
    masks = [{k % channels} | set(range(classes, channels)) for k in range(classes)]
    everything = set(range(channels))
    held = {}
    running = []

    def may_take(request):
        if request[0] == "stop":
            kind = None if class_of is None else class_of(request[2], request[3])
            return [("cons", request[1], c) for c in (everything if kind is None else masks[kind])]
        if request[0] == "end":
            return [("cons", request[1], c) for c in everything]
        return [("link", *request, vc) for vc in range(vcs)]

    for _ in range(rounds):
        while len(running) < active:
            running.append([random.choice(worms), 0, []])
        random.shuffle(running)
        for worm in running:
            asked, place, mine = worm
            free = [resource for resource in may_take(asked[place]) if resource not in held]
            if free:
                chosen = random.choice(free)
                held[chosen] = worm
                mine.append(chosen)
                worm[1] += 1
                if worm[1] == len(asked):
                    for resource in mine:
                        del held[resource]
                break
        else:
            if any(mine for _, _, mine in running):
                return True
        running = [worm for worm in running if worm[1] < len(worm[0])]
    return False
