import itertools

import numpy as np
import pytest

from wormcast.algorithms import TOPOLOGIES, WormcastError, topology

from . import reference

SHAPES = [(1, 2), (2, 1), (1, 9), (7, 1), (2, 2), (3, 3), (4, 6), (6, 6), (9, 7), (8, 8)]


def mesh(*shape):
    return topology(f"mesh:{'x'.join(map(str, shape))}")


def test_ids_are_row_major_and_row_0_is_on_top():
    three_by_four = mesh(3, 4)
    assert three_by_four.nodes == three_by_four.switches == 12
    assert three_by_four.coordinates.tolist() == [[row, column] for row in range(3) for column in range(4)]
    assert three_by_four.node("2.1") == 9
    assert three_by_four.node_name(9) == "2.1"


def test_the_ports_of_a_two_dimensional_mesh_come_in_this_order():
    two_by_two = mesh(2, 2)
    assert set(two_by_two.ports) == {("east", "west", "south", "north", "local")}
    assert two_by_two.links.tolist() == [
        [0, 0, 1, 1],  # east into west
        [0, 2, 2, 3],  # south into north
        [1, 1, 0, 0],
        [1, 2, 3, 3],
        [2, 0, 3, 1],
        [2, 3, 0, 2],
        [3, 1, 2, 0],
        [3, 3, 1, 2],
    ]
    assert two_by_two.injections.tolist() == two_by_two.consumptions.tolist() == [[node, 4] for node in range(4)]


def test_a_dimension_of_extent_1_has_no_ports():
    assert mesh(1, 3).ports[0] == ("east", "west", "local")
    assert mesh(3, 1).ports[0] == ("south", "north", "local")


def test_more_dimensions_have_ports_and_links():
    cube = mesh(2, 3, 4)
    assert cube.ports[0] == ("z+", "z-", "y+", "y-", "x+", "x-", "local")
    assert mesh(2, 2, 2, 2).ports[0][:2] == ("d3+", "d3-")
    assert len(cube.links) == 2 * (1 * 3 * 4 + 2 * 2 * 4 + 2 * 3 * 3)
    assert cube.node("1.2.3") == 23


@pytest.mark.parametrize("shape", [*SHAPES, (2, 3, 4), (2, 1, 2, 3)])
def test_links_join_neighbours_both_ways_and_every_port_at_most_once(shape):
    network = mesh(*shape)
    links = {(start, out): (end, into) for start, out, end, into in network.links.tolist()}
    assert len(links) == len(network.links)
    for (start, out), (end, into) in links.items():
        assert links[end, into] == (start, out)
        assert np.abs(network.coordinates[start] - network.coordinates[end]).sum() == 1
        assert network.neighbours[start, out] == end
    pairs = itertools.combinations(network.coordinates.tolist(), 2)
    adjacent = sum(sum(abs(a - b) for a, b in zip(*pair, strict=True)) == 1 for pair in pairs)
    assert len(links) == 2 * adjacent
    assert (network.neighbours >= 0).sum() == len(links)


@pytest.mark.parametrize("name", ["mesh:3x2", "min:b=2,stages=2", "irregular:switches=5,ports=5,nodes=7,seed=2"])
def test_what_is_joined_to_each_port(name):
    network = topology(name)
    for table, ends in ((network.link_of_port, network.links[:, :2]), (network.node_of_output, network.consumptions),
                        (network.node_of_input, network.injections)):
        assert table.shape == (network.switches, max(map(len, network.ports)))
        assert [table[switch, port] for switch, port in ends.tolist()] == list(range(len(ends)))
        assert (table >= 0).sum() == len(ends)


CUBES = [(3, 3, 3), (4, 4, 4), (5, 5, 5), (4, 3, 5), (3, 4, 2), (2, 5, 4), (1, 4, 3), (3, 1, 1), (2, 3, 1, 4), (2,) * 6]


@pytest.mark.parametrize("shape", [*SHAPES, *CUBES])
def test_labels_are_a_hamiltonian_path(shape):
    network = mesh(*shape)
    assert network.labels.tolist() == [reference.label(shape, node) for node in range(network.nodes)]
    assert sorted(network.labels.tolist()) == list(range(network.nodes))
    along = network.coordinates[network.node_of_label]
    assert (np.abs(np.diff(along, axis=0)).sum(axis=1) == 1).all()
    assert network.node("@0") == 0


@pytest.mark.parametrize(
    ("specification", "node"),
    [(20, 20), (np.int32(20), 20), ("20", 20), (" 3.2 ", 20), ("@21", 20), ("@0", 0)],
)
def test_a_node_is_an_id_or_coordinates_or_a_label(specification, node):
    assert mesh(6, 6).node(specification) == node


def test_a_node_set_is_a_text_or_any_iterable():
    assert mesh(6, 6).node_set("5.0, 31,@0") == mesh(6, 6).node_set(["5.0", 31, "@0"]) == [30, 31, 0]
    assert mesh(6, 6).node_set("") == mesh(6, 6).node_set([]) == []
    for text in ("1,", ",1", "1, ,2"):
        with pytest.raises(WormcastError, match="is not valid: a node is missing beside a comma"):
            mesh(6, 6).node_set(text)


OUTSIDE = r"is not in mesh:6x6. Allowed: an id \(up to 35\), coordinates \(up to 5\.5\) or a label \(up to @35\)"


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        (36, r"node: '36' " + OUTSIDE),
        ("@36", r"node: '@36' " + OUTSIDE),
        ("3.6", r"node: '3\.6' " + OUTSIDE),
        ("6.3", r"node: '6\.3' " + OUTSIDE),
        ("1.2.3", r"node: '1\.2\.3' has 3 coordinates in mesh:6x6. Needed: 2"),
        (-1, OUTSIDE),
        ("", OUTSIDE),
        ("@", OUTSIDE),
        ("3.", OUTSIDE),
        ("a.b", OUTSIDE),
        ("²", OUTSIDE),
        ("9" * 5000, OUTSIDE),
        (3.2, r"node: 3\.2 is not valid. Allowed: a whole number or text"),
        (None, r"node: None is not valid. Allowed: a whole number or text"),
    ],
)
def test_any_other_node_is_refused_in_a_sentence(specification, sentence):
    with pytest.raises(WormcastError, match=sentence):
        mesh(6, 6).node(specification)


EXTENTS = r"is not valid. Allowed: mesh:ROWSxCOLUMNS, mesh:XxYxZ, or up to 12 extents, with whole numbers from 1"


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        ("mesh:0x4", rf"topology: 'mesh:0x4' {EXTENTS}"),
        ("mesh:axb", EXTENTS),
        ("mesh:8", EXTENTS),
        ("mesh:", EXTENTS),
        ("mesh:8x", EXTENTS),
        ("mesh:-2x4", EXTENTS),
        ("mesh:8 x8", EXTENTS),
        ("mesh:" + "x".join(["1"] * 70 + ["2"]), EXTENTS),
        ("mesh:" + "9" * 5000 + "x2", EXTENTS),
        ("mesh:1x1", r"topology: 'mesh:1x1' has 1 node. Allowed: 2 to 4096 nodes"),
        ("mesh:64x65", r"'mesh:64x65' has 4160 nodes. Allowed: 2 to 4096 nodes"),
        ("mesh", "topology: mesh has no parameters. Needed: mesh:ROWSxCOLUMNS"),
        ("star:8", r"topology: 'star' is unknown. Allowed: .*mesh, .*ring, torus"),
    ],
)
def test_a_bad_topology_is_refused_in_a_sentence(specification, sentence):
    with pytest.raises(WormcastError, match=sentence):
        topology(specification)


def test_describe_is_plain_and_complete():
    description = mesh(1, 2).describe()
    assert description == {
        "topology": "mesh:1x2",
        "kind": "mesh",
        "shape": [1, 2],
        "nodes": [
            {"id": 0, "coordinates": [0, 0], "label": 0, "switch": 0, "port": "local"},
            {"id": 1, "coordinates": [0, 1], "label": 1, "switch": 1, "port": "local"},
        ],
        "switches": [
            {"id": 0, "name": "0", "ports": ["east", "west", "local"]},
            {"id": 1, "name": "1", "ports": ["east", "west", "local"]},
        ],
        "links": [
            {"from": 0, "out": "east", "to": 1, "in": "west"},
            {"from": 1, "out": "west", "to": 0, "in": "east"},
        ],
    }


def test_arrays_are_read_only_and_every_kind_describes_itself():
    with pytest.raises(ValueError, match="read-only"):
        mesh(2, 2).links[0, 0] = 1
    assert all(kind.syntax.startswith(name + ":") and kind.description for name, kind in TOPOLOGIES.items())
