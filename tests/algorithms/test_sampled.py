"""What plans cost on average: against plans one by one, and the figures that are told of TP and SP."""

import math
import statistics

import pytest

from wormcast.algorithms import SCHEMES, WormcastError, plan, topology
from wormcast.algorithms.sampled import sample_plans


@pytest.mark.parametrize("name", ["individual", "u-mesh", "dual-path", "sp", "gtdmpm"])
def test_to_all_other_nodes_they_are_the_plan(name):
    """There is one such multicast from a node: means are its own, without an error."""
    mesh = topology("mesh:3x2x3")
    made = plan(mesh, name, 7, [node for node in range(18) if node != 7])
    found = sample_plans(mesh, SCHEMES[name], 17, 3, source=7)
    firsts = [(worm.source, worm.links[0]) for worm in made.worms]
    assert found.copies == (made.copies, 0)
    assert found.hops == (made.hops, 0)
    assert found.longest == (max(len(worm.links) for worm in made.worms), 0)
    assert found.first_links == (len({first for first in firsts if first[0] == 7}), 0)
    assert found.sharing == (float(len(set(firsts)) < len(firsts)), 0)


def test_means_and_intervals_over_sources():
    """Broadcasts from any node: each source's own, as often as it is drawn."""
    mesh = topology("mesh:1x2x3")
    hops = [plan(mesh, "sp", source, [node for node in range(6) if node != source]).hops for source in range(6)]
    mean, half = sample_plans(mesh, SCHEMES["sp"], 5, 40_000).hops
    assert mean == pytest.approx(statistics.mean(hops), abs=3 * half)
    assert half == pytest.approx(1.96 * statistics.pstdev(hops) / math.sqrt(40_000), rel=0.05)


@pytest.mark.parametrize(("name", "count", "copies", "hops", "longest", "first_links", "sharing"), [
    ("tp", 12, 1.85, 38.8, 30.1, 1.85, 0.0),
    ("sp", 12, 3.86, 37.9, 20.0, 2.76, 0.72),
    ("tp", 100, 1.98, 121.8, 91.8, 1.98, 0.0),
    ("sp", 100, 5.03, 121.9, 59.0, 3.51, 0.98),
])
def test_what_random_multicasts_on_5x5x5_cost(name, count, copies, hops, longest, first_links, sharing):
    """Where the worms of SP share their first link is printed in the class's docstring."""
    found = sample_plans(topology("mesh:5x5x5"), SCHEMES[name], count, 10_000)
    for (mean, half), expected in ((found.copies, copies), (found.hops, hops), (found.longest, longest),
                                   (found.first_links, first_links), (found.sharing, sharing)):
        assert mean == pytest.approx(expected, rel=0.01, abs=0.006)
        assert half <= 0.02 * mean


def test_the_seed_decides():
    mesh = topology("mesh:4x4")
    one, again, other = (sample_plans(mesh, SCHEMES["dual-path"], 5, 1500, seed=seed) for seed in (3, 3, 4))
    assert one == again != other


@pytest.mark.parametrize(("options", "sentence"), [
    ({"destinations": 16}, "random: 16 destinations are given, on mesh:4x4 they must be 1 to 15"),
    ({"destinations": 0}, "random: 0 destinations are given"),
    ({"samples": 1}, "samples: 1 is given, allowed are 2 to 1000000"),
    ({"seed": -1}, "seed: -1 is given, it must be 0 or more"),
])
def test_what_is_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        sample_plans(topology("mesh:4x4"), SCHEMES["dual-path"], **{"destinations": 3, "samples": 10} | options)
