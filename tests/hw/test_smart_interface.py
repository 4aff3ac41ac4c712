# amaranth: UnusedElaboratable=no
"""The smart network interface, cycle by cycle: what it forwards, in which order, and when."""

import itertools
import random

import pytest
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from .smart import PAUSE, copies, drive, joined, packet, payload, posted, sent, smart, train

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
    """Each packet goes once to each child of its message. A child gets its packets in order, also if messages
    interleave."""
    first = [payload(1, range(k, k + 4)) for k in (0, 4, 8)]
    second = [payload(2, range(k, k + 4)) for k in (0, 4)]
    network = [(20 + 40 * k, 0, flit) for k, piece in enumerate([first[0], second[0], first[1], first[2], second[1]])
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


def test_cycles_with_a_receive_queue():
    """A packet of P flits is served, goes to host and packet buffer, and is copied: P + 4 cycles, max(t_nr, 1) and
    t_ns behind its tail. The copies follow each other as without the queue."""
    for size, t_ns, t_nr in ((4, 0, 0), (4, 6, 1), (3, 3, 9)):
        interface = smart(t_ns=t_ns, t_nr=t_nr, receive_queue=2)
        network = [(20, 0, flit) for flit in packet([7], payload(1, range(size)))]
        out, up, counted = drive(interface, table=train(1, [21], [22], [23]), network=network)
        tail = 20 + size
        assert [cycle - tail for cycle, *_ in up] == [3 + max(t_nr, 1) + k for k in range(size)]
        heads = [cycle for cycle, head, *_ in out if head]
        assert heads[0] == tail + size + 4 + max(t_nr, 1) + t_ns
        assert [b - a for a, b in itertools.pairwise(heads)] == [1 + size + max(1, t_ns)] * 2
        assert counted["resident"] == counted["copied"] + 1


@pytest.mark.parametrize("queue", [0, 1, 3])
def test_a_row_that_is_full_holds_the_network_back_and_nothing_is_lost(queue):
    pieces = [payload(1, range(k, k + 4)) for k in range(0, 24, 4)]
    interface = smart(places=2, receive_queue=queue)
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


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("seed", [0, *map(slow, range(1, 8))])
def test_a_receive_queue_loses_and_doubles_no_packet(channels, seed):
    """Of two messages, one of which has one place, and of one for the host alone; the link is blocked at times."""
    rng = random.Random(seed)
    rows = [rng.choice([1, 2, 9]) for _ in range(20)]
    pieces = [payload(row, [8 * k + j for j in range(rng.randint(1, 4))]) for k, row in enumerate(rows)]
    arrivals = [(rng.randrange(channels), packet([7] * rng.randint(1, 2), piece)) for piece in pieces]
    flits = [(20, vc, flit) for vc, found in arrivals for flit in found]
    interface = smart(places=rng.choice([1, 3]), channels=channels, receive_queue=rng.choice([1, 2]),
                      t_nr=rng.choice([0, 6]), t_ns=rng.choice([0, 3]))
    out, up, counted = drive(interface, table=[*train(1, [21]), *train(2, [22], [23])], network=flits, cycles=1200,
                             blocked=range(40, 40 + rng.randrange(200)))
    assert sorted(data for *_, data in up) == sorted(joined(pieces))
    for header, row in ((21, 1), (22, 2), (23, 2)):
        assert sorted(of_child(out, header)) == [data for data in sorted(joined(pieces)) if data & 255 == row]
    assert counted["occupancy"] == 0


def of_child(out, header):
    """Payload that has left behind this header flit."""
    found, mine = [], False
    for _, head, _, data in out:
        mine = data == header if head else mine
        found += [data] * (mine and not head)
    return found


def test_packets_leave_a_receive_queue_in_the_order_of_their_tails():
    """A packet of another channel waits behind one that has no place, and then it leaves before later ones."""
    pieces = [(0, payload(1, range(4))), (0, payload(1, range(4, 8))), (1, payload(9, range(3))),
              (0, payload(9, range(3, 6)))]
    flits = [(20, vc, flit) for vc, piece in pieces for flit in packet([7], piece)]
    _, up, _ = drive(smart(places=1, channels=2, receive_queue=2), table=train(1, [21], [22]), network=flits,
                     blocked=range(20, 100), cycles=300)
    assert [data for *_, data in up] == joined(piece for _, piece in pieces)
    assert up[4][0] > 100  # the second packet waits until copies of the first have left


def test_takes_turns_with_worms_of_the_host():
    network = [(20, 0, flit) for k in (0, 4) for flit in packet([7], payload(1, range(k, k + 4)))]
    host = [flit for k in range(4) for flit in packet([90 + k], [9 << 4 | 15] * 6)]
    out, *_ = drive(smart(), table=train(1, [21], [22]), network=network, host=host, cycles=600)
    heads = [data for _, head, _, data in out if head]
    assert sorted(heads) == sorted([21, 22] * 2 + [90, 90, 91, 91, 92, 92, 93, 93])


@pytest.mark.parametrize(("rows", "places"), [(4, 2), (1, 2), (1, 3)])
def test_packets_that_are_posted_wait_for_places_too(rows, places):
    """The packets of one row, whose places wrap around; and a full order of packets, which wraps around."""
    out, _, counted = drive(smart(rows=rows, places=places), table=train(0, [21], [22]), host=posted(0, 28),
                            blocked=range(20, 120), cycles=400)
    assert sent(out) == copies([[21], [22]], payload(0, range(28)), 4, "fpfs")
    assert counted["peak"] == places


def test_a_post_begins_with_a_packet_of_its_own():
    """The one before ends in the middle of a packet."""
    out, *_ = drive(smart(), table=train(1, [21]), host=[*posted(1, 6), *posted(1, 4)])
    data = payload(1, range(6))
    assert sent(out) == [flit for part in (data[:4], data[4:], data[:4]) for flit in packet([21], part)]


def test_a_row_that_is_written_again_begins_at_its_first_place():
    """With another number of packets, of a message that left places unused."""
    messages = [payload(1, range(8)), payload(1, range(100, 112))]
    network = [(at, 0, flit) for at, data in zip((20, 120), messages, strict=True)
               for k in range(0, len(data), 4) for flit in packet([7], data[k:k + 4])]
    table = [*train(1, [21], [22], packets=2), *PAUSE * 100, *train(1, [31], [32], packets=3)]
    out, _, counted = drive(smart("fcfs"), table=table, network=network)
    assert sent(out) == [*copies([[21], [22]], messages[0], 4, "fcfs"), *copies([[31], [32]], messages[1], 4, "fcfs")]
    assert counted["forwarded"] == 5


def test_messages_have_turns_round_robin():
    """By fcfs: of two that can go on, the one whose row comes next, behind that of the last one."""
    table = joined(train(row, [20 + row], [30 + row], packets=1) for row in (1, 2, 3))
    out, *_ = drive(smart("fcfs"), table=table, host=joined(posted(row, 4) for row in (2, 1, 3)), blocked=range(60))
    assert [data for _, head, _, data in out if head] == [22, 32, 23, 33, 21, 31]


@pytest.mark.parametrize("places", [1, 2])
def test_a_packet_of_one_flit_waits_t_nr_once(places):
    """Also if another packet gets the free place first: then the packet is stored when a place is free again."""
    single, longer = payload(1, range(1)), payload(1, range(4, 8))
    network = [*((20, 0, flit) for flit in packet([7], single)), *((26, 1, flit) for flit in packet([8], longer))]
    out, up, _ = drive(smart(places=places, channels=2, t_nr=30), table=train(1, [21]), network=network)
    first, second = (single, longer) if places == 2 else (longer, single)
    assert sent(out) == [flit for data in (first, second) for flit in packet([21], data)]
    came = {data: cycle for cycle, *_, data in up}
    assert came[longer[-1]] == came[longer[0]] + 54
    free = out[4][0]  # the tail that leaves the place
    assert came[single[0]] == (came[longer[0]] + 24 if places == 2 else free + 2)


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
def test_no_path_from_link_to_link(kind):
    interface = smart(kind)
    refuse_paths(netlist.read(interface))


@pytest.mark.parametrize(("options", "message"), [
    ({"rows": 3}, "rows: 3 is not valid. Allowed: powers of two from 1 to 64."),
    ({"places": 0}, "places: 0 is not valid. Allowed: 1 to 256."),
    ({"row_flits": 0}, "flits: 0 is not valid. Allowed: 1 to 1024."),
    ({"kind": "lifo"}, "ForwardingInterface.kind: 'lifo' is not valid. Allowed: fcfs, fpfs."),
    ({"packet": 0}, "ForwardingInterface.packet: 0 .* is not valid. Allowed: 1 or more."),
])
def test_bad_parameters(options, message):
    with pytest.raises(WormcastError, match=message):
        smart(**options)
