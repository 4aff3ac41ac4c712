# amaranth: UnusedElaboratable=no
"""Networks whose interfaces have DMA engines: both engines of the simulator, all kinds of interfaces, and mutants."""

import pytest
from cases import slow

import wormcast as wc
from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.hw.interface import Consumption, Injection
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.experiments.run import run

from .bench import bulk, finish, host_of, network, send

ENGINE = {"dma": "1/2", "dma_engine": "interface"}
QUEUES = {"packet": 4, "send_queue": 2, "receive_queue": 2}
SMART = {"ni": "fpfs", "rows": 2, "places": 6, "packet": 4}

KINDS = [
    ("dual-path", {**QUEUES, "t_ns": 2, "t_nr": 3}),
    slow("dual-path", {}),
    slow("dual-path", {**QUEUES, "ni_processors": "one", "t_nr": 3, "dma_buckets": "separate"}),
    slow("individual", {"ports": "all", "consumption_links": "separate", "dma": "4/3"}),
    slow("dual-path", {"t_ns": 3, "t_nr": 2, "packet": 3, "consumption": 3, "dma": "2/3"}),
    ("k-binomial", {**SMART, **QUEUES, "t_nr": 2}),
    slow("k-binomial", {**SMART, "t_ns": 3, "dma": "4/3"}),
    slow("k-binomial", {**SMART, **QUEUES, "ni": "fcfs", "flit_width": 8, "dma_buckets": "separate"}),
    ("dual-path", {**QUEUES, "absorb": "3", "packet": 24}),
    slow("dual-path", {"absorb": "3", "t_nr": 2, "packet": 9}),
]


@pytest.mark.parametrize(("scheme", "options"), KINDS)
def test_engines_agree(scheme, options):
    options = {"vcs": 1, "consumption": 2, **ENGINE, **options}
    messages = [send(0, 1, 2, 3, length=16), send(3, 1, length=24), send(0, 2, length=20), send(1, 0, 3, length=12),
                send(1, 2, length=24)]
    net = network("mesh:1x4", scheme, tuple(sorted(options.items())))
    reference = AmaranthEngine(net, host_of(net, messages, stall=0.3))
    reference.run(2000)
    engine = bulk("mesh:1x4", scheme, messages, stall=0.3, **options)
    finish(engine, 2000)
    for field in ("head", "tail", "received"):
        assert (engine.host.deliveries[field] == reference.host.deliveries[field]).all()


LENGTH = 200


def both_ways(**options):
    """Cycles from the first to the last flit that two hosts receive from each other."""
    engine = bulk("mesh:1x2", "individual", [send(0, 1, length=LENGTH), send(1, 0, length=LENGTH)],
                  **{"vcs": 1, "consumption": 1, "buffer": 8, "queue": 8, **ENGINE, **options})
    finish(engine, 5000)
    return engine.host.tail.max() - engine.host.head.min()


@pytest.mark.parametrize(("options", "each"), [
    ({}, 4), ({"dma_buckets": "separate"}, 2), slow({"dma": "4/3"}, 1.5), slow({"dma": "2/3", **QUEUES}, 3),
    slow({"dma": "4/3", "dma_buckets": "separate"}, 1)])
def test_rate_of_the_bus_limits_both_directions(options, each):
    assert both_ways(**options) == pytest.approx(each * LENGTH, abs=40)


@pytest.mark.parametrize("dma", ["5/3", slow("7/4"), slow("9/5")])
def test_hosts_program_and_engine_have_the_same_rate(dma):
    """Above (M + 1) / M, a bucket of two tokens would lose parts of the rate N / M."""
    flits, cycles = map(int, dma.split("/"))
    for engine in ("host", "interface"):
        assert both_ways(dma=dma, dma_engine=engine) == pytest.approx(2 * LENGTH * cycles / flits, abs=6)


@pytest.mark.parametrize(("owner", "crosses"), [(Injection, "self.crosses.eq(source.pop)"),
                                                (Consumption, "self.crosses.eq(drive.send)")])
def test_direction_that_uses_no_grants_is_faster_than_the_bus(mutate, owner, crosses):
    mutate(owner, (crosses, "self.crosses.eq(0)"))
    assert both_ways() < 3 * LENGTH


def test_network_is_still_while_no_flit_moves():
    """The bucket and the grants of an idle interface are full, so a run skips the cycles until the next message."""
    engine = bulk("mesh:1x2", "individual", [send(0, 1, length=20), send(1, 0, length=20, at=100_000)], **ENGINE)
    finish(engine, 120_000)
    assert engine.skipped > 90_000


@pytest.mark.parametrize("command", [wc.verilog, wc.synth])
def test_rate_of_the_hosts_program_is_no_hardware(command):
    with pytest.raises(WormcastError, match=r"dma: 4/3 is not valid with verilog and synth: with dma_engine host \(the "
                                            r"default\) .* Allowed: with dma_engine interface\."):
        command("interface", dma="4/3")


def test_engine_without_a_rate_is_refused():
    with pytest.raises(WormcastError, match=r"dma_engine: interface is not valid without dma: .* Allowed: host"):
        Configuration(dma_engine="interface")


def test_default_is_the_hosts_program():
    told = [run(topology("mesh:1x2"), SCHEMES["individual"], [send(0, 1, length=20)],
                Configuration(dma="1/2", **options)).to_dict() for options in ({}, {"dma_engine": "host"})]
    assert told[0] == told[1]
