# amaranth: UnusedElaboratable=no
"""Networks whose hosts have AXI4-Stream, in Verilator, with the agents of cocotbext-axi."""

import itertools
import random

import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.hw.router import Blueprint
from wormcast.sim import hardware
from wormcast.sim.build.host_port import HostPort
from wormcast.sim.build.stream_network import StreamNetwork, resolved, set_beats
from wormcast.sim.export.verilog import export

from . import simulators

CASES = [
    slow("mesh:2x2", "dual-path", {}, {"sets": "mask"}),
    ("mesh:2x2", "dual-path", {}, {"sets": "table", "set_count": 8}),
    slow("mesh:3x3", "dual-path", {"flit_width": 8}, {"sets": "mask"}),
    slow("mesh:3x3", "individual", {"vcs": 1, "consumption": 1}, {"sets": "mask"}),
    slow("mesh:3x3", "e-mcast", {"consumption_links": "separate"}, {"set_count": 32}),
    slow("min:b=2,stages=2", "atbm", {"flit_width": 16}, {}),
]


def setup_of(network, rng, count=40):
    """Messages of all hosts to random destinations, and the beats of their destination sets."""
    port, nodes, width = network.host_port, network.nodes, network.configuration.flit_width
    words = itertools.count(1)
    tabled = port.sets == "table"
    sets, groups = [], []
    for node in range(nodes):
        others = [other for other in range(nodes) if other != node]
        chosen = [rng.sample(others, rng.randint(1, len(others))) for _ in range(port.set_count)]
        groups.append(chosen)
        sets.append([set_beats(network, number, node, group) for number, group in enumerate(chosen)])

    def message(source, number, length, group=None):
        destinations = group or groups[source][number]
        return {"source": source, "to": number if tabled else sum(1 << node for node in destinations),
                "destinations": destinations, "data": [next(words) % (1 << width) for _ in range(length)]}

    found = [message(rng.randrange(nodes), rng.randrange(port.set_count), rng.randint(1, 20)) for _ in range(count)]
    alone = [(source, number) for source in range(nodes) for number in range(port.set_count)
             if len(groups[source][number]) == 1]
    return {
        "nodes": [f"node_{network.node_scope(node)}" for node in range(nodes)],
        "links": len(network.consumption_links(0)), "width": width, "carries": "tdest" if tabled else "tuser",
        "sets": sets if tabled else [], "messages": found, "alone": message(*alone[0], port.message_flits),
    }


@pytest.mark.parametrize(("name", "scheme", "options", "host"), CASES, ids=str)
def test_messages_of_all_hosts(name, scheme, options, host, simulator, models, tmp_path):
    mesh, found = topology(name), SCHEMES[scheme]
    configuration = hardware(mesh, found, options)
    blueprint = Blueprint(mesh, found, configuration)
    port = resolved(HostPort(host="axis", **host), blueprint)
    network = StreamNetwork(topology=mesh, scheme=found, configuration=configuration, host_port=port)
    file = tmp_path / "network.v"
    file.write_text(export(blueprint, "network", module="network", host_port=port, command="").verilog)
    model = simulators.build(simulator, [file], "network", models, [f"network_{kind}" for kind in network.kinds])
    setup = setup_of(network, random.Random(f"{name} {scheme}"))
    assert simulators.run(simulator, model, "network", "tb_streams", tmp_path / "run", **setup) == 7
