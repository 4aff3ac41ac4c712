"""Algorithms printed in [Sivaram98], step by step, over sets and strings; and the fewest chains by search."""

from itertools import combinations

__all__ = ["Graph", "antichain", "chains", "copies", "fewest", "senders", "strings", "weights"]


class Graph:
    """Levels and directions of a network's links, told anew."""

    def __init__(self, network):
        self.switches = range(network.switches)
        self.nodes = range(network.nodes)
        self.links = [tuple(row) for row in network.links.tolist()]
        self.home = dict(enumerate(network.consumptions[:, 0].tolist()))
        self.exit = dict(enumerate(network.consumptions[:, 1].tolist()))
        self.level = {network.root: 0}
        front = [network.root]
        while front:
            front = sorted({end for start, _, end, _ in self.links if start in front and end not in self.level})
            self.level |= dict.fromkeys(front, max(self.level.values()) + 1)

    def up(self, start, end):
        """Return whether a link leads up: to the level above, or on the same level to the lower id."""
        return (self.level[end], end) < (self.level[start], start)

    def children(self):
        """The switches that links lead down to, on other levels, of each."""
        return {switch: {end for start, _, end, _ in self.links
                         if start == switch and self.level[end] > self.level[start]} for switch in self.switches}


def reduced(graph, participants):
    """The graph of Figure 13 after step 3: switches without participants taken out one by one, parents joined to
    children."""
    below = graph.children()
    taking = {graph.home[node] for node in participants}
    for switch in graph.switches:
        if switch not in taking:
            behind = below.pop(switch)
            for others in below.values():
                if switch in others:
                    others.remove(switch)
                    others |= behind
    return below


def descendants(below, switch):
    found = {switch}
    for child in below[switch]:
        found |= descendants(below, child)
    return found


def weights(graph, participants):
    """Step 4."""
    below = reduced(graph, participants)
    return {switch: sum(graph.home[node] in descendants(below, switch) for node in participants) for switch in below}


def chains(graph, participants):
    """Step 5, the highest id of those that weigh as much."""
    below, weight = reduced(graph, participants), weights(graph, participants)
    found, left = [], set(below)
    while left:
        chain, candidates = [], set(left)
        while candidates:
            chain.append(max(candidates, key=lambda one: (weight[one], one)))
            candidates = below[chain[-1]] & left
        left -= set(chain)
        found.append(chain)
    return found


def worms(graph, source, destinations, *, path):
    """The destinations of each worm, those with more of them first."""
    groups = chains(graph, [source, *destinations])
    if not path:
        groups = [[switch] for chain in groups for switch in chain]
    found = [[node for switch in group for node in sorted(destinations) if graph.home[node] == switch]
             for group in groups]
    return sorted(filter(None, found), key=len, reverse=True)


def senders(graph, source, destinations, *, path, greedy):
    """List the steps of the phases: in each, pairs of a sender and the destinations of its worm."""
    left, having, steps = worms(graph, source, destinations, path=path), [source], []
    while left:
        step = list(zip(having, left, strict=False))
        left = left[len(step):]
        for _, worm in step:
            homes = [graph.home[node] for node in worm]
            having += [node for place, node in enumerate(worm) if greedy or homes[place] not in homes[:place]]
        steps.append(step)
    return steps


def strings(graph, keeps="highest"):
    """Figure 18, by descending ids inside a level: restricted strings by (switch, port), and total ones by switch."""
    total, port_string, down = {}, {}, {switch: [] for switch in graph.switches}
    for switch in sorted(graph.switches, key=lambda one: (-graph.level[one], -one)):
        total[switch] = 0
        for node in graph.nodes:
            if graph.home[node] == switch:
                down[switch].append(graph.exit[node])
                port_string[switch, graph.exit[node]] = 1 << node
                total[switch] |= 1 << node
        for start, port, end, _ in graph.links:
            if start == switch and not graph.up(start, end):
                down[switch].append(port)
                port_string[switch, port] = total[end]
                total[switch] |= total[end]
    for switch in graph.switches:
        order = sorted(down[switch], reverse=keeps == "lowest")
        for place, port in enumerate(order):
            for other in order[place + 1:]:
                port_string[switch, port] &= ~port_string[switch, other]
    return port_string, total


def copies(graph, up_port, source_switch, destinations, *, keeps="highest", modified=True):
    """Send a tree: the links that its copies take, and the nodes that get one, each as often as it does."""
    port_string, total = strings(graph, keeps)
    link = {(start, port): end for start, port, end, _ in graph.links}
    header = sum(1 << node for node in destinations)
    taken, delivered, at = [], [], source_switch
    while header & ~total[at]:
        taken.append((at, link[at, up_port[at]]))
        at = taken[-1][1]
    front = [(at, header)]
    while front:
        at, carried = front.pop(0)
        for (switch, port), string in sorted(port_string.items()):
            if switch != at or not carried & string:
                continue
            if (at, port) in link:
                taken.append((at, link[at, port]))
                front.append((link[at, port], carried & string if modified else carried))
            else:
                delivered += [node for node in graph.nodes if (graph.home[node], graph.exit[node]) == (at, port)]
    return taken, delivered


def fewest(graph, destinations):
    """The fewest chains, each with links down from switch to switch, that visit all switches of some destinations.

    All ways to add the switches, from the top downwards, to the end of a chain or as a new one.
    """
    below = graph.children()
    behind = {switch: descendants(below, switch) for switch in graph.switches}
    order = sorted({graph.home[node] for node in destinations}, key=lambda one: (graph.level[one], one))

    def search(place, ends, best):
        if len(ends) >= best:
            return best
        if place == len(order):
            return len(ends)
        switch = order[place]
        for end in {end for end in ends if switch in behind[end]}:
            best = search(place + 1, sorted([*(one for one in ends if one != end), switch]), best)
        return search(place + 1, sorted([*ends, switch]), best)

    return search(0, [], len(order) + 1)


def antichain(graph, destinations):
    """The most switches of some destinations of which none is below another: as many chains it takes (Dilworth)."""
    below = graph.children()
    homes = sorted({graph.home[node] for node in destinations})
    behind = {switch: descendants(below, switch) for switch in homes}
    return max(size for size in range(1, len(homes) + 1) for some in combinations(homes, size)
               if all(other not in behind[one] for one in some for other in some if one != other))
