"""Whatever traffic is created: all of it arrives, once, and what is measured of it adds up."""

from functools import cache

import numpy as np
import pytest
from cases import some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network, Traffic, load
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.host import check_receipts

from ...bench import left_over

MESH = topology("mesh:4x4")
HARDWARE = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
    "individual": {"consumption": 1, "vcs": 1, "buffer": 1, "t_ns": 5},
    "e-mcast": {"consumption": 4, "consumption_links": "separate", "t_nr": 7, "packet": 3},
    "multipath": {"consumption": 2, "packet": 5, "ports": "all", "delays": "fast", "injection_delay": 30, "t_hs": 9},
}


@cache
def network(scheme, lanes):
    return Network(MESH, SCHEMES[scheme], Configuration(**HARDWARE[scheme]), lanes)


@st.composite
def traffics(draw):
    """Mixtures, up to what a consumption link takes, of a message in 50 cycles and node at most."""
    distribution = draw(st.sampled_from(["fixed", "uniform", "normal"]))
    options = {
        "length": draw(st.integers(1, 40)), "unicast_length": draw(st.integers(1, 12)),
        "multicast_fraction": draw(st.sampled_from([0.0, 0.3, 1.0])),
        "destinations_mean": draw(st.integers(2, 8)), "destinations_distribution": distribution,
        "destinations_deviation": draw(st.sampled_from([0.0, 3.0])) if distribution == "normal" else 0.0,
    }
    one = Traffic(0.1, **options)
    most = min(0.1 / one.effective(MESH), one.mean_length / 50)
    return Traffic(most * draw(st.floats(0.05, 1)), **options)


SEEDS = st.lists(st.integers(0, 10**6), min_size=1, max_size=3, unique=True)
FEW = settings(max_examples=4, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def drained(scheme, traffic, seeds, cycles, chunk):
    """Return the outcome of all messages of a load, and the engine after the last receipt."""
    net = network(scheme, len(seeds))
    window = MessageWindow(net, [Source(traffic, MESH, seed) for seed in seeds], min(chunk, cycles))
    engine, done, now = BulkEngine(net, window.host), [], 0
    while now < cycles or (window.host.received < 0).any():
        until = now + chunk if now >= cycles else min(now + chunk, cycles)
        if 0 < now < cycles:
            window.extend(until)
        engine.host = window.host
        engine.run(until - now, beyond=True)
        check_receipts(window.host)
        done.append(window.take_done())
        now = until
        assert now < cycles + 200_000, "it does not come to an end"
    engine.host = window.host
    engine.run(100, beyond=True)
    return np.concatenate(done), engine


# how messages come and go is the host's, and much the same for all; what is measured of them is tested below
@pytest.mark.parametrize("scheme", some(HARDWARE, "dual-path"))
@given(traffic=traffics(), seeds=SEEDS, cycles=st.integers(100, 1200), chunk=st.integers(50, 600))
@FEW
def test_all_that_is_created_arrives_once(scheme, traffic, seeds, cycles, chunk):
    """Each message of each seed is there once, with its own words; the network is empty in the end."""
    done, engine = drained(scheme, traffic, seeds, cycles, chunk)
    for lane, seed in enumerate(seeds):
        made, mine = Source(traffic, MESH, seed).until(cycles), done[done["lane"] == lane]
        words = zip(made.at, made.length, np.diff(made.offsets), made.multicast, strict=True)
        found = zip(*(mine[name] for name in ("created", "length", "destinations", "multicast")), strict=True)
        assert sorted(words) == sorted(found)
    assert (done["injected"] >= done["created"]).all()
    assert (done["tail"] > done["injected"]).all()
    assert (done["received"] >= done["tail"]).all()
    assert left_over(engine) == {}


# worms that stop on their way, and trees by receipts
@pytest.mark.parametrize("scheme", some(HARDWARE, "dual-path", "u-mesh"))
@given(traffic=traffics(), seeds=SEEDS, cycles=st.integers(200, 1500), data=st.data())
@FEW
def test_what_is_measured_adds_up(scheme, traffic, seeds, cycles, data):
    """In the words of docs/experiments.md; and each seed counts as it does alone."""
    warmup = data.draw(st.integers(0, cycles // 2))
    options = {"configuration": Configuration(**HARDWARE[scheme]), "cycles": cycles, "warmup": warmup, "workers": 1}
    found = load(MESH, SCHEMES[scheme], traffic, seeds=seeds, **options)
    made = [Source(traffic, MESH, seed).until(cycles) for seed in seeds]
    counts = [one.at >= warmup for one in made]
    flits = [one.length[count].sum() for one, count in zip(made, counts, strict=True)]
    assert found.totals["created"].tolist() == flits
    assert found.totals["messages"].sum() + found.censored == sum(map(np.sum, counts))
    whole = load(MESH, SCHEMES[scheme], traffic, seeds=seeds, **{**options, "warmup": 0}).totals
    assert (whole["completed"] <= whole["consumed"]).all()
    assert (whole["consumed"] <= whole["wanted"]).all()
    assert (whole["wanted"] == [(np.diff(one.offsets) * one.length).sum() for one in made]).all()
    parts = [found.totals[name] for name in ("queue_latency", "network_latency", "reception_latency")]
    assert all((part >= 0).all() for part in parts)
    assert (sum(parts) == found.totals["latency"]).all()
    assert (found.totals["latency"] == found.totals["multicast_latency"] + found.totals["unicast_latency"]).all()
    for lane, seed in enumerate(seeds):
        alone = load(MESH, SCHEMES[scheme], traffic, seeds=[seed], **options)
        assert alone.totals[0] == found.totals[lane]
