"""``wormcast sweep`` in a process of its own, killed and started again."""

import json
import random
import signal
import subprocess
import sys
import time

import pytest

SWEEP = """\
topology = "mesh:4x4"
scheme = ["dual-path", "multipath"]
rate = [0.01, 0.02, 0.03]
cycles = 2000
seeds = 2
destinations_mean = 4
"""


def start(*arguments):
    return subprocess.Popen([sys.executable, "-m", "wormcast", "sweep", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wormcast(*arguments):
    process = start(*arguments)
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


def test_killed_sweep_goes_on_and_ends_in_the_same_bytes(file, tmp_path):
    code, out, err = wormcast(file, "--out", tmp_path / "whole")
    assert (code, err) == (0, "")
    assert "6 points, 6 of them run now, 0 in deadlock" in out
    # one is killed at any moment at all, one when some points are there for sure
    for until in ("any", "begun"):
        process = start(file, "--out", tmp_path / "killed")
        if until == "begun":
            while not (tmp_path / "killed" / "small.sqlite").exists() and process.poll() is None:
                time.sleep(0.005)
            time.sleep(random.uniform(0.05, 0.6))
        else:
            time.sleep(random.uniform(0.0, 1.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, out, err = wormcast(file, "--out", tmp_path / "killed")
    assert (code, err) == (0, "")
    table = (tmp_path / "whole" / "small.csv").read_bytes()
    assert table.count(b"\n") == 7
    assert (tmp_path / "killed" / "small.csv").read_bytes() == table
    code, out, err = wormcast(file, "--out", tmp_path / "killed", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [point["given"]["rate"] for point in told["points"]] == [0.01, 0.02, 0.03] * 2
    assert told["points"][0]["result"]["messages"] > 0
    assert (told["deadlocks"], told["seed"]) == (0, 0)


def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_run(file, tmp_path):
    (tmp_path / "plain").touch()
    code, out, err = wormcast(file, "--out", tmp_path / "plain" / "out")
    assert (code, out, err) == (2, "", f"wormcast: {tmp_path}/plain/out cannot be written: Not a directory\n")
    file.write_text(SWEEP + "buffers = 4\n")
    code, out, err = wormcast(file, "--out", tmp_path / "out")
    assert (code, out, err) == (2, "", f"wormcast: {file}: 'buffers' is no option of load, the nearest is 'buffer'\n")
    assert not (tmp_path / "out").exists()
