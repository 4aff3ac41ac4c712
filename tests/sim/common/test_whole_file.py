"""Files that are whole or not there, and what killed writers leave of them."""

import fcntl
import os
import subprocess
import sys
import time

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.common.atomic_write import AGE, require_writable, whole_file


def left(path, age=2 * AGE):
    """A file as a process leaves it that is killed."""
    path.write_text("half")
    os.utime(path, (time.time() - age,) * 2)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_writer_has_left_goes(tmp_path):
    left(tmp_path / ".k.svg.abcdefgh.unfinished")
    left(tmp_path / ".k.svg.abcdefgh.unfinished.gtkw")
    with whole_file(tmp_path / "k.svg") as unfinished:
        unfinished.write_text("whole")
    assert names(tmp_path) == ["k.svg"]


def test_what_somebody_may_still_write_stays(tmp_path):
    """It is locked, or just made; or it is nothing of ours."""
    locked = left(tmp_path / ".k.svg.aaaaaaaa.unfinished")
    left(tmp_path / ".k.svg.bbbbbbbb.unfinished", age=0)
    left(tmp_path / ".k.svg.original")
    left(tmp_path / ".other.svg.cccccccc.unfinished")
    before = names(tmp_path)
    with locked.open("rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with whole_file(tmp_path / "k.svg") as unfinished:
            os.utime(unfinished, (0, 0))
            with whole_file(tmp_path / "k.svg") as another:
                another.write_text("another")
            unfinished.write_text("whole")
    assert names(tmp_path) == sorted([*before, "k.svg"])
    assert (tmp_path / "k.svg").read_text() == "whole"


@pytest.mark.parametrize("write", [require_writable, lambda path: whole_file(path).__enter__()],
                         ids=["asked for", "written"])
def test_what_a_dead_process_has_left_goes_at_once_and_what_a_living_one_has_begun_stays(write, tmp_path):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left(tmp_path / f".k.svg.{int(gone.stdout)}-abcdefgh.unfinished", age=0)
    left(tmp_path / f".k.svg.{os.getppid()}-abcdefgh.unfinished", age=0)
    write(tmp_path / "k.svg")
    assert [name for name in names(tmp_path) if str(os.getpid()) not in name] == [
        f".k.svg.{os.getppid()}-abcdefgh.unfinished"]


def test_the_limit_of_a_name_is_said(tmp_path):
    with whole_file(tmp_path / ("a" * 220)) as unfinished:
        unfinished.write_text("long")
    with (pytest.raises(WormcastError, match=r"a cannot be written: its name is longer than 220 bytes$"),
          whole_file(tmp_path / ("a" * 250))):
        pass


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(WormcastError, match=r"loop cannot be written: its symbolic links lead in a circle"):
        require_writable(tmp_path / "loop")
    require_writable(tmp_path / "new")
    assert names(tmp_path) == ["loop"]


def test_an_interruption_before_anything_is_written_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(target):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[require_writable.__module__], "_clean", interrupted)
    with pytest.raises(KeyboardInterrupt):
        require_writable(tmp_path / "x.svg")
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "x.svg"):
        pass
    assert names(tmp_path) == []
