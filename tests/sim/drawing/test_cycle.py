"""The picture of a cycle: arrows on links, squares at consumption channels, discs at slots, numbered in its order."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.common.text import resource_text
from wormcast.sim.drawing import cycle_sheet, layout_of

CYCLES = [("4x4", "dual-path", 0), ("8x8", "dual-path", 0), ("8x8", "e-mcast", 0), ("3x3x3", "dual-path", 0),
          ("4x4", "dual-path", 2)]


@pytest.mark.parametrize(("shape", "scheme", "slots"), CYCLES)
def test_each_resource_has_its_number_where_it_is(shape, scheme, slots, legible):
    mesh = topology(f"mesh:{shape}")
    resources = [step.resource for step in check(mesh, SCHEMES[scheme], consumption=1, slots=slots).cycle]
    assert {one.split(":")[0] for one in resources} == {"link", "cons", *(["retrans"] if slots else [])}
    sheet = cycle_sheet(mesh, resources, ["what it is"])
    said = legible(sheet)
    listed = ", ".join(f"{number}\xa0{resource_text(mesh, one)}" for number, one in enumerate(resources, 1))
    assert listed in " ".join(said)
    places = layout_of(mesh).nodes
    at = {int(text.get_text()): np.array(text.get_position()) for text in sheet.axes.texts if text.get_zorder() == 5}
    assert set(at) == set(range(1, len(resources) + 1))
    for number, resource in enumerate(resources, 1):
        kind, *ends = resource.replace(">", ":").split(":")
        if kind == "link":
            start, end = places[int(ends[0])], places[int(ends[1])]
            way = end - start
            across = way[0] * (at[number] - start)[1] - way[1] * (at[number] - start)[0]
            assert across > 0  # to the right of where it leads, as y points down
            assert np.hypot(*(at[number] - (start + end) / 2)) * sheet.cell < 8
        else:
            assert np.hypot(*(at[number] - places[int(ends[0])])) * sheet.cell == pytest.approx(8.4)
    tips = [patch.get_xy()[3] for patch in sheet.axes.patches]
    leading_to = [int(one.split(">")[1].split(":")[0]) for one in resources if one.startswith("link")]
    assert [int(np.hypot(*(places - tip).T).argmin()) for tip in tips] == leading_to


def test_several_channels_of_a_node_are_apart(legible):
    legible(cycle_sheet(topology("mesh:3x3"), [*(f"cons:4:{channel}" for channel in range(4)), "link:4>5:0",
                                               "link:5>4:0", "link:4>1:0"], []))


def test_without_a_cycle_the_network_is_drawn_alone(legible):
    sheet = cycle_sheet(topology("mesh:4x4"), [], ["nothing"])
    assert "no cycle" in legible(sheet)
    assert not sheet.axes.patches


def test_the_same_cycle_gives_the_same_bytes(tmp_path):
    for name in "ab":
        sheet = cycle_sheet(topology("mesh:3x3"), ["link:0>1:*", "cons:1:0"], ["twice"])
        save_figure(sheet.figure, tmp_path / name, "svg")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
