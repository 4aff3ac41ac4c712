# amaranth: UnusedElaboratable=no
"""An interface with retransmission slots, cycle by cycle: what comes and has further to go is sent on."""

import random
from itertools import pairwise

import pytest
from cases import slow, some

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.interface import AbsorbingInterface, Consumption
from wormcast.hw.interface.retransmission import Retransmission
from wormcast.sim.lowering import cells, netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench

WIDTH = 16
DEPTH = 4


class Node:
    """A network and a host round an interface; both send as credits allow, each credit one cycle after a flit's place
    is free.

    ``arrivals`` are (channel, worm) from the network, ``posts`` worms of the host; each channel's worms one behind the
    other. The network takes what is injected from cycle ``opens`` on. ``chance`` of a cycle in which somebody does
    nothing. Notes what is on the links: (cycle, channel, flit).
    """

    def __init__(self, *, channels=1, vcs=1, slots=1, slot_flits=16, opens=0, chance=0.0, seed=0, **options):
        self.interface = bench.built(
            AbsorbingInterface, injection=PortSpec("injection", vcs=vcs, depth=DEPTH), width=WIDTH, slots=slots,
            slot_flits=slot_flits, consumption=PortSpec("consumption", vcs=channels, depth=DEPTH), **options)
        self.channels, self.vcs, self.opens, self.chance = channels, vcs, opens, chance
        self.random = random.Random(seed)
        self.taken, self.consumed, self.injected, self.credits, self.faults = [], [], [], [], []

    def run(self, arrivals, posts=(), cycles=200):
        ports = self.interface
        queues = [[flit for channel, worm in arrivals if channel == v for flit in worm] for v in range(self.channels)]
        posted = [flit for worm in posts for flit in worm]
        room, host_room = [DEPTH] * self.channels, self.interface.injections[0].queue
        owed_host, owed_network = [], []

        def idle():
            return self.random.random() < self.chance

        def step(cycle, context):
            nonlocal host_room
            if context.get(ports.fault).cause.value:
                self.faults.append(cycle)
            host_room += context.get(ports.host_in_0.credit)
            credits = context.get(ports.network_in_0.credit)
            for v in range(self.channels):
                room[v] += credits >> v & 1
                self.credits += [cycle] * (credits >> v & 1)
            for out, owed, seen, closed in ((ports.host_out_0, owed_host, self.consumed, False),
                                            (ports.network_out_0, owed_network, self.injected, cycle < self.opens)):
                given = {owed.pop(0)} if owed and not closed and not idle() else set()
                context.set(out.credit, sum(1 << vc for vc in given))
                if context.get(out.valid):
                    flit = context.get(out.flit)
                    seen.append((cycle, context.get(out.vc), (flit.head, flit.tail, flit.data)))
                    owed.append(context.get(out.vc))
            ready = [v for v in range(self.channels) if queues[v] and room[v] and not idle()]
            context.set(ports.network_in_0.valid, bool(ready))
            if ready:
                v = self.random.choice(ready)
                head, tail, data = queues[v].pop(0)
                room[v] -= 1
                self.taken.append((cycle, v, (head, tail, data)))
                context.set(ports.network_in_0.vc, v)
                context.set(ports.network_in_0.flit, {"head": head, "tail": tail, "data": data})
            sends = bool(posted) and host_room > 0 and not idle()
            context.set(ports.host_in_0.valid, sends)
            if sends:
                head, tail, data = posted.pop(0)
                host_room -= 1
                context.set(ports.host_in_0.flit, {"head": head, "tail": tail, "data": data})

        bench.simulate(self.interface, cycles, step)
        return self

    def worms(self):
        """Worms on the link to the network, in the order of their first flits; flits of one virtual channel each."""
        order, open_on = [], {}
        for _, vc, flit in self.injected:
            if vc not in open_on:
                open_on[vc] = []
                order.append(open_on[vc])
            open_on[vc].append(flit)
            if flit[1]:
                del open_on[vc]
        return order


def message(name, header=1, payload=6):
    """Return a worm whose flits contain its name."""
    return [(1, 0, name * 64 + k) for k in range(header)] + [
        (0, int(k == payload - 1), name * 64 + 32 + k) for k in range(payload)]


@pytest.mark.parametrize("t_nr", [0, 9])
@pytest.mark.parametrize("t_ns", [0, 12])
@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("header", [1, 3])
def test_worm_goes_on_four_cycles_after_its_tail(t_nr, t_ns, slots, header):
    """Its first flit; the others follow, a flit a cycle of a depth of four. The host has its payload as always."""
    worm = message(1, header)
    node = Node(slots=slots, t_nr=t_nr, t_ns=t_ns).run([(0, worm)])
    tail = node.taken[-1][0]
    assert [cycle for cycle, *_ in node.injected] == [tail + 4 + t_nr + t_ns + k for k in range(len(worm))]
    assert node.worms() == [worm]
    assert [(cycle, flit) for cycle, _, flit in node.consumed] == [
        (cycle + 2 + t_nr * flit[1], flit) for cycle, _, flit in node.taken if not flit[0]]


def test_messages_behind_each_other_lose_no_cycle_where_slots_are_free():
    worms = [message(1, 1, 3), message(2, 2, 3), message(3, 0, 3), message(4, 1, 3)]
    node = Node(slots=4, opens=60).run([(0, worm) for worm in worms])
    first, last = node.taken[0][0], node.taken[-1][0]
    assert last - first == sum(map(len, worms)) - 1
    assert [(cycle, flit) for cycle, _, flit in node.consumed] == [
        (cycle + 2, flit) for cycle, _, flit in node.taken if not flit[0]]


def test_worm_at_its_last_destination_takes_no_slot():
    node = Node(opens=1000).run([(0, message(name, header=0)) for name in range(1, 6)])
    assert len(node.consumed) == 30
    assert node.injected == []


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("slots", [1, 2, 3])
def test_node_holds_a_message_for_each_slot_and_each_consumption_channel(slots, channels):
    """Of a network that takes nothing. The channel of the last one is not free: its tail's credit is held back."""
    most = slots + channels
    arrivals = [(name % channels, message(name)) for name in range(1, 3 * most)]
    node = Node(slots=slots, channels=channels, opens=400).run(arrivals, cycles=400)
    tails = [v for _, v, flit in node.taken if flit[1]]
    # a sender that looks at single credits has as many more flits out on each channel as its buffer has room for
    assert len(tails) == most
    assert len(node.injected) == DEPTH
    assert len(node.taken) == most * 7 + channels * (DEPTH - 1)
    assert node.faults == []


def test_message_that_waits_has_the_slot_two_cycles_after_it_is_free():
    """With the tail of the message before it on the link in cycle t, the credit of its own tail is on the other link in
    t + 2, and its first flit on the link in t + 4."""
    worms = [message(name) for name in range(1, 4)]
    node = Node(opens=60).run([(0, worm) for worm in worms], cycles=300)
    assert node.worms() == worms
    left = [cycle for cycle, _, flit in node.injected if flit[1]]
    begins = [cycle for cycle, _, flit in node.injected if flit[0]]
    assert [begin - end for end, begin in zip(left[:-1], begins[1:], strict=True)] == [4, 4]
    # 13 credits are back before; of the two messages' tails the first one's with its slot
    assert next(cycle for cycle in node.credits if cycle > 60) == left[0] + 2
    assert len([cycle for cycle in node.credits if cycle <= 60]) == 13


@pytest.mark.parametrize("seed", some(range(60), *range(4)))
def test_all_that_has_further_to_go_is_sent_on_whole_and_once(seed):
    """Idle links and back-pressure on all sides, several channels side by side, messages of the host between."""
    rng = random.Random(seed)
    channels, slots, vcs = rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 2)
    arrivals = [(rng.randrange(channels), message(name, rng.randint(0, 3), rng.randint(1, 9))) for name in range(1, 25)]
    posts = [message(name, rng.randint(1, 2), rng.randint(1, 9)) for name in range(40, 50)]
    node = Node(channels=channels, slots=slots, vcs=vcs, slot_flits=rng.choice([12, 13, 64]), seed=seed,
                chance=rng.choice([0, .5]), t_ns=rng.choice([0, 3]), t_nr=rng.choice([0, 3]), queue=rng.choice([1, 4])
                ).run(arrivals, posts, cycles=2500)
    assert node.faults == []
    worms, goes_on = node.worms(), [worm for _, worm in arrivals if worm[0][0]]
    of_host = [worm for worm in worms if worm[0][2] >= 40 * 64]
    assert of_host == posts
    sent_on = [worm for worm in worms if worm not in posts]
    for v in range(channels):
        mine = [worm for channel, worm in arrivals if channel == v]
        assert [worm for worm in sent_on if worm in mine] == [worm for worm in mine if worm[0][0]]
        assert [flit for _, channel, flit in node.consumed if channel == v] == [
            flit for worm in mine for flit in worm if not flit[0]]
    assert len(sent_on) == len(goes_on)


def test_host_and_slots_take_turns():
    """Both always have a worm: they are sent alternately."""
    node = Node(slots=4, opens=150).run(
        [(0, message(name)) for name in range(1, 5)], [message(name) for name in range(40, 44)], cycles=400)
    of_host = [worm[0][2] >= 40 * 64 for worm in node.worms()]
    assert len(of_host) == 8
    assert all(a != b for a, b in pairwise(of_host[1:]))


def test_worm_that_was_cut_off_is_sent_on_with_the_end_it_was_given():
    cut = [(1, 0, 64), (0, 0, 96), (1, 1, 0)]
    node = Node().run([(0, cut), (0, message(2))])
    assert node.worms() == [cut, message(2)]


def test_flit_that_is_all_of_its_worm_takes_no_slot():
    """A worm cut down to one flit is handed to the host, and the next worm is handled as usual."""
    node = Node().run([(0, [(1, 1, 0)]), (0, message(1))])
    assert node.worms() == [message(1)]
    assert node.consumed[0][2] == (1, 1, 0)


def test_channels_that_wait_for_a_slot_take_turns():
    """Each always has a message that is whole when a slot becomes free."""
    channels = 3
    node = Node(channels=channels, opens=150).run(
        [(v, message(1 + 10 * v + k)) for k in range(4) for v in range(channels)], cycles=400)
    order = [worm[0][2] // 64 // 10 for worm in node.worms()]
    assert len(order) == 4 * channels
    assert {len(set(order[k:k + channels])) for k in range(1, len(order) - channels + 1)} == {channels}


@pytest.mark.parametrize("flits", [7, 8, 9])
def test_message_that_is_too_long_ends_with_its_tail(flits):
    """The last row holds that one; the messages beside it and behind it are whole."""
    long = message(2, 1, flits + 4)
    worms = Node(slot_flits=flits, slots=3).run([(0, worm) for worm in (message(1), long, message(3))]).worms()
    assert worms == [message(1), [*long[:flits - 1], long[-1]], message(3)]


@pytest.mark.parametrize("flits", [7, 8])
def test_longest_message_fills_its_slot(flits):
    worm = message(1, 2, flits - 2)
    assert Node(slot_flits=flits, slots=2).run([(0, worm), (0, message(2, 1, 1))]).worms() == [worm, message(2, 1, 1)]


@pytest.mark.parametrize(("slots", "channels"), [(1, 1), (3, 2), slow(16, 16)])
def test_no_output_follows_an_input_in_its_cycle(slots, channels):
    refuse_paths(netlist.read(Node(slots=slots, channels=channels).interface))


class Slots:
    """Messages through a `Retransmission`, and what it must say; who grants counts slots, who writes buffers.

    ``busy`` and ``slow``: chance of a cycle in which what could be written, and taken, is not.
    """

    def __init__(self, slots, flits, channels, seed, busy, slow):
        self.component = Retransmission(slots=slots, flits=flits, channels=channels, width=WIDTH)
        self.random, self.flits, self.busy, self.slow = random.Random(seed), flits, busy, slow
        self.coming = [[] for _ in range(channels)]  # flits of a message that are still to be written
        self.written = [[] for _ in range(channels)]
        self.granted, self.free, self.freed, self.sent, self.most = [], slots, False, 0, 0

    def step(self, cycle, context):
        ports, rng = self.component, self.random
        assert context.get(ports.freed) == self.freed, cycle
        self.free += self.freed
        assert context.get(ports.has) == bool(self.granted), cycle
        if self.granted:
            flit = context.get(ports.front)
            assert (flit.head, flit.tail, flit.data) == self.granted[0][0], cycle
        takes = bool(self.granted) and rng.random() >= self.slow
        context.set(ports.pop, takes)
        self.freed = takes and bool(self.granted[0].pop(0)[1])
        if self.freed:
            self.granted.pop(0)
            self.sent += 1

        whole = [v for v, flits in enumerate(self.written) if flits and flits[-1][1]]
        v = rng.choice([v for v in range(len(self.written)) if v not in whole] or [None])
        writes = v is not None and rng.random() >= self.busy
        context.set(ports.write, writes)
        if writes:
            if not self.coming[v]:
                length = rng.choice([2, rng.randint(2, self.flits), self.flits])
                self.coming[v] = [(k == 0, k == length - 1, rng.randrange(1 << WIDTH)) for k in range(length)]
            flit = self.coming[v].pop(0)
            self.written[v].append(flit)
            whole += [v] * flit[1]
            context.set(ports.vc, v)
            context.set(ports.flit, dict(zip(("head", "tail", "data"), flit, strict=True)))
        grants = bool(whole and self.free) and rng.random() < 0.7
        context.set(ports.granted, grants)
        if grants:
            v = rng.choice(whole)
            context.set(ports.granted_vc, v)
            self.granted.append(self.written[v])
            self.written[v] = []
            self.free -= 1
        self.most = max(self.most, len(self.granted))


@pytest.mark.parametrize(("slots", "flits", "channels"), [
    (1, 2, 1), (1, 5, 3), (2, 4, 2), (3, 2, 1), (3, 7, 2), (4, 3, 3), (5, 8, 1), slow(6, 9, 5), slow(16, 8, 16)])
def test_messages_are_sent_whole_in_the_order_of_their_grants(slots, flits, channels):
    """Round and round the ring, with any number of its slots filled, cycle by cycle."""
    for seed, (busy, slow_) in enumerate([(0, 0), (0, 0.7), (0.5, 0)]):
        made = Slots(slots, flits, channels, seed, busy, slow_)
        bench.simulate(made.component, 500, made.step)
        assert made.sent > 5 * slots
        assert made.most == slots or not slow_


@pytest.mark.parametrize(("slots", "flits", "channels"), [(1, 2, 1), (3, 8, 2), (4, 9, 1)])
def test_it_has_a_row_for_each_flit_and_no_more_wires_than_it_needs(slots, flits, channels):
    """Rows of each buffer, up to the next power of two."""
    made = Retransmission(slots=slots, flits=flits, channels=channels, width=WIDTH)
    [memory] = [cell for cell in netlist.read(made).cells if isinstance(cell, cells.Memory)]
    assert memory.depth == (slots + channels) * {2: 2, 8: 8, 9: 16}[flits]
    assert {made.signature.members[name].shape for name in ("write", "granted", "has", "pop", "freed")} == {1}


@pytest.mark.parametrize(("slots", "flits"), [(1, 2), (16, 65536)])
def test_least_and_most_that_is_allowed(slots, flits):
    Retransmission(slots=slots, flits=flits, channels=1, width=8)


def test_bad_parameters_are_refused():
    for field, value in (("slots", 0), ("slots", 17), ("flits", 1), ("flits", 65537)):
        with pytest.raises(WormcastError, match=rf"Retransmission\.{field}: {value} is not valid. Allowed: \d+ to"):
            Retransmission(**{"slots": 1, "flits": 8, "channels": 1, "width": 8, field: value})
    with pytest.raises(WormcastError, match=r"AbsorbingInterface\.slots: 0 is not valid. Allowed: 1 to 16."):
        AbsorbingInterface(injection=PortSpec("network"), consumption=PortSpec("network"), width=8, slots=0)
    with pytest.raises(WormcastError, match=r"Consumption\.slots: 17 is not valid. Allowed: 0 to 16."):
        Consumption(PortSpec("network"), width=8, slots=17)
