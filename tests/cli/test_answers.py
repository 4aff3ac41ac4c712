"""What commands answer, for figures: asked once, kept while wormcast stays as it is, never of users' files."""

import re

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.cli import answers
from wormcast.sim.cli.answers import Answers, own_files
from wormcast.sim.experiments.sweep import ResultStore

HOPS = "plan mesh:4x4 dual-path --source 0.0 --destinations 3.3,1.2"


@pytest.fixture
def asked(monkeypatch):
    """Commands that are really asked, in their order."""
    found, ask = [], answers._ask
    monkeypatch.setattr(answers, "_ask", lambda command: (found.append(command), ask(command))[1])
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
        monkeypatch.setattr(answers, "_origin", lambda: "another")
        Answers(store)(HOPS, "hops")
    assert asked == [HOPS, HOPS]


def test_an_item_is_found_by_what_lies_deeper_in_it(monkeypatch, tmp_path):
    points = [{"given": {"consumption": number}, "result": {"lut4": 100 * number}} for number in (1, 2, 4)]
    monkeypatch.setattr(answers, "_ask", lambda command: {"exit": 0, "told": {"points": points}})
    with ResultStore(tmp_path / "points.sqlite") as store:
        told = Answers(store)
        assert told("synth router", "points/given.consumption=2/result/lut4") == 200
        with pytest.raises(WormcastError, match="has no points/given"):
            told("synth router", "points/given.consumption=3/result")


def test_the_same_of_each_item_is_one_text(monkeypatch, tmp_path):
    worms = [{"source": 18, "destinations": [8, 9]}, {"source": 8, "destinations": [4]}]
    monkeypatch.setattr(answers, "_ask", lambda command: {"exit": 0, "told": {"worms": worms, "copies": 2}})
    with ResultStore(tmp_path / "points.sqlite") as store:
        told = Answers(store)
        assert (told("plan", "worms/*/source"), told("plan", "worms/*/destinations")) == ("18 8", "8,9 4")
        assert (told("plan", "worms/*/destinations/#"), told("plan", "worms/*/destinations/0")) == ("2 1", "8 4")
        for lacking in "worms/*/destinations/1", "copies/*":
            with pytest.raises(WormcastError, match=re.escape(f"has no {lacking}")):
                told("plan", lacking)


def test_versions_of_packages_count(monkeypatch):
    origins = set()
    for number in "1", "2":
        answers._origin.cache_clear()
        monkeypatch.setattr(answers, "version", lambda name, number=number: number)
        origins.add(answers._origin())
    answers._origin.cache_clear()
    assert len(origins) == 2


@pytest.mark.slow  # a deadlock leaves as little behind
def test_a_hunt_that_is_asked_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)("hunt mesh:1x4 dual-path --consumption 1 --vcs 1", "exit") == 3
    assert [one.name for one in tmp_path.iterdir() if one.suffix != ".sqlite"] == []


@pytest.mark.parametrize("changed", ["schemes/dual_path.py", "002-table1.jsonl", "requirements.py"])
def test_all_files_of_wormcast_count(tmp_path, changed, monkeypatch):
    def origin():
        answers._origin.cache_clear()
        return answers._origin()

    before, files = origin(), own_files()
    [name] = [name for name in files if name.endswith(changed)]
    other = tmp_path / "other"
    other.write_bytes(files[name].read_bytes() + b"\n")
    monkeypatch.setattr(answers, "own_files", lambda: files | {name: other})
    assert origin() != before
    monkeypatch.undo()
    assert origin() == before


def test_what_comes_from_a_users_file_is_asked_anew(tmp_path, asked, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("from wormcast.algorithms import SCHEMES\nmine = SCHEMES['individual']\n")
    command = "plan mesh:4x4 own.py:mine --source 0 --destinations 1,2"
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)(command, "copies") == 2
        assert Answers(store)(command, "copies") == 2
    assert asked == [command, command]


def test_what_is_not_there(tmp_path):
    with ResultStore(tmp_path / "points.sqlite") as store, pytest.raises(WormcastError, match="has no hopes"):
        Answers(store)(HOPS, "hopes")


def test_a_deadlock_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = "run mesh:1x4 dual-path --vcs 1 --consumption 1 --messages {here}/002-figure4.jsonl"
    with ResultStore(tmp_path / "points.sqlite") as store:
        assert Answers(store)(command, "exit") == 3
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".sqlite"] == []
