"""Statements on unicasts, against their paths: shortest ways, trees, and the networks of rising and falling labels."""

from itertools import pairwise

import numpy as np
import pytest

from wormcast.algorithms import E_CUBE, RELATIONS, SCHEMES, Relation, explain, topology
from wormcast.algorithms.theory.unicasts import two_networks


class Around(Relation):
    """One way around a ring."""

    name = "around"

    def table(self, network):
        own = np.arange(network.nodes)
        table = np.empty((network.switches, network.nodes), np.int8)
        table[:] = [[int(np.flatnonzero(ends == (switch + 1) % network.nodes)[0])]
                    for switch, ends in enumerate(network.neighbours)]
        table[own, own] = network.injections[:, 1]
        return table


def stated(network, scheme, **more):
    return {one.statement: one for one in explain(topology(network), SCHEMES[scheme], **more)}


def manhattan(network, u, v):
    return int(np.abs(np.subtract(np.unravel_index(u, network.shape), np.unravel_index(v, network.shape))).sum())


@pytest.mark.parametrize(("name", "scheme", "holds", "agrees"), [
    ("mesh:5x4", "dual-path", True, True), ("mesh:4x4", "multipath", True, True),
    ("mesh:3x3x3", "dual-path", False, None),
    ("mesh:4x4", "individual", True, None),
])
def test_shortest_ways(name, scheme, holds, agrees):
    network, found = topology(name), stated(name, scheme)["Shortest ways"]
    routes = SCHEMES[scheme].relation_on(network).on(network)
    longer = [len(routes.path(u, [v])) - 1 > manhattan(network, u, v)
              for u in range(network.nodes) for v in range(network.nodes) if u != v]
    assert found.found == {"pairs": len(longer), "longer": sum(longer)}
    assert (found.holds, found.agrees) == (holds, agrees)
    assert found.sentence.startswith(f"{sum(longer)} of the {len(longer)} paths by {routes.relation.name} are longer")


@pytest.mark.parametrize("name", ["mesh:1x4", "mesh:8x8", "mesh:3x3x3", "mesh:4x4x4", "mesh:2x3x4", "mesh:2x2x2x2"])
def test_each_directed_link_is_in_one_of_two_networks(name):
    """By the paper's definition: a link leads to a higher label, or to a lower one."""
    network, found = topology(name), stated(name, "tp" if name.count("x") == 2 else "dual-path")["Two networks"]
    rising = [bool(network.labels[start] < network.labels[end]) for start, _, end, *_ in network.links.tolist()]
    assert found.found == {"links": len(rising), "high": sum(rising), "low": len(rising) - sum(rising), "both": 0,
                           "neither": 0}
    assert (found.holds, found.source, sum(rising)) == (True, "Amnah", len(rising) // 2)


def test_by_another_relation_links_are_in_both_networks():
    """By e-cube, both ways along a row lead to higher labels and to lower ones."""
    mesh = topology("mesh:3x3")
    found = two_networks(E_CUBE.on(mesh))
    ways = {rising: {tuple(hop) for u in range(9) for v in range(9) if u != v
                     and (mesh.labels[u] < mesh.labels[v]) == rising for hop in pairwise(E_CUBE.on(mesh).path(u, [v]))}
            for rising in (True, False)}
    assert found.found == {"links": 24, "high": len(ways[True]), "low": len(ways[False]),
                           "both": len(ways[True] & ways[False]), "neither": 24 - len(ways[True] | ways[False])}
    assert (found.holds, found.found["both"] > 0) == (False, True)


def test_only_unicasts_by_labels_have_two_networks():
    assert "Two networks" not in stated("mesh:3x3", "column-path")


def test_ways_that_are_longer_by_one():
    """Around a ring of five, up to the root and down again: between 2 and 4 in three hops for two."""
    found = stated("ring:5", "individual", relation=RELATIONS["up-down"])["Shortest ways"]
    routes = RELATIONS["up-down"].on(topology("ring:5"))
    longer = sum(len(routes.path(u, [v])) - 1 > min((u - v) % 5, (v - u) % 5)
                 for u in range(5) for v in range(5) if u != v)
    assert (found.holds, found.found["longer"]) == (False, longer)
    assert " by 1" in found.sentence


def test_trees_that_would_wait_for_each_other():
    found = stated("mesh:1x4", "individual")["Trees"]
    assert (found.holds, found.found) == (True, {"pairs": 1})
    assert "from 0.1 to 0.0 and 0.3 holds the link to 0.0, and waits for the link from 0.2 to 0.3" in found.sentence
    # on 3x3 no node but those of the middle row and column has one on both sides: by e-cube, along a row or a column,
    # or around the corner of two
    network, routes = topology("mesh:3x3"), E_CUBE.on(topology("mesh:3x3"))
    crossed = set()
    for u, v in {tuple(sorted((int(link[0]), int(link[2])))) for link in network.links}:
        for w in range(9):
            for x in range(9):
                ways = [routes.path(u, [w]), routes.path(u, [x]), routes.path(v, [x]), routes.path(v, [w])]
                if len({u, v, w, x}) == 4 and ways == [[u, w], [u, v, x], [v, x], [v, u, w]]:
                    crossed.add((u, v))
    assert stated("mesh:3x3", "individual")["Trees"].found == {"pairs": len(crossed)}
    assert crossed


@pytest.mark.parametrize(("name", "more"), [
    ("mesh:1x3", {}), ("min:b=2,stages=3,kind=omega", {}), ("ring:6", {"relation": Around()})])
def test_trees_that_would_not(name, more):
    found = stated(name, "individual", **more)["Trees"]
    assert (found.holds, found.found) == (None, {"pairs": 0})
