"""A window that moves along the messages changes nothing of what becomes of them; lanes know nothing of each other."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.host import check_receipts
from wormcast.sim.load.source import Source
from wormcast.sim.load.traffic import Traffic
from wormcast.sim.load.window import Window

TRAFFIC = Traffic(0.04, destinations_mean=3, multicast_fraction=0.5, length=12)
SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},  # worms that wait for receipts, and tasks that wait for the processor
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
}


def through(scheme, seeds, chunk, cycles, keep=False):
    """What became of the messages, in windows of so many cycles; ``keep``: nothing is dropped."""
    network = Network(topology("mesh:4x4"), SCHEMES[scheme], Configuration(**SETTINGS[scheme]), len(seeds))
    window = Window(network, [Source(TRAFFIC, network.topology, seed) for seed in seeds], chunk)
    engine, done, largest = BulkEngine(network, window.host), [], 0
    for start in range(0, cycles, chunk):
        if start:
            window.extend(start + chunk)
        engine.host = window.host
        engine.run(chunk, beyond=True)
        check_receipts(window.host)
        if not keep:
            done.append(window.take_done())
        largest = max(largest, len(window.host.worms))
    rest = window.take_rest()
    return np.concatenate([*done, rest]), window, largest


@pytest.mark.parametrize("scheme", SETTINGS)
def test_a_window_is_exact(scheme):
    whole, all_at_once, _ = through(scheme, [1, 2], 6000, 6000, keep=True)
    cut, window, largest = through(scheme, [1, 2], 150, 6000)
    assert len(whole) > 300
    assert np.array_equal(np.sort(whole), np.sort(cut))
    for name, counts in all_at_once.counts().items():
        assert np.array_equal(counts, window.counts()[name]), name
    assert largest < len(whole) / 3


@pytest.mark.parametrize("scheme", SETTINGS)
def test_lanes_know_nothing_of_each_other(scheme):
    together, *_ = through(scheme, [5, 6, 7], 500, 3000)
    for lane, seed in enumerate([5, 6, 7]):
        alone, *_ = through(scheme, [seed], 500, 3000)
        mine = together[together["lane"] == lane].copy()
        mine["lane"] = 0
        assert np.array_equal(np.sort(mine), np.sort(alone))


def test_flits_are_conserved():
    """Created = consumed, on their way and waiting, at every moment."""
    network = Network(topology("mesh:4x4"), SCHEMES["dual-path"], Configuration(consumption=2), 2)
    window = Window(network, [Source(TRAFFIC, network.topology, seed) for seed in (1, 2)], 100)
    engine = BulkEngine(network, window.host)
    for end in range(100, 3001, 100):
        engine.host = window.host
        engine.run(100, beyond=True)
        window.take_done()
        counts = window.counts()
        due = np.zeros(2, np.int64)
        np.add.at(due, window.host.deliveries["node"] // 16, window.host.deliveries["due"])
        assert np.array_equal(counts["wanted"], counts["consumed"] + due)
        window.extend(end + 100)
