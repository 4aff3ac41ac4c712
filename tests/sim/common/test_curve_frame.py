"""Curves of a picture differ in colour, line or marker."""

from itertools import combinations

import pytest

from wormcast.sim.common.curve_frame import line_style


@pytest.mark.parametrize("members", [1, 6, 7, 15])
def test_no_two_lines_of_a_family_look_alike(members):
    looks = [line_style("#336699", 0, member, members) for member in range(members)]
    for first, second in combinations(looks, 2):
        shades = abs(first["color"][0] - second["color"][0])
        assert first["linestyle"] != second["linestyle"] or shades > 0.1
    assert looks[0] == {"color": (0x33 / 255, 0x66 / 255, 0x99 / 255), "marker": "o", "linestyle": "-"}


def test_markers_tell_families_apart():
    assert len({line_style("#336699", family, 0, 1)["marker"] for family in range(12)}) == 12
