"""Absorb-and-retransmit, [Boppana98] section 3.1: its deadlocks, what is free of them, and what it costs."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from cases import slow, some

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Traffic, load
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.configurations import hardware
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.engines.snapshot import Snapshot
from wormcast.sim.experiments.run import run
from wormcast.sim.host import NOW, UNDELIVERED, Message

from .bench import bulk, finish, left_over, send
from .test_deadlock import require_closed

ROW, MESH = topology("mesh:1x4"), topology("mesh:4x4")
DUAL_PATH = SCHEMES["dual-path"]
EXAMPLES = Path(__file__).parents[2] / "examples"
A, B, C, D = range(4)


def runs(messages, absorb, *, network=ROW, vcs=1, engine="bulk", **options):
    """Run messages; every message's destinations stay in dual-path's order."""
    built = hardware(network, DUAL_PATH, {"absorb": str(absorb), "vcs": vcs, **options})
    return run(network, DUAL_PATH, messages, built, engine=engine)


def example(name):
    return [Message(one["cycle"], ROW.node(one["source"]), tuple(map(ROW.node, one["destinations"])), one["length"])
            for one in map(json.loads, (EXAMPLES / f"{name}.jsonl").read_text().splitlines())]


def waits_and_holds(result):
    """List the worms of a deadlock with the resources they hold and wait for, in the cycle's order."""
    return [(hold.worm, hold.holds, hold.waits) for hold in result.deadlock.cycle]


@pytest.mark.parametrize("engine", ["bulk", slow("amaranth")])
def test_table_1(engine):
    """Its four messages m3, m4, m1, m2 hold and wait for what it says. One thing is not as printed: m1 and m2, which
    are whole in the buffer of their consumption channel, have left the links [a, b] and [d, c] behind."""
    result = runs(example("table1"), 1, engine=engine)
    assert result.outcome == "deadlock"
    assert waits_and_holds(result) == [
        (0, ("retrans:1:0", "inj:1:0:0", "link:1>2:0"), ("cons:2:0",)),
        (3, ("cons:2:0",), ("retrans:2:0",)),
        (1, ("retrans:2:0", "link:2>1:0", "inj:2:0:0"), ("cons:1:0",)),
        (2, ("cons:1:0",), ("retrans:1:0",)),
    ]
    assert result.deadlock.packets == {(worm, 0) for worm in range(4)}


@pytest.mark.parametrize("without", range(4))
def test_any_three_of_its_messages_are_delivered(without):
    messages = example("table1")
    assert runs(messages[:without] + messages[without + 1:], 1).outcome == "delivered"


def test_figure_4_is_freed():
    """m1 is absorbed at b and sent on to c, m2 the other way round; going on while they are consumed, they deadlock."""
    messages = example("figure4")
    assert runs(messages, "off", consumption=1, classes="").outcome == "deadlock"
    for absorb in (1, 2, "host"):
        assert runs(messages, absorb).outcome == "delivered"


def theorem_2(slots):
    """2m + 2 messages of 24 flits, half to 1.2 and then 1.1 from lower labels, half the other way round from higher
    ones. Interfaces wait 200 cycles before they send: so all of a side are absorbed before the first is sent on."""
    lower, higher = ("0.1", "0.2", "0.3", "1.3"), ("2.1", "2.2", "2.0", "1.0")
    pair = MESH.node("1.1"), MESH.node("1.2")
    return [Message(0, MESH.node(source), pair, 24) for source in lower[:slots + 1] + higher[:slots + 1]]


@pytest.mark.parametrize("slots", [slow(1), 2, slow(3)])
def test_theorem_2(slots):
    """With m slots 2m + 2 messages can deadlock; any one fewer of these do not, nor do they with a slot more, nor where
    hosts have the memory."""
    messages, options = theorem_2(slots), {"network": MESH, "t_ns": 200}
    stuck = runs(messages, slots, **options)
    assert stuck.outcome == "deadlock"
    assert {worm for worm, _ in stuck.deadlock.packets} == set(range(2 * slots + 2))
    for without in range(len(messages)):
        assert runs(messages[:without] + messages[without + 1:], slots, **options).outcome == "delivered"
    for more in (slots + 1, "host"):
        assert runs(messages, more, **options).outcome == "delivered"


def crowd(nodes, generator, count, length):
    """Random multicasts of a set of nodes."""
    found = []
    for _ in range(count):
        source, *others = generator.sample(range(nodes), generator.randint(2, nodes))
        found.append(send(source, *others, length=generator.randint(1, length), at=generator.randint(0, 60)))
    return found


@pytest.mark.parametrize("seed", some(range(40), 0, 1))
@pytest.mark.parametrize(("most", "length", "options"), [
    (30, 40, {"absorb": "host", "vcs": 1, "buffer": 2, "consumption": 1}),
    slow(16, 40, {"absorb": "16", "vcs": 1, "buffer": 1, "consumption": 1, "flit_width": 16}),
    slow(8, 10, {"absorb": "16", "vcs": 2, "buffer": 4, "consumption": 2, "readers": "independent", "flit_width": 21,
             "packet": 5}),
    slow(8, 10, {"absorb": "16", "vcs": 2, "buffer": 4, "consumption": 2, "packet": 5, "receive_queue": 2, "t_nr": 3}),
], ids=str)
def test_everything_arrives_whole_and_nothing_is_left_over(most, length, options, seed):
    """Fewer worms or packets than 2m + 2: every destination has its payload, unchanged, and registers are as after
    reset."""
    generator = random.Random(seed)
    engine = bulk("mesh:3x3", "dual-path", crowd(9, generator, most, length), **options)
    finish(engine, 60_000)
    assert left_over(engine) == {}


@pytest.mark.parametrize("stops", [1, 2, 3])
@pytest.mark.parametrize(("length", "t_ns", "t_nr"), [(8, 0, 0), (20, 0, 0), (8, 5, 3)])
def test_each_stop_costs_a_message(stops, length, t_ns, t_nr):
    """Without load, one hop from stop to stop: of L payload flits the first one comes L + 11 + t_ns + t_nr cycles after
    that of the stop before, as the message is whole before it is sent on; at the last stop a cycle earlier, as no
    header comes before it. The tail is L - 1 behind."""
    line = topology("mesh:1x4")
    result = runs([Message(0, 0, tuple(range(1, stops + 1)), length)], 1, network=line, t_ns=t_ns, t_nr=t_nr)
    heads, tails = result.host.head.tolist(), result.host.tail.tolist()
    each = length + 11 + t_ns + t_nr
    assert [after - before for before, after in pairwise(heads)] == [each, each - 1][3 - stops:]
    assert [tail - head for head, tail in zip(heads, tails, strict=True)] == [length - 1] * stops


@pytest.mark.parametrize(("length", "t_ns", "t_nr"), [(8, 0, 0), slow(20, 0, 1), (8, 5, 3)])
def test_a_receive_queue_adds_the_length_of_the_packet_to_each_stop(length, t_ns, t_nr):
    """A packet is whole before its flits, those of its header included, go to the absorb buffer; t_nr is 1 or more."""
    result = runs([Message(0, 0, (1, 2, 3), length)], 1, t_ns=t_ns, t_nr=t_nr, packet=20, receive_queue=1)
    heads = result.host.head.tolist()
    without = length + 11 + t_ns + t_nr
    more = length + max(t_nr, 1) - t_nr - 1
    assert [after - before for before, after in pairwise(heads)] == [without + more + 2, without - 1 + more + 1]


QUEUE = {"vcs": 1, "packet": 8, "receive_queue": 1, "t_nr": 4}


@pytest.mark.parametrize("consumption", [1, slow(2)])
@pytest.mark.parametrize("seed", [0, *map(slow, range(1, 8))])
def test_slots_behind_a_receive_queue_deadlock_or_all_is_delivered(consumption, seed):
    """A message that waits for a slot keeps the packets behind it in the queue. The proof finds each deadlock as soon
    as it is one; nothing of it moves then."""
    engine = bulk("mesh:3x3", "dual-path", crowd(9, random.Random(seed), 60, 40), absorb="1", consumption=consumption,
                  **QUEUE)
    found = None
    while found is None and engine.host.counters[UNDELIVERED]:
        assert engine.host.counters[NOW] < 60_000
        engine.run(37)
        found = find_deadlock(engine)
    if found is None:
        return
    require_closed(found.cycle)
    left = engine.host.left[sorted(found.worms)].copy()
    engine.run(20_000)
    assert engine.host.left[sorted(found.worms)].tolist() == left.tolist()
    assert find_deadlock(engine).packets >= found.packets
    enough = run(topology("mesh:3x3"), DUAL_PATH, crowd(9, random.Random(seed), 16, 40), Configuration(
        absorb="16", consumption=consumption, **QUEUE))
    assert enough.outcome == "delivered"


@pytest.mark.parametrize("options", [{"vcs": 1}, slow({"vcs": 2, "consumption": 2, "flit_width": 16})], ids=str)
def test_messages_that_wait_for_a_slot_have_names_in_every_cycle(options):
    """In the first cycle of a wait the memory lacks the message's tail; the flits and the worm are known all the same.
    """
    generator = random.Random(3)
    engine = bulk("mesh:3x3", "dual-path", crowd(9, generator, 30, 12), absorb="1", **options)
    waited, begun = {}, 0
    for _ in range(300):
        engine.run(1, beyond=True)
        snapshot = Snapshot(engine)
        following = {}
        for node in range(9):
            probe = snapshot.interface(node)
            for channel in filter(probe.waits, range(probe.channels)):
                flits = probe.absorbed(channel)
                assert [flit >> 1 & 1 for flit in flits] == [0] * (len(flits) - 1) + [1]
                assert snapshot.named(flits) is not None
                assert waited.get((node, channel), flits) == flits
                following[node, channel] = flits
        begun += len(following.keys() - waited.keys())
        waited = following
    assert begun >= 5


def test_flits_of_a_slot_leave_one_by_one():
    """The first slot's message loses its first flit when the flit is sent; others stay whole; all have names."""
    engine = bulk("mesh:3x3", "dual-path", crowd(9, random.Random(3), 30, 12), absorb="1", vcs=1)
    before: dict[tuple[int, int], list[int]] = {}
    sent = 0
    for _ in range(300):
        engine.run(1, beyond=True)
        snapshot = Snapshot(engine)
        now = {(node, slot): snapshot.interface(node).in_slot(slot)
               for node in range(9) for slot in snapshot.interface(node).filled()}
        for (node, slot), flits in now.items():
            last = before.get((node, slot), flits)
            assert len(last) == 1 or flits in (last, last[1:])  # after the tail the slot may have another message
            sent += flits == last[1:]
            assert snapshot.offered(node) is not None
        before = now
    assert sent > 50


@pytest.mark.parametrize(("absorb", "deadlock"), [("1", True), ("host", False)])
def test_load_far_beyond_saturation(absorb, deadlock):
    """At five times what is delivered slots deadlock, and hosts do not, however full their memory is."""
    built = hardware(MESH, DUAL_PATH, {"absorb": absorb, "vcs": 1})
    result = load(MESH, DUAL_PATH, Traffic(rate=0.2, destinations_mean=5.0), configuration=built, cycles=4000,
                  warmup=100, seeds=[1])
    assert (result.deadlock is not None) == deadlock
    assert deadlock or result.saturated


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["dual-path", "multipath", "column-path", "e-mcast"])
def test_hosts_never_deadlock(scheme):
    """Four seeds of 100 000 cycles, with one consumption channel, beyond saturation."""
    mesh = topology("mesh:8x8")
    built = hardware(mesh, SCHEMES[scheme], {"absorb": "host", "vcs": 1, "consumption": 1})
    result = load(mesh, SCHEMES[scheme], Traffic(rate=0.05), configuration=built, cycles=100_000, warmup=1000)
    assert result.deadlock is None
    assert result.saturated


@pytest.mark.parametrize(("options", "sentence"), [
    ({"absorb": "0"}, "absorb: '0' is not valid. Allowed: off, host, 1 to 16 slots."),
    ({"absorb": "17"}, "absorb: '17' is not valid. Allowed: off, host, 1 to 16 slots."),
    ({"absorb": "1", "ports": "all"}, r"ports: all is not valid: retransmission slots \(absorb 1\) .* Allowed: one\."),
    ({"absorb": "1", "ejection": "all"}, "ejection: all is not valid: retransmission slots"),
    ({"absorb": "1", "consumption_links": "separate"}, "consumption_links: separate is not valid: retransmission"),
    ({"absorb": "host", "classes": "up/down"}, "classes: up/down is not valid: with absorb host .* Allowed: \"\""),
    ({"slot": 1}, "slot: 1 is not valid. Allowed: 2 to 65536"),
])
def test_options_that_do_not_fit_are_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Configuration(**options)


@pytest.mark.parametrize(("length", "options"), [
    slow(10, {"flit_width": 16}), slow(9, {"flit_width": 3}), (15, {"flit_width": 20, "packet": 10})])
def test_longest_message_for_a_slot(length, options):
    """Of worms that go on: header flits and payload, of a packet where there are any. One more is refused."""
    header = 1 if options["flit_width"] > 3 else 2  # one address a flit: the first of three is stripped
    flits = options.get("packet", length) + header
    whole = [Message(0, 0, (1, 2, 3), length)]
    assert runs(whole, 1, slot=flits, **options).outcome == "delivered"
    with pytest.raises(WormcastError, match=rf"slot: {flits - 1} is not valid: a worm to 3 destinations with "
                                            rf"{flits - header} payload flits takes {flits} flits of a slot"):
        runs(whole, 1, slot=flits - 1, **options)
    assert runs([Message(0, 0, (3,), length)], 1, slot=2, **options).outcome == "delivered"
