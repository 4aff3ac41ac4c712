"""Deadlock: Figure 4 of [Boppana98], where it begins, and that it is called when, and only when, it is one."""

import random
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import SCHEMES, AddressList, topology
from wormcast.hw.input_probe import PathProbe
from wormcast.hw.interface.interface_probe import InterfaceProbe
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.engines import deadlock
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.experiments.run import run
from wormcast.sim.host import NOW
from wormcast.sim.lowering.errors import LoweringError

from .bench import bulk, check_receipts, send
from .deadlock_cases import CASES, kept
from .thresholds import DEPTHS, figure4

# Figure 4 ------------------------------------------------------------------------------------------------------


def test_figure_4_deadlocks_with_one_consumption_channel():
    """Both worms, both consumption channels and both links are named; each waits for what the other holds."""
    result = figure4(64)
    assert result.outcome == "deadlock"
    assert result.deadlock.worms == {0, 1}
    up, down = sorted(result.deadlock.cycle, key=lambda hold: hold.worm)
    assert (up.worm, down.worm) == (0, 1)
    assert {"cons:1:0", "link:0>1:0", "link:1>2:0"} == set(up.holds)
    assert {"cons:2:0", "link:3>2:0", "link:2>1:0"} == set(down.holds)
    assert (up.waits, down.waits) == (("cons:2:0",), ("cons:1:0",))
    told = result.to_dict()["deadlock"]
    assert told["at"] == result.deadlock.at <= result.cycles
    assert {hold["worm"]: hold["waits"] for hold in told["cycle"]} == {0: ["cons:2:0"], 1: ["cons:1:0"]}


@pytest.mark.parametrize("readers", ["coupled", slow("independent")])
def test_figure_4_is_delivered_with_two(readers):
    result = figure4(64, consumption=2, readers=readers)
    assert result.outcome == "delivered"
    assert result.deadlock is None
    assert all(message["latency"] > 64 for message in result.to_dict()["messages"])


@pytest.mark.parametrize("readers", ["coupled", "independent"])
@pytest.mark.parametrize("depth", some(DEPTHS, 4))
def test_shortest_payload_that_deadlocks(depth, readers):
    """A worm stuck before its second destination frees the first one's channel when its tail has been read
    there, so it deadlocks as soon as what is left of it, payload and the r header flits behind the first
    destination, does not fit into the buffers ahead: L + r > D coupled (the buffer behind the link between),
    L + r > 2 D independent (and the first destination's own, which the node's reader has gone through).
    With r = 1: from L = D and L = 2 D flits on."""
    least = depth if readers == "coupled" else 2 * depth
    for length in range(max(1, least - 3), least):
        assert figure4(length, buffer=depth, readers=readers).outcome == "delivered"
    for length in (least, least + 1, least + 7):
        assert figure4(length, buffer=depth, readers=readers).outcome == "deadlock"


@pytest.mark.parametrize(("readers", "width"), [("coupled", 4), slow("independent", 4), slow("coupled", 32)])
def test_header_flits_count_as_payload_does(readers, width):
    """With a third destination and an address to a flit, r is 2: the threshold is one payload flit lower."""
    assert AddressList((1, 6), 4).capacity == 1
    depth, r = 4, 2 if width == 4 else 1
    least = (depth if readers == "coupled" else 2 * depth) - r + 1
    for length, outcome in ((least - 1, "delivered"), (least, "deadlock")):
        assert run(topology("mesh:1x6"), SCHEMES["dual-path"],
                   [send(1, 2, 3, 5, length=length), send(4, 3, 2, 0, length=length)],
                   Configuration(vcs=1, buffer=depth, consumption=1, readers=readers, flit_width=width),
                   ).outcome == outcome


# which worms ---------------------------------------------------------------------------------------------------

FACING = [send(0, 1, 2, length=64), send(3, 2, 1, length=64)]


def test_a_worm_behind_a_deadlock_is_in_it_but_not_in_the_cycle():
    """Node 1 wants to send past node 2 while the link is held: it waits for ever, and nobody for it."""
    result = run(topology("mesh:1x4"), SCHEMES["dual-path"], [*FACING, send(1, 3, length=5, at=30)],
                 Configuration(vcs=1, buffer=4, consumption=1))
    assert result.outcome == "deadlock"
    assert result.deadlock.worms == {0, 1, 2}
    assert {hold.worm for hold in result.deadlock.cycle} == {0, 1}


def test_a_deadlock_is_found_while_others_still_move():
    """Two worms face each other in the first row of a 4x4 mesh; the two last rows talk on."""
    talk = [send(source, to, length=8, at=at) for at in range(0, 6000, 40)
            for source, to in ((8, 11), (11, 8), (12, 14), (15, 13), (9, 13))]
    result = run(topology("mesh:4x4"), SCHEMES["dual-path"], [*FACING, *talk],
                 Configuration(vcs=1, buffer=4, consumption=1), timeout=20_000)
    assert result.outcome == "deadlock"
    assert result.deadlock.worms == {0, 1}
    assert result.cycles < 4000
    stuck_since = result.host.touched[:2].max()
    assert (result.host.tail > stuck_since + 200).sum() > 10, "the others did not move"
    assert (result.host.injected[2:] < 0).any(), "the others had already done"


# in several packets --------------------------------------------------------------------------------------------


def require_closed(cycle):
    """Each packet of a cycle waits for what the next one holds, or is itself behind it."""
    for hold, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert set(hold.waits) & set(after.holds), f"{after.name} does not hold what {hold.name} waits for"


def test_packets_deadlock_as_worms_of_their_own():
    """Figure 4 in packets of two flits, some of which pass each other: the later packets wait behind earlier ones of
    their own worm, each a link of the chain for itself."""
    result = figure4(12, packet=2, vcs=2)
    assert result.outcome == "deadlock"
    cycle = result.deadlock.cycle
    require_closed(cycle)
    named = {(hold.worm, hold.packet) for hold in cycle}
    assert {worm for worm, _ in named} == result.deadlock.worms == {0, 1}
    assert len(named) == len(cycle) > 2
    assert named < result.deadlock.packets
    told = result.to_dict()["deadlock"]["cycle"]
    assert [(hold["worm"], hold["packet"]) for hold in told] == [(hold.worm, hold.packet) for hold in cycle]


@pytest.mark.parametrize("depth", [2, slow(4), slow(5)])
@pytest.mark.parametrize("readers", ["coupled", slow("independent")])
def test_shortest_packet_that_deadlocks(depth, readers):
    """The threshold is one of packets: the first ones meet as whole worms of their length do."""
    least = depth if readers == "coupled" else 2 * depth
    for packet in (least, least + 1):
        result = figure4(3 * packet, buffer=depth, readers=readers, packet=packet)
        assert result.outcome == "deadlock"
        assert [(hold.worm, hold.packet) for hold in sorted(result.deadlock.cycle, key=lambda hold: hold.worm)] \
            == [(0, 0), (1, 0)]
        alone = figure4(packet, buffer=depth, readers=readers, packet=packet).to_dict()["deadlock"]["cycle"]
        assert all("packet" not in hold for hold in alone)


def test_packets_of_column_path_deadlock_with_one_channel_alone():
    case, messages = CASES["column-path_6x1"], [replace(one, length=64) for one in kept("column-path_6x1")]
    result = case.run(messages, packet=2)
    assert result.outcome == "deadlock"
    require_closed(result.deadlock.cycle)
    assert all(hold.packet is not None for hold in result.deadlock.cycle)
    assert case.run(messages, packet=2, consumption=2).outcome == "delivered"


# never wrong ---------------------------------------------------------------------------------------------------


# multicasts that hold one channel and want another, and unicasts that hold none
@pytest.mark.parametrize(("mesh", "scheme", "options"), [
    ("mesh:4x4", "dual-path", {"vcs": 1, "buffer": 4, "consumption": 2}),
    slow("mesh:4x4", "dual-path", {"vcs": 2, "buffer": 2, "readers": "independent", "flit_width": 16}),
    slow("mesh:2x5", "individual", {"vcs": 1, "buffer": 8, "consumption": 1, "flit_width": 67}),
    slow("mesh:2x4", "column-path", {"vcs": 2, "buffer": 2, "consumption": 2, "packet": 3}),
])
def test_no_false_alarm(mesh, scheme, options):
    """Heavy legal traffic, whose nodes take a flit every fifty cycles: never a deadlock, whenever one looks."""
    nodes = topology(mesh).nodes
    rng = random.Random(2)
    messages = [send(source, *rng.sample([n for n in range(nodes) if n != source], 5), length=rng.randint(4, 12))
                for source in range(nodes)]
    engine = bulk(mesh, scheme, messages, stall=0.98, seed=1, **options)
    looks = 0
    while engine.host.left.any() and engine.host.counters[NOW] < 200_000:
        engine.run(rng.randint(1, 100))
        check_receipts(engine.host)
        assert find_deadlock(engine) is None
        looks += 1
    assert not engine.host.left.any()
    assert looks > 20
    result = run(topology(mesh), SCHEMES[scheme], messages, Configuration(**options), stall=0.98, seed=1)
    assert result.outcome == "delivered"


@pytest.mark.parametrize("packet", [0, 3])
@pytest.mark.parametrize(("readers", "delays"), [
    slow("coupled", "paper"), ("independent", "fast"), slow("coupled", "fast"), slow("independent", "paper")])
def test_worms_that_close_up_are_no_deadlock(readers, delays, packet):
    """Figure 4 with worms that pass each other by a hair, looked at in every cycle: both headers stand before a
    channel that the other worm holds, until its last flits come after it."""
    depth = 5 if readers == "coupled" else 3
    length = 3 if packet else 4
    engine = bulk("mesh:1x4", "dual-path", [send(0, 1, 2, length=length), send(3, 2, 1, length=length)], vcs=1,
                  buffer=depth, consumption=1, readers=readers, delays=delays, packet=packet)
    while engine.host.left.any():
        engine.run(1)
        assert find_deadlock(engine) is None
        assert engine.host.counters[NOW] < 300


@pytest.mark.parametrize("name", ["link_vc", "packet_vc", "consumption_vc", "wants_consumption", "done_0", "done_1"])
def test_a_register_that_is_not_found_is_no_zero(name, monkeypatch):
    """Each may be absent, but not here, where everything is built; it would be, were it called otherwise."""
    engine = bulk("mesh:1x4", "dual-path", FACING, vcs=2, consumption=2, readers="independent")
    engine.run(20)
    assert find_deadlock(engine) is None
    register = engine.register

    def renamed(kind, one):
        return register(kind, one + "_" if one.endswith(f".{name}") else one)

    monkeypatch.setattr(engine, "register", renamed)
    monkeypatch.setattr(deadlock, "_may_deadlock", lambda _: True)  # it reads nothing where no worm waits
    with pytest.raises(LoweringError, match=rf"'.*{name}_' is not a register of "):
        find_deadlock(engine)


def in_the_network(engine):
    """Packets that are due at some node, and of which a flit has left the source's interface; of a network at rest."""
    host, size = engine.host, engine.network.configuration.packet or 2**40
    left = {}  # payload flits that have left the interface, of each worm that has
    for worm in np.flatnonzero(host.injected >= 0).tolist():
        left[worm] = int(host.worms["length"][worm])
    write_at, read_at, filled = (engine.register("interface", f"injection_0.buffer.vc0_{name}")
                                 for name in ("write_at", "read0_at", "filled0"))
    for node, stream in enumerate(host.streams):
        # backwards through the worms sent, as long as flits are still in the interface's buffer
        queue, worm, sent = engine.network.configuration.queue, int(stream["worm"]), int(stream["sent"])
        behind = int(write_at[node] - read_at[node]) % queue or queue * int(filled[node])
        if worm < 0:
            worm = int(stream["before"])
            sent = int(host.worms["headers"][worm] + host.worms["length"][worm])
        while worm >= 0:
            if sent > behind:
                left[worm] = max(0, sent - behind - int(host.worms["headers"][worm]))
                # a packet that has begun, with its header alone; it may be one of a retransmission slot
                begun = bool(engine.register("interface", "injection_0.owns")[node])
                if engine.network.configuration.slots:
                    begun &= not engine.register("interface", "injection_0.others_turn")[node]
                left[worm] += begun and left[worm] % size == 0
                break
            del left[worm]
            behind, worm = behind - sent, int(host.worms["previous"][worm])
            sent = int(host.worms["headers"][worm] + host.worms["length"][worm])
    coming = {(int(row["delivery"]), int(row["place"]) // size) for row in host.channels if row["delivery"] >= 0}
    due = set()
    for at, delivery in enumerate(host.deliveries):
        worm = int(delivery["worm"])
        for number in range(-(-left.get(worm, 0) // size)):
            if not host.begun[delivery["packets"] + number] or (at, number) in coming:
                due.add((worm, number))
    return due


# whole worms, and packets, of which those of one worm wait for each other
CROWD = [("mesh:1x4", 8, {"vcs": 1, "buffer": 4, "consumption": 1}),
         slow("mesh:4x4", 24, {"vcs": 1, "buffer": 4, "consumption": 1}),
         slow("mesh:3x3", 16, {"vcs": 2, "buffer": 2, "consumption": 1, "readers": "independent"}),
         slow("mesh:1x4", 8, {"vcs": 2, "buffer": 2, "consumption": 1, "packet": 3, "flit_width": 21}),
         slow("mesh:1x4", 8, {"vcs": 1, "buffer": 2, "consumption": 1, "packet": 1, "flit_width": 21}),
         slow("mesh:2x3", 12, {"vcs": 2, "buffer": 2, "consumption": 1, "packet": 4, "readers": "independent",
                               "delays": "fast"}),
         slow("mesh:1x4", 40, {"vcs": 1, "buffer": 4, "consumption": 1, "absorb": "1", "slot": 33}),
         slow("mesh:3x3", 60, {"vcs": 2, "buffer": 2, "consumption": 2, "absorb": "1"}),
         slow("mesh:4x4", 40, {"vcs": 1, "buffer": 4, "consumption": 1, "absorb": "2"}),
         slow("mesh:3x3", 24, {"vcs": 2, "buffer": 1, "consumption": 1, "absorb": "1", "readers": "independent"}),
         slow("mesh:2x3", 24, {"vcs": 2, "buffer": 2, "consumption": 1, "absorb": "1", "packet": 12, "flit_width": 21,
                               "t_ns": 7, "t_nr": 3})]


@pytest.mark.parametrize(("mesh", "most", "options"), CROWD)
def test_a_deadlock_is_called_when_and_only_when_it_is_one(mesh, most, options):
    """Random multicasts with too few consumption channels: packets once called deadlocked are never delivered and
    stay called so; and once a network has come to rest, all packets in it that are due somewhere are called so."""
    rng = random.Random(3)
    nodes = topology(mesh).nodes
    called = delivered = 0
    for _ in range(8 if "packet" in options else 16):
        messages = []
        for _ in range(rng.randint(2, most)):
            source = rng.randrange(nodes)
            others = [node for node in range(nodes) if node != source]
            messages.append(send(source, *rng.sample(others, rng.randint(1, min(6, len(others)))),
                                 length=rng.randint(1, 30), at=rng.randint(0, 60)))
        engine = bulk(mesh, "dual-path", messages, **options)
        stuck: frozenset[tuple[int, int]] = frozenset()
        for _ in range(40):
            engine.run(rng.choice((1, 1, 60)))
            found = find_deadlock(engine)
            assert stuck <= (found.packets if found else frozenset()), "a deadlock that dissolved"
            if found:
                stuck = found.packets
                assert {(hold.worm, hold.packet or 0) for hold in found.cycle} <= stuck
        engine.run(20_000)
        check_receipts(engine.host)
        last = find_deadlock(engine)
        due = in_the_network(engine)
        assert stuck <= due, "a packet that was called deadlocked came through"
        assert (last.packets if last else set()) == due
        called += bool(due)
        delivered += not due
    assert called >= 1
    assert delivered >= 1


# the reduction alone -------------------------------------------------------------------------------------------


def fake(monkeypatch, channels, *, masks=1, consumption=1, packets=1, moving=()):
    """Find the deadlock among channels {name: {"worms": in it, "holds": channel, "ends_here": last destination}}.

    Consumption channel c of a router is held by the channel that says so; one that holds none wants one of ``masks``,
    or any if its worm ends here. Worms are of so many packets; a worm alone stands for its first one.
    """
    def packet(one):
        return (one, 0) if isinstance(one, int) else one

    class Snapshot(deadlock.Snapshot):
        def __init__(self, engine, lane):
            assert lane == 0
            self.network, self.fabric = engine.network, engine.network.fabric

        def channels(self):
            return list(channels)

        def occupants(self, channel):
            return [packet(one) for one in channels[channel]["worms"]]

        def of(self, channel, name):
            holds = channels[channel].get("holds")
            return {"here": 1, "wants_consumption": int(holds is None), "consumption_vc": holds or 0, "owns_link": 0,
                    "ends_here": channels[channel].get("ends_here", 0)}.get(name, 0)

        def waiting(self, channel):
            return self.network.probe("router", *channel[1:]).waiting(partial(self.of, channel))

        def held(self, channel):
            return self.network.probe("router", *channel[1:]).holds(partial(self.of, channel))

        def link(self, channel):
            return SimpleNamespace(kind="network", name=f"link:{channel[1] + 10}>{channel[0]}")

        def moves(self, channel):
            return [packet(one) for one in channels[channel]["worms"] if one in moving]

    monkeypatch.setattr(deadlock, "Snapshot", Snapshot)
    monkeypatch.setattr(deadlock, "_may_deadlock", lambda _: True)  # it follows links, which there are none of here
    router = SimpleNamespace(
        decoder=SimpleNamespace(targets=lambda port: [], ejection_ports=lambda port: [4], adaptive=False),
        readers_of=lambda port: 1, ejection=4,
        inputs=[SimpleNamespace(name=f"input_{port}", vcs=1) for port in range(4)],
        outputs=[SimpleNamespace(vcs=1)] * 4 + [SimpleNamespace(vcs=consumption)])
    fabric = SimpleNamespace(out_of={(node, 4): node for node in range(2)},
                             links=[SimpleNamespace(kind="consumption", node=node, first=0) for node in range(2)])
    every = (1 << consumption) - 1
    engine = SimpleNamespace(
        network=SimpleNamespace(fabric=fabric, interface_probe=InterfaceProbe,
                                home=lambda switch: SimpleNamespace(kind="router"),
                                probe=lambda kind, port, vc: PathProbe(router, port, vc),
                                consumption_mask=lambda node, port, vc, output, ends: every if ends else masks),
        host=SimpleNamespace(counters=np.array([77]), packets=np.full(10, packets), touched=10 * np.arange(10)))
    return find_deadlock(engine)


def test_reduction_two_worms_that_hold_what_the_other_wants(monkeypatch):
    found = fake(monkeypatch, {
        (0, 0, 0): {"worms": [5], "holds": 0}, (1, 0, 0): {"worms": [5]},
        (1, 1, 0): {"worms": [9], "holds": 0}, (0, 1, 0): {"worms": [9]}})
    assert found.worms == {5, 9}
    assert (found.at, found.moved) == (77, 90)
    assert [(hold.worm, hold.waits) for hold in found.cycle] == [(5, ("cons:1:0",)), (9, ("cons:0:0",))]


def test_reduction_a_chain_is_no_deadlock(monkeypatch):
    assert fake(monkeypatch, {(0, 0, 0): {"worms": [5], "holds": 0}, (0, 1, 0): {"worms": [6]}}) is None


def test_reduction_one_free_alternative_is_enough(monkeypatch):
    """OR: with a second consumption channel whose holder moves, or that is free, both are released."""
    circle = {(0, 0, 0): {"worms": [5], "holds": 0}, (1, 0, 0): {"worms": [5]},
              (1, 1, 0): {"worms": [9], "holds": 0}, (0, 1, 0): {"worms": [9]}}
    assert fake(monkeypatch, circle, masks=0b11, consumption=2) is None
    held = circle | {(0, 2, 0): {"worms": [3], "holds": 1}, (1, 2, 0): {"worms": [4], "holds": 1}}
    assert fake(monkeypatch, held, masks=0b11, consumption=2) is None
    assert fake(monkeypatch, held, masks=0b01, consumption=2).worms == {5, 9}


def test_reduction_a_worm_at_its_last_destination_takes_any(monkeypatch):
    """Its class's channel is held for ever, the other one is free: it is released, and with it who waits for it."""
    circle = {(0, 0, 0): {"worms": [5], "holds": 0}, (1, 0, 0): {"worms": [5]},
              (1, 1, 0): {"worms": [9], "holds": 0}, (0, 1, 0): {"worms": [9]}}
    assert fake(monkeypatch, circle, masks=0b01, consumption=2).worms == {5, 9}
    circle[0, 1, 0]["ends_here"] = 1
    assert fake(monkeypatch, circle, masks=0b01, consumption=2) is None
    circle[0, 2, 0] = {"worms": [5], "holds": 1}
    assert fake(monkeypatch, circle, masks=0b01, consumption=2).worms == {5, 9}


def test_reduction_all_waits_must_be_met(monkeypatch):
    """AND: a worm behind a deadlocked one in some buffer is stuck, though nothing waits for it."""
    found = fake(monkeypatch, {
        (0, 0, 0): {"worms": [5, 7], "holds": 0}, (1, 0, 0): {"worms": [5]},
        (1, 1, 0): {"worms": [9], "holds": 0}, (0, 1, 0): {"worms": [9]}, (0, 2, 0): {"worms": [8, None]}})
    assert found.worms == {5, 7, 8, 9}
    assert found.closed == {(5, 0), (9, 0)}
    assert {hold.worm for hold in found.cycle} == {5, 9}


def test_reduction_who_holds_another_channel_is_needed_too(monkeypatch):
    """Two circles of two, of whose channels each worm takes any; a fifth one stands behind."""
    found = fake(monkeypatch, {
        (0, 0, 0): {"worms": [5, 7], "holds": 0}, (1, 0, 0): {"worms": [5]},
        (1, 1, 0): {"worms": [9], "holds": 0}, (0, 1, 0): {"worms": [9]},
        (0, 2, 0): {"worms": [3], "holds": 1}, (1, 2, 0): {"worms": [3]},
        (1, 3, 0): {"worms": [4], "holds": 1}, (0, 3, 0): {"worms": [4]}}, masks=0b11, consumption=2)
    assert found.worms == {3, 4, 5, 7, 9}
    assert {worm for worm, _ in found.closed} == {3, 4, 5, 9}
    assert len(found.cycle) == 2


def test_reduction_packets_of_one_worm_wait_for_each_other(monkeypatch):
    """Each stands for itself: two packets of a worm in a circle, and a third one that is free."""
    circle = {(0, 0, 0): {"worms": [(5, 2)], "holds": 0}, (1, 0, 0): {"worms": [(5, 2)]},
              (1, 1, 0): {"worms": [(5, 3)], "holds": 0}, (0, 1, 0): {"worms": [(5, 3)]},
              (1, 2, 0): {"worms": [(5, 4)], "holds": 1}}
    found = fake(monkeypatch, circle, packets=9)
    assert (found.packets, found.worms) == ({(5, 2), (5, 3)}, {5})
    assert found.to_dict()["cycle"] == [{"worm": 5, "packet": 2, "holds": ["link:10>0:0", "cons:0:0", "link:10>1:0"],
                                         "waits": ["cons:1:0"]},
                                        {"worm": 5, "packet": 3, "holds": ["link:11>1:0", "cons:1:0", "link:11>0:0"],
                                         "waits": ["cons:0:0"]}]
    assert [hold.name for hold in found.cycle] == ["worm 5, packet 2", "worm 5, packet 3"]


def test_reduction_a_worm_that_still_closes_up_is_released(monkeypatch):
    circle = {(0, 0, 0): {"worms": [5], "holds": 0}, (1, 0, 0): {"worms": [5]},
              (1, 1, 0): {"worms": [9], "holds": 0}, (0, 1, 0): {"worms": [9]}}
    assert fake(monkeypatch, circle).worms == {5, 9}
    assert fake(monkeypatch, circle, moving={9}) is None
