"""The command ``hunt``: what it finds can be run again, and looked at."""

import json
import shlex
import subprocess
import sys

import pytest
from command import wormcast

HUNT = ["hunt", "mesh:4x4", "column-path", "--consumption", 1, "--buffer", 2, "--vcs", 1]
FILES = {"column-path_mesh_4x4" + ending for ending in (
    ".jsonl", ".vcd", ".vcd.gtkw", ".vcd.sucl", ".vcd.waits.txt", ".svg", ".html")}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A folder, what a hunt there has printed, and the same as JSON."""
    folder = tmp_path_factory.mktemp("hunt")
    code, out, err = wormcast(*HUNT, "--out", "some where", cwd=folder)
    assert (code, err) == (3, "")
    before = {path.name: path.read_bytes() for path in (folder / "some where").iterdir()}
    code, told, err = wormcast(*HUNT, "--out", "some where", "--json", cwd=folder)
    assert (code, err) == (3, "")
    assert {path.name: path.read_bytes() for path in (folder / "some where").iterdir()} == before
    assert set(before) == FILES
    return folder, out, json.loads(told)


def test_a_deadlock_is_run_again_by_the_command_that_is_told(found):
    folder, out, told = found
    command = out.splitlines()[-1].removeprefix("again: ")
    assert command == told["command"]
    program, *words = shlex.split(command)
    assert program == "wormcast"
    code, again, err = wormcast(*words, "--json", cwd=folder)
    assert (code, err) == (3, "")
    run = json.loads(again)
    assert run["deadlock"] == told["deadlock"]
    assert run["configuration"]["messages"] == told["messages"]
    assert len(told["messages"]) == 2 < told["first"]
    assert told["tried"] > 100


def test_it_says_what_it_has_searched_and_written(found):
    folder, out, told = found
    searched = told["searched"]
    assert f"searched: {searched['cycles']} cycles of {searched['networks']} networks, {searched['messages']} me" in out
    assert f"shrunk: {told['first']} messages to 2, by {told['tried']} runs; minimal: no deadlock if" in out
    assert set(told["files"]) == {"messages", "waveform", "picture", "replay"}
    for what, path in told["files"].items():
        assert f"{what}: {path}\n" in out
        assert (folder / path).stat().st_size > 100
    assert (folder / told["files"]["picture"]).read_text().startswith("<?xml")
    assert "waits for cons:" in out


def test_a_full_disk_loses_no_deadlock(found, tmp_path, monkeypatch):
    """The messages are written first, and the result is printed before the refusal."""
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(["bash", "-c", 'ulimit -f 30; exec "$@"', "-", sys.executable, "-m", "wormcast",
                           *map(str, HUNT)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == ("wormcast: out/column-path_mesh_4x4.svg cannot be written: the system's limit on file sizes "
                           "(ulimit -f) is reached\n")
    assert "deadlock, proved in cycle" in done.stdout
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["column-path_mesh_4x4.jsonl"]


def test_where_none_is_found_it_says_how_much_was_searched(tmp_path):
    code, out, err = wormcast("hunt", "mesh:4x4", "column-path", "--consumption", 2, "--buffer", 2, "--vcs", 1,
                              "--cycles", 300_000, "--length", "4:40", cwd=tmp_path)
    assert (code, err) == (0, "")
    first, _, last = out.splitlines()
    assert first == "column-path on mesh:4x4: no deadlock found (no proof)"
    assert last.startswith("searched: ")
    assert " networks, " in last
    assert int(last.split()[1]) >= 300_000
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "sentence"), [
    (["--length", "a"], "length: 'a' is not valid. Allowed: A:B with 1 <= A <= B <= 65536, the fewest"),
    (["--length", "1:2:3"], "length: '1:2:3' is not valid"),
    (["--length", "9:2"], "length: '9:2' is not valid. Allowed: A:B with 1 <= A <= B"),
    (["--cycles", 0], "cycles: 0 is not valid. Allowed: 1 to"),
    (["--vcs", 99], "vcs: 99 is not valid"),
])
def test_bad_input_is_one_sentence_and_leaves_nothing(words, sentence, tmp_path):
    code, out, err = wormcast("hunt", "mesh:4x4", "dual-path", *words, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith(f"wormcast: {sentence}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
