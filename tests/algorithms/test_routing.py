import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from wormcast.algorithms import AT_ONCE, E_CUBE, HAMILTONIAN, Relation, WormcastError, Worms, topology

from . import reference

SHAPES = [(1, 2), (1, 9), (7, 1), (2, 2), (4, 6), (6, 6), (5, 3), (3, 4, 2), (2, 1, 3), (2, 3, 2, 2)]
STEPS = {E_CUBE: reference.e_cube_step, HAMILTONIAN: reference.hamiltonian_step}


def mesh(*shape):
    return topology(f"mesh:{'x'.join(map(str, shape))}")


def unicasts(pairs):
    """Worms of one destination each, one for each (source, destination)."""
    sources, destinations = np.array(pairs, np.int32).T
    count = len(pairs)
    return Worms(
        message_offsets=np.arange(count + 1),
        source=sources.copy(),
        rank=np.zeros(count, np.int32),
        after=np.full(count, AT_ONCE),
        destination_offsets=np.arange(count + 1),
        destinations=destinations.copy(),
    )


@pytest.mark.parametrize("relation", STEPS, ids=lambda relation: relation.name)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_next_hop_is_the_reference_s(relation, shape):
    routes = relation.on(mesh(*shape))
    for at, to in itertools.permutations(range(math.prod(shape)), 2):
        assert routes.next_hop(at, to) == STEPS[relation](shape, at, to)
    assert all(routes.next_hop(node, node) == -1 for node in range(math.prod(shape)))


@pytest.mark.parametrize("relation", STEPS, ids=lambda relation: relation.name)
@pytest.mark.parametrize("shape", [(4, 4), (6, 6), (8, 8), (3, 7), (6, 2), (1, 9), (5, 1)])
def test_every_path_is_a_shortest_one_in_two_dimensions(relation, shape):
    assert (detours(relation, shape) == 0).all()


def detours(relation, shape):
    """Hops beyond the distance, for each pair of nodes."""
    network = mesh(*shape)
    pairs = list(itertools.permutations(range(network.nodes), 2))
    away = np.array([network.coordinates[a] - network.coordinates[b] for a, b in pairs])
    return relation.on(network).hops(unicasts(pairs)) - np.abs(away).sum(axis=1)


def test_in_three_dimensions_e_cube_is_shortest_and_r_not_always():
    assert (detours(E_CUBE, (4, 4, 4)) == 0).all()
    longer = detours(HAMILTONIAN, (4, 4, 4))
    assert (longer.min(), longer.max()) == (0, 2)


@pytest.mark.parametrize("shape", SHAPES)
def test_labels_only_rise_or_only_fall_along_r_so_that_it_cannot_deadlock(shape):
    network = mesh(*shape)
    routes = HAMILTONIAN.on(network)
    for source, destination in itertools.permutations(range(network.nodes), 2):
        steps = np.diff(network.labels[routes.path(source, [destination])])
        assert (steps > 0).all() or (steps < 0).all()


def test_e_cube_corrects_the_last_dimension_first():
    network = mesh(2, 3, 4)
    path = E_CUBE.on(network).path(network.node("0.0.0"), [network.node("1.2.1"), network.node("1.1.0")])
    assert [network.node_name(node) for node in path] == [
        "0.0.0", "0.0.1", "0.1.1", "0.2.1", "1.2.1", "1.2.0", "1.1.0",
    ]  # fmt: skip


def test_a_path_goes_through_destinations_that_share_a_switch_without_a_hop():
    assert HAMILTONIAN.on(mesh(2, 2)).path(0, [1, 1, 3]) == [0, 1, 3]


def test_a_relation_is_bound_to_a_topology_once():
    network = mesh(3, 3)
    assert E_CUBE.on(network) is E_CUBE.on(network)


def test_the_hamiltonian_relation_needs_labels():
    with pytest.raises(WormcastError, match=r"mesh:2x2x2 is not valid: .* Hamiltonian labels\. Allowed: meshes"):
        HAMILTONIAN.on(replace(mesh(2, 2, 2), labels=None))


class Own(Relation):
    """A relation of one's own: any table."""

    name = "own"
    description = "for tests"

    def __init__(self, table):
        self._table = np.array(table)

    def table(self, topology):
        return self._table


LINE = "mesh:1x3"  # ports: east 0, west 1, local 2


def test_a_relation_of_one_s_own_is_a_table():
    routes = Own(np.array([[2, 0, 0], [1, 2, 0], [1, 1, 2]], np.int8)).on(topology(LINE))
    assert routes.path(0, [2]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            [[2, 0], [1, 2]],
            r"relation own: its table for mesh:1x3 is int8 .* Needed: int8 \[3, 3\]",
        ),
        ([[2, 0, 0], [1, 2, 0], [1, 1, 3]], r"has ports from 0 to 3. Allowed: -1 to 2"),
        (
            [[2, 0, 0], [1, 2, 0], [1, 0, 2]],
            r"towards node 1 it leaves switch 2 of mesh:1x3 by port 0: this port has no link",
        ),
        (
            [[2, 0, 0], [1, 2, 2], [1, 1, 2]],
            r"towards node 2 it leaves switch 1 of mesh:1x3 by port 2: this port has no link",
        ),
        (
            [[2, 0, 0], [1, 2, 0], [1, 1, 0]],
            r"towards node 2 it leaves switch 2 of mesh:1x3 by port 0: the node is at this switch.",
        ),
    ],
)
def test_a_table_that_leads_out_of_the_network_is_refused(table, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Own(np.array(table, np.int8)).on(topology(LINE))


@pytest.mark.parametrize("table", [[[2, 0, 0], [1, 2, 1], [1, 1, 2]], [[2, 0, 0], [1, 2, -1], [1, 1, 2]]])
def test_a_table_that_goes_in_circles_or_nowhere_is_refused_on_the_way(table):
    routes = Own(np.array(table, np.int8)).on(topology(LINE))
    sentence = "relation own: it does not lead from switch 0 to node 2 in mesh:1x3"
    with pytest.raises(WormcastError, match=sentence):
        routes.path(0, [2])
    with pytest.raises(WormcastError, match=sentence):
        routes.hops(unicasts([(1, 0), (0, 2)]))
