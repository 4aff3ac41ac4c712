"""Places side by side on a grid of three by three, the room that they take, and the corners of a path."""

from itertools import pairwise

import numpy as np
import pytest

from wormcast.sim.drawing.tracks import bend, least_cell, tracks

GRID = np.array([[column, row] for row in range(3) for column in range(3)], float)


WAYS = {(one, other): GRID[[one, other]] for one in range(9) for other in range(9) if one != other}


def hops(*switches):
    return list(pairwise(switches))


def test_who_turns_left_is_nearer_than_who_turns_right():
    """From 3 to the right: one up behind one hop, one to the end, one down behind one hop. None crosses another."""
    journeys = [hops(3, 4, 7), hops(3, 4, 5), hops(3, 4, 1)]
    assert tracks(WAYS, journeys, [set()] * 3, 2) == [[2, 0], [1, 1], [0, 0]]


def test_a_place_is_kept_straight_on_and_the_two_directions_have_their_own():
    journeys = [hops(3, 4), hops(3, 4, 5), hops(5, 4, 3), hops(4, 3)]
    assert tracks(WAYS, journeys, [set()] * 4, 2) == [[0], [1, 1], [1, 1], [0]]


def test_what_is_shunned_is_passed_farther_out():
    assert tracks(WAYS, [hops(3, 4, 5, 8)], [{4}], 2) == [[2, 2, 0]]
    assert tracks(WAYS, [hops(3, 4, 5, 8)], [{5}], 2) == [[2, 2, 2]]


def test_a_way_back_is_a_turn():
    there, back, again = tracks(WAYS, [hops(3, 4, 3, 4)], [set()], 2)[0]
    assert back == 0
    assert {there, again} == {0, 1}


@pytest.mark.parametrize(("used", "cell"), [
    ([(0, 1), (4, 3)], 20 + 15 + 3),  # below the upper row to the right, above the middle one to the left
    ([(1, 0), (4, 3)], 2 + 15 + 3),  # above the upper row
    ([(0, 1), (5, 4)], 20 + 2 + 3),  # beside another column
    ([(0, 1), (7, 6)], 20 + 2 + 3),  # two rows away, half is enough
    ([(0, 3), (4, 1)], 15 + 2 + 3),  # left of the left column; left of the next
])
def test_a_cell_has_room_for_what_faces_each_other(used, cell):
    links = [(one, other) for one in range(9) for other in range(9)
             if np.abs(GRID[one] - GRID[other]).sum() == 1]
    reach = np.full(len(links), 2.0)
    for link, points in zip(used, (20, 15), strict=True):
        reach[links.index(link)] = points
    starts, ends = (GRID[[link[end] for link in links]] for end in (0, 1))
    assert least_cell(starts, ends, reach, [links.index(link) for link in used], 3.0) == cell


@pytest.mark.parametrize(("way", "corners"), [
    (hops(0, 1, 2), [(0, 0.1), (1, 0.1), (1, 0.1), (2, 0.1)]),
    (hops(0, 1, 4), [(0, 0.1), (0.9, 0.1), (0.9, 1)]),
    (hops(3, 4, 1), [(0, 1.1), (1.1, 1.1), (1.1, 0)]),
    (hops(0, 1, 0), [(0, 0.1), (1, 0.1), (1, -0.1), (0, -0.1)]),
])
def test_a_path_is_to_the_right_of_its_hops(way, corners):
    assert np.allclose(bend([WAYS[hop] for hop in way], [0.1] * len(way)), corners)


def test_the_outer_corner_of_a_sharp_turn_is_near():
    corners = bend([np.array([[0.0, 0], [5, 0]]), np.array([[5.0, 0], [0, -1]])], [0.1, 0.1])
    assert len(corners) == 4
    assert max(np.hypot(*(corner - (5, 0))) for corner in corners[1:-1]) < 0.15


def test_a_path_goes_on_at_the_other_side_of_a_box():
    into, out = np.array([[0.0, 0], [2, 0]]), np.array([[3.0, 1], [5, 1]])
    assert np.allclose(bend([into, out], [0.1, 0.1]), [(0, 0.1), (2, 0.1), (3, 1.1), (5, 1.1)])
