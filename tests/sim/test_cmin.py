"""Trees of unicasts in multistage networks on the routers: t_hs and t_hr to the cycle, every destination once."""

import math

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.theory.contention import contention
from wormcast.sim import Configuration, Traffic, load

from .bench import bulk, finish, left_over, send
from .zero_load import LAST, PASS, deliveries

HARDWARE = {"vcs": 1, "buffer": 2, "consumption": 1, "flit_width": 12}
EACH = pytest.mark.parametrize("scheme", ["cmin", "cmin-halving"])


def receipts(name, scheme, source, destinations, length, **options):
    """Cycle in which each destination notes its receipt."""
    engine = bulk(name, scheme, [send(source, *destinations, length=length)], **HARDWARE, **options)
    finish(engine, within=20_000)
    assert not left_over(engine)
    return dict(zip(engine.host.deliveries["node"].tolist(), engine.host.received.tolist(), strict=True))


@EACH
@pytest.mark.parametrize(("name", "t_hs", "t_hr"), [
    ("min:b=2,stages=3", 100, 50), ("min:b=2,stages=3", 25, 0), slow("min:b=4,stages=2,kind=cube", 33, 7)])
def test_a_tree_without_contention_takes_t_hs_and_t_hr_at_each_step(scheme, name, t_hs, t_hr):
    """A worm is received as it would be alone, from its sender's receipt and t_hs for each worm sent before it; t_hs is
    longer than a worm takes to leave."""
    network, random, length = topology(name), np.random.default_rng(2), 9
    stages = int(name.partition("stages=")[2][0])
    ((_, tail),) = deliveries([PASS] * (stages - 1) + [LAST], 1, length, HARDWARE["buffer"])
    alone, most = t_hs + tail + t_hr, 0
    for _ in range(12):
        source, *destinations = random.permutation(network.nodes)[:random.integers(2, network.nodes + 1)].tolist()
        multicast = plan(network, scheme, source, destinations)
        if not contention(multicast).free:
            continue
        expected = {}
        for worm in multicast.worms:
            begin = 0 if worm.after is None else expected[worm.source]
            expected[worm.destinations[0]] = begin + worm.rank * t_hs + alone
        assert receipts(name, scheme, source, destinations, length, t_hs=t_hs, t_hr=t_hr) == expected
        most = max(most, multicast.steps)
    assert most == math.log2(network.nodes)


@EACH
@pytest.mark.parametrize("name", ["min:b=2,stages=3", slow("min:b=2,stages=4,kind=butterfly"),
                                  slow("min:b=4,stages=2,kind=omega"), slow("min:b=3,stages=3,kind=cube")])
def test_multicasts_at_once_reach_each_destination_once(scheme, name):
    """With hosts that stall, and worms that wait for each other; `finish` looks at every flit."""
    random, nodes = np.random.default_rng(4), topology(name).nodes
    messages = []
    for _ in range(3 * nodes):
        source, *others = random.permutation(nodes)[:random.integers(2, min(nodes, 11) + 1)].tolist()
        messages.append(send(source, *others, length=int(random.integers(1, 20)), at=int(random.integers(0, 400))))
    engine = bulk(name, scheme, messages, stall=0.3, seed=1, t_hs=5, t_hr=9, **HARDWARE)
    finish(engine, within=100_000)
    assert not left_over(engine)
    offsets = engine.host.worms["delivery"]
    assert len(offsets) == sum(len(message.destinations) for message in messages)


@EACH
def test_under_load_a_multicast_is_as_many_worms_as_destinations(scheme):
    """Three steps to four destinations: two times t_hs at least, and what the last worm takes."""
    network, latency = topology("min:b=2,stages=3"), {}
    for t_hs, t_hr in ((0, 0), (100, 50)):
        result = load(network, SCHEMES[scheme], Traffic(0.006, destinations_mean=4, length=16),
                      configuration=Configuration(**HARDWARE, t_hs=t_hs, t_hr=t_hr), cycles=20_000, seeds=(1, 2))
        told = result.to_dict()
        assert (told["copies"]["mean"], told["hops_per_destination"]["mean"], told["deadlock"]) == (4, 2, None)
        assert told["messages"] > 50
        latency[t_hs] = told["latency"]["mean"]
    assert latency[100] - latency[0] > 2 * 100 + 50
