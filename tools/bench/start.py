"""Benchmark of waiting times: processor time of commands from start to end, before and after a change.

The unit U is the processor time of ``import numpy, numba, amaranth, typer``, measured in the same run.
"""

import io
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wormcast.algorithms import WormcastError

__all__ = ["BEFORE", "FROM_PYTHON", "IMPORTS", "ROWS", "TIMES", "Revision", "bare_program", "extracted"]

#: Earlier revision. The waiting times of this tree are compared with the waiting times of this revision.
BEFORE = "fc016f8"
TIMES = 5
ROOT = Path(__file__).parents[2]
IMPORTS = "import numpy, numba, amaranth, typer"

#: Programs whose processor times are printed one below the other, in seconds. Programs that import a missing package
#: are left out.
FROM_PYTHON = (
    "import wormcast",
    "import wormcast; wormcast.topology('mesh:8x8')",
    "import wormcast; wormcast.run('mesh:6x6', 'dual-path', '3.2', ['5.0', '3.1', '0.4'], length=20)",
    "import networkx",
    "import pandas",
)

RUN = "run mesh:6x6 dual-path --source 3.2 --destinations 5.0,3.1,0.4 --length 20"
DEEP = ("run irregular:switches={switches},ports={ports},nodes=32,connectivity=0.8,seed=1 tree --source 0 "
        "--destinations 3,9,17,22,30 --length 128 --buffer-kind deep --chunk {chunk} --vcs 1 --consumption 1 "
        "--flit-width 8")


@dataclass(frozen=True)
class Start:
    """A row of the table: a command, and the state of the caches before the command runs.

    Parameters
    ----------
    what : str
        Text of the row.
    command : str
        Arguments of ``wormcast``.
    caches : "full", "others", "all but kernels" or "empty"
        With "full", the same command has filled the caches. With "others", only the command `RUN` has filled the
        caches. With "all but kernels", only `RUN` has filled the caches, and the cache of kernels is empty. With
        "empty", all caches are empty.
    goal : str
        Largest allowed time, in U or as a multiple of a bare program's time; then, if limited, the largest memory.
    times : int
        Number of measurements. The median is printed.
    """

    what: str
    command: str
    caches: str
    goal: str
    times: int = TIMES


BARE = "1.3 of a bare program"
ROWS = (
    Start("--help", "--help", "full", BARE),
    Start("--version", "--version", "full", BARE),
    Start("a misspelt command", "plam mesh:8x8", "full", BARE),
    Start("list schemes", "list schemes", "full", "0.8"),
    Start("plan", "plan mesh:8x8 dual-path --source 0 --destinations 1,2,3", "full", "0.8"),
    Start("topology", "topology mesh:8x8", "full", "0.8"),
    Start("run, everything cached", RUN, "full", "0.8"),
    Start("run, no kernels cached", RUN, "all but kernels", "2.5"),
    Start("run, another router", f"{RUN} --buffer 3", "others", "2.5"),
    Start("run, nothing cached", RUN, "empty", "15", 1),
    Start("run, deep switch of 8 ports", DEEP.format(switches=8, ports=8, chunk=16), "others", "4", 1),
    Start("run, deep switch of 16 ports", DEEP.format(switches=4, ports=16, chunk=16), "others", "8", 1),
    Start("run, deep switch of 32 ports", DEEP.format(switches=2, ports=32, chunk=32), "others", "16, 1 GB", 1),
    Start("a trace with a gap of 20 million cycles",
          "load mesh:2x2 dual-path --trace {folder}/gap.jsonl --warmup 0 --cycles 20000200", "others", "2", 1),
    Start("demo, nothing cached", "demo --out {folder}/out", "empty", "30", 1),
)
GAP = """{"cycle": 100, "source": 0, "destinations": [1, 3], "length": 8}
{"cycle": 20000100, "source": 2, "destinations": [1, 3], "length": 8}
"""


@dataclass(frozen=True)
class Revision:
    """A source tree of wormcast, run by the present Python.

    Parameters
    ----------
    source : Path
        Root of the tree.
    folder : Path
        Empty folder for caches and outputs.
    """

    source: Path
    folder: Path

    def seconds(self, *arguments: str) -> tuple[float, float]:
        """Run Python with these arguments; return processor seconds with child processes, and megabytes of memory."""
        caches = {"WORMCAST_CACHE": "kernels", "NUMBA_CACHE_DIR": "numba", "MPLCONFIGDIR": "matplotlib"}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {name: str(self.folder / cache) for name, cache in caches.items()}
        environment["PYTHONPATH"] = str(self.source / "src")
        with subprocess.Popen([sys.executable, *arguments], env=environment, cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def run(self, command: str) -> tuple[float, float]:
        """Run a command of ``wormcast``; return processor seconds and megabytes of memory, as `seconds` does."""
        return self.seconds("-m", "wormcast", *command.format(folder=self.folder).split())

    def measure(self, start: Start) -> tuple[float, float]:
        """Run a row's command several times; return the median of processor seconds, and the largest memory."""
        (self.folder / "gap.jsonl").write_text(GAP)
        for name in ("kernels", "numba", "matplotlib"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        if start.caches != "empty":
            self.run(start.command if start.caches == "full" else RUN)
        kept = set() if start.caches == "all but kernels" else set(self._kernels())
        found = []
        for _ in range(start.times):
            for file in set(self._kernels()) - kept if start.caches != "full" else ():
                file.unlink()
            found.append(self.run(start.command))
        return statistics.median(seconds for seconds, _ in found), max(size for _, size in found)

    def _kernels(self) -> list[Path]:
        return [file for file in (self.folder / "kernels").glob("*") if file.suffix in (".kernel", ".netlist")]


def bare_program(commands: int) -> str:
    """Return a program that uses only Typer, with ``commands`` commands."""
    lines = ["import typer", "app = typer.Typer(no_args_is_help=True)"]
    for number in range(commands):
        lines += ["@app.command()", f"def command{number}(name: str) -> None:", '    """Do something."""']
    return "\n".join([*lines, "app()"])


@contextmanager
def extracted(revision: str) -> Iterator[Path]:
    """Extract a revision of this repository into a temporary folder.

    Raises
    ------
    WormcastError
        This is not a repository, or the revision is unknown.
    """
    found = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True)
    if found.returncode:
        raise WormcastError(f"bench: {revision} is not a revision of the repository in {ROOT}")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)
