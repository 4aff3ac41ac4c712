# amaranth: UnusedElaboratable=no
"""Send queue of an interface, and the one processor of both queues."""

import random
from itertools import pairwise

import pytest
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.interface import Consumption, Injection, NetworkInterface
from wormcast.hw.interface.communication_processor import CommunicationProcessor

from . import bench
from .test_network_interface import inject, packets

DEPTH, WIDTH = 4, 16


@pytest.mark.parametrize("t_ns", [0, 1, 20])
@pytest.mark.parametrize(("header", "payload"), [(1, 4), (3, 2), (1, 1)])
def test_packet_is_sent_after_it_is_stored_whole(t_ns, header, payload):
    taken = []
    seen = inject(bench.worm(range(40, 40 + header), payload), taken=taken, packet=4, header_flits=3, send_queue=2,
                  t_ns=t_ns)
    # a flit that the host gives in cycle t is on its link in t + 1
    assert [cycle for cycle, *_ in seen] == [taken[-1] + 1 + 3 + t_ns + k for k in range(header + payload)]


@pytest.mark.parametrize("places", [1, 3])
@pytest.mark.parametrize("most", [1, 3, 4])
@pytest.mark.parametrize("vcs", [1, 3])
def test_packets_leave_whole_and_in_order(places, most, vcs):
    worms = [([40 + k for k in range(1 + (length * 7) % most)], length) for length in (1, 2, 3, 4, 10, 5, 8, 1)]
    flits = [flit for worm in worms for flit in bench.worm(*worm)]
    seen = inject(flits, vcs=vcs, cycles=600, packet=3, header_flits=most, send_queue=places)
    assert [entry[2:] for entry in seen] == [flit for worm in worms for flit in packets(*worm, 3)]


@pytest.mark.parametrize("places", [1, 2, 5])
def test_host_sends_until_all_places_are_full(places):
    """The network returns no credits: the packet that is sent keeps its place, and the next waits in the buffer."""
    taken = []
    inject(bench.worm([40], 60), taken=taken, cycles=300, credit_after=1000, packet=4, send_queue=places)
    assert len(taken) == 1 + 4 * places + 4  # header, packets, and the buffer of 4 flits (the next header is stored)


def test_packets_follow_each_other_by_their_overhead_and_flits():
    seen = inject(bench.worm([40], 40), cycles=400, depth=6, packet=4, send_queue=3, t_ns=9)
    firsts = [cycle for cycle, _, head, *_ in seen if head]
    assert [late - early for early, late in pairwise(firsts)] == [9 + 5] * 9


class Jobs:
    """A processor whose queues have packets at given cycles; ``blocked`` gives the queues that cannot start."""

    def __init__(self, *, arrivals, cycles=200, blocked=lambda cycle, queue: False, capacity=16, **parameters):
        given = {"receive": 1, "send": 1, "t_nr": 5, "t_ns": 3, "order": "arrival", **parameters}
        processor = CommunicationProcessor(packets=capacity, **given)
        stored = [0] * processor.queues
        self.done = []

        def step(cycle, context):
            comes = [k for at, k in arrivals if at == cycle]
            context.set(processor.arrives, sum(1 << k for k in comes))
            context.set(processor.waits, sum(1 << k for k in range(processor.queues)
                                             if stored[k] and not blocked(cycle, k)))
            served = context.get(processor.done)
            for k in range(processor.queues):
                stored[k] += comes.count(k) - (served >> k & 1)
                if served >> k & 1:
                    self.done.append((cycle, k))

        bench.simulate(processor, cycles, step)
        assert not any(stored) or any(blocked(cycles, k) for k in range(processor.queues))


RECEIPT, SEND = 0, 1


@pytest.mark.parametrize(("order", "served"), [
    ("arrival", [SEND, RECEIPT, SEND, RECEIPT, SEND]),
    ("receive-first", [SEND, RECEIPT, RECEIPT, SEND, SEND]),
    ("send-first", [SEND, SEND, SEND, RECEIPT, RECEIPT]),
])
def test_order_of_service(order, served):
    jobs = Jobs(arrivals=[(0, SEND), (1, RECEIPT), (1, SEND), (2, RECEIPT), (3, SEND)], order=order)
    assert [queue for _, queue in jobs.done] == served


@pytest.mark.parametrize(("t_nr", "t_ns"), [(5, 3), (0, 0), (1, 9)])
def test_processor_serves_packet_after_packet(t_nr, t_ns):
    """A packet that arrives in cycle t begins in t + 1, the next in the cycle after the first is done."""
    jobs = Jobs(arrivals=[(4, RECEIPT), (4, SEND), (5, RECEIPT)], t_nr=t_nr, t_ns=t_ns)
    ends = [5 + max(t_nr, 1) - 1]
    ends += [ends[-1] + max(t_ns, 1)]
    ends += [ends[-1] + max(t_nr, 1)]
    assert jobs.done == list(zip(ends, (RECEIPT, SEND, RECEIPT), strict=True))


@pytest.mark.parametrize("order", ["arrival", "receive-first", "send-first"])
def test_queue_that_cannot_start_stops_no_other_queue(order):
    arrivals = [(0, SEND), (1, SEND), *((cycle, RECEIPT) for cycle in range(10, 60, 10))]
    jobs = Jobs(arrivals=arrivals, order=order, blocked=lambda cycle, queue: queue == SEND and cycle < 100)
    assert [queue for cycle, queue in jobs.done if cycle < 100] == [RECEIPT] * 5
    assert [queue for cycle, queue in jobs.done if cycle >= 100] == [SEND] * 2


@pytest.mark.parametrize("seed", [0, 1, *map(slow, range(2, 20))])
def test_oldest_packet_that_can_start_is_next(seed):
    """Against a list in Python, with two queues on each side that cannot start now and then."""
    rng = random.Random(seed)
    arrivals = [(cycle, queue) for cycle in range(150) for queue in range(4) if rng.random() < 0.08]
    closed = {(cycle, queue): rng.random() < 0.5 for cycle in range(600) for queue in range(4)}
    jobs = Jobs(arrivals=arrivals, cycles=600, capacity=len(arrivals), receive=2, send=2, t_nr=2, t_ns=3,
                blocked=lambda cycle, queue: cycle < 500 and closed[cycle, queue])
    waiting, expected, busy, left = [], [], None, 0
    for cycle in range(600):
        if busy is None:
            for at, queue in waiting:
                if cycle >= 500 or not closed[cycle, queue]:
                    busy, left = queue, 2 if queue < 2 else 3
                    waiting.remove((at, queue))
                    break
        if busy is not None:
            left -= 1
            if not left:
                expected.append((cycle, busy))
                busy = None
        waiting += [(at, queue) for at, queue in arrivals if at == cycle]
    assert jobs.done == expected
    assert len(expected) == len(arrivals)


@pytest.mark.parametrize("served", [0, 1])
@pytest.mark.parametrize("seed", [0, *map(slow, range(1, 10))])
def test_receipts_go_on_while_the_network_takes_nothing(served, seed):
    """The link to the router has no credits and the send queue is full; received packets still reach the host."""
    rng = random.Random(seed)
    interface = NetworkInterface(
        injection=PortSpec("injection", vcs=1, depth=DEPTH), width=WIDTH, packet=2, t_nr=4, t_ns=7, send_queue=2,
        consumption=PortSpec("consumption", vcs=1, depth=DEPTH), receive_queue=1,
        processors=("two", "one")[served])
    worms = [bench.worm([name], 2) for name in range(8)]
    _, got, left = bench.both_ways(
        interface, 400, send=bench.worm([5], 60), receive=[flit for worm in worms for flit in worm],
        comes=lambda: rng.random() < 0.7, network=lambda cycle: False)
    assert [data for _, data in got] == [data for worm in worms for *_, data in worm[1:]]
    assert left  # the send queue was full


PORT = PortSpec("network", vcs=1, depth=DEPTH)


@pytest.mark.parametrize(("build", "said"), [
    (lambda: Injection(PORT, width=8, packet=4, send_queue=257), r"Injection\.send_queue: 257 .* 0 to 256"),
    (lambda: Injection(PORT, width=8, send_queue=1), r"Injection\.packet: 0 .* send_queue 1\. Allowed: 1 or more"),
    (lambda: Injection(PORT, width=8, packet=1, served=True), r"Injection\.served: True .* with send_queue 0"),
    (lambda: Consumption(PORT, width=8, served=True), r"Consumption\.served: True .* with queue 0"),
    (lambda: NetworkInterface(injection=PORT, consumption=PORT, width=8, processors="three"),
     r"NetworkInterface\.processors: 'three' .* Allowed: two, one"),
    (lambda: Jobs(arrivals=[], t_ns=65536), r"CommunicationProcessor\.t_ns: 65536 .* 0 to 65535"),
    (lambda: Jobs(arrivals=[], order="last"), r"CommunicationProcessor\.order: 'last' .* arrival, receive-first"),
])
def test_parameters(build, said):
    with pytest.raises(WormcastError, match=said):
        build()
