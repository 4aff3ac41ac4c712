"""Worms that are copied: `check` against a reference that goes through every tree."""

import itertools
import json

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, WormcastError, explain, topology
from wormcast.algorithms.deadlock.channel_use import find_channel_use
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.deadlock.graph import dependency_graph
from wormcast.algorithms.deadlock.token_cycles import may_return
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.theory.trees import overlapped_networks
from wormcast.algorithms.token_groups import NO_TOKEN, TokenGroups, _components, all_consumed, token_groups

from . import copied_reference as reference

TREES = ("atbm", "tree-serial", "tree-synchronous")
KINDS = ("baseline", "cube", "omega", "butterfly")
INDIVIDUAL = SCHEMES["individual"]


def groups_of(tokens, rows):
    """Groups by switches of the reference."""
    return {(switch // rows, switch % rows): (int(stage), int(group))
            for switch, (stage, group) in enumerate(zip(tokens.stage, tokens.group, strict=True)) if group != NO_TOKEN}


def own_groups(network, rng):
    """Any groups: each stage divided at random."""
    stage = token_groups(network, consumed=False).stage
    return TokenGroups(stage, rng.integers(0, 3, network.switches))


@pytest.mark.parametrize("consumed", [False, True])
@pytest.mark.parametrize("scheme", ["atbm", "tree-synchronous"])
@pytest.mark.parametrize("stages", [2, 3])
def test_as_all_trees_of_a_small_network_have_it(stages, scheme, consumed):
    """Without tokens, with the right ones, with those for the other number of consumption channels, and with any."""
    network = topology(f"min:b=2,stages={stages}")
    part, rows, lockstep = find_channel_use(SCHEMES[scheme], network), 2 ** (stages - 1), scheme == "tree-synchronous"
    edges = reference.waits(2, stages, consumed=consumed, lockstep=lockstep)
    assert dependency_graph([part], 1, consumed=consumed).free == (not reference.may_lock(edges))
    rng = np.random.default_rng(stages)
    for tokens in (token_groups(network, consumed=False), token_groups(network, consumed=True),
                   *(own_groups(network, rng) for _ in range(3))):
        groups = groups_of(tokens, rows)
        edges = reference.waits(2, stages, groups, consumed=consumed, lockstep=lockstep)
        free = dependency_graph([part], 1, tokens=tokens, consumed=consumed).free
        assert free == (not reference.may_lock(edges, groups)), groups


@pytest.mark.parametrize(("size", "kind", "scheme"), [
    *itertools.product(["b=2,stages=3", "b=4,stages=2", "b=4,stages=3"], KINDS, TREES),
    ("b=2,stages=8", "baseline", "atbm"), slow("b=2,stages=8", "omega", "tree-synchronous")])
def test_tokens_keep_all_networks_from_deadlock(size, kind, scheme):
    """With one channel, with enough of them, and with an ejection port for each way in; with unicasts beside."""
    network = topology(f"min:{size},kind={kind}")
    ways = int(size[2])
    for options in ({"consumption": 1}, {"consumption": 2 * ways}, {"consumption": 2, "ejection": "all"}):
        others = [(INDIVIDUAL, None)]
        assert check(network, SCHEMES[scheme], others=others, **options).free
        without = check(network, SCHEMES[scheme], others=others, tokens=False, **options)
        # all outputs at once: nothing is waited for behind the last but one stage
        assert without.free == (scheme == "tree-synchronous" and "stages=2" in size and options != {"consumption": 1})
        assert without.tokens == 0


def test_who_shares_with_a_third_is_in_one_group():
    """A and C share nothing, B shares with each; D is alone."""
    shared = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], bool)
    assert _components(shared).tolist() == [0, 0, 0, 1]
    assert _components(shared[[2, 3, 0, 1]]).tolist() == [0, 1, 0, 0]


def test_tokens_for_enough_consumption_channels_are_too_few_for_one():
    network = topology("min:b=2,stages=4")
    part, tokens = find_channel_use(SCHEMES["atbm"], network), token_groups(network, consumed=True)
    assert dependency_graph([part], 2, tokens=tokens, consumed=True).free
    assert not dependency_graph([part], 1, tokens=tokens).free


def test_one_token_a_stage_is_no_group():
    """A worm with the token in one half of the network may wait for a worm that waits for it in the other half."""
    network = topology("min:b=2,stages=3")
    part, right = find_channel_use(SCHEMES["atbm"], network), token_groups(network, consumed=False)
    assert not dependency_graph([part], 1, tokens=TokenGroups(right.stage, np.zeros_like(right.group))).free


@pytest.mark.parametrize(("channels", "vcs", "ejection", "enough"), [
    (1, 1, "one", False), (2, 1, "one", True), (4, 2, "one", True),
    (1, 1, "all", True), (1, 2, "all", False), (2, 2, "all", True)])
def test_how_many_consumption_channels_are_enough(channels, vcs, ejection, enough):
    network = topology("min:b=2,stages=3")
    assert all_consumed(network, channels=channels, vcs=vcs, ejection=ejection) == enough
    analysis = check(network, SCHEMES["atbm"], consumption=channels, vcs=vcs, ejection=ejection)
    assert (analysis.consumed, analysis.tokens) == (enough, 6 if enough else 7)


@pytest.mark.parametrize(("channels", "vcs", "ejection", "sentence"), [
    (3, 2, "one", ": 4 worms may arrive at a node of .* at a time. Allowed: 1, 4 to 16, or tokens off"),
    (2, 3, "all", ": 3 worms may arrive at an ejection port of .* at a time. Allowed: 1, 3 to 16, or tokens off")])
def test_channels_for_which_there_are_no_groups_are_refused_with_tokens(channels, vcs, ejection, sentence):
    network, given = topology("min:b=2,stages=3"), {"consumption": channels, "vcs": vcs, "ejection": ejection}
    with pytest.raises(WormcastError, match=f"consumption: {channels} is not valid with tokens{sentence}"):
        check(network, SCHEMES["atbm"], **given)
    assert not check(network, SCHEMES["atbm"], **given, tokens=False).consumed


@pytest.mark.parametrize(("edges", "returns"), [
    ([(0, 1, 0), (1, 0, 1)], True), ([(0, 1, 0), (1, 0, 0)], False), ([(0, 1, -1), (1, 0, -1)], True),
    ([(0, 1, -1), (1, 2, 3), (2, 0, 1)], True), ([(0, 1, 2), (1, 2, 3), (2, 0, 2)], False),
    ([(0, 1, 2), (1, 2, 3), (2, 0, 2), (2, 0, 1)], True), ([(0, 0, 5)], True),
    ([(0, 0, -1)], True), ([(0, 1, -1)], False)])
def test_a_cycle_counts_where_no_label_is_there_twice(edges, returns):
    starts, ends, labels = np.array(edges, np.int32).T
    assert may_return(3, starts, ends, labels) == returns


@pytest.mark.parametrize(("scheme", "ejection"), [("atbm", "one"), ("atbm", "all"), ("tree-synchronous", "one")])
def test_a_cycle_is_told_by_worms_that_hold_nothing_in_common(scheme, ejection):
    """Two sources, each with a destination behind what it holds, and one behind what the other one holds."""
    network = topology("min:b=2,stages=4")
    steps = check(network, SCHEMES[scheme], tokens=False, vcs=1, ejection=ejection).cycle
    assert len(steps) == 2
    held = set()
    for step, asked in zip(steps, (steps[1].resource, steps[0].resource), strict=True):
        ways = [[f"link:s{start}>s{end}:0" for start, end in worm.links] for node in step.stops
                for worm in plan(network, INDIVIDUAL, step.source, [node]).worms]
        assert asked in ways[1]
        assert asked not in ways[0]
        mine = {*ways[0][:ways[0].index(step.resource) + 1], *ways[1][:ways[1].index(asked)]}
        assert not held & mine
        held |= mine
    assert steps[0].source != steps[1].source


@pytest.mark.parametrize("scheme", TREES)
@pytest.mark.parametrize("kind", KINDS)
def test_statements_on_trees(kind, scheme):
    network = topology(f"min:b=2,stages=4,kind={kind}")
    for consumption in (1, 2):
        told = {one.statement: one for one in explain(network, SCHEMES[scheme], consumption=consumption, vcs=1)}
        assert told["Lemma 1"].holds
        assert told["Lemma 1"].found["sets"] == 2
        assert told["Lemma 2"].holds
        assert told["Lemma 2, its proof"].found == {"switches": [4, 2, 1], "paper": [16, 8, 4]}
        groups = told["Groups"]
        assert groups.found["sizes"] == ([[8], [4], [2], [1]] if consumption == 1 else [[4], [2], [1], []])
        assert groups.found["apart"] == 0
        if scheme == "tree-synchronous":  # worms of one switch, the last with one to wait at, never wait for each other
            assert groups.found["divisible"] == 8
            assert groups.found["meeting"] == groups.found["pairs"] - 8
        else:
            assert groups.holds
            assert groups.found["meeting"] == groups.found["pairs"]  # each pair of a group
        json.dumps([one.to_dict() for one in told.values()])


@pytest.mark.parametrize(("size", "sets"), [("b=2,stages=3", 2), ("b=4,stages=2", 4), ("b=4,stages=3", 4)])
def test_overlapped_networks(size, sets):
    """Figure 2 (c) and (d): as many sets of links as outputs, of as many links each; no unicast leaves its own."""
    network = topology(f"min:{size}")
    part = find_channel_use(SCHEMES["atbm"], network)
    found = overlapped_networks(part)
    assert np.bincount(found).tolist() == [len(network.links) // sets] * sets
    for source in range(network.nodes):
        taken = {found[link] for node in range(network.nodes) if node != source
                 for link in part.routes.channels(source, [node])}
        assert len(taken) == 1


@pytest.mark.parametrize(("name", "scheme", "options", "sentence"), [
    ("mesh:3x3", "individual", {"tokens": True},
     "tokens: on is not valid: worms of individual are not replicated from shallow buffers. Allowed: off, or on"),
    ("min:b=2,stages=3", "atbm", {"slots": 1},
     "absorb: 1 is not valid: worms of atbm are replicated in switches. Allowed: off, host."),
    ("min:b=16,stages=3", "atbm", {},
     "check: min:b=16,stages=3 is not valid: it has 4096 nodes, and the tree from each node to all others is analysed.")
])
def test_what_is_refused(name, scheme, options, sentence):
    with pytest.raises(WormcastError) as refusal:
        check(topology(name), SCHEMES[scheme], **options)
    assert str(refusal.value).startswith(sentence)
