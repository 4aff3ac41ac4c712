"""Software multicast in multistage networks: the trees of `cmin` and `cmin-halving`, their steps and conflicts."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import AT_ONCE, SCHEMES, WormcastError, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import DESTINATION_TAGS
from wormcast.algorithms.theory.contention import contention
from wormcast.algorithms.worms import steps_of

from .cmin_reference import channels, common, conflicts, digits, halving, matching

KINDS = ["baseline", "cube", "omega", "butterfly"]
SIZES = [(2, 3), (2, 4), (4, 2), (4, 3), (2, 6)]
TREES = {"cmin": matching, "cmin-halving": halving}
EACH = pytest.mark.parametrize("name", TREES)


def network(kind, b, stages):
    return topology(f"min:b={b},stages={stages},kind={kind}")


def batch(name, net, messages):
    offsets = np.cumsum([0, *(len(destinations) for _, destinations in messages)])
    return SCHEMES[name].batch(net, [source for source, _ in messages], offsets,
                               [node for _, destinations in messages for node in destinations])


def drawn(random, nodes, count):
    """A source and so many destinations."""
    source, *destinations = random.permutation(nodes)[:count + 1].tolist()
    return source, destinations


def trees(worms):
    """The unicasts of each message as the reference has them."""
    steps = steps_of(worms)
    for first, end in itertools.pairwise(worms.message_offsets.tolist()):
        rows = range(first, end)
        yield [(int(worms.source[row]), None if worms.after[row] == AT_ONCE else int(worms.after[row]) - first,
                int(worms.visits(row)[0]), steps[row]) for row in rows]


def conflicts_of(name, kind, b, stages, messages):
    """Pairs that share a channel in one step, of each message."""
    worms = batch(name, network(kind, b, stages), messages)
    return [conflicts(kind, b, stages, [(sender, to, step) for sender, _, to, step in tree]) for tree in trees(worms)]


# the reference alone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("b", "stages"), [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_the_channels_of_the_reference_are_the_links_of_the_network(kind, b, stages):
    """One for one: the rule by digits follows from the wiring."""
    net = network(kind, b, stages)
    routes, found = DESTINATION_TAGS.on(net), set()
    for source, destination in itertools.product(range(net.nodes), repeat=2):
        taken = sorted(channels(kind, b, stages, source, destination))
        found |= set(zip(taken, routes.channels(source, [destination]), strict=True))
    assert len(found) == len({one for one, _ in found}) == len({one for _, one in found}) == len(net.links)


@pytest.mark.parametrize(("kind", "turn"), [("baseline", 1), ("cube", -1)])
def test_unicasts_share_a_channel_where_ends_have_as_many_digits_in_common_as_there_are_stages(kind, turn):
    """Of the destinations the leading ones, at least one; of the sources the leading or, in a cube, the last."""
    for s1, d1, s2, d2 in itertools.product(range(8), repeat=4):
        if s1 != s2 and d1 != d2:
            ends = common(digits(d1, 2, 3), digits(d2, 2, 3))
            starts = common(digits(s1, 2, 3)[::turn], digits(s2, 2, 3)[::turn])
            shared = not channels(kind, 2, 3, s1, d1).isdisjoint(channels(kind, 2, 3, s2, d2))
            assert shared == (ends >= 1 and ends + starts >= 3)


def test_small_trees_by_hand():
    """In the second step 0 has the choice of 1 and 5, and takes that of the other half."""
    assert matching("baseline", 2, 3, 0, [1, 4, 5]) == [(0, None, 4, 1), (0, None, 5, 2), (4, 0, 1, 2)]
    assert halving("baseline", 2, 3, 6, [1, 2, 7]) == [(6, None, 1, 1), (6, None, 7, 2), (1, 0, 2, 2)]
    assert conflicts("baseline", 2, 3, [(0, 4, 1), (1, 5, 1), (6, 7, 1), (7, 6, 2)]) == 1


# the schemes -----------------------------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("b", "stages"), SIZES)
def test_the_trees_are_those_of_the_reference(name, kind, b, stages):
    random, nodes = np.random.default_rng(7), b**stages
    counts = [1, 2, nodes // 2, nodes - 1, *random.integers(1, nodes, 8)]
    messages = [drawn(random, nodes, count) for count in counts]
    worms = batch(name, network(kind, b, stages), messages)
    for tree, message in zip(trees(worms), messages, strict=True):
        assert tree == TREES[name](kind, b, stages, *message)


@EACH
@given(size=st.sampled_from([(2, 2), (2, 5), (3, 3), (5, 2), (7, 2), (16, 2)]), kind=st.sampled_from(KINDS),
       seed=st.integers(0, 2**32), data=st.data())
@settings(deadline=None, max_examples=40)
def test_every_destination_is_reached_once_by_one_who_has_the_message(name, size, kind, seed, data):
    """In the fewest steps, and whatever the order in which destinations are given."""
    net, random = network(kind, *size), np.random.default_rng(seed)
    messages = [drawn(random, net.nodes, count)
                for count in data.draw(st.lists(st.integers(1, net.nodes - 1), min_size=1, max_size=4))]
    worms = batch(name, net, messages)
    for tree, (source, destinations) in zip(trees(worms), messages, strict=True):
        has = {source: 0}
        for sender, receipt, to, step in tree:
            assert to not in has
            assert has[sender] < step
            assert receipt is None if sender == source else tree[receipt][2] == sender
            has[to] = step
        assert has.keys() - {source} == set(destinations)
        assert len({(sender, step) for sender, _, _, step in tree}) == len(tree)
        assert max(has.values()) == math.ceil(math.log2(len(destinations) + 1))
    again = batch(name, net, [(source, random.permutation(destinations)) for source, destinations in messages])
    for field in ("source", "rank", "after", "destinations"):
        assert getattr(again, field).tolist() == getattr(worms, field).tolist()


@EACH
@pytest.mark.parametrize("kind", KINDS)
def test_the_steps_are_the_fewest_of_one_port(name, kind):
    net, random = network(kind, 2, 5), np.random.default_rng(3)
    for count in range(1, 32):
        multicast = plan(net, name, *drawn(random, 32, count))
        assert multicast.steps == math.ceil(math.log2(count + 1))
        assert multicast.phases <= multicast.steps
    assert plan(net, name, 9, "all").phases == 5


# conflicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["cube", "omega"])
@pytest.mark.parametrize(("b", "stages"), SIZES)
def test_a_broadcast_by_halving_is_free_of_conflicts_in_a_cube(kind, b, stages):
    nodes = b**stages
    everyone = [(source, [node for node in range(nodes) if node != source]) for source in range(0, nodes, nodes // 8)]
    assert conflicts_of("cmin-halving", kind, b, stages, everyone) == [0] * 8
    multicast = plan(network(kind, b, stages), "cmin-halving", *everyone[3])
    assert contention(multicast).stepwise == ()


@pytest.mark.parametrize(("b", "stages", "by_halving", "by_matching"), [(2, 6, 44.0, 7.0625), (4, 3, 20.0, 6.125)])
def test_conflicts_of_broadcasts_on_the_baseline_network(b, stages, by_halving, by_matching):
    """Pairs that share a channel in one step, the mean over all sources."""
    everyone = [(source, [node for node in range(64) if node != source]) for source in range(64)]
    for name, mean in (("cmin-halving", by_halving), ("cmin", by_matching)):
        assert np.mean(conflicts_of(name, "baseline", b, stages, everyone)) == mean


@pytest.mark.parametrize(("b", "stages", "by_halving", "by_matching"), [(2, 6, 6.73, 1.27), (4, 3, 4.03, 1.36)])
def test_conflicts_of_multicasts_to_half_the_nodes_of_the_baseline_network(b, stages, by_halving, by_matching):
    """The means were measured over 2000; here over 300, within four standard errors."""
    random = np.random.default_rng(11)
    messages = [drawn(random, 64, 32) for _ in range(300)]
    for name, mean in (("cmin-halving", by_halving), ("cmin", by_matching)):
        found = conflicts_of(name, "baseline", b, stages, messages)
        assert abs(np.mean(found) - mean) < 4 * np.std(found) / math.sqrt(len(found))


# what is said and refused ----------------------------------------------------------------------------------------


@EACH
def test_it_is_defined_on_multistage_networks_by_whichever_relation(name):
    net = network("baseline", 2, 3)
    by_tags, by_shortest = (plan(net, find_scheme(name, net, relation), 3, "all")
                            for relation in (None, "shortest"))
    assert by_tags.worms == by_shortest.worms
    assert by_tags.scheme.relation is DESTINATION_TAGS
    assert check(net, SCHEMES[name], consumption=1).free
    for other in ("mesh:4x4", "torus:4x4"):
        with pytest.raises(WormcastError, match=f"scheme {name}: topology {other} is not valid. Allowed: networks of"):
            plan(topology(other), name, 0, "all")
