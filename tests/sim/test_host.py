"""The hosts' program: one processor a node, worms that wait for a receipt, packets put together again."""

import random

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import Scheme, WormcastError, Worms, topology
from wormcast.algorithms.schemes import SCHEMES
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.run import run
from wormcast.sim.host import packet_at_interface, packet_of

from .bench import bulk, check_receipts, finish, host_of, left_over, send
from .zero_load import LAST, PASS, deliveries

INDIVIDUAL = SCHEMES["individual"]


class Relay(Scheme):
    """A destination passes the message on to the next one in the list, by a worm of its own."""

    name = "relay"
    description = provenance = "test"
    kinds = ("mesh",)
    relation, header = INDIVIDUAL.relation, INDIVIDUAL.header

    def classes_on(self, topology):
        return INDIVIDUAL.classes_on(topology)

    def worms(self, topology, messages):
        sources, destination_offsets, destinations = messages
        after = np.arange(len(destinations)) - 1
        source = np.concatenate([[0], destinations[:-1]]).astype(np.int32)
        after[destination_offsets[:-1]] = -1
        source[destination_offsets[:-1]] = sources
        return Worms(destination_offsets, source, np.zeros(len(destinations), np.int32), after,
                     np.arange(len(destinations) + 1), destinations)


class Fan(Relay):
    """The first destination passes the message on to all others, one after the other."""

    name = "fan"

    def worms(self, topology, messages):
        _, destination_offsets, destinations = messages
        one = super().worms(topology, messages)
        first = np.repeat(destination_offsets[:-1], np.diff(destination_offsets))
        rank = np.arange(len(destinations)) - first
        passed_on = rank > 0
        source = np.where(passed_on, destinations[first], one.source).astype(np.int32)
        rank = np.where(passed_on, rank - 1, 0).astype(np.int32)
        return Worms(destination_offsets, source, rank, np.where(passed_on, first, -1), one.destination_offsets,
                     destinations)


def engine_of(scheme, mesh, messages, **options):
    net = Network(topology(mesh), scheme, Configuration(**{"vcs": 1, "consumption": 1, **options}))
    return BulkEngine(net, host_of(net, messages))


def row(source, destination, length, at, *, t_nr=0, t_hr=0, **options):
    """(injected, head, tail, received) of a unicast alone in a row of nodes, by the recurrence."""
    parts = [PASS] * abs(destination - source) + [LAST]
    ((head, tail),) = deliveries(parts, 1, length, 4, at=at, t_nr=t_nr, **options)
    return at + options.get("injection_delay", 0) + options.get("t_hs", 0), head, tail, tail + t_nr + t_hr


OVERHEADS = [{}, {"t_hs": 3, "t_hr": 5}, {"t_hs": 2, "t_hr": 40, "t_ns": 6, "t_nr": 8, "packet": 4}]


@pytest.mark.parametrize("options", OVERHEADS)
def test_a_worm_that_waits_for_a_receipt_starts_in_its_cycle(options):
    """Along a row of four nodes there and back, each worm created by the receipt of the one before it."""
    stops = [1, 3, 2]
    engine = engine_of(Relay(), "mesh:1x4", [send(0, *stops, length=10, at=7)], injection_delay=9, **options)
    finish(engine, 2000)
    host, at = engine.host, 7
    for worm, (source, stop) in enumerate(zip([0, *stops], stops, strict=False)):
        delay = {"injection_delay": 9} if worm == 0 else {}
        expected = row(source, stop, 10, at, **options, **delay)
        found = host.injected[worm], host.head[worm], host.tail[worm], host.received[worm]
        assert tuple(map(int, found)) == expected
        at = expected[-1]
    assert not left_over(engine)


def test_worms_released_by_one_receipt_are_posted_in_turn():
    """The receipt takes 20 cycles, each of the three worms 6; what is sent meanwhile costs the processor nothing."""
    engine = engine_of(Fan(), "mesh:1x5", [send(0, 1, 2, 3, 4, length=2)], t_hs=6, t_hr=20)
    finish(engine, 2000)
    received = int(engine.host.received[0])
    assert received == int(engine.host.tail[0]) + 20
    assert engine.host.injected[1:].tolist() == [received + 6, received + 12, received + 18]


def test_a_worm_that_waits_holds_back_none_behind_it():
    """Node 1 has to pass on what it gets late; its own message, created later, goes at once."""
    engine = engine_of(Relay(), "mesh:1x4", [send(3, 1, 0, length=60), send(1, 2, length=3, at=5)])
    finish(engine, 2000)
    assert engine.host.injected[2] == 5
    assert engine.host.injected[1] == engine.host.received[0] > 60


def test_one_processor_posts_a_message_after_the_other():
    """Three messages in one cycle: headers are prepared once for each, each of their two worms posted by itself."""
    messages = [send(4, 0, 8, length=1), send(4, 1, 7, length=1), send(4, 2, 6, length=1)]
    engine = bulk("mesh:3x3", "dual-path", messages, vcs=1, t_hs=10, injection_delay=7)
    finish(engine, 2000)
    assert engine.host.injected.tolist() == [17, 27, 44, 54, 71, 81]


def test_receipts_and_sends_are_worked_on_in_the_order_in_which_they_come():
    """A receipt that comes while a message is being prepared waits for it, and a later message for the receipt."""
    alone = row(0, 1, 4, 0)
    arrival = alone[2]
    messages = [send(0, 1, length=4), send(1, 2, length=1, at=arrival - 5), send(1, 2, length=1, at=arrival + 1)]
    engine = bulk("mesh:1x3", "individual", messages, vcs=1, consumption=1, t_hr=30, t_hs=12)
    engine.run(2000)
    host = engine.host
    sent = arrival - 5 + 12
    # worm 0 is itself posted 12 cycles late
    assert host.tail[0] == arrival + 12
    assert host.injected[1] == sent
    assert host.injected[2] == sent + 12
    assert host.received[0] == max(sent + 12, host.tail[0]) + 30
    messages = [send(0, 1, length=4), send(1, 2, length=1, at=arrival + 7), send(1, 2, length=1, at=arrival + 13)]
    engine = bulk("mesh:1x3", "individual", messages, vcs=1, consumption=1, t_hr=30, t_hs=12)
    engine.run(2000)
    host = engine.host
    assert host.injected[1] == arrival + 19
    assert host.received[0] == arrival + 19 + 30
    assert host.injected[2] == arrival + 19 + 30 + 12


def test_a_worm_that_waits_for_a_receipt_that_never_comes_is_refused():
    class Lost(Relay):
        def worms(self, *arguments):
            found = super().worms(*arguments)
            found.after[2] = 0
            return found

    with pytest.raises(WormcastError, match="is sent by node 2, and depends on worm 0, which does not reach node 2"):
        engine_of(Lost(), "mesh:1x4", [send(0, 1, 2, 3)])


def test_tags_are_given_to_those_under_way():
    """Sixteen tags are enough for forty worms, one of which is under way all the time."""
    messages = [send(0, 1, length=700), *(send(3, 4, length=5, at=12 * k) for k in range(40))]
    engine = engine_of(INDIVIDUAL, "mesh:1x5", messages, flit_width=4)
    finish(engine, 2000)
    assert engine.host.tail[0] > engine.host.tail[1:].max()
    assert not left_over(engine)


CROWDS = [
    ("mesh:3x3", "dual-path", {"vcs": 2, "buffer": 2, "packet": 3, "flit_width": 32, "queue": 2}),
    ("mesh:1x7", "dual-path", {"vcs": 3, "buffer": 4, "packet": 5, "flit_width": 22, "consumption": 3, "t_nr": 4}),
    ("mesh:4x4", "individual", {"vcs": 2, "buffer": 1, "packet": 1, "flit_width": 64, "t_ns": 2, "consumption": 4}),
    ("mesh:4x4", "dual-path", {"vcs": 2, "packet": 4, "t_hs": 9, "t_hr": 30, "injection_delay": 5, "t_ns": 3, "t_nr": 7,
                               "readers": "independent", "flit_width": 23, "queue": 16}),
]


def crowd(mesh, count, seed, most=60):
    rng = random.Random(seed)
    nodes = topology(mesh).nodes
    messages = []
    for _ in range(count):
        source = rng.randrange(nodes)
        others = [node for node in range(nodes) if node != source]
        messages.append(send(source, *rng.sample(others, rng.randint(1, min(6, nodes - 1))),
                             length=rng.randint(1, most), at=rng.randint(0, 300)))
    return messages


# multicasts in packets with overheads; hosts that take flits at once, and, of a flit a packet, late
@pytest.mark.parametrize(("mesh", "scheme", "options", "stall"), [
    (*CROWDS[3], 0.0), (*CROWDS[2], 0.5), slow(*CROWDS[0], 0.0), slow(*CROWDS[1], 0.0), slow(*CROWDS[2], 0.0),
    *(slow(*CROWDS[k], 0.5) for k in (0, 1, 3))])
def test_everything_is_delivered_in_packets(mesh, scheme, options, stall):
    """Packets that overtake each other, with overheads and back-pressure: every flit once, nothing left."""
    engine = bulk(mesh, scheme, crowd(mesh, 60, 4), stall=stall, seed=7, **options)
    finish(engine, 100_000)
    assert not left_over(engine)
    host = engine.host
    assert (host.received >= host.tail + options.get("t_nr", 0) + options.get("t_hr", 0)).all()


@pytest.mark.slow  # a property of the test above
def test_packets_of_a_worm_overtake_each_other():
    """Packets begin out of order, or several at a time. Otherwise the test above would prove little."""
    engine = bulk("mesh:4x4", "dual-path", crowd("mesh:4x4", 60, 4), vcs=2, packet=4, consumption=4, flit_width=32)
    aside = late = 0
    newest: dict[int, int] = {}
    begun: dict[int, set[int]] = {}
    while engine.host.left.any():
        engine.run(1)
        busy = engine.host.channels[engine.host.channels["delivery"] >= 0]
        aside += len(set(busy["delivery"].tolist())) < len(busy)
        for delivery, place in zip(busy["delivery"].tolist(), busy["place"].tolist(), strict=True):
            packet = place // 4
            late += packet < newest.get(delivery, 0)
            newest[delivery] = max(packet, newest.get(delivery, 0))
        for delivery in set(busy["delivery"].tolist()) - begun.keys():
            begun[delivery] = set((busy["place"][busy["delivery"] == delivery] // 4).tolist())
    check_receipts(engine.host)
    first = engine.host.deliveries["first"]
    assert all(first[delivery] in packets for delivery, packets in begun.items())
    assert np.count_nonzero(first) > 5
    assert aside > 100
    assert late > 10


@pytest.mark.parametrize("options", [{"packet": 4}, {"packet": 4, "t_nr": 6}])
def test_a_packet_given_twice_is_caught(options):
    """The second packet's flits, shown once more in the place of the third's."""
    engine = bulk("mesh:1x3", "individual", [send(0, 2, length=16)], vcs=1, consumption=1, flit_width=32, **options)
    seen = []
    block = engine.blocks["interface"]
    for _ in range(300):
        if block.output("host_out_0")[..., 2].item() & 1:
            seen.append((block.output("host_out_0")[..., 2].item(), block.output("host_out_0.data")[..., 2].item()))
            if len(seen) > 8:
                block.output("host_out_0")[..., 2], block.output("host_out_0.data")[..., 2] = seen[len(seen) - 5]
        engine.run(1)
    with pytest.raises(RuntimeError, match="node 2, consumption channel 0: received a first payload flit"):
        check_receipts(engine.host)


def test_packets_need_room_for_their_place():
    for width, length, sentence in (
        (8, 9, "packet: 4 is not valid: the last packet of a message of 9 flits has 1 flit of 8 bits, and .* needs 4"),
        (2, 8, "packet: 4 is not valid: the last packet of a message of 8 flits has 4 flits of 2 bits, .* needs 16"),
        (20, 17, "packet: 4 is not valid: flits of 20 bits .* a message of 17 flits. Allowed: messages of up to 16"),
    ):
        with pytest.raises(WormcastError, match=sentence):
            bulk("mesh:1x3", "individual", [send(0, 2, length=length)], flit_width=width, packet=4)
    with pytest.raises(WormcastError, match="packet: 4 is not valid: a header can have 128 flits of 20 bits"):
        run(topology("mesh:16x16"), SCHEMES["dual-path"], [send(0, 2)], Configuration(flit_width=20, packet=4))


@pytest.mark.parametrize("options", OVERHEADS)
def test_all_ports_send_at_once(options):
    """Four unicasts to the four neighbours leave as if each were alone, but for the processor's turns."""
    engine = engine_of(INDIVIDUAL, "mesh:3x3", [send(4, 1, 3, 5, 7, length=9, at=2)], ports="all", **options)
    assert engine.network.ports == 4
    finish(engine, 2000)
    for worm in range(4):
        expected = row(0, 1, 9, 2 + worm * options.get("t_hs", 0), **options)
        found = (getattr(engine.host, name)[worm] for name in ("injected", "head", "tail", "received"))
        assert tuple(map(int, found)) == expected
    assert not left_over(engine)


def test_worms_for_one_port_wait_for_each_other():
    engine = engine_of(INDIVIDUAL, "mesh:3x3", [send(3, 4, 5, 6, length=9)], ports="all")
    finish(engine, 2000)
    assert engine.host.injected.tolist() == [0, 10, 0]


@pytest.mark.slow  # traffic over several links: below
def test_separate_consumption_links_deliver_side_by_side():
    """Two worms that reach a node together: one link is shared flit by flit, two are not.

    Of worms that may take any channel one is given one in a cycle: the other has its own in the next.
    """
    messages = [send(3, 4, length=30), send(5, 4, length=30)]
    engine = engine_of(INDIVIDUAL, "mesh:3x3", messages, consumption=2, consumption_links="separate")
    assert engine.network.links == 2
    finish(engine, 2000)
    alone = row(0, 1, 30, 0)[1:3]
    times = [tuple(map(int, times)) for times in zip(engine.host.head, engine.host.tail, strict=True)]
    assert sorted(times) == [alone, tuple(cycle + 1 for cycle in alone)]
    engine = engine_of(INDIVIDUAL, "mesh:3x3", messages, consumption=2)
    finish(engine, 2000)
    assert (engine.host.tail > 55).all()


@pytest.mark.parametrize("options", [slow({"ports": "all"}), slow({"consumption_links": "separate", "consumption": 3}),
                                     {"ports": "all", "consumption_links": "separate", "packet": 4, "t_nr": 5}])
def test_everything_is_delivered_by_several_ports_and_links(options):
    engine = bulk("mesh:4x4", "dual-path", crowd("mesh:4x4", 60, 5), stall=0.3, seed=2, **options)
    finish(engine, 100_000)
    assert not left_over(engine)


@pytest.mark.slow  # heavy traffic that is none: test_deadlock
def test_packets_that_queue_are_no_deadlock():
    """Everybody sends to one node: several packets of a worm stand in one buffer, and wait for each other."""
    busy = [send(node, 0, length=200) for node in range(1, 16)]
    configuration = Configuration(packet=2, consumption=1)
    result = run(topology("mesh:1x16"), INDIVIDUAL, busy, configuration)
    assert result.outcome == "delivered"
    result = run(topology("mesh:1x16"), INDIVIDUAL, busy, configuration, timeout=2000)
    assert (result.outcome, result.deadlock) == ("stalled", None)


@pytest.mark.parametrize("options", [{"packet": 64, "t_ns": 600}, {"t_nr": 600, "t_hs": 70, "vcs": 2}])
def test_figure_4_is_a_deadlock_in_one_packet_and_with_overheads(options):
    """Two worms that face each other; with two virtual channels, two more behind them on the other one."""
    twice = options.get("vcs", 1)
    result = run(topology("mesh:1x4"), SCHEMES["dual-path"],
                 [send(0, 1, 2, length=64), send(3, 2, 1, length=64)] * twice,
                 Configuration(**{"vcs": 1, "consumption": 1, **options}))
    assert result.outcome == "deadlock"
    assert len(result.deadlock.cycle) == 2
    assert {0, 1} <= result.deadlock.worms


def test_the_same_run_in_json():
    result = run(topology("mesh:1x3"), INDIVIDUAL, [send(0, 2, length=10, at=3)],
                 Configuration(vcs=1, consumption=1, packet=5, t_hs=2, t_ns=3, t_nr=4, t_hr=6)).to_dict()
    expected = row(0, 2, 10, 3, packet=5, t_hs=2, t_ns=3, t_nr=4, t_hr=6)
    [message] = result["messages"]
    assert message["deliveries"]["2"] == {"head": expected[1], "tail": expected[2], "received": expected[3]}
    assert message["latency"] == expected[3] - 3
    assert message["network_latency"] == expected[2] - expected[0]
    assert result["header_flits"] == 2


@pytest.mark.parametrize("options", [{"queue": 16}, {"queue": 16, "packet": 2}, {"queue": 1, "t_ns": 3}])
def test_the_packet_at_an_interface_is_the_one_that_leaves_it_next(options):
    """At any time: short worms of which several wait in the interface's buffer, on two virtual channels."""
    engine = bulk("mesh:1x4", "individual", [send(0, 1 + k % 3, length=1 + k % 5) for k in range(40)], vcs=2,
                  flit_width=32, **options)
    answers, leaving, size = [], [], options.get("packet", 2**40)
    for cycle in range(1500):
        word = int(engine.output("interface", "network_out_0")[0])
        if word & 1 and not word >> 2 & 1:
            packet = word >> 4 & 0xFFFF, (word >> 20 & 0xFFFF) // size
            assert packet_of(engine.host, [word >> 4], begins=True) == packet
            leaving.append((cycle, word >> 1 & 1, packet))
        for vc in range(2):
            found = packet_at_interface(engine.host, lambda name, node: engine.register("interface", name)[node],
                                        engine.network.configuration.queue, engine.on_host_link(0, 0), 0, 0, vc)
            if found is not None:
                answers.append((cycle, vc, found))
        engine.run(1, beyond=True)
    assert len(answers) > 100
    for cycle, vc, packet in answers:
        assert next((on, gone) for at, on, gone in leaving if at > cycle) == (vc, packet)


@pytest.mark.parametrize(("options", "first", "later"), [
    # cycles from a message's creation to its first flit, of the first and the second worm; 1 + 3 flits are sent a worm
    ({}, 0, 4),
    ({"injection_delay": 10}, 10, 14),
    ({"multicast_delay": 30}, 30, 34),
    ({"injection_delay": 10, "multicast_delay": 30}, 40, 44),
    ({"copy_delay": 20}, 20, 40),
    ({"copy_delay": 20, "t_hs": 5}, 25, 50),
    ({"copy_delay": 20, "t_hs": 5, "copying": "first"}, 50, 54),
    ({"copy_delay": 20, "multicast_delay": 30, "copying": "first"}, 70, 74),
])
def test_delays_of_multicasts_and_copies(options, first, later):
    """A multicast in two worms, and a unicast beside it that pays what all messages pay, alone."""
    engine = engine_of(INDIVIDUAL, "mesh:1x4", [send(0, 1, 2, length=3, at=7), send(3, 2, length=3, at=7)], **options)
    finish(engine, 1000)
    alone = options.get("injection_delay", 0) + options.get("t_hs", 0)
    assert (engine.host.injected - 7).tolist() == [first, later, alone]


def test_only_the_sources_own_worms_are_made_first():
    """A relay's worms are posted when the receipt is noted: each pays its own cost."""
    options = {"copy_delay": 20, "copying": "first"}
    engine = engine_of(Relay(), "mesh:1x4", [send(0, 1, 2, length=3)], **options)
    finish(engine, 1000)
    assert engine.host.injected[0] == 20
    assert engine.host.injected[1] == engine.host.received[0] + 20
