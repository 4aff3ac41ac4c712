"""Whatever goes through smart interfaces, and beside them: each destination gets each packet once, and in order."""

import random

import numpy as np
import pytest
from cases import slow
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wormcast.algorithms import topology
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.host import UNDELIVERED

from .bench import bulk, check_receipts, finish, host_of, network, send
from .test_deadlock_free import Full, keep_full
from .test_smart_interfaces import DEEP, IRREGULAR, NETWORKS

# networks and hardware of test_smart_interfaces, whose kernels are there
SMART = {"rows": 4, "places": 8}
HARDWARE = {
    "irregular": (*NETWORKS[0], ("k-binomial", "k-binomial:k=1", "binomial")),
    "mesh": (*NETWORKS[1], ("k-binomial", "binomial")),
    "min": (*NETWORKS[2], ("k-binomial", "binomial")),
    "torus": (*NETWORKS[3], ("k-binomial", "binomial")),
    "paths": (IRREGULAR, {**DEEP, "packet": 8, "t_ns": 3}, ("path-lg:by=ni", "path-g:by=ni", "ssr-lg:by=ni")),
}

SETTINGS = settings(deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def mixes(draw, nodes, packet, most):
    """Multicasts and unicasts, of a packet to as many as there are places, which come at random or all at once."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    unicasts, window = draw(st.sampled_from([0.0, 0.4, 0.9])), draw(st.sampled_from([1, 60, 400]))
    found = []
    for _ in range(draw(st.integers(2, most))):
        source, *others = rng.sample(range(nodes), nodes)
        count = 1 if rng.random() < unicasts else rng.randint(2, nodes - 1)
        # narrow flits: the last packet says which one it is, too
        length = 4 * rng.randint(1, SMART["places"] * packet // 4)
        found.append(send(source, *others[:count], length=length, at=rng.randrange(window)))
    return found


def packets_as_they_come(engine, within):
    """Run until everything is delivered: of each delivery which packets the host was given, in their order."""
    host = engine.host
    came = [[] for _ in host.deliveries]
    before = host.begun.copy()
    for _ in range(within):
        if not host.counters[UNDELIVERED]:
            break
        engine.run(1)
        for place in np.flatnonzero(host.begun != before).tolist():
            delivery = int(np.searchsorted(host.deliveries["packets"], place, side="right")) - 1
            came[delivery].append(place - int(host.deliveries["packets"][delivery]))
        before[:] = host.begun
    check_receipts(host)  # of which each was what is due, flit by flit, and came once
    return came


@pytest.mark.parametrize(("case", "kind", "examples"), [
    ("irregular", "fpfs", 3), ("mesh", "fcfs", 3), ("paths", "fpfs", 3),
    *(slow(case, kind, 25, id=f"{case}-{kind}-more") for case in HARDWARE for kind in ("fcfs", "fpfs")),
])
def test_each_destination_gets_each_packet_once_and_in_order(case, kind, examples):
    """Packets pass each other only where there are several virtual channels, or consumption channels, to do so."""
    name, options, schemes = HARDWARE[case]
    packet, alone = options["packet"], options["vcs"] == options["consumption"] == 1

    @settings(SETTINGS, max_examples=examples)
    @given(scheme=st.sampled_from(schemes), sent=mixes(topology(name).nodes, packet, 20),
           stall=st.sampled_from([0.0, 0.3]))
    def arrive(scheme, sent, stall):
        engine = bulk(name, scheme, sent, stall=stall, ni=kind, **SMART, **options)
        came = packets_as_they_come(engine, 100_000)
        for delivery, packets in zip(engine.host.deliveries, came, strict=True):
            length = int(engine.host.worms["length"][delivery["worm"]])
            assert (packets if alone else sorted(packets)) == [*range(-(-length // packet))]
        message_of = engine.host.worms["message"]
        got = sorted((int(message_of[one["worm"]]), int(one["node"])) for one in engine.host.deliveries)
        assert got == sorted((number, node) for number, one in enumerate(sent) for node in one.destinations)
        assert not engine.register("interface", "forwarding.occupancy").any()

    arrive()


@pytest.mark.slow  # test_smart_interfaces has a sample
@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
@pytest.mark.parametrize("case", HARDWARE)
def test_engines_agree_on_any_mix(case, kind):
    name, options, schemes = HARDWARE[case]
    options = {**options, **SMART, "ni": kind}

    @settings(SETTINGS, max_examples=3)
    @given(scheme=st.sampled_from(schemes), sent=mixes(topology(name).nodes, options["packet"], 4))
    def agree(scheme, sent):
        engine = bulk(name, scheme, sent, **options)
        finish(engine, 20_000)
        net = network(name, scheme, tuple(sorted(options.items())))
        judge = AmaranthEngine(net, host_of(net, sent))
        judge.run(int(engine.host.deliveries["received"].max()) + 1)
        assert np.array_equal(judge.host.deliveries, engine.host.deliveries)

    agree()


# rows for few messages, and places for one of them
FEW = {"rows": 4, "places": 4, "packet": 32, "t_ns": 5, "t_nr": 5}
LARGER = ({**DEEP, **FEW, "buffer": 640, "flit_width": 32}, "irregular:seed=1")
MANY = {"most": 31, "unicasts": 0.8, "busy": 0.04}
FULL = {
    "irregular, fpfs": Full("k-binomial", 280, {**LARGER[0], "ni": "fpfs"}, LARGER[1], **MANY),
    "irregular, fcfs": Full("k-binomial", 280, {**LARGER[0], "ni": "fcfs"}, LARGER[1], **MANY),
    "irregular, path worms": Full("path-lg:by=ni", 320, {**LARGER[0], "ni": "fpfs"}, LARGER[1], **MANY),
    "min": Full("k-binomial", 240, {"vcs": 2, "buffer": 4, "consumption": 1, **FEW, "ni": "fcfs"},
                "min:b=4,stages=2", most=15, unicasts=0.8, busy=0.1),
    "torus": Full("k-binomial", 240, {"vcs": 2, "buffer": 4, "consumption": 1, **FEW, "ni": "fpfs"},
                  "torus:4x4", most=15, unicasts=0.8, busy=0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize(("cycles", "batches", "least"), [(13_000, 1, 200_000), (110_000, 6, 10_000_000)])
def test_interfaces_that_are_kept_full_never_deadlock(name, cycles, batches, least):
    """16 networks near saturation and beyond it, whose postings wait for rows: everything is delivered."""
    assert keep_full(FULL[name], cycles=cycles, batches=batches, seed=2) >= least
