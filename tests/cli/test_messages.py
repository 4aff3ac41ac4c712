"""``load --messages-out`` and ``--around-worst`` from outside."""

import csv
import subprocess
import sys

import pytest
from command import wormcast

from .test_commands import as_json
from .test_continue import DEADLOCK, QUICK, measured


def test_a_row_for_each_message_and_the_same_report(tmp_path):
    table = tmp_path / "messages.csv"
    code, out, err = wormcast(*QUICK, "--messages-out", table)
    assert (code, err) == (0, "")
    assert out.endswith(f"messages: {table}\n")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["seed"] for row in rows} == {"24", "25", "26", "27"}
    code, found = as_json(*QUICK, "--messages-out", table)
    assert (code, found["messages_out"]) == (0, str(table))
    worst = found["worst"][0]
    slow = next(row for row in rows if (int(row["seed"]), int(row["message"])) == (worst["seed"], worst["message"]))
    assert {name: int(slow[name]) for name in ("source", "created", "latency", "length")} == {
        name: worst[name] for name in ("source", "created", "latency", "length")}
    assert [path.name for path in tmp_path.iterdir()] == ["messages.csv"]
    _, told = measured(*QUICK)
    assert told.pop("messages_out") is None
    assert told == {name: found[name] for name in told}


def test_a_traces_messages_have_the_numbers_of_its_lines_and_no_seed(tmp_path):
    trace, table = tmp_path / "t.jsonl", tmp_path / "m.csv"
    trace.write_text('{"cycle": 9, "source": 3, "destinations": [1, 2], "length": 4}\n'
                     '{"cycle": 9, "source": 0, "destinations": ["1.1"], "length": 4}\n')
    code, _, err = wormcast("load", "mesh:3x3", "dual-path", "--trace", trace, "--messages-out", table)
    assert (code, err) == (0, "")
    with table.open() as file:
        assert [(row["seed"], row["message"], row["source"], row["destinations"]) for row in csv.DictReader(file)] == [
            ("", "0", "3", "2 1"), ("", "1", "0", "4")]


def test_until_interval_has_all_that_it_ran(tmp_path):
    table = tmp_path / "m.csv"
    code, found = as_json(*QUICK, "--until-interval", "--warmup", 0, "--messages-out", table)
    assert code == 0
    assert len(table.read_text().splitlines()) == 1 + found["messages"]


def test_a_deadlock_leaves_no_table(tmp_path):
    code, out, _ = wormcast(*DEADLOCK, "--messages-out", "m.csv", cwd=tmp_path)
    assert code == 3
    assert "no table of messages, as a deadlock has no measurements" in out
    assert not (tmp_path / "m.csv").exists()


@pytest.mark.parametrize(("more", "sentence"), [
    (["--messages-out", "m.txt"], "messages-out: m.txt is not valid. Allowed: names that end in .csv, .parquet."),
    (["--messages-out", "m.csv", "--checkpoint", "x"],
     ("messages-out: m.csv is not valid with --checkpoint: a checkpoint does not store received messages. Allowed: one "
     "of the two options.")),
    (["--messages-out", "/nowhere/m.csv"], "/nowhere/m.csv cannot be written: its folder does not exist"),
])
def test_what_cannot_be_is_refused(more, sentence, tmp_path):
    assert wormcast(*QUICK, *more, cwd=tmp_path) == (2, "", f"wormcast: {sentence}\n")
    assert not list(tmp_path.iterdir())


def test_continue_knows_too_little_for_it(tmp_path):
    wormcast(*QUICK, "--seeds", 1, "--checkpoint", "kept", cwd=tmp_path)
    code, out, err = wormcast("continue", "kept", "--messages-out", "m.csv", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err == ("wormcast: messages-out: m.csv is not valid with continue: a checkpoint does not store received "
                   "messages. Allowed: with load.\n")


@pytest.mark.slow  # as in sweep: test_sweep
def test_parquet_needs_its_package(tmp_path):
    code = "import sys; sys.modules['pyarrow'] = None; from wormcast.sim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *QUICK, "--messages-out", "m.parquet"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == 'wormcast: pyarrow is not installed: pip install "wormcast[parquet]"\n'


@pytest.mark.slow  # a checkpoint cannot, too: test_continue
def test_a_table_that_cannot_be_written_in_the_end_is_told_after_the_results(disk):
    disk.has(1000)
    code, out, err = disk.wormcast(*QUICK, "--messages-out", disk.path / "m.csv")
    assert (code, err) == (2, f"wormcast: {disk.path}/m.csv cannot be written: No space left on device\n")
    assert "messages received" in out
    assert not list(disk.path.iterdir())


def test_the_worst_message_is_recorded_and_named(tmp_path):
    code, found = as_json(*QUICK)
    assert code == 0
    worst = found["worst"][0]
    code, out, err = wormcast(*QUICK, "--around-worst", "--vcd", "w.vcd", "--checkpoint", "kept", cwd=tmp_path)
    assert (code, err) == (0, "")
    said = f"waveform: w.vcd, message {worst['message']} of seed {worst['seed']}, worm"
    assert said in out
    assert "$enddefinitions" in (tmp_path / "w.vcd").read_text()
    assert measured("continue", tmp_path / "kept") == measured(*QUICK)
    code, out, err = wormcast("continue", "kept", "--around-worst", "--vcd", "v.vcd", cwd=tmp_path)
    assert code == 2
    assert "largest latencies" in out
    assert err == (f"wormcast: message {worst['message']} is not valid: it was created in cycle {worst['created']}, "
                   "before the oldest stored state. Allowed: messages created from cycle 12000 on.\n")


@pytest.mark.parametrize(("more", "sentence"), [
    ([], "--around-worst is not valid without --vcd. Needed: --vcd FILE."),
    (["--vcd", "x.vcd", "--window", "1:2"],
     ("window: 1:2 is not valid with --around-worst: the message determines the cycles and instances. Allowed: one of "
     "the two options.")),
    (["--vcd", "x.vcd", "--instances", "0"],
     ("instances: 0 is not valid with --around-worst: the message determines the cycles and instances. Allowed: one of "
     "the two options.")),
])
def test_what_does_not_go_with_the_worst(more, sentence, tmp_path):
    assert wormcast(*QUICK, "--around-worst", *more, cwd=tmp_path) == (2, "", f"wormcast: {sentence}\n")


def test_no_message_is_the_worst_where_none_is_received(tmp_path):
    code, _, err = wormcast(*QUICK, "--cycles", 20, "--warmup", 0, "--around-worst", "--vcd", "w.vcd", cwd=tmp_path)
    assert code == 2
    assert err == ("wormcast: --around-worst is not valid: no message of the measured cycles is received by the "
                   "end. Allowed: with more --cycles, or a shorter --warmup.\n")
