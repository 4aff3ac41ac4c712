"""Flits counted on the links between routers: [Boppana98]'s example and its averages, as the hardware runs them."""

import itertools
from collections import Counter

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.host import UNDELIVERED, Message

from .bench import bulk, check_receipts

WIDTH = 32
LENGTH = 5


def counted(engine):
    """Run to the end; header and payload flits that lay on each link between routers, by (from, to)."""
    network = engine.network
    driven = {port: rows for (kind, port), rows in network.fabric.driven.items() if kind == "router"}
    router = engine.blocks["router"]
    marks = [(router.output(port), rows) for port, rows in driven.items()]
    head = 1 << 1 + (network.configuration.vcs - 1).bit_length()  # behind valid and the number of the channel
    counts = np.zeros((2, len(network.fabric.links) + 1), np.int64)  # the last is of outputs that lead nowhere
    for _ in range(200_000):
        engine.run(1)
        for word, rows in marks:
            flits = word[: network.topology.switches]
            counts[0, rows] += flits & 1 & ((flits & head) > 0)
            counts[1, rows] += flits & 1 & ((flits & head) == 0)
        if not engine.host.counters[UNDELIVERED]:
            break
    check_receipts(engine.host)
    assert not engine.host.left.any()
    assert not counts[:, -1].any()
    headers, payload = ({(link.source, link.target): flits for link, flits in
                         zip(network.fabric.of_kind("network"), of_links.tolist(), strict=False) if flits}
                        for of_links in counts)
    return headers, payload


# section 2.5's example: 6x6, source (3,2) -----------------------------------------------------------------------

DESTINATIONS = ("5.0", "3.1", "0.4", "1.4", "0.5", "1.5", "5.5")
UPWARDS = "2.2 1.2 1.3 1.4* 1.5* 0.5* 0.4*"  # dual-path's second worm, and multipath's third: straight by R
ENTERED = "3.3 2.3 1.3 1.4* 1.5* 0.5* 0.4*"  # the same destinations by the source's neighbour in its row
COLUMNS_4_AND_5 = ("3.3 3.4 2.4 1.4* 0.4*", "3.3 3.4 3.5 2.5 1.5* 0.5*", "3.3 3.4 3.5 4.5 5.5*")
MULTIPATH = ("3.1* 4.1 5.1 5.0*", "4.2 4.3 4.4 4.5 5.5*")

#: Each worm's way from (3,2), or from the node before the colon; * marks a delivery. By hand, from the paper's rules.
WORMS = {
    "dual-path": ("3.1* 4.1 4.2 4.3 4.4 4.5 5.5* 5.4 5.3 5.2 5.1 5.0*", UPWARDS),
    "multipath": (*MULTIPATH, UPWARDS),
    "multipath-lmn": (*MULTIPATH, ENTERED),
    "column-path": ("3.1 3.0 4.0 5.0*", "3.1*", *COLUMNS_4_AND_5),
    "column-path-literal": ("3.1 3.0 4.0 5.0*", "3.1*", *COLUMNS_4_AND_5),
    "e-mcast": ("3.1* 3.0 4.0 5.0*", *COLUMNS_4_AND_5),
    "individual": ("3.1 3.0 4.0 5.0*", "3.1*", "3.3 3.4 2.4 1.4 0.4*", "3.3 3.4 2.4 1.4*", "3.3 3.4 3.5 2.5 1.5 0.5*",
                   "3.3 3.4 3.5 2.5 1.5*", "3.3 3.4 3.5 4.5 5.5*"),
    "u-mesh": ("3.3 3.4 2.4 1.4*", "3.1*", "3.3 3.4 2.4 1.4 0.4*", "1.4: 1.5*", "1.4: 1.5 0.5*", "3.1: 3.0 4.0 5.0*",
               "1.5: 2.5 3.5 4.5 5.5*"),
}
COPIES_AND_HOPS = {"dual-path": (2, 19), "multipath": (3, 16), "multipath-lmn": (3, 16), "column-path": (5, 21),
                   "column-path-literal": (5, 21), "e-mcast": (4, 20), "individual": (7, 30), "u-mesh": (7, 20)}


def way(worm):
    """Return a worm's source and its stops."""
    start, _, stops = worm.rpartition(": ")
    return start or "3.2", stops.split()


def expected_flits(worms, capacity):
    """Header and payload flits on each link: a header flit is gone behind the destination that used it up."""
    headers, payload = Counter(), Counter()
    for worm in worms:
        left, visits = -(-worm.count("*") // capacity), 0
        at, stops = way(worm)
        for stop in stops:
            node = stop.rstrip("*")
            headers[at, node] += left
            payload[at, node] += LENGTH
            if stop.endswith("*"):
                visits += 1
                left -= visits % capacity == 0
            at = node
    return headers, payload


NARROW = 14  # two addresses a flit; with WIDTH all are in one
#: Two worms, four, columns, a tree; the first two share a router.
QUICK = {(scheme, NARROW) for scheme in ("multipath", "column-path")}


@pytest.mark.parametrize(("scheme", "width"), [
    case if case in QUICK else slow(*case) for case in itertools.product(WORMS, (NARROW, WIDTH))])
def test_the_papers_example_on_the_links(scheme, width):
    """Copies, order of delivery and the flits on every link, with one address to a header flit and with several."""
    mesh = topology("mesh:6x6")
    source, destinations = mesh.node("3.2"), tuple(map(mesh.node, DESTINATIONS))
    engine = bulk("mesh:6x6", scheme, [Message(0, source, destinations, LENGTH)], vcs=1, buffer=4, flit_width=width)
    host, network = engine.host, engine.network
    headers, payload = counted(engine)

    worms = WORMS[scheme]
    expected_headers, expected_payload = (
        {(mesh.node(u), mesh.node(v)): flits for (u, v), flits in one.items() if flits}
        for one in expected_flits(worms, network.header.capacity))
    assert headers == expected_headers
    assert payload == expected_payload
    assert (len(host.worms), sum(payload.values()) // LENGTH) == COPIES_AND_HOPS[scheme]
    assert sum(payload.values()) == LENGTH * sum(len(way(worm)[1]) for worm in worms)
    delivered = [
        tuple(mesh.node_name(node) for node in host.deliveries["node"][rows][np.argsort(host.head[rows])])
        for rows in (slice(first, end) for first, end in zip(host.worms["delivery"], host.worms["delivery_end"],
                                                             strict=True))
    ]
    assert sorted(delivered) == sorted(
        tuple(stop.rstrip("*") for stop in way(worm)[1] if stop.endswith("*")) for worm in worms)


# section 4.1's averages on 8x8 -----------------------------------------------------------------------------------


# by columns, and along the labels
@pytest.mark.parametrize(("scheme", "mean"), [
    slow("individual", 5.332),  # the paper prints 5.35
    slow("column-path", 3.749),  # 3.76
    slow("column-path-literal", 3.843),
    slow("e-mcast", 3.70),  # 3.72
    slow("multipath", 2.795),  # 2.81
    slow("multipath-lmn", 2.759),
    ("dual-path", 3.007),
])
def test_the_mean_hops_a_destination_on_the_links_of_8x8(scheme, mean):
    """Payload flits on all links, over flits times destinations: within 1.5 % of what another program has found.

    2000 random multicasts to 1 to 19 nodes here, 20 000 and more there. The flits are as many as the planned hops say.
    """
    random = np.random.default_rng(1)
    length = 2
    messages = []
    for _ in range(2000):
        source, *others = random.permutation(64)[: random.integers(2, 21)].tolist()
        messages.append(Message(0, source, tuple(others), length))
    engine = bulk("mesh:8x8", scheme, messages, vcs=1, buffer=4, flit_width=WIDTH)
    network = engine.network
    worms = SCHEMES[scheme].batch(network.topology, [message.source for message in messages],
                                  np.cumsum([0, *(len(message.destinations) for message in messages)]),
                                  [node for message in messages for node in message.destinations])
    _, payload = counted(engine)
    assert sum(payload.values()) == length * SCHEMES[scheme].relation.on(network.topology).hops(worms).sum()
    hops = sum(payload.values()) / (length * sum(len(message.destinations) for message in messages))
    assert hops == pytest.approx(mean, rel=0.015)
