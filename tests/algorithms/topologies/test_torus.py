"""Tori and rings: a mesh and the links around its edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wormcast.algorithms import WormcastError, topology

EXTENTS = st.lists(st.integers(1, 5), min_size=2, max_size=4).filter(lambda shape: max(shape) > 1)


def named(shape):
    return "x".join(map(str, shape))


@given(EXTENTS)
def test_each_node_has_a_neighbour_both_ways_in_every_dimension_that_extends(shape):
    torus = topology(f"torus:{named(shape)}")
    assert torus.kind == "torus"
    assert torus.direct
    assert torus.labels is None
    directions = [(dimension, step) for dimension in reversed(range(len(shape))) if shape[dimension] > 1
                  for step in (1, -1)]
    assert len(torus.ports[0]) == len(directions) + 1
    assert len(torus.links) == torus.nodes * len(directions)
    ends = {(start, out): (end, into) for start, out, end, into in torus.links.tolist()}
    for (start, out), (end, into) in ends.items():
        dimension, step = directions[out]
        beside = torus.coordinates[start].copy()
        beside[dimension] = (beside[dimension] + step) % shape[dimension]
        assert torus.coordinates[end].tolist() == beside.tolist()
        assert ends[end, into] == (start, out)


@given(EXTENTS)
def test_without_the_links_around_the_edges_it_is_the_mesh(shape):
    torus, mesh = topology(f"torus:{named(shape)}"), topology(f"mesh:{named(shape)}")
    assert torus.ports == mesh.ports
    assert torus.node("0" + ".0" * (len(shape) - 1)) == 0
    assert set(map(tuple, mesh.links.tolist())) <= set(map(tuple, torus.links.tolist()))
    for array in ("injections", "consumptions", "coordinates"):
        assert np.array_equal(getattr(torus, array), getattr(mesh, array))
    assert np.array_equal(torus.places.nodes, mesh.places.nodes)


def test_an_extent_of_2_gives_parallel_links():
    assert topology("ring:2").links.tolist() == [[0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]


@pytest.mark.parametrize("nodes", [2, 3, 6, 4096])
def test_a_ring_is_a_torus_of_one_dimension(nodes):
    ring = topology(f"ring:{nodes}")
    assert ring.shape == (nodes,)
    assert ring.ports[0] == ("d0+", "d0-", "local")
    assert ring.links[0].tolist() == [0, 0, 1, 1]
    assert ring.links[-2].tolist() == [nodes - 1, 0, 0, 1]
    assert ring.node_name(1) == "1"
    assert ring.node("1") == 1
    apart = np.linalg.norm(np.diff(ring.places.nodes, axis=0, append=ring.places.nodes[:1]), axis=1)
    assert np.allclose(apart, 1, atol=1e-3)


@pytest.mark.parametrize(("node", "sentence"), [
    ("1.2", "node: '1.2' has 2 coordinates in ring:6. Needed: 1, an id"),
    ("x", r"node: 'x' is not in ring:6. Allowed: an id \(up to 5\).$"),
    ("@2", r"node: '@2' is not in ring:6. Allowed: an id \(up to 5\).$"),
    (6, r"node: '6' is not in ring:6. Allowed: an id \(up to 5\)"),
])
def test_a_node_of_a_ring_is_its_id(node, sentence):
    with pytest.raises(WormcastError, match=sentence):
        topology("ring:6").node(node)


@pytest.mark.parametrize(("specification", "sentence"), [
    ("torus:4", r"topology: 'torus:4' is not valid. Allowed: torus:ROWSxCOLUMNS, torus:XxYxZ, or up to 12 ex"),
    ("torus:0x3", "is not valid. Allowed: torus:ROWSxCOLUMNS"),
    ("torus:1x1", "'torus:1x1' has 1 node. Allowed: 2 to 4096 nodes"),
    ("torus:65x64", "'torus:65x64' has 4160 nodes. Allowed: 2 to 4096 nodes"),
    ("ring:1", "topology: N '1' of 'ring:1' is not valid. Allowed: whole numbers from 2 to 4096"),
    ("ring:4097", "Allowed: whole numbers from 2 to 4096"),
    ("ring:", "N '' of 'ring:' is not valid"),
    ("ring:4x4", "N '4x4' of 'ring:4x4' is not valid"),
    ("ring:²", "N '²' of 'ring:²'"),
])
def test_other_extents_are_refused_in_a_sentence(specification, sentence):
    with pytest.raises(WormcastError, match=sentence):
        topology(specification)
