"""Routers that are stepped bit by bit, 512 at a time, do what those do that are stepped word by word."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.engines import bulk
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source

from .test_engines_agree import ALL_SCHEMES, OTHERS, QUICK, WAITING, check_draws


@pytest.mark.slow  # words agree with it, and bits with words below
def test_amaranth_agrees(monkeypatch):
    """All flits and credits of all routers and interfaces are the same in Amaranth's simulator: flits of two words, and
    a decoder that compares coordinates."""
    monkeypatch.setattr(bulk, "MANY", 1)
    check_draws((0, 1), 50, [QUICK[3], OTHERS[1]])


@pytest.mark.slow
def test_amaranth_agrees_in_60_draws(monkeypatch):
    """The same, over 60 draws of all hardware."""
    monkeypatch.setattr(bulk, "MANY", 1)
    check_draws(range(60), 80, [*QUICK, *WAITING, *ALL_SCHEMES])


def run(lanes, many, monkeypatch, cycles=400):
    monkeypatch.setattr(bulk, "MANY", many)
    mesh = topology("mesh:5x7")  # no row, and no lane, begins where a word of instances does
    configuration = Configuration(consumption=2).for_headers(mesh, SCHEMES["dual-path"], 6)
    network = Network(mesh, SCHEMES["dual-path"], configuration, lanes)
    traffic = Traffic(0.05, length=9, destinations_mean=6)
    window = MessageWindow(network, [Source(traffic, network.topology, seed) for seed in range(lanes)], cycles)
    engine = BulkEngine(network, window.host, measure=True)
    engine.run(cycles, beyond=True)
    return engine


def test_lanes_of_words_and_of_bits_are_the_same(monkeypatch):
    """Hosts, and all registers of all routers and interfaces, are the same after 400 cycles of heavy traffic."""
    words, bits = run(17, 10**9, monkeypatch), run(17, 1, monkeypatch)
    assert words.kernels["router"].vector_width != 512
    assert bits.kernels["router"].vector_width == 512
    for name, mine, other in zip(words.host._fields, words.host, bits.host, strict=True):
        assert (mine == other).all(), f"the hosts differ in {name}"
    assert (words.host.deliveries["received"] >= 0).sum() > 100
    mine, other = (take(engine.meter) for engine in (words, bits))
    assert mine.samples == other.samples > 0
    for counts in ("flits", "worms", "sampled"):
        assert np.array_equal(getattr(mine, counts), getattr(other, counts)), counts
        assert (getattr(mine, counts)[..., -1] > 0).any()
    for kind, kernel in words.kernels.items():
        for name in kernel.state:
            assert np.array_equal(words.register(kind, name), bits.register(kind, name)), (kind, name)


def test_many_routers_are_stepped_bit_by_bit():
    for shape, wide in (("mesh:8x8", False), ("mesh:12x16", False), ("mesh:16x16", True)):
        network = Network(topology(shape), SCHEMES["individual"], Configuration(consumption=1, vcs=1, buffer=2))
        assert (bulk.kernels(network)["router"].vector_width == 512) == wide, shape
