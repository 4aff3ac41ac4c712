"""Sums by stages, as worked out by hand."""

import numpy as np
import pytest

from wormcast.sim.experiments.load.stages import HEADS, HELD, TAKEN, WAITS, WALK, Stages


def stages(**changes):
    """Two seeds of two stages in 640 cycles, of which 10 were looked at; the second stage has two tokens."""
    sums = np.zeros((5, 2, 2), np.int64)
    sums[HEADS] = [[6, 2], [6, 2]]
    sums[WAITS] = [[3, 1], [3, 1]]
    sums[HELD] = [[5, 4], [5, 4]]
    sums[WALK] = [[3, 2], [3, 2]]
    sums[TAKEN] = [[64, 128], [64, 128]]
    given = {"sums": sums, "samples": np.array([10, 10]), "cycles": 640, "tokens": (1, 2),
             "accepted": np.array([0.4, 0.4])} | changes
    return Stages(**given)


@pytest.mark.parametrize(("what", "stage", "each"), [
    (WAITS, 0, 3.0), (HELD, 0, 5.0), (WALK, 0, 3.0), (WAITS, 1, 0.5), (WAITS, None, 4 / 3)])
def test_cycles_of_each_token_are_those_of_little(what, stage, each):
    assert stages().each(what, stage).mean == pytest.approx(each)


def test_means_are_over_samples():
    assert stages().mean(HELD).mean == pytest.approx(0.9)
    assert stages().mean(HEADS, 1).mean == pytest.approx(0.2)
    assert stages().early().mean == pytest.approx(0.75)


def test_the_ceiling_is_that_of_the_busiest_stage():
    # one token of the first stage is used 0.8 of the time, each of the second stage's two 0.3
    assert stages().ceiling().mean == pytest.approx(0.4 / 0.8)
    assert stages(tokens=(0, 2)).ceiling().mean == pytest.approx(0.4 / 0.3)
    assert stages(tokens=(0, 0)).ceiling().mean is None


def test_where_nothing_was_measured_nothing_is_said():
    none = stages(samples=np.array([0, 0]))
    assert {none.each(WAITS).mean, none.mean(HELD).mean, none.early().mean, none.ceiling().mean} == {None}
    mesh = stages(sums=np.zeros((5, 2, 0), np.int64), tokens=())
    assert {mesh.each(WAITS).mean, mesh.mean(HELD).mean, mesh.early().mean, mesh.ceiling().mean} == {None}
    assert mesh.table() == []
