"""Curves that hide one another are told apart, and no line stands for what was not measured."""

import math

import numpy as np
import pytest
from matplotlib import rc_context

from wormcast.sim.common.curve_frame import curve_settings
from wormcast.sim.common.curve_marks import CurveMarks, draw_curves
from wormcast.sim.common.frame import POINTS, blank_figure

NAN = math.nan


def drawn(*curves, saturated=(), kind="full", **options):
    """Draw curves, each a list of (x, y), into axes from 0 to 10, and give these. The first one is saturated at x, and
    has markers of the kind ``kind``."""
    with rc_context(curve_settings()):
        axes = blank_figure(4, 3).subplots()
        axes.set(xlim=(0, 10), ylim=(0, 10))
        draw_curves(axes, [CurveMarks({"color": f"C{number}", "marker": "os^"[number], "linestyle": "-"},
                                      [x for x, _ in points], [y for _, y in points],
                                      ["full" if number else kind] * len(points),
                                      saturated=() if number else saturated)
                           for number, points in enumerate(curves)], **options)
    return axes


def lines(axes):
    return [line for line in axes.lines if line.get_zorder() == 2]


def markers(axes):
    """Give the places of markers on the page, and their places in the data."""
    found = [line for line in axes.lines if line.get_zorder() == 3]
    return (np.array([line.get_transform().transform(line.get_xydata())[0] for line in found]),
            np.array([axes.transData.transform(line.get_xydata())[0] for line in found]))


def test_curves_that_are_one_line_alternate_in_colour():
    same = [(1, 2), (5, 3), (9, 4)]
    axes = drawn(same, same, [(1, 8), (5, 8), (9, 8)])
    patterns = {}
    for line in lines(axes):
        patterns.setdefault(line.get_color(), set()).add(str(line._dash_pattern))
    assert len(patterns["C0"]) == len(patterns["C1"]) == len(patterns["C2"]) == 1
    assert len({str(one) for one in patterns.values()}) == 3
    assert patterns["C2"] == {"(0.0, None)"}


@pytest.mark.parametrize(("diagonal", "points"), [(False, [(2, 2), (8, 2)]), (True, [(2, 2), (8, 8)])])
def test_markers_that_hide_one_another_stand_side_by_side(diagonal, points):
    """Along the x axis, or along the diagonal so that none leaves it."""
    axes = drawn(points, points, [(2, 9), (8, 5)], diagonal=diagonal)
    places, true = markers(axes)
    shifts = (places - true).reshape(3, 2, 2)
    assert np.allclose(shifts[0], -shifts[1])
    assert np.allclose(shifts[2], 0)
    assert (np.hypot(*shifts[0].T) > 1).all()
    direction = np.subtract(*axes.transData.transform([(1, 1), (0, 0)])) if diagonal else np.array([1, 0])
    assert np.allclose(shifts[..., 0] * direction[1], shifts[..., 1] * direction[0])
    assert not any(line.get_clip_on() for line in axes.lines if line.get_zorder() == 3)


@pytest.mark.parametrize("nudge", [0, 0.01, 0.03, 0.1, 0.13, -0.03, -0.1])
def test_markers_side_by_side_do_not_touch(nudge):
    """Also where the places of the curves differ slightly."""
    curves = [[(2 + number * nudge, 2), (8 + number * nudge, 2)] for number in range(3)]
    axes = drawn(*curves)
    places, _ = markers(axes)
    mark = next(line for line in axes.lines if line.get_zorder() == 3)
    wide = (mark.get_markersize() + mark.get_markeredgewidth()) * axes.figure.dpi / POINTS
    assert (np.diff(np.sort(places[:, 0]).reshape(2, 3)) >= wide).all()


def test_many_markers_stay_near_their_place_and_inside_the_frame():
    with rc_context(curve_settings()):
        axes = blank_figure(4, 3).subplots()
        axes.set(xlim=(0, 10), ylim=(0, 10))
        draw_curves(axes, [CurveMarks({"color": "C0", "marker": "o", "linestyle": "-"}, [5, 10], [2, 2],
                                      ["full"] * 2) for _ in range(18)])
    places, true = markers(axes)
    size = next(line for line in axes.lines if line.get_zorder() == 3).get_markersize() * axes.figure.dpi / POINTS
    shifts = np.abs(places - true)[:, 0]
    assert size < shifts.max() <= 1.51 * size
    assert len(np.unique(places[true[:, 0] < true[:, 0].max(), 0].round(3))) == 18
    assert places[:, 0].max() <= axes.transAxes.transform((1, 1))[0] + 1e-6


def test_markers_whose_intervals_overlap_move_little():
    with rc_context(curve_settings()):
        axes = blank_figure(4, 3).subplots()
        axes.set(xlim=(0, 10), ylim=(0, 10))
        draw_curves(axes, [CurveMarks({"color": "C0", "marker": "o", "linestyle": "-"}, [5], [up], ["full"], [2])
                           for up in (4, 6)])
    places, true = markers(axes)
    size = next(line for line in axes.lines if line.get_zorder() == 3).get_markersize() * axes.figure.dpi / POINTS
    assert 0 < np.abs(places - true).max() < 0.2 * size


def test_a_half_open_marker_lies_on_top():
    """Three curves have markers at many places, so that those side by side overlap."""
    line = [(x / 10, 2) for x in range(1, 100)]
    found = [one.get_fillstyle() for one in drawn(line, line, line, kind="half").lines if one.get_zorder() == 3]
    assert found == ["full"] * 198 + ["left"] * 99


@pytest.mark.parametrize(("half", "marks"), [(3, ["_"]), (8, ["_", "^"])])
def test_an_interval_that_leaves_the_frame_has_an_arrowhead(half, marks):
    """A bar without a cap at its end would look like a whole one."""
    with rc_context(curve_settings()):
        axes = blank_figure(4, 3).subplots()
        axes.set(xlim=(0, 10), ylim=(0, 10))
        draw_curves(axes, [CurveMarks({"color": "C0", "marker": "o", "linestyle": "-"}, [5], [6], ["full"], [half])])
    ends = [line for line in axes.lines if line.get_zorder() == 2.5]
    assert [line.get_marker() for line in ends] == ["None", *marks]
    assert {"_": [3, 9], "^": [10]}[marks[-1]] == ends[-1].get_ydata().tolist()


def test_a_saturated_point_is_above_each_line():
    """The other curve is lower at both ends, and the line would pass above the measured point between."""
    other = [(1, 2), (9, 6)]
    assert len(lines(drawn([(1, 5), (5, 3)], other))) == 2
    assert [line.get_color() for line in lines(drawn([(1, 5), (5, 3)], other, saturated=[9]))] == ["C0"]


@pytest.mark.parametrize(("gap", "joined"), [
    ([(1, 2), (9, 2)], True),  # below the other curve's point as at both ends
    ([(1, 4), (9, 4)], False),  # above it, though below the other curve at both ends
    ([(1, 2), (5, NAN), (9, 2)], False),
])
def test_no_line_over_a_gap_reverses_an_order(gap, joined):
    axes = drawn([(1, 5), (5, 3), (9, 5)], gap)
    assert [line.get_color() for line in lines(axes)] == ["C0", "C0", *["C1"] * joined]


def test_points_that_are_close_elsewhere_do_not_squeeze_markers_side_by_side():
    """The second pair has neighbours of its curves near by, the first pair has not."""
    curve = [(1, 2), (5, 3), (5.16, 3), (9, 4)]
    places, true = markers(drawn(curve, curve))
    shifts = np.abs(places - true)[:, 0].reshape(2, 4)
    assert np.allclose(shifts[:, 0], shifts[:, 3])
    assert (shifts[:, 1] < 0.7 * shifts[:, 0]).all()


def test_only_markers_on_the_diagonal_stand_side_by_side_along_it():
    """A marker that is moved along the diagonal beside it would show more delivered flits."""
    curve = [(2, 2), (8, 5)]
    places, true = markers(drawn(curve, curve, diagonal=True))
    moved = np.abs(places - true).reshape(2, 2, 2)
    assert (moved[:, 0] > 1).all()
    assert (moved[:, 1, 0] > 1).all()
    assert np.allclose(moved[:, 1, 1], 0)
