"""The reference itself, on the example of paper 002, section 2.1 (Figs. 2 and 3)."""

from . import reference

SOURCE = (3, 2)
DESTINATIONS = [(5, 0), (3, 1), (0, 4), (1, 4), (0, 5), (1, 5), (5, 5)]


def node(coordinates):
    return coordinates[0] * 6 + coordinates[1]


def coordinates(nodes):
    return [divmod(one, 6) for one in nodes]


def test_labels_of_a_small_mesh():
    assert [reference.label(3, one) for one in range(9)] == [0, 1, 2, 5, 4, 3, 6, 7, 8]


def test_dual_path_of_the_paper():
    upward, downward = reference.dual_path(6, 6, node(SOURCE), [node(one) for one in DESTINATIONS])
    assert (upward[0], coordinates(upward[1])) == (0, [(3, 1), (5, 5), (5, 0)])
    assert (downward[0], coordinates(downward[1])) == (1, [(1, 4), (1, 5), (0, 5), (0, 4)])


def test_hamiltonian_step_takes_the_vertical_shortcut():
    assert coordinates(reference.path(reference.hamiltonian_step, 6, 6, node((3, 2)), [node((1, 4))])) == [
        (3, 2), (2, 2), (1, 2), (1, 3), (1, 4),
    ]  # fmt: skip


def test_e_cube_goes_along_the_row_first():
    assert coordinates(reference.path(reference.e_cube_step, 6, 6, node((3, 2)), [node((5, 0))])) == [
        (3, 2), (3, 1), (3, 0), (4, 0), (5, 0),
    ]  # fmt: skip
