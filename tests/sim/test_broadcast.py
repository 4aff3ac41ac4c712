"""Broadcasts on tori through the routers: their formulas to the cycle, every node once, from any source."""

import itertools

import numpy as np
import pytest
from cases import slow
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import find_scheme, topology
from wormcast.algorithms.schemes.dcf import Dcf
from wormcast.sim import hardware, run
from wormcast.sim.host import Message

from .zero_load import LAST, PASS, deliveries

HOP = 3  # cycles of a header
DEPTH = 4


def alone(length):
    """c: what a unicast alone takes besides its hops, by the recurrence, which knows no hardware; 1, 2, 5 hops."""
    found = {tail - HOP * hops for hops in (1, 2, 5)
             for ((_, tail),) in [deliveries([PASS] * hops + [LAST], 1, length, DEPTH)]}
    assert len(found) == 1
    return found.pop()


def broadcast(n, name, length, source=0, **options):
    network = topology(f"torus:{n}x{n}")
    scheme = find_scheme(name, network)
    hardware_of = hardware(network, scheme, {"configuration": "dcf_torus", **options})
    message = Message(0, source, tuple(network.destination_set("all", source)), length)
    return run(network, scheme, [message], hardware_of, timeout=10**7)


def cost_of(name, n):
    network = topology(f"torus:{n}x{n}")
    return find_scheme(name, network).cost(network)


def latency(result):
    return result.message_to_dict(0)["latency"]


TIMES = [(t_s, t_r, length) for length in (1, 20, 1000) for t_s in (0, length, 300, 2000) if t_s >= length or not t_s
         for t_r in (0, 20, 200)]


@pytest.mark.parametrize(("n", "name", "ties"), [
    (4, "dcf", "plus"), slow(8, "dcf", "signed"), slow(8, "dcf", "plus"), slow(16, "dcf", "plus"),
    slow(32, "dcf", "plus"), slow(64, "dcf", "plus"), slow(4, "dcf-2", "plus"), slow(8, "dcf-2", "plus"),
    slow(16, "dcf-2", "plus"),
    slow(32, "dcf-2", "signed")])
def test_dcf_takes_what_its_formula_says_to_the_cycle(n, name, ties):
    for t_s, t_r, length in TIMES:
        cost = cost_of(name, n)
        expected = cost.latency(t_s=t_s, t_r=t_r, t_hop=HOP, c=alone(length))
        assert latency(broadcast(n, name, length, ties=ties, t_hs=t_s, t_hr=t_r)) == expected


@pytest.mark.parametrize(("sizes", "length"), [([4], 5), slow([4, 8], 20)])
def test_sends_closer_than_a_worm_is_long_change_nothing(sizes, length):
    """The formula holds for t_s below L too: a worm that waits behind its own sender's is not on the longest chain."""
    for n, t_s in itertools.product(sizes, range(1, length)):
        cost = cost_of("dcf", n)
        assert latency(broadcast(n, "dcf", length, t_hs=t_s)) == cost.latency(t_s=t_s, t_r=0, t_hop=HOP,
                                                                              c=alone(length))


@pytest.mark.parametrize(("t_s", "t_r", "length"), [(100, 50, 20), slow(0, 0, 20), slow(300, 0, 1)])
def test_no_other_order_of_the_first_step_is_faster(t_s, t_r, length):
    """[Hou], section 5.2: the order of figure 7; A last, of which most go on, costs three t_s more."""
    network = topology("torus:4x4")
    given_hardware = hardware(network, find_scheme("dcf", network),
                              {"configuration": "dcf_torus", "t_hs": t_s, "t_hr": t_r})
    message = Message(0, 0, tuple(range(1, 16)), length)
    times = {}
    for order in itertools.permutations(Dcf.block[0]):
        kind = type("Ordered", (Dcf,), {"block": (order, Dcf.block[1])})
        times[order] = latency(run(network, kind(), [message], given_hardware))
    assert times[Dcf.block[0]] == min(times.values())
    a_last = (*Dcf.block[0][1:], Dcf.block[0][0])
    assert times[a_last] - times[Dcf.block[0]] == 3 * t_s


@pytest.mark.parametrize("n", [4, slow(8), slow(16)])
def test_edn_with_signs_takes_what_its_formula_says(n):
    for t_s, t_r, length in ((0, 0, 20), (200, 200, 20), (0, 0, 1000)):
        cost = cost_of("edn", n)
        assert latency(broadcast(n, "edn", length, ties="signed", t_hs=t_s, t_hr=t_r)) == cost.latency(
            t_s=t_s, t_r=t_r, t_hop=HOP, c=alone(length))


@pytest.mark.slow
def test_on_32x32_a_worm_of_edn_waits_for_another_node_s_at_20_flits():
    """It violates Theorem 1 in 25 pairs, of which one counts here: 19 cycles on the longest chain."""
    assert latency(broadcast(32, "edn", 20, ties="signed")) == 266 + 19
    assert latency(broadcast(32, "edn", 1000, ties="signed")) == 5166


@pytest.mark.parametrize(("n", "name", "depths"), [
    (4, "dcf", [4]), slow(4, "z", [1, 4]), slow(8, "edn", [1, 4]), slow(5, "tseng", [1, 4]),
    slow(4, "separate", [1, 4]), slow(4, "u-torus", [1, 4])])
@given(data=st.data())
@settings(deadline=None, max_examples=8)
def test_every_node_gets_the_message_once_from_any_source(n, name, depths, data):
    source = data.draw(st.integers(0, n * n - 1))
    options = {"t_hs": data.draw(st.sampled_from([0, 7, 50])), "t_hr": data.draw(st.sampled_from([0, 30])),
               "ties": data.draw(st.sampled_from(["plus", "signed"])),
               "buffer": data.draw(st.sampled_from(depths))}
    result = broadcast(n, name, data.draw(st.integers(1, 30)), source, **options)
    assert (result.outcome, result.faults) == ("delivered", ())
    received = np.bincount(result.worms.destinations, minlength=n * n)
    assert received.tolist() == [int(node != source) for node in range(n * n)]


def test_a_source_anywhere_takes_as_long():
    """Over the seam of a ring as elsewhere: worms change their class there."""
    times = {latency(broadcast(8, "dcf", 20, source, t_hs=10, t_hr=5)) for source in (0, 7, 27, 36, 63)}
    assert len(times) == 1


def test_worms_that_leave_by_one_link_are_one_queue_whatever_their_class():
    """From 0.3 on 8x8 both ways to the right: to 0.4 by h, and over the seam to 0.6 and 0.7 by h, to 0.0 by p."""
    network = topology("torus:8x8")
    scheme = find_scheme("separate", network)
    given_hardware = hardware(network, scheme, {"configuration": "dcf_torus", "ties": "plus"})
    source, targets = network.node("0.5"), [network.node(name) for name in ("0.6", "0.0", "0.7", "1.1")]
    result = run(network, scheme, [Message(0, source, tuple(targets), 30)], given_hardware)
    ports = result.network.injection_port_of(result.worms)
    assert len(set(ports.tolist())) == 1
    order = np.argsort(result.host.injected)
    # the next one begins when the one before has been handed over
    assert (result.host.injected[order][1:] > result.host.handed[order][:-1]).all()
    assert result.worms.rank[order].tolist() == [0, 1, 2, 3]


def crowd(name, seed, count, unicasts):
    """Draw broadcasts and unicasts on a torus, at random times."""
    random, network = np.random.default_rng(seed), topology(name)
    found = []
    for number in range(count + unicasts):
        source, other = (int(one) for one in random.choice(network.nodes, 2, replace=False))
        targets = (other,) if number >= count else tuple(network.destination_set("all", source))
        found.append(Message(int(random.integers(20)), source, targets, int(random.integers(1, 61))))
    return found


def outcomes(n, name, seeds, count, unicasts, **options):
    network = topology(f"torus:{n}x{n}")
    scheme = find_scheme(name, network)
    given_hardware = hardware(network, scheme, {"configuration": "dcf_torus", **options})
    return [run(network, scheme, crowd(network.name, seed, count, unicasts), given_hardware).outcome for seed in seeds]


@pytest.mark.parametrize(("n", "name", "seeds", "options"), [
    (8, "dcf", 4, {}), slow(8, "dcf", 60, {}), slow(8, "dcf", 30, {"buffer": 1, "ties": "signed"}),
    slow(8, "edn", 30, {"ties": "signed"}), slow(8, "z", 30, {"ties": "signed"}), slow(4, "dcf-2", 40, {"buffer": 1}),
    slow(5, "tseng", 30, {}), slow(16, "dcf", 6, {})])
def test_broadcasts_at_once_with_unicasts_beside_them_are_free_of_deadlock(n, name, seeds, options):
    assert set(outcomes(n, name, range(seeds), 16, 400, **options)) == {"delivered"}


@pytest.mark.slow  # unicasts do: test_channels_taken_away
def test_without_classes_they_deadlock():
    """The first of the runs before, whose channels are not kept apart: of eight, six end so."""
    assert outcomes(8, "dcf", [0], 16, 400, vc_classes="none") == ["deadlock"]


def test_another_broadcast_undoes_the_order_that_condition_4_is_about():
    """The second one's worm from 3.5 to 5.1 is delayed; 3.7 has it first, and its own worm waits behind that one."""
    network = topology("torus:8x8")
    scheme = find_scheme("dcf", network)
    given_hardware = hardware(network, scheme, {"configuration": "dcf_torus"})
    first, second = (Message(at, source, tuple(network.destination_set("all", source)), 20)
                     for at, source in ((0, network.node("2.5")), (43, network.node("3.5"))))
    (alone,) = run(network, scheme, [second], given_hardware, contention=True).contention
    assert set(alone["other_nodes"].values()) == set(alone["other_traffic"].values()) == {0}
    one, other = run(network, scheme, [first, second], given_hardware, contention=True).contention
    assert one["other_nodes"]["channel"] == 0 < one["other_traffic"]["channel"]
    assert 0 < other["other_nodes"]["channel"] < other["other_traffic"]["channel"]
