"""Where virtual channels are drawn: none on top of another, none outside the picture."""

from itertools import combinations, pairwise, product

import pytest

from wormcast.algorithms import WormcastError, topology
from wormcast.sim.waves.view import History, Link
from wormcast.sim.waves.view.lanes import BOX, lay_out

from .made import links_of


def network(name, vcs=2, consumption=2, links=None):
    mesh = topology(name)
    links = links_of(mesh, vcs, consumption) if links is None else links
    return History(mesh, "dual-path", 0, 1, links, {}, (), (), None, {})


def along(way, axis):
    """Stretches of a way along an axis, as (where, from, to)."""
    return [(a[1 - axis], *sorted((a[axis], b[axis]))) for a, b in pairwise(way)
            if abs(a[1 - axis] - b[1 - axis]) < 1e-6]


@pytest.mark.parametrize("vcs", [1, 2, 4])
@pytest.mark.parametrize("name", ["mesh:1x4", "mesh:3x3", "mesh:3x2x2", "mesh:2x3x2"])
def test_no_lane_lies_on_another(name, vcs):
    history = network(name, vcs)
    ground = lay_out(history)
    ways = [way for lanes in ground.lanes for way in lanes]
    assert len(ways) == sum(link.vcs for link in history.links)
    for one, other in combinations(ways, 2):
        assert set(one[1:-1] or one).isdisjoint(other[1:-1] or other)
    for axis in (0, 1):
        for one, other in combinations([along(way, axis) for way in ways], 2):
            for (where, start, end), (there, begin, stop) in product(one, other):
                assert abs(where - there) > 1 or end <= begin or stop <= start


def test_lanes_between_two_routers_do_not_cross():
    history = network("mesh:2x2x2", vcs=3)
    ground = lay_out(history)
    pairs = [(ground.lanes[one], ground.lanes[other]) for one, link in enumerate(history.links)
             for other, back in enumerate(history.links[one:], one)
             if {link.source, link.target} == {back.source, back.target} and link.kind == back.kind == "network"]
    ways = [both for lanes in pairs for both in product(*lanes) if both[0] is not both[1]]
    assert len(ways) > 100
    for one, other in ways:
        for (y, left, right), (x, top, bottom) in product(along(one, 0), along(other, 1)):
            assert not (left < x < right and top < y < bottom)


@pytest.mark.parametrize("name", ["mesh:3x4", "mesh:2x3x3"])
def test_lanes_lead_from_router_to_router_inside_the_picture(name):
    history = network(name)
    ground = lay_out(history)
    (left, top), (width, height) = ground.corner, ground.size
    for link, lanes in zip(history.links, ground.lanes, strict=True):
        for way in lanes:
            assert all(left <= x <= left + width and top <= y <= top + height for x, y in way)
            ends = [way[0]] if link.kind != "injection" else []
            ends += [way[-1]] if link.kind != "consumption" else []
            for (x, y), node in zip(ends, (link.source, link.target), strict=False):
                middle = ground.nodes[node]
                assert max(abs(x - middle[0]), abs(y - middle[1])) == pytest.approx(BOX)


def test_rows_go_down_and_columns_across():
    nodes = lay_out(network("mesh:2x3")).nodes
    assert nodes[1][0] > nodes[0][0]
    assert nodes[1][1] == nodes[0][1]
    assert nodes[3][1] > nodes[0][1]
    assert nodes[3][0] == nodes[0][0]


def test_planes_of_three_dimensions_stand_side_by_side():
    """x across and z down in each plane of one y."""
    mesh = topology("mesh:2x3x2")
    ground = lay_out(network("mesh:2x3x2"))
    assert [name for name, _ in ground.planes] == ["y = 0", "y = 1", "y = 2"]
    places = {mesh.node_name(node): place for node, place in ground.nodes.items()}
    assert places["0.0.0"][0] < places["1.0.0"][0] < places["0.1.0"][0] < places["0.2.0"][0]
    assert places["0.0.0"][1] == places["1.0.0"][1] == places["0.2.0"][1] < places["0.0.1"][1]


def test_only_the_part_that_was_looked_at_is_drawn():
    links = (Link("link:27>28", "network", 27, 28, 1), Link("cons:28#0", "consumption", 28, 28, 2))
    ground = lay_out(network("mesh:8x8", links=links))
    assert sorted(ground.nodes) == [27, 28]


def test_four_dimensions_are_refused():
    with pytest.raises(WormcastError, match="replay: mesh:2x2x2x2 is given, meshes of two and three dimensions"):
        lay_out(network("mesh:2x2x2x2"))
