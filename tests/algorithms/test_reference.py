"""The reference itself, on the example of [Boppana98], section 2.1 (Figs. 2 and 3), and on small meshes by hand."""

import itertools

import pytest

from . import reference

SHAPE = (6, 6)
SOURCE = (3, 2)
DESTINATIONS = [(5, 0), (3, 1), (0, 4), (1, 4), (0, 5), (1, 5), (5, 5)]


def node(place):
    return reference.number(SHAPE, place)


def coordinates(nodes):
    return [reference.coordinates(SHAPE, one) for one in nodes]


def visits(name):
    """List the visits of each worm of the example."""
    worms = reference.SCHEMES[name][0](SHAPE, node(SOURCE), [node(one) for one in DESTINATIONS])
    assert {(sender, after) for sender, after, _ in worms} == {(node(SOURCE), None)}
    return [coordinates(visits) for _, _, visits in worms]


def test_numbers_and_coordinates():
    assert reference.coordinates((2, 3, 4), 23) == (1, 2, 3)
    assert [reference.number((2, 3), reference.coordinates((2, 3), one)) for one in range(6)] == list(range(6))


def test_labels_of_small_meshes():
    assert [reference.label((3, 3), one) for one in range(9)] == [0, 1, 2, 5, 4, 3, 6, 7, 8]
    # y slowest, then z, then x; printed by ids, that is with z fastest
    assert [reference.label((2, 2, 2), one) for one in range(8)] == [0, 3, 7, 4, 1, 2, 6, 5]


def test_the_path_back_and_forth_has_the_labels_of_two_dimensions():
    path = reference.back_and_forth((3, 4))
    assert [reference.label((3, 4), reference.number((3, 4), place)) for place in path] == list(range(12))


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 3, 5), (3, 4, 2), (2, 5, 4), (2, 3, 2, 3)])
def test_labels_are_a_path(shape):
    nodes = sorted(range(len(reference.back_and_forth(shape))), key=lambda one: reference.label(shape, one))
    for a, b in itertools.pairwise(nodes):
        assert reference.label(shape, b) == reference.label(shape, a) + 1
        assert b in reference.neighbours(shape, a)


def test_neighbours():
    assert sorted(reference.neighbours((2, 3), 1)) == [0, 2, 4]


def test_dual_path_of_the_paper():
    assert visits("dual-path") == [[(3, 1), (5, 5), (5, 0)], [(1, 4), (1, 5), (0, 5), (0, 4)]]


def test_multipath_of_the_paper():
    parts = [[(5, 5)], [(1, 4), (1, 5), (0, 5), (0, 4)], [(3, 1), (5, 0)]]
    assert visits("multipath") == parts
    assert sorted(visits("multipath-lmn")) == sorted(parts)


def test_column_path_of_the_paper():
    parts = [[(5, 0)], [(3, 1)], [(1, 4), (0, 4)], [(1, 5), (0, 5)], [(5, 5)]]
    assert visits("column-path") == visits("column-path-literal") == parts


def test_e_mcast_of_the_paper():
    assert visits("e-mcast") == [[(3, 1), (5, 0)], [(1, 4), (0, 4)], [(1, 5), (0, 5)], [(5, 5)]]


def test_six_phase_of_paper_003():
    shape = (4, 4, 4)
    of_label = {reference.label(shape, node): node for node in range(64)}
    worms = reference.six_phase(shape, of_label[25], [of_label[one] for one in (28, 31, 38, 23, 21, 17, 9)])
    assert [[reference.label(shape, one) for one in visits] for _, _, visits in worms] == [
        [28], [21], [31], [23], [38], [17, 9],
    ]  # fmt: skip


def test_gtdmpm_sends_one_worm_a_link_before_the_next():
    # in a plane of one row (y) of 3x3: the first diagonal and the row share the link of the source
    worms = reference.gtdmpm((3, 1, 3), 0, [1, 4, 8, 2, 6])
    assert sorted(node for _, _, visits in worms for node in visits) == [1, 2, 4, 6, 8]
    assert worms[0][2] == [6]


def test_the_two_readings_of_column_path_differ_where_a_column_has_none_above():
    assert reference.column_path((3, 2), 2, [3, 5]) == [(2, None, [3, 5])]
    assert reference.column_path_literal((3, 2), 2, [3, 5]) == [(2, None, [3]), (2, None, [5])]


def test_e_mcast_leaves_what_is_beyond_its_worms_to_one_more():
    # row 1 of a 3x5 mesh, source in column 1: a worm to column 3 below passes 2, 4 is beyond it
    assert reference.e_mcast((3, 5), 6, [5, 7, 9, 13]) == [(6, None, [7, 13]), (6, None, [5]), (6, None, [9])]


def test_u_mesh_halves_the_chain():
    # a column of 8, source third: the upper half's first, then within the lower half
    worms = reference.u_mesh((8, 1), 2, [0, 1, 3, 4, 5, 6, 7])
    assert worms == [
        (2, None, [4]), (2, None, [1]), (2, None, [3]), (4, 0, [6]), (4, 0, [5]), (1, 1, [0]), (6, 3, [7]),
    ]  # fmt: skip


def test_hamiltonian_step_takes_the_vertical_shortcut():
    assert coordinates(reference.path(reference.hamiltonian_step, SHAPE, node((3, 2)), [node((1, 4))])) == [
        (3, 2), (2, 2), (1, 2), (1, 3), (1, 4),
    ]  # fmt: skip


def test_e_cube_goes_along_the_row_first():
    assert coordinates(reference.path(reference.e_cube_step, SHAPE, node((3, 2)), [node((5, 0))])) == [
        (3, 2), (3, 1), (3, 0), (4, 0), (5, 0),
    ]  # fmt: skip


def test_classes_by_the_next_and_by_the_last_hop():
    up, down = reference.SCHEMES["column-path"][0]((3, 3), 3, [1, 4, 7, 6])[0], [4, 7]
    assert up[2] == [6]
    path = reference.path(reference.e_cube_step, (3, 3), 3, down)
    assert reference.classes("column-path", (3, 3), path, down) == [0, None]
    assert reference.classes("e-mcast", (3, 3), path, down) == [0, None]
    assert reference.classes("u-mesh", (3, 3), path, [7]) == [None]
    path = reference.path(reference.e_cube_step, (3, 3), 5, [4, 1])
    assert reference.classes("e-mcast", (3, 3), path, [4, 1]) == [1, None]
    assert reference.classes("column-path", (3, 3), path, [4, 1]) == [1, None]
    path = reference.path(reference.hamiltonian_step, (3, 3), 0, [1, 2])
    assert reference.classes("dual-path", (3, 3), path, [1, 2]) == [0, None]
