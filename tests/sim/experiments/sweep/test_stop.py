"""Ctrl-C stops the points that are under way, also where the process goes on, as in a notebook."""

import threading
import time

import pytest

import wormcast as wc
from wormcast.sim.common.stop import Stop
from wormcast.sim.experiments.load import Experiment
from wormcast.sim.experiments.sweep import MemoryStore, points, run_missing, sweep_of

LONG = {"topology": "mesh:3x3", "scheme": "dual-path", "rate": [0.01, 0.02], "destinations_mean": 3.0, "seeds": 2,
        "buffer": 5, "cycles": 10**9}


class Interrupted(Exception):
    """Stands for Ctrl-C in the thread that waits for points."""


@pytest.mark.parametrize("until", [False, True])
def test_points_under_way_stop(until, monkeypatch):
    begun, run = threading.Event(), Experiment.run

    def running(experiment, *words):
        begun.set()
        run(experiment, *words)

    monkeypatch.setattr(Experiment, "run", running)
    before, store = {*threading.enumerate()}, MemoryStore()
    every = points(sweep_of("sweep", LONG | {"until_interval": until, "precision": 1e-6 if until else 0.05})[0])
    monkeypatch.setattr("wormcast.sim.experiments.sweep.local.as_completed", lambda running: interrupt(begun))
    with pytest.raises(Interrupted):
        next(run_missing(every, store))
    end = time.monotonic() + 60  # a point would take hours
    while {*threading.enumerate()} - before:  # threads that are being started cannot be joined
        assert time.monotonic() < end
        time.sleep(0.05)
    assert not store


def interrupt(begun):
    begun.wait()
    raise Interrupted


def test_a_point_that_was_stopped_has_no_result():
    [point, _] = points(sweep_of("sweep", LONG)[0])
    stop = Stop()
    stop.requested = True
    with pytest.raises(KeyboardInterrupt):
        point.run(1, stop)


def test_a_sweep_that_is_not_stopped_ends():
    assert len(wc.sweep(LONG | {"cycles": 2000})) == 2
