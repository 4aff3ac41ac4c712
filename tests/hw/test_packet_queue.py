# amaranth: UnusedElaboratable=no
"""Receive queue of an interface: packets are stored whole and served in order, and no packet is lost."""

import random
from itertools import pairwise

import pytest
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.interface import NetworkInterface, consumption, packet_queue
from wormcast.hw.interface.packet_queue import PacketProcessor, PacketQueue

from . import bench

DEPTH, WIDTH = 4, 16


def packet(name, payload, header=1):
    """Flits of a packet: head mark, tail mark, and data that name the packet."""
    return [(1, 0, name * 64 + k) for k in range(header)] + [
        (0, int(k == payload - 1), name * 64 + 32 + k) for k in range(payload)]


class Node:
    """Network and host of an interface. The network sends each channel's flits in order, as credits allow.

    ``taken`` and ``consumed`` list the flits on the links: (cycle, channel, flit). The host returns a credit ``slow``
    cycles after each flit. ``chance`` of a cycle in which the network sends nothing.
    """

    def __init__(self, *, channels=1, places=2, flits=4, t_nr=0, slow=0, chance=0.0, seed=0):
        self.interface = NetworkInterface(
            injection=PortSpec("injection", vcs=1, depth=DEPTH), width=WIDTH, packet=flits, t_nr=t_nr,
            consumption=PortSpec("consumption", vcs=channels, depth=DEPTH), receive_queue=places)
        self.channels, self.slow, self.chance, self.random = channels, slow, chance, random.Random(seed)
        self.taken, self.consumed, self.faults = [], [], 0

    def run(self, arrivals, cycles):
        ports = self.interface
        queues = [[flit for channel, flits in arrivals if channel == v for flit in flits] for v in range(self.channels)]
        room, owed = [DEPTH] * self.channels, []

        def step(cycle, context):
            self.faults += bool(context.get(ports.fault).cause.value)
            credits = context.get(ports.network_in_0.credit)
            for v in range(self.channels):
                room[v] += credits >> v & 1
            if context.get(ports.host_out_0.valid):
                flit, channel = context.get(ports.host_out_0.flit), context.get(ports.host_out_0.vc)
                self.consumed.append((cycle, channel, (int(flit.head), int(flit.tail), int(flit.data))))
                owed.append((cycle + self.slow, channel))
            due = [channel for at, channel in owed if at <= cycle]
            owed[:] = [one for one in owed if one[0] > cycle]
            context.set(ports.host_out_0.credit, sum(1 << channel for channel in set(due)))
            owed.extend((cycle + 1, channel) for channel in set(due) for _ in range(due.count(channel) - 1))
            ready = [v for v in range(self.channels) if queues[v] and room[v]]
            context.set(ports.network_in_0.valid, 0)
            if ready and self.random.random() >= self.chance:
                v = self.random.choice(ready)
                flit = queues[v].pop(0)
                room[v] -= 1
                context.set(ports.network_in_0.valid, 1)
                context.set(ports.network_in_0.vc, v)
                context.set(ports.network_in_0.flit, dict(zip(("head", "tail", "data"), flit, strict=True)))
                self.taken.append((cycle, v, flit))

        bench.simulate(ports, cycles, step)
        return self


@pytest.mark.parametrize(("t_nr", "served"), [(0, 1), (1, 1), (9, 9)])
@pytest.mark.parametrize(("payload", "header"), [(4, 1), (1, 0), (3, 2)])
def test_packet_reaches_its_host_after_its_processing(t_nr, served, payload, header):
    """The first payload flit 3 cycles and the processing after the tail, then a flit in each cycle."""
    node = Node(t_nr=t_nr).run([(0, packet(1, payload, header))], 60)
    tail = node.taken[-1][0]
    assert [cycle for cycle, *_ in node.consumed] == [tail + 3 + served + k for k in range(payload)]
    assert [flit for _, _, flit in node.consumed] == packet(1, payload, 0)


def test_processor_serves_a_packet_in_its_cycles_and_one_more():
    node = Node(places=8, flits=2, t_nr=20).run([(0, packet(name, 2, 0)) for name in range(1, 7)], 300)
    tails = [cycle for cycle, _, flit in node.consumed if flit[1]]
    assert [late - early for early, late in pairwise(tails)] == [21] * 5


def test_link_stays_open_while_places_are_free():
    """A network sees no wait for t_nr until all places are full: then the buffer fills, and a credit is missing."""
    for places in (1, 3):
        node = Node(places=places, flits=4, t_nr=200).run([(0, packet(name, 4, 1)) for name in range(1, 8)], 150)
        assert len(node.taken) == 5 * places + DEPTH
        assert [cycle for cycle, *_ in node.taken] == list(range(len(node.taken)))


@pytest.mark.parametrize(("packets", "overflows"), [(2, False), (3, True)])
@pytest.mark.parametrize("channel", [0, 1])
def test_queue_that_is_never_full_takes_each_packet_and_reports_an_overflow(monkeypatch, packets, overflows, channel):
    """With 2 places for a channel a third packet of it is taken as fast, but it is an error; other channels have
    places of their own."""
    for module in (packet_queue, consumption):
        monkeypatch.setattr(module, "NEVER_FULL_PLACES", 2)
    arrivals = [(channel, packet(name, 4)) for name in range(1, packets + 1)] + [(1 - channel, packet(9, 4))]
    node = Node(channels=2, places=2, t_nr=200).run(arrivals, 100)
    assert [cycle for cycle, *_ in node.taken] == list(range(5 * (packets + 1)))
    assert bool(node.faults) == overflows


def test_place_that_is_freed_in_the_same_cycle_is_no_overflow(monkeypatch):
    monkeypatch.setattr(packet_queue, "NEVER_FULL_PLACES", 2)
    queue = PacketQueue(channels=1, places=2, flits=1, width=WIDTH)
    seen = []

    def step(cycle, context):
        context.set(queue.served, context.get(queue.waiting))
        context.set(queue.write, cycle in (0, 1, 8, 12))
        context.set(queue.flit.tail, 1)
        context.set(queue.pop, cycle == 8)
        seen.extend([cycle] * context.get(queue.overflow))
        assert context.get(queue.room)

    bench.simulate(queue, 15, step)
    assert seen == [12]


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("places", [1, 2, 5])
@pytest.mark.parametrize("seed", [0, *map(slow, range(1, 20))])
def test_no_packet_is_lost_or_doubled(channels, places, seed):
    rng = random.Random(seed)
    arrivals = [(rng.randrange(channels), packet(name, rng.randint(1, 4), rng.randint(0, 2))) for name in range(1, 25)]
    node = Node(channels=channels, places=places, t_nr=rng.choice([0, 1, 7]), slow=rng.choice([0, 3]),
                chance=rng.choice([0, 0.4]), seed=seed).run(arrivals, 900)
    assert node.faults == 0
    assert received(node) == sorted((v, flits[-1][2] // 64, [flit for flit in flits if not flit[0]])
                                    for v, flits in arrivals)


def test_packets_are_served_in_the_order_in_which_their_tails_arrived():
    rng = random.Random(1)
    arrivals = [(rng.randrange(3), packet(name, rng.randint(1, 4))) for name in range(1, 25)]
    node = Node(channels=3, places=24, t_nr=5).run(arrivals, 600)
    assert [flit[2] for _, _, flit in node.consumed if flit[1]] == [flit[2] for _, _, flit in node.taken if flit[1]]


def received(node):
    """Packets at the host, (channel, name, flits), sorted. Those of a channel are in order, and none is interrupted."""
    found = []
    for _, channel, flit in node.consumed:
        if not found or found[-1][2][-1][1]:
            found.append((channel, flit[2] // 64, []))
        assert channel == found[-1][0]
        found[-1][2].append(flit)
    for v in range(node.channels):
        names = [name for channel, name, _ in found if channel == v]
        assert names == sorted(names)
    return sorted(found)


@pytest.mark.parametrize(("build", "said"), [
    (lambda: PacketQueue(channels=1, places=0, flits=4, width=8), r"PacketQueue\.places: 0 .* 1 to 256"),
    (lambda: PacketQueue(channels=1, places=1, flits=0, width=8), r"PacketQueue\.flits: 0 .* 1 to 65535"),
    (lambda: PacketProcessor(-1), r"PacketProcessor\.cycles: -1 .* 0 to 65535"),
    (lambda: Node(places=257), r"Consumption\.queue: 257 .* 0 to 256"),
])
def test_parameters(build, said):
    with pytest.raises(WormcastError, match=said):
        build()
