# amaranth: UnusedElaboratable=no
"""Networks whose interfaces queue whole packets: deadlocks, and mutants of queue and processor that deadlock."""

import pytest
from cases import slow

import wormcast as wc
from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.hw.interface import communication_processor, packet_queue
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.experiments.hunt import hunt
from wormcast.sim.experiments.run import run

from .bench import bulk, finish, host_of, network, send

QUEUES = {"vcs": 1, "packet": 4, "send_queue": 2, "receive_queue": 1, "t_ns": 5, "t_nr": 9}
ORDERS = ("arrival", "receive-first", "send-first")


#: Each of two worms goes on from a node at which the other one ends.
CROSSING = [send(0, 1, 2, length=24), send(3, 2, 1, length=24)]


def crossing(ni):
    return bulk("mesh:1x4", "dual-path", CROSSING, consumption=2, ni=ni, **{**QUEUES, "packet": 24, "send_queue": 0})


KINDS = ["conventional", slow("fpfs")]


@pytest.mark.parametrize("ni", KINDS)
def test_worms_of_two_classes_have_places_of_their_own(ni):
    finish(crossing(ni), 2000)


@pytest.mark.parametrize("ni", KINDS)
def test_places_that_classes_share_deadlock(mutate, ni):
    """With one place for both classes, each worm holds the place that the other one waits for."""
    mutate(packet_queue.PacketQueue, ("(still != self.places)", "(sum(used[1:], used[0]) + self.write < self.places)"))
    engine = crossing(ni)
    engine.run(20_000)
    assert engine.host.left.sum() == 4


def hunted(**options):
    configuration = Configuration(**{**QUEUES, "consumption": 1, "ni_processors": "one", **options})
    return hunt(topology("mesh:1x2"), SCHEMES["individual"], configuration=configuration, cycles=400_000,
                lengths=(4, 40), workers=1)


@pytest.mark.parametrize("order", [ORDERS[0], *map(slow, ORDERS[1:])])
def test_one_processor_does_not_deadlock(order):
    found = hunted(ni_order=order)
    assert found.result is None
    assert found.searched.unfinished == 0


def test_processor_that_waits_for_the_link_deadlocks(mutate):
    """It begins with a packet to send while the link is busy. Two nodes then wait for each other's receive queue."""
    mutate(communication_processor.CommunicationProcessor,
           ("startable = [of & waits.replicate(count) for of, waits in zip(entries, self.waits, strict=True)]",
            "startable = entries"),
           ("Mux(now_left == 0, now, 0)", "Mux(now_left == 0, now & self.waits, 0)"))
    assert hunted().searched.unfinished > 0


@pytest.mark.parametrize("options", [{}, slow({"send_queue": 1, "ni_processors": "one"}), slow({"vcs": 2})])
def test_deadlock_is_proved_from_send_queues(options):
    """Of worms whose rest is in send queues, and of packets behind them that hold nothing."""
    messages = [send(0, 1, 2, length=64), send(3, 2, 1, length=64), send(0, 1, length=8)]
    result = run(topology("mesh:1x4"), SCHEMES["dual-path"], messages,
                 Configuration(**{**QUEUES, "consumption": 1, "packet": 32, **options}))
    assert result.outcome == "deadlock"
    assert [(hold.worm, hold.packet) for hold in result.deadlock.cycle] == [(0, 0), (1, 0)]
    assert result.deadlock.closed == {(0, 0), (1, 0)}


FROM_SLOTS = {"absorb": "1", "vcs": 1, "packet": 24}


@pytest.mark.parametrize(("scheme", "options"), [
    ("k-binomial", {"ni": "fpfs", "packet": 4, "rows": 2, "places": 6, "consumption": 2, "t_nr": 2,
                    "receive_queue": 1}),
    slow("k-binomial", {"ni": "fcfs", "packet": 4, "rows": 2, "places": 6, "consumption": 2, "flit_width": 8}),
    slow("dual-path", {**FROM_SLOTS, "absorb": "3", "consumption": 2}),
    slow("dual-path", {**FROM_SLOTS, "absorb": "3", "consumption": 2, "receive_queue": 1, "t_nr": 3, "packet": 9})])
def test_send_queue_beside_copies_and_absorbed_worms(scheme, options):
    """They leave by the same link as the packets in the send queue, in turn. Both engines agree."""
    options = {"t_ns": 3, "send_queue": 2, **options}
    messages = [send(0, 1, 2, 3, length=16), send(3, 1, length=24), send(0, 2, length=20), send(1, 0, 3, length=12),
                send(1, 2, length=24)]
    net = network("mesh:1x4", scheme, tuple(sorted(options.items())))
    reference = AmaranthEngine(net, host_of(net, messages))
    reference.run(2000)
    engine = bulk("mesh:1x4", scheme, messages, **options)
    finish(engine, 2000)
    for field in ("head", "tail", "received"):
        assert (engine.host.deliveries[field] == reference.host.deliveries[field]).all()


@pytest.mark.slow  # deadlocks of slots are tried without send queues: test_absorb
def test_deadlock_of_slots_is_proved_beside_send_queues():
    """Deadlock of [Boppana98], Table 1. Each host has a further worm in its send queue, which holds no resource."""
    messages = [send(0, 1, 2, 3, length=24), send(3, 2, 1, 0, length=24), send(0, 1, 2, length=24, at=1),
                send(3, 2, 1, length=24, at=1), send(1, 0, length=24, at=1), send(2, 3, length=24, at=1)]
    result = run(topology("mesh:1x4"), SCHEMES["dual-path"], messages, Configuration(**FROM_SLOTS, consumption=1,
                                                                                    send_queue=2))
    assert result.outcome == "deadlock"
    assert {hold.worm for hold in result.deadlock.cycle} == {0, 1, 2, 3}


def test_text_of_a_number_is_the_number():
    assert Configuration(packet=4, send_queue="2", receive_queue="0") == Configuration(packet=4, send_queue=2)


@pytest.mark.parametrize("name", ["send_queue", "receive_queue"])
def test_overflow_of_a_queue_that_is_never_full_is_an_error(name):
    """1025 packets come while the first waits. With 256 places, which refuse packets, the rest waits."""
    where, time = {"send_queue": ("host_in_0", "t_ns"), "receive_queue": ("network_in_0", "t_nr")}[name]
    for place, length, faults in (("never-full", 1025, [(where, "overflow")]), ("never-full", 1024, []),
                                  (256, 1025, [])):
        found = run(topology("mesh:1x2"), SCHEMES["individual"], [send(0, 1, length=length)],
                    Configuration(packet=1, consumption=1, vcs=1, **{time: 65_000, name: place}), timeout=20_000)
        assert [(fault.port, fault.cause) for fault in found.faults] == faults


@pytest.mark.parametrize("name", ["send-queue", "receive-queue"])
def test_queue_that_is_never_full_is_no_hardware(name):
    for command in (wc.verilog, wc.synth):
        with pytest.raises(WormcastError, match=rf"{name.replace('-', '_')}: never-full is not valid with verilog and "
                                                r"synth: the queue is for simulation alone\. Allowed: 0 to 256"):
            command("interface", packet=4, **{name.replace("-", "_"): "never-full"})


@pytest.mark.parametrize(("options", "said"), [
    ({"send_queue": 2}, r"send_queue: 2 is not valid with packet 0 .* Allowed: 0, or with packet 1"),
    ({"send_queue": 2, "packet": 4, "ni_processors": "one"},
     r"ni_processors: one is not valid with receive_queue 0 \(the default\): .* Allowed: two, or with receive_queue"),
    ({"receive_queue": 2, "packet": 4, "ni_processors": "one"}, r"ni_processors: one is not valid with send_queue 0"),
    ({"send_queue": "many", "packet": 4}, r"send_queue: many is not valid\. Allowed: 0 to 256, or never-full"),
    ({"receive_queue": 257, "packet": 4}, r"receive_queue: 257 is not valid\. Allowed: 0 to 256, or never-full"),
    ({"send_queue": "never-full"}, r"send_queue: never-full is not valid with packet 0"),
    ({"receive_queue": 2, "send_queue": 2, "packet": 4, "ni": "fpfs", "ni_processors": "one"},
     r"ni_processors: one is not valid with ni fpfs: .* sends on are not in the send queue\. Allowed: two"),
    ({"receive_queue": 2, "send_queue": 2, "packet": 4, "absorb": "2", "ni_processors": "one"},
     r"ni_processors: one is not valid with absorb 2: .* Allowed: two"),
    ({"ni_order": "send-first"},
     r"ni_order: send-first is not valid with ni_processors two .the default.: .* ni_processors one"),
])
def test_refusals(options, said):
    with pytest.raises(WormcastError, match=said):
        Configuration(**options)
