"""The sweeps and figures that come with the sources can be run as they stand there."""

from pathlib import Path

import pytest

from wormcast.sim.experiments.figure import curves_of, find_figure
from wormcast.sim.experiments.sweep import points, read

FIGURES = ("mine.toml",)
EXAMPLES = sorted((Path(__file__).parents[4] / "examples").glob("*.toml"))


def test_there_are_examples():
    assert "boppana_8x8.toml" in [file.name for file in EXAMPLES]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_all_points_of_an_example_are_allowed(file, monkeypatch):
    """`points` checks each; running them takes minutes. Files that they name lie beside them."""
    monkeypatch.chdir(file.parent)
    if file.name in FIGURES:
        assert all(curve.point(4).resolved for curve in curves_of(find_figure(str(file))).values())
    else:
        assert len(points(read(file))) > 1
