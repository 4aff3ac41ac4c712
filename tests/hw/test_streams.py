# amaranth: UnusedElaboratable=no
"""Streams at hosts, cycle by cycle: messages to worms, and worms to messages."""

import itertools
import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.algorithms.headers import AddressList, BitString, Unicast
from wormcast.hw.interface import HOST_DEPTH
from wormcast.hw.streams import (
    AddressHeaders,
    AxisSignature,
    BitStringHeaders,
    SetTable,
    StreamReceiver,
    StreamSender,
)

from . import bench

WIDTH = 16


class Sending(wiring.Component):
    """A sender with the component that makes its headers."""

    def __init__(self, headers, *, queue=4, message=8, nodes=16):
        self.headers = headers
        self.sender = StreamSender(width=WIDTH, queue=queue, message=message, nodes=nodes,
                                   set_bits=len(headers.sets.payload))
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        m.submodules.sender, m.submodules.headers = self.sender, self.headers
        wiring.connect(m, self.sender.sets, self.headers.sets)
        wiring.connect(m, self.headers.headers, self.sender.headers)
        return m


def set_beats(number, worms):
    """Beats that write a set, given the header flits of each of its worms."""
    beats = [{"data": number, "ends": 0, "last": 0}]
    beats += [{"data": flit, "ends": k == len(worm) - 1, "last": 0} for worm in worms for k, flit in enumerate(worm)]
    beats[-1]["last"] = 1
    return beats


class Source:
    """Offers the beats of a stream one after the other, each from its first cycle on until it is accepted."""

    def __init__(self, stream, beats, idle=lambda: False):
        self.stream = stream
        self.beats = list(beats)
        self.idle = idle
        self.offered = False
        self.taken = []

    def step(self, cycle, context):
        self.offered = bool(self.beats) and (self.offered or not self.idle())
        context.set(self.stream.valid, self.offered)
        if self.offered:
            context.set(self.stream.payload, self.beats[0])
            if context.get(self.stream.ready):
                self.taken.append(cycle)
                del self.beats[0]
                self.offered = False


def beats_of(messages):
    """Beats of (set, payload); the set of all beats but the first is wrong."""
    return [{"data": word, "last": k == len(payload) - 1, "to": to if k == 0 else 3 - to}
            for to, payload in messages for k, word in enumerate(payload)]


def send(messages, *, sets, node=5, queue=4, message=8, credit_after=1, idle=lambda: False, cycles=400):
    """Send (set, payload) with a table of sets; return flits on the link, cycles of beats, and errors with cycles.

    Cycles count from the one after the sets are written.
    """
    table = SetTable(sets=4, flits=8, width=WIDTH)
    sending = Sending(table, queue=queue, message=message)
    sender = sending.sender
    writes = [beat for number, worms in sets.items() for beat in set_beats(number, worms)]
    source = Source(sender.messages, beats_of(messages), idle)
    flits, errors, owed, bad = [], [], set(), []

    def step(cycle, context):
        now = cycle - len(writes)
        if context.get(sender.host.valid):
            flit = context.get(sender.host.flit)
            flits.append((now, flit.head, flit.tail, flit.data))
            owed.add(now + credit_after)
        context.set(sender.host.credit, now in owed)
        context.set(sender.strap_node, node)
        context.set(table.table.valid, now < 0)
        if now < 0:
            context.set(table.table.payload, writes[cycle])
        else:
            source.step(now, context)
        errors.extend((now, name) for name in ("unknown_set", "too_long", "credit_error")
                      if context.get(getattr(sender, name)))
        bad.extend([now] * context.get(table.table_error))

    bench.simulate(sending, cycles, step)
    assert not source.beats, "beats that are not accepted"
    return flits, source.taken, errors, bad


def worms_of(flits):
    return bench.cut([flit[1:] for flit in flits])


def worm(header, node, payload):
    """Flits of a worm from a node."""
    return [*((1, 0, flit) for flit in header), (0, 0, node),
            *((0, k == len(payload) - 1, word) for k, word in enumerate(payload))]


SETS = {0: [[71]], 1: [[81, 82], [83]], 2: [[91, 92, 93], [94], [95, 96]]}
MESSAGES = [(1, [1, 2, 3]), (0, [4]), (2, [5, 6, 7, 8, 9, 10, 11, 12]), (2, [13]), (0, range(20, 28)), (1, [14, 15])]


@pytest.mark.parametrize(("queue", "stalls", "credit_after"), [
    (1, 0, 0), (1, 0.3, 7), (2, 0.6, 1), (3, 0, 1), (4, 0, 0), (4, 0.6, 1), (16, 0.3, 7)])
def test_each_worm_of_a_set_gets_the_message(queue, stalls, credit_after):
    rng = random.Random(1)
    flits, _, errors, _ = send(MESSAGES, sets=SETS, queue=queue, credit_after=credit_after,
                               idle=lambda: rng.random() < stalls, cycles=1200 if queue == 1 else 700)
    assert worms_of(flits) == [worm(header, 5, list(payload)) for to, payload in MESSAGES for header in SETS[to]]
    assert not errors


@pytest.mark.parametrize("worms", [[[71]], [[81, 82], [83]], [[91, 92, 93], [94], [95, 96]]])
@pytest.mark.parametrize("length", [1, 5, 8])
def test_message_takes_its_header_and_a_flit_more_for_each_worm(worms, length):
    """The first flit is on the link 2 cycles after the first beat is valid, then one a cycle."""
    messages = [(1, range(100, 100 + length))] * 4
    flits, taken, _, _ = send(messages, sets={1: worms})
    each = sum(map(len, worms)) + len(worms) * (length + 1) + 1
    assert [flit[0] for flit in flits] == [2 + k * each + at for k in range(4) for at in range(each - 1)]
    assert taken[0] == 2 + len(worms[0])
    assert taken[length] - taken[0] == each


@pytest.mark.parametrize("length", [9, 10, 30])
@pytest.mark.parametrize("number", [0, 2])
def test_message_that_is_too_long_is_cut_and_the_next_one_is_whole(length, number):
    flits, _, errors, _ = send([(number, range(50, 50 + length)), (1, [1, 2])], sets=SETS)
    *cut, first, second = worms_of(flits)
    assert [part[:-1] for part in cut] == [worm(header, 5, [*range(50, 58), 0])[:-1] for header in SETS[number]]
    assert all(part[-1][:2] == (1, 1) for part in cut)
    assert [first, second] == [worm(header, 5, [1, 2]) for header in SETS[1]]
    assert [name for _, name in errors] == ["too_long"]


def test_message_to_a_set_without_worms_is_dropped():
    flits, taken, errors, _ = send([(3, [1, 2, 3]), (0, [4])], sets=SETS)
    assert worms_of(flits) == [worm(SETS[0][0], 5, [4])]
    assert [name for _, name in errors] == ["unknown_set"]
    assert len(taken) == 4


@pytest.mark.parametrize(("sets", "bad", "left"), [
    ({0: [[71]], 4: [[81]]}, 1, [0]), ({1: [list(range(9))], 0: [[71]]}, 1, [0]), ({0: [list(range(8))]}, 0, [0]),
    ({0: [[71]], 1: []}, 0, [0]),
], ids=["no such set", "too many flits", "as many as fit", "no worms"])
def test_set_that_is_not_there_or_does_not_fit_has_no_worms(sets, bad, left):
    flits, _, errors, seen = send([(0, [1]), (1, [2]), (0, [3])], sets=sets)
    assert len(seen) == bad
    assert worms_of(flits) == [worm(sets[0][0], 5, [word]) for word in (1, 3)]
    assert [name for _, name in errors] == ["unknown_set"]


def test_credit_too_many_is_reported():
    sending = Sending(SetTable(sets=1, flits=1, width=WIDTH))
    wrong = []

    def step(cycle, context):
        context.set(sending.sender.host.credit, cycle == 3)
        wrong.append(context.get(sending.sender.credit_error))

    bench.simulate(sending, 6, step)
    assert wrong == [0, 0, 0, 0, 1, 1]


def masks(component, straps, sets, *, ready=lambda: True, cycles=8000):
    """Headers of masks: for each the cycle of acceptance, and the flits with their cycles, worm by worm."""
    queue, found = list(sets), []

    def step(cycle, context):
        for name, value in straps.items():
            context.set(getattr(component, name), value)
        context.set(component.sets.valid, bool(queue))
        context.set(component.headers.ready, ready())
        if context.get(component.headers.valid) and context.get(component.headers.ready):
            flit = context.get(component.headers.payload)
            found[-1][1].append((cycle, flit.data, flit.ends, flit.last, flit.none))
        if queue:
            context.set(component.sets.payload, queue[0])
            if context.get(component.sets.ready):
                found.append((cycle, []))
                del queue[0]

    bench.simulate(component, cycles, step)
    assert not queue
    return found


def headers_of(scheme, network, header, source, destinations):
    """Header flits of each worm of a message."""
    worms = SCHEMES[scheme].on(network).batch(network, [source], [0, len(destinations)], destinations)
    offsets, flits = header.encode_batch(worms.destination_offsets, worms.destinations)
    return [[int(flit[0]) for flit in flits[first:end]] for first, end in itertools.pairwise(offsets)]


def mask_headers(scheme, network, width):
    """Component, header, and straps of a node."""
    nodes = network.nodes
    if scheme == "dual-path":
        header = AddressList(network.shape, width)
        component = AddressHeaders(header, network.node_of_label, each=False)
        return component, header, lambda node: {"strap_position": int(network.hamiltonian_labels[node])}
    if scheme == "individual":
        header = Unicast(network.shape, width)
        return AddressHeaders(header, range(nodes), each=True), header, lambda node: {"strap_position": node}
    header = BitString((nodes,), width)
    return BitStringHeaders(header), header, lambda node: {"strap_node": node}


@pytest.mark.parametrize(("scheme", "name", "width"), [
    ("dual-path", "mesh:3x3", 16), ("dual-path", "mesh:3x3", 5), ("dual-path", "mesh:4x4", 32),
    ("dual-path", "mesh:1x5", 9),
    ("individual", "mesh:3x3", 16), ("individual", "torus:3x4", 4),
    ("atbm", "min:b=2,stages=3", 16), ("atbm", "min:b=2,stages=3", 4), ("atbm", "min:b=2,stages=3", 9),
])
def test_masks_give_the_headers_of_the_scheme(scheme, name, width):
    rng, network = random.Random(4), topology(name)
    for node in rng.sample(range(network.nodes), 2):
        component, header, straps = mask_headers(scheme, network, width)
        sets = [rng.getrandbits(network.nodes) for _ in range(8)] + [1 << node, 0, (1 << network.nodes) - 1]
        found = masks(component, straps(node), sets, ready=lambda: rng.random() < 0.6, cycles=600)
        for mask, (_, flits) in zip(sets, found, strict=True):
            destinations = [other for other in range(network.nodes) if mask >> other & 1 and other != node]
            if not destinations:
                assert [flit[4] for flit in flits] == [1]
                continue
            wanted = headers_of(scheme, network, header, node, destinations)
            marked = [(flit, k == len(one) - 1, one is wanted[-1] and k == len(one) - 1, 0)
                      for one in wanted for k, flit in enumerate(one)]
            assert [tuple(flit[1:]) for flit in flits] == marked


def test_cycles_of_headers_from_masks():
    """A header flit with n addresses takes n + 1 cycles, and the first one a cycle more; one of a bit string takes a
    cycle. Without a destination above the node there is one more cycle."""
    mesh = topology("mesh:4x4")
    component, _, straps = mask_headers("dual-path", mesh, 16)  # 3 addresses in a flit
    above = [int(mesh.node_of_label[label]) for label in (6, 7, 9, 12, 15)]
    node = int(mesh.node_of_label[5])
    [(start, flits)] = masks(component, straps(node), [sum(1 << other for other in above)], cycles=40)
    assert [flit[0] - start for flit in flits] == [5, 8]
    both = [*above, *(int(mesh.node_of_label[label]) for label in (2, 4))]
    [(start, flits)] = masks(component, straps(node), [sum(1 << other for other in both)], cycles=40)
    assert [flit[0] - start for flit in flits] == [5, 8, 11]
    [(start, flits)] = masks(component, straps(node), [sum(1 << other for other in both[5:])], cycles=40)
    assert [flit[0] - start for flit in flits] == [5]
    component, _, straps = mask_headers("atbm", topology("min:b=2,stages=3"), 4)
    [(start, flits)] = masks(component, straps(0), [0b1010_1010], cycles=40)
    assert [flit[0] - start for flit in flits] == [1, 2, 3]


def receive(worms, *, vcs, accepts=lambda: True, cycles=600):
    """Hand flits (head, tail, data) of each channel to a receiver as credits allow; return beats and link cycles."""
    receiver = StreamReceiver(width=WIDTH, vcs=vcs, nodes=16)
    queues = [[flit for worm in channel for flit in worm] for channel in worms]
    room, sent, beats, shown, turn = [HOST_DEPTH] * vcs, [], [], [None], [0]

    def step(cycle, context):
        for vc in range(vcs):
            room[vc] += context.get(receiver.host.credit) >> vc & 1
        context.set(receiver.messages.ready, accepts())
        valid, ready = context.get(receiver.messages.valid), context.get(receiver.messages.ready)
        beat = tuple(context.get(receiver.messages.payload).as_bits().to_bytes(8, "little"))
        assert shown[0] is None or (valid, beat) == (1, shown[0]), "a beat that is withdrawn or changed"
        shown[0] = beat if valid and not ready else None
        if valid and ready:
            found = context.get(receiver.messages.payload)
            beats.append((cycle, found.channel, found.source, found.data, found.last, found.damaged))
        ways = [vc for vc in range(vcs) if queues[vc] and room[vc]]
        context.set(receiver.host.valid, bool(ways))
        if ways:
            vc = min(ways, key=lambda vc: (vc - turn[0]) % vcs)
            turn[0] = vc + 1
            room[vc] -= 1
            head, tail, data = queues[vc].pop(0)
            context.set(receiver.host.vc, vc)
            context.set(receiver.host.flit, {"head": head, "tail": tail, "data": data})
            sent.append((cycle, vc))
        assert not context.get(receiver.overflow)

    bench.simulate(receiver, cycles, step)
    assert not any(queues)
    return beats, sent


@pytest.mark.parametrize("vcs", [1, 2, 3])
@pytest.mark.parametrize("stalls", [0, 0.3, 0.8])
def test_messages_of_all_channels_arrive_whole_and_name_their_source(vcs, stalls):
    rng = random.Random(vcs)
    sent = [[(rng.randrange(16), [rng.randrange(1 << WIDTH) for _ in range(rng.randint(1, 9))]) for _ in range(5)]
            for _ in range(vcs)]
    beats, _ = receive([[worm([], *message) for message in channel] for channel in sent], vcs=vcs,
                       accepts=lambda: rng.random() >= stalls, cycles=900)
    for vc, channel in enumerate(sent):
        assert [beat[2:] for beat in beats if beat[1] == vc] == [
            (source, word, k == len(payload) - 1, 0) for source, payload in channel for k, word in enumerate(payload)]


@pytest.mark.parametrize("vcs", [1, 3])
def test_beat_is_valid_two_cycles_after_its_flit_and_there_is_one_a_cycle(vcs):
    beats, sent = receive([[worm([], 3, range(20))] for _ in range(vcs)], vcs=vcs)
    assert [cycle for cycle, _ in sent] == list(range(21 * vcs)), "the host's link has a flit in each cycle"
    assert [beat[0] for beat in beats] == [cycle + 2 for cycle, _ in sent[vcs:]]


def test_damaged_message_is_marked_and_worm_without_payload_is_dropped():
    cut, rest = (1, 1, 99), [(0, 0, 7), (0, 1, 8)]
    beats, _ = receive([[[*worm([], 2, [5, 6, 0])[:-1], cut], [cut], [(0, 0, 4), cut], [(0, 1, 9)],
                         [(0, 0, 6), *rest]]], vcs=1)
    assert [beat[2:] for beat in beats] == [
        (2, 5, 0, 0), (2, 6, 0, 0), (2, 99, 1, 1), (4, 99, 1, 1), (6, 7, 0, 0), (6, 8, 1, 0)]


@pytest.mark.parametrize(("build", "said"), [
    (lambda: StreamSender(width=4, queue=4, message=8, nodes=17, set_bits=2), "Allowed: 5 or more"),
    (lambda: StreamSender(width=8, queue=4, message=0, nodes=4, set_bits=2), "Allowed: 1 to 4096"),
    (lambda: AxisSignature(width=12), "multiples of 8"),
    (lambda: AddressHeaders(AddressList((4, 4), 16, signed=(0,)), range(16), each=False), "no sign"),
])
def test_parameters_are_checked(build, said):
    with pytest.raises(WormcastError, match=said):
        build()
