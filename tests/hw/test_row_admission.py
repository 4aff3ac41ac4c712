# amaranth: UnusedElaboratable=no
"""Rows that a smart interface grants to requests: answers, the child table, releases, and the cycles of each."""

import pytest

from wormcast.hw.interface.smart.row_admission import RowAdmission
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench
from .smart import answer, packet, payload, posted, release, request, sent, smart
from .smart import drive as drive_interface

GIVE_BACK = 128


def admission(width=16, **options):
    return bench.built(RowAdmission, **{"rows": 4, "channels": 1, "width": width, "sources": 4, "header_flits": 2,
                                        "counts": False, **options})


def drive(part, *, packets=(), host=(), freed=(), cycles=120, children=0, cut=0):
    """Feed payloads of control packets as they are taken, and (cycle, flit) of the host; return, by cycle, the flits
    for the table and the answers, the cycles with a credit for the host, and the rows in use. The last flits of the
    first ``cut`` packets have both marks."""
    flits = [(k == len(one) - 1, k == len(one) - 1 and number < cut, data)
             for number, one in enumerate(packets) for k, data in enumerate(one)]
    table, answers, credits, used = [], [], [], []

    def step(cycle, context):
        context.set(part.children, children)
        given = dict(host).get(cycle)
        context.set(part.host.valid, given is not None)
        if given is not None:
            context.set(part.host.flit, dict(zip(("head", "tail", "data"), given, strict=True)))
        at = [row for when, row in freed if when == cycle]
        context.set(part.freed, bool(at))
        context.set(part.freed_row, at[0] if at else 0)
        takes = bool(flits) and not context.get(part.closed) & 1
        context.set(part.consumed, takes)
        context.set(part.control, takes)
        if takes:
            tail, head, data = flits.pop(0)
            context.set(part.consumed_flit, {"head": head, "tail": tail, "data": data})
        for valid, front, seen in ((part.table, part.table_flit, table), (part.has, part.front, answers)):
            if context.get(valid):
                flit = context.get(front)
                seen.append((cycle, flit.head, flit.tail, flit.data))
        context.set(part.pop, context.get(part.has))
        if context.get(part.host.credit):
            credits.append(cycle)
        used.append(context.get(part.used))

    bench.simulate(part, cycles, step)
    return table, answers, credits, used


@pytest.mark.parametrize("width", [8, 9, 16, 32, 64])
def test_a_free_row_is_granted_and_written(width):
    wanted = request(2, 5, 7, packets=3, label=0x123, header=[61], children=[[21], [22, 23]], width=width)
    table, answers, _, used = drive(admission(width), packets=[wanted])
    assert sent(table) == [(1, 0, 2), (0, 1, 21), (0, 0, 22), (1, 1, 23)]
    assert sent(answers) == answer(True, 2, 0x123, [61], width)
    assert used[-1] == 1 << 2
    # the tail is taken in cycle len(wanted) - 1
    assert answers[0][0] == len(wanted) - 1 + -(-32 // width) + 2
    assert table[-1][0] == len(wanted)


def test_a_leaf_has_no_children_and_the_count_is_written_where_it_is_used():
    leaf = request(1, 5, 7, packets=3, label=4, header=[61], width=16)
    inner = request(1, 5, 7, packets=3, label=4, header=[61], children=[[21]], width=16)
    for counts in (False, True):
        table, answers, _, _ = drive(admission(counts=counts), packets=[leaf])
        assert sent(table) == [(1, 1, 1)]
        assert sent(answers) == answer(True, 1, 4, [61], 16)
        table, _, _, _ = drive(admission(counts=counts), packets=[inner])
        assert sent(table) == [(1, 0, 1), *([(0, 0, 2)] if counts else []), (1, 1, 21)]


def test_a_row_in_use_is_refused_at_once_and_not_written():
    first, second = (request(2, source, 7, packets=1, label=source, header=[60 + source], children=[[21]], width=16)
                     for source in (1, 3))
    table, answers, _, used = drive(admission(), packets=[first, second])
    assert len(table) == 2
    assert sent(answers) == answer(True, 2, 1, [61], 16) + answer(False, 2, 3, [63], 16)
    assert used[-1] == 1 << 2


@pytest.mark.parametrize(("row", "source", "number", "frees"), [
    (2, 1, 7, True), (2, 1, 8, False), (2, 3, 7, False), (3, 1, 7, False), (6, 1, 7, False)])
def test_a_release_frees_the_row_of_its_own_request_alone(row, source, number, frees):
    wanted = request(2, 1, 7, packets=1, label=1, header=[61], width=16)
    *_, used = drive(admission(), packets=[wanted, release(row, source, number, 16)])
    assert used[-1] == (0 if frees else 1 << 2)


@pytest.mark.parametrize("counts", [False, True])
def test_a_request_that_is_cut_off_frees_its_row_and_ends_what_it_writes(counts):
    wanted = request(2, 1, 7, packets=1, label=1, header=[61], children=[[21], [22, 23]], width=16)
    other = request(1, 3, 8, packets=1, label=3, header=[63], children=[[24]], width=16)
    for kept in range(3, len(wanted)):
        table, answers, _, used = drive(admission(counts=counts), packets=[wanted[:kept], other], cut=1)
        rows = [k for k, (_, head, tail, _) in enumerate(table) if head and tail]
        assert len(rows) == (2 if kept > 3 else 1)
        assert sent(table)[-2 - counts:] == [(1, 0, 1), *[(0, 0, 0)] * counts, (1, 1, 24)]
        assert sent(answers)[-3:] == answer(True, 1, 3, [63], 16)
        assert used[-1] == 1 << 1


def test_a_request_that_overtakes_the_release_of_the_one_before_is_refused():
    """The release then frees the row of its own request; a release that comes after another grant frees nothing."""
    old, new, other = (request(2, source, number, packets=1, label=number, header=[61], width=16)
                       for source, number in ((1, 7), (1, 8), (3, 9)))
    _, answers, _, used = drive(admission(), packets=[old, new, release(2, 1, 7, 16), other, release(2, 1, 7, 16)])
    assert sent(answers) == (answer(True, 2, 7, [61], 16) + answer(False, 2, 8, [61], 16)
                             + answer(True, 2, 9, [61], 16))
    assert used[-1] == 1 << 2


def test_the_own_host_is_granted_a_free_row_by_its_credit():
    """The credit is sent in the next cycle; a row in use gets none; the host gives a row back."""
    part = admission()
    host = [(10, (1, 0, 2)), (13, (0, 0, 1)), (14, (1, 1, 21)), (20, (1, 0, 2)), (30, (1, 1, 2 | GIVE_BACK)),
            (40, (1, 0, 2))]
    table, _, credits, used = drive(part, host=host)
    assert credits == [11, 14, 15, 41]
    assert [entry for entry in table if entry[0] < 40] == [(11, 1, 0, 2), (15, 1, 1, 21)]
    assert used[12] == used[30] == 1 << 2
    assert used[32] == 0


def test_the_own_host_is_refused_while_a_control_packet_arrives_and_control_waits_while_it_writes():
    wanted = request(2, 1, 7, packets=1, label=1, header=[61], width=16)
    _, _, credits, _ = drive(admission(), packets=[wanted], host=[(3, (1, 0, 1))])
    assert not credits
    _, answers, credits, _ = drive(admission(), packets=[wanted], host=[(0, (1, 0, 1)), (6, (0, 0, 0)), (7, (1, 1, 9))])
    assert credits == [1, 7, 8]
    # the first control flit is taken in cycle 8
    assert answers[0][0] == 8 + len(wanted) - 1 + 2 + 2


def test_a_row_is_free_when_all_its_packets_are_through():
    wanted = request(2, 1, 7, packets=3, label=1, header=[61], children=[[21]], width=16)
    *_, used = drive(admission(), packets=[wanted], freed=[(40, 2), (50, 1), (60, 2), (70, 2)], children=1 << 2)
    assert used[70] == 1 << 2
    assert used[72] == 0


def interface(**options):
    return smart(sources=3, packet=16, header_flits=1, **options)


@pytest.mark.parametrize(("channels", "t_nr", "queue"), [(1, 0, 0), (2, 0, 0), (1, 5, 0), (2, 5, 2)])
def test_an_interface_answers_forwards_and_frees_the_row(channels, t_nr, queue):
    """The control packet goes to no host; the packets that follow go to the children and to the host."""
    wanted = request(1, 2, 7, packets=2, label=9, header=[61], children=[[21], [22]], width=16)
    data = [payload(1, range(k, k + 16)) for k in (0, 16)]
    network = [(20, 0, flit) for flit in packet([7], wanted)]
    network += [(120 + 60 * k, k % channels, flit) for k, piece in enumerate(data) for flit in packet([7], piece)]
    part = interface(channels=channels, t_nr=t_nr, receive_queue=queue)
    out, up, counted = drive_interface(part, network=network, cycles=600)
    wants = answer(True, 1, 9, [61], 16)
    assert sent(out)[:len(wants)] == wants
    assert sent(out)[len(wants):] == [flit for piece in data for child in (21, 22) for flit in packet([child], piece)]
    assert [flit for *_, flit in up] == data[0] + data[1]
    assert counted["forwarded"] == 2


def test_latency_of_an_answer():
    """From the request's tail on the link from the router to the answer's first flit on the link to the router."""
    wanted = request(1, 2, 7, packets=2, label=9, header=[61], width=16)
    for t_nr, t_ns in ((0, 0), (6, 0), (0, 9), (6, 9)):
        out, up, _ = drive_interface(interface(t_nr=t_nr, t_ns=t_ns), network=[(20, 0, flit) for flit in packet(
            [7], wanted)])
        assert not up
        tail = 20 + len(wanted)
        assert out[0][0] == tail + 6 + t_nr + t_ns, (t_nr, t_ns, out[0][0] - tail)


def test_host_and_answers_take_turns():
    wanted = request(1, 2, 7, packets=2, label=9, header=[61], width=16)
    worm = [(1, 0, 33), *((0, int(k == 15), 100 + k) for k in range(16))]
    out, *_ = drive_interface(interface(), network=[(20, 0, flit) for flit in packet([7], wanted)], host=worm * 4,
                              cycles=400)
    assert sorted(sent(out)) == sorted(worm * 4 + answer(True, 1, 9, [61], 16))
    heads = [data for head, _, data in sent(out) if head]
    assert heads.count(61) == 1
    assert heads[-1] != 61


def test_a_posting_frees_the_own_row():
    """The host has asked for row 1 over ``table_in``; the row is free when the last copy has left."""
    part = interface()
    # the flit after the first one has the number of packets, less one
    out, *_ = drive_interface(part, table=[(1, 0, 1), (0, 0, 1), (1, 1, 21)], host=posted(1, 32), cycles=300)
    assert sent(out) == [flit for k in (0, 16) for flit in packet([21], payload(1, range(k, k + 16)))]


def test_no_path_goes_from_link_to_link():
    refuse_paths(netlist.read(interface(receive_queue=2, send_queue=2)))
