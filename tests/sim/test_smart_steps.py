"""Smart interfaces against recurrences of their own: when packets leave, arrive, and are forgotten."""

import itertools

import pytest

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.engines.residence import find_residences
from wormcast.sim.experiments.run import plan_messages

from .bench import bulk, finish, send

NETWORK = "irregular:switches=2,ports=8,nodes=8,connectivity=1,seed=1"
HEADER, SIZE, PACKETS = 1, 6, 3

# cycles by docstrings: a flit that a host gives in cycle t is presented to the injection in t + 2; one that leaves a
# consumption channel in t is with the host in t + 1; a packet that is whole in t is presented in t + 2
GIVEN, TAKEN, STORED = 2, 1, 2


def steps(worms, kind, *, first, gap, transit):
    """The cycle in which each packet is whole at each node: ``first`` at the source, and at a child ``transit`` cycles
    after its copy was presented; an interface presents a copy every ``gap`` cycles."""
    children = {}
    for worm in range(len(worms)):
        children.setdefault(int(worms.source[worm]), []).append(int(worms.visits(worm)[0]))
    source = int(worms.source[0])
    whole, order = {(source, packet): first[packet] for packet in range(PACKETS)}, [source]
    for node in order:
        mine = children.get(node, [])
        order += mine
        pairs = itertools.product(mine, range(PACKETS)) if kind == "fcfs" else (
            (child, packet) for packet, child in itertools.product(range(PACKETS), mine))
        free = 0
        for child, packet in pairs:
            begun = max(free, whole[node, packet] + STORED)
            free = begun + gap
            whole[child, packet] = begun + transit[node, child]
    return whole


def delivered(scheme, message, **options):
    engine = bulk(NETWORK, scheme, [message], **options)
    finish(engine, 200_000)
    return engine


def transit_of(worms, options):
    """Cycles from the presentation of a copy until it is whole at its child, from a unicast of as many flits."""
    found = {}
    for worm in range(len(worms)):
        source, to = int(worms.source[worm]), int(worms.visits(worm)[0])
        host = delivered("individual", send(source, to, length=SIZE), **options).host
        found[source, to] = int(host.tail[0] - host.injected[0]) - GIVEN + options["t_nr"] - TAKEN
    return found


@pytest.mark.parametrize("kind", ["fpfs", "fcfs"])
@pytest.mark.parametrize(("scheme", "nodes", "t_ns"), [
    ("k-binomial:k=3,order=id", 8, 40), ("k-binomial:k=2,order=id", 8, 40), ("k-binomial:k=1,order=id", 4, 200),
    ("k-binomial:k=2,order=id", 4, 200),
])
def test_each_delivery_is_that_of_the_recurrence(scheme, nodes, t_ns, kind):
    """And its interfaces have counted how long packets were there: [Sivaram98], section 4.2.3."""
    options = {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": 64, "chunk": 8, "packet": SIZE,
               "t_ns": t_ns, "t_nr": 7}
    message = send(0, *range(1, nodes), length=PACKETS * SIZE)
    engine = delivered(scheme, message, ni=kind, places=PACKETS, **options)
    built = topology(NETWORK)
    worms = plan_messages(built, find_scheme(scheme, built), [message])
    start = int(engine.host.injected[0])  # of the flit in front of the payload
    whole = steps(worms, kind, gap=t_ns + HEADER + SIZE, transit=transit_of(worms, options),
                  first=[start + (packet + 1) * SIZE + GIVEN for packet in range(PACKETS)])
    tails = dict(zip(engine.host.deliveries["node"].tolist(), engine.host.tail.tolist(), strict=True))
    assert tails == {node: max(whole[node, packet] for packet in range(PACKETS)) - options["t_nr"] + TAKEN
                     for node in range(1, nodes)}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", ["fpfs", "fcfs"])
def test_residence(kind, k):
    """From its first copy on a packet stays for k sends, first packet first, and for (k - 1) p + 1, first child first
    ([Sivaram98], section 4.2.3), as the interface has counted."""
    t_ns, gap = 60, 60 + HEADER + SIZE
    options = {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": 64, "chunk": 8, "packet": SIZE,
               "t_ns": t_ns}
    engine = delivered(f"k-binomial:k={k},order=id", send(0, *range(1, 1 << k), length=PACKETS * SIZE), ni=kind,
                       places=PACKETS, **options)
    counted = find_residences(engine)[0]
    assert (counted.node, counted.forwarded) == (0, PACKETS)
    each = k if kind == "fpfs" else (k - 1) * PACKETS + 1
    assert counted.copied == PACKETS * each * gap
