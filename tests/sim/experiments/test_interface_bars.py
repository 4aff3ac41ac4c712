"""Bars of hosts and interfaces, and the picture of them: what is measured in the run, and nothing else."""

import html
import re

import pytest

from wormcast.algorithms import SCHEMES, WormcastError, find_scheme, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.experiments import interface_bars as bars_module
from wormcast.sim.experiments.gantt import OPEN
from wormcast.sim.experiments.interface_bars import interface_bars, interfaces_work
from wormcast.sim.experiments.interface_gantt import interfaces_figure

HS, HR = "t_hs, host start-up", "t_hr, host reception"
POSTED, IN, NR = "flits from the host", "packet comes in", "t_nr, interface reception"
NS, WAITS, OUT = "t_ns, interface start-up", "waits for a virtual channel", "packet is sent"

ROW = topology("mesh:1x4")


def a_run(scheme, *messages, timeout=10_000, engine="bulk", **options):
    return run(ROW, find_scheme(scheme, ROW), messages, Configuration(**options), timeout=timeout, engine=engine)


def smart(kind="fpfs"):
    """The run of docs/waveforms.md, whose cycles stand there."""
    return a_run("k-binomial", Message(0, 0, (1, 2, 3), 32), ni=kind, packet=16, t_hs=100, t_hr=100, ratio="4")


def of(bars, node):
    return [bar[:1] + bar[2:6] for bar in bars if bar.node == node]


def texts(file):
    return [html.unescape(text) for text in re.findall("<!-- (.*?) -->", file.read_text())]


def drawn(result, file):
    with file.open("wb"):
        save_figure(interfaces_figure(result), file, "svg")
    return texts(file)


def test_bars_of_a_smart_interface():
    bars = interface_bars(smart())
    assert of(bars, 1) == [
        (IN, 155, 171, "1", ""), (IN, 199, 215, "2", ""),
        (OUT, 224, 243, "1", "0.2"), (OUT, 268, 287, "2", "0.2"),
        (HR, 241, 341, "", ""),
        (NR, 171, 196, "", ""), (NR, 215, 240, "", ""),
        (NS, 198, 223, "1", "0.2"), (NS, 242, 267, "2", "0.2"),
    ]
    assert [bar for bar in of(bars, 0) if bar[0] in (HS, POSTED)] == [(POSTED, 102, 135, "", ""), (HS, 2, 102, "", "")]
    assert {bar.kind for bar in bars if bar.node == 3} == {IN, NR, HR}
    assert {bar.tracks for bar in bars} == {1}


def test_bars_of_a_conventional_interface():
    """The host notes the message's receipt before it sends it on: what the smart one spares."""
    result = a_run("binomial:order=id", Message(0, 0, (1, 2, 3), 32), packet=16, t_hs=100, t_hr=100, ratio="4")
    bars = interface_bars(result)
    ends = [bar for bar in bars if bar.kind == HR]
    for node in {bar.node for bar in bars if bar.kind == OUT} - {0}:
        [noted] = [bar.end for bar in ends if bar.node == node]
        posted = [bar for bar in bars if (bar.kind, bar.node) == (HS, node)]
        assert min(bar.begin for bar in posted) == noted
        assert min(bar.begin for bar in bars if (bar.kind, bar.node) == (NS, node)) == noted + 102
    assert not [bar for bar in bars if bar.kind == POSTED]
    assert result.cycles > smart().cycles


@pytest.mark.slow
def test_both_engines_have_the_same_bars():
    runs = [a_run("k-binomial", Message(0, 0, (1, 2), 8), ni="fpfs", packet=4, t_hs=10, ratio="2", engine=engine)
            for engine in ("bulk", "amaranth")]
    assert interface_bars(runs[0]) == interface_bars(runs[1])


def test_what_passes_side_by_side_lies_on_tracks_of_its_own():
    messages = Message(0, 0, (1,), 60), Message(0, 2, (1,), 60)
    bars = interface_bars(a_run("individual", *messages, consumption=2, t_nr=5))
    coming = [bar for bar in bars if bar.kind == IN]
    assert sorted((bar.number, bar.tracks) for bar in coming) == [("0:1", 2), ("1:1", 2)]
    assert [bar.track for bar in coming] == [0, 1]
    assert coming[1].begin < coming[0].end
    assert {(bar.track, bar.tracks) for bar in bars if bar.kind == NR} <= {(0, 1), (0, 2), (1, 2)}


def test_what_waits_for_a_channel_and_what_does_not_end(tmp_path):
    messages = Message(0, 0, (1, 2), 64), Message(0, 3, (2, 1), 64)
    result = a_run("dual-path", *messages, vcs=1, consumption=1, t_ns=5, packet=4)
    bars = interface_bars(result)
    assert result.outcome == "deadlock"
    assert [(bar.kind, bar.node) for bar in bars if bar.end == OPEN] == [(IN, 1), (IN, 2), (OUT, 0), (OUT, 3)]
    assert "does not end" in drawn(result, tmp_path / "a.svg")


def test_what_waits_for_a_channel_begins_after_t_ns_and_is_sent_then():
    messages = Message(0, 1, (3,), 60), Message(0, 0, (3,), 60)
    bars = interface_bars(a_run("individual", *messages, vcs=1, t_ns=1, packet=1))
    waits = [bar for bar in bars if bar.kind == WAITS]
    assert waits
    for bar in waits:
        starts, sends = ([one for one in bars if (one.kind, one.node) == (kind, bar.node)] for kind in (NS, OUT))
        assert (bar.begin - 1, bar.begin) in [(one.begin, one.end) for one in starts]
        assert bar.end in [one.begin for one in sends]
        assert bar.end > bar.begin + 1


@pytest.mark.parametrize(("options", "shown"), [
    ({}, False), ({"t_hs": 9, "t_hr": 9}, False), ({"packet": 4}, True), ({"t_ns": 1}, True), ({"t_nr": 1}, True),
    ({"ni": "fcfs", "packet": 4}, True),
])
def test_interfaces_are_drawn_where_they_have_work(options, shown):
    scheme = "k-binomial" if "ni" in options else "individual"
    assert interfaces_work(a_run(scheme, Message(0, 0, (1,), 4), **options)) == shown


def test_the_picture_says_which_packet_goes_to_whom(tmp_path):
    said = drawn(smart(), tmp_path / "a.svg")
    for text in ("1", "2", "0.1", "2 is packet 2, in front of it: the node to which it is sent",
                 *(HS, HR, POSTED, IN, NR, NS, OUT), "0.0", "0.3",
                 "k-binomial on mesh:1x4: 1 message of 32 flits, delivered in cycle 493",
                 ("2 VCs x 4 flits, 2 consumption channels, ni fpfs, packet 16, rows 8, places 4, buffer-kind shallow, "
                  "t-hs 100, t-hr 100, t-ns 25, t-nr 25")):
        assert text in " ".join(said) if " " in text else text in said, text
    assert WAITS not in said
    first = (tmp_path / "a.svg").read_bytes()
    drawn(smart(), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == first


def test_where_packets_are_narrow_the_receiver_stands_in_front_or_nowhere(tmp_path):
    def packets(number, t_ns):
        return a_run("individual", Message(0, 0, (3,), 16 * number), packet=16, t_ns=t_ns, t_nr=1)

    said = drawn(packets(12, 20), tmp_path / "a.svg")
    assert any("in front of it: the node to which it is sent" in text for text in said)
    assert "12" in said
    assert "1→0.3" not in said
    assert said.count("0.3") > 12
    said = drawn(packets(60, 1), tmp_path / "a.svg")
    assert said.count("0.3") == 1  # the row's name
    assert not [text for text in said if "→" in text]


def test_runs_of_too_many_cycles_and_of_nothing_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bars_module, "MOST_DRAWN_CYCLES", 400)
    sentence = ("plot: a run of 494 cycles is not valid: it is too long to show packets at interfaces. Allowed: at "
                "most 400 cycles.")
    with pytest.raises(WormcastError, match=sentence):
        drawn(smart(), tmp_path / "a.svg")
    assert not interfaces_work(a_run("individual", Message(0, 0, (1,), 400), t_ns=1)), "hosts can be drawn"
    nothing = run(ROW, SCHEMES["individual"], [Message(0, 0, (1,), 4)], Configuration(t_hs=9, t_ns=1), timeout=2)
    with pytest.raises(WormcastError, match="plot: no worm is posted within the 2 cycles of this run"):
        drawn(nothing, tmp_path / "a.svg")
