"""Calls from Python with arguments of a wrong type: each raises one sentence, and nothing runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, WormcastError, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.multicast_plan import plan
from wormcast.sim import Configuration, Experiment, Message, Trace, Traffic, hardware, load, load_until_interval, run

MESH, SCHEME = topology("mesh:2x2"), SCHEMES["dual-path"]
TRAFFIC = Traffic(rate=0.1, destinations_mean=2)
HARDWARE = hardware(MESH, SCHEME, {})


def loaded(by=load, **changes):
    return by(**{"topology": MESH, "scheme": SCHEME, "traffic": TRAFFIC, "configuration": HARDWARE, "cycles": 1000,
                 **changes})


def sent(*message, **changes):
    return run(**{"topology": MESH, "scheme": SCHEME, "messages": [Message(*message)] if message else 3,
                  "configuration": HARDWARE, **changes})


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: Traffic(rate="0.1"), "rate: '0.1' is not valid. Allowed: a number"),
    (lambda: Traffic(rate=True), "rate: True is not valid. Allowed: a number"),
    (lambda: Traffic(rate=0.1, length=2.5), "length: 2.5 is not valid. Allowed: a whole number"),
    (lambda: Traffic(rate=0.1, hot_spots=3), "hot_spots: 3 is not valid. Allowed: text NODE,... or None"),
    (lambda: Configuration(vcs="2"), "vcs: '2' is not valid. Allowed: a whole number"),
    (lambda: Trace(3), "trace: 3 is not valid. Allowed: text or a path"),
    (lambda: topology(3), "topology: 3 is not valid. Allowed: text"),
    (lambda: find_scheme(3, MESH), "scheme: 3 is not valid. Allowed: text"),
    (lambda: find_scheme("dual-path", "mesh:2x2"), "topology: 'mesh:2x2' is not valid. Allowed: a Topology"),
    (lambda: plan("mesh:2x2", SCHEME, 0, [1]), "topology: 'mesh:2x2' is not valid. Allowed: a Topology"),
    (lambda: plan(MESH, 3, 0, [1]), "scheme: 3 is not valid. Allowed: text or a Scheme"),
    (lambda: check(MESH, "dual-path"), "scheme: 'dual-path' is not valid. Allowed: a Scheme"),
    (lambda: check(MESH, SCHEME, consumption="2"), "consumption: '2' is not valid. Allowed: a whole number or None"),
    (lambda: hardware(MESH, SCHEME, {"vcs": "2"}), "vcs: '2' is not valid. Allowed: a whole number"),
    (lambda: hardware(MESH, SCHEME, {"vc": 2}),
     "hardware: 'vc' is not valid. Nearest: vcs. Allowed: configuration, vcs, "),
    (lambda: hardware(MESH, SCHEME, None), "hardware: None is not valid. Allowed: a dict"),
    (lambda: hardware("mesh:2x2", SCHEME, {}), "topology: 'mesh:2x2' is not valid. Allowed: a Topology"),
    (lambda: loaded(seeds=3), r"seeds: 3 is not valid. Allowed: a sequence of integers, for example range\(4\)"),
    (lambda: loaded(seeds=["1"]), "seeds: '1' is not valid. Allowed: a whole number"),
    (lambda: loaded(seeds=range(10**9)), "seeds: 1000000000 seeds are not valid. Allowed: 1 to 1024"),
    (lambda: loaded(seeds=range(10**25)), "seeds: 9223372036854775807 seeds are not valid. Allowed: 1 to 1024"),
    (lambda: loaded(configuration={"vcs": 2}), "configuration: {'vcs': 2} is not valid. Allowed: a Configuration"),
    (lambda: loaded(cycles=1000.5), "cycles: 1000.5 is not valid. Allowed: a whole number or None"),
    (lambda: loaded(warmup=0.5), "warmup: 0.5 is not valid. Allowed: a whole number or None"),
    (lambda: loaded(workers=1.5), "workers: 1.5 is not valid. Allowed: a whole number or None"),
    (lambda: loaded(traffic=0.1), "traffic: 0.1 is not valid. Allowed: a Traffic or a Trace"),
    (lambda: loaded(scheme="dual-path"), "scheme: 'dual-path' is not valid. Allowed: a Scheme"),
    (lambda: Experiment(MESH, SCHEME, TRAFFIC, configuration=HARDWARE, cycles=9, warmup=None, parts=3),
     "parts: 3 is not valid. Allowed: a list"),
    (lambda: loaded(load_until_interval, cycles=1000.5), "cycles: 1000.5 is not valid. Allowed: a whole number"),
    (lambda: sent(), "messages: 3 is not valid. Allowed: a list"),
    (lambda: sent(messages=[(0, 0, (1,), 2)]), r"messages\[0\]: .* is not valid. Allowed: wormcast.Message"),
    (lambda: sent(0.5, 0, (1,), 2), "at: 0.5 is not valid. Allowed: a whole number"),
    (lambda: sent(0, 0, (1.5,), 2), "destinations: 1.5 is not valid. Allowed: a whole number"),
    (lambda: sent(0, 0, 1, 2), "destinations: 1 is not valid. Allowed: a list or a NumPy array"),
    (lambda: sent(0, 0, (1,), 2, configuration={}), "configuration: {} is not valid. Allowed: a Configuration"),
    (lambda: sent(0, 0, (1,), 2, timeout="9"), "timeout: '9' is not valid. Allowed: a whole number"),
])
def test_it_is_a_sentence(call, sentence):
    with pytest.raises(WormcastError, match=f"^{sentence}"):
        call()


def test_numbers_of_numpy_are_numbers():
    told = Traffic(rate=np.float32(0.5), length=np.int64(20)).to_dict()
    assert json.loads(json.dumps(told)) == told
    assert loaded(cycles=np.int64(200), seeds=np.arange(2)).seeds == (0, 1)


def test_a_waveform_may_be_named_by_text(tmp_path):
    file = str(tmp_path / "run.vcd")
    row, least = topology("mesh:1x4"), Configuration(vcs=1, consumption=1)
    assert sent(0, 0, (1,), 2, topology=row, configuration=least, vcd=file).outcome == "delivered"
    assert Path(file).is_file()
