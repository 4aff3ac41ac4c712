"""Jumps over cycles in which nothing happens: all results are those of an engine that takes every step."""

import functools
import json
import random

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments import run as run_module
from wormcast.sim.experiments.load import Trace, Traffic, load, seed_batch
from wormcast.sim.host import NEVER, NOW, lay_out, sampled
from wormcast.sim.host.counting import samples
from wormcast.sim.host.message import Message

from .bench import host_of, network, send
from .test_smart_interfaces import NETWORKS

#: Cycles of a run, far more than its messages need.
CYCLES = 60_000

DEEP = {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": 64, "chunk": 8, "flit_width": 16}
IRREGULAR = "irregular:switches=4,ports=4,nodes=6,connectivity=0.8,seed=1"

CASES = {
    "two virtual channels": ("mesh:2x2", "dual-path", {}, 0.0),
    "hosts that work and stall": ("mesh:1x3", "dual-path", {
        "vcs": 1, "buffer": 2, "packet": 3, "t_ns": 2, "t_nr": 100, "t_hs": 100, "t_hr": 400}, 0.9),
    "memories that move a flit in three cycles": ("mesh:2x2", "dual-path", {"dma": "1/3"}, 0.0),
    "tokens": ("min:b=2,stages=3", "atbm", {"vcs": 1, "consumption": 1}, 0.0),
    "smart interfaces": (NETWORKS[1][0], "k-binomial", {**NETWORKS[1][1], "ni": "fpfs", "rows": 4, "places": 8}, 0.0),
    "deep buffers": slow(IRREGULAR, "path-lg", DEEP, 0.0),
    "torus": slow("torus:4x4", "individual", {"vcs": 4, "queue": 1}, 0.0),
    "adaptive": slow("mesh:3x3", "column-path", {"vcs": 3, "consumption": 2}, 0.3),
    "slots": slow("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "consumption": 1, "absorb": "1", "slot": 9,
                                            "flit_width": 16}, 0.0),
    "deep, and smart": slow(NETWORKS[0][0], "k-binomial", {**NETWORKS[0][1], "ni": "fcfs", "rows": 4, "places": 8},
                            0.2),
    "tree of switches": slow(IRREGULAR, "tree", DEEP, 0.0),
}


def messages(nodes, seed):
    """A few messages at a time, with gaps from none to many thousand cycles between."""
    rng, at, found = random.Random(seed), 0, []
    while at < CYCLES - 20_000:
        for _ in range(rng.randint(1, 3)):
            source, *others = rng.sample(range(nodes), nodes)
            found.append(send(source, *others[:rng.randint(1, nodes - 1)], length=4 * rng.randint(1, 6), at=at))
            at += rng.choice([0, 0, rng.randrange(40)])
        at += int(10 ** rng.uniform(2, 4))
    return found


def arrays_of(engine):
    """All that an engine knows: every register, what hosts drive, their program, and what was counted."""
    found = engine.to_arrays()
    if len(engine.meter.ports):
        measured = take(engine.meter)
        found |= {name: np.asarray(getattr(measured, name)) for name in ("flits", "worms", "sampled", "taken",
                                                                         "samples")}
    if engine.grants:
        found["grants"] = engine.grants.take()
    return found


def require_same(one, other):
    ours, theirs = arrays_of(one), arrays_of(other)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if not np.array_equal(ours[name], theirs[name])] == []


@pytest.mark.parametrize(("shape", "scheme", "options", "stall"), CASES.values(), ids=CASES.keys())
def test_all_is_as_if_every_cycle_were_simulated(shape, scheme, options, stall):
    """Registers, hosts and meters, in the middle of gaps too; most of the cycles are skipped."""
    net = network(shape, scheme, tuple(sorted(options.items())))
    posted = messages(net.topology.nodes, 3)
    engines = [BulkEngine(net, host_of(net, posted, stall=stall, seed=1), measure=True, jumps=jumps)
               for jumps in (True, False)]
    rng = random.Random(5)
    while engines[0].host.counters[NOW] < CYCLES:
        cycles = int(10 ** rng.uniform(0, 4))
        for engine in engines:
            engine.run(cycles, beyond=True)
        require_same(*engines)
    assert (engines[0].host.received >= 0).all()
    assert engines[0].skipped > CYCLES // 3
    assert engines[1].skipped == 0


def test_several_lanes_wait_for_each_other():
    """Lanes of one kernel: a jump goes as far as the first event of any."""
    shape, scheme = topology("mesh:2x2"), SCHEMES["dual-path"]
    net = Network(shape, scheme, Configuration().for_headers(shape, scheme, 3), 3)
    source = np.array([0, 1, 2, 3])
    worms = scheme.batch(shape, source, np.arange(5), (source + 1) % 4)

    def host():
        return lay_out(net, np.array([0, 3000, 3001, 9000]), np.full(4, 5), worms, lane=np.array([0, 1, 2, 1]))

    engines = [BulkEngine(net, host(), measure=True, jumps=jumps) for jumps in (True, False)]
    for engine in engines:
        engine.run(20_000, beyond=True)
    require_same(*engines)
    assert engines[0].skipped > 15_000


def test_worms_that_are_followed():
    """Grants, waits and blockers of each worm are the same with and without jumps over idle cycles."""
    net = network("mesh:2x2", "dual-path", ())
    posted = messages(4, 7)
    engines = [BulkEngine(net, host_of(net, posted), jumps=jumps) for jumps in (True, False)]
    for engine in engines:
        engine.follow(turns=True)
        engine.run(CYCLES)
    require_same(*engines)
    assert engines[0].skipped > CYCLES // 3


def test_an_engine_that_is_put_back_finds_new_images():
    """A state is put back whose cycle is earlier than the last look at memory."""
    net = network("mesh:2x2", "dual-path", ())
    posted = messages(4, 9)
    engines = [BulkEngine(net, host_of(net, posted), jumps=jumps) for jumps in (True, False)]
    captured = [engine.capture() for engine in engines]
    for cycles in (30_000, 500, 45_000):
        for engine, state in zip(engines, captured, strict=True):
            engine.run(cycles, beyond=True)
            engine.restore(state)
            engine.run(cycles // 3, beyond=True)
        require_same(*engines)


def test_the_next_event_is_the_first_thing_that_any_host_does():
    """A message to come, then a processor at work; the present cycle while a worm is under way."""
    net = network("mesh:2x2", "dual-path", (("t_hr", 5000), ("t_hs", 700)))
    engine = BulkEngine(net, host_of(net, [send(0, 1, at=400)]))
    assert engine.next_event() == 400
    engine.run(401)
    assert engine.next_event() == 1100
    engine.run(701)
    assert engine.next_event() == engine.host.counters[NOW]
    engine.run(400)
    assert engine.next_event() == engine.host.tail[0] + 5000
    engine.run(10_000)
    assert engine.host.received[0] == engine.host.tail[0] + 5000
    assert engine.next_event() == NEVER


def test_samples_of_skipped_cycles():
    for first, end in ((0, 0), (3, 3), (0, 64), (5, 60), (63, 65), (64, 128), (1, 1000), (100, 101), (130, 4097)):
        assert samples(first, end) == sum(bool(sampled(cycle)) for cycle in range(first, end))


def stepping(monkeypatch, module):
    monkeypatch.setattr(module, "BulkEngine", functools.partial(BulkEngine, jumps=False))


@pytest.mark.parametrize("options", [{}, {"t_hs": 300, "t_hr": 2000}])
def test_a_run_with_gaps(options, monkeypatch):
    """Messages far apart, one of which waits for a receipt; and a run that ends in a gap, as the time is up."""
    posted = [Message(0, 0, (1, 2, 3), 20), Message(70_000, 1, (0, 3), 9, (0,)), Message(150_000, 2, (3,), 5)]
    for timeout in (1_000_000, 100_001):
        def told(timeout=timeout):
            return run_module.run(topology("mesh:2x2"), SCHEMES["dual-path"], posted, Configuration(**options),
                                  timeout=timeout, contention=True).to_dict()

        with monkeypatch.context() as patch:
            stepping(patch, run_module)
            expected = told()
        assert told() == expected


def test_a_gap_of_twenty_million_cycles_is_no_gap():
    posted = [Message(0, 0, (1,), 20), Message(20_000_000, 1, (0, 3), 20)]
    found = run_module.run(topology("mesh:2x2"), SCHEMES["dual-path"], posted, Configuration(), timeout=30_000_000)
    assert (found.outcome, found.cycles) == ("delivered", 20_000_055)


def told(result):
    """Return the result of a load experiment as text, without wall-clock times."""
    return json.dumps({name: value for name, value in result.to_dict().items() if "second" not in name})


def test_a_trace_with_gaps(tmp_path, monkeypatch):
    """Gaps within a chunk, over many chunks and slices of time, and behind the last message."""
    lines = [(0, 0, [1, 2, 3], []), (100, 3, [0], []), (9000, 1, [0, 3], []), (9001, 2, [0], [0]),
             (300_000, 3, [2], [2]), (300_100, 3, [0, 1], []), (310_000, 0, [2], [])]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps({"cycle": at, "source": source, "destinations": to, "length": 7, "after": after}
                                       ) + "\n" for at, source, to, after in lines))

    def results():
        for cycles in (None, 500_000):
            for options in ({}, {"t_hr": 7000}):
                yield told(load(topology("mesh:2x2"), SCHEMES["dual-path"], Trace(str(path)), cycles=cycles,
                                configuration=Configuration(**options)))

    with monkeypatch.context() as patch:
        stepping(patch, seed_batch)
        expected = list(results())
    assert list(results()) == expected


def test_random_traffic_at_a_very_low_rate(monkeypatch):
    """A message in some ten thousand cycles, of several seeds side by side."""

    def found():
        traffic = Traffic(1e-4, length=20, destinations_mean=2)
        return told(load(topology("mesh:2x2"), SCHEMES["dual-path"], traffic, cycles=300_000, seeds=range(2), workers=1,
                         configuration=Configuration()))

    with monkeypatch.context() as patch:
        stepping(patch, seed_batch)
        expected = found()
    assert found() == expected
