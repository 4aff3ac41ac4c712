"""Deadlocks of worms that are longer than the buffers of deep switches: called when, and only when, it is one."""

import random
from pathlib import Path

import pytest
from command import wormcast

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.message_file import MessageFile, messages_in
from wormcast.sim.experiments.run import run

from .deadlock_cases import Case
from .test_deadlock import require_closed
from .test_deadlock_free import smaller
from .test_deep_networks import DEEP, messages

#: A deadlock on two switches, found and shrunk by `wormcast hunt`: two trees of 17 flits, a unicast that delays one.
KEPT = Path(__file__).parent / "deep_deadlocks" / "tree_2_switches.jsonl"
CASE = Case("irregular:switches=2,ports=8,nodes=4,connectivity=0.3,seed=1", "tree",
            {**DEEP, "buffer": 16, "chunk": 8, "flit_width": 16}, ({"buffer": 24},))


@pytest.mark.parametrize(("buffer", "code"), [(16, 3), (24, 0)])
def test_the_command_proves_the_deadlock_that_is_kept_and_ends_where_the_worms_fit(buffer, code):
    """One tree has the link, the other the node that both go to."""
    options = {**CASE.too_few, "buffer": buffer}
    given = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    ended, told, _ = wormcast("run", CASE.mesh, CASE.scheme, "--messages", KEPT, *given)
    assert ended == code
    if code:
        assert "deadlock, proved in cycle 1024: each worm waits for the next" in told
        assert "worm 1 (from 1 to 0 2) holds cons:0:0; waits for link:s0>s1:0" in told
        assert "waits for cons:0:0" in told


@pytest.mark.slow
def test_nothing_less_deadlocks():
    kept = messages_in(MessageFile(str(KEPT), "kept", 2**32, 2**16), topology(CASE.mesh))
    assert CASE.run(kept).outcome == "deadlock"
    assert all(CASE.run(less).outcome == "delivered" for less in smaller(kept))


NETWORK = "irregular:switches=3,ports=6,nodes=8,connectivity=0.8,seed=3"
SCHEMES = ("tree", "path-g", "path-lg")


def outcome(scheme, seed, buffer, **options):
    """Run random multicasts and unicasts of up to 70 flits."""
    network, rng = topology(NETWORK), random.Random(seed)
    sent = messages(network.nodes, 24, rng, longest=70, within=120, unicasts=0.3)
    return run(network, find_scheme(scheme, network), sent,
               Configuration(**DEEP, buffer=buffer, chunk=8, flit_width=16), timeout=60_000, **options)


@pytest.mark.slow  # switches of six ports with two sizes of buffers; the deadlock that is kept is proved above
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seeds", [[3], range(60)], ids=str)
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
