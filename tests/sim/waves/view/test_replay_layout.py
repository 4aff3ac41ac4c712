"""Positions of virtual channels in the replay: no two overlap, all are inside the picture."""

from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from wormcast.algorithms import topology
from wormcast.sim.drawing import layout_of
from wormcast.sim.waves.view import History, RecordedBuffer, RecordedLink
from wormcast.sim.waves.view.replay_layout import BOX, HOST, QUEUE, lay_out

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
@pytest.mark.parametrize("name", ["mesh:1x4", "mesh:3x3", "mesh:3x2x2", "mesh:2x3x2", "torus:4x4", "torus:3x3x2",
                                  "ring:6", "min:b=2,stages=3,kind=omega", "irregular:switches=6,nodes=12"])
def test_no_track_lies_on_another(name, vcs):
    history = network(name, vcs)
    ground = lay_out(history)
    ways = [way for tracks in ground.tracks for way in tracks]
    assert len(ways) == sum(link.vcs for link in history.links)
    for one, other in combinations(ways, 2):
        assert set(one[1:-1] or one).isdisjoint(other[1:-1] or other)
    for axis in (0, 1):
        for one, other in combinations([along(way, axis) for way in ways], 2):
            for (where, start, end), (there, begin, stop) in product(one, other):
                assert abs(where - there) > 1 or end <= begin or stop <= start


def test_tracks_between_two_routers_do_not_cross():
    history = network("mesh:2x2x2", vcs=3)
    ground = lay_out(history)
    pairs = [(ground.tracks[one], ground.tracks[other]) for one, link in enumerate(history.links)
             for other, back in enumerate(history.links[one:], one)
             if {link.source, link.target} == {back.source, back.target} and link.kind == back.kind == "network"]
    ways = [both for tracks in pairs for both in product(*tracks) if both[0] is not both[1]]
    assert len(ways) > 100
    for one, other in ways:
        for (y, left, right), (x, top, bottom) in product(along(one, 0), along(other, 1)):
            assert not (left < x < right and top < y < bottom)


def inside_with_ends(history, ground):
    """Links and ways of all tracks, which must lie inside the picture, with the ends of each that are at routers."""
    (left, top), (width, height) = ground.corner, ground.size
    for link, tracks in zip(history.links, ground.tracks, strict=True):
        for way in tracks:
            assert all(left <= x <= left + width and top <= y <= top + height for x, y in way)
            ends = [(way[0], link.source)] if link.kind != "injection" else []
            ends += [(way[-1], link.target)] if link.kind != "consumption" else []
            yield link, way, [(end, ground.routers[switch]) for end, switch in ends]


@pytest.mark.parametrize("name", ["mesh:3x4", "mesh:2x3x3", "torus:4x4", "ring:6"])
def test_tracks_lead_from_router_to_router_inside_the_picture(name):
    history = network(name)
    ground = lay_out(history)
    for _, _, ends in inside_with_ends(history, ground):
        for (x, y), router in ends:
            assert max(abs(x - router.at[0]), abs(y - router.at[1])) == pytest.approx(BOX, abs=0.1)


@pytest.mark.parametrize("name", ["min:b=2,stages=3", "irregular:switches=6,nodes=12"])
def test_tracks_lead_from_box_to_box_and_to_nodes_inside_the_picture(name):
    history = network(name)
    ground = lay_out(history)
    hosts = {(host.node, host.kind): host.at for host in ground.hosts}
    for link, way, ends in inside_with_ends(history, ground):
        for (x, y), router in ends:
            assert abs(x - router.at[0]) <= router.half[0] + 4
            assert abs(y - router.at[1]) <= router.half[1] + 4
        if link.node is not None:
            kind = {"injection": "source", "consumption": "sink"}[link.kind]
            x, y = hosts.get((link.node, kind)) or hosts[link.node, "both"]
            end = way[0] if link.kind == "injection" else way[-1]
            assert max(abs(end[0] - x), abs(end[1] - y)) <= HOST + 1


@pytest.mark.parametrize("name", ["cmesh:2x2x2", "dragonfly:p=2,a=2,h=1", "fat-tree:k=2,levels=3"])
def test_a_node_name_is_on_the_side_that_no_line_leaves(name):
    history = network(name)
    ground = lay_out(history)
    hosts = {host.node: host for host in ground.hosts}
    for link, tracks in zip(history.links, ground.tracks, strict=True):
        if link.node is not None:
            host = hosts[link.node]
            for way in tracks:
                other = way[-1] if link.kind == "injection" else way[0]
                assert (other[1] - host.at[1]) * (host.name[1] - host.at[1]) <= HOST**2


def places(name, links=None):
    ground = lay_out(network(name, links=links))
    return {router.switch: router.at for router in ground.routers}


def test_rows_go_down_and_columns_across():
    at = places("mesh:2x3")
    assert at[1] == (116, 0)
    assert at[3] == (0, 116)


def test_places_are_those_of_the_other_pictures():
    for name in ("mesh:3x3x3", "torus:4x4", "ring:6", "min:b=2,stages=3", "irregular:switches=6,nodes=12"):
        given, drawn = layout_of(topology(name)).switches, np.array(list(places(name).values()))
        cell = np.ptp(drawn, axis=0) / np.ptp(given, axis=0)
        assert cell[0] == pytest.approx(cell[1])
        assert np.allclose(drawn - drawn[0], (given - given[0]) * cell[0])


@pytest.mark.parametrize("name", ["ring:4", "ring:5", "ring:6"])
def test_a_node_of_a_ring_is_not_on_a_link(name):
    history = network(name)
    ground = lay_out(history)
    for host in ground.hosts:
        for link, tracks in zip(history.links, ground.tracks, strict=True):
            for (x, y), (end_x, end_y) in ((way[0], way[-1]) for way in tracks if link.kind == "network"):
                for share in np.linspace(0, 1, 50):
                    across = x + share * (end_x - x) - host.at[0], y + share * (end_y - y) - host.at[1]
                    assert max(map(abs, across)) > HOST


def test_buffers_are_drawn_in_larger_routers_of_small_networks():
    def drawn(name, **hardware):
        found = network(name)
        return lay_out(replace(found, buffers=(RecordedBuffer(0, 0, ((0, 0),), ()),),
                               configuration={"buffer": 4, **hardware}))

    small = drawn("mesh:2x3")
    assert (small.slots, small.routers[0].half) == (4, (BOX + QUEUE, BOX + QUEUE))
    assert small.routers[1].at == (116 + 2 * QUEUE, 0)
    assert drawn("mesh:2x3", buffer_kind="deep").slots == drawn("mesh:5x4").slots == 0
    assert drawn("mesh:5x4").routers[0].half == (BOX, BOX)


def test_only_the_part_that_was_looked_at_is_drawn():
    links = (RecordedLink("link:27>28", "network", 27, 28, 1), RecordedLink("cons:28#0", "consumption", 28, 28, 2))
    assert sorted(places("mesh:8x8", links)) == [27, 28]
