"""``load --checkpoint`` and ``continue`` from outside: nothing is lost, and nothing is there by halves."""

import resource
import signal
import subprocess
import sys
import time

import pytest
from cases import slow
from command import wormcast

from .test_commands import as_json

SCHEME = ["load", "mesh:4x4", "dual-path", "--rate", "0.02", "--destinations-mean", "3"]
QUICK = [*SCHEME, "--cycles", "12000"]
LONG = [*SCHEME, "--cycles", "100000000"]
DEADLOCK = ["load", "mesh:4x4", "dual-path", "--rate", "0.02", "--length", "64", "--destinations-mean", "4",
            "--consumption", "1", "--vcs", "1", "--buffer", "2", "--cycles", "200000"]


def measured(*arguments):
    """Exit code and JSON, without times and without files."""
    code, found = as_json(*arguments)
    for name in ("cycles_per_second", "checkpoint", "waveform", "plot"):
        del found[name]
    return code, found


def hear_ctrl_c():
    """Restore Ctrl-C: commands that a shell runs in the background ignore it, and their children inherit this."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(*arguments, file):
    """Interrupt a command that writes a checkpoint as often as it can, after the first one; exit code and stderr."""
    with subprocess.Popen([sys.executable, "-m", "wormcast", *map(str, arguments), "--checkpoint", file,
                           "--checkpoint-every", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, preexec_fn=hear_ctrl_c) as process:
        while not file.exists() and process.poll() is None:
            time.sleep(0.1)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, err


def test_continued_it_reports_what_load_reports(tmp_path):
    file = tmp_path / "kept"
    code, out, err = wormcast(*QUICK, "--checkpoint", file, "--seed", 7)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"checkpoint: {file}, cycle 12000"
    assert measured("continue", file) == measured(*QUICK, "--seed", 7)
    code, told, err = wormcast("continue", file)
    assert (code, err) == (0, "")
    assert told.splitlines() == out.splitlines()[:-1]
    code, found = as_json("continue", file, "--cycles", 15_000, "--checkpoint", tmp_path / "more")
    assert (code, found["cycles"], found["checkpoint"]) == (0, 15_000, str(tmp_path / "more"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "more"]


def test_ctrl_c_keeps_all_there_is(tmp_path):
    cycles = []
    for file, command in ((tmp_path / "first", LONG), (tmp_path / "second", ["continue", tmp_path / "first"])):
        code, err = interrupted(*command, file=file)
        assert (code, err.count("\n"), err.count(";")) == (130, 1, 1), err
        cycles.append(int(err[:err.index(";")].split()[-1]))
        assert err == (f"wormcast: interrupted in cycle {cycles[-1]}; to continue: wormcast continue {file}\n")
    assert 0 < cycles[0] < cycles[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


@pytest.mark.slow  # files are written whole: test_whole_file, and Ctrl-C above
def test_a_kill_leaves_the_last_checkpoint(tmp_path):
    file = tmp_path / "kept"
    command = [sys.executable, "-m", "wormcast", *LONG, "--checkpoint", str(file), "--checkpoint-every", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not file.exists():
            time.sleep(0.1)
        time.sleep(0.5)
        process.kill()
    code, _, err = wormcast("continue", file, "--cycles", 99)
    assert (code, err.count("\n")) == (2, 1)
    assert "cycles: 99 is not valid. Allowed: 100000000 (the present number)" in err


def test_a_deadlock_has_nothing_to_continue(tmp_path):
    file, wave = tmp_path / "kept", tmp_path / "deadlock.vcd"
    code, found = measured(*DEADLOCK, "--vcd", wave)
    assert code == 3
    code, _, _ = wormcast(*DEADLOCK, "--vcd", wave, "--checkpoint", file)
    assert (code, file.exists()) == (3, False)
    code, kept = as_json(*DEADLOCK, "--vcd", wave, "--checkpoint", file, "--checkpoint-every", 4000)
    assert (code, kept["checkpoint"], kept["deadlock"]) == (3, str(file), found["deadlock"])
    assert measured("continue", file, "--vcd", wave) == (3, found)


def test_a_window_changes_no_result(tmp_path):
    wave, file = tmp_path / "window.vcd", tmp_path / "kept"
    window = ["--vcd", wave, "--window", "5000:5040", "--instances", "1.2,router_0_0"]
    code, found = as_json(*QUICK, *window)
    assert (code, found["waveform"]) == (0, str(wave))
    assert measured(*QUICK, *window) == measured(*QUICK)
    assert wave.stat().st_size > 0
    wormcast(*SCHEME, "--cycles", 4000, "--checkpoint", file)
    code, found = as_json("continue", file, "--cycles", 12_000, *window)
    assert (code, found["waveform"]) == (0, str(wave))
    code, _, err = wormcast("continue", file, "--cycles", 12_000, "--vcd", wave, "--window", "3999:5000")
    assert (code, err) == (2, "wormcast: window: '3999:5000' is not valid. Allowed: A:B with 4000 <= A < B <= 12000.\n")


def assert_nothing_is_lost(file, reason, **limits):
    """A checkpoint that cannot be written: the results are told, the old one stays, nothing is left by halves."""
    file.write_bytes(b"precious")
    command = [sys.executable, "-m", "wormcast", *QUICK, "--checkpoint", file, "--checkpoint-every", "3000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **limits) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (2, f"wormcast: {file} cannot be written: {reason}\n")
    assert "latency" in out
    assert "checkpoint" not in out
    assert file.read_bytes() == b"precious"
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_full_disk_loses_no_result(disk):
    disk.has(size=1 << 16)
    assert_nothing_is_lost(disk.path / "kept", "No space left on device", env=disk.environment)


@pytest.mark.slow  # a full disk above
def test_a_file_that_may_not_grow_loses_no_result(tmp_path):
    """The same by a limit of the system's own."""
    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    # what is compiled may be kept on disk by now: else that could not be written either
    assert wormcast(*SCHEME, "--cycles", 100)[0] == 0
    assert_nothing_is_lost(tmp_path / "kept", "the system's limit on file sizes (ulimit -f) is reached",
                           preexec_fn=little)


@pytest.mark.parametrize(("more", "sentence"), [
    (["--checkpoint", "/nowhere/kept"], "/nowhere/kept cannot be written: its folder does not exist"),
    (["--checkpoint", "/"], "/ is not valid: it is a folder"),
    (["--checkpoint-every", "100"], "checkpoint-every: 100 is not valid without --checkpoint."),
    (["--checkpoint", "/dev/null"], "/dev/null is not valid: it is not a regular file"),
    (["--until-interval", "--checkpoint", "{tmp}/kept"], "--until-interval is not valid with --checkpoint"),
    (["--window", "1:2"], "window: 1:2 is not valid without --vcd. Needed: --vcd FILE."),
    (["--vcd", "{tmp}/x.vcd", "--window", "5:5"], "window: '5:5' is not valid. Allowed: A:B with 0 <= A < B <= 12000."),
    (["--vcd", "{tmp}/x.vcd", "--window", "5:12001"], "window: '5:12001' is not valid"),
    (["--vcd", "{tmp}/x.vcd", "--instances", "router_0_0"], "instances: router_0_0 is not valid without --window"),
    (["--vcd", "{tmp}/x.vcd", "--window", "5:9", "--instances", "router_9_9"], "instances: 'router_9_9' is not valid"),
    (["--vcd", "/nowhere/x.vcd"], "/nowhere/x.vcd cannot be written"),
])
def test_bad_options_are_refused_before_anything_is_run(more, sentence, tmp_path):
    code, out, err = wormcast(*QUICK, *(option.format(tmp=tmp_path) for option in more))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


def test_bad_files_are_one_sentence(tmp_path):
    file = tmp_path / "kept"
    for content, sentence in ((None, f"wormcast: checkpoint: {file} cannot be read: No such file\n"),
                              (b"[points]\n", "is not a checkpoint"),
                              (b"PK\x03\x04 and then nothing", "is damaged")):
        if content is not None:
            file.write_bytes(content)
        code, out, err = wormcast("continue", file)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert sentence in err


@pytest.mark.parametrize("more", [slow([]), slow(["--ni", "fpfs", "--packet", "4"]), ["--ports", "all"]],
                         ids=["", "smart", "ports"])
def test_what_has_no_messages_yet_is_continued(more, tmp_path):
    load = ["load", "ring:3", "binomial", "--rate", "0.0001", "--destinations-mean", "1", "--cycles", "1000",
            "--seeds", "2", *more]
    code, found = measured(*load, "--checkpoint", tmp_path / "kept")
    assert (code, found["messages"]) == (0, 0)
    assert measured("continue", tmp_path / "kept") == (0, found)
