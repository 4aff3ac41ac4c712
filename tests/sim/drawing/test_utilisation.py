"""The picture of how busy links are: widths, colours and the scale."""

from itertools import pairwise

import numpy as np
import pytest

from wormcast.algorithms import topology
from wormcast.sim.drawing import utilisation_sheet
from wormcast.sim.drawing.utilisation import COLOURS, round_up


@pytest.mark.parametrize("shape", ["4x4", "8x8", "3x3x3"])
def test_nothing_that_is_written_overlaps(shape, legible):
    mesh = topology(f"mesh:{shape}")
    links = np.linspace(0, 0.37, len(mesh.links))
    sheet = utilisation_sheet(mesh, links, (np.zeros(mesh.nodes), np.ones(mesh.nodes) / 4), "flits per cycle",
                              ["what it is of", "and how it was measured"])
    assert {"flits per cycle", "0.40", "what it is of"} <= set(legible(sheet))
    assert sheet.width == pytest.approx(3.4)


def test_arrows_of_neighbours_do_not_meet_in_three_dimensions():
    """Between two lines of links up and down both have room for their busiest arrows."""
    mesh = topology("mesh:3x3x3")
    sheet = utilisation_sheet(mesh, np.ones(len(mesh.links)), (np.ones(27), np.ones(27)), "flits", [])
    arrows = [path.vertices for collection in sheet.axes.collections if collection.get_zorder() == 2
              for path in collection.get_paths()]
    upright = sorted((one[:, 0].min(), one[:, 0].max()) for one in arrows if np.ptp(one[:, 1]) > 1)
    apart = sorted({(round(left, 3), round(right, 3)) for left, right in upright})
    assert len(apart) == 2 * 9  # in each of the nine lines the two directions, one above the other in all planes
    assert all(right < left for (_, right), (left, _) in zip(apart[1:-1:2], apart[2::2], strict=True))


def test_left_halves_of_nodes_are_the_first_numbers_and_right_halves_the_second():
    mesh = topology("mesh:2x2")
    sheet = utilisation_sheet(mesh, np.zeros(len(mesh.links)), (np.zeros(4), np.ones(4)), "flits", [])
    halves = [collection for collection in sheet.axes.collections if collection.get_zorder() == 3]
    dark = {tuple(collection.get_facecolor()[0, :3] < 0.5) for collection in halves}
    assert len(dark) == 2
    for collection in halves:
        centres = [np.mean([path.vertices[:, 0].min(), path.vertices[:, 0].max()]) for path in collection.get_paths()]
        to_the_right = all(any(0 < middle - x < 0.5 for x in (0, 1)) for middle in centres)
        assert (collection.get_facecolor()[0, :3].sum() < 1) == to_the_right


def test_colours_become_darker_all_the_way():
    lights = [sum(weight * int(colour[at:at + 2], 16) for weight, at in ((0.3, 1), (0.59, 3), (0.11, 5)))
              for colour in COLOURS]
    assert lights == sorted(lights, reverse=True)
    assert min(one - other for one, other in pairwise(lights)) > 20


@pytest.mark.parametrize(("value", "end"), [
    (0, 1), (0.1, 0.1), (0.1003, 0.12), (0.39, 0.4), (0.81, 1), (0.0021, 0.003)])
def test_the_scale_ends_at_a_round_number(value, end):
    assert round_up(value) == pytest.approx(end)
