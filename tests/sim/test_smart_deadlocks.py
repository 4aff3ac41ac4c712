"""Smart interfaces with fewer places than a message has packets may stop each other for ever; with enough, never."""

from pathlib import Path

import pytest
from cases import slow, some
from command import wormcast

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.experiments.hunt import hunt
from wormcast.sim.experiments.message_file import MessageFile, messages_in
from wormcast.sim.experiments.run import run
from wormcast.sim.host import UNDELIVERED

from .bench import bulk
from .test_deadlock import require_closed
from .test_deadlock_free import smaller
from .test_smart_interfaces import DEEP, IRREGULAR, messages_of

HERE = Path(__file__).parent
#: A deadlock that `wormcast hunt` found and shrank: a chain, and a unicast back along it.
CHAIN = HERE / "smart_deadlocks" / "chain_2x2.jsonl"
#: Staged: two chains that forward to each other, and a unicast that slows one of them down.
CHAINS = HERE / "smart_deadlocks" / "chains_2x2.jsonl"
NETWORK, SCHEME = "mesh:2x2", "k-binomial:k=1"
FEW = {"packet": 4, "vcs": 1, "consumption": 1, "buffer": 4, "ni": "fpfs", "rows": 4, "places": 1}


def ends(sent, **changes):
    network = topology(NETWORK)
    return run(network, find_scheme(SCHEME, network), sent, Configuration(**FEW | changes))


def kept(path):
    return messages_in(MessageFile(str(path), "kept", 2**32, 2**16), topology(NETWORK))


def test_the_example_is_what_was_found():
    """The documents show how it ends: `tests/docs/` runs that."""
    assert CHAIN.read_text() == (HERE.parents[1] / "examples" / "full_interfaces.jsonl").read_text()


@pytest.mark.parametrize(("places", "code"), [(1, 3), (4, 0)])
def test_chains_that_cross_deadlock_with_one_place_and_arrive_with_enough(places, code):
    """Each of two full interfaces waits for its own copy, and that one for the other interface's place."""
    given = [part for name, value in (FEW | {"places": places}).items() for part in (f"--{name}", value)]
    ended, told, _ = wormcast("run", NETWORK, SCHEME, "--messages", CHAINS, *given)
    assert ended == code
    if not code:
        assert "delivered in cycle 90" in told
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
        "no host has sent or received a flit of these worms since cycle 60",
    ]


@pytest.mark.slow  # of wide flits: tests/docs/
@pytest.mark.parametrize("path", [CHAIN, CHAINS])
def test_flits_of_which_the_first_ones_alone_say_whose_they_are(path):
    """Flits in the middle of a packet are identified by the flits sent before them."""
    narrow, wide = (ends(kept(path), flit_width=width).deadlock for width in (16, 64))
    assert narrow == wide


@pytest.mark.slow  # the hunt that has found it says so
def test_nothing_less_deadlocks():
    sent = kept(CHAIN)
    assert ends(sent).outcome == "deadlock"
    assert all(ends(less).outcome == "delivered" for less in smaller(sent))


@pytest.mark.slow  # minutes, of which most are the compiler's
def test_a_hunt_finds_it():
    network = topology(NETWORK)
    found = hunt(network, find_scheme(SCHEME, network), configuration=Configuration(**FEW), cycles=4_000_000,
                 lengths=(4, 64))
    assert list(found.result.messages) == kept(CHAIN)


@pytest.mark.parametrize(("length", "places", "code", "said"), [
    (24, 6, 0, "no consumption classes: free of deadlock\n"),
    (24, 5, 3, "no consumption classes: a cycle of 4 resources\n"),
    (None, 5, 0, "free of deadlock, if smart interfaces have packet buffer entries for all packets of the messages"),
])
def test_check_says_so_beforehand(length, places, code, said):
    """Two nodes that forward to each other are found among random multicasts, whatever the network."""
    given = [*(["--length", length] if length else []), "--packet", 4, "--ni", "fpfs", "--places", places]
    ended, told, _ = wormcast("check", "mesh:4x4", "k-binomial", *given)
    assert ended == code
    assert said in told
    if code:
        assert told.count("│ place:") == told.count("│ cons:") == 2


def test_places_for_all_packets_are_enough():
    assert [ends(kept(CHAIN), places=places).outcome for places in (1, 6)] == ["deadlock", "delivered"]


CASES = {
    "mesh": (SCHEME, "mesh:3x3", {"vcs": 1, "consumption": 1, "packet": 4}),
    "channels": (SCHEME, "mesh:3x3", {"vcs": 2, "consumption": 2, "packet": 4}),
    "min": (SCHEME, "min:b=2,stages=3", {"vcs": 1, "consumption": 1, "packet": 3}),
    "torus": (SCHEME, "torus:4x4", {"vcs": 2, "consumption": 1, "packet": 6, "flit_width": 16}),
    "paths": ("path-lg:by=ni", IRREGULAR, {**DEEP, "packet": 8}),
    "queue": (SCHEME, "mesh:3x3", {"vcs": 1, "consumption": 1, "packet": 4, "receive_queue": 1, "t_nr": 3}),
    "queues": (SCHEME, "mesh:3x3", {"vcs": 2, "consumption": 2, "packet": 4, "receive_queue": 1}),
}


@pytest.mark.parametrize("case", some(CASES, "mesh"))
@pytest.mark.parametrize("seeds", [[0], slow(range(1, 30))], ids=str)
def test_what_stands_still_is_proved_a_deadlock_and_arrives_with_enough_places(case, seeds):
    scheme, name, options = CASES[case]
    network, dead = topology(name), 0
    for seed in seeds:
        sent = messages_of(name, seed, 60, 12)
        few, enough = (run(network, find_scheme(scheme, network), sent, timeout=60_000, configuration=Configuration(
            **options, ni="fpfs", rows=4, places=places)) for places in (1, 16))
        assert enough.outcome == "delivered", seed
        assert few.outcome in ("delivered", "deadlock"), seed
        if few.outcome == "deadlock":
            dead += 1
            require_closed(few.deadlock.cycle)
            assert {hold.worm for hold in few.deadlock.cycle} <= few.deadlock.worms
    assert dead or case not in ("mesh", "channels", "queue", "queues") or len(seeds) == 1


@pytest.mark.parametrize("case", some(CASES, "mesh"))
def test_nothing_of_a_deadlock_comes_any_further(case):
    """It is looked for every few cycles, and found as soon as it is one: its worms stay where they are."""
    scheme, name, options = CASES[case]
    proved = 0
    for seed in range(4):
        engine = bulk(name, scheme, messages_of(name, seed, 60, 12), **options, ni="fpfs", rows=4, places=1)
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
        assert find_deadlock(engine).packets >= found.packets
        assert host.left[stuck].tolist() == left.tolist()
    assert proved or case not in ("mesh", "queue", "queues")
