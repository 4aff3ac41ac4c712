"""Worms for the benches, taken from the plans of random multicasts, as plain data.

A worm to send is ``{"link", "vc", "flits", "copies"}``: prefix of the link that it comes by, its virtual channel, its
flits (head, tail, data), and of each copy that must come out the end and the flits.
"""

import itertools

from wormcast.algorithms.multicast_plan import plan
from wormcast.hw.router import Blueprint
from wormcast_tb import make_worm


def payload(number, length):
    """Data of a worm's payload: which worm, modulo 64, and which flit of it, modulo 16. Flits must have ten bits."""
    return [number % 64 << 4 | place % 16 for place in range(length)]


def strip(form, header):
    """A header behind a destination: its first address is gone, and the flit with it if it was used up."""
    rest = form.strip(header[0])
    return header[1:] if rest is None else [rest, *header[1:]]


def multicasts(mesh, scheme, rng, most=5):
    """Worms of random multicasts without end: those that nodes send at once."""
    while True:
        source = rng.randrange(mesh.nodes)
        others = [node for node in range(mesh.nodes) if node != source]
        yield from (worm for worm in plan(mesh, scheme.name, source, rng.sample(
            others, rng.randint(1, min(most, len(others))))).worms if worm.after is None)


def through_a_router(mesh, scheme, configuration, node, rng, count, longest=6):
    """Draw worms of multicasts that pass a node: as its router receives them, and as it must send them on."""
    switch = Blueprint(mesh, scheme, configuration).router()
    form = switch.decoder.header
    ports = {int(end): mesh.ports[node][port] for port, end in enumerate(mesh.neighbours[node]) if end >= 0}
    worms = []
    for worm in multicasts(mesh, scheme, rng):
        if len(worms) == count:
            return worms
        nodes = [worm.source, *(end for _, end in worm.links)]
        if node not in nodes:
            continue
        at, header, left = nodes.index(node), form.encode(worm.destinations), worm.destinations
        for visited in nodes[1:at]:
            if left[0] == visited:
                header, left = strip(form, header), left[1:]
        data, rest = payload(len(worms) + 1, rng.randint(1, longest)), header
        copies = []
        if left[0] == node:
            rest, left = strip(form, header), left[1:]
            copies.append(("local_out", make_worm(rest if left else [], data)))
        if left:
            copies.append((f"{ports[nodes[at + 1]]}_out", make_worm(rest, data)))
        if at:
            link = ports[nodes[at - 1]]
        else:
            link = "local" if switch.decoder.injection == "one" else f"local_{ports[nodes[1]]}"
        worms.append({"link": f"{link}_in", "vc": rng.randrange(configuration.vcs),
                      "flits": make_worm(header, data), "copies": copies})
    return worms


def across_a_network(network, rng, count, host_in, host_out, longest=8):
    """Draw worms of multicasts: as hosts send them, and as their destinations must receive them.

    Parameters
    ----------
    host_in, host_out : list of str
        Prefixes of the hosts' links, by node.
    """
    chosen = itertools.islice(multicasts(network.topology, network.scheme, rng), count)
    return [from_a_host(network, worm, payload(number, rng.randint(1, longest)), host_in, host_out)
            for number, worm in enumerate(chosen)]


def from_a_host(network, worm, data, host_in, host_out):
    """A worm with its payload, as its host sends it; hosts get packets without headers."""
    packet = network.configuration.packet or len(data)
    packets = [data[at:at + packet] for at in range(0, len(data), packet)]
    return {"link": host_in[worm.source], "vc": 0, "flits": make_worm(network.header.encode(worm.destinations), data),
            "copies": [(host_out[node], make_worm([], part)) for node in worm.destinations for part in packets]}


def of_a_run(result, network, host_in, host_out):
    """The worms of a ``wormcast run --json``, each with the cycle ``at`` which its host sends it, and the deliveries.

    Returns
    -------
    worms : list
    deliveries : list of (end, data of the first payload flit, cycle of it, cycle of the last one)
    """
    worms, deliveries = [], []
    for asked, message in zip(result["configuration"]["messages"], result["messages"], strict=True):
        for worm in plan(network.topology, network.scheme.name, asked["source"], asked["destinations"]).worms:
            assert worm.after is None
            data = payload(len(worms), asked["length"])
            # a host's register drives the link in the cycle behind that in which it decides
            worms.append({**from_a_host(network, worm, data, host_in, host_out), "at": asked["at"] + 1})
            for node in worm.destinations:
                times = message["deliveries"][str(node)]
                deliveries.append((host_out[node], data[0], times["head"], times["tail"]))
    return sorted(worms, key=lambda worm: worm["at"]), sorted(deliveries)
