# amaranth: UnusedElaboratable=no
"""Switches with deep buffers: cycles, copies that go by themselves, rows and their credits, errors on the wire."""

import itertools
import random

import pytest
from cases import slow
from mask_decoder import MaskDecoder

from wormcast.algorithms import WormcastError
from wormcast.hw.deep import DeepSwitch
from wormcast.hw.port import PortSpec
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from .deep import copies, deep_switch, payload, worm
from .lanes import Lane, run

START = 10


def times(lane, port):
    return [cycle - START for cycle in lane.when.get((port, 0), ())]


def rows_of(flits, chunk):
    return -(-len(flits) // chunk)


def delivered(lane, sent, outputs):
    """List the outputs with wrong flits: an output must send the worms of each input in order, whole, and no others."""
    expected, wrong = copies(sent, outputs), []
    for o in range(outputs):
        found = lane.streams(f"out_{o}")
        for port, worms in expected[o].items():
            if [one for one in found if one in worms] != worms:
                wrong.append((o, port))
        if len(found) != sum(map(len, expected[o].values())):
            wrong.append((o, len(found)))
    return wrong


# cycles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flits", [1, 2, 3, slow(4)])
def test_each_flit_takes_three_cycles_and_one_more_for_each_further_header_flit(flits):
    switch, kernel = deep_switch(2, 3, chunk=4, rows=4, flits=flits)
    lane = Lane()
    lane.send(START, "in_0", worm(0b101, 10, flits=flits))
    run(switch, kernel, [], [lane], 60)
    assert times(lane, "out_0") == times(lane, "out_2") == list(range(2 + flits, 2 + flits + 10 + flits))
    assert not times(lane, "out_1")


def test_a_flit_that_comes_late_passes_three_cycles_later():
    switch, kernel = deep_switch(2, 2, chunk=4, rows=4)
    lane = Lane()
    for at, flit in zip((0, 5, 6, 20), worm(0b11, 3), strict=True):
        lane.send(START + at, "in_0", [flit])
    run(switch, kernel, [], [lane], 60)
    assert times(lane, "out_0") == times(lane, "out_1") == [3, 8, 9, 23]


def test_a_worm_that_waits_is_read_row_by_row_without_a_gap():
    """A free output is granted. Then a row is requested and fetched, and sent three cycles later."""
    switch, kernel = deep_switch(2, 2, chunk=4, rows=8)
    lane = Lane()
    lane.send(START, "in_0", worm(0b01, 20))
    lane.send(START + 1, "in_1", worm(0b01, 25, 1))
    run(switch, kernel, [], [lane], 120)
    found = times(lane, "out_0")
    assert found[:21] == list(range(3, 24))
    assert found[21:] == list(range(found[21], found[21] + 26))
    assert found[21] - found[20] == 6


def test_all_outputs_are_kept_busy_from_rows():
    """Each input's worm for all outputs is behind one that holds these: then one row a cycle feeds all of them."""
    switch, kernel = deep_switch(4, 4, chunk=4, rows=16)
    lane = Lane()
    for k in range(4):
        lane.send(START, f"in_{k}", worm(1 << k, 30, k))
        lane.send(START + 31, f"in_{k}", worm(1 << (k + 1) % 4, 31, 4 + k))
    run(switch, kernel, [], [lane], 200)
    for o in range(4):
        first, second = lane.streams(f"out_{o}")
        assert (len(first), len(second)) == (31, 32)
        at = times(lane, f"out_{o}")[31:]
        assert at[-1] - at[0] == 31


@pytest.mark.parametrize(("chunk", "copied", "alone"), [slow(4, 1641, 1257), (5, 884, 884)])
def test_rows_are_fetched_while_others_are_closed(chunk, copied, alone):
    """881 flits arrive without a gap and are read from rows: rows of more flits than there are outputs lose no time."""
    switch, kernel = deep_switch(4, 4, chunk=chunk, rows=32)
    one, each = Lane(), Lane()
    for lane in (one, each):
        for k in range(4):
            lane.send(START, f"in_{k}", worm(1 << k, 20, k))
    one.send(START + 21, "in_0", worm(0b1111, 880, 4))
    for k in range(4):
        each.send(START + 21, f"in_{k}", worm(1 << (k + 1) % 4, 880, 4 + k))
    run(switch, kernel, [], [one, each], 2000)

    def slowest(lane):
        sent = [times(lane, f"out_{o}")[21:] for o in range(4)]
        assert {len(at) for at in sent} == {881}
        return max(at[-1] - at[0] + 1 for at in sent)

    assert (slowest(one), slowest(each)) == (copied, alone)


def test_a_branch_that_stands_still_stops_no_other():
    switch, kernel = deep_switch(2, 3, chunk=4, rows=16, nodes=1)
    lane = Lane()
    lane.held["out_2"] = 400  # four flits go, then nothing
    lane.send(START, "in_0", worm(0b111, 40))
    run(switch, kernel, [], [lane], 200)
    assert times(lane, "out_0") == times(lane, "out_1") == list(range(3, 44))
    assert times(lane, "out_2") == [3, 4, 5, 6]
    assert lane.credits["in_0", 0] == 3  # the row that all have sent, and two that its reader has fetched


def test_a_follower_that_loses_its_credit_goes_on_from_rows():
    switch, kernel = deep_switch(2, 2, chunk=4, rows=16, nodes=2)
    runs = [Lane(), Lane()]
    for lane, until in zip(runs, (0, START + 20), strict=True):
        lane.held["out_0"] = until
        lane.send(START, "in_0", worm(0b11, 30))
    run(switch, kernel, [], runs, 200)
    for lane in runs:
        assert lane.streams("out_0") == lane.streams("out_1") == [worm(0b11, 30)]
    assert times(runs[0], "out_0") == list(range(3, 34))


# alternatives ---------------------------------------------------------------------------------------------------

EITHER = 0b1000  # behind the bits of three outputs: of those to other switches, the worm takes one


def test_a_worm_takes_the_lowest_of_its_alternatives_that_is_free():
    """In cut-through, as if it had no other."""
    switch, kernel = deep_switch(2, 3, chunk=4, rows=8, nodes=1, adaptive=True)
    lane, busy = Lane(), Lane()
    lane.send(START, "in_0", worm(EITHER | 0b11, 10))
    busy.send(START, "in_1", worm(0b01, 40, 1))
    busy.send(START + 10, "in_0", worm(EITHER | 0b11, 10))
    run(switch, kernel, [], [lane, busy], 120)
    assert times(lane, "out_0") == list(range(3, 14))
    assert not times(lane, "out_1")
    assert times(busy, "out_1") == list(range(13, 24))
    assert busy.streams("out_0") == [worm(0b01, 40, 1)]


@pytest.mark.parametrize(("first", "second", "taken"), [(20, 40, "out_0"), (40, 20, "out_1")])
def test_a_worm_without_a_free_alternative_takes_the_first_that_becomes_free(first, second, taken):
    switch, kernel = deep_switch(3, 3, chunk=4, rows=16, nodes=1, adaptive=True)
    lane = Lane()
    lane.send(START, "in_1", worm(0b01, first, 1))
    lane.send(START, "in_2", worm(0b10, second, 2))
    mine = worm(EITHER | 0b11, 10)
    lane.send(START + 5, "in_0", mine)
    run(switch, kernel, [], [lane], 150)
    assert [mine in lane.streams(port) for port in ("out_0", "out_1")] == [port == taken for port in ("out_0", "out_1")]
    assert times(lane, taken)[21] - times(lane, taken)[20] == 6  # as a worm that waits for this output alone


def test_two_worms_with_the_same_alternatives_take_one_each():
    """Both request the lowest. The other worm gets the second alternative in the next cycle, too late for cut-through:
    it is read from its first row, which is closed in cycle 7."""
    switch, kernel = deep_switch(2, 3, chunk=4, rows=8, nodes=1, adaptive=True)
    lane, sent = Lane(), [worm(EITHER | 0b11, 20, number) for number in range(2)]
    for port, flits in zip(("in_0", "in_1"), sent, strict=True):
        lane.send(START, port, flits)
    run(switch, kernel, [], [lane], 100)
    assert lane.streams("out_0") + lane.streams("out_1") == sent
    assert times(lane, "out_1")[0] == 11


def test_each_worm_leaves_by_one_alternative_and_by_all_its_other_outputs():
    """Random worms of both kinds: each copy is whole, and all rows are free at the end."""
    switch, kernel = deep_switch(3, 3, chunk=4, rows=8, nodes=1, adaptive=True)
    rng, runs = random.Random(1), []
    for number in range(40):
        lane, sent = Lane(credit_after=rng.choice([1, 6])), []
        lane.held["out_2"] = rng.choice([0, 200])
        for port in ("in_0", "in_1", "in_2"):
            at, rows = START, 8
            for _ in range(rng.randint(1, 5)):
                flits = worm(rng.randint(1, 7) | rng.choice([0, EITHER]), rng.randint(1, 9), 3 * number + len(sent))
                rows -= rows_of(flits, 4)
                if rows < 0:  # what is sent needs no credit that comes back
                    break
                at += rng.randint(0, 12)
                lane.send(at, port, flits)
                at += len(flits)
                sent.append((port, flits))
        runs.append((lane, sent))
    run(switch, kernel, [], [lane for lane, _ in runs], 800)
    for lane, sent in runs:
        left = [lane.streams(f"out_{o}") for o in range(3)]
        for _, flits in sent:
            mask = flits[0][2]
            came = [streams.count(flits) for streams in left]
            wanted = [sum(one[0][2] == mask and one == flits for _, one in sent) * (mask >> o & 1) for o in range(3)]
            if mask & EITHER:
                assert sum(came[:2]) == max(wanted[:2])
                assert all(count <= most for count, most in zip(came, wanted, strict=True))
                assert came[2] == wanted[2]
            else:
                assert came == wanted
        for port in ("in_0", "in_1", "in_2"):
            assert lane.credits.get((port, 0), 0) == sum(rows_of(flits, 4) for one, flits in sent if one == port)


# rows and credits ----------------------------------------------------------------------------------------------


def test_every_boundary_of_a_row():
    """Worms of all lengths around a row's, one behind the other with all gaps; each row is one credit."""
    chunk = 4
    switch, kernel = deep_switch(2, 2, chunk=chunk, rows=4)
    cases = list(itertools.product(range(1, 10), range(8), (1, 3, 5), (0b01, 0b11), (1, 6)))
    runs = []
    for first, gap, second, mask, after in cases:
        lane, worms = Lane(credit_after=after), [worm(mask, first, 1), worm(0b01, second, 2)]
        lane.send(START, "in_0", worms[0])
        lane.send(START + len(worms[0]) + gap, "in_0", worms[1])
        runs.append((lane, worms))
    run(switch, kernel, [], [lane for lane, _ in runs], 120)
    for case, (lane, worms) in zip(cases, runs, strict=True):
        assert not delivered(lane, [(0, one) for one in worms], 2), case
        assert lane.credits["in_0", 0] == sum(rows_of(one, chunk) for one in worms), case


def test_a_worm_as_long_as_the_buffer_is_copied_and_one_longer_waits():
    """Two outputs are crossed: each of two worms has one and waits for the other's. Worms that fit arrive, longer worms
    wait for ever."""
    chunk, rows = 4, 4
    switch, kernel = deep_switch(2, 2, chunk=chunk, rows=rows)
    runs = []
    for length in (chunk * rows - 1, chunk * rows + 1, 3 * chunk * rows):
        lane = Lane()
        blockers = [worm(0b01, 4, 8), worm(0b10, 4, 9)]
        # each blocker keeps one output from the other's copy until that has the other output
        lane.send(START, "in_0", [*blockers[0], *worm(0b11, length, 1)])
        lane.send(START, "in_1", [*blockers[1], *worm(0b11, length, 2)])
        runs.append(lane)
    run(switch, kernel, [], runs, 400)
    assert not delivered(runs[0], [(0, worm(0b01, 4, 8)), (1, worm(0b10, 4, 9)), (0, worm(0b11, chunk * rows - 1, 1)),
                                   (1, worm(0b11, chunk * rows - 1, 2))], 2)
    assert not runs[0].waits


SHAPES = [(2, 2, 4, 2, 1, 0), (3, 3, 4, 4, 1, 1), slow(4, 3, 4, 3, 2, 0), slow(3, 3, 8, 3, 3, 1),
          slow(2, 2, 2, 5, 2, 0), (3, 2, 4, 2, 4, 0), slow(8, 8, 8, 80, 1, 4), slow(5, 7, 7, 3, 3, 2)]


@pytest.mark.parametrize(("inputs", "outputs", "chunk", "rows", "flits", "nodes"), SHAPES)
def test_random_worms_leave_as_queues_would_let_them(inputs, outputs, chunk, rows, flits, nodes):
    switch, kernel = deep_switch(inputs, outputs, chunk=chunk, rows=rows, flits=flits, nodes=nodes)
    room = chunk * rows - flits
    runs = []
    for seed in range(64):
        rng = random.Random(seed)
        lane, sent = Lane(credit_after=rng.choice((1, 1, 2, 5))), []
        for o in range(outputs):
            if rng.random() < 0.3:
                lane.held[f"out_{o}"] = rng.randrange(150)
        for port in range(inputs):
            at = START
            for number in range(1, 1 + rng.choice((2, 6, 12))):
                mask = 1 << rng.randrange(outputs) if rng.random() < 0.4 else rng.randrange(1, 1 << outputs)
                alone = mask & mask - 1 == 0
                length = min(rng.choice((1, 2, max(1, chunk - flits), chunk - flits + 1, rng.randint(1, room), room)),
                             2 * room if alone else room)
                flits_sent = worm(mask, length, port << 4 | number, flits)
                for flit in flits_sent:
                    lane.send(at, f"in_{port}", [flit])
                    at += rng.choice((1, 1, 1, 3)) if seed % 3 == 0 else 1
                at += rng.choice((0, 0, 1, 2, 30))
                sent.append((port, flits_sent))
        runs.append((lane, sent))
    run(switch, kernel, [], [lane for lane, _ in runs], 2500 + 40 * chunk * rows)
    for seed, (lane, sent) in enumerate(runs):
        assert (lane.waits, lane.fault) == ({}, ("NONE", 0, 0)), seed
        assert not delivered(lane, sent, outputs), seed
        for port in range(inputs):
            expected = sum(rows_of(flits_sent, chunk) for at, flits_sent in sent if at == port)
            assert lane.credits[f"in_{port}", 0] == expected, seed


# errors on the wire --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("flits", "sent", "cause", "left"), [
    (1, payload(3), "NO_HEADER", []),
    (2, [*worm(0b01, 3, flits=2)[:1], *payload(3)], "LIST_CUT", []),
    (1, worm(0b00, 5), "NO_SUCH_DESTINATION", []),
    (1, [worm(0b01, 3)[0], *worm(0b01, 3)], "LIST_TOO_LONG", [[(1, 0, 1), (1, 1, 1)]]),
    (1, [*worm(0b01, 9, 1)[:6], *worm(0b01, 3, 2)], "NO_TAIL", [[*worm(0b01, 9, 1)[:6], (1, 1, 1)]]),
], ids=["no header", "list cut", "nowhere", "list too long", "no tail"])
def test_an_error_costs_its_worm_alone_and_no_credit(flits, sent, cause, left):
    """The worm that is cut off ends with both marks. The worm behind it arrives whole, and all credits come back."""
    chunk = 4
    switch, kernel = deep_switch(2, 2, chunk=chunk, rows=4, flits=flits)
    lane, behind = Lane(), worm(0b01, 6, 7, flits)
    lane.send(START, "in_0", sent)
    lane.send(START + 40, "in_0", behind)
    run(switch, kernel, [], [lane], 120)
    assert lane.fault == (cause, 0, 0)
    assert lane.streams("out_0") == [*left, behind]
    assert not lane.waits


def test_a_worm_that_is_cut_off_anywhere_costs_as_many_credits_as_its_sender_has_spent():
    """The sender's rows go on where the worm is cut off: by a worm that begins, or by a mark that is wrong."""
    chunk = 4
    switch, kernel = deep_switch(2, 2, chunk=chunk, rows=4)
    behind, runs = worm(0b01, 5, 3), []
    for first, second in itertools.product(range(1, 10), repeat=2):
        spoilt = worm(0b01, first + second, 1)
        spoilt[first] = 1, *spoilt[first][1:]
        for flits in ([*worm(0b01, 12, 1)[:1 + first], *worm(0b01, second, 2)], spoilt):
            lane = Lane()
            lane.send(START, "in_0", [*flits, *behind])
            runs.append((lane, [*flits, *behind]))
    run(switch, kernel, [], [lane for lane, _ in runs], 150)
    for lane, flits in runs:
        spent, place = 0, 0
        for _, tail, _ in flits:
            spent += place == 0
            place = 0 if tail else (place + 1) % chunk
        assert lane.credits["in_0", 0] == spent, flits
        assert lane.streams("out_0")[-1] == behind


def test_a_flit_without_a_credit_is_dropped_where_there_is_no_room():
    switch, kernel = deep_switch(2, 2, chunk=4, rows=2, nodes=2)
    lane = Lane()
    lane.held["out_0"] = 300
    flits = worm(0b01, 20)
    for k, (head, tail, data) in enumerate(flits):
        lane.forced[START + k, "in_0"] = 0, (head, tail, data)
    run(switch, kernel, [], [lane], 60)
    assert lane.fault == ("OVERFLOW", 0, 0)


# construction --------------------------------------------------------------------------------------------------


def test_no_path_leads_through_it():
    refuse_paths(netlist.read(deep_switch(3, 3, chunk=4, rows=4, flits=2)[0]))


@pytest.mark.parametrize(("changed", "message"), [
    ({"chunk": 2},
     ("chunk: 2 is not valid: the switch has 3 outputs, and decodes branches from up to 1 header "
     "flit. Allowed: 3 to 256, with a buffer of whole chunks.")),
    ({"vcs": 2}, "DeepSwitch.vcs: 2 virtual channels of in_0 are not valid. Allowed: 1."),
])
def test_what_cannot_be_built_is_refused(changed, message):
    given = {"chunk": 4, "vcs": 1} | changed
    ports = [[PortSpec(f"{side}_{k}", depth=16, **given) for k in range(count)]
             for side, count in (("in", 2), ("out", 3))]
    with pytest.raises(WormcastError) as refused:
        DeepSwitch(inputs=ports[0], outputs=ports[1], decoder=MaskDecoder(inputs=2, outputs=3, width=16), width=16)
    assert str(refused.value) == message


@pytest.mark.parametrize(("depth", "message"), [
    (18, "PortSpec.depth: 18 is not valid. Allowed: a multiple of 4 flits from 8."),
    (4, "PortSpec.depth: 4 is not valid. Allowed: a multiple of 4 flits from 8."),
])
def test_a_buffer_has_whole_chunks(depth, message):
    with pytest.raises(WormcastError) as refused:
        PortSpec("in", depth=depth, chunk=4)
    assert str(refused.value) == message
