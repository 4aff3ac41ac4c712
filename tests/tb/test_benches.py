# amaranth: UnusedElaboratable=no
"""The benches of tb/, on the Verilog of components and networks."""

import json
import random
import subprocess
import sys

import pytest
from cases import slow

from wormcast.hw.buffer import ReplicationBuffer

from . import hdl, setups, simulators, traffic

BUFFERS = [
    slow({"vcs": 1, "depth": 4, "width": 9, "readers": 1}),
    {"vcs": 2, "depth": 3, "width": 36, "readers": 2},
    slow({"vcs": 1, "depth": 1, "width": 5, "readers": 1}),
    slow({"vcs": 1, "depth": 1, "width": 5, "readers": 2}),
    slow({"vcs": 3, "depth": 16, "width": 70, "readers": 3}),
    slow({"vcs": 4, "depth": 5, "width": 9, "readers": 2, "storage": "registers"}),
]


@pytest.mark.parametrize("options", BUFFERS, ids=str)
def test_buffer(options, simulator, models, tmp_path):
    file = hdl.write(ReplicationBuffer(**options), "replication_buffer", tmp_path)
    model = simulators.build(simulator, [file], "replication_buffer", models)
    assert simulators.run(simulator, model, "replication_buffer", "tb_buffer", tmp_path / "run", **options)


SWITCHES = [
    ("dual-path", {"consumption": 1, "buffer": 1, "delays": "fast"}),
    slow("dual-path", {"consumption": 2, "readers": "independent"}),
    slow("e-mcast", {"consumption": 4}),
    slow("dual-path", {"consumption": 4, "consumption_links": "separate", "ports": "all"}),
    slow("dual-path", {"consumption": 2, "vcs": 4, "flit_width": 16, "delays": "fast", "readers": "independent"}),
    slow("multipath", {"consumption": 4, "buffer": 3, "flit_width": 10}),
    slow("column-path", {"buffer": 16, "delays": "fast"}),
    slow("e-mcast", {"consumption": 1, "readers": "independent"}),
    slow("e-mcast", {"consumption": 2, "delays": "fast", "ports": "all"}),
    slow("individual", {"consumption": 1}),
    slow("individual", {"consumption": 2, "consumption_links": "separate", "storage": "registers"}),
]


@pytest.mark.parametrize(("scheme", "options"), SWITCHES, ids=str)
def test_switch(scheme, options, simulator, models, tmp_path):
    router, setup = setups.of_switch(scheme, options)
    model = simulators.build(simulator, [hdl.write(router, "router", tmp_path)], "router", models)
    assert simulators.run(simulator, model, "router", "tb_switch", tmp_path / "run", **setup)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "options"), SWITCHES[1:3], ids=str)
def test_synthesised_switch(scheme, options, simulator, models, tmp_path):
    """The same bench on the netlist of look-up tables, flip-flops and LUT memories of ECP5."""
    router, setup = setups.of_switch(scheme, options)
    file = hdl.netlist(router, "router", tmp_path)
    model = simulators.build(simulator, [file], "router", models)
    assert simulators.run(simulator, model, "router", "tb_switch", tmp_path / "run", **setup)


TREES = [
    ("atbm", {"flit_width": 10, "vcs": 1}),
    slow("atbm", {"flit_width": 10, "vcs": 2, "buffer": 3, "tokens": "off"}),
    slow("tree-synchronous", {"flit_width": 12, "vcs": 2, "buffer": 1}),
    slow("tree-serial", {"flit_width": 16, "vcs": 2, "buffer": 4}),
]


@pytest.mark.parametrize(("scheme", "options"), TREES, ids=str)
def test_tree_switch(scheme, options, simulator, models, tmp_path):
    router, setup = setups.of_tree_switch(scheme, options)
    model = simulators.build(simulator, [hdl.write(router, "router", tmp_path)], "router", models)
    assert simulators.run(simulator, model, "router", "tb_tree_switch", tmp_path / "run", **setup)


DEEP = [{"buffer": 16, "chunk": 8, "flit_width": 10}, slow({"buffer": 64, "chunk": 4, "flit_width": 12})]


@pytest.mark.parametrize("options", DEEP, ids=str)
def test_deep_switch(options, simulator, models, tmp_path):
    router, setup = setups.of_deep_switch(options)
    model = simulators.build(simulator, [hdl.write(router, "router", tmp_path)], "router", models)
    assert simulators.run(simulator, model, "router", "tb_deep_switch", tmp_path / "run", **setup)


@pytest.mark.parametrize("size", [{"stations": 4, "requesters": 2}, slow({"stations": 16, "requesters": 8}),
                                  slow({"stations": 1, "requesters": 1})], ids=str)
def test_token_ring(size, simulator, models, tmp_path):
    file = hdl.write(setups.TokenRing(**size), "ring", tmp_path)
    model = simulators.build(simulator, [file], "ring", models)
    assert simulators.run(simulator, model, "ring", "tb_token_ring", tmp_path / "run", **size)


INTERFACES = [
    slow({}, {}),
    ({"packet": 4, "t_ns": 3, "t_nr": 5, "consumption": 4, "flit_width": 12}, {"ports": 2, "links": 2}),
    slow({"buffer": 1, "queue": 1, "vcs": 1, "consumption": 1}, {}),
    slow({"buffer": 16, "queue": 16, "vcs": 4, "packet": 3, "flit_width": 64}, {"ports": 4}),
    slow({"consumption": 4, "t_nr": 40, "storage": "registers"}, {"links": 4}),
    ({"packet": 4, "t_ns": 3, "t_nr": 5, "send_queue": 2, "receive_queue": 2, "ni_processors": "one", "dma": "2/3",
      "dma_engine": "interface"}, {}),
    slow({"packet": 3, "send_queue": 1, "receive_queue": 3, "dma": "4/3", "dma_engine": "interface",
          "dma_buckets": "separate", "consumption": 4}, {"ports": 3, "links": 2}),
    slow({"dma": "1/2", "dma_engine": "interface", "queue": 8}, {}),
]


@pytest.mark.parametrize(("options", "counts"), INTERFACES, ids=str)
def test_interface(options, counts, simulator, models, tmp_path):
    interface, setup = setups.of_interface(options, **counts)
    model = simulators.build(simulator, [hdl.write(interface, "interface", tmp_path)], "interface", models)
    assert simulators.run(simulator, model, "interface", "tb_interface", tmp_path / "run", **setup)


SMART = [
    ("fpfs", {"t_ns": 3, "t_nr": 2}),
    slow("fcfs", {"t_ns": 3, "t_nr": 2}),
    slow("fpfs", {"places": 1, "channels": 2}),
    slow("fcfs", {"packet": 3, "places": 3, "vcs": 2, "channels": 2}),
]


@pytest.mark.parametrize(("kind", "options"), SMART, ids=str)
def test_smart_interface(kind, options, simulator, models, tmp_path):
    interface, setup = setups.of_smart_interface(kind, **options)
    model = simulators.build(simulator, [hdl.write(interface, "interface", tmp_path)], "interface", models)
    assert simulators.run(simulator, model, "interface", "tb_smart_interface", tmp_path / "run", **setup)


#: Unicasts, multi-drop worms and trees; routers with tables.
MIXED = ("irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=1", "mixed:few=path-lg,limit=3",
         {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": 40, "chunk": 10, "flit_width": 10})

NETWORKS = [
    slow("mesh:2x2", "dual-path", {"readers": "independent", "consumption_links": "shared"}),
    ("mesh:2x2", "e-mcast", {"vcs": 1}),
    slow("mesh:3x3", "e-mcast", {"vcs": 1}),
    slow("mesh:2x2", "individual", {"buffer": 1, "delays": "fast"}),
    slow("mesh:3x3", "dual-path", {"packet": 3, "t_ns": 2, "t_nr": 2, "delays": "fast"}),
    slow("mesh:3x3", "column-path", {"buffer": 2, "flit_width": 10}),
    slow("mesh:2x3x2", "e-mcast", {}),
    slow(*MIXED),
]


@pytest.mark.parametrize(("name", "scheme", "options"), NETWORKS, ids=str)
def test_network(name, scheme, options, simulator, models, tmp_path):
    network, setup = setups.of_network(name, scheme, options)
    file, blocks = hdl.network(network, "network", tmp_path)
    model = simulators.build(simulator, [file], "network", models, blocks)
    worms = traffic.across_a_network(network, random.Random(name), 100, setup["host_in"], setup["host_out"])
    assert simulators.run(simulator, model, "network", "tb_network", tmp_path / "run", **setup, worms=worms)


# the network of the bench above, of which there is a model by now
REPLAYS = [
    ("mesh:2x2", "e-mcast", {"vcs": 1}),
    slow("mesh:3x3", "e-mcast", {"vcs": 1}),
    slow("mesh:4x4", "dual-path", {"delays": "paper"}),
    slow("mesh:4x4", "dual-path", {"delays": "fast"}),
    slow("mesh:6x6", "column-path", {"delays": "paper", "readers": "independent", "buffer": 2}),
    slow("mesh:6x6", "e-mcast", {"delays": "fast", "vcs": 1}),
    slow(*MIXED),
]


@pytest.mark.parametrize(("name", "scheme", "options"), REPLAYS, ids=str)
def test_replay(name, scheme, options, simulator, models, tmp_path):
    """Messages that get into each other's way, simulated by the command; then the same on the exported network."""
    network, setup = setups.of_network(name, scheme, options)
    rng, nodes = random.Random(4), range(network.nodes)
    messages = [{"at": rng.randrange(200), "source": chosen[0], "destinations": chosen[1:],
                 "length": rng.randint(1, 20)}
                for chosen in (rng.sample(nodes, rng.randint(2, min(7, len(nodes)))) for _ in range(40))]
    (tmp_path / "messages").write_text(json.dumps(messages))
    given = [part for option, value in options.items() for part in (f"--{option.replace('_', '-')}", str(value))]
    done = subprocess.run([sys.executable, "-m", "wormcast", "run", name, scheme, "--messages", tmp_path / "messages",
                           *given, "--json"], check=True, capture_output=True, text=True)
    file, blocks = hdl.network(network, "network", tmp_path)
    model = simulators.build(simulator, [file], "network", models, blocks)
    worms, deliveries = traffic.of_a_run(json.loads(done.stdout), network, setup["host_in"], setup["host_out"])
    setup |= {"worms": worms, "deliveries": deliveries}
    assert simulators.run(simulator, model, "network", "tb_replay", tmp_path / "run", **setup)
    # and a delivery that comes a cycle late is noticed
    *others, (end, data, head, tail) = deliveries
    setup["deliveries"] = [*others, (end, data, head, tail + 1)]
    with pytest.raises(AssertionError, match="every_delivery_in_its_cycle"):
        simulators.run(simulator, model, "network", "tb_replay", tmp_path / "late", **setup)
