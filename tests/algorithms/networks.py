"""Networks and relations that tests make by hand or at random."""

import random

import numpy as np

from wormcast.algorithms import ChoiceRelation, Choices, Topology


def network(switches, arcs, nodes=None):
    """A network of one-way links; `nodes` gives (switch of injection, switch of consumption), by default one each."""
    nodes = [(switch, switch) for switch in range(switches)] if nodes is None else nodes
    ins, outs, links = [0] * switches, [0] * switches, []
    for start, end in arcs:
        links.append([start, outs[start], end, ins[end]])
        outs[start] += 1
        ins[end] += 1
    first = max(*ins, *outs)
    ends = np.array([[(inject, first + node), (consume, first + node)] for node, (inject, consume) in enumerate(nodes)])
    count = len(nodes)
    return Topology(
        name="hand-made", kind="mine", shape=(count,),
        ports=(tuple(f"p{port}" for port in range(first + count)),) * switches,
        links=np.array(sorted(links), np.int32),
        injections=np.ascontiguousarray(ends[:, 0], np.int32), consumptions=np.ascontiguousarray(ends[:, 1], np.int32),
        coordinates=np.arange(count, dtype=np.int32).reshape(-1, 1),
    )  # fmt: skip


class Given(ChoiceRelation):
    """A relation of options by the link by which a worm came: one phase for each link, and one for new worms.

    Parameters
    ----------
    hops : function
        As `network_reference` has relations.
    """

    def __init__(self, topology, hops, *, classes=("",), enters_empty=True, name="given"):
        self.name = name
        self.enters_empty = enters_empty
        links = topology.links.tolist()
        most = max(1, *(len(hops(switch, came, node)) for switch, came, node in states(topology)))
        options = np.full((len(links) + 1, topology.switches, topology.nodes, most), -1, np.int16)
        for switch, came, node in states(topology):
            phase = 0 if came is None else came + 1
            if switch == topology.consumptions[node, 0]:
                options[phase, switch, node, 0] = topology.consumptions[node, 1] * len(classes)
                continue
            for place, (link, vc_class) in enumerate(hops(switch, came, node)):
                options[phase, switch, node, place] = links[link][1] * len(classes) + vc_class
        self.made = Choices(options, np.arange(1, len(links) + 1).astype(np.int8), classes)

    def turns(self, topology):
        """All: what is analysed here need not be built."""
        return np.ones((len(topology.links), topology.link_of_port.shape[1]), bool)

    def choices(self, topology):
        return self.made


def states(topology):
    """States of a worm's header: (switch, link by which it came or None, destination)."""
    arrivals = [(int(end), link) for link, (_, _, end, _) in enumerate(topology.links)]
    arrivals += [(switch, None) for switch in range(topology.switches)]
    return [(switch, came, node) for switch, came in arrivals for node in range(topology.nodes)]


def at_random(seed):
    """A small network and a relation on it with up to two alternatives, of which each leads to the destination."""
    draw = random.Random(seed)
    count = draw.choice([3, 3, 4])
    arcs = [(switch, (switch + 1) % count) for switch in range(count)]
    arcs += [tuple(draw.sample(range(count), 2)) for _ in range(draw.choice([1, 2, 3, 4]))]
    topology = network(count, arcs)
    out = [[link for link, row in enumerate(topology.links) if row[0] == switch] for switch in range(count)]
    table = {}
    for switch, came, node in states(topology):
        many = 0 if switch == node else min(len(out[switch]), draw.choice([0, 1, 1, 2, 2]))
        table[switch, came, node] = draw.sample(out[switch], many)
    end = topology.links[:, 2].tolist()
    good = {state for state in table if state[0] == state[2]}
    while more := {state for state, links in table.items() if state not in good
                   and any((end[link], link, state[2]) in good for link in links)}:
        good |= more
    kept = {state: [(link, 0) for link in links if (end[link], link, state[2]) in good]
            for state, links in table.items()}
    sent = all(kept[source, None, node] for source in range(count) for node in range(count) if source != node)
    return topology, (lambda *state: kept[state]) if sent else None
