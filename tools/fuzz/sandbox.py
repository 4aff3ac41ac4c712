"""Sandbox: commands of ``wormcast`` in forked processes, in a temporary folder, with limits of time and memory."""

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

__all__ = ["CommandOutcome", "RunningCommand", "Sandbox", "preload", "start"]

#: Seconds in which a command must end after SIGINT.
GRACE = 20.0

#: Seconds between two checks of a running command.
POLL = 0.01

#: Ratio of the limit of elapsed time to the limit of processor time of a command.
#: Elapsed time has the larger limit, because other processes may use the machine.
ELAPSED = 5

#: Audit events of Python that change files, and the indices of the arguments that are paths.
WRITING = {
    "os.mkdir": (0,), "os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,), "os.symlink": (1,), "os.link": (1,),
    "os.truncate": (0,), "sqlite3.connect": (0,),
}

#: Commands that import and compile the code that trials need.
WARM_UP = (
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


@dataclass(frozen=True)
class CommandOutcome:
    """Outcome of a command.

    Parameters
    ----------
    code : int
        Exit code. If signal N ended the command, the code is -N.
    out, err : str
        Texts on stdout and stderr.
    seconds : float
        Elapsed time.
    peak : int
        Largest measured memory, in bytes.
    limit : str
        The limit that the command exceeded: ``time``, ``memory``, or empty for none. ``limit`` is ``interrupt`` if the
        command exceeded the time limit and did not end after SIGINT.
    written : tuple of str
        Paths of the files and folders that Python wrote, created or removed.
    """

    code: int
    out: str
    err: str
    seconds: float
    peak: int
    limit: str = ""
    written: tuple[str, ...] = ()


@dataclass
class Sandbox:
    """Temporary folder of a trial, removed at the end of a ``with`` block.

    ``work`` is the working directory of commands, ``tmp`` contains their temporary files.
    """

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
        """Return the contents of all files except the temporary ones, by path relative to ``work``."""
        return {os.path.relpath(path, self.work): path.read_bytes() for path in sorted(self.root.rglob("*"))
                if path.is_file() and self.tmp not in path.parents}

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def preload() -> None:
    """Run some commands in this process. Processes forked later need not import the commands' modules."""
    from wormcast.sim.cli import main
    from wormcast.sim.cli.commands import COMMANDS, find_command

    for name in COMMANDS:
        find_command(name)
    with (
        Sandbox() as sandbox,
        contextlib.chdir(sandbox.work),
        tempfile.TemporaryFile("w+") as texts,
        contextlib.redirect_stdout(texts),
        contextlib.redirect_stderr(texts),
    ):
        for command in WARM_UP:
            sys.argv = ["wormcast", *command.split()]
            try:
                main()
            except SystemExit as end:
                if end.code:
                    texts.seek(0)
                    raise RuntimeError(f"wormcast {command} ends with exit code {end.code}: {texts.read()}") from end


class RunningCommand:
    """Command in a forked process, stopped at the end of a ``with`` block."""

    def __init__(self, arguments: Sequence[str], sandbox: Sandbox, environment: Mapping[str, str]):
        self._texts = [Path(tempfile.mkstemp(dir=sandbox.tmp, prefix=name)[1]) for name in ("out-", "err-", "wrote-")]
        self._begin = time.monotonic()
        self._status: int | None = None
        self.peak = 0
        self.process = os.fork()
        if not self.process:
            _run(arguments, sandbox, self._texts, environment)

    def __enter__(self) -> "RunningCommand":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        if self._status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self._status = status
        return self._status is not None

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if not self.has_ended():
            os.kill(self.process, number)

    def wait(self, seconds: float, memory: float = float("inf")) -> str:
        """Wait until the process ends or exceeds a limit. Return the exceeded limit: ``time``, ``memory``, or empty."""
        elapsed, processor = time.monotonic() + ELAPSED * seconds, self._processor_time() + seconds
        while not self.has_ended():
            if self._memory() > memory:
                return "memory"
            if time.monotonic() > elapsed or self._processor_time() > processor:
                return "time"
            time.sleep(POLL)
        return ""

    def sleep(self, seconds: float) -> None:
        """Sleep for a time, or until the process ends."""
        end = time.monotonic() + seconds
        while not self.has_ended() and time.monotonic() < end:
            time.sleep(POLL)

    def stop(self) -> None:
        """Kill the process, unless it has ended, and wait for its end."""
        if not self.has_ended():
            self.send(signal.SIGKILL)
            self.wait(GRACE)

    def outcome(self, limit: str = "") -> CommandOutcome:
        """Return the outcome of a process that has ended."""
        seconds = self.seconds
        assert self._status is not None
        code = os.waitstatus_to_exitcode(self._status)
        out, err, written = (text.read_text(errors="replace") for text in self._texts)
        return CommandOutcome(code, out, err, seconds, self.peak, limit, tuple(dict.fromkeys(written.splitlines())))

    def _processor_time(self) -> float:
        """Return the processor time of the process, in seconds."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _memory(self) -> int:
        """Return the memory of the process now, in bytes, and update its maximum."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
            self.peak = max(self.peak, pages * os.sysconf("SC_PAGE_SIZE"))
            return pages * os.sysconf("SC_PAGE_SIZE")
        return 0


@contextlib.contextmanager
def start(
    arguments: Sequence[str], sandbox: Sandbox, environment: Mapping[str, str] | None = None
) -> Iterator[RunningCommand]:
    """Start a command in a sandbox, and stop it at the end of the ``with`` block."""
    sys.stdout.flush()
    with RunningCommand(arguments, sandbox, environment or {}) as running:
        yield running


def _run(arguments: Sequence[str], sandbox: Sandbox, texts: list[Path], environment: Mapping[str, str]) -> None:
    """Run the command in the forked process, and end that process."""
    code = 1
    try:
        for descriptor, text in zip((1, 2), texts[:2], strict=True):
            os.dup2(os.open(text, os.O_WRONLY | os.O_APPEND), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", closefd=False) for descriptor in (1, 2))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(sandbox.work)
        os.environ.update({"TMPDIR": str(sandbox.tmp), "COLUMNS": "200", **environment})
        tempfile.tempdir = None
        sys.argv = ["wormcast", *arguments]
        from wormcast.sim.cli import main

        _record_writes(os.open(texts[2], os.O_WRONLY | os.O_APPEND))
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


def _record_writes(descriptor: int) -> None:
    """From now on, record in an open file the paths of all files that this process changes."""

    def record(event: str, arguments: tuple[object, ...]) -> None:
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

    sys.addaudithook(record)
