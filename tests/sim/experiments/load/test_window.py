"""A window that moves along the messages changes nothing of what becomes of them; lanes know nothing of each other."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source

from .windows import require_flits_conserved, through

TRAFFIC = Traffic(0.04, destinations_mean=3, multicast_fraction=0.5, length=12)
SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},  # worms that wait for receipts, and tasks that wait for the processor
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
}


def traffic_through(scheme, seeds, chunk, cycles, keep=False):
    """Return the outcomes of these seeds' messages, as `through` does."""
    network = Network(topology("mesh:4x4"), SCHEMES[scheme], Configuration(**SETTINGS[scheme]), len(seeds))
    return through(network, [Source(TRAFFIC, network.topology, seed) for seed in seeds], chunk, cycles, keep)


@pytest.mark.parametrize("scheme", SETTINGS)
def test_a_window_is_exact(scheme):
    whole, all_at_once, _ = traffic_through(scheme, [1, 2], 6000, 6000, keep=True)
    cut, window, largest = traffic_through(scheme, [1, 2], 150, 6000)
    assert len(whole) > 300
    assert np.array_equal(np.sort(whole), np.sort(cut))
    for name, counts in all_at_once.counts().items():
        assert np.array_equal(counts, window.counts()[name]), name
    assert largest < len(whole) / 3


@pytest.mark.parametrize("scheme", SETTINGS)
def test_lanes_know_nothing_of_each_other(scheme):
    together, *_ = traffic_through(scheme, [5, 6, 7], 500, 3000)
    for lane, seed in enumerate([5, 6, 7]):
        alone, *_ = traffic_through(scheme, [seed], 500, 3000)
        mine = together[together["lane"] == lane].copy()
        mine["lane"] = 0
        assert np.array_equal(np.sort(mine), np.sort(alone))


def test_narrow_flits_that_do_not_tell_their_worm_yet_are_not_outstanding():
    network = Network(topology("mesh:4x4"), SCHEMES["individual"], Configuration(flit_width=8), 2)
    window = MessageWindow(network, [Source(TRAFFIC, network.topology, seed) for seed in (1, 2)], 600)
    engine = BulkEngine(network, window.host, measure=True)
    unnamed, consumed = 0, np.zeros(2, np.int64)
    for _ in range(600):
        engine.run(1, beyond=True)
        consumed += take(engine.meter).flits[network.fabric.rows("host")].sum(axis=0)
        wanted, there = window.audit()
        assert np.array_equal(wanted["wanted"], consumed + there["outstanding"])
        unnamed += int(window.host.unnamed.sum())
    assert unnamed > 10


def test_flits_are_conserved():
    network = Network(topology("mesh:4x4"), SCHEMES["dual-path"], Configuration(consumption=2), 2)
    require_flits_conserved(network, TRAFFIC, 3000)
