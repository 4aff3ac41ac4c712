"""The fuzzer: what it makes, what it calls a fault, and a short run of each part."""

import json
import tomllib
from random import Random

import pytest

from tools.fuzz import PARTS, Session
from tools.fuzz.combinations import contradictions
from tools.fuzz.files import FIGURE, SWEEP
from tools.fuzz.guarded import Ended, Place
from tools.fuzz.mutations import mutated, mutated_bytes, mutated_text, toml
from tools.fuzz.trial import Trial, attempt, faults_of

#: Of the short runs: printed where one fails, as part of the names of trials.
SEED = 2


@pytest.mark.parametrize("text", [SWEEP, FIGURE])
def test_a_file_is_written_as_it_was_read(text):
    entries = tomllib.loads(text)
    assert tomllib.loads(toml(entries)) == entries


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (mutated, {"a": [1, 2.5, "x"], "b": {"c": True}}),
        (mutated_text, "told('plan', 'hops') == 19"),
        (mutated_bytes, b"\x00one\ntwo\n"),
    ],
)
def test_mutations_differ_and_come_again_from_the_same_seed(change, value):
    first, again = ([repr(change(value, Random(seed))) for seed in range(200)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 50
    assert sum(one == repr(value) for one in first) < 20


ANSWER = Ended(0, "{}", "", 1.0, 0)


@pytest.mark.parametrize(
    ("ended", "kinds"),
    [
        (ANSWER, []),
        (Ended(2, "", "wormcast: rate: -1 is given, allowed are numbers from 0\n", 1.0, 0), []),
        (Ended(2, "", "wormcast: <class 'int'> is given\n", 1.0, 0), ["refusal in Python's words: <class '"]),
        (Ended(2, "", "", 1.0, 0), ["refusal without a sentence"]),
        (Ended(2, "", "one\nwormcast: two\n", 1.0, 0), ["refusal of several lines"]),
        (
            Ended(1, "", "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'\n", 1.0, 0),
            ["traceback a.py:3"],
        ),
        (Ended(1, "", "wrong\n", 1.0, 0), ["exit 1"]),
        (Ended(-11, "", "", 1.0, 0), ["exit -11"]),
        (Ended(0, '{"x": NaN}', "", 1.0, 0), ["json"]),
        (Ended(0, "text", "", 1.0, 0), ["json"]),
        (Ended(130, "", "", 61.0, 0, "time"), ["time"]),
        (Ended(-9, "", "", 1.0, 5 << 30, "memory"), ["memory"]),
        (Ended(0, "{}", "", 1.0, 0, "", ("/etc/escaped",)), ["written outside"]),
    ],
)
def test_what_counts_as_a_fault(ended, kinds):
    with Place() as place:
        assert [one.kind for one in faults_of(Trial(("load", "--json")), ended, place)] == kinds


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
    with Place() as place:
        for path, content in ({**trial.files, name: b"left"}).items():
            (place.work / path).parent.mkdir(exist_ok=True)
            (place.work / path).write_bytes(content)
        assert [one.kind for one in faults_of(trial, ANSWER, place)] == kinds


def test_a_command_is_run_with_its_files():
    trial = Trial(("topology", "net.toml", "--json"), {"net.toml": b"switches = 2\nnodes = [0, 1]\nlinks = [[0, 1]]\n"})
    with Place() as place:
        ended = attempt(trial, place)
        assert (ended.code, ended.err, faults_of(trial, ended, place)) == (0, "", [])
    assert len(json.loads(ended.out)["nodes"]) == 2


def answers(**others):
    told = {
        "check": {"free": True, "complete": True},
        "run": {"cycles": 9, "engine": "bulk"},
        "amaranth": {"cycles": 9, "engine": "amaranth"},
    }
    ended = {
        name: Ended(0, json.dumps(told.get(name, {})), "", 1.0, 0)
        for name in ("plan", "check", "run", "amaranth", "trace", "load", "hunt")
    }
    return {**ended, **others}


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ({}, []),
        ({"amaranth": Ended(0, '{"cycles": 10}', "", 1.0, 0)}, [("amaranth", "engines differ")]),
        ({"hunt": Ended(3, "{}", "", 1.0, 0)}, [("hunt", "deadlock of what is free")]),
        ({"hunt": Ended(3, "{}", "", 1.0, 0), "check": Ended(3, '{"free": false, "complete": true}', "", 1.0, 0)}, []),
        ({"amaranth": Ended(2, "", "wormcast: no\n", 1.0, 0)}, [("run", "amaranth refuses, run does not")]),
        (
            {name: Ended(2, "", f"wormcast: {name}\n", 1.0, 0) for name in ("run", "amaranth", "trace")},
            [("amaranth", "run and amaranth refuse differently"), ("trace", "run and trace refuse differently")],
        ),
    ],
)
def test_contradictions_are_found(others, found):
    assert [(name, one.kind) for name, one in contradictions(answers(**others))] == found


@pytest.mark.slow
@pytest.mark.parametrize(("part", "count", "seconds"), [("files", 100, 60), ("combinations", 6, 40), ("kills", 6, 30)])
def test_a_short_run_finds_no_fault(part, count, seconds, tmp_path):
    said: list[str] = []
    session = Session(part, SEED, tmp_path, said.append)
    session.run(PARTS[part], count, seconds)
    assert session.tried
    assert not said, "\n".join(said)
