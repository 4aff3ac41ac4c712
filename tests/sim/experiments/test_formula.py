"""Latencies of single unicasts, from which formulas take their times."""

import pytest

from wormcast.algorithms import topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.formula import UnloadedLatency, unloaded_latency


@pytest.mark.parametrize("name", ["mesh:1x3", "mesh:2x4", "ring:4"])
def test_a_hop_takes_three_cycles(name):
    assert unloaded_latency(topology(name), Configuration(), 8) == UnloadedLatency(hop=3, c=16)


@pytest.mark.parametrize("name", ["mesh:3x2", "ring:3", "torus:3x3", "min:b=2,stages=2", "irregular:seed=1"])
def test_networks_without_nodes_at_one_and_two_hops_have_none(name):
    assert unloaded_latency(topology(name), Configuration(), 8) is None
