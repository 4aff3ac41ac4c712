"""Verdicts of `check` on worms that deep buffers replicate, against all worms of small networks one by one."""

import random
from itertools import combinations

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, WormcastError, explain, load_relation, topology
from wormcast.algorithms.deadlock.channel_use import find_channel_use
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.deadlock.graph import dependency_graph
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import UP_DOWN_TREE_ANY, goes_up, reachability

from ..networks import network

SWITCH_BASED = ["ssr-g", "ssr-lg", "path-g", "path-lg", "tree"]


def small(seed):
    """A network of up to six switches and six nodes, some switches without."""
    draw = random.Random(seed)
    while True:
        switches = draw.randint(2, 6)
        nodes = 2 * switches if switches < 4 and draw.random() < 0.5 else draw.randint(2, 6)
        try:
            return topology(f"irregular:switches={switches},ports=5,nodes={nodes},connectivity=0.9,"
                            f"seed={draw.randrange(10**6)}")
        except WormcastError:
            continue


def waits(found, scheme, *, fits):
    """Find the waits of all multicasts: pairs of links and nodes, written ("link", U, V) and ("node", n).

    Whoever holds a place of a worm waits for the next one on its branch; where a switch holds a part of the worm alone,
    and for the first one of each other branch. Nobody waits behind a node.
    """
    pairs = set()
    for source in range(found.nodes):
        others = [node for node in range(found.nodes) if node != source]
        for count in range(1, len(others) + 1):
            for destinations in combinations(others, count):
                multicast = plan(found, scheme, source, destinations)
                for worm in multicast.worms:
                    pairs |= waits_of(worm, multicast.arrivals(worm), fits)
    return pairs


def waits_of(worm, arrivals, fits):
    places = [("link", *link) for link in worm.links] + [("node", node) for node in worm.destinations]
    parents = [None if one is None else places[one] for one in [*worm.before, *arrivals]]
    children, ways = {}, {None: []}
    for place, parent in zip(places, parents, strict=True):
        children.setdefault(parent, []).append(place)
    pending = [(None, [])]
    while pending:  # the way to each place, from the source
        at, way = pending.pop()
        for child in children.get(at, []):
            ways[child] = [*way, child]
            pending.append((child, ways[child]))
    found = {(parent, place) for place, parent in zip(places, parents, strict=True) if parent is not None}
    if not fits:
        for held in places:
            for step, branch in enumerate(ways[held]):
                before = ways[held][step - 1] if step else None
                found |= {(held, other) for other in children[before] if other != branch}
    return found


def has_a_circle(pairs):
    after = {}
    for start, end in pairs:
        after.setdefault(start, set()).add(end)
    left = set(after)
    while True:
        safe = {start for start in left if not after[start] & left}
        if not safe:
            return bool(left)
        left -= safe


def analysed(found, scheme, *, fits, relation=None):
    """The same pairs as `check` has them."""
    graph = dependency_graph([find_channel_use(SCHEMES[scheme], found, relation)], 1, fits=fits)
    links = found.links.tolist()
    names = [("link", start, end) for start, _, end, _ in links] + [("node", node) for node in range(found.nodes)]
    return {(names[start], names[end]) for start, end in zip(graph.starts.tolist(), graph.ends.tolist(), strict=True)}


@pytest.mark.parametrize("scheme", SWITCH_BASED)
@pytest.mark.parametrize("seeds", [range(6), slow(range(6, 60))])
@pytest.mark.parametrize("fits", [True, False])
def test_against_all_worms_of_small_networks(scheme, seeds, fits):
    for seed in seeds:
        found = small(seed)
        expected, has = waits(found, scheme, fits=fits), analysed(found, scheme, fits=fits)
        assert expected <= has, (seed, expected - has)
        free = check(found, SCHEMES[scheme], fits=fits).free
        assert not (free and has_a_circle(expected)), seed
        if fits or np.bincount(found.consumptions[:, 0], minlength=found.switches).min() > 1:
            assert free == (not has_a_circle(expected)), seed  # a lone node is no source beside itself
        if scheme == "tree":
            assert has == expected, seed


def waits_by_any_link_up(found):
    """Find waits as `waits` does, for trees that go up by any link, and switches that hold whole worms."""
    strings, up, pairs = reachability(found), goes_up(found), set()

    def go_on(before, switch, nodes, upwards):
        ports = [port for port, link in enumerate(found.link_of_port[switch].tolist()) if link >= 0]
        if upwards and not strings.total[switch, nodes].all():
            ways = [(port, nodes) for port in ports if up[found.link_of_port[switch, port]]]
        else:
            upwards = False
            ways = [(port, [node for node in nodes if strings.restricted[switch, port, node]]) for port in ports]
            pairs.update((before, ("node", node)) for node in nodes
                         if before and found.consumptions[node, 0] == switch)
        for port, some in ways:
            if some:
                place = ("link", switch, int(found.neighbours[switch, port]))
                if before:
                    pairs.add((before, place))
                go_on(place, place[2], some, upwards)

    for source in range(found.nodes):
        others = [node for node in range(found.nodes) if node != source]
        for count in range(1, len(others) + 1):
            for destinations in combinations(others, count):
                go_on(None, int(found.injections[source, 0]), list(destinations), True)
    return pairs


@pytest.mark.parametrize("seeds", [range(8), slow(range(8, 60))])
def test_trees_that_may_go_up_by_any_link(seeds):
    choices = 0
    for seed in seeds:
        found = small(seed)
        expected = waits_by_any_link_up(found)
        assert analysed(found, "tree", fits=True, relation=UP_DOWN_TREE_ANY) == expected, seed
        assert check(found, SCHEMES["tree"], relation=UP_DOWN_TREE_ANY).free
        assert not has_a_circle(expected)
        choices += not UP_DOWN_TREE_ANY.on(found).deterministic
    assert choices > len(seeds) // 3


@pytest.mark.parametrize("scheme", SWITCH_BASED)
@pytest.mark.parametrize("seeds", [range(1, 4), slow(range(4, 40))])
def test_theorem_5(scheme, seeds):
    """With whole worms in buffers there is no deadlock, unicasts by up*/down* among them; else there is."""
    for seed in seeds:
        found = topology(f"irregular:switches=8,ports=8,nodes=24,connectivity=0.8,seed={seed}")
        unicasts = [(SCHEMES["individual"], load_relation("up-down"))]
        assert check(found, SCHEMES[scheme], others=unicasts).free
        analysis = check(found, SCHEMES[scheme], fits=False)
        assert (analysis.verdict, analysis.fits, analysis.tokens) == ("deadlock", False, None)


def test_the_circle_is_told_by_worms_that_may_meet():
    found = topology("irregular:seed=1")
    steps = [(step.resource, step.source, step.stops) for step in check(found, SCHEMES["tree"], fits=False).cycle]
    assert len(steps) == 2
    for resource, source, stops in steps:
        [worm] = plan(found, "tree", source, stops).worms
        named = [f"link:s{start}>s{end}:*" for start, end in worm.links]
        assert resource in named
        assert {name for name, _, _ in steps} <= set(named)


def test_channels_for_all_who_may_come_keep_path_worms_from_deadlock_in_any_buffers():
    found = topology("irregular:seed=1")
    assert check(found, SCHEMES["path-lg"], fits=False, consumption=16, vcs=1).free
    assert not check(found, SCHEMES["tree"], fits=False, consumption=16, vcs=1).free


@pytest.mark.parametrize(("scheme", "names"), [
    ("path-g", ["Theorem 4", "Theorem 5", "Whole worms", "Lemma 5", "Figure 13", "Greedy"]),
    ("tree", ["Up", "Restricted strings", "Trees", "Whole worms"]),
])
def test_statements(scheme, names):
    for name in ("irregular:seed=1", "mesh:3x3"):
        found = explain(topology(name), SCHEMES[scheme])
        assert [one.statement for one in found] == names
        assert all(one.holds and one.source == "Sivaram98" for one in found)


REFUSALS = {
    "fits: on is not valid: worms of dual-path are not replicated in switches. Allowed: no value.":
        {"scheme": "dual-path", "fits": True},
    "tokens: on is not valid: worms of tree are replicated from buffers that can store a whole worm, and use no "
    "tokens. Allowed: off.": {"scheme": "tree", "tokens": True},
    "absorb: 2 is not valid: worms of path-g are replicated in switches. Allowed: off, host.":
        {"scheme": "path-g", "slots": 2},
    "check: relation up-down-adaptive is not valid: it leaves a choice, and worms are replicated in switches whose "
    "buffers hold no whole worm. Allowed: relations with one candidate for each node, or buffers that hold a whole "
    "worm.": {"scheme": "path-g", "relation": "up-down-adaptive", "fits": False},
    "scheme tree: relation e-cube is not valid. Allowed: up-down-tree, up-down-tree-any, up-down-tree-adaptive.":
        {"scheme": "tree", "relation": "e-cube"},
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_refusals(sentence):
    options = dict(REFUSALS[sentence])
    options["scheme"] = SCHEMES[options["scheme"]]
    if "relation" in options:
        options["relation"] = load_relation(options["relation"])
    with pytest.raises(WormcastError) as refused:
        check(topology("mesh:3x3"), **options)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_strings_that_do_not_cover_a_destination_are_refused(scheme):
    apart = network(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    with pytest.raises(WormcastError, match=r"it does not lead from switch 0 to node 2 in hand-made\. Needed: a path"):
        plan(apart, scheme, 0, [2])
