"""Update of the tables in a document by running the commands above them (``make tables``).

In the document a command is a line of code, indented by four spaces. Its output follows between two comments::

        wormcast synth router --breakdown --markdown

    <!-- printed -->
    ...
    <!-- end -->

One command synthesises the router of measurements.md. If the area of the router in measurements.md exceeds
the bounds in `MOST`, the document is not changed.
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

#: ROUTER: beginning of the command that synthesises the router of measurements.md.
#: MOST: largest number of cells that the router of measurements.md may have, by kind of cell.
#: The limits in `MOST` are above the measured numbers, because the mapper's results vary.
ROUTER = "synth router --relations e-cube,hamiltonian --area-delay 4250"
MOST = {"LUT4": 2500, "FF": 550, "DPR16X4": 45}

PRINTED = re.compile(r"^    wormcast ([^\n]+)\n\n<!-- printed -->\n(.*?)<!-- end -->$", re.MULTILINE | re.DOTALL)


def require_area(command: str, printed: str) -> None:
    """Refuse a table in which a number of the router's cells exceeds its limit in `MOST` or is missing."""
    if not command.startswith(ROUTER):
        return
    for name, most in MOST.items():
        found = re.search(rf"^\| {name} \| (\d+) \|$", printed, re.MULTILINE)
        if found is None or int(found[1]) > most:
            raise WormcastError(f"tables: wormcast {command}: the number of {name} cells is "
                                f"{found[1] if found else 'missing'}. Allowed: at most {most}.")


def print_anew(document: Path, containing: str = "") -> int:
    """Run the commands of a document that contain the text ``containing``, and replace their output in the document.

    The commands run in the current folder. Returns the number of commands that were run. On an error the document
    does not change.

    Raises
    ------
    WormcastError
        A command failed, or the router's area exceeds its bounds.
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
