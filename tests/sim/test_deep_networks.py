"""Networks of switches with deep buffers: each worm comes to each destination once, in both engines alike."""

import random

import pytest
from cases import slow, some

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import goes_up, reachability
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.engines.faults import find_faults

from ..algorithms.irregular.example import DESTINATIONS, SOURCE, example
from .bench import bulk, finish, left_over, send
from .test_deadlock_free import Full, keep_full
from .test_engines_agree import Draw, compare

#: Scheme for six nodes: unicasts, multi-drop worms to 2 or 3 destinations, and trees to 4 or 5.
MIXED = "mixed:few=path-lg,limit=3"
SCHEMES = ("individual", "ssr-g", "ssr-lg", "path-g", "path-lg", "path-lg:ids=node", "tree", "mixed", MIXED)

DEEP = {"vcs": 1, "consumption": 1, "buffer_kind": "deep"}


def messages(nodes, count, rng, *, longest, within, unicasts=0.4):
    """Draw unicasts and multicasts of random lengths, in the order of their times."""
    found = []
    for at in sorted(rng.randrange(within) for _ in range(count)):
        source, *others = rng.sample(range(nodes), nodes)
        few = 1 if rng.random() < unicasts else rng.randint(1, nodes - 1)
        found.append(send(source, *others[:few], length=rng.randint(1, longest), at=at))
    return found


def delivered(name, scheme, seed, *, count=60, buffer=64, chunk=8, width=16, within=600, relation=None):
    """Run random messages that fit the buffers until all are there, and nothing is left behind."""
    rng = random.Random(seed)
    engine = bulk(name, scheme, messages(topology(name).nodes, count, rng, longest=buffer - 20, within=within),
                  relation=relation, **DEEP, buffer=buffer, chunk=chunk, flit_width=width)
    finish(engine, 200_000)
    assert not find_faults(engine)
    assert not left_over(engine)


@pytest.mark.parametrize("scheme", some(SCHEMES, "path-lg", "path-lg:ids=node", "tree", MIXED))
@pytest.mark.parametrize("seed", [1, slow(2), slow(3)])
def test_every_destination_gets_each_message_once(scheme, seed):
    delivered(f"irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed={seed}", scheme, seed)


@pytest.mark.slow  # each network has kernels of its own, up to two minutes of compiling; the decoders are those above
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["fat-tree:k=2,levels=3", "cmesh:2x2x2", "dragonfly:p=1,a=2,h=1"])
def test_every_destination_of_a_textbook_network_gets_each_message_once(name, scheme):
    delivered(name, scheme, 1)


@pytest.mark.parametrize(("scheme", "width"), [
    (MIXED, 4),
    *(slow(scheme, width) for scheme in ("mixed", MIXED, f"{MIXED},ids=node", "mixed:few=ssr-g,limit=4")
      for width in (3, 5, 32)),
])
@pytest.mark.parametrize("seed", [1, *map(slow, range(2, 6))])
def test_worms_with_headers_of_several_formats_share_a_network(scheme, width, seed):
    """Unicasts, multi-drop worms and trees, whose headers have several flits; each switch strips the first pair."""
    delivered(f"irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed={seed}", scheme, seed, width=width, chunk=10,
              buffer=80)


@pytest.mark.parametrize("width", [4, slow(16)])
def test_header_flits_of_each_form_are_counted(width):
    """Of four bits: five for a unicast, nine for a bit string of six nodes, nine for each pair."""
    name = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=1"
    sent = messages(6, 60, random.Random(7), longest=30, within=600)
    engine = bulk(name, MIXED, sent, **DEEP, buffer=80, chunk=10, flit_width=width)
    finish(engine, 100_000)
    homes, worms = topology(name).consumptions[:, 0], engine.host.worms
    found = {1: 0, 2: 0, 3: 0}
    for row in worms:
        to = engine.host.deliveries["node"][row["delivery"]:row["delivery_end"]]
        form = 1 if len(to) == 1 else 2 if len(to) <= 3 else 3
        bits = {1: 2 + 3, 2: 2 + 2 + 1 + 4, 3: 2 + 1 + 6}[form]
        assert row["headers"] == -(-bits // width) * (len(set(homes[to])) if form == 2 else 1)
        found[form] += 1
    assert min(found.values()) > 5, found


@pytest.mark.parametrize("relation", ["up-down-tree-any", "up-down-tree-adaptive"])
@pytest.mark.parametrize("seed", [slow(1), slow(2)])
def test_mixed_worms_that_go_up_by_any_link(seed, relation):
    delivered(f"irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed={seed}", MIXED, seed, relation=relation)


@pytest.mark.slow  # a minute each, mostly in Amaranth's engine
@pytest.mark.parametrize("scheme", ["mixed", MIXED, f"{MIXED},ids=node", "path-lg:ids=node"])
def test_both_engines_agree_with_headers_of_several_formats(scheme):
    name = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=4"
    worms = messages(6, 14, random.Random(3), longest=12, within=80, unicasts=0.3)
    compare(Draw(name, scheme, {**DEEP, "buffer": 80, "chunk": 10, "flit_width": 4}, worms, 0.3, 1), 300)


@pytest.mark.parametrize("seed", [1, *map(slow, range(2, 40))])
def test_trees_that_go_up_by_any_link(seed):
    delivered(f"irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed={seed}", "tree", seed,
              relation="up-down-tree-any")


#: Any free output of a shortest path, or for trees any free link up. One of each header in `make test`: a decoder each.
ADAPTIVE = {"individual": "up-down-adaptive", "path-lg": "up-down-adaptive", "tree": "up-down-tree-adaptive"}


@pytest.mark.parametrize("scheme", ADAPTIVE)
@pytest.mark.parametrize("seed", [1, *map(slow, range(2, 20))])
def test_worms_that_take_any_free_output(scheme, seed):
    delivered(f"irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed={seed}", scheme, seed,
              relation=ADAPTIVE[scheme])


@pytest.mark.parametrize(("name", "width"), [
    ("irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=4", 4),
    *(slow(f"irregular:switches=5,ports=6,nodes=8,connectivity=1,seed={seed}", 8) for seed in range(20)),
])
def test_whole_strings_give_the_branches_of_restricted_ones(name, width):
    """Several links down lead to one node, headers have several flits, and each cycle is the same."""
    strings, nodes = reachability(topology(name)), topology(name).nodes
    assert (strings.whole.sum(axis=1) > 1).any()
    sent = messages(nodes, 40, random.Random(3), longest=30, within=400, unicasts=0.2)
    both = [bulk(name, "tree", sent, **DEEP, buffer=64, chunk=8, flit_width=width, strings=kind)
            for kind in ("restricted", "whole")]
    links = both[0].network.fabric.of_kind("network")
    for _ in range(200):
        for engine in both:
            engine.run(1)
        for kind, instance, output in (link.near for link in links):
            assert both[0].output(kind, output)[instance] == both[1].output(kind, output)[instance]
    for engine in both:
        finish(engine, 100_000)
        assert not find_faults(engine)
        assert not left_over(engine)
    assert (both[0].host.received == both[1].host.received).all()


@pytest.mark.slow
def test_both_engines_agree_with_whole_strings():
    name = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=4"
    worms = messages(6, 14, random.Random(3), longest=12, within=80, unicasts=0.1)
    compare(Draw(name, "tree", {**DEEP, "buffer": 64, "chunk": 8, "flit_width": 4, "strings": "whole"}, worms, 0.3, 1),
            300)


def test_whole_strings_need_the_highest_output(tmp_path):
    """A relation that goes down by another output than the highest would need other shares."""
    file = tmp_path / "lowest.py"
    file.write_text("""import numpy as np

from wormcast.algorithms.routing.base import ChoiceRelation, Choices
from wormcast.algorithms.routing.reachability import reachability
from wormcast.algorithms.routing.up_down import goes_up


class Lowest(ChoiceRelation):
    name, description = "lowest", "down by the lowest port"

    def choices(self, topology):
        strings, up = reachability(topology, "lowest"), goes_up(topology)
        down = np.where(strings.total, strings.restricted.argmax(axis=1), -1)[..., None]
        options = np.stack([np.where(down < 0, strings.up[:, None, None], down), down]).astype(np.int16)
        return Choices(options, np.where(up, 0, 1).astype(np.int8), together=True)


LOWEST = Lowest()
""")
    name = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=4"
    options = {**DEEP, "buffer": 64, "chunk": 8, "flit_width": 16}
    with pytest.raises(WormcastError, match=r"^relation: lowest is not valid with strings whole: "):
        bulk(name, "tree", [send(0, 1, length=2)], relation=f"{file}:LOWEST", **options, strings="whole")


def test_links_up_are_taken_in_turn():
    """A node's worms go up by one of its switch's links after the other, the lowest port first; those that go down at
    once take no turn."""
    name, relation = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=1", "up-down-tree-any"
    net = topology(name)
    up = goes_up(net)
    switch = next(one for one in range(net.switches) if up[net.links[:, 0] == one].sum() > 1)
    node = net.injections[:, 0].tolist().index(switch)
    ports = sorted(net.links[up & (net.links[:, 0] == switch), 1].tolist())
    everyone = [other for other in range(net.nodes) if other != node]
    below = [other for other in everyone if reachability(net).total[switch, other]]
    sent = [send(node, *to, length=2, at=60 * number + after) for number in range(5)
            for to, after in ((everyone, 0), (below[:1], 30))]
    engine = bulk(name, "tree", sent, relation=relation, **DEEP, buffer=64, chunk=8, flit_width=16)
    links = {net.links[row, 1]: link for row, link in enumerate(engine.network.fabric.of_kind("network"))
             if net.links[row, 0] == switch}
    taken = []
    for _ in range(400):
        engine.run(1)
        for port in ports:
            kind, instance, output = links[port].near
            if engine.output(kind, output)[instance] & 0b11 == 0b11:  # valid, and a header
                taken.append(port)
    finish(engine, 1)
    assert taken == [ports[number % len(ports)] for number in range(5)]


@pytest.mark.parametrize("scheme", some(SCHEMES, "tree"))
def test_headers_of_several_flits(scheme):
    """Three flits of a pair, two of a string."""
    delivered("irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=4", scheme, 5, width=4, count=12)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("switches", "ports", "nodes"), [(2, 4, 4), (3, 4, 6), (8, 8, 32), (5, 8, 12), (16, 4, 20)])
def test_random_networks(scheme, switches, ports, nodes):
    """Those of one size share their kernels."""
    for seed in range(35):
        name = f"irregular:switches={switches},ports={ports},nodes={nodes},connectivity=0.8,seed={seed}"
        delivered(name, scheme, seed, count=40)


@pytest.mark.parametrize("scheme", some(SCHEMES, "path-g", "tree"))
@pytest.mark.parametrize(("width", "chunk", "buffer"), [(8, 4, 16), slow(5, 8, 48)])
def test_both_engines_drive_the_same_words(scheme, width, chunk, buffer):
    name = "irregular:switches=2,ports=4,nodes=4,seed=3"
    rng = random.Random(7)
    longest = buffer - 10
    worms = messages(4, 10, rng, longest=min(longest, 12), within=60)
    options = {**DEEP, "buffer": buffer, "chunk": chunk, "flit_width": width}
    compare(Draw(name, scheme, options, worms, 0.3, 1), 200)


@pytest.mark.slow
def test_both_engines_take_links_up_in_turn():
    name = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=1"
    worms = messages(6, 14, random.Random(3), longest=12, within=80, unicasts=0.1)
    options = {**DEEP, "buffer": 64, "chunk": 8, "flit_width": 16}
    compare(Draw(name, "tree", options, worms, 0.3, 1, "up-down-tree-any"), 300)


@pytest.mark.slow  # a minute each, mostly in Amaranth's engine
@pytest.mark.parametrize("scheme", ADAPTIVE)
def test_both_engines_take_any_free_output(scheme):
    name = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=1"
    worms = messages(6, 14, random.Random(3), longest=12, within=80, unicasts=0.3)
    options = {**DEEP, "buffer": 64, "chunk": 8, "flit_width": 16}
    compare(Draw(name, scheme, options, worms, 0.3, 1, ADAPTIVE[scheme]), 300)


@pytest.mark.slow  # switches of eight ports
@pytest.mark.parametrize("scheme", ["ssr-g", "path-g", "path-lg", "tree"])
def test_the_papers_example(scheme, tmp_path):
    """From switch 10 to both nodes of eight switches: the links of the plan, each as often as it says."""
    built = example(tmp_path)
    sent = [send(SOURCE, *DESTINATIONS, length=30)]
    engine = bulk(built.origin, scheme, sent, **DEEP, buffer=64, chunk=8, flit_width=32)
    finish(engine, 4000)
    assert not left_over(engine)
    planned = plan(built, scheme, SOURCE, DESTINATIONS)
    assert (engine.host.left == 0).all()
    if scheme == "tree":
        assert (planned.copies, planned.hops, planned.channels) == (1, 10, 10)


@pytest.mark.parametrize(("length", "stuck"), [(15, False), (60, True)])
def test_a_tree_longer_than_the_buffer_may_deadlock_and_one_that_fits_does_not(length, stuck):
    """Two trees cross at two switches: each copy that waits holds rows of the other's, if not all of them fit."""
    name = "irregular:switches=2,ports=8,nodes=8,connectivity=0.3,seed=1"
    everyone = range(8)
    sent = [send(source, *(other for other in everyone if other != source), length=length) for source in everyone]
    engine = bulk(name, "tree", sent, **DEEP, buffer=16, chunk=8, flit_width=16)
    engine.run(20_000)
    assert (int(engine.host.left.sum()) > 0) == stuck
    if stuck:
        found = find_deadlock(engine)
        assert found is not None
        assert len(found.cycle) >= 2
    else:
        finish(engine, 1)
        assert not left_over(engine)


#: The paper's switches, with somewhat more than its network can carry; a byte would not tell so many worms apart.
SIVARAM = {**DEEP, "buffer": 640, "chunk": 8, "flit_width": 16}
FULL = {name: Full(scheme, rate, SIVARAM, "irregular:seed=1", most=31, unicasts=0.8, busy=0.1, relation=relation)
        for name, scheme, rate, relation in (
            ("tree", "tree", 900, None), ("path-g", "path-g", 350, None), ("path-lg", "path-lg", 350, None),
            ("individual", "individual", 250, None),
            *((f"{scheme}, adaptive", scheme, rate, ADAPTIVE[scheme])
              for scheme, rate in (("tree", 900), ("path-lg", 350), ("individual", 250))))}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", FULL)
@pytest.mark.parametrize(("cycles", "batches", "least"), [(13_000, 1, 200_000), (110_000, 6, 10_000_000)])
def test_networks_that_are_kept_full_never_deadlock(scheme, cycles, batches, least):
    """16 networks, multicasts and unicasts of 20 to 100 flits near saturation and beyond it: everything is delivered,
    and nothing is left."""
    assert keep_full(FULL[scheme], cycles=cycles, batches=batches, seed=2) >= least
