"""The picture of a plan, read back from what is drawn: hops, directions, visiting order, and who lies beside whom."""

import functools
import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.common.frame import beside as caption_beside
from wormcast.sim.drawing import layout_of, paths_sheet

PLANS = {
    "4x4": ("1.1", "0.0,0.3,2.2,3.0,3.3"),
    "8x8": ("3.2", "5.0,3.1,0.4,1.4,0.5,1.5,5.5,7.7,6.2,3.6"),
    "3x3x3": ("1.1.1", "0.0.0,2.2.2,0.2.1,2.0.1,1.0.2,2.1.0"),
}
FLAT_ALONE, DEEP_ALONE = ("multipath", "multipath-lmn"), ("sp", "gtdmpm")
ON_MESHES = [name for name in SCHEMES if not SCHEMES[name].is_tree
             and (not SCHEMES[name].kinds or "mesh" in SCHEMES[name].kinds)]
CASES = [(shape, scheme) for shape in PLANS for scheme in ON_MESHES
         if scheme not in (FLAT_ALONE if shape == "3x3x3" else DEEP_ALONE)]


def planned(shape, scheme):
    return plan(topology(f"mesh:{shape}"), scheme, *PLANS[shape])


@functools.cache
def drawn(shape, scheme):
    """A plan and its picture, for all tests that read it."""
    made = planned(shape, scheme)
    return made, paths_sheet(made)


def arrows(sheet):
    """Middle and direction of each arrow, in cells."""
    found = []
    for collection in sheet.axes.collections:
        for path in collection.get_paths():
            if collection.get_zorder() == 5:
                tip, *neck = path.vertices[:3]
                neck = np.mean(neck, axis=0)
                found.append(((tip + neck) / 2, (tip - neck) / np.linalg.norm(tip - neck)))
    return found


def beside(found, sheet, made):
    """The link that each arrow lies beside, to its right, and how far, in points."""
    places = layout_of(made.topology).switches
    links = made.topology.links[:, [0, 2]]
    start, end = places[links[:, 0]], places[links[:, 1]]
    length = np.linalg.norm(end - start, axis=1)
    way = (end - start) / length[:, None]
    right = np.stack([-way[:, 1], way[:, 0]], axis=1)
    for middle, direction in found:
        along = ((middle - start) * way).sum(axis=1) / length
        aside = ((middle - start) * right).sum(axis=1)
        candidates = np.flatnonzero((way @ direction > 0.999) & (along > 0.1) & (along < 0.9) & (aside > 0))
        nearest = candidates[np.argmin(aside[candidates])]
        yield tuple(links[nearest].tolist()), aside[nearest] * sheet.cell


def lines(sheet):
    """The worms' lines, in cells, with their colours and dashes; those of the discs and the source left out."""
    return [line for line in sheet.axes.lines if line.get_marker() == "None"]


def distance(line, place):
    """Return the distance of a place from a line."""
    first, second = line[:-1], line[1:]
    length = ((second - first) ** 2).sum(axis=1)
    share = np.clip(((place - first) * (second - first)).sum(axis=1) / np.where(length, length, 1), 0, 1)
    return np.linalg.norm(first + share[:, None] * (second - first) - place, axis=1).min()


@pytest.mark.parametrize(("shape", "scheme"), [*CASES, ("4x4", "tree"), ("8x8", "tree")])
def test_every_hop_has_its_arrow_and_no_two_are_in_the_same_place(shape, scheme):
    made, sheet = drawn(shape, scheme)
    found = list(beside(arrows(sheet), sheet, made))
    assert Counter(link for link, _ in found) == Counter(hop for worm in made.worms for hop in worm.links)
    for (one, near), (other, far) in combinations(found, 2):
        assert one != other or abs(near - far) > 2.3, one


@pytest.mark.parametrize(("shape", "scheme"), CASES)
def test_destinations_have_their_number_and_the_source_its_square(shape, scheme, legible):
    made, sheet = drawn(shape, scheme)
    legible(sheet)
    places = layout_of(made.topology).nodes
    numbers = {tuple(text.get_position()): text.get_text() for text in sheet.axes.texts if text.get_zorder() == 7}
    if all(len(worm.destinations) == 1 for worm in made.worms):
        step = []
        for worm in made.worms:
            step.append(worm.rank + 1 + (0 if worm.after is None else step[worm.after]))
        expected = {worm.destinations[0]: step[worm.id] for worm in made.worms}
    else:
        expected = {node: order for worm in made.worms for order, node in enumerate(worm.destinations, 1)}
    assert numbers == {tuple(places[node]): str(number) for node, number in expected.items()}
    squares = [line.get_xydata()[0] for line in sheet.axes.lines if line.get_marker() == "s"]
    assert np.array_equal(squares, places[[made.source]])


@pytest.mark.parametrize(("shape", "scheme"), CASES)
def test_a_worm_goes_from_its_source_to_its_last_destination_and_around_what_is_not_its_own(shape, scheme):
    made, sheet = drawn(shape, scheme)
    places = layout_of(made.topology).nodes
    marked = {made.source, *made.destinations}
    shown = lines(sheet)
    for worm in made.worms:
        ends = places[[worm.source, worm.destinations[-1]]]
        path = next(one for one in shown if np.array_equal(one.get_xydata()[[0, -1]], ends))
        own = [one.get_xydata() for one in shown if one.get_color() == path.get_color()]
        for node in marked:
            if node in (worm.source, *worm.destinations):
                assert min(distance(one, places[node]) for one in own) * sheet.cell < 0.01
            else:
                assert distance(path.get_xydata(), places[node]) * sheet.cell > 5, (worm, node)


def test_worms_differ_in_colour_and_in_dashes():
    made = planned("8x8", "e-mcast")
    looks = {line.get_color(): str(line._unscaled_dash_pattern) for line in lines(paths_sheet(made))
             if len(line.get_xydata()) > 2}
    assert len(looks) == made.copies == 6
    assert len(set(looks.values())) == 4


def test_one_column_of_a_paper_is_enough_for_64_nodes():
    for scheme in (scheme for shape, scheme in CASES if shape == "8x8"):
        assert drawn("8x8", scheme)[1].width == pytest.approx(3.4)


def test_more_worms_on_a_link_take_more_room_and_too_many_are_refused():
    mesh = topology("mesh:8x8")
    sheet = paths_sheet(plan(mesh, "individual", 0, range(1, 24)))
    assert sheet.width > 3.4
    with pytest.raises(WormcastError, match=r"plot: worms of individual cannot be drawn: \d+ lines would"):
        paths_sheet(plan(mesh, "individual", 0, range(1, 64)))


def test_what_is_drawn_is_said_with_what_had_to_be_reconstructed(legible):
    said = legible(paths_sheet(planned("8x8", "u-mesh")))
    assert "u-mesh (reconstructed) on mesh:8x8, from 3.2 to 10 nodes" in said
    assert {"step 1", "step 2", "step 3", "step 4", "source"} <= set(said)
    said = legible(paths_sheet(planned("8x8", "dual-path")))
    assert "2 worms, 32 hops, 32 channels" in said
    assert {"worm 0", "worm 1"} <= set(said)


@pytest.mark.parametrize("name", ["dragonfly:p=2,a=4,h=2", "dragonfly:p=4,a=2,h=1", "dragonfly:p=8,a=2,h=1",
                                  "cmesh:2x2x4", "fat-tree:k=4,levels=2"])
def test_names_of_a_routers_nodes_lie_apart(name, legible):
    network = topology(name)
    said = legible(paths_sheet(plan(network, "individual", 0, [network.nodes - 1, network.nodes // 2])))
    assert {network.node_name(node) for node in range(network.nodes)} <= set(said)


def test_names_are_above_lines_and_have_a_halo():
    sheet = paths_sheet(plan(topology("dragonfly:p=1,a=3,h=1"), "binomial", 0, range(1, 12)))
    highest = max(drawn.get_zorder() for drawn in [*sheet.axes.lines, *sheet.axes.collections])
    names = [text for text in sheet.axes.texts if text.get_text().count(".") == 2]
    assert len(names) == 12
    for text in names:
        assert text.get_zorder() > highest
        assert text.get_path_effects()


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_plan_gives_the_same_bytes(tmp_path, form):
    made = planned("4x4", "multipath")
    for name in "ab":
        save_figure(paths_sheet(made).figure, tmp_path / name, form)
    first, second = ((tmp_path / name).read_bytes() for name in "ab")
    assert first == second
    assert b"<dc:date>" not in first
    assert re.match(b"<.xml|.PNG", first)


@pytest.mark.parametrize(("network", "scheme", "destinations", "said"), [
    ("torus:4x4", "u-torus", "0.1,0.2,1.1,2.2,3.3,1.3,2.0", True),
    ("torus:4x4", "individual", "0.1,0.2", False),  # a step has one worm
    ("torus:4x4", "dcf", "all", False)])  # a node sends several worms in a step
def test_the_caption_says_whether_worms_of_one_step_have_different_sources(network, scheme, destinations, said):
    caption = caption_beside(paths_sheet(plan(topology(network), scheme, "0.0", destinations)).figure).caption
    assert any(line.endswith("; worms with the same number leave different nodes") for line in caption) is said
