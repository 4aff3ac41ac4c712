"""The tables of a document, printed anew by the commands that stand above them (``make tables``).

In the document a command is a line of code, indented by four spaces; what it printed follows between two comments::

        wormcast synth router --breakdown --markdown

    <!-- printed -->
    ...
    <!-- end -->

The router of measurements.md, which is synthesised in one of them, must not grow: the tables then stay as they are.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from wormcast.algorithms import WormcastError
from wormcast.sim.common.atomic_write import whole_file
from wormcast.sim.common.external import ended

__all__ = ["ROUTER", "print_anew", "require_area"]

#: The options with which measurements.md has the router, and its area with the mapper's spread on top.
ROUTER = "synth router --relations e-cube,hamiltonian --area-delay 4250"
MOST = {"LUT4": 2500, "FF": 550, "DPR16X4": 45}

PRINTED = re.compile(r"^    wormcast ([^\n]+)\n\n<!-- printed -->\n(.*?)<!-- end -->$", re.MULTILINE | re.DOTALL)


def require_area(command: str, printed: str) -> None:
    """Refuse a table of the router in which it takes more than it may.

    Raises
    ------
    WormcastError
        It does; with the figure and its bound. Also if a figure is not there.
    """
    if not command.startswith(ROUTER):
        return
    for name, most in MOST.items():
        found = re.search(rf"^\| {name} \| (\d+) \|$", printed, re.MULTILINE)
        if found is None or int(found[1]) > most:
            raise WormcastError(f"tables: wormcast {command}: {name} is {found[1] if found else 'not there'}, at most "
                                f"{most} is allowed")


def print_anew(document: Path, containing: str = "") -> int:
    """Run the commands of ``document`` in which a text stands, and put what they print in place of what is there.

    They run in the current folder. Returns how many they were.

    Raises
    ------
    WormcastError
        One failed, or see `require_area`; then the document is left as it was.
    """
    count = 0

    def printed(found: re.Match[str]) -> str:
        nonlocal count
        if containing not in found[1]:
            return found[0]
        print(f"wormcast {found[1]}", file=sys.stderr, flush=True)
        done = subprocess.run([sys.executable, "-m", "wormcast", *shlex.split(found[1])], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            raise WormcastError(f"tables: wormcast {found[1]} {ended(done.returncode)}")
        require_area(found[1], done.stdout)
        count += 1
        return found[0].replace(f"<!-- printed -->\n{found[2]}", f"<!-- printed -->\n\n{done.stdout.strip()}\n\n")

    text = PRINTED.sub(printed, document.read_text())
    with whole_file(document) as unfinished:
        unfinished.write_text(text)
    return count


if __name__ == "__main__":
    try:
        if not print_anew(Path(sys.argv[1]), *sys.argv[2:3]):
            sys.exit(f"tables: {sys.argv[1]} has no such command")
    except WormcastError as error:
        sys.exit(str(error))
