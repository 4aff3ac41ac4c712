"""Deadlocks of worms that are longer than the buffers of deep switches: called when, and only when, it is one."""

import random

import pytest
from cases import slow, some
from command import wormcast

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.run import run

from .deadlock_cases import CASES, DEADLOCKS
from .test_deadlock import require_closed
from .test_deep_networks import DEEP, messages

KEPT = "tree_2_switches"


@pytest.mark.parametrize(("buffer", "code"), [(16, 3), (24, 0)])
def test_the_command_proves_the_deadlock_that_is_kept_and_ends_where_the_worms_fit(buffer, code):
    """Two trees of 17 flits cross: each has the link, or the node, that the other waits for."""
    case = CASES[KEPT]
    options = {**case.too_few, "vcs": 1, "buffer": buffer}
    given = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    ended, told, _ = wormcast("run", case.mesh, case.scheme, "--messages", DEADLOCKS / f"{KEPT}.jsonl", *given)
    assert ended == code
    if code:
        assert "deadlock, proved in cycle 1024: each worm waits for the next" in told
        assert "worm 1 (from 1 to 0 2) holds cons:0:0; waits for link:s0>s1:0" in told
        assert "waits for cons:0:0" in told


NETWORK = "irregular:switches=3,ports=6,nodes=8,connectivity=0.8,seed=3"
SCHEMES = ("tree", "path-g", "path-lg")


def outcome(scheme, seed, buffer, **options):
    """What becomes of random multicasts and unicasts of up to 70 flits."""
    network, rng = topology(NETWORK), random.Random(seed)
    sent = messages(network.nodes, 24, rng, longest=70, within=120, unicasts=0.3)
    return run(network, find_scheme(scheme, network), sent,
               Configuration(**DEEP, buffer=buffer, chunk=8, flit_width=16), timeout=60_000, **options)


@pytest.mark.parametrize("scheme", some(SCHEMES, "tree", "path-g"))
@pytest.mark.parametrize("seeds", [[3], slow(range(60))], ids=str)
def test_what_stands_still_is_proved_a_deadlock_and_arrives_where_worms_fit(scheme, seeds):
    """In the first one some of a worm has left its buffer and waits at an output (tree), and a row is not filled as its
    own worm is held up (path-g)."""
    dead = 0
    for seed in seeds:
        assert outcome(scheme, seed, 96).outcome == "delivered", seed
        small = outcome(scheme, seed, 16)
        assert small.outcome in ("delivered", "deadlock"), seed
        if small.outcome == "deadlock":
            dead += 1
            require_closed(small.deadlock.cycle)
            assert {hold.worm for hold in small.deadlock.cycle} <= small.deadlock.worms
    assert dead


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_both_engines_stand_still_alike(scheme):
    """The run says so itself: in Amaranth's simulator the same is undelivered after as many cycles."""
    for seed in (0, 3):
        assert outcome(scheme, seed, 16, engine="amaranth").outcome in ("deadlock", "delivered")
