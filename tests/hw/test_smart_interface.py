# amaranth: UnusedElaboratable=no
"""The smart network interface, cycle by cycle: what it forwards, in which order, and when."""

import itertools

import pytest

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.interface import NetworkInterface
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench

WIDTH = 16


def smart(kind="fpfs", *, vcs=1, channels=1, **options):
    options = {"rows": 4, "places": 4, "packet": 4, "row_flits": 8, **options}
    return NetworkInterface(injection=PortSpec("network", vcs=vcs, depth=8), width=WIDTH, kind=kind,
                            consumption=PortSpec("consumption", vcs=channels, depth=4), **options)


def train(row, *children, packets=None):
    """The flits that write a row: each child is the list of its header flits; with ``packets``, how many there are."""
    flits = [[1, 0, row]]
    if packets is not None and children:
        flits.append([0, 0, packets - 1])
    for header in children:
        flits += [[0, int(k == len(header) - 1), data] for k, data in enumerate(header)]
    flits[-1][0] = flits[-1][1] = 1
    return [tuple(flit) for flit in flits]


def payload(row, numbers):
    """Payload flits of a message of this row: its number in the low bits, theirs above."""
    return [row | number << 8 for number in numbers]


def posted(row, count):
    """What the host posts to be forwarded."""
    data = payload(row, range(count))
    return [(1, 1, 0), *((0, int(k == count - 1), word) for k, word in enumerate(data))]


def packet(header, data):
    return [*((1, 0, word) for word in header), *((0, int(k == len(data) - 1), word) for k, word in enumerate(data))]


def drive(interface, *, table=(), host=(), network=(), cycles=300, blocked=range(0)):
    """Feed all three links as credits allow, the network from a list of (cycle, channel, flit); what is on the links to
    the network and the host, by cycle, and what is counted at the end. ``blocked``: cycles without credits from the
    network."""
    out, up, counted = [], [], {}
    queues = {"table_in": list(table), "host_in_0": list(host)}
    room = {"table_in": 1, "host_in_0": interface.injections[0].queue}
    arriving, space = list(network), [interface.consumptions[0].port.depth] * interface.consumptions[0].port.vcs
    owed, owed_up = [], []

    def step(cycle, context):
        for name, queue in queues.items():
            link = getattr(interface, name)
            room[name] += context.get(link.credit)
            sends = bool(queue) and room[name] > 0
            context.set(link.valid, sends)
            if sends:
                room[name] -= 1
                head, tail, data = queue.pop(0)
                context.set(link.flit, {"head": head, "tail": tail, "data": data})
        credit = context.get(interface.network_in_0.credit)
        for vc in range(len(space)):
            space[vc] += credit >> vc & 1
        ready = [k for k, (at, vc, _) in enumerate(arriving) if at <= cycle and space[vc] > 0
                 and not any(other == vc for _, other, _ in arriving[:k])]
        context.set(interface.network_in_0.valid, bool(ready))
        if ready:
            _, vc, (head, tail, data) = arriving.pop(ready[0])
            space[vc] -= 1
            context.set(interface.network_in_0.vc, vc)
            context.set(interface.network_in_0.flit, {"head": head, "tail": tail, "data": data})
        for name, seen, waits in (("network_out_0", out, owed), ("host_out_0", up, owed_up)):
            link = getattr(interface, name)
            gives = bool(waits) and not (name == "network_out_0" and cycle in blocked)
            context.set(link.credit, 1 << waits.pop(0) if gives else 0)
            if context.get(link.valid):
                vc, flit = context.get(link.vc), context.get(link.flit)
                seen.append((cycle, flit.head, flit.tail, flit.data))
                waits.append(vc)
        assert not context.get(interface.fault.as_value())
        for name in ("forwarded", "resident", "copied", "occupancy", "peak"):
            counted[name] = context.get(getattr(interface, name))

    bench.simulate(interface, cycles, step)
    return out, up, counted


def joined(pieces):
    return list(itertools.chain.from_iterable(pieces))


def sent(out):
    return [entry[1:] for entry in out]


def copies(children, data, size, kind):
    """The packets in the order in which they are to leave."""
    pieces = [data[k:k + size] for k in range(0, len(data), size)]
    pairs = itertools.product(children, pieces) if kind == "fcfs" else (
        (child, piece) for piece, child in itertools.product(pieces, children))
    return [flit for child, piece in pairs for flit in packet(child, piece)]


CHILDREN = [[21], [22, 122], [23]]


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
@pytest.mark.parametrize("count", [1, 4, 5, 12, 16])
def test_what_the_host_posts_goes_to_each_child(kind, count):
    packets = -(-count // 4)
    out, up, counted = drive(smart(kind), table=train(2, *CHILDREN, packets=packets if kind == "fcfs" else None),
                             host=posted(2, count), cycles=400)
    assert sent(out) == copies(CHILDREN, payload(2, range(count)), 4, kind)
    assert not up
    assert counted["forwarded"] == packets
    assert counted["occupancy"] == 0


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
@pytest.mark.parametrize("channels", [1, 2])
def test_what_comes_is_forwarded_and_handed_to_the_host(kind, channels):
    pieces = [payload(1, range(k, k + 4)) for k in (0, 4, 8)]
    network = [(20, k % channels, flit) for k, piece in enumerate(pieces) for flit in packet([7], piece)]
    out, up, counted = drive(smart(kind, channels=channels), network=network,
                             table=train(1, *CHILDREN, packets=3 if kind == "fcfs" else None))
    if channels == 1:
        assert sent(out) == copies(CHILDREN, joined(pieces), 4, kind)
    assert sorted(sent(out)) == sorted(copies(CHILDREN, joined(pieces), 4, kind))
    assert sorted(data for *_, data in up) == sorted(joined(pieces))
    assert counted["forwarded"] == 3
    assert counted["peak"] <= 3


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
def test_two_messages_at_a_time(kind):
    """Each packet goes once to each child of its own message, those of a child in order, whatever comes between."""
    first = [payload(1, range(k, k + 4)) for k in (0, 4, 8)]
    second = [payload(2, range(k, k + 4)) for k in (0, 4)]
    network = [(40 * k, 0, flit) for k, piece in enumerate([first[0], second[0], first[1], first[2], second[1]])
               for flit in packet([7], piece)]
    counts = (3, 2) if kind == "fcfs" else (None, None)
    table = [*train(1, [21], [22], packets=counts[0]), *train(2, [31], [32], [33], packets=counts[1])]
    out, _, counted = drive(smart(kind, t_ns=5), table=table, network=network, cycles=500)
    flits, got = sent(out), {}
    for start in range(0, len(flits), 5):
        got.setdefault(flits[start][2], []).extend(data for *_, data in flits[start + 1:start + 5])
    assert got == {21: joined(first), 22: joined(first), **{child: joined(second) for child in (31, 32, 33)}}
    assert counted["forwarded"] == 5
    assert counted["occupancy"] == 0


def test_other_messages_and_rows_without_children_go_to_the_host_alone():
    other, leaf = payload(9, range(3)), payload(3, range(2))
    out, up, counted = drive(smart(), table=[*train(1, [21]), *train(3)],
                             network=[(20, 0, flit) for data in (other, leaf) for flit in packet([7], data)])
    assert not out
    assert [data for *_, data in up] == other + leaf
    assert counted["peak"] == 0


def test_cycles():
    """A copy every flits + max(1, t_ns) cycles; the first one 4 cycles, t_nr and t_ns behind the packet's tail."""
    for t_ns, t_nr in ((0, 0), (6, 0), (3, 9)):
        interface = smart(t_ns=t_ns, t_nr=t_nr)
        network = [(20, 0, flit) for flit in packet([7], payload(1, range(4)))]
        out, _, counted = drive(interface, table=train(1, [21], [22], [23]), network=network)
        heads = [cycle for cycle, head, *_ in out if head]
        assert heads[0] == 24 + 4 + t_nr + t_ns
        assert [b - a for a, b in itertools.pairwise(heads)] == [5 + max(1, t_ns)] * 2
        assert counted["copied"] == 3 * (5 + t_ns) + 2 * (t_ns == 0)
        assert counted["resident"] == counted["copied"] + 1


def test_a_row_that_is_full_holds_the_network_back_and_nothing_is_lost():
    pieces = [payload(1, range(k, k + 4)) for k in range(0, 24, 4)]
    interface = smart(places=2)
    network = [(20, 0, flit) for piece in pieces for flit in packet([7], piece)]
    out, up, counted = drive(interface, table=train(1, [21], [22]), network=network, blocked=range(30, 200), cycles=600)
    assert sent(out) == copies([[21], [22]], joined(pieces), 4, "fpfs")
    assert [data for *_, data in up] == joined(pieces)
    assert counted["peak"] == 2


def test_packets_that_overtake_each_other_keep_their_places():
    """Of two that come on two channels the second is whole first: its place is the one that is free then."""
    slow, fast, late, more = (payload(1, range(k, k + 4)) for k in (0, 4, 8, 12))
    network = [*((20, 0, flit) for flit in packet([7], slow)[:3]), *((30, 1, flit) for flit in packet([7], fast)),
               *((90, 1, flit) for piece in (late, more) for flit in packet([7], piece)),
               *((150, 0, flit) for flit in packet([7], slow)[3:])]
    out, up, counted = drive(smart(places=2, channels=2), network=network, table=train(1, [21]), cycles=400)
    flits = sent(out)
    assert sorted(flits[k:k + 5] for k in range(0, 20, 5)) == [packet([21], data) for data in (slow, fast, late, more)]
    assert sorted(data for *_, data in up) == sorted(slow + fast + late + more)
    assert counted["peak"] == 2


def test_takes_turns_with_worms_of_the_host():
    network = [(20, 0, flit) for k in (0, 4) for flit in packet([7], payload(1, range(k, k + 4)))]
    host = [flit for k in range(4) for flit in packet([90 + k], [9 << 4 | 15] * 6)]
    out, *_ = drive(smart(), table=train(1, [21], [22]), network=network, host=host, cycles=600)
    heads = [data for _, head, _, data in out if head]
    assert sorted(heads) == sorted([21, 22] * 2 + [90, 90, 91, 91, 92, 92, 93, 93])


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
def test_no_path_from_link_to_link(kind):
    interface = smart(kind)
    refuse_paths(netlist.read(interface))


@pytest.mark.parametrize(("options", "message"), [
    ({"rows": 3}, "rows: must be a power of two up to 64, not 3"),
    ({"places": 0}, "places: must be 1 to 256, not 0"),
    ({"row_flits": 0}, "flits: must be 1 to 1024, not 0"),
    ({"packet": 0}, "packet: must be 1 or more of a smart one, not 0"),
    ({"ports": 2}, "ports: must be 1 of a smart one, not 2"),
])
def test_bad_parameters(options, message):
    with pytest.raises(WormcastError, match=message):
        smart(**options)
