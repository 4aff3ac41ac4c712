"""Commands of ``wormcast`` in forked processes, each with a limit of time and of memory."""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Ended", "Place", "Running", "preload", "start"]

#: Seconds that a command has to end after SIGINT.
GRACE = 20.0

#: Seconds between looks at a command.
STEP = 0.01

#: Limits of time are of processor time, as other processes may use the machine; by the clock they are so many times
#: that.
CLOCK = 5

#: Events of Python that write, and which of their arguments are paths.
WRITING = {
    "os.mkdir": (0,),
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.symlink": (1,),
    "os.link": (1,),
    "os.truncate": (0,),
    "sqlite3.connect": (0,),
}


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Parameters
    ----------
    code : int
        Exit code; negative: the number of the signal that ended it.
    out, err : str
        What it printed.
    seconds : float
        How long it ran, by the clock.
    peak : int
        The most bytes of memory that it was seen to use.
    limit : str
        Which limit it exceeded: ``time``, ``memory`` or none. Beyond ``time`` it gets SIGINT, and then SIGKILL.
    wrote : tuple of str
        Paths of files and folders that Python has written, made or removed.
    """

    code: int
    out: str
    err: str
    seconds: float
    peak: int
    limit: str = ""
    wrote: tuple[str, ...] = ()


@dataclass
class Place:
    """A folder to run commands in: ``work`` is their working directory, ``tmp`` is for their temporary files."""

    root: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="fuzz-")).resolve())

    def __post_init__(self) -> None:
        for folder in (self.work, self.tmp):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    def files(self) -> dict[str, bytes]:
        """Return all files that are in the folder but the temporary ones, by their paths from ``work``."""
        return {
            os.path.relpath(path, self.work): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and self.tmp not in path.parents
        }

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


#: Commands that import and compile what others need when they run.
USUAL = (
    "check ring:3 individual",
    "topology ring:3 --plot p.svg",
    "list figures",
    "run ring:3 individual --source 0 --destinations 1 --length 4 --vcd r.vcd",
    "run ring:3 individual --source 0 --destinations 1 --length 4 --engine amaranth",
    "wave r.vcd --json",
    "load ring:3 individual --destinations-mean 1 --rate 0.1 --cycles 1000 --seeds 2 --checkpoint c.state",
    "continue c.state",
    "hunt ring:3 individual --cycles 2000",
)


def preload() -> None:
    """Run some commands in this process, so that those forked from it have all that commands import."""
    from wormcast.sim.cli import main
    from wormcast.sim.cli.commands import COMMANDS, find_command

    for name in COMMANDS:
        find_command(name)
    with (
        Place() as place,
        contextlib.chdir(place.work),
        tempfile.TemporaryFile("w+") as texts,
        contextlib.redirect_stdout(texts),
        contextlib.redirect_stderr(texts),
    ):
        for command in USUAL:
            sys.argv = ["wormcast", *command.split()]
            try:
                main()
            except SystemExit as end:
                if end.code:
                    texts.seek(0)
                    raise RuntimeError(f"wormcast {command} ends with exit code {end.code}: {texts.read()}") from end


class Running:
    """A command in a process of its own; it is over at the end of a ``with`` block."""

    def __init__(self, arguments: Sequence[str], place: Place, environment: Mapping[str, str]):
        self._texts = [Path(tempfile.mkstemp(dir=place.tmp, prefix=name)[1]) for name in ("out-", "err-", "wrote-")]
        self._begin = time.monotonic()
        self._status: int | None = None
        self.peak = 0
        self.process = os.fork()
        if not self.process:
            _run(arguments, place, self._texts, environment)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        if not self.over():
            self.send(signal.SIGKILL)
            self.wait(GRACE)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def over(self) -> bool:
        """Return whether the process has ended."""
        if self._status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self._status = status
        return self._status is not None

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if the process has not ended."""
        if not self.over():
            os.kill(self.process, number)

    def wait(self, seconds: float, memory: float = float("inf")) -> str:
        """Wait for the end; return which limit was exceeded before it, if any: ``time``, or ``memory``."""
        clock, processor = time.monotonic() + CLOCK * seconds, self._processor() + seconds
        while not self.over():
            if self._resident() > memory:
                return "memory"
            if time.monotonic() > clock or self._processor() > processor:
                return "time"
            time.sleep(STEP)
        return ""

    def pause(self, seconds: float) -> None:
        """Let it run for so long, or until it ends."""
        end = time.monotonic() + seconds
        while not self.over() and time.monotonic() < end:
            time.sleep(STEP)

    def ended(self, limit: str = "") -> Ended:
        """Return how it ended, when it is over."""
        taken = self.seconds
        assert self._status is not None
        code = os.waitstatus_to_exitcode(self._status)
        out, err, wrote = (text.read_text(errors="replace") for text in self._texts)
        return Ended(code, out, err, taken, self.peak, limit, tuple(dict.fromkeys(wrote.splitlines())))

    def _processor(self) -> float:
        """Seconds of the processor that the process has used."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _resident(self) -> int:
        """Bytes of memory that the process uses now."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
            self.peak = max(self.peak, pages * os.sysconf("SC_PAGE_SIZE"))
            return pages * os.sysconf("SC_PAGE_SIZE")
        return 0


@contextlib.contextmanager
def start(arguments: Sequence[str], place: Place, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Start a command in a folder; it is killed at the end of the block if it still runs."""
    sys.stdout.flush()
    with Running(arguments, place, environment or {}) as running:
        yield running


def _run(arguments: Sequence[str], place: Place, texts: list[Path], environment: Mapping[str, str]) -> None:
    """Run the command in the forked process, and end that process."""
    code = 1
    try:
        for descriptor, text in zip((1, 2), texts[:2], strict=True):
            os.dup2(os.open(text, os.O_WRONLY | os.O_APPEND), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", closefd=False) for descriptor in (1, 2))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(place.work)
        os.environ.update({"TMPDIR": str(place.tmp), "COLUMNS": "200", **environment})
        tempfile.tempdir = None
        sys.argv = ["wormcast", *arguments]
        from wormcast.sim.cli import main

        _note_writes(os.open(texts[2], os.O_WRONLY | os.O_APPEND))
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _note_writes(descriptor: int) -> None:
    """Note the paths that this process writes, from now on, in an open file."""

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            flags = arguments[2] if isinstance(arguments[2], int) else 0
            paths: tuple[object, ...] = (arguments[0],) if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else ()
        elif event in WRITING:
            paths = tuple(arguments[index] for index in WRITING[event])
        else:
            return
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike):
                text = os.path.realpath(os.fsdecode(path))
                os.write(descriptor, f"{text}\n".encode(errors="replace"))

    sys.addaudithook(note)
