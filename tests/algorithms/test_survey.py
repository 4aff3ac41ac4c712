"""Mean costs of many multicasts, against the plans of single multicasts."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from wormcast.algorithms import E_CUBE, SCHEMES, ConsumptionClasses, PlainScheme, survey, topology
from wormcast.algorithms.multicast_plan import plan

CASES = [
    ("mesh:6x6", "individual"), ("mesh:6x6", "dual-path"), ("mesh:6x6", "multipath"), ("mesh:6x6", "column-path"),
    ("mesh:3x4x2", "e-mcast"), ("mesh:5x7", "u-mesh"), ("torus:4x5", "individual"),
    ("min:b=2,stages=3,kind=omega", "individual"), ("mesh:3x3x3", "sp"), ("irregular:seed=2", "individual"),
    ("irregular:seed=2", "ssr-g"), ("irregular:seed=2", "path-lg"), ("mesh:4x4", "path-g"),
]


def multicasts(network, number, seed=0):
    """Random multicasts: (source, destinations)."""
    random = np.random.default_rng(seed)
    for _ in range(number):
        source, *others = random.permutation(network.nodes).tolist()
        yield source, others[:random.integers(1, network.nodes)]


def as_arrays(messages):
    offsets = np.cumsum([0, *(len(destinations) for _, destinations in messages)])
    return [source for source, _ in messages], offsets, [node for _, destinations in messages for node in destinations]


def shares(found):
    """Return whether two worms of a plan use the same link."""
    return max(Counter(link for worm in found.worms for link in set(worm.links)).values(), default=0) > 1


def as_unicast(found, worm):
    """Return whether a worm has the path of a unicast to its last destination."""
    routes = found.scheme.on(found.topology).relation.on(found.topology)
    return tuple(pairwise(routes.path(worm.source, worm.destinations[-1:]))) == worm.links


def first_links(found):
    """Return each sender's first links; for a worm without links, its destination at the sender's own switch."""
    left = {}
    for worm in found.worms:
        left.setdefault(worm.source, []).append(worm.links[0] if worm.links else worm.destinations[0])
    return left


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_means_are_those_of_single_plans(name, scheme):
    network = topology(name)
    messages = list(multicasts(network, 60))
    plans = [plan(network, scheme, source, destinations) for source, destinations in messages]
    worms = [(found, worm) for found in plans for worm in found.worms]
    wanted = {word: np.mean([getattr(found, word) for found in plans])
              for word in ("copies", "hops", "channels", "start_ups", "phases")}
    wanted |= {
        "destinations": np.mean([len(destinations) for _, destinations in messages]),
        "hops_per_destination": sum(found.hops for found in plans) / sum(len(ends) for _, ends in messages),
        "shared": np.mean([shares(found) for found in plans]),
        "longest": np.mean([max(len(worm.links) for worm in found.worms) for found in plans]),
        "first_links": np.mean([len(set(first_links(found)[found.source])) for found in plans]),
        "sharing": np.mean([any(len(set(ways)) < len(ways) for ways in first_links(found).values())
                            for found in plans]),
        "as_unicasts": np.mean([as_unicast(*one) for one in worms]),
    }
    found = vars(survey(network, SCHEMES[scheme], *as_arrays(messages)))
    assert found.pop("planning_ns") > 0
    assert found == pytest.approx(wanted)


def test_only_schemes_within_the_base_routing_go_as_unicasts():
    network = topology("mesh:8x8")
    messages = as_arrays(list(multicasts(network, 200)))
    told = {name: survey(network, SCHEMES[name], *messages)
            for name in ("individual", "dual-path", "multipath", "multipath-lmn", "column-path", "column-path-literal",
                         "e-mcast")}
    assert {name for name, one in told.items() if one.as_unicasts == 1} == {
        "individual", "column-path", "column-path-literal", "e-mcast"}
    assert {name for name, one in told.items() if one.shared == 0} == {"dual-path", "multipath-lmn"}


def test_a_worm_that_takes_a_link_twice_shares_it_with_no_other():
    class Back(PlainScheme):
        name, relation = "back", E_CUBE

        def classes_on(self, network):
            return ConsumptionClasses()

        def visits(self, network, source, destinations):
            return [destinations]

    found = survey(topology("mesh:1x5"), Back(), [0], [0, 3], [2, 1, 3])
    assert (found.hops, found.channels, found.shared, found.as_unicasts) == (5, 4, 0, 0)


@pytest.mark.parametrize("name", ["irregular:seed=2", "mesh:4x4"])
def test_of_trees_that_go_up_as_one(name):
    network = topology(name)
    messages = list(multicasts(network, 60))
    plans = [plan(network, "tree", source, destinations) for source, destinations in messages]
    found = survey(network, SCHEMES["tree"], *as_arrays(messages))
    firsts = [[link for link, before in zip(one.worms[0].links, one.worms[0].before, strict=True) if before is None]
              for one in plans]
    assert found.hops == found.channels == pytest.approx(np.mean([one.hops for one in plans]))
    assert found.longest == found.hops
    assert found.first_links == pytest.approx(np.mean([len(links) for links in firsts]))
    assert found.as_unicasts == pytest.approx(np.mean([as_unicast(one, one.worms[0]) for one in plans]))
    assert (found.shared, found.sharing, found.copies) == (0, 0, 1)
