"""Stored answers of commands for figures: valid while wormcast is unchanged, and never for users' files."""

import re

import pytest

from wormcast.algorithms import WormcastError, source_digest
from wormcast.algorithms.source_digest import imported_files, package_file
from wormcast.sim.api import answers
from wormcast.sim.api.answers import Answers, data_files
from wormcast.sim.api.command_texts import module_of
from wormcast.sim.experiments.sweep import ResultStore

HOPS = "plan mesh:4x4 dual-path --source 0.0 --destinations 3.3,1.2"


@pytest.fixture
def asked(monkeypatch):
    """Commands that are really asked, in their order."""
    found, ask = [], answers._ask
    monkeypatch.setattr(answers, "_ask", lambda command, progress: (found.append(command), ask(command, progress))[1])
    return found


def test_a_command_is_asked_once_also_by_later_processes(tmp_path, asked):
    with ResultStore(tmp_path / "points.sqlite") as store:
        told = Answers(store)
        assert (told(HOPS, "copies"), told(HOPS, "worms/0/links/#"), told(HOPS, "exit")) == (1, 6, 0)
        assert told(HOPS, "worms/id=0/destinations/0") == 6
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)(HOPS, "hops") == 6
    assert asked == [HOPS]


def test_an_answer_of_another_wormcast_is_not_taken(tmp_path, asked, monkeypatch):
    with ResultStore(tmp_path / "points.sqlite") as store:
        Answers(store)(HOPS, "hops")
        monkeypatch.setattr(answers, "_origin", lambda name: "another")
        Answers(store)(HOPS, "hops")
    assert asked == [HOPS, HOPS]


def test_an_item_is_found_by_what_lies_deeper_in_it(monkeypatch, tmp_path):
    points = [{"given": {"consumption": number}, "result": {"lut4": 100 * number}} for number in (1, 2, 4)]
    monkeypatch.setattr(answers, "_ask", lambda *_: {"exit": 0, "result": {"points": points}})
    with ResultStore(tmp_path / "points.sqlite") as store:
        told = Answers(store)
        assert told("synth router", "points/given.consumption=2/result/lut4") == 200
        with pytest.raises(WormcastError, match="output: 'points/given"):
            told("synth router", "points/given.consumption=3/result")


def test_the_same_of_each_item_is_one_text(monkeypatch, tmp_path):
    worms = [{"source": 18, "destinations": [8, 9]}, {"source": 8, "destinations": [4]}]
    monkeypatch.setattr(answers, "_ask", lambda *_: {"exit": 0, "result": {"worms": worms, "copies": 2}})
    with ResultStore(tmp_path / "points.sqlite") as store:
        told = Answers(store)
        assert (told("plan", "worms/*/source"), told("plan", "worms/*/destinations")) == ("18 8", "8,9 4")
        assert (told("plan", "worms/*/destinations/#"), told("plan", "worms/*/destinations/0")) == ("2 1", "8 4")
        for lacking in "worms/*/destinations/1", "copies/*":
            with pytest.raises(WormcastError, match=re.escape(f"output: {lacking!r} is not valid")):
                told("plan", lacking)


def test_versions_of_packages_count(monkeypatch):
    origins = set()
    for number in "1", "2":
        answers._origin.cache_clear()
        monkeypatch.setattr(answers, "version", lambda name, number=number: number)
        origins.add(answers._origin(module_of("plan")))
    answers._origin.cache_clear()
    assert len(origins) == 2


@pytest.mark.slow  # a deadlock leaves as little behind
def test_a_hunt_that_is_asked_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)("hunt mesh:1x4 dual-path --consumption 1 --vcs 1", "exit") == 3
    assert [one.name for one in tmp_path.iterdir() if one.suffix != ".sqlite"] == []


def origin(name):
    answers._origin.cache_clear()
    return answers._origin(module_of(name))


def test_files_of_data_count(tmp_path, monkeypatch):
    before, files = origin("plan"), data_files()
    [name] = [name for name in files if name.endswith("002-table1.jsonl")]
    other = tmp_path / "other"
    other.write_bytes(files[name].read_bytes() + b"\n")
    monkeypatch.setattr(answers, "data_files", lambda: files | {name: other})
    assert origin("plan") != before
    monkeypatch.undo()
    assert origin("plan") == before


@pytest.mark.parametrize(("module", "asked_anew", "kept"), [
    ("algorithms.schemes.dual_path", ["plan", "check", "run", "synth"], []),
    ("hw.output_unit", ["run", "synth"], []),
    ("sim.host.program", ["run"], ["plan", "synth"]),
    ("sim.export.synthesis.flow", ["synth"], ["plan", "check", "run"]),
    ("sim.cli.doctor", [], ["plan", "check", "run", "synth"]),
])
def test_the_code_counts_that_a_command_imports(module, asked_anew, kept):
    file = package_file(f"wormcast.{module}")
    found = [name for name in (*asked_anew, *kept) if file in imported_files([package_file(module_of(name))])]
    assert found == asked_anew


def test_docstrings_do_not_count_in_answers_without_any(monkeypatch):
    read = source_digest._Table.source
    for name in "plan", "check", "run":
        before = origin(name)
        with monkeypatch.context() as patch:
            patch.setattr(source_digest._Table, "source", lambda table, path: read(table, path)._replace(content="x"))
            assert origin(name) == before


def test_what_comes_from_a_users_file_is_asked_anew(tmp_path, asked, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("from wormcast.algorithms import SCHEMES\nmine = SCHEMES['individual']\n")
    command = "plan mesh:4x4 own.py:mine --source 0 --destinations 1,2"
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)(command, "copies") == 2
        assert Answers(store)(command, "copies") == 2
    assert asked == [command, command]


def test_what_is_not_there(tmp_path):
    with ResultStore(tmp_path / "points.sqlite") as store, pytest.raises(WormcastError, match="output: 'hopes'"):
        Answers(store)(HOPS, "hopes")


def test_a_deadlock_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = "run mesh:1x4 dual-path --vcs 1 --consumption 1 --messages {here}/002-figure4.jsonl"
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)(command, "exit") == 3
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".sqlite"] == []


def test_a_sweep_that_is_asked_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "sweep.toml"
    file.write_text("topology = 'mesh:2x2'\nscheme = 'dual-path'\nrate = 0.02\ndestinations_mean = 2.0\ncycles = 200\n"
                    "seeds = 1\n")
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)("sweep sweep.toml", "exit") == 0
    assert not (tmp_path / "out").exists()
