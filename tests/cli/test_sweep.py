"""``wormcast sweep`` in a process of its own, killed and started again."""

import contextlib
import csv
import json
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from cases import slow
from command import wormcast
from pyarrow import parquet
from sweeps import SWEEP

from wormcast.sim.cli.sweep_report import report
from wormcast.sim.experiments.option_grid import Sweep

from .test_continue import hear_ctrl_c


def start_command(*arguments):
    return subprocess.Popen([sys.executable, "-m", "wormcast", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)


def start(*arguments):
    return start_command("sweep", *arguments)


def sweep(*arguments):
    return wormcast("sweep", *arguments)


def stored(path):
    """Return the number of points in the file."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM points").fetchone()[0]


def wait_for_points(path, process, number):
    """Wait until so many are there, or the process has ended."""
    while process.poll() is None:
        with contextlib.suppress(sqlite3.OperationalError):
            if stored(path) >= number:
                return
        time.sleep(0.005)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


def test_killed_sweep_goes_on_and_ends_in_the_same_bytes(file, tmp_path):
    code, out, err = sweep(file, "--out", tmp_path / "whole")
    assert (code, err) == (0, "")
    assert "6 points, 6 of them run now, 0 in deadlock" in out
    # half of them are killed at any moment at all, half when they are running points
    for time_from in 5 * ("start", "points"):
        process = start(file, "--out", tmp_path / "killed")
        if time_from == "points":
            wait_for_points(tmp_path / "killed" / "small.sqlite", process, 0)
        time.sleep(random.uniform(0.0, 1.5 if time_from == "start" else 0.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, out, err = sweep(file, "--out", tmp_path / "killed")
    assert (code, err) == (0, "")
    table = (tmp_path / "whole" / "small.csv").read_bytes()
    assert table.count(b"\n") == 7
    assert (tmp_path / "killed" / "small.csv").read_bytes() == table
    rows = list(csv.DictReader(table.decode().splitlines()))
    for rate in ("0.01", "0.02", "0.03"):
        assert len({(row["warmup_used"], row["effective"]) for row in rows if row["rate"] == rate}) == 1
    code, out, err = sweep(file, "--out", tmp_path / "killed", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [point["given"]["rate"] for point in told["points"]] == [0.01, 0.02, 0.03] * 2
    assert told["points"][0]["result"]["messages"] > 0
    assert (told["deadlocks"], told["seed"]) == (0, 24)


def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_run(file, tmp_path):
    (tmp_path / "plain").touch()
    code, out, err = sweep(file, "--out", tmp_path / "plain" / "out")
    assert (code, out, err) == (2, "", f"wormcast: folder {tmp_path}/plain/out cannot be created: Not a directory\n")
    file.write_text(SWEEP + "buffers = 4\n")
    code, out, err = sweep(file, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err == (f"wormcast: {file}: 'buffers' is not a key of a sweep. Nearest: buffer. Allowed: options of "
                   "wormcast load that change results.\n")
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_does_not_answer_leaves_nothing(file, tmp_path):
    address = "nowhere"  # no name of a machine: refused at once
    code, out, err = sweep(file, "--out", tmp_path / "new" / "out", "--scheduler", address)
    assert (code, out) == (2, "")
    assert err.startswith(f"wormcast: scheduler: {address} is not valid: no scheduler answered")
    assert list(tmp_path.iterdir()) == [file]


def test_interrupted_sweep_ends_at_once_and_keeps_what_is_finished(file, tmp_path):
    file.write_text(SWEEP.replace("2000", "[2000, 1000000000]").replace("[0.01, 0.02, 0.03]", "0.01"))
    process = start(file, "--out", tmp_path / "out")
    wait_for_points(tmp_path / "out" / "small.sqlite", process, 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    finished = stored(tmp_path / "out" / "small.sqlite")
    assert 1 <= finished <= 2
    assert (process.returncode, out) == (130, "")
    assert err == f"wormcast: interrupted: {finished} of 4 points finished; the same command continues\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["small.sqlite"]


@pytest.mark.slow  # a checkpoint has one, too: test_continue
def test_full_disk_is_told_and_nothing_is_lost(file, tmp_path, disk):
    folder = disk.path
    assert sweep(file, "--out", tmp_path / "whole")[0] == 0
    disk.has(size=36 << 10)
    code, out, err = disk.wormcast("sweep", file, "--out", folder)
    assert (code, out) == (2, "")
    assert err == (f"wormcast: {folder}/small.sqlite cannot be used (database or disk is full). Needed: a file "
                   "that can be read and written, and space on its disk.\n")
    there = stored(folder / "small.sqlite")
    assert 0 < there < 6
    disk.has(size=4 << 20)
    code, out, err = disk.wormcast("sweep", file, "--out", folder)
    assert (code, err) == (0, "")
    assert f"6 points, {6 - there} of them run now" in out
    table = (folder / "small.csv").read_bytes()
    assert table == (tmp_path / "whole" / "small.csv").read_bytes()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(before) == {"small.sqlite", "small.csv", "small.png"}
    disk.has(size=sum(map(len, before.values())))
    code, out, err = disk.wormcast("sweep", file, "--out", folder)
    assert (code, out, err) == (2, "", f"wormcast: {folder}/small.csv cannot be written: No space left on device\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow  # one that is no folder is above
def test_folder_that_cannot_be_written_is_told(file, disk):
    folder = disk.path
    (folder / "out").mkdir()
    disk.cannot_be_written()
    code, out, err = disk.wormcast("sweep", file, "--out", folder / "out")
    assert (code, out) == (2, "")
    assert err == f"wormcast: {folder}/out/small.csv cannot be written: Read-only file system\n"
    code, out, err = disk.wormcast("sweep", file, "--out", folder / "new")
    assert (code, out, err) == (2, "", f"wormcast: folder {folder}/new cannot be created: Read-only file system\n")


def test_damaged_file_is_told_and_left(file, tmp_path):
    store = tmp_path / "out" / "small.sqlite"
    store.parent.mkdir()
    store.write_bytes(b"no database" * 100)
    code, out, err = sweep(file, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err == (f"wormcast: {store} is damaged (file is not a database). Needed: an intact file of finished "
                   "points; move it away to start anew.\n")
    assert store.read_bytes() == b"no database" * 100


def test_pictures_and_parquet_are_as_asked(file, tmp_path):
    file.write_text(SWEEP.replace("2000", "300"))
    picture = tmp_path / "some.svg"
    code, out, err = sweep(file, "--out", tmp_path / "out", "--plot", picture, "--parquet", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["plot"] == str(picture)
    assert picture.read_text().startswith("<?xml")
    assert parquet.read_table(told["parquet"]).num_rows == 6
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".sqlite", ".csv", ".parquet"}
    code, out, err = sweep(file, "--out", tmp_path / "none", "--plot", tmp_path / "some.gif")
    assert (code, out) == (2, "")
    refused = f"plot: {tmp_path}/some.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."
    assert err == f"wormcast: {refused}\n"
    assert not (tmp_path / "none").exists()
    file.write_text(SWEEP.replace("2000", "300").replace("[0.01, 0.02, 0.03]", "0.01"))
    code, out, err = sweep(file, "--out", tmp_path / "none")
    assert (code, err) == (0, "")
    assert out.endswith("picture: none, no option with numbers is swept. "
                        "Needed: a list of numbers, for example of rate.\n")


@pytest.mark.parametrize(("option", "package", "extra"), [
    slow(["--scheduler", "tcp://127.0.0.1:1"], "distributed", "cluster", id="cluster"),
    pytest.param(["--parquet"], "pyarrow", "parquet", id="parquet"),
])
def test_missing_package_is_told_with_the_line_that_installs_it(option, package, extra, file, tmp_path):
    code = f"import sys; sys.modules[{package!r}] = None; from wormcast.sim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "sweep", str(file), "--out", str(tmp_path / "out"), *option],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == f'wormcast: {package} is not installed: pip install "wormcast[{extra}]"\n'
    assert not (tmp_path / "out").exists()


def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_run(file, tmp_path):
    picture = tmp_path / "none" / "o.svg"
    code, out, err = sweep(file, "--out", tmp_path / "out", "--plot", picture)
    assert (code, out) == (2, "")
    assert err == f"wormcast: {picture} cannot be written: its folder does not exist\n"
    assert not (tmp_path / "out").exists()
    (tmp_path / "out" / f"{file.stem}.csv").mkdir(parents=True)
    code, out, err = sweep(file, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.endswith(".csv is not valid: it is a folder. Allowed: the name of a file.\n")
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".csv"]


def test_the_table_has_the_name_of_a_scheme_of_a_file(capsys):
    """As the picture and the other commands."""
    row = {"latency_mean": 10.0, "latency_half_width": 1.0, "effective": 0.2, "delivered_per_node": 0.2,
           "saturated": False, "precise": True, "deadlock": False, "scheme": "short_paths.py"}
    report(Sweep("small", {}, {"scheme": ["short_paths.py"]}), [row], 0, {"short_paths.py": "short-paths"})
    assert "│ short-paths │" in capsys.readouterr().out


def test_the_table_has_units_and_says_what_not_to_compare(capsys):
    """Flits are per node and cycle in all columns, as in the picture."""
    sweep = Sweep("small", {}, {"rate": [0.01, 0.02, 0.03, 0.04]})
    told = {"latency_mean": 1211.6, "latency_half_width": 1881.1, "effective": 0.2, "delivered": 12.4,
            "delivered_per_node": 0.19375, "saturated": False, "precise": True, "deadlock": False}
    report(sweep, [told | {"rate": 0.01}, told | {"rate": 0.02, "precise": False},
                   told | {"rate": 0.03, "saturated": True, "precise": False},
                   dict.fromkeys(told) | {"rate": 0.04, "deadlock": True}], 0, {})
    out = capsys.readouterr().out
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]
    assert [row[-1] for row in cells] == ["steady", "imprecise", "saturated", "deadlock"]
    assert cells[0] == ["0.01", "1211.6", "1881.1", "0.2", "0.1938", "steady"]
    assert "latency: cycles" in out
    assert "effective, delivered: payload flits x destinations per node and cycle" in out
    assert "imprecise: half the interval is more than 5 % of the mean" in out
    assert "saturated: fewer flits are delivered than created" in out


@pytest.mark.parametrize(("fixed", "swept", "share"), [
    ({}, {}, "5 %"), ({"precision": 0.02}, {}, "2 %"), ({}, {"precision": [0.02, 0.1]}, "the fraction precision")])
def test_an_imprecise_point_is_explained_with_the_precision_of_the_sweep(fixed, swept, share, capsys):
    row = {"latency_mean": 10.0, "latency_half_width": 1.0, "effective": 0.2, "delivered_per_node": 0.2,
           "saturated": False, "precise": False, "deadlock": False, "precision": 0.02}
    report(Sweep("small", fixed, swept), [row], 0, {})
    assert f"imprecise: half the interval is more than {share} of the mean" in capsys.readouterr().out
