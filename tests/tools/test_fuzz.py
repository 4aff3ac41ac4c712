"""The fuzzer: what it makes, what it calls a fault, and a short run of each part."""

import json
import tomllib
from random import Random
from signal import SIGKILL

import pytest

from tools.fuzz import PARTS, Session
from tools.fuzz.combinations import find_contradictions
from tools.fuzz.files import FIGURE, SWEEP
from tools.fuzz.mutations import format_toml, mutate, mutate_bytes, mutate_text
from tools.fuzz.sandbox import CommandOutcome, Sandbox, start
from tools.fuzz.trial import Trial, find_faults, run_trial

#: Seed of the short runs, printed in failures as part of the trials' names.
SEED = 2


@pytest.mark.parametrize("text", [SWEEP, FIGURE])
def test_a_file_is_written_as_it_was_read(text):
    entries = tomllib.loads(text)
    assert tomllib.loads(format_toml(entries)) == entries


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (mutate, {"a": [1, 2.5, "x"], "b": {"c": True}}),
        (mutate_text, "output('plan', 'hops') == 19"),
        (mutate_bytes, b"\x00one\ntwo\n"),
    ],
)
def test_mutations_differ_and_come_again_from_the_same_seed(change, value):
    first, again = ([repr(change(value, Random(seed))) for seed in range(200)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 50
    assert sum(one == repr(value) for one in first) < 20


ANSWER = CommandOutcome(0, "{}", "", 1.0, 0)


@pytest.mark.parametrize(
    ("outcome", "kinds"),
    [
        (ANSWER, []),
        (CommandOutcome(2, "", "wormcast: rate: -1 is given, allowed are numbers from 0\n", 1.0, 0), []),
        (CommandOutcome(2, "", "wormcast: <class 'int'> is given\n", 1.0, 0), ["refusal in Python's words: <class '"]),
        (CommandOutcome(2, "", "", 1.0, 0), ["refusal without a sentence"]),
        (CommandOutcome(2, "", "one\nwormcast: two\n", 1.0, 0), ["refusal of several lines"]),
        (
            CommandOutcome(
                1, "", "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'\n", 1.0, 0
            ),
            ["traceback a.py:3"],
        ),
        (CommandOutcome(1, "", "wrong\n", 1.0, 0), ["exit 1"]),
        (CommandOutcome(-11, "", "", 1.0, 0), ["exit -11"]),
        (CommandOutcome(0, '{"x": NaN}', "", 1.0, 0), ["json"]),
        (CommandOutcome(0, "text", "", 1.0, 0), ["json"]),
        (CommandOutcome(130, "", "", 61.0, 0, "time"), ["time"]),
        (CommandOutcome(-9, "", "", 1.0, 5 << 30, "memory"), ["memory"]),
        (CommandOutcome(0, "{}", "", 1.0, 0, "", ("/etc/escaped",)), ["written outside"]),
    ],
)
def test_what_counts_as_a_fault(outcome, kinds):
    with Sandbox() as sandbox:
        assert [fault.kind for fault in find_faults(Trial(("load", "--json")), outcome, sandbox)] == kinds


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("o/table.csv", []),
        ("o.vcd", []),
        ("../escaped", ["written elsewhere"]),
        ("o/.x.unfinished", ["half-written"]),
        ("given.toml", ["input changed"]),
    ],
)
def test_files_that_are_left_are_looked_at(name, kinds):
    trial = Trial(("sweep", "given.toml", "--out", "o", "--json"), {"given.toml": b"x = 1"})
    with Sandbox() as sandbox:
        for path, content in ({**trial.files, name: b"left"}).items():
            (sandbox.work / path).parent.mkdir(exist_ok=True)
            (sandbox.work / path).write_bytes(content)
        assert [fault.kind for fault in find_faults(trial, ANSWER, sandbox)] == kinds


def test_a_command_is_run_with_its_files():
    trial = Trial(("topology", "net.toml", "--json"), {"net.toml": b"switches = 2\nnodes = [0, 1]\nlinks = [[0, 1]]\n"})
    with Sandbox() as sandbox:
        outcome = run_trial(trial, sandbox)
        assert (outcome.code, outcome.err, find_faults(trial, outcome, sandbox)) == (0, "", [])
    assert len(json.loads(outcome.out)["nodes"]) == 2


def outcomes(**others):
    results = {
        "check": {"free": True, "complete": True},
        "run": {"cycles": 9, "engine": "bulk"},
        "amaranth": {"cycles": 9, "engine": "amaranth"},
    }
    found = {
        name: CommandOutcome(0, json.dumps(results.get(name, {})), "", 1.0, 0)
        for name in ("plan", "check", "run", "amaranth", "trace", "load", "hunt")
    }
    return {**found, **others}


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ({}, []),
        ({"amaranth": CommandOutcome(0, '{"cycles": 10}', "", 1.0, 0)}, [("amaranth", "engines differ")]),
        ({"hunt": CommandOutcome(3, "{}", "", 1.0, 0)}, [("hunt", "deadlock contradicts check")]),
        (
            {
                "hunt": CommandOutcome(3, "{}", "", 1.0, 0),
                "check": CommandOutcome(3, '{"free": false, "complete": true}', "", 1.0, 0),
            },
            [],
        ),
        ({"amaranth": CommandOutcome(2, "", "wormcast: no\n", 1.0, 0)}, [("run", "amaranth refuses, run does not")]),
        (
            {name: CommandOutcome(2, "", f"wormcast: {name}\n", 1.0, 0) for name in ("run", "amaranth", "trace")},
            [("amaranth", "run and amaranth refuse differently"), ("trace", "run and trace refuse differently")],
        ),
    ],
)
def test_contradictions_are_found(others, found):
    assert [(name, fault.kind) for name, fault in find_contradictions(outcomes(**others))] == found


def test_progress_is_printed_every_100_trials(monkeypatch, tmp_path):
    monkeypatch.setattr("tools.fuzz.session.preload", lambda: None)
    lines: list[str] = []
    numbers: list[int] = []
    session = Session("files", SEED, tmp_path, show_progress=lines.append)
    session.run(lambda _: lambda number, rng: numbers.append(number), 250, 60, first=7)
    assert numbers == list(range(7, 257))
    assert lines == ["files: 100 trials, 0 faults", "files: 200 trials, 0 faults"]


def test_a_stopped_command_has_ended():
    with Sandbox() as sandbox, start(("load", "mesh:8x8", "individual", "--rate", "0.01"), sandbox) as running:
        running.stop()
        running.stop()
        assert running.outcome().code == -SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize(("part", "count", "seconds"), [("files", 100, 60), ("combinations", 6, 40), ("kills", 6, 30)])
def test_a_short_run_finds_no_fault(part, count, seconds, tmp_path):
    lines: list[str] = []
    session = Session(part, SEED, tmp_path, lines.append)
    session.run(PARTS[part], count, seconds)
    assert session.trials
    assert not lines, "\n".join(lines)
