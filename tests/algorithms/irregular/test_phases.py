"""Senders and worms of each step: figures 15 and 16 of [Sivaram98], and random networks."""

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES
from wormcast.algorithms.multicast_plan import plan

from . import reference
from .example import DESTINATIONS, SOURCE, example, node, switches_of
from .networks import drawn
from .reference import Graph

KINDS = {"ssr-g": (False, True), "ssr-lg": (False, False), "path-g": (True, True), "path-lg": (True, False)}


def steps(multicast):
    """Sender and destinations of the worms of each step."""
    found = [[] for _ in range(multicast.steps)]
    for worm in multicast.worms:
        found[worm.step - 1].append((worm.source, list(worm.destinations)))
    return found


@pytest.mark.parametrize(("scheme", "expected"), [
    ("ssr-g", ["10a>5", "10a>3 5a>9 5b>1", "10a>7 5a>4 5b>8 3a>2"]),
    ("ssr-lg", ["10a>5", "10a>3 5a>9", "10a>1 5a>7 3a>4 9a>8", "10a>2"]),
    ("path-g", ["10a>5,3,9", "10a>1,7 5a>4,8 5b>2"]),
    ("path-lg", ["10a>5,3,9", "10a>1,7 5a>4,8 3a>2"]),
])
def test_the_example(scheme, expected, tmp_path):
    multicast = plan(example(tmp_path), scheme, SOURCE, DESTINATIONS)
    told = [[(node(worm.partition(">")[0]), [int(switch) for switch in worm.partition(">")[2].split(",")])
             for worm in step.split()] for step in expected]
    found = steps(multicast)
    assert [[(sender, switches_of(visits)) for sender, visits in step] for step in found] == told
    assert all(len(visits) == 2 * len(switches_of(visits)) for step in found for _, visits in step)


@pytest.mark.parametrize("scheme", KINDS)
@pytest.mark.parametrize("seeds", [range(40), slow(range(40, 1000))])
def test_on_random_networks(scheme, seeds):
    path, greedy = KINDS[scheme]
    for seed in seeds:
        found, source, destinations = drawn(seed)
        expected = reference.senders(Graph(found), source, destinations, path=path, greedy=greedy)
        assert steps(plan(found, scheme, source, destinations)) == expected, seed


@pytest.mark.parametrize("scheme", KINDS)
def test_many_at_once_are_as_one_by_one(scheme):
    found, source, destinations = drawn(7)
    rest = [one for one in range(found.nodes) if one not in (source, *destinations)]
    sets = [(source, destinations), (destinations[0], [source]), (source, rest or [destinations[-1]])]
    batch = SCHEMES[scheme].batch(found, [one for one, _ in sets], np.cumsum([0, *(len(some) for _, some in sets)]),
                                  [one for _, some in sets for one in some])
    alone = [SCHEMES[scheme].batch(found, [one], [0, len(some)], some) for one, some in sets]
    assert batch.destinations.tolist() == [one for worms in alone for one in worms.destinations.tolist()]
    assert batch.rank.tolist() == [one for worms in alone for one in worms.rank.tolist()]
    assert batch.source.tolist() == [one for worms in alone for one in worms.source.tolist()]
    assert np.diff(batch.message_offsets).tolist() == [len(worms) for worms in alone]
    firsts = np.repeat(batch.message_offsets[:-1], np.diff(batch.message_offsets))
    after = np.where(batch.after < 0, -1, batch.after - firsts)
    assert after.tolist() == [one for worms in alone for one in worms.after.tolist()]


@pytest.mark.parametrize("seeds", [range(40), slow(range(40, 1000))])
def test_what_the_paper_says_of_their_numbers(seeds):
    """Section 5.2.6: path worms are at most as many as those to one switch each; section 5.2.5: the less greedy takes
    as many steps or more, and by it no switch starts two worms in a step, beside those of the source."""
    for seed in seeds:
        found, source, destinations = drawn(seed)
        plans = {scheme: plan(found, scheme, source, destinations) for scheme in KINDS}
        homes = found.consumptions[:, 0].tolist()
        assert plans["ssr-g"].copies == len({homes[one] for one in destinations})
        assert plans["path-g"].copies == plans["path-lg"].copies <= plans["ssr-g"].copies
        for kind in ("ssr", "path"):
            assert plans[f"{kind}-lg"].steps >= plans[f"{kind}-g"].steps
            for step in steps(plans[f"{kind}-lg"]):
                starts = [homes[sender] for sender, _ in step if sender != source]
                assert len(starts) == len(set(starts)), seed
