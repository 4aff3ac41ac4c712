"""Multistage networks: their wiring, and destination tags over all pairs."""

import numpy as np
import pytest

from wormcast.algorithms import WormcastError, topology
from wormcast.algorithms.topologies.min import stage_digits, stage_of_switch, stage_ports

KINDS = ["baseline", "cube", "omega", "butterfly"]
SIZES = [(2, 2), (2, 3), (2, 4), (2, 6), (3, 3), (4, 2), (4, 3), (16, 2)]


def behind(network, switch, port):
    """Switch and input port that an output leads to."""
    (row,) = network.links[(network.links[:, 0] == switch) & (network.links[:, 1] == port)]
    return tuple(row[2:].tolist())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("b", "stages"), SIZES)
def test_destination_tags_lead_from_every_node_to_every_node(b, stages, kind):
    network = topology(f"min:b={b},stages={stages},kind={kind}")
    nodes = b**stages
    assert (network.nodes, network.switches) == (nodes, stages * nodes // b)
    assert len(network.links) == (stages - 1) * nodes
    target = np.broadcast_to(np.arange(nodes), (nodes, nodes))
    switch = np.broadcast_to(network.injections[:, :1], (nodes, nodes))
    stage, digits = stage_of_switch(network), stage_digits(network)
    assert sorted(digits) == list(range(stages))
    for step in range(stages):
        assert (stage[switch] == step).all()
        port = target // b ** (stages - 1 - digits[step]) % b
        assert (port == stage_ports(network)[step, target]).all()
        if step < stages - 1:
            switch = network.neighbours[switch, port]
    assert (switch == network.consumptions[target, 0]).all()
    assert (port == network.consumptions[target, 1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_each_output_and_each_input_has_one_link_or_one_node(kind):
    network = topology(f"min:b=4,stages=3,kind={kind}")
    ports = {(switch, port) for switch in range(48) for port in range(4)}
    outputs = [*map(tuple, network.links[:, :2].tolist()), *map(tuple, network.consumptions.tolist())]
    inputs = [*map(tuple, network.links[:, 2:].tolist()), *map(tuple, network.injections.tolist())]
    assert set(outputs) == set(inputs) == ports
    assert len(outputs) == len(inputs) == len(ports)


def test_the_baseline_network_of_paper_000():
    network = topology("min:b=4,stages=3")
    assert network.switch_names[17] == "s17"  # row 1 of stage 1
    for port in range(4):
        assert behind(network, 0, port) == (16 + [0, 4, 8, 12][port], 0)
        assert behind(network, 5, port) == (16 + [1, 5, 9, 13][port], 1)
        assert behind(network, 16, port) == (32 + port, 0)
        assert behind(network, 16 + 5, port) == (32 + 4 + port, 1)
    assert network.injections[27].tolist() == [6, 3]
    assert network.consumptions[46].tolist() == [32 + 11, 2]
    way = [(int(network.injections[27, 0]), 2)]  # 27 to 46
    for port in (3, 2):
        way.append((behind(network, *way[-1])[0], port))
    assert way == [(6, 2), (16 + 9, 3), (32 + 11, 2)]
    assert stage_ports(network)[:, 46].tolist() == [2, 3, 2]


def test_omega_shuffles_before_each_stage_the_first_too():
    network = topology("min:b=2,stages=3,kind=omega")
    assert network.injections.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [1, 1], [2, 1], [3, 1]]
    assert [behind(network, switch, port) for switch in range(4) for port in range(2)] == [
        (4, 0), (5, 0), (6, 0), (7, 0), (4, 1), (5, 1), (6, 1), (7, 1)]


def test_cube_and_butterfly_swap_digits():
    cube, butterfly = topology("min:b=2,stages=3,kind=cube"), topology("min:b=2,stages=3,kind=butterfly")
    lines = {network.kind + str(stage): [2 * (end - 4 * (stage + 1)) + into for start, _, end, into
                                         in network.links.tolist() if start // 4 == stage]
             for network in (cube,) for stage in range(2)}
    assert lines == {"min0": [0, 4, 2, 6, 1, 5, 3, 7], "min1": [0, 2, 1, 3, 4, 6, 5, 7]}
    assert cube.injections[1].tolist() == [1, 0]  # 001 shuffled is 010
    assert [2 * (end - 4) + into for start, _, end, into in butterfly.links.tolist() if start < 4] == [
        0, 2, 1, 3, 4, 6, 5, 7]
    assert stage_digits(cube) == (0, 1, 2)
    assert stage_digits(butterfly) == (1, 0, 2)
    assert butterfly.injections[1].tolist() == [0, 1]


def test_its_name_is_the_shortest_and_its_nodes_are_ids():
    network = topology("min:kind=baseline,stages=2,b=4")
    assert network.name == "min:b=4,stages=2"
    assert topology("min:stages=2,kind=cube,b=4").name == "min:b=4,stages=2,kind=cube"
    assert network.node("5") == 5
    assert network.node_name(5) == "5"
    assert not network.direct
    assert network.places.sinks[:, 0].min() > network.places.switches[:, 0].max()
    assert network.places.nodes[:, 0].max() < network.places.switches[:, 0].min()


@pytest.mark.parametrize(("parameters", "sentence"), [
    ("", "'min:' is not valid: b is missing. Needed: min:b=B,stages=STAGES"),
    ("b=4", "is not valid: stages is missing"),
    ("b=4,stages=3,b=4", "is not valid: b occurs twice. Allowed: once"),
    ("b=4,stages=3,rows=4", "parameter 'rows=4' of 'min:b=4,stages=3,rows=4' is unknown. Allowed: min:b=B,stages="),
    ("b=4,stages=3,", "parameter '' of 'min:b=4,stages=3,' is unknown"),
    ("4x3", "parameter '4x3' of 'min:4x3' is unknown"),
    ("b=1,stages=3", "b '1' of 'min:b=1,stages=3' is not valid. Allowed: whole numbers from 2 to 32"),
    ("b=33,stages=2", "Allowed: whole numbers from 2 to 32"),
    ("b=2,stages=1", "stages '1' of 'min:b=2,stages=1' is not valid. Allowed: whole numbers from 2 to 8 .with b=2: "),
    ("b=2,stages=x", "stages 'x' of 'min:b=2,stages=x' is not valid"),
    ("b=2,stages=9", "stages '9' of .* whole numbers from 2 to 8 .with b=2: up to 4096 nodes and 1024 switches.[.]"),
    ("b=4,stages=5", "stages '5' of .* whole numbers from 2 to 4 .with b=4"),
    ("b=32,stages=3", "stages '3' of .* Allowed: 2 .with b=32"),
    ("b=2,stages=3,kind=banyan", "kind 'banyan' of '.*' is not valid. Allowed: baseline, cube, omega, butterfly"),
])
def test_other_parameters_are_refused_in_a_sentence(parameters, sentence):
    with pytest.raises(WormcastError, match=sentence):
        topology(f"min:{parameters}")


def test_other_networks_have_no_stages():
    for ask in (stage_digits, stage_of_switch, stage_ports):
        with pytest.raises(WormcastError, match=r"topology: ring:6 is not valid: it has no stages\."):
            ask(topology("ring:6"))
