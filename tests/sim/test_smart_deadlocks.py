"""Smart interfaces with fewer places than a message has packets may stop each other for ever; with enough, never."""

from pathlib import Path

import pytest
from cases import slow, some
from command import wormcast

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.experiments.run import run
from wormcast.sim.host import UNDELIVERED

from .bench import bulk
from .test_deadlock import require_closed
from .test_smart_interfaces import IRREGULAR, NETWORKS, messages_of

#: Two chains that forward to each other, and a unicast that slows one of them down.
KEPT = Path(__file__).parent / "smart_deadlocks" / "chains_2x2.jsonl"


@pytest.mark.parametrize(("places", "code"), [(1, 3), (4, 0)])
def test_chains_that_cross_deadlock_with_one_place_and_arrive_with_enough(places, code):
    """Each of two full interfaces waits for its own copy, and that one for the other interface's place."""
    ended, told, _ = wormcast("run", "mesh:2x2", "k-binomial:k=1", "--messages", KEPT, "--packet", 4, "--vcs", 1,
                              "--consumption", 1, "--buffer", 4, "--ni", "fpfs", "--rows", 4, "--places", places)
    assert ended == code
    if not code:
        assert "delivered after 91 cycles" in told
        return
    cycle = told[told.index("deadlock, proved in cycle 512: each worm waits for the next"):].splitlines()[1:-1]
    assert [line.strip() for line in cycle] == [
        "worm 0, packet 1 (from 1.1 to 0.0) holds cons:0.0:0; waits for place:0.0:0",
        "worm 1, packet 0 (from 0.0 to 1.0) holds place:0.0:0, inj:0.0:0:0; waits for inj:0.0:0:0",
        "worm 4, packet 5 (from 0.0 to 1.1) holds inj:0.0:0:0, link:0.0>0.1:0; waits for link:0.0>0.1:0",
        "worm 4, packet 4 (from 0.0 to 1.1) holds link:0.0>0.1:0, link:0.1>1.1:0; waits for cons:1.1:0",
        "worm 2, packet 3 (from 1.0 to 1.1) holds cons:1.1:0; waits for place:1.1:1",
        "worm 3, packet 2 (from 1.1 to 0.0) holds place:1.1:1, inj:1.1:0:0; waits for inj:1.1:0:0",
        "worm 3, packet 1 (from 1.1 to 0.0) holds link:1.1>1.0:0, inj:1.1:0:0; waits for link:1.1>1.0:0",
        "worm 3, packet 0 (from 1.1 to 0.0) holds link:1.0>0.0:0, link:1.1>1.0:0; waits for cons:0.0:0",
    ]


FEW = {"ni": "fpfs", "rows": 4, "places": 1}
CASES = {
    "irregular": ("k-binomial:k=1", *NETWORKS[0]),
    "mesh": ("k-binomial", *NETWORKS[1]),
    "min": ("k-binomial:k=1", *NETWORKS[2]),
    "torus": ("k-binomial", *NETWORKS[3]),
    "paths": ("path-lg:by=ni", IRREGULAR, NETWORKS[0][1]),
}


@pytest.mark.parametrize("case", some(CASES, "mesh", "paths"))
@pytest.mark.parametrize("seeds", [[0, 1, 2], slow(range(3, 40))], ids=str)
def test_what_stands_still_is_proved_a_deadlock_and_arrives_with_enough_places(case, seeds):
    scheme, name, options = CASES[case]
    network, dead = topology(name), 0
    for seed in seeds:
        sent = messages_of(name, seed, 60, 5)
        few, enough = (run(network, find_scheme(scheme, network), sent, Configuration(**options, **FEW | places),
                           timeout=60_000) for places in ({}, {"places": 8}))
        assert enough.outcome == "delivered", seed
        assert few.outcome in ("delivered", "deadlock"), seed
        if few.outcome == "deadlock":
            dead += 1
            require_closed(few.deadlock.cycle)
            assert {hold.worm for hold in few.deadlock.cycle} <= few.deadlock.worms
    assert dead


@pytest.mark.parametrize("case", some(CASES, "mesh", "paths"))
def test_nothing_of_a_deadlock_comes_any_further(case):
    """It is looked for every few cycles, and found as soon as it is one: its worms stay where they are."""
    scheme, name, options = CASES[case]
    proved = 0
    for seed in range(4):
        engine = bulk(name, scheme, messages_of(name, seed, 60, 5), **options, **FEW)
        host, found = engine.host, None
        while found is None and host.counters[UNDELIVERED]:
            engine.run(37)
            found = find_deadlock(engine)
        if found is None:
            continue
        proved += 1
        stuck = sorted(found.worms)
        left = host.left[stuck].copy()
        assert (left > 0).all()
        engine.run(20_000)
        now = find_deadlock(engine)
        assert now.packets >= found.packets
        assert host.left[stuck].tolist() == left.tolist()
    assert proved
