"""A tree worm alone in the network: every delivery comes in exactly the cycle that the recurrence says."""

import random

import pytest
from cases import slow

from . import tree_zero_load
from .bench import bulk, check_receipts, network, send
from .tree_zero_load import Ring, grow

APART = 60  # cycles from the end of a message to the next, besides some at random


# the reference alone -------------------------------------------------------------------------------------------


def test_the_token_of_a_ring_by_hand():
    ring = Ring(4)
    assert [ring.granted(place, 0) for place in range(4)] == [0, 1, 2, 3]
    assert ring.granted(1, 2) == 5
    ring.ended(1, 20)
    assert [ring.granted(place, 10) for place in range(4)] == [23, 24, 21, 22]
    assert ring.granted(2, 22) == 25


def test_a_tree_by_hand():
    """One switch and two nodes: created in 0, 3 on its link, 6 on both links to nodes, 8 and 9 at hosts."""
    for ring, more in ((None, 0), (Ring(1), 1)):
        root, nodes = grow({0: ["a"], 1: ["a"]}, 4, rings=ring and {"a": (ring, 0)})
        tree_zero_load.send(root, 3, at=0)
        assert [(node.taken[0], node.taken[-1]) for node in nodes.values()] == [(9 + more, 11 + more)] * 2
    assert ring.since == 3 + 3 + 2 + 1  # granted in 5, left in 6, known in 8


# the hardware against it ---------------------------------------------------------------------------------------


def tree_of(net, source, destinations):
    """The switches on the way to each destination."""
    topology, routes = net.topology, net.blueprint.routes
    found = {}
    for node in destinations:
        links = topology.links[[channel // len(routes.classes) for channel in routes.channels(source, [node])]]
        found[node] = [int(topology.injections[source, 0]), *links[:, 2].tolist()]
    return found


def check(name, scheme, count, seed, longest=30, **options):
    """Send random worms, one when the one before is through; how many were copied, and waited for a token."""
    net = network(name, scheme, tuple(sorted(options.items())))
    rng, nodes = random.Random(seed), net.topology.nodes
    rings = {}
    for ring in net.rings.values():
        token = Ring(len(ring))
        rings |= {switch: (token, place) for place, switch in enumerate(ring)}
    ways_in = max(len(kind.network_inputs) for kind in net.blueprint.kinds)
    enough = options["consumption"] >= ways_in * options["vcs"]
    messages, expected, at = [], [], 5
    for _ in range(count):
        few = rng.random() < 0.3
        source, *destinations = rng.sample(range(nodes), 2 if few else rng.randint(3, min(nodes, 40)))
        length, headers = rng.randint(1, longest), net.header.flits(len(destinations))
        at += rng.randrange(APART)
        ways = tree_of(net, source, destinations)
        root, there = grow(ways, options["buffer"], lockstep=scheme.startswith("tree-synchronous"), headers=headers,
                           fast=options.get("delays") == "fast", rings=rings, enough=enough)
        taken = [id(split.ring) for split in splits(root) if split.ring]
        assert len(set(taken)) == len(taken), "two copies of a worm want one token: the recurrence does not know whose"
        tree_zero_load.send(root, length, at=at, headers=headers, t_hs=options.get("t_hs", 0))
        messages.append(send(source, *destinations, length=length, at=at))
        expected.append({node: (one.taken[0], one.taken[-1]) for node, one in there.items()})
        at = APART + max([tail for _, tail in expected[-1].values()] + [ring.since for ring, _ in rings.values()])
    engine = bulk(name, scheme, messages, **options)
    engine.run(at + 100)
    check_receipts(engine.host)
    host, found = engine.host, []
    for one in host.worms:
        rows = host.deliveries[one["delivery"]:one["delivery_end"]]
        found.append(dict(zip(rows["node"].tolist(), zip(rows["head"].tolist(), rows["tail"].tolist(), strict=True),
                              strict=True)))
    wrong = [(message, ours, theirs) for message, ours, theirs in zip(messages, expected, found, strict=True)
             if ours != theirs]
    assert not wrong, f"{len(wrong)} of {len(messages)}; (message, recurrence, hardware): {wrong[0]}"


def splits(root):
    yield root
    for buffers in root.targets:
        for buffer in buffers:
            if isinstance(buffer, tree_zero_load.Split):
                yield from splits(buffer)


ONE = {"vcs": 1, "consumption": 1}
CASES = [
    ("min:b=2,stages=3", "atbm", {**ONE, "buffer": 4, "flit_width": 9}),
    ("min:b=2,stages=3", "tree-synchronous", {**ONE, "buffer": 5, "flit_width": 16}),
    ("min:b=2,stages=3", "atbm:unicasts=tag", {**ONE, "buffer": 4, "flit_width": 3}),
]
LARGE = [
    ("min:b=2,stages=4", "atbm", {**ONE, "buffer": 3, "flit_width": 9, "delays": "fast"}),
    ("min:b=4,stages=2", "atbm", {**ONE, "buffer": 2, "flit_width": 17, "tokens": "off"}),
    ("min:b=2,stages=4", "atbm", {"vcs": 2, "consumption": 4, "buffer": 6, "flit_width": 6}),
    *((name, scheme, {**ONE, "buffer": depth, "flit_width": width, "delays": delays, **tokens})
      for name, width, depth in (("min:b=2,stages=5", 33, 1), ("min:b=2,stages=6", 65, 4), ("min:b=4,stages=3", 22, 5),
                                 ("min:b=2,stages=6", 33, 3))
      for scheme in ("atbm", "tree-synchronous") for delays in ("paper", "fast")
      for tokens in ({}, {"tokens": "off"})),
    ("min:b=2,stages=8", "atbm", {**ONE, "buffer": 4, "flit_width": 257}),
    ("min:b=4,stages=3", "atbm:unicasts=tag", {**ONE, "buffer": 4, "flit_width": 22, "delays": "fast"}),
    ("min:b=2,stages=6", "tree-synchronous:unicasts=tag", {**ONE, "buffer": 3, "flit_width": 32}),
    ("min:b=4,stages=4", "atbm", {**ONE, "buffer": 4, "flit_width": 129, "delays": "fast"}),
    ("min:b=4,stages=4", "tree-synchronous", {**ONE, "buffer": 4, "flit_width": 257, "tokens": "off"}),
    ("min:b=4,stages=3", "atbm", {"vcs": 2, "consumption": 8, "buffer": 4, "flit_width": 65}),
    ("min:b=2,stages=4", "tree-synchronous", {"vcs": 1, "consumption": 2, "buffer": 4, "flit_width": 17}),
    ("min:b=2,stages=4,kind=cube", "atbm", {**ONE, "buffer": 4, "flit_width": 17}),
    ("min:b=2,stages=4,kind=butterfly", "atbm", {**ONE, "buffer": 4, "flit_width": 17}),
]


@pytest.mark.parametrize(("name", "scheme", "options"), [*CASES, *(slow(*case) for case in LARGE)], ids=str)
def test_random_trees_come_when_the_recurrence_says(name, scheme, options):
    """To all destinations, heads and tails, whatever the token's place; worms with one destination among them."""
    check(name, scheme, 60, name, **options)
