# amaranth: UnusedElaboratable=no
"""The network interface, cycle by cycle."""

import itertools

import pytest

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.buffer import ReplicationBuffer
from wormcast.hw.interface import HOST_DEPTH, Consumption, Injection, NetworkInterface
from wormcast.hw.output_unit import OutputUnit
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench

WIDTH = 16


def inject(flits, *, vcs=2, depth=4, credit_after=2, cycles=120, taken=None, unended=None, **options):
    """Post flits as fast as the interface takes them; return what is on the network link, by cycle.

    ``taken``: a list for the cycles in which a flit was on the host's link. ``unended``: one for those in which a worm
    without a tail was reported; if there is none, none may be."""
    interface = bench.built(Injection, PortSpec("network", vcs=vcs, depth=depth), width=WIDTH, **options)
    queue, seen, owed, room = list(flits), [], {}, [interface.queue]

    def step(cycle, context):
        room[0] += context.get(interface.host.credit)
        if context.get(interface.no_tail):
            assert unended is not None, "a worm without a tail is reported, there is none"
            unended.append(cycle)
        if context.get(interface.network.valid):
            vc, flit = context.get(interface.network.vc), context.get(interface.network.flit)
            seen.append((cycle, vc, flit.head, flit.tail, flit.data))
            owed.setdefault(cycle + credit_after, []).append(vc)
        context.set(interface.network.credit, sum(1 << vc for vc in owed.get(cycle, ())))
        sends = bool(queue) and room[0] > 0
        context.set(interface.host.valid, sends)
        if sends:
            head, tail, data = queue.pop(0)
            room[0] -= 1
            if taken is not None:
                taken.append(cycle)
            context.set(interface.host.flit, {"head": head, "tail": tail, "data": data})

    bench.simulate(interface, cycles, step)
    return seen


def test_injection_takes_two_cycles_and_sends_a_flit_a_cycle():
    seen = inject(bench.worm([9], 6))
    assert [cycle for cycle, *_ in seen] == [2, 3, 4, 5, 6, 7, 8]
    assert [entry[2:] for entry in seen] == bench.worm([9], 6)


def test_each_worm_takes_a_free_virtual_channel_and_keeps_it():
    seen = inject(bench.worm([9], 3) + bench.worm([8], 3))
    vcs = [vc for _, vc, *_ in seen]
    assert len(set(vcs[:4])) == 1
    assert len(set(vcs[4:])) == 1
    assert vcs[0] != vcs[-1]


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6])
def test_injection_gets_depth_over_the_credit_loop(depth):
    cycles = [cycle for cycle, *_ in inject(bench.worm([9], 24), vcs=1, depth=depth, credit_after=2)]
    assert len(cycles) == 25
    assert all(cycles[k] - cycles[k - depth] == max(4, depth) for k in range(2 * depth, 25))


def packets(header, payload, size):
    """The same worm in packets, as they go to the network."""
    flits = bench.worm(header, payload)
    found = []
    for first in range(0, payload, size):
        found += flits[:len(header)]
        rest = flits[len(header) + first:len(header) + first + size]
        found += [*rest[:-1], (0, True, rest[-1][2])]
    return found


@pytest.mark.parametrize("size", [1, 3, 4, 7])
@pytest.mark.parametrize("most", [1, 3, 4])
@pytest.mark.parametrize("vcs", [1, 3])
def test_worms_are_sent_in_packets_with_their_header_before_each(size, most, vcs):
    """After any worms: headers of one flit up to the size of the header memory, payload of one to ten flits."""
    worms = [([40 + k for k in range(1 + (length * 7) % most)], length) for length in (1, 2, 3, 4, 10, 5, 8, 1)]
    flits = [flit for worm in worms for flit in bench.worm(*worm)]
    seen = inject(flits, vcs=vcs, cycles=400, packet=size, header_flits=most)
    assert [entry[2:] for entry in seen] == [flit for worm in worms for flit in packets(*worm, size)]
    held = {}
    for _, vc, _, tail, _ in seen:
        if held.get("tail", True):
            held["vc"] = vc
        assert vc == held["vc"], "a packet that changes its virtual channel"
        held["tail"] = tail


@pytest.mark.parametrize("by", ["host", "interface"])
@pytest.mark.parametrize(("size", "sent"), [(0, 5), (3, 1), (3, 2), (3, 3), (4, 6), (4, 8)])
def test_worm_without_tail_is_cut_off_and_the_next_one_is_whole(size, sent, by):
    """Cut off by the host, or by the interface when the next worm comes; ``sent`` payload flits are through by then."""
    bad, good = bench.worm([40, 41], sent), bench.worm([50, 51], 7)
    bad[-1] = 0, False, bad[-1][2]
    cut = [(1, True, 777)] if by == "host" else []
    unended = []
    seen = inject([*bad, *cut, *good], cycles=200, packet=size, header_flits=2, unended=unended)
    assert len(unended) == (by == "interface")
    marks = [(head, tail) for *_, head, tail, _ in seen]
    assert marks.count((1, 1)) == 1
    end = marks.index((1, 1))
    open_packet = bench.worm([40, 41], sent) if not size else packets([40, 41], sent, size)
    whole = size and sent % size == 0
    assert [entry[2:] for entry in seen[:end]] == [*open_packet[:-1], (0, whole, open_packet[-1][2])] + (
        bad[:2] if whole else [])
    wanted = packets([50, 51], 7, size) if size else good
    assert [entry[2:] for entry in seen[end + 1:]] == wanted


@pytest.mark.parametrize("queue", [1, 2, 3])
def test_what_lies_in_an_empty_queue_is_no_header(queue):
    """Between packets the queue runs empty, and shows a flit of before: the worm's header, in some of these."""
    for length in range(1, 8):
        seen = inject(bench.worm([9], length), packet=1, queue=queue)
        assert [entry[2:] for entry in seen] == packets([9], length, 1)


def test_packets_take_turns_at_the_virtual_channels():
    seen = inject(bench.worm([9], 12), packet=4)
    vcs = [vc for _, vc, head, *_ in seen if head]
    assert len(vcs) == 3
    assert all(a != b for a, b in itertools.pairwise(vcs))


def test_packets_of_one_virtual_channel_follow_with_one_cycle_between():
    cycles = [cycle for cycle, *_ in inject(bench.worm([9, 8], 8), vcs=1, packet=4, header_flits=2)]
    assert cycles == [2, 3, 4, 5, 6, 7, *range(9, 15)]


@pytest.mark.parametrize("t_ns", [1, 2, 5, 40])
def test_first_flit_of_each_packet_waits_t_ns(t_ns):
    seen = inject(bench.worm([9], 6), packet=3, t_ns=t_ns, cycles=200)
    first = 2 + t_ns
    second = first + 4 + t_ns
    assert [cycle for cycle, *_ in seen] == [*range(first, first + 4), *range(second, second + 4)]
    assert [entry[2:] for entry in seen] == packets([9], 6, 3)


def test_worm_that_is_not_cut_waits_once():
    assert [cycle for cycle, *_ in inject(bench.worm([9], 6), t_ns=10)] == list(range(12, 19))


@pytest.mark.parametrize("queue", [1, 2, 3, 4, 16])
def test_queue_holds_the_host_back(queue):
    """With a network that takes nothing, the host gets rid of what queue and link's credits hold; else one worm gets
    min(1, queue / 2) of the link to the interface (this host has no register of its own, its loop is 2 cycles)."""
    taken = []
    inject(bench.worm([9], 60), vcs=1, credit_after=1000, queue=queue, taken=taken)
    assert len(taken) == queue + 4
    taken = []
    inject(bench.worm([9], 60), vcs=1, depth=16, credit_after=1, queue=queue, taken=taken, cycles=400)
    assert len(taken) == 61
    assert taken[50] - taken[20] == 30 * 2 // min(queue, 2)


def test_bad_parameters_are_refused():
    for field, value in (("queue", 0), ("queue", 17), ("packet", -1), ("header_flits", 65), ("t_ns", 65536)):
        with pytest.raises(WormcastError, match=rf"Injection.{field}: {value} is not valid. Allowed: \d+ to \d+."):
            Injection(PortSpec("network"), width=8, **{field: value})
    with pytest.raises(WormcastError, match=r"Consumption\.t_nr: -1 is not valid. Allowed: 0 to 65535."):
        Consumption(PortSpec("network"), width=8, t_nr=-1)
    with pytest.raises(WormcastError, match=r"Consumption\.rows: 2 is not valid with slots 1"):
        Consumption(PortSpec("network"), width=8, slots=1, rows=2)
    with pytest.raises(WormcastError, match=r"Injection\.smart: True is not valid with slots 3"):
        Injection(PortSpec("network"), width=8, slots=3, smart=True)
    with pytest.raises(WormcastError, match=r"Injection\.packet: 0 is not valid with smart True"):
        Injection(PortSpec("network"), width=8, smart=True)
    with pytest.raises(WormcastError, match=r"NetworkInterface\.ports: 0 is not valid. Allowed: 1 or more."):
        NetworkInterface(injection=PortSpec("network"), consumption=PortSpec("network"), width=8, ports=0)


NETWORK = PortSpec("network")


@pytest.mark.parametrize(("build", "sentence"), [
    (lambda: Injection(NETWORK, width=8, queue=2.5), "Injection.queue: 2.5 is not valid. Allowed: a whole number."),
    (lambda: Injection(NETWORK), "Injection: width is missing. Needed: network, width"),
    (lambda: NetworkInterface(injection=NETWORK, consumption=3, width=8),
     "NetworkInterface.consumption: 3 is not valid. Allowed: a PortSpec."),
    (lambda: NetworkInterface(injection=NETWORK, consumption=NETWORK, width=8, queues=3),
     "NetworkInterface: 'queues' is not a parameter."),
    (lambda: OutputUnit(NETWORK, width=8, classes=[]),
     "OutputUnit.classes: [] is not valid. Allowed: one mask or more, each from 1 to 1."),
    (lambda: OutputUnit(NETWORK, width=8, classes=[2]), "OutputUnit.classes: [2] is not valid. Allowed: one mask or"),
    (lambda: OutputUnit(NETWORK, width=0, classes=[1]), "LinkSignature.width: 0 is not valid. Allowed: 1 or more."),
    (lambda: ReplicationBuffer(vcs=0, depth=4, width=8), "ReplicationBuffer.vcs: 0 is not valid. Allowed: 1 or more."),
    (lambda: PortSpec("east", vcs=1.5), "PortSpec.vcs: 1.5 is not valid. Allowed: a whole number."),
])
def test_parameters_of_another_type_are_refused(build, sentence):
    with pytest.raises(WormcastError) as error:
        build()
    assert str(error.value).startswith(sentence)


def test_each_side_has_its_own_wait():
    network = PortSpec("network")
    interface = NetworkInterface(injection=network, consumption=network, width=8, t_ns=3, t_nr=7)
    assert (interface.injections[0].t_ns, interface.consumptions[0].t_nr) == (3, 7)


def consume(arrivals, *, channels=2, depth=4, hold=0, cycles=160, t_nr=0):
    """Put (channel, flit) on the network link as credits allow; return what the host gets, by cycle.

    The host takes nothing of channel c before cycle ``hold[c]``.
    """
    interface = bench.built(Consumption, PortSpec("network", vcs=channels, depth=depth), width=WIDTH, t_nr=t_nr)
    queue, seen, room = list(arrivals), [], [depth] * channels
    owed = []

    def step(cycle, context):
        credits = context.get(interface.network.credit)
        for channel in range(channels):
            room[channel] += credits >> channel & 1
        given = {channel for channel in owed if cycle >= (hold and hold[channel])}
        for channel in given:
            owed.remove(channel)
        context.set(interface.host.credit, sum(1 << channel for channel in given))
        if context.get(interface.host.valid):
            channel, flit = context.get(interface.host.vc), context.get(interface.host.flit)
            seen.append((cycle, channel, flit.tail, flit.data))
            owed.append(channel)
        sends = bool(queue) and room[queue[0][0]] > 0
        context.set(interface.network.valid, sends)
        if sends:
            channel, (head, tail, data) = queue.pop(0)
            room[channel] -= 1
            context.set(interface.network.vc, channel)
            context.set(interface.network.flit, {"head": head, "tail": tail, "data": data})

    bench.simulate(interface, cycles, step)
    return seen


def test_consumption_takes_two_cycles_and_drops_what_is_left_of_headers():
    seen = consume([(1, flit) for flit in bench.worm([7, 8], 6)])
    assert seen == [(4 + k, 1, k == 5, 100 + k) for k in range(6)]


@pytest.mark.parametrize("t_nr", [0, 9])
def test_end_of_a_worm_that_was_cut_off_is_handed_over_like_a_tail(t_nr):
    worm = [(1, 0, 7), (0, 0, 100), (1, 1, 0), *bench.worm([8], 2)]
    seen = consume([(0, flit) for flit in worm], t_nr=t_nr)
    assert [(tail, data) for _, _, tail, data in seen] == [(0, 100), (1, 0), (0, 100), (1, 101)]
    assert seen[1][0] - seen[0][0] == max(1, t_nr + 1)


def test_channels_share_the_host_link_flit_by_flit():
    pairs = zip(bench.worm([7], 10), bench.worm([7], 10), strict=True)
    seen = consume([(channel, flit) for pair in pairs for channel, flit in enumerate(pair)])
    assert len(seen) == 20
    assert [channel for _, channel, *_ in seen] == [0, 1] * 10


def test_channel_that_the_host_holds_back_does_not_hold_back_the_other():
    seen = consume([(0, flit) for flit in bench.worm([7], 8)[:8]] + [(1, flit) for flit in bench.worm([7], 8)],
                   depth=8, hold=[100, 0])
    assert [data for cycle, channel, _, data in seen if channel == 1 and cycle < 60] == [100 + k for k in range(8)]
    assert len([1 for cycle, channel, *_ in seen if channel == 0 and cycle < 100]) == HOST_DEPTH


def test_channels_that_are_all_full_take_turns():
    """Flits wait in all three channels when the host begins to return credits: no channel is served twice in
    succession."""
    worms = [[(channel, flit) for flit in bench.worm([], 8)] for channel in range(3)]
    seen = consume([entry for worm in worms for entry in worm], channels=3, depth=8, hold=[60, 60, 60], cycles=200)
    late = [channel for cycle, channel, *_ in seen if cycle > 62]
    assert len(late) > 9
    assert all(a != b for a, b in itertools.pairwise(late))


@pytest.mark.parametrize("t_nr", [1, 2, 3, 30])
def test_last_flit_of_each_packet_is_held_back(t_nr):
    """Two packets on one channel, the second behind the first: only tails wait, what is behind them too."""
    seen = consume([(1, flit) for flit in bench.worm([7, 8], 3) + bench.worm([7], 2)], t_nr=t_nr)
    first = 4 + 2 + t_nr
    assert [(cycle, tail) for cycle, _, tail, _ in seen[:3]] == [(4, False), (5, False), (first, True)]
    # the second packet's header is dropped behind that tail, its first flit is handed over, its tail waits
    assert [(cycle, tail) for cycle, _, tail, _ in seen[3:]] == [(first + 2, False), (first + 3 + t_nr, True)]


@pytest.mark.parametrize("t_nr", [1, 2, 3, 10, 25])
def test_tail_flits_wait_one_at_a_time_and_others_pass(t_nr):
    """Three channels whose packets end at about the same time: their tails are t_nr apart, but for the link's
    being taken; a long packet of a fourth passes them at nearly the whole rate."""
    short = [(channel, flit) for flits in zip(*[bench.worm([7], 2)] * 3, strict=True)
             for channel, flit in enumerate(flits)]
    long = [(3, flit) for flit in bench.worm([7], 30)]
    seen = consume([*short, *long], channels=4, depth=4, t_nr=t_nr, cycles=300)
    ends = [(cycle, channel) for cycle, channel, tail, _ in seen if tail]
    assert len(ends) == 4
    assert sorted(channel for _, channel in ends) == [0, 1, 2, 3]
    assert all(late - early >= t_nr - 3 for (early, _), (late, _) in itertools.pairwise(ends))
    assert ends[2][0] - ends[0][0] <= 2 * t_nr + 4
    flow = [cycle for cycle, channel, tail, _ in seen if channel == 3 and not tail]
    assert flow[-1] - flow[0] <= 28 + 8
    assert [data for _, channel, _, data in seen if channel == 3] == [100 + k for k in range(30)]


def test_channels_with_waiting_tails_take_turns():
    """Packets of one flit on all channels without end: each channel is served as often as the others."""
    worms = [(channel, flit) for _ in range(12) for channel in range(3) for flit in bench.worm([7], 1)]
    seen = consume(worms, channels=3, t_nr=5, cycles=400)
    ends = [channel for _, channel, tail, _ in seen if tail]
    assert len(ends) == 36
    assert all(abs(ends[:n].count(0) - ends[:n].count(2)) <= 2 for n in range(36))


def test_ports_and_links_of_an_interface_are_independent():
    """Two injection ports, of which the network stalls one, and two consumption links at the whole rate each."""
    interface = NetworkInterface(injection=PortSpec("network", vcs=2, depth=4),
                                 consumption=PortSpec("network", vcs=1, depth=4), width=WIDTH, ports=2, links=2)
    sent, got, owed = {0: [], 1: []}, {0: [], 1: []}, []
    host = {port: list(bench.worm([9], 20)) for port in range(2)}
    network = {link: list(bench.worm([], 20)) for link in range(2)}
    room = {**{("host", port): 4 for port in range(2)}, **{("network", link): 4 for link in range(2)}}

    def step(cycle, context):
        back = [(kind, index, vc) for due, kind, index, vc in owed if due == cycle]
        for index in range(2):
            for kind, queue, into, out, seen in (
                ("host", host[index], f"host_in_{index}", f"network_out_{index}", sent[index]),
                ("network", network[index], f"network_in_{index}", f"host_out_{index}", got[index]),
            ):
                into, out = getattr(interface, into), getattr(interface, out)
                room[kind, index] += context.get(into.credit)
                if context.get(out.valid):
                    seen.append((cycle, context.get(out.flit.data)))
                    if (kind, index) != ("host", 1):
                        owed.append((cycle + 1, kind, index, context.get(out.vc) if len(out.vc) else 0))
                context.set(out.credit, sum(1 << vc for k, i, vc in back if (k, i) == (kind, index)))
                sends = bool(queue) and room[kind, index] > 0
                context.set(into.valid, sends)
                if sends:
                    head, tail, data = queue.pop(0)
                    room[kind, index] -= 1
                    context.set(into.flit, {"head": head, "tail": tail, "data": data})

    bench.simulate(interface, 80, step)
    assert [data for _, data in sent[0]] == [9, *range(100, 120)]
    assert len(sent[1]) == 4
    for link in range(2):
        assert [cycle for cycle, _ in got[link]] == list(range(got[link][0][0], got[link][0][0] + 20))


# virtual channels and depth towards the network, consumption channels and depth from it, and the other parameters
ODD = [
    ((1, 1), (1, 1), {"width": 2, "queue": 1}),
    ((3, 1), (3, 1), {"width": 7, "ports": 2}),
    ((3, 3), (3, 5), {"width": 257, "packet": 1, "header_flits": 3, "queue": 3}),
    ((2, 16), (1, 16), {"width": 16, "links": 3, "packet": 4, "t_ns": 1, "queue": 16}),
    ((1, 1), (5, 2), {"width": 7, "ports": 3, "links": 2, "t_nr": 1, "storage": "registers"}),
    ((4, 5), (3, 1), {"width": 65, "packet": 3, "header_flits": 2, "t_ns": 3, "t_nr": 4, "queue": 2}),
    ((1, 2), (2, 3), {"width": 257, "ports": 4, "packet": 5, "t_ns": 6, "t_nr": 3}),
]


@pytest.mark.parametrize(("injection", "consumption", "options"), ODD, ids=str)
def test_worms_pass_at_odd_parameters(injection, consumption, options):
    """No combinational path from link to link; and at the same time a worm by every port of the host, in packets as
    chosen, and one by every consumption channel come out whole, each on one virtual channel."""
    injection, consumption = PortSpec("network", *injection), PortSpec("network", *consumption)

    def build():
        return NetworkInterface(injection=injection, consumption=consumption, **options)

    refuse_paths(netlist.read(build()))
    interface = build()
    ports, links, packet = (options.get(name, least) for name, least in (("ports", 1), ("links", 1), ("packet", 0)))
    top, heads = (1 << options["width"]) - 1, options.get("header_flits", 1)
    # (link in, virtual channel): the flits that come by it; (link out): what must leave by it, for each channel in turn
    queues, room, expected, seen, owed = {}, {}, {}, {}, {}
    for p in range(ports):
        queues[f"host_in_{p}", 0] = bench.worm([top, *range(1, heads)], 7)
        room[f"host_in_{p}", 0] = options.get("queue", 4)
        expected[f"network_out_{p}"] = packets([top, *range(1, heads)], 7, packet or 7)
    for link, channel in itertools.product(range(links), range(consumption.vcs)):
        queues[f"network_in_{link}", channel] = bench.worm([top], 4)
        room[f"network_in_{link}", channel] = consumption.depth
        expected.setdefault(f"host_out_{link}", []).extend(bench.worm([], 4))
    into = sorted({name for name, _ in queues})

    def step(cycle, context):
        for name in expected:
            link = getattr(interface, name)
            if context.get(link.valid):
                vc, flit = context.get(link.vc), context.get(link.flit)
                seen.setdefault(name, []).append((vc, (flit.head, flit.tail, flit.data)))
                owed.setdefault((cycle + 2, name), []).append(vc)
            context.set(link.credit, sum(1 << vc for vc in owed.get((cycle, name), ())))
        for name in into:
            link = getattr(interface, name)
            credit = context.get(link.credit)
            ready = [vc for (port, vc), queue in queues.items() if port == name and queue and room[name, vc]]
            for vc in range(len(link.credit)):
                room[name, vc] += credit >> vc & 1
            context.set(link.valid, bool(ready))
            if ready:
                vc = ready[cycle % len(ready)]
                head, tail, value = queues[name, vc].pop(0)
                room[name, vc] -= 1
                context.set(link.vc, vc)
                context.set(link.flit, {"head": head, "tail": tail, "data": value & top})

    bench.simulate(interface, 130, step)
    for name, flits in expected.items():
        wanted = [(head, tail, value & top) for head, tail, value in flits]
        # by channel; packets take turns at theirs and are sent one after the other
        got = seen[name] if name.startswith("network") else sorted(seen[name], key=lambda entry: entry[0])
        assert [flit for _, flit in got] == wanted, name
