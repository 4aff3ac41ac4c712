"""The picture of a network under load: every link in its place, as busy as it is."""

import dataclasses
import re

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Traffic, load
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.experiments.load import load_sheet

MESH = topology("mesh:3x4")
DARKEST = "#67000d"


@pytest.fixture(scope="module")
def result():
    return load(MESH, SCHEMES["dual-path"], Traffic(0.02, length=8, destinations_mean=3), cycles=3000, warmup=0,
                seeds=(1,), configuration=Configuration(consumption=2))


def svg(result, tmp_path):
    file = tmp_path / "drawn"
    save_figure(load_sheet(result).figure, file, "svg")
    return file.read_text()


def hot(result, row):
    """The result with no flits but those of one link, one in every fifth cycle."""
    links = {kind: np.zeros_like(flits) for kind, flits in result.links.items()}
    links["network"][row] = 600
    return dataclasses.replace(result, links=links)


def arrows(text):
    """Corners of each arrow in the order in which they are drawn, and its colour."""
    group = text[text.rindex('id="PolyCollection_'):text.index('id="PatchCollection_1"')]
    return [(np.array([[float(x), -float(y)] for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", corners)]), colour)
            for corners, colour in re.findall(r'<path d="([^"]*)"[^>]*style="fill: (#\w+)', group)]


def test_the_busiest_link_is_drawn_last_and_darkest(result, tmp_path):
    """All links are there; the hot one leads from 1.1 to 1.2, beside the line between them, below it on the page."""
    row = MESH.links[:, [0, 2]].tolist().index([MESH.node("1.1"), MESH.node("1.2")])
    drawn = arrows(svg(hot(result, row), tmp_path))
    assert len(drawn) == len(MESH.links) == 34
    corners, colour = drawn[-1]
    assert [one for _, one in drawn].count(DARKEST) == 1
    assert colour == DARKEST
    tip, tail = corners[3], corners[0]
    assert tip[0] - tail[0] > 10
    assert len({round(corner[0] - tail[0], 3) for corner in corners[:7]}) == 3  # tail, neck and tip: it points east
    widths = [np.ptp(corners[:, 1]) if np.ptp(corners[:, 0]) > np.ptp(corners[:, 1]) else np.ptp(corners[:, 0])
              for corners, _ in drawn]
    assert max(widths) == widths[-1] > 2 * widths[0]


def test_the_caption_says_what_it_is(result, tmp_path):
    text = svg(result, tmp_path)
    first, second, flits = result.busiest("network")
    assert "<!-- dual-path on mesh:3x4, 0.02 flits created per node and cycle" in text
    assert f"most {flits:.3f} from {MESH.node_name(first)} to {MESH.node_name(second)}" in text
    assert "flits per cycle on a link" in text


def test_the_caption_names_what_tells_two_pictures_apart(result, tmp_path):
    ring = load(topology("ring:4"), SCHEMES["individual"], Traffic(0.1, length=8, destinations_mean=1), cycles=400,
                warmup=0, seeds=(1,), configuration=Configuration(ties="signed", ejection="all", vc_classes="none"))
    text = " ".join(re.findall("<!-- (.*?) -->", svg(ring, tmp_path)))
    assert "multicasts of 8 flits to 1 node" in text
    hardware = "2 VCs x 4 flits, 2 consumption channels an ejection port, ejection all, vc-classes none, ties signed"
    assert f"{hardware}, seed 1, 400 cycles, the first 0 not counted" in text
    assert "2 consumption channels a node, seeds 5 to 7, each 3000 cycles" in " ".join(
        re.findall("<!-- (.*?) -->", svg(dataclasses.replace(result, seeds=(5, 6, 7)), tmp_path)))
    assert "ejection" not in svg(result, tmp_path)


def test_the_same_result_gives_the_same_bytes(result, tmp_path):
    assert svg(result, tmp_path) == svg(result, tmp_path)
    save_figure(load_sheet(result).figure, tmp_path / "png", "png")
    assert (tmp_path / "png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("shape", ["1x2", "1x40", "20x3", "3x3x3"])
def test_any_mesh_fits_without_traffic(result, tmp_path, shape):
    mesh = topology(f"mesh:{shape}")
    own = [(node, 0) for node in range(mesh.nodes)]
    ends = {"network": mesh.links[:, [0, 2]].tolist(), "injection": own, "consumption": own}
    links = {kind: np.zeros(len(rows), int) for kind, rows in ends.items()}
    text = svg(dataclasses.replace(result, topology=mesh, links=links, ends=ends, slices=result.slices[:0]), tmp_path)
    width, height = map(float, re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups())
    assert len(arrows(text)) == len(mesh.links)
    xs = np.concatenate([corners for corners, _ in arrows(text)])
    assert 0 < xs[:, 0].min() < xs[:, 0].max() < width
    assert 0 < -xs[:, 1].max() < -xs[:, 1].min() < height
