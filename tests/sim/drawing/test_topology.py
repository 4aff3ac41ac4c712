"""Layouts and the pictures of topologies: all links, in both directions, and all names in their places."""

import numpy as np
import pytest

from wormcast.algorithms import Places, Topology, WormcastError, topology
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.drawing import (
    cycle_sheet,
    layout_of,
    require_drawable,
    topology_sheet,
    utilisation_sheet,
)

SHAPES = ["4x4", "8x8", "3x3x3"]


def ends_of_arrows(sheet):
    """List the beginning and the tip of each arrow."""
    corners = [path.vertices[:-1] for collection in sheet.axes.collections if collection.get_zorder() == 2
               for path in collection.get_paths()]
    return [((one[0] + one[-1]) / 2, one[len(one) // 2]) for one in corners]


@pytest.mark.parametrize("shape", SHAPES)
def test_nodes_links_and_labels_are_all_there(shape, legible):
    mesh = topology(f"mesh:{shape}")
    sheet = topology_sheet(mesh)
    legible(sheet)
    places = layout_of(mesh).nodes
    texts = {tuple(text.get_position()): text.get_text() for text in sheet.axes.texts}
    for node in range(mesh.nodes):
        assert texts[tuple(places[node])] == mesh.node_name(node)
        apart = {at: np.hypot(*(places[node] - at)) for at in texts if at != tuple(places[node])}
        assert texts[min(apart, key=apart.get)] == str(mesh.label(node))  # the nearest to it is its own
    found = set()
    for start, tip in ends_of_arrows(sheet):
        found.add((int(np.hypot(*(places - start).T).argmin()), int(np.hypot(*(places - tip).T).argmin())))
    assert found == set(map(tuple, mesh.links[:, [0, 2]].tolist()))


@pytest.mark.parametrize("shape", SHAPES)
def test_links_along_the_hamiltonian_path_are_the_dark_ones(shape):
    mesh = topology(f"mesh:{shape}")
    other, path = (collection for collection in topology_sheet(mesh).axes.collections if collection.get_zorder() == 2)
    assert other.get_facecolor().mean() > path.get_facecolor().mean()
    assert len(path.get_paths()) == 2 * (mesh.nodes - 1)
    assert len(other.get_paths()) == len(mesh.links) - 2 * (mesh.nodes - 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_column_of_a_paper_is_enough(shape):
    assert topology_sheet(topology(f"mesh:{shape}")).width == pytest.approx(3.4)


def test_rows_go_down_and_columns_to_the_right():
    mesh = topology("mesh:2x3")
    assert layout_of(mesh).nodes[mesh.node("1.2")].tolist() == [2, 1]


def test_planes_of_three_dimensions_lie_one_above_the_other():
    """y upwards, z to the front; no line up or down passes through another node."""
    mesh = topology("mesh:4x3x5")
    places = layout_of(mesh).nodes
    y = mesh.coordinates[:, 1]
    for plane in (1, 2):
        assert places[y == plane, 1].max() < places[y == plane - 1, 1].min()
    low, right, front = (places[mesh.node(name)] for name in ("0.0.0", "1.0.0", "0.0.1"))
    assert right.tolist() == [1, low[1]]
    assert front[1] > low[1]
    columns = np.unique(places[:, 0].round(6))
    assert len(columns) == 4 * 5
    assert np.diff(columns).min() == pytest.approx(layout_of(mesh).narrowest)


@pytest.mark.parametrize(("shape", "file", "sentence"), [
    ("2x2", "a.gif", "plot: a.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."),
    ("1x200", "a.png",
     ("plot: a.png is not valid: the drawing of mesh:1x200 is at least 128 cells wide or high. Allowed: .svg, .pdf, "
      ".eps.")),
])
def test_what_cannot_be_drawn_is_refused(shape, file, sentence, tmp_path):
    with pytest.raises(WormcastError) as refused:
        require_drawable(topology(f"mesh:{shape}"), tmp_path.__class__(file))
    assert str(refused.value) == sentence


def test_the_same_topology_gives_the_same_bytes(tmp_path):
    for name in "ab":
        save_figure(topology_sheet(topology("mesh:3x3x3")).figure, tmp_path / name, "svg")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def two_stages():
    """Four nodes, two at each switch of one stage, and a second stage with none."""
    links = np.array([[0, 2, 2, 0], [0, 3, 3, 0], [1, 2, 2, 1], [1, 3, 3, 1],
                      [2, 0, 0, 2], [3, 0, 0, 3], [2, 1, 1, 2], [3, 1, 1, 3]], np.int32)
    ends = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32)
    return Topology("stages:2", "stages", (4,), (("a", "b", "c", "d"),) * 4, links, ends, ends.copy(),
                    np.arange(4, dtype=np.int32)[:, None], places=Places(
                        np.array([[1, 0.5], [1, 2.5], [2.5, 0.5], [2.5, 2.5]]),
                        np.array([[0, 0], [0, 1], [0, 2], [0, 3]], float)))


def test_a_kind_of_ones_own_needs_places_alone(tmp_path, legible):
    """Nodes apart from their switches, switches without nodes, no labels, no names of rows."""
    network = two_stages()
    require_drawable(network, tmp_path / "a.svg")
    sheet = topology_sheet(network)
    assert {"0", "1", "2", "3", "s0", "s3"} <= set(legible(sheet))
    assert len(ends_of_arrows(sheet)) == 8
    legible(cycle_sheet(network, ["link:s0>s2:0", "cons:1:0", "cons:0:0", "link:s2>s1:0"], ["four"]))
    legible(utilisation_sheet(network, np.arange(8.0), (np.zeros(4), np.ones(4)), "flits", ["some"]))


@pytest.mark.parametrize("name", ["ring:4", "irregular:switches=16,ports=4,nodes=16,seed=7,connectivity=1",
                                  "irregular:switches=9,ports=5,nodes=18,seed=2"])
def test_no_link_passes_through_another_node(name):
    """The closer a link passes by a node, the larger the network is drawn."""
    network = topology(name)
    layout, sheet = layout_of(network), topology_sheet(network)
    for (start, _, end, _), way in zip(network.links.tolist(), layout.links, strict=True):
        along = np.diff(way, axis=0)
        others = np.delete(layout.switches, [start, end], axis=0)[:, None] - way[:-1]
        part = np.clip((others * along).sum(axis=2) / (along**2).sum(axis=1), 0, 1)
        nearest = np.linalg.norm(others - part[..., None] * along, axis=2).min()
        assert nearest * sheet.cell > 4  # points: the least radius of a node


def test_links_up_and_down_have_colours_and_a_legend():
    network = topology("irregular:switches=4,nodes=8,seed=2")
    up = np.arange(len(network.links)) % 2 == 0
    sheet = topology_sheet(network, up=up)
    down, rising = (collection for collection in sheet.axes.collections if collection.get_zorder() == 2)
    assert (len(rising.get_paths()), len(down.get_paths())) == (np.count_nonzero(up), np.count_nonzero(~up))
    assert not np.array_equal(rising.get_facecolor(), down.get_facecolor())
    [legend] = sheet.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["link up", "link down"]
