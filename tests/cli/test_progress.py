"""Progress of long work, as a terminal or a file shows it."""

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import time

import pytest
from command import NOTICE

from wormcast.algorithms import announcements
from wormcast.sim.cli.app import emit_result, say
from wormcast.sim.common import progress


class Terminal(io.StringIO):
    """Text written to a terminal, and the contents of its last line; within ``with`` stderr goes there."""

    def __enter__(self):
        self._redirection = contextlib.redirect_stderr(self)
        self._redirection.__enter__()
        return self

    def __exit__(self, *error):
        self._redirection.__exit__(*error)

    def isatty(self):
        return True

    @property
    def line(self):
        shown = ""
        for part in self.getvalue().rpartition("\n")[2].split("\r"):
            shown = part + shown[len(part):]
        return shown.rstrip()


@pytest.fixture(autouse=True)
def _begun_anew(monkeypatch):
    monkeypatch.setattr(progress, "_seconds", {})
    monkeypatch.setattr(progress, "_in_files", set())


def shown_within(terminal, text, seconds=5):
    end = time.monotonic() + seconds
    while text not in terminal.line:
        assert time.monotonic() < end, terminal.line
        time.sleep(0.01)


def test_work_that_is_known_to_be_long_is_shown_at_once_and_goes_away():
    with Terminal() as terminal, progress.announced("checking", 12, once=False):
        shown_within(terminal, "wormcast: checking, about 12 s")
    assert terminal.line == ""


def test_times():
    with Terminal() as terminal, progress.announced("measuring", 300, once=True):
        shown_within(terminal, "wormcast: measuring (first use only, about 5 min)")


def test_short_work_is_not_shown():
    with (Terminal() as terminal, progress.announced("checking", 1, once=False),
          progress.announced("drawing", None, once=False)):
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_many_short_works_with_the_same_text_are_shown(monkeypatch):
    monkeypatch.setattr(progress, "SOON", 0.5)
    with Terminal() as terminal:
        for _ in range(20):
            with progress.announced("compiling", None, once=True):
                time.sleep(0.05)
    assert "compiling" in terminal.getvalue()
    assert terminal.line == ""


def test_the_innermost_work_is_shown():
    with Terminal() as terminal, progress.announced("measuring", 600, once=False):
        shown_within(terminal, "measuring")
        with progress.announced("compiling", 9, once=True):
            shown_within(terminal, "compiling")
            assert "measuring" not in terminal.line
        shown_within(terminal, "measuring")
    assert terminal.line == ""


def test_results_are_printed_on_a_line_of_their_own():
    with (Terminal() as terminal, contextlib.redirect_stdout(terminal),
          progress.announced("measuring", 600, once=False)):
        shown_within(terminal, "measuring")
        say("a result")
        assert "\ra result\n" in terminal.getvalue()
        shown_within(terminal, "measuring")


def test_a_bar_has_the_work_beside_it():
    with Terminal() as terminal, progress.progress(3, "points") as show:
        show(1)
        with progress.announced("compiling", 9, once=True):
            end = time.monotonic() + 5
            while "points: compiling (first use only, about 9 s)" not in terminal.getvalue():
                assert time.monotonic() < end
                time.sleep(0.01)
    assert not progress._bars


LONG = """import time
from wormcast.sim.common import progress
names = ", ".join(f"002-fig{number}" for number in range(24))
with progress.progress(1000, "points") as show:
    show(999)
    with progress.announced("measuring " + names, 8000, once=False):
        time.sleep(0.7)
"""


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_bar_is_one_line_of_the_terminal(columns):
    terminal, inside = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([sys.executable, "-c", LONG], stdin=inside, stdout=inside, stderr=inside,
                          env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}) as process:
        os.close(inside)
        shown = b""
        with contextlib.suppress(OSError):  # raised on Linux when the process has ended
            while part := os.read(terminal, 65536):
                shown += part
    os.close(terminal)
    assert process.returncode == 0, shown.decode()
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()))
    bars = [line for line in lines if line.strip()]
    assert any("points: meas" in line for line in bars), bars
    for line in bars:
        assert re.fullmatch(r"points.*━+.* 999/1000 .*|points.*━+.* 0/1000 .*", line), bars
        assert len(line) <= columns


@pytest.mark.parametrize(("seconds", "once", "said"), [(0, True, False), (0.6, True, True), (0.6, False, False)])
def test_a_file_is_told_once_of_what_takes_long_and_is_done_once(seconds, once, said, monkeypatch, capsys):
    monkeypatch.setattr(progress, "LATER", 0.1)
    for _ in range(2):
        with progress.announced("compiling this hardware", 0.1, once=once):
            time.sleep(seconds)
    time.sleep(0.2)
    error = capsys.readouterr().err
    assert bool(NOTICE.fullmatch(error)) == said
    assert bool(error) == said


def test_no_bar_in_a_file(capsys):
    with progress.progress(3, "points") as show:
        show(1)
    assert capsys.readouterr().err == ""


def test_no_thread_is_left():
    before = threading.active_count()
    with Terminal(), progress.announced("checking", None, once=False):
        pass
    assert threading.active_count() == before


def test_a_result_may_announce_work_while_it_is_made(monkeypatch, capsys):
    """Its JSON is made before stdout is taken: the line of an announcement waits for the same lock."""
    made = []

    class Slow:
        def to_json(self):
            with progress.announced("compiling", 9, once=True):
                time.sleep(0.1)
            made.append(True)
            return "{}"

    monkeypatch.setattr(progress, "AT_ONCE", 0.0)
    with Terminal():
        worker = threading.Thread(target=emit_result, args=[Slow()], daemon=True)
        worker.start()
        worker.join(timeout=20)
        assert not worker.is_alive()
    assert made


def test_announcements_end_with_the_last_context(monkeypatch):
    """Contexts of two threads overlap."""
    monkeypatch.setattr(announcements, "_announcer", announcements._silent)
    first, second = (announcements.announcing(progress.announced) for _ in range(2))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert announcements._announcer is progress.announced
    second.__exit__(None, None, None)
    assert announcements._announcer is announcements._silent
