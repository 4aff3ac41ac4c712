# amaranth: UnusedElaboratable=no
"""Errors on the wire at a smart network interface: reports, and effects."""

import pytest

from .smart import PAUSE, copies, drive, packet, payload, posted, sent, smart, train

#: Payload of worms of the host, of no message that is forwarded.
OTHER = [0xff] * 3


@pytest.mark.parametrize(("host", "forwarded", "worms"), [
    # a worm comes before the tail: within a packet, which its header ends, and between packets
    ([*posted(1, 3)[:-1], *packet([33], OTHER)], [[*payload(1, range(2)), 33]], [packet([33], OTHER)]),
    ([*posted(1, 5)[:-1], *packet([33], OTHER)], [payload(1, range(4))], [packet([33], OTHER)]),
    # another posting does
    ([*posted(1, 3)[:-1], *posted(1, 4)], [[*payload(1, range(2)), 0], payload(1, range(4))], []),
    # a posting comes before the tail of a worm, which it ends
    ([*packet([33], OTHER)[:-1], *posted(1, 4)], [payload(1, range(4))], [[*packet([33], OTHER)[:-1], (1, 1, 0)]]),
    ([(1, 0, 33), *posted(1, 4)], [payload(1, range(4))], [[(1, 0, 33), (1, 1, 0)]]),
])
def test_a_post_or_worm_without_tail_takes_nothing_of_the_next(host, forwarded, worms):
    out, _, counted = drive(smart(), table=train(1, [21]), host=[*host, *packet([34], OTHER)],
                            fault=("NO_TAIL", "host_in_0", 0))
    pieces, flits = [], sent(out)
    while flits:
        size = 1 + next(k for k, flit in enumerate(flits) if flit[1])
        pieces.append(flits[:size])
        del flits[:size]
    assert sorted(pieces) == sorted([*(packet([21], data) for data in forwarded), *worms, packet([34], OTHER)])
    assert counted["forwarded"] == len(forwarded)


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
@pytest.mark.parametrize("packet_flits", [3, 4])
@pytest.mark.parametrize("more", [1, 2, 5])
def test_a_packet_that_is_too_long_is_cut(kind, packet_flits, more):
    """Its host gets all of it, and the next packet is forwarded as ever."""
    data, following = payload(1, range(packet_flits + more)), payload(1, range(50, 53))
    network = [(20, 1, flit) for part in (data, following) for flit in packet([7], part)]
    out, up, _ = drive(smart(kind, packet=packet_flits, channels=2), network=network,
                       table=train(1, [21], [22], packets=2 if kind == "fcfs" else None),
                       fault=("LIST_TOO_LONG", "network_in_0", 1))
    pieces = [data[:packet_flits], following]
    order = [(child, part) for child in (21, 22) for part in pieces] if kind == "fcfs" else [
        (child, part) for part in pieces for child in (21, 22)]
    assert sent(out) == [flit for child, part in order for flit in packet([child], part)]
    assert [flit[-1] for flit in up] == data + following


def test_a_packet_that_was_cut_off_takes_nothing_of_the_next():
    """It ends in a flit with both marks, which is none where no payload has come; the next one waits for a place."""
    data, following = payload(1, range(2)), payload(1, range(50, 54))
    network = [(20, 0, flit) for flit in [*packet([7], data)[:-1], (0, 0, data[-1]), (1, 1, 0), (1, 0, 7), (1, 1, 1),
                                          *packet([7], following)]]
    out, *_ = drive(smart(places=1), table=train(1, [21], [22], [23]), network=network, blocked=range(80))
    assert sent(out) == [flit for part in ([*data, 0], following) for child in (21, 22, 23)
                         for flit in packet([child], part)]


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
@pytest.mark.parametrize("flits", [3, 4])
def test_a_row_with_more_header_flits_than_there_is_room_for_forwards_nothing(kind, flits):
    """Its host gets all, and other rows are as they were."""
    packets = 1 if kind == "fcfs" else None
    children = [[20 + k] for k in range(flits)]
    table = [*train(1, *children, packets=packets), *train(2, *children, [30], packets=packets)]
    network = [(40, 0, flit) for row in (2, 1) for flit in packet([7], payload(row, range(4)))]
    out, up, _ = drive(smart(kind, row_flits=flits), table=table, network=network,
                       fault=("LIST_TOO_LONG", "table_in", 0))
    assert sent(out) == copies(children, payload(1, range(4)), 4, kind)
    assert [flit[-1] for flit in up] == payload(2, range(4)) + payload(1, range(4))


@pytest.mark.parametrize("kind", ["fcfs", "fpfs"])
@pytest.mark.parametrize("row", [4, 5, 0x85])
def test_a_row_that_is_not_there_is_not_written(kind, row):
    count = (lambda number: number) if kind == "fcfs" else (lambda number: None)
    table = [*train(0, [20], [10], packets=count(1)), *train(1, [21], [22], packets=count(1)),
             *train(row, [99], [98], packets=count(3))]
    network = [(40, 0, flit) for row in (0, 1) for flit in packet([7], payload(row, range(4)))]
    out, *_ = drive(smart(kind), table=table, network=network, fault=("NO_SUCH_DESTINATION", "table_in", 0))
    assert [data for _, head, _, data in out if head] == [20, 10, 21, 22]


def test_a_row_has_children_when_all_of_it_is_written():
    """A packet that begins earlier goes to the host alone."""
    table = [*PAUSE * 20, *train(1, [21], [22, 122], [23])]  # flits in cycles 20 to 24
    for at, forwarded in ((20, False), (24, True)):
        out, up, _ = drive(smart(), table=table, network=[(at, 0, flit) for flit in packet([7], payload(1, range(4)))])
        assert len(up) == 4
        assert bool(out) == forwarded


@pytest.mark.parametrize("places", [1, 4])
def test_a_row_must_not_be_written_while_packets_of_it_are_there(places):
    """From the first flit until the last child's tail has left."""
    network = [(40, 0, flit) for flit in packet([7], payload(1, range(4)))]
    out, *_ = drive(smart(places=places), table=train(1, [21]), network=network)
    begins, ends = 40 + 2, out[-1][0] - 1
    for at, late in ((begins, False), (begins + 1, False), (ends, False), (ends + 1, True)):
        table = [*train(1, [21]), *PAUSE * (at - 2), *train(1, [31])]
        drive(smart(places=places), table=table, network=network,
              fault=None if late else ("WRONG_ORDER", "table_in", 0))
