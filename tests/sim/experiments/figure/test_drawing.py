"""Limits of the axes in plots of figures."""

from types import SimpleNamespace

import pytest

from wormcast.sim.experiments.figure.definition import ALL
from wormcast.sim.experiments.figure.drawing import _top


@pytest.mark.parametrize(("mean", "half", "top"), [(100.0, 40.0, 147.0), (100.0, 300.0, 210.0), (100.0, None, 105.0)])
def test_intervals_are_inside_of_the_frame(mean, half, top):
    """Half an interval that exceeds its mean counts as the mean."""
    curve = SimpleNamespace(figure=SimpleNamespace(latency=ALL), steady=[1],
                            results={1: {"latency": {"mean": mean, "half_width": half}}})
    assert _top([curve]) == pytest.approx(top)
