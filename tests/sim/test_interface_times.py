"""Cycles in which packets leave and enter interfaces, against the docstrings. Each packet is seen once."""

import itertools
from collections import Counter

import numpy as np
import pytest
from cases import slow

from wormcast.sim.engines.interface_times import follow_interfaces

from .bench import bulk, send

NETWORK = "irregular:switches=2,ports=8,nodes=8,connectivity=1,seed=1"
HEADER, SIZE, PACKETS, T_NS, T_NR = 1, 6, 3, 40, 7
DEEP = {"vcs": 1, "consumption": 1, "buffer_kind": "deep", "buffer": 64, "chunk": 8, "packet": SIZE, "t_ns": T_NS,
        "t_nr": T_NR}

# cycles by docstrings: a flit that a host gives in cycle t is presented to the injection in t + 2; a packet that is
# whole in t is presented in t + 2; a flit that may go in t is on the link in t + 1, and one that leaves a consumption
# channel in t with the host in t + 1
GIVEN, STORED, GOES, TAKEN = 2, 2, 1, 1
GAP = T_NS + HEADER + SIZE


def followed(engine):
    times = follow_interfaces(engine, 2500)
    assert (engine.host.received >= 0).all()
    return times


def in_order(times, node):
    return sorted((one for one in times.sent if one.node == node), key=lambda one: one.presented)


def check_links(times):
    """Check the times of flits that nothing delays."""
    for one in times.sent:
        assert one.started == one.presented + T_NS
        assert one.first == one.started + GOES
        assert one.last == one.first + HEADER + SIZE - 1
    for one in times.received:
        assert one.last >= one.first + SIZE - 1
        assert (one.held, one.passed) == (one.last + 1, one.last + 1 + T_NR)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", ["fpfs", "fcfs"])
def test_a_smart_interface_presents_copies_by_the_recurrence(kind, k):
    """A copy begins when its packet is whole and the one before it is through, in the order of [Sivaram98], section
    4.2."""
    engine = bulk(NETWORK, f"k-binomial:k={k},order=id", [send(0, *range(1, 1 << k), length=PACKETS * SIZE)], ni=kind,
                  places=PACKETS, **DEEP)
    worms = engine.host.worms
    child_of = engine.host.deliveries["node"][worms["delivery"]]
    times = followed(engine)
    check_links(times)
    whole = {(one.node, one.packet): one.passed for one in times.received}
    whole |= {(0, packet): int(worms["injected"][0]) + (packet + 1) * SIZE + GIVEN for packet in range(PACKETS)}
    for node in range(1 << k):
        mine = np.flatnonzero(worms["source"] == node).tolist()
        order = list(itertools.product(range(PACKETS), mine) if kind == "fpfs" else
                     ((packet, worm) for worm, packet in itertools.product(mine, range(PACKETS))))
        sent = in_order(times, node)
        assert [(one.packet, one.worm) for one in sent] == order
        free = 0
        for one in sent:
            assert one.presented == max(free, whole[node, one.packet] + STORED)
            free = one.presented + GAP
    for one in times.received:
        assert child_of[one.worm] == one.node
    last = {node: max(one.passed for one in times.received if one.node == node) for node in range(1, 1 << k)}
    assert last == {int(one["node"]): int(one["tail"]) + T_NR - TAKEN for one in engine.host.deliveries}


def test_a_conventional_interface_presents_packet_behind_packet():
    """And only what its host has received whole is sent on: the message, not the packet."""
    message = send(0, *range(1, 8), length=PACKETS * SIZE)
    engine = bulk(NETWORK, "binomial:order=id", [message], t_hs=30, t_hr=20, **DEEP)
    worms, deliveries = engine.host.worms, engine.host.deliveries
    times = followed(engine)
    check_links(times)
    for node in range(8):
        mine = sorted(np.flatnonzero(worms["source"] == node).tolist(), key=worms["injected"].__getitem__)
        sent = in_order(times, node)
        assert [(one.worm, one.packet) for one in sent] == list(itertools.product(mine, range(PACKETS)))
        for before, one in itertools.pairwise(sent):
            assert one.presented - before.presented >= GAP
        for worm in mine:
            first = next(one for one in sent if one.worm == worm)
            assert first.presented >= worms["injected"][worm] + GIVEN
        if node and sent:
            received = deliveries["received"][deliveries["node"] == node]
            assert sent[0].presented == received + 30 + GIVEN
            assert received == max(one.passed for one in times.received if one.node == node) + TAKEN + 20


MESSAGES = [send(0, 5, 6, 7, 9, 12, 13, length=24), send(3, 0, 5, 6, 10, 12, length=40),
            send(15, 0, 5, 6, 7, length=20, at=60), send(9, 2, length=7, at=30)]


# those with several ports or links differ from others by a dimension of the same arrays
@pytest.mark.parametrize("options", [
    {"scheme": "dual-path", "consumption": 3, "t_nr": 1},
    slow({"scheme": "dual-path", "ports": "all", "ejection": "all", "t_ns": 1, "t_nr": 12}),
    slow({"scheme": "multipath", "consumption_links": "separate", "consumption": 4, "t_nr": 9}),
    {"scheme": "dual-path", "consumption": 3, "t_nr": 9, "receive_queue": 2},
    {"scheme": "dual-path", "consumption": 3, "t_ns": 4, "t_nr": 9, "receive_queue": 1, "send_queue": 2,
     "ni_processors": "one"},
    slow({"scheme": "u-mesh", "vcs": 1, "consumption": 1, "t_ns": 1, "t_nr": 1, "receive_queue": 1, "send_queue": 1,
          "ni_processors": "one"}),
    slow({"scheme": "dual-path", "t_ns": 6, "send_queue": 2}),
    {"scheme": "u-mesh", "packet": 0, "t_hs": 5},
    {"scheme": "k-binomial", "ni": "fpfs", "flit_width": 8, "t_ns": 3, "t_nr": 3},
    {"scheme": "k-binomial", "ni": "fpfs", "places": 1, "consumption": 2, "t_ns": 2, "t_nr": 5, "stall": 0.4},
    slow({"scheme": "k-binomial", "ni": "fpfs", "places": 1, "consumption": 2, "t_ns": 2, "t_nr": 5, "stall": 0.4,
          "receive_queue": 2}),
], ids=lambda options: "-".join(map(str, options.values())))
def test_every_packet_is_seen_once_where_it_leaves_and_where_it_comes(options):
    options = {"packet": 10, **options}
    engine = bulk("mesh:4x4", options.pop("scheme"), MESSAGES, **options)
    times = followed(engine)
    worms, deliveries = engine.host.worms, engine.host.deliveries
    expected = Counter()
    for worm, packets in enumerate(engine.host.packets.tolist()):
        expected.update((int(worms["source"][worm]), worm, packet) for packet in range(packets))
    assert Counter((one.node, one.worm, one.packet) for one in times.sent) == expected
    expected = Counter()
    for one in deliveries:
        packets = int(engine.host.packets[one["worm"]])
        expected.update((int(one["node"]), int(one["worm"]), packet) for packet in range(packets))
    assert Counter((one.node, one.worm, one.packet) for one in times.received) == expected
    t_ns, t_nr = options.get("t_ns", 0), options.get("t_nr", 0)
    for one in times.sent:
        assert (one.presented, one.started) == (-1, -1) if not t_ns else one.presented + t_ns == one.started < one.first
        assert one.first <= one.last
    for one in times.received:
        assert (one.held, one.passed) == (-1, -1) if not t_nr else one.last < one.held == one.passed - t_nr
    for one in deliveries:
        last = max(max(got.last + 1, got.passed - t_nr) for got in times.received
                   if (got.node, got.worm) == (one["node"], one["worm"]))
        assert one["tail"] >= last + TAKEN  # or more, behind flits of other channels


def test_what_does_not_end():
    """Of two worms that wait for each other's consumption channel, and of one behind them that has no channel yet."""
    engine = bulk("mesh:1x4", "dual-path", [send(0, 1, 2, length=64), send(3, 2, 1, length=64), send(0, 1, length=8)],
                  vcs=1, consumption=1, t_ns=5, t_nr=3)
    times = follow_interfaces(engine, 500)
    assert [(one.node, one.presented, one.started, one.last) for one in times.sent] == [(0, 2, 7, -1), (3, 2, 7, -1)]
    assert [(one.node, one.last, one.passed) for one in times.received] == [(1, -1, -1), (2, -1, -1)]
