"""A history's names, and parts of it."""

import dataclasses

import pytest
from written_waves import FIGURE_4, comment, links_of, vcd, worm

from wormcast.algorithms import WormcastError, topology
from wormcast.sim.waves.view import (
    History,
    RecordedBuffer,
    RecordedHold,
    RecordedLink,
    Wait,
    choose_links,
    colours_of,
    of_worms,
    read_waveform,
    rows_of,
    summarise,
)
from wormcast.sim.waves.view.descriptions import milestones


@pytest.fixture
def figure_4(tmp_path):
    path = tmp_path / "w.vcd"
    path.write_text(vcd(*FIGURE_4))
    return read_waveform(path)


@pytest.fixture
def crossing(tmp_path):
    """Two worms, one after the other and on two virtual channels of a link."""
    said = comment(links_of(3, vcs=2, consumption=2), [worm(4, 0, [2]), worm(7, 0, [1])], 40, first=5)
    path = tmp_path / "w.vcd"
    path.write_text(vcd(said, [
        ("inj:0:0", 1, 4, 10, "FF.T"), ("link:0>1", 0, 4, 12, "FF.T"), ("link:1>2", 1, 4, 14, "FF..T"),
        ("cons:2#0", 0, 4, 16, "..FF.T"), ("inj:0:0", 0, 7, 14, "FT"), ("link:0>1", 1, 7, 17, "FT"),
        ("cons:1#0", 1, 7, 20, ".FT")]))
    return read_waveform(path)


def history(links, shape="2x3", **hardware):
    return History(topology(f"mesh:{shape}"), "dual-path", 0, 9, tuple(links), {}, (), (), None, hardware)


def test_channels_are_named_in_the_words_of_the_commands():
    shown = history([RecordedLink("link:0>1", "network", 0, 1, 2), RecordedLink("inj:3:0", "injection", 3, 3, 2),
                     RecordedLink("cons:4#0", "consumption", 4, 4, 2)])
    assert [shown.channel_name(link, 1) for link in range(3)] == ["link:0.0>0.1:1", "inj:1.0:0:1", "cons:1.1:1"]
    assert [shown.channel(one) for one in ("link:0>1:1", "inj:3:0:0", "cons:4:1", "link:1>2:0", "token:3")] == [
        (0, 1), (1, 0), (2, 1), None, None]
    assert [shown.resource_name(one) for one in ("link:0>1:1", "link:1>2:0", "cons:5:1", "inj:3:0:0", "token:3")
            ] == ["link:0.0>0.1:1", "link:0.1>0.2:0", "cons:1.2:1", "inj:1.0:0:0", "token:3"]


def test_consumption_channels_are_counted_over_the_links_of_a_node():
    """Nodes with separate and with shared consumption links. Injection ports are numbered if a node has several."""
    shown = history([RecordedLink(f"cons:4#{place}", "consumption", 4, 4, 2) for place in range(2)]
                    + [RecordedLink(f"inj:4:{place}", "injection", 4, 4, 1) for place in range(2)])
    assert [shown.channel(f"cons:4:{number}") for number in range(4)] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [shown.channel_name(*shown.channel(f"cons:4:{number}")) for number in range(4)] == [
        "cons:1.1:0", "cons:1.1:1", "cons:1.1:2", "cons:1.1:3"]
    assert shown.channel_name(3, 0) == "inj:1.1:1:0"
    assert shown.channel("inj:4:1:0") == (3, 0)


def test_a_window_cuts_holds_and_waits(crossing):
    cut = crossing.between(13, 17)
    assert (cut.first, cut.end, cut.worms) == (13, 17, crossing.worms)
    assert cut.holds == (RecordedHold(4, 1, 4, 13, 13, (13,), True), RecordedHold(0, 0, 4, 13, 15, (13, 15), True),
                         RecordedHold(2, 1, 4, 14, 16, (14, 15), False), RecordedHold(4, 0, 7, 14, 15, (14, 15), True),
                         RecordedHold(9, 0, 4, 16, 16, (), False))
    waiting = dataclasses.replace(crossing, waits=(Wait(4, 0, 0, 6, 14, ("link:1>2:0",)),))
    assert waiting.between(10, 12).waits == (Wait(4, 0, 0, 10, 11, ("link:1>2:0",)),)
    assert waiting.between(15, 17).waits == ()


@pytest.mark.parametrize(("window", "reason"), [
    ((3, 9), "the waveform has cycles 5 to 39"), ((5, 41), "the waveform has cycles 5 to 39"),
    ((9, 9), "9 is not below 9"), ((9, 8), "9 is not below 8"), ((99, 3), "99 is not below 3")])
def test_a_window_outside_is_refused(crossing, window, reason):
    with pytest.raises(WormcastError, match=f"window: {window[0]}:{window[1]} is not valid: {reason}"
                                            r"\. Allowed: A:B with 5 <= A < B <= 40\."):
        crossing.between(*window)


def test_a_deadlock_stays_where_its_worms_rest(figure_4):
    assert figure_4.at_rest([0, 1]) == 16
    assert figure_4.between(0, 16).deadlock is None
    assert figure_4.between(0, 17).deadlock == figure_4.deadlock
    assert of_worms(figure_4, [0]).deadlock is None
    assert of_worms(figure_4, [0, 1]).deadlock == figure_4.deadlock


def test_the_knot_closes_with_the_last_wait_that_never_ends(figure_4):
    """The second header waits from cycle 15 on, for a channel that the first worm holds since cycle 10."""
    assert figure_4.knot_closed() == 15
    assert figure_4.between(16, 30).knot_closed() == 16
    assert [(words, cycle) for words, cycle, _ in milestones(figure_4)] == [
        ("the knot closed in cycle", 15), ("no flit is on a link after cycle", 15), ("proved in cycle", 29)]
    later = [dataclasses.replace(hold, first=20) if figure_4.links[hold.link].name == "cons:1#0" else hold
             for hold in figure_4.holds]
    assert dataclasses.replace(figure_4, holds=tuple(later)).knot_closed() == 20


def test_no_cycle_is_given_for_a_knot_whose_waits_are_not_recorded(figure_4, crossing):
    assert crossing.knot_closed() is None
    assert milestones(crossing) == []
    unknown = dataclasses.replace(figure_4, waits=figure_4.waits[:1])
    assert unknown.knot_closed() is None
    assert [cycle for _, cycle, _ in milestones(unknown)] == [15, 29]


def test_holders_of_all_alternatives_belong_to_the_knot(figure_4):
    """Worm 1 may also take a channel of a third worm, which waits from cycle 25 on."""
    first, second = figure_4.waits
    links = {link.name: place for place, link in enumerate(figure_4.links)}
    third = RecordedHold(links["cons:3#0"], 0, 2, 17, 29, (17,), False)
    waits = (first, dataclasses.replace(second, resources=("cons:1:0", "cons:3:0")),
             Wait(2, links["link:2>3"], 0, 25, 29, ("cons:2:0",)))
    found = dataclasses.replace(figure_4, holds=(*figure_4.holds, third), waits=waits)
    assert found.knot_closed() == 25
    assert dataclasses.replace(found, waits=waits[:2]).knot_closed() is None


def test_a_window_of_a_buffer_begins_with_its_level():
    buffer = RecordedBuffer(0, 0, ((0, 0), (4, 1), (6, 2), (9, 1)), ())
    assert buffer.between(5, 9) == RecordedBuffer(0, 0, ((5, 1), (6, 2)), ())
    assert buffer.between(6, 10) == RecordedBuffer(0, 0, ((6, 2), (9, 1)), ())


def test_cycles_without_flits_are_trimmed(figure_4, crossing):
    assert (figure_4.trimmed().first, figure_4.trimmed().end) == (1, 26)
    assert (crossing.trimmed().first, crossing.trimmed().end) == (9, 33)


def test_rows_are_a_staircase_with_consumption_channels_behind(crossing):
    assert [row.label for row in rows_of(crossing)] == [
        "inj:0.0:0:0", "inj:0.0:0:1", "link:0.0>0.1:0", "link:0.0>0.1:1", "link:0.1>0.2:1", "cons:0.2:0", "cons:0.1:1"]
    assert [row.label for row in rows_of(of_worms(crossing, [7]))] == [
        "inj:0.0:0:0", "link:0.0>0.1:1", "cons:0.1:1"]


def test_rows_are_a_staircase_in_a_window_that_begins_amid_a_worm(tmp_path):
    """Its links were all taken before: the tail comes to them in the same order."""
    said = comment(links_of(4), [worm(0, 3, [0])], 30, first=10)
    (tmp_path / "w.vcd").write_text(vcd(said, [
        (f"link:{node}>{node - 1}", 0, 0, 5, "F" * (10 - node) + "T") for node in (1, 2, 3)]))
    labels = [row.label for row in rows_of(read_waveform(tmp_path / "w.vcd"))]
    assert labels == ["link:0.3>0.2:0", "link:0.2>0.1:0", "link:0.1>0.0:0"]


def test_a_worm_has_the_same_colour_in_a_deadlock_and_in_its_cure(figure_4):
    """Also if only one of two worms is in the deadlock, or only one is seen."""
    deadlock = {"at": 40, "cycle": [{"worm": 1, "holds": [], "waits": ["cons:1:0"]}] * 2}
    free = colours_of(dataclasses.replace(figure_4, deadlock=None))
    assert colours_of(dataclasses.replace(figure_4, deadlock=deadlock)) == free
    late = dataclasses.replace(figure_4, deadlock=None, waits=(),
                               holds=tuple(hold for hold in figure_4.holds if hold.worm))
    assert colours_of(late) == {1: free[1]}


def test_neighbours_on_a_virtual_channel_differ_in_colour(tmp_path):
    """Of twelve worms with eight colours, where the ninth follows the first and the second."""
    said = comment(links_of(3), [worm(number, 0, [2]) for number in range(12)], 60)
    (tmp_path / "w.vcd").write_text(vcd(said, [
        *(("inj:0:0", 0, number, 4 * number, "FT") for number in range(12)),
        ("link:0>1", 0, 0, 1, "FT"), ("link:0>1", 0, 8, 40, "FT"), ("link:1>2", 0, 1, 9, "FT"),
        ("link:1>2", 0, 8, 42, "FT")]))
    colours = colours_of(read_waveform(tmp_path / "w.vcd"))
    assert len({colours[number] for number in range(8)}) == 8
    assert colours[8] not in {colours[0], colours[1], colours[7]}
    assert all(colours[number] != colours[number + 1] for number in range(11))


@pytest.mark.parametrize(("text", "names"), [
    ("0.0>0.1", ["link:0>1"]),
    ("1 > 2, cons:0.2", ["link:1>2", "cons:2#0"]),
    ("link:0.1>0.2", ["link:1>2"]),
    ("link:0.1>0.2:0", ["link:1>2"]),
    ("link:0.1>0.2:1, cons:0.2:0", ["link:1>2", "cons:2#0"]),
    ("inj:0.0:0:1", ["inj:0:0"]),
    ("inj:@0", ["inj:0:0"]),
    ("0", ["link:0>1", "link:1>0", "inj:0:0", "cons:0#0"]),
])
def test_links_are_chosen_by_name(crossing, text, names):
    assert [crossing.links[link].name for link in choose_links(crossing, text)] == names
    assert len(rows_of(crossing, choose_links(crossing, "all"))) == len(crossing.links) + 2
    assert choose_links(crossing, "used") is None


@pytest.mark.parametrize(("text", "sentence"), [
    ("0.0>0.2", "links: '0.0>0.2' is not valid: the waveform has no such link. Allowed: used, all, or U>V, U>V#k"),
    ("0.0>0.9", "links: '0.9' is not in mesh:1x4"),
    ("", "links: '' is not valid: the waveform has no such link"),
])
def test_other_links_are_refused(crossing, text, sentence):
    with pytest.raises(WormcastError) as refused:
        choose_links(crossing, text)
    assert str(refused.value).startswith(sentence)


def test_other_worms_are_refused(crossing):
    with pytest.raises(WormcastError, match=r"worms: 5 is not valid: the waveform has 2 worms\. Allowed: 4, 7\."):
        of_worms(crossing, [4, 5])


def test_worms_are_summarised(crossing, figure_4):
    assert summarise(crossing)[0] == {
        "worm": 4, "message": 4, "source": 0, "destinations": [2], "length": 8, "injected": 10, "arrived": 18,
        "delivered": 21, "nodes": 1, "recorded": 1, "blocked": None, "waits": 0}
    first, second = summarise(figure_4)
    assert (first["delivered"], first["nodes"], first["blocked"], first["waits"]) == (None, 0, 16, 17)
    assert (second["arrived"], second["injected"], second["blocked"], second["waits"]) == (12, 4, 14, 15)
