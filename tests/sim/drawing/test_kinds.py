"""Pictures of each kind of network: all nodes, switches and links are there, and apart from each other."""

from itertools import combinations

import numpy as np
import pytest

from wormcast.algorithms import find_scheme, topology
from wormcast.algorithms.channels import link_names
from wormcast.algorithms.multicast_plan import plan
from wormcast.sim.drawing import cycle_sheet, layout_of, paths_sheet, topology_sheet, utilisation_sheet
from wormcast.sim.drawing.ways import beside, reaches

DIRECT = ["torus:4x4", "torus:5x5", "torus:2x3", "torus:3x3x3", "torus:4x2x3", "ring:8", "ring:2", "mesh:3x3x3",
          "mesh:2x2x2x2", "dragonfly:p=1,a=2,h=1", "dragonfly:p=1,a=4,h=1", "examples/hypercube.py:three",
          "examples/hypercube.py:four"]
INDIRECT = ["min:b=2,stages=3", "min:b=2,stages=4,kind=cube", "min:b=2,stages=3,kind=omega", "min:b=4,stages=2",
            "min:b=2,stages=3,kind=butterfly", "irregular:switches=8", "irregular:seed=3",
            "irregular:switches=5,nodes=40,ports=16,seed=7", "irregular:switches=4,nodes=2,ports=4,connectivity=1",
            "cmesh:2x3x4", "cmesh:2x2x8", "fat-tree:k=2,levels=3", "fat-tree:k=4,levels=2", "dragonfly:p=2,a=2,h=1",
            "dragonfly:p=3,a=2,h=2"]
KINDS = [*DIRECT, *INDIRECT]


def marks(layout):
    """Middles of all marks: nodes, both times where they are drawn twice, and boxes."""
    nodes = [layout.nodes, layout.sinks] if layout.drawn_twice else [layout.nodes]
    return np.concatenate([*nodes, layout.switches[~layout.shared]])


def arrows(sheet):
    return [path.vertices[:-1] for collection in sheet.axes.collections if collection.get_zorder() == 2
            for path in collection.get_paths()]


@pytest.mark.parametrize("name", KINDS)
def test_every_node_switch_and_link_is_drawn(name, legible):
    network = topology(name)
    layout = layout_of(network)
    sheet = topology_sheet(network)
    said = legible(sheet)
    for node in range(network.nodes):
        assert said.count(network.node_name(node)) >= 1 + layout.drawn_twice
    for switch in np.flatnonzero(~layout.shared):
        assert network.switch_names[switch] in said
    drawn = arrows(sheet)
    assert len(drawn) == len(network.links)
    ends = layout.switches[network.links[:, [0, 2]]]
    half = layout.boxes[network.links[:, [0, 2]]] + sheet.cells(14)
    found = {(round(float(one[len(one) // 2][0]), 6), round(float(one[len(one) // 2][1]), 6)) for one in drawn}
    assert len(found) == len(drawn)  # no two points of arrows are in one place
    tips = np.array([one[len(one) // 2] for one in drawn])
    starts = np.array([(one[0] + one[-1]) / 2 for one in drawn])
    left = list(range(len(drawn)))
    for (one, other), (near, far) in zip(ends, half, strict=True):
        fits = [at for at in left if (np.abs([starts[at] - one, tips[at] - other]) <= [near, far]).all()]
        assert fits
        left.remove(fits[0])


@pytest.mark.parametrize("name", KINDS)
def test_no_two_marks_lie_in_one_place_and_no_way_passes_through_one(name):
    network = topology(name)
    layout = layout_of(network)
    places = marks(layout)
    half = np.concatenate([np.zeros((len(places) - (~layout.shared).sum(), 2)), layout.boxes[~layout.shared]])
    for one, other in combinations(range(len(places)), 2):
        gap = np.abs(places[one] - places[other]) - half[one] - half[other]
        assert gap.max() > 0.15, (places[one], places[other])
    for link, way in enumerate(layout.links):
        for switch in np.flatnonzero(layout.shared):
            if switch not in network.links[link, [0, 2]]:
                assert np.linalg.norm(reaches(way) - layout.switches[switch], axis=1).min() > 0.08
        for switch in np.flatnonzero(~layout.shared):
            away = (np.abs(reaches(way) - layout.switches[switch]) - layout.boxes[switch]).max(axis=1)
            assert away.min() > (-1e-6 if switch in network.links[link, [0, 2]] else 0.1), (link, switch)
        for node in range(network.nodes if len(layout.injections) else 0):
            assert np.linalg.norm(reaches(way) - layout.nodes[node], axis=1).min() > 0.25, (link, node)


@pytest.mark.parametrize("name", [*KINDS, "irregular:switches=3,nodes=6,ports=8,connectivity=1,seed=2"])
def test_links_there_and_back_lie_on_one_way_and_parallel_ones_apart(name):
    network = topology(name)
    layout = layout_of(network)
    ways = {}
    for link, way in enumerate(layout.links):
        start, _, end, _ = network.links[link].tolist()
        ways.setdefault((start, end), []).append(way)
    for (start, end), there in ways.items():
        for one, other in combinations(there, 2):
            distance = np.linalg.norm(reaches(one)[:, None] - reaches(other)[None], axis=2)
            middle = slice(len(distance) // 3, -(len(distance) // 3) or None)
            assert distance[middle].min() > 0.1, (start, end)
        back = ways.get((end, start), [])
        if len(back) == len(there):
            assert sorted(way[::-1].tolist() for way in there) == sorted(way.tolist() for way in back)


def test_links_around_the_edges_of_a_torus_are_arcs_and_alike():
    network = topology("torus:4x4")
    layout = layout_of(network)
    arcs = [link for link, way in enumerate(layout.links) if len(way) > 2]
    around = [link for link, (start, _, end, _) in enumerate(network.links.tolist())
              if np.abs(network.coordinates[start] - network.coordinates[end]).max() == 3]
    assert arcs == around
    assert len(arcs) == 16
    bulges = {round(float(np.abs(layout.links[link] - layout.switches[network.links[link, 0]]).min(axis=1).max()), 3)
              for link in arcs}
    assert bulges == {0.35}


def test_a_multistage_network_runs_from_left_to_right():
    network = topology("min:b=2,stages=3,kind=omega")
    layout = layout_of(network)
    assert layout.drawn_twice
    assert layout.one_way.all()
    for way in (*layout.links, *layout.injections, *layout.consumptions):
        assert len(way) == 2
        assert way[0][0] < way[1][0]
    for node, way in enumerate(layout.consumptions):
        assert way[0][1] == pytest.approx(way[1][1])  # its line leads straight to it
        assert way[1].tolist() == layout.sinks[node].tolist()


@pytest.mark.parametrize("name", ["torus:4x4", "torus:3x3x3", "ring:8", "min:b=2,stages=3", "min:b=4,stages=2",
                                  "irregular:switches=8"])
def test_plans_cycles_and_loads_are_legible(name, legible):
    network = topology(name)
    far = network.nodes - 1
    sheet = paths_sheet(plan(network, find_scheme("individual", network), 1, [far, 0, far // 2]))
    said = legible(sheet)
    assert {"step 1", "step 2", "step 3"} <= set(said)
    resources = [f"link:{link_names(network)[link]}:0" for link in (0, len(network.links) // 2)]
    cycle = [resources[0], f"cons:{far}:0", resources[1], "cons:0:0", "cons:0:1"]
    said = legible(cycle_sheet(network, cycle, ["five of them"]))
    assert {"1", "2", "3", "4", "5"} <= set(said)
    legible(utilisation_sheet(network, np.linspace(0, 0.4, len(network.links)),
                              (np.zeros(network.nodes), np.ones(network.nodes)), "flits", ["how busy"]))


def test_what_lies_beside_a_curve_keeps_its_distance():
    way = layout_of(topology("torus:4x4")).links[1]
    for away in (-0.05, 0.05):
        distance = np.linalg.norm(reaches(beside(way, away), 0.01)[:, None] - reaches(way, 0.01)[None], axis=2)
        assert distance.min(axis=1) == pytest.approx(0.05, abs=0.01)
