"""Comparison of `make bench`: Verilator's network must give every recorded word of the hosts' links."""

import pytest

from tools.bench.exported import WAYS, network_speeds, record
from wormcast.algorithms import WormcastError, topology

from .bench import bulk, send

CYCLES = 200


@pytest.fixture(scope="module")
def recorded():
    messages = [send(0, 1, 2, 3, length=9), send(3, 0, 1, length=5, at=4), send(1, 2, length=7, at=9)]
    engine = bulk("mesh:2x2", "dual-path", messages, vcs=1, buffer=2, flit_width=12)
    return engine.network, record(engine, CYCLES)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_verilator_answers_as_recorded_or_the_bench_ends(way, recorded):
    network, words = recorded
    speeds, built = network_speeds(network, way, {"some": words})
    assert speeds["some"] > 0
    assert built > 0
    sent = (words[:, :, 3] & 1).astype(bool)
    assert sent.sum() > 20
    spoilt = words.copy()
    cycle, node = (places[0] for places in sent.nonzero())
    spoilt[cycle, node, 4] ^= 1
    with pytest.raises(WormcastError, match="bench ended with 4"):
        network_speeds(network, way, {"some": spoilt})


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "min:b=2,stages=2", "irregular:switches=3,ports=5,nodes=5,connectivity=0.8,seed=4", "torus:3x3"])
def test_the_exported_network_of_any_kind_answers_as_the_run(name):
    """In every cycle and on every host's link, from tables written over their bus on."""
    nodes = topology(name).nodes
    messages = [send(source, node, length=3 + source, at=7 * source) for source in range(nodes) for node in range(nodes)
                if node != source]
    engine = bulk(name, "individual", messages, vcs=2, buffer=2, flit_width=12)
    words = record(engine, CYCLES)
    received = (words[:, :, 3] & 1).sum()
    assert received > 5 * nodes
    network_speeds(engine.network, "hierarchical", {"some": words})
