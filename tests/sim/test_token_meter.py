"""Tokens as the meter counts them, against the stations' own registers in every cycle."""

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import TOKEN_WAITS, TOKENS_HELD, TOKENS_WALK, take
from wormcast.sim.host import lay_out, sampled

CYCLES = 1500


def engine_of(vector_width):
    """Multicasts to some of 8 nodes; groups that share a token have 4, 2 and 1 switches."""
    shape = topology("min:b=2,stages=3")
    scheme = find_scheme("atbm", shape)
    net = Network(shape, scheme, Configuration(vcs=1, consumption=1).for_headers(shape, scheme, 7))
    random = np.random.default_rng(1)
    at = np.sort(random.integers(0, 1000, 80))
    source = random.integers(0, 8, len(at)).astype(np.int32)
    sets = [np.sort(random.permutation(np.delete(np.arange(8), node))[:random.integers(1, 7)]) for node in source]
    offsets = np.cumsum([0, *map(len, sets)])
    worms = scheme.batch(shape, source, offsets, np.concatenate(sets).astype(np.int32))
    return BulkEngine(net, lay_out(net, at, np.full(len(at), 16), worms), measure=True, vector_width=vector_width)


def registers(engine, name):
    """A flag of each switch, [switches]: of all its inputs together where they have one each."""
    net, found = engine.network, np.zeros(engine.network.topology.switches, np.int64)
    for kind, router in net.routers.items():
        names = [name] if name.startswith("token.") else [
            f"{net.probe(kind, port, 0).scope}.{name}" for port in range(len(router.inputs))]
        found[net.switch_kinds[kind].members] = sum(engine.register(kind, one)[:net.count(kind)] for one in names)
    return found


@pytest.mark.parametrize("vector_width", [slow(None), 512])
def test_tokens_are_counted_as_the_registers_have_them(vector_width):
    engine = engine_of(vector_width)
    net = engine.network
    taken, wanted = np.zeros(net.topology.switches, np.int64), np.zeros((3, net.topology.switches), np.int64)
    before = registers(engine, "token.in_use")
    for cycle in range(CYCLES):
        held, waiting = registers(engine, "token.in_use"), registers(engine, "needs_token")
        taken += held & ~before & 1
        before = held
        if sampled(cycle):
            wanted[0] += waiting
            wanted[1] += held
            for ring in net.rings.values():
                wanted[2, ring[0]] += bool(waiting[ring].any()) and not held[ring].any()
        engine.run(1, beyond=True)
    found = take(engine.meter)
    taken += registers(engine, "token.in_use") & ~before & 1
    assert np.array_equal(found.taken[0], taken)
    for row, mine in zip((TOKEN_WAITS, TOKENS_HELD, TOKENS_WALK), wanted, strict=True):
        assert np.array_equal(found.sampled[row, 0], mine)
        assert mine.sum() > 1
    assert taken.min() > 2
    assert {len(ring) for ring in net.rings.values()} == {1, 2, 4}
