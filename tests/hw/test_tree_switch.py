# amaranth: UnusedElaboratable=no
"""Switches that replicate worms to several outputs: cycles, copies, blocked branches, errors on the wire."""

import itertools
import random
from functools import partial

import pytest
from cases import slow, some

from wormcast.algorithms import WormcastError
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from ..proofs.mutants import Mutant
from .lanes import Lane
from .trees import copier, payload

START = 10

ASYNCHRONOUS, SYNCHRONOUS, SERIAL = MODES = ("atbm", "tree-synchronous", "tree-serial")

#: A switch of the first, a middle and the last stage of 8 nodes, and one of 4x4 in each of two stages.
FIRST, MIDDLE, LAST = ("min:b=2,stages=3", 1), ("min:b=2,stages=3", 5), ("min:b=2,stages=3", 8)
FOUR, FOUR_LAST = ("min:b=4,stages=2", 1), ("min:b=4,stages=2", 6)

BASE = {"vcs": 1, "consumption": 1, "buffer": 5, "flit_width": 32}


def one_each(tree, outputs, port=0):
    """A node behind each of some outputs."""
    behind = tree.behind(port)
    return [behind[o][-1] for o in outputs]


def times(lane, port, vc=0):
    return [cycle - START for cycle in lane.when.get((port, vc), ())]


# cycles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delays", ["paper", slow("fast")])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", [FIRST, slow(MIDDLE), slow(LAST), slow(FOUR)], ids=str)
def test_header_takes_three_cycles_and_data_two(where, mode, delays):
    """One more with ``fast``, and one more for the header of a replicated worm, which needs the token."""
    tree = copier(*where, mode, **BASE, delays=delays)
    more = delays == "fast"
    runs = [Lane(), Lane()]
    for lane, outputs in zip(runs, ([1], [0, 1]), strict=True):
        flits = [*tree.header(one_each(tree, outputs)), *payload(2)]
        for at, flit in zip((0, 12, 22), flits, strict=True):
            lane.send(START + at, tree.inputs[0], [flit])
    tree.run(runs, 60)
    assert times(runs[0], tree.outputs[1]) == [3 + more, 14 + more, 24 + more]
    both = sorted(zip(*(times(runs[1], output) for output in tree.outputs[:2]), strict=True))
    for at, found in zip((4, 14, 24), both, strict=True):
        assert sorted(found) == [at + more, at + more + (mode == SERIAL)]
    assert all(lane.fault == ("NONE", 0, 0) for lane in runs)


@pytest.mark.parametrize("mode", some(MODES, ASYNCHRONOUS))
def test_without_tokens_a_copied_header_takes_three_cycles(mode):
    tree = copier(*FIRST, mode, **BASE, tokens="off")
    lane = Lane()
    lane.send(START, tree.inputs[0], [*tree.header(one_each(tree, [0, 1])), *payload(1)])
    tree.run([lane], 40)
    assert sorted(times(lane, output)[0] for output in tree.outputs) == [3, 3 + (mode == SERIAL)]


@pytest.mark.parametrize(("network", "number", "width", "flits"), [
    slow("min:b=2,stages=3", 1, 5, 2), ("min:b=2,stages=3", 1, 3, 3), slow("min:b=4,stages=2", 1, 5, 4)])
@pytest.mark.parametrize("mode", [ASYNCHRONOUS, slow(SYNCHRONOUS), slow(SERIAL)])
def test_a_header_of_several_flits_is_asked_for_behind_its_last_one(network, number, width, flits, mode):
    """Its first flit is on the next link 3 cycles after the last one came, and the others follow: a copy a cycle."""
    tree = copier(network, number, mode, **BASE | {"flit_width": width})
    lane = Lane()
    nodes = one_each(tree, [0, 1])
    assert len(tree.header(nodes)) == flits
    sent = [*tree.header(nodes), *payload(1)]
    lane.send(START, tree.inputs[0], sent)
    tree.run([lane], 60)
    first = flits - 1 + 4
    found = sorted(times(lane, tree.outputs[0])), sorted(times(lane, tree.outputs[1]))
    if mode == SERIAL:
        assert sorted([*found[0], *found[1]]) == list(range(first, first + 2 * len(sent)))
    else:
        assert found == (list(range(first, first + len(sent))),) * 2
    copies = tree.copies(0, nodes, payload(1))
    assert {out: tree.streams(lane)[out] for out in copies} == {out: [flits] for out, flits in copies.items()}


@pytest.mark.parametrize(("width", "tags", "strings"), [(32, 1, 1), (5, 1, 2), (3, 2, 4)])
@pytest.mark.parametrize("where", [FIRST, slow(MIDDLE), slow(LAST)], ids=str)
def test_a_unicast_by_routing_tag_has_its_own_header(where, width, tags, strings):
    """Its first flit is on the next link 3 cycles after the last one of the tag came, and no bit of it is masked; a
    string that follows is copied as ever."""
    tree = copier(*where, "atbm:unicasts=tag", **BASE | {"flit_width": width}, tokens="off")
    runs = []
    for output in (0, 1):
        lane, nodes = Lane(), one_each(tree, [output])
        tag, both = tree.header(nodes), tree.header(one_each(tree, [0, 1]))
        assert (len(tag), len(both)) == (tags, strings)
        assert tag == tree.flits([int(part, 2) for part in _parts(f"{nodes[0]:03b}0", width)])
        lane.send(START, tree.inputs[0], [*tag, *payload(3), *both, *payload(2), *tag, *payload(1)])
        runs.append((output, lane, tag))
    tree.run([lane for _, lane, _ in runs], 80)
    for output, lane, tag in runs:
        name, other = tree.outputs[output], tree.outputs[1 - output]
        assert times(lane, name)[:tags + 3] == list(range(tags - 1 + 3, 2 * tags + 5))
        copies = {o: [*tree.branch(one_each(tree, [o])), *payload(2)] for o in (0, 1)}
        assert tree.streams(lane)[name] == [[*tag, *payload(3)], copies[output], [*tag, *payload(1)]]
        assert tree.streams(lane)[other] == [copies[1 - output]]
        assert lane.fault == ("NONE", 0, 0)


def _parts(bits, width):
    """Cut bits into flits, the lowest bits first."""
    whole = bits.zfill(-(-len(bits) // width) * width)
    return [whole[at:at + width] for at in reversed(range(0, len(whole), width))]


def test_a_unicast_whose_tag_is_cut_is_dropped():
    """And its port sends no report, which no switch awaits; the next worm passes."""
    tree = copier(*MIDDLE, "atbm:unicasts=tag", **BASE | {"flit_width": 3})
    for output in (0, 1):
        lane = Lane()
        tag = tree.header(one_each(tree, [output]))
        assert len(tag) == 2
        lane.send(START, tree.inputs[0], [tag[0], *payload(3), *tag, *payload(2)])
        tree.run([lane], 60)
        assert tree.streams(lane) == {tree.outputs[output]: [[*tag, *payload(2)]], tree.outputs[1 - output]: []}
        assert lane.fault[0] == "LIST_CUT"


def test_a_unicast_by_routing_tag_is_not_reported():
    """Whatever its bit in the place of a string's report bit: that is the lowest bit of the tag."""
    tree = copier(*MIDDLE, "atbm:unicasts=tag", **BASE)
    for output in (0, 1):
        lane = Lane(report_after=3)
        nodes = 2 * tree.behind(0)[output]  # behind each one comes another, which would wait for the report
        for number, node in enumerate(nodes):
            lane.send(START + 20 * number, tree.inputs[0], [*tree.header([node]), *payload(2)])
        tree.run([lane], 40 + 20 * len(nodes))
        assert not lane.reported
        assert len(tree.streams(lane)[tree.outputs[output]]) == len(nodes)


def test_a_unicast_by_routing_tag_ends_a_worm_without_tail():
    tree = copier(*FIRST, "atbm:unicasts=tag", **BASE | {"flit_width": 3}, tokens="off")
    for output in (0, 1):
        lane, tag = Lane(), tree.header(one_each(tree, [output]))
        lane.send(START, tree.inputs[0], [*tag, *payload(3)[:-1], *tag, *payload(2)])
        tree.run([lane], 60)
        found = tree.streams(lane)[tree.outputs[output]]
        assert len(found) == 2
        cut, whole = found
        assert cut[:-1] == [*tag, *payload(3)[:-1]]
        assert cut[-1][:2] == (1, 1)
        assert whole == [*tag, *payload(2)]
        assert lane.fault[0] == "NO_TAIL"


#: Faults in the decode of routing tags beside bit strings.
TAG_FAULTS = [Mutant(f"decoders.mixed.{method}", old, new) for method, old, new in (
    ("TaggedDecoder.reports", " & self._is(self.strings, flit)", ""),
    ("TaggedDecoder._branches_of", "hdl.Mux(taken, found, 0)", "found"),
    ("TaggedDecoder.carried", "(True,)", "(False,)"),
    ("TaggedDecoder.code", "place + self.strings.codes", "place"),
    ("TaggedDecoder.begins", " | (code == self.strings.codes)", ""),
    ("TaggedDecoder.__init__", "header.form_bits + header.unicast.address_bits", "header.unicast.address_bits"),
    ("MixedDecoder._is", "self.decoders.index(decoder)", "1 - self.decoders.index(decoder)"),
    ("MixedDecoder._branches_of", "first = self.header.form_bits", "first = 0"),
    ("MixedDecoder.seen", "place == k", "place == 0"),
    ("MixedDecoder.known", "self.header.unicast_flits - 1", "0"),
    ("MixedDecoder.branches", "mine.eq(self._is(one, seen))", "mine.eq(1)"),
)]


@pytest.mark.parametrize("mutant", some(TAG_FAULTS, TAG_FAULTS[0]), ids=str)
def test_fault_in_the_decode_of_routing_tags_is_found(mutant, monkeypatch):
    monkeypatch.setitem(globals(), "copier", partial(copier, mutant=mutant))
    with pytest.raises(AssertionError):
        _check_routing_tags()


def _check_routing_tags():
    test_a_unicast_by_routing_tag_is_not_reported()
    test_a_unicast_whose_tag_is_cut_is_dropped()
    test_a_unicast_by_routing_tag_ends_a_worm_without_tail()
    test_a_unicast_by_routing_tag_has_its_own_header(FIRST, 3, 2, 4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("where", "ways"), [(FIRST, 2), slow(FOUR, 3), slow(FOUR, 4)])
def test_a_flit_a_cycle_goes_by_each_output_and_in_turn_if_serial(where, ways, mode):
    tree = copier(*where, mode, **BASE)
    lane = Lane()
    lane.send(START, tree.inputs[0], [*tree.header(one_each(tree, range(ways))), *payload(40)])
    tree.run([lane], 80 + 42 * ways)
    apart = ways if mode == SERIAL else 1
    for output in tree.outputs[:ways]:
        found = times(lane, output)
        assert len(found) == 41
        # the turns begin when the branches are known
        assert {b - a for a, b in itertools.pairwise(found[2:])} == {apart}


@pytest.mark.parametrize("walk", [1, 2, 5])
def test_a_token_is_waited_for(walk):
    """The token comes once in each round of the ring, and is passed on in the cycle after the last report."""
    tree = copier(*FIRST, **BASE)
    runs = [Lane(walk=walk, report_after=after) for after in (1, 7)]
    for lane in runs:
        lane.send(START, tree.inputs[0], [*tree.header(one_each(tree, [0, 1])), *payload(3)])
    tree.run(runs, 60)
    for lane, after in zip(runs, (1, 7), strict=True):
        headers = {times(lane, output)[0] for output in tree.outputs}
        # in the ring it is at the switch in every walk-th cycle from reset on; asked for in START + 2
        came = next(cycle for cycle in range(START + 2, 99) if cycle % walk == 0)
        assert headers == {came + 2 - START}
        ended = START + max(headers) + after + 1
        assert [cycle for cycle in lane.passed if came < cycle <= ended + 1] == [ended + 1]


def test_a_report_goes_up_when_all_branches_have_reported():
    """Two cycles after the last one came; that of a worm with one way out is passed on, too."""
    tree = copier(*MIDDLE, **BASE)
    for outputs in ([0], [1], [0, 1]):
        lane = Lane(report_after=9)
        lane.send(START, tree.inputs[1], [*tree.header(one_each(tree, outputs), reports=True), *payload(2)])
        tree.run([lane], 60)
        header = 3 + (len(outputs) > 1)
        assert [(cycle - START, port, vc) for cycle, port, vc in lane.reported] == [(header + 9 + 2, "p1", 0)]


@pytest.mark.parametrize(("options", "expected"), [({}, 5), ({"consumption": 2}, 4)], ids=str)
def test_a_copy_that_is_consumed_has_arrived(options, expected):
    """In the cycle in which it owns a channel; where these are enough for all that may come when it is fetched."""
    tree = copier(*LAST, **BASE | options)
    lane = Lane()
    lane.send(START, tree.inputs[0], [*tree.header(one_each(tree, [1]), reports=True), *payload(2)])
    tree.run([lane], 40)
    assert [cycle - START for cycle, *_ in lane.reported] == [expected]


# copies --------------------------------------------------------------------------------------------------------


def subsets(nodes):
    return [list(some) for count in range(1, len(nodes) + 1) for some in itertools.combinations(nodes, count)]


@pytest.mark.parametrize("mode", some(MODES, SERIAL))
@pytest.mark.parametrize(("number", "options"), [
    slow(1, {}), (6, {"flit_width": 8}), slow(8, {}), slow(8, {"consumption": 2}), slow(6, {"tokens": "off"}),
    slow(6, {"flit_width": 3})], ids=str)
def test_each_copy_carries_the_nodes_behind_its_output(number, options, mode):
    """And the report bit: where the worm came with it, or is copied here; of all destinations that there can be."""
    tree = copier("min:b=2,stages=3", number, mode, **BASE | options)
    nodes = sorted(itertools.chain(*tree.behind(0).values()))
    reports = [False, True] if tree.switch.has_reports and tree.switch.decoder.links_in else [False]
    cases = list(itertools.product(subsets(nodes)[:60], reports))
    runs = []
    for chosen, report in cases:
        runs.append(Lane())
        runs[-1].send(START, tree.inputs[0], [*tree.header(chosen, report), *payload(2)])
    block = tree.run(runs, 60)
    for lane, unrest, (chosen, report) in zip(runs, tree.unrest(block), cases, strict=True):
        wanted = tree.copies(0, chosen, payload(2), report)
        assert tree.streams(lane) == {out: [wanted[out]] if out in wanted else [] for out in tree.outputs}
        assert len(lane.reported) == report
        assert not unrest
        assert lane.fault == ("NONE", 0, 0)


@pytest.mark.parametrize(("mode", "ahead"), [(ASYNCHRONOUS, True), (SYNCHRONOUS, False), (SERIAL, True)])
@pytest.mark.parametrize("depth", [slow(1), slow(2), 5])
def test_a_branch_goes_on_by_the_buffer_s_depth_while_another_stands(depth, mode, ahead):
    """One branch has no credits. The other branch goes on until the buffer is full, with synchronous replication not at
    all. No flit is lost."""
    tree = copier(*FIRST, mode, **BASE | {"buffer": depth})
    lane = Lane()
    lane.held[tree.outputs[0]] = 300
    nodes = one_each(tree, [0, 1])
    lane.send(START, tree.inputs[0], [*tree.header(nodes), *payload(40)])
    block = tree.run([lane], 1200)
    sent = [len([cycle for cycle in lane.when[out, 0] if cycle < 300]) for out in tree.outputs]
    assert sent == [depth, 2 * depth if ahead else depth]
    assert tree.streams(lane) == {out: [flits] for out, flits in tree.copies(0, nodes, payload(40)).items()}
    assert not tree.unrest(block)[0]


@pytest.mark.parametrize("mode", MODES)
def test_a_worm_takes_what_is_free(mode):
    """A unicast holds one output: the copy to the other output is sent at once, with synchronous replication after the
    unicast's tail."""
    tree = copier(*FIRST, mode, **BASE)
    lane = Lane()
    first, second = one_each(tree, [0]), one_each(tree, [0, 1], port=1)
    lane.send(START, tree.inputs[0], [*tree.header(first), *payload(30, 1)])
    lane.send(START + 8, tree.inputs[1], [*tree.header(second), *payload(30, 2)])
    tree.run([lane], 200)
    free, taken = (lane.when[out, 0] for out in tree.outputs[::-1])
    assert (free[0] == START + 8 + 4) == (mode != SYNCHRONOUS)
    assert (free[0] > taken[30]) == (mode == SYNCHRONOUS)
    assert tree.streams(lane)[tree.outputs[0]] == [[*tree.header(first), *payload(30, 1)],
                                                   tree.copies(1, second, payload(30, 2))[tree.outputs[0]]]


# random worms --------------------------------------------------------------------------------------------------


def good_worm(rng, tree, port, number, longest=7):
    """A random worm that may come by an input, what must leave by which output, and whether it is to report."""
    nodes = sorted(itertools.chain(*tree.behind(port).values()))
    chosen = sorted(rng.sample(nodes, 1 if rng.random() < 0.4 else rng.randint(1, len(nodes))))
    report = tree.switch.has_reports and port < tree.switch.decoder.links_in and rng.random() < 0.5
    flits = payload(rng.randint(1, longest), number)
    return [*tree.header(chosen, report), *flits], tree.copies(port, chosen, flits, report), report


def traffic(rng, tree, lane, each, most=START):
    """Send ``each`` worms on each virtual channel. Return the copies, (output, flits), and the number of reports."""
    copies, reports, number = [], 0, 0
    for port, spec in enumerate(tree.switch.inputs):
        for vc in range(spec.vcs):
            for _ in range(each):
                flits, leaves, report = good_worm(rng, tree, port, number)
                lane.send(rng.randint(START, most), spec.name, flits, vc)
                copies += leaves.items()
                reports += report
                number += 1
    return copies, reports


def random_lane(rng, tree):
    """Return a lane with slow neighbours."""
    lane = Lane(credit_after=rng.choice([1, 2, 7]), report_after=rng.choice([1, 5, 30]), walk=rng.choice([1, 2, 9]))
    for out in rng.sample(tree.switch.consumption_ports + tree.outputs[:tree.switch.ejection], 1):
        if rng.random() < 0.5:
            lane.held[out] = rng.randint(50, 250)
    return lane


def check(tree, lane, unrest, copies):
    """Everything was sent, every credit is back, each copy left once, and the switch is empty with its token."""
    assert not lane.waits
    assert lane.sent == lane.credits
    assert not unrest
    if tree.switch.has_tokens:
        assert lane.passed[-1] - lane.passed[-2] == lane.walk
    streams = tree.streams(lane)
    for port, flits in copies:
        assert streams[port].count(flits) == 1, (port, flits, streams[port])
    assert all(worm[-1][1] for worms in streams.values() for worm in worms)
    return streams


RANDOM = [
    (*FIRST, ASYNCHRONOUS, {"vcs": 1, "buffer": 1, "consumption": 1}),
    (*MIDDLE, ASYNCHRONOUS, {"vcs": 2, "buffer": 4, "consumption": 4, "delays": "fast"}),
    slow(*MIDDLE, SYNCHRONOUS, {"vcs": 2, "buffer": 2, "consumption": 1}),
    (*LAST, SERIAL, {"vcs": 2, "buffer": 3, "consumption": 1, "consumption_links": "separate"}),
    slow(*FOUR, SERIAL, {"vcs": 1, "buffer": 2, "consumption": 1, "flit_width": 9}),
    slow(*FOUR_LAST, ASYNCHRONOUS, {"vcs": 2, "buffer": 16, "consumption": 8, "flit_width": 9}),
    slow("min:b=4,stages=3", 20, ASYNCHRONOUS, {"vcs": 3, "buffer": 4, "consumption": 1, "flit_width": 17}),
    slow("min:b=4,stages=3", 20, SYNCHRONOUS, {"vcs": 2, "buffer": 3, "consumption": 1, "flit_width": 22}),
    slow("min:b=4,stages=3", 40, SERIAL, {"vcs": 3, "buffer": 5, "consumption": 12, "flit_width": 33}),
    slow(*LAST, ASYNCHRONOUS, {"vcs": 2, "buffer": 2, "consumption": 4, "ejection": "all"}),
    slow(*LAST, ASYNCHRONOUS, {"vcs": 3, "buffer": 3, "consumption": 6, "storage": "registers", "delays": "fast"}),
    slow(*MIDDLE, SERIAL, {"vcs": 3, "buffer": 7, "consumption": 1, "flit_width": 8, "delays": "fast"}),
    slow(*MIDDLE, ASYNCHRONOUS, {"vcs": 1, "buffer": 4, "consumption": 1, "tokens": "off"}),
    slow(*FOUR, SYNCHRONOUS, {"vcs": 2, "buffer": 4, "consumption": 1, "delays": "fast"}),
    slow("min:b=2,stages=3,kind=omega", 5, ASYNCHRONOUS, {"vcs": 2, "buffer": 2, "consumption": 1, "flit_width": 8}),
]


@pytest.mark.parametrize(("network", "number", "mode", "options"), RANDOM, ids=str)
def test_random_worms_leave_whole_and_once(network, number, mode, options):
    """Worms come by all inputs at once. The neighbours return credits, reports and the token late."""
    tree = copier(network, number, mode, **{"flit_width": 16} | options)
    runs, expected = [], []
    if options.get("tokens") == "off":  # one with two others could deadlock
        each, most = 1, START
    else:
        each, most = 3, 150
    for seed in range(48):
        rng = random.Random(f"{network} {number} {mode} {options} {seed}")
        runs.append(random_lane(rng, tree))
        expected.append(traffic(rng, tree, runs[-1], each, rng.choice([START, most])))
    block = tree.run(runs, 2500)
    for lane, unrest, (copies, reports) in zip(runs, tree.unrest(block), expected, strict=True):
        streams = check(tree, lane, unrest, copies)
        assert sum(map(len, streams.values())) == len(copies)
        assert len(lane.reported) == reports
        assert lane.fault == ("NONE", 0, 0)


@pytest.mark.parametrize("mode", some(MODES, ASYNCHRONOUS, SERIAL))
@pytest.mark.parametrize(("where", "options"), [
    (MIDDLE, {"vcs": 1, "buffer": 1, "flit_width": 9}), slow(FIRST, {"vcs": 3, "buffer": 16, "flit_width": 9}),
    slow(LAST, {"vcs": 2, "buffer": 2, "flit_width": 67, "consumption_links": "separate", "consumption": 4}),
    slow(FOUR, {"vcs": 2, "buffer": 3, "flit_width": 17, "delays": "fast"}),
    slow(FOUR_LAST, {"vcs": 1, "buffer": 4, "flit_width": 5, "ejection": "all"})], ids=str)
def test_every_output_comes_from_a_flip_flop(where, options, mode):
    refuse_paths(netlist.read(copier(*where, mode, **BASE | options).switch))


@pytest.mark.parametrize(("options", "sentence"), [
    ({"flit_width": 17, "buffer": 3}, ("buffer: 3 is not valid: a bit string of 65 bits has 4 flits of 17 bits, "
                                       "which the buffer must hold. Allowed: 4 to 16, or a flit_width of 22 or more.")),
    ({"ports": "all"}, "ports: all is not valid: each of several injection ports leads to one output"),
    ({"absorb": "2"}, "absorb: 2 is not valid: worms with bit strings end at each destination. Allowed: off."),
])
def test_what_trees_cannot_do_is_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        copier("min:b=4,stages=3", 1, **BASE | {"flit_width": 65} | options)


# errors on the wire --------------------------------------------------------------------------------------------

X = None  # the data of a tail that the switch has made
CLOSED = (1, 1, X)


def same(worm, expected):
    """Equal flits; the data of a tail that the switch has made are anything."""
    return len(worm) == len(expected) and all(
        one[:2] == other[:2] and other[2] in (X, one[2]) for one, other in zip(worm, expected, strict=True))


def open_payload(*data):
    return [(0, 0, value) for value in data]


def bad_worms(tree, nodes, report):
    """Name: cause, flits of a worm that came by input 0, the data flits in each of its copies, and its reports.

    A copy is the nodes' header and these flits; ``None``: there is none. What begins without a header reports.
    """
    header, body = tree.header(nodes, report), payload(2, 1)
    none = [(1, 0, int(report and not k)) for k in range(len(header))]
    found = {
        "payload first": ("NO_HEADER", body, None, 1),
        "payload first, no tail": ("NO_HEADER", open_payload(1, 2), None, 1),
        "header that ends": ("NO_HEADER", [(1, 1, header[0][2])], None, 1),
        "empty": ("NO_SUCH_DESTINATION", [*none, *body], None, 1),
        "empty, no tail": ("NO_SUCH_DESTINATION", [*none, *open_payload(1)], None, 1),
        "no tail": ("NO_TAIL", [*header, *open_payload(9)], [*open_payload(9), CLOSED], int(report)),
        "too long": ("LIST_TOO_LONG", [*header, header[0], *body], [CLOSED], report + 1),
        "too long, no tail": ("LIST_TOO_LONG", [*header, header[0], *open_payload(1)], [CLOSED], report + 1),
        "too long at its end": ("LIST_TOO_LONG", [*header, header[0]], [CLOSED], int(report)),
    }
    if len(header) > 1:
        # with the nodes of the first flit alone
        found |= {
            "cut": ("LIST_CUT", [header[0], *body], body, int(report)),
            "cut, no tail": ("LIST_CUT", [header[0], *open_payload(3)], [*open_payload(3), CLOSED], int(report)),
            "cut at its end": ("LIST_CUT", [header[0], (0, 1, 5)], [(0, 1, 5)], int(report)),
            "cut in an empty header": ("LIST_CUT", [none[0], *body], None, 1),
        }
    return found


BAD = [
    slow(*MIDDLE, ASYNCHRONOUS, {"vcs": 1, "buffer": 1, "flit_width": 16}),
    ("min:b=2,stages=3", 6, ASYNCHRONOUS, {"vcs": 2, "buffer": 4, "flit_width": 8}),
    slow(*MIDDLE, SYNCHRONOUS, {"vcs": 2, "buffer": 2, "flit_width": 16}),
    slow("min:b=2,stages=3", 6, SERIAL, {"vcs": 1, "buffer": 2, "flit_width": 8}),
    slow("min:b=2,stages=3", 6, SYNCHRONOUS, {"vcs": 1, "buffer": 3, "flit_width": 8, "delays": "fast"}),
    slow(*LAST, ASYNCHRONOUS, {"vcs": 2, "buffer": 2, "flit_width": 16, "consumption_links": "separate"}),
    slow(*LAST, SERIAL, {"vcs": 3, "buffer": 5, "flit_width": 16, "consumption": 6}),
    slow("min:b=4,stages=3", 16, ASYNCHRONOUS, {"vcs": 2, "buffer": 4, "flit_width": 17}),
    slow("min:b=4,stages=3", 16, SERIAL, {"vcs": 1, "buffer": 3, "flit_width": 33, "delays": "fast"}),
    slow("min:b=4,stages=3", 16, SYNCHRONOUS, {"vcs": 1, "buffer": 4, "flit_width": 17}),
]


@pytest.mark.parametrize(("network", "number", "mode", "options"), BAD, ids=str)
def test_a_bad_worm_costs_others_nothing(network, number, mode, options):
    """Each cause is latched with its place; what comes of the bad worm is as documented; worms behind it, which need
    the token, and beside it leave whole, and the token is there in the end."""
    tree = copier(network, number, mode, **{"consumption": 1} | options)
    runs, expected = [], []
    nodes = one_each(tree, tree.behind(0))
    first = [node for node in nodes if tree.switch.decoder.header.place(node)[0] == 0]
    for alone, report, name in itertools.product([False, True], [False, True], bad_worms(tree, nodes, False)):
        chosen = first if "cut" in name else nodes
        cause, flits, piece, reports = bad_worms(tree, chosen, report)[name]
        rng, lane = random.Random(name), Lane(credit_after=2, report_after=4)
        for k, flit in enumerate(flits):
            lane.send(10 + (k * 15 if alone else 0), tree.inputs[0], [flit])
        copies, due = [], reports
        for port, spec in enumerate(tree.switch.inputs):
            for vc, k in itertools.product(range(spec.vcs), range(3)):
                worm, leaves, more = good_worm(rng, tree, port, 2 + (port * spec.vcs + vc) * 3 + k)
                lane.send(120 if alone else 10, spec.name, worm, vc)
                copies += leaves.items()
                due += more
        lane.send(600, tree.inputs[1], payload(1, 0))  # a later error is not noted
        runs.append(lane)
        pieces = {}
        if piece is not None:
            cut = "cut" in name
            pieces = {out: [*(worm[:1] if cut else worm), *piece]
                      for out, worm in tree.copies(0, chosen, [], report).items()}
        expected.append((name, cause, copies, pieces, due + 1))
    block = tree.run(runs, 900)
    for lane, unrest, (name, cause, copies, pieces, due) in zip(runs, tree.unrest(block), expected, strict=True):
        streams = check(tree, lane, unrest, copies)
        for out, worms in streams.items():
            good = [flits for at, flits in copies if at == out]
            rest = [worm for worm in worms if worm not in good]
            wanted = [pieces[out]] if out in pieces else []
            assert len(rest) == len(wanted), (name, out, rest, wanted)
            assert all(same(*pair) for pair in zip(rest, wanted, strict=True)), (name, out, rest, wanted)
        assert len(lane.reported) == due, name
        assert lane.fault == (cause, 0, 0), name


def garbage(rng, tree, last):
    """Some flits that are no worm, and a last one behind which a header flit begins a worm again."""
    flits = tree.switch.decoder.header.flits()
    nodes = sorted(itertools.chain(*tree.behind(0).values()))
    heads, tails = rng.choice([0.3, 0.6, 0.9]), rng.choice([0, 0.2, 0.5])
    found = []
    for _ in range(rng.randint(1, 12)):
        if rng.random() < 0.3:
            found += tree.header(rng.sample(nodes, rng.randint(1, len(nodes))), rng.random() < 0.5)
        data = rng.choice([rng.getrandbits(tree.switch.width), 0, 1])
        found.append((int(rng.random() < heads), int(rng.random() < tails), data))
    return [*found, *([(0, 0, 3)] if flits > 1 or rng.random() < 0.5 else []), (0, int(rng.random() < last), 5)]


@pytest.mark.parametrize(("network", "number", "mode", "options"), BAD, ids=str)
def test_garbage_neither_wedges_nor_disturbs(network, number, mode, options):
    """Whatever flits come by some virtual channels, every good worm behind them and beside them leaves whole and
    once, all credits come back, and the switch is empty in the end, with its token."""
    tree = copier(network, number, mode, **{"consumption": 1} | options)
    runs, expected = [], []
    for seed in range(96):
        rng = random.Random(f"{network} {number} {mode} {options} {seed}")
        lane, copies = random_lane(rng, tree), []
        channels = [(port, spec.name, vc) for port, spec in enumerate(tree.switch.inputs) for vc in range(spec.vcs)]
        bad = rng.sample(channels, rng.choice([1, 1, min(3, len(channels))]))
        number = 1
        for channel in channels:
            port, name, vc = channel
            for _ in range(rng.randint(1, 3)):
                at = rng.choice([10, rng.randint(10, 90)])
                if channel in bad:
                    lane.send(at, name, garbage(rng, tree, 0.5), vc)
                worm, leaves, _ = good_worm(rng, tree, port, number)
                lane.send(at, name, worm, vc)
                copies += leaves.items()
                number += 1
        runs.append(lane)
        expected.append(copies)
    block = tree.run(runs, 1800)
    for lane, unrest, copies in zip(runs, tree.unrest(block), expected, strict=True):
        check(tree, lane, unrest, copies)
    causes = {lane.fault[0] for lane in runs}
    assert causes >= {"NO_HEADER", "LIST_TOO_LONG", "NO_TAIL"}


@pytest.mark.parametrize("mode", some(MODES, ASYNCHRONOUS))
def test_a_flit_for_a_full_buffer_is_dropped(mode):
    """The flit is sent without a credit. A worm beside it arrives whole, and the damaged worm releases the token."""
    tree = copier(*MIDDLE, mode, **BASE | {"buffer": 2})
    lane = Lane()
    lane.held[tree.outputs[0]] = 80
    nodes, others = one_each(tree, [0, 1]), one_each(tree, [0, 1], port=1)
    lane.send(START, "p0", [*tree.header(nodes), *payload(9, 1)])
    lane.send(START + 90, "p1", [*tree.header(others), *payload(4, 2)])
    lane.forced[START + 40, "p0"] = 0, (0, 0, 77)
    block = tree.run([lane], 300)
    check(tree, lane, tree.unrest(block)[0], [*tree.copies(0, nodes, payload(9, 1)).items(),
                                             *tree.copies(1, others, payload(4, 2)).items()])
    assert lane.fault == ("OVERFLOW", 0, 0)


@pytest.mark.parametrize("mode", some(MODES, ASYNCHRONOUS))
def test_a_credit_for_no_flit_stops_its_virtual_channel(mode):
    """A worm with a copy to this channel takes the token and waits for ever. Unicasts to the other output go on."""
    tree = copier(*MIDDLE, mode, **BASE)
    lane = Lane()
    lane.false_credits[5, "p0"] = 1
    [node] = one_each(tree, [1], port=1)
    lane.send(START, "p0", [*tree.header(one_each(tree, [0, 1])), *payload(4)])
    lane.send(START + 100, "p1", [*tree.header([node]), *payload(4, 1)])
    block = tree.run([lane], 400)
    assert lane.fault == ("CREDIT", 0, 0)
    assert ("p0", 0) not in lane.seen
    assert ("token.in_use", 1) in tree.unrest(block)[0]
    stays = mode != SYNCHRONOUS  # then the copy to the other output has gone
    assert tree.streams(lane)["p1"][-1] == [*tree.header([node]), *payload(4, 1)]
    assert len(tree.streams(lane)["p1"]) == 1 + stays
