"""Irregular networks: connected, without self-links, and the same for ever."""

import hashlib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.topologies.coordinates import levels
from wormcast.algorithms.topologies.splitmix import SplitMix64


@given(st.data())
def test_as_many_ports_as_asked_for_are_joined_and_all_switches_connected(data):
    switches = data.draw(st.integers(2, 20), "switches")
    ports = data.draw(st.integers(2, 12), "ports")
    nodes = data.draw(st.integers(2, switches * (ports - 1)), "nodes")
    percent = data.draw(st.integers(1, 100), "percent")
    seed = data.draw(st.integers(0, 10**18 - 1), "seed")
    pairs = (switches * ports - nodes) * percent // 100 // 2
    assume(pairs >= switches - 1)
    network = topology(f"irregular:switches={switches},ports={ports},nodes={nodes},connectivity={percent / 100},"
                       f"seed={seed}")
    assert (network.switches, network.nodes) == (switches, nodes)
    assert (network.links[:, 0] != network.links[:, 2]).all()
    ends = {(start, out): (end, into) for start, out, end, into in network.links.tolist()}
    assert len(ends) == len(network.links) == 2 * pairs
    assert all(ends[there] == here for here, there in ends.items())
    assert (levels(network) >= 0).all()

    counts = np.bincount(network.injections[:, 0], minlength=switches)
    assert counts.max() - counts.min() <= 1
    assert np.array_equal(network.injections, network.consumptions)
    assert not set(map(tuple, network.injections.tolist())) & set(ends)
    for switch in range(switches):
        names = network.ports[switch]
        assert names == (*(f"p{k}" for k in range(ports - counts[switch])), *(f"n{k}" for k in range(counts[switch])))
        joined = [out for start, out in ends if start == switch]
        assert sorted(joined) == list(range(len(joined)))
    for node, (switch, port) in enumerate(network.injections.tolist()):
        assert network.ports[switch][port] == f"n{sum(network.injections[:node, 0] == switch)}"


def test_parameters_have_defaults_and_any_order():
    name = "irregular:switches=8,ports=8,nodes=32,connectivity=0.8,seed=1"
    for text in (name, "irregular:", "irregular:nodes=32,seed=1,connectivity=.80"):
        assert topology(text).name == name
    assert topology("irregular:connectivity=1.0,seed=7").name.endswith("connectivity=1,seed=7")


def test_a_network_is_the_same_for_ever():
    joined = [(one, other) for one, _, other, _ in topology("irregular:").links.tolist() if one < other]
    assert joined == [(0, 3), (0, 7), (0, 2), (0, 4), (1, 7), (1, 6), (1, 5), (1, 4), (2, 3), (2, 4), (5, 6), (5, 7)]
    large = topology("irregular:switches=32,ports=8,nodes=100,connectivity=1,seed=12345678901")
    digest = hashlib.sha256(str([large.links.tolist(), large.injections.tolist()]).encode()).hexdigest()
    assert digest[:16] == "114f4c8748c11944"


def test_the_generator_is_splitmix64():
    random = SplitMix64(1234567)
    assert [random.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_seeds_differ():
    networks = {topology(f"irregular:seed={seed}").links.tobytes() for seed in range(20)}
    assert len(networks) == 20


@pytest.mark.parametrize(("parameters", "sentence"), [
    ("switches=8,ports=4,nodes=25",
     "links join 5 ports, and 8 switches need 14. Allowed: nodes=14 or fewer, or ports=6 or more."),
    ("connectivity=0.4",
     "connectivity=0.4, links join 12 ports, and 8 switches need 14. Allowed: nodes=29 or fewer, or ports=9 or more"),
    ("connectivity=0.1",
     "links join 3 ports, and 8 switches need 14. Allowed: ports=22 or more, or a greater connectivity"),
    ("connectivity=0", "connectivity '0' of '.*' is not valid. Allowed: numbers above 0 up to 1"),
    ("connectivity=1.1", "'1.1' of .* is not valid. Allowed: numbers above 0 up to 1 with at most six decimal places"),
    ("connectivity=1/2", "connectivity '1/2' of '.*' is not valid"),
    ("connectivity=", "connectivity '' of '.*' is not valid"),
    ("connectivity=nan", "connectivity 'nan' of '.*' is not valid"),
    ("switches=1", "switches '1' of 'irregular:switches=1' is not valid. Allowed: whole numbers from 2 to 1024"),
    ("ports=33", "ports '33' of '.*' is not valid. Allowed: whole numbers from 2 to 32"),
    ("nodes=1", "nodes '1' of '.*' is not valid. Allowed: whole numbers from 2 to 4096"),
    ("seed=-1", "seed '-1' of '.*' is not valid. Allowed: whole numbers from 0 to 999999999999999999"),
    ("seed=1,seed=2", "seed occurs twice. Allowed: once"),
    ("node=4", "parameter 'node=4' of 'irregular:node=4' is unknown. Allowed: irregular:switches=SWITCHES,"),
])
def test_other_parameters_are_refused_in_a_sentence(parameters, sentence):
    with pytest.raises(WormcastError, match=sentence):
        topology(f"irregular:{parameters}")
