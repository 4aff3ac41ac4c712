"""The tables of a document, printed anew by the commands that stand above them (``make tables``).

In the document a command is a line of code, indented by four spaces; what it printed follows between two comments::

        wormcast synth router --breakdown --markdown

    <!-- printed -->
    ...
    <!-- end -->
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from wormcast.algorithms import WormcastError
from wormcast.sim.common.external import ended
from wormcast.sim.common.whole_file import whole_file

__all__ = ["print_anew"]

PRINTED = re.compile(r"^    wormcast ([^\n]+)\n\n<!-- printed -->\n(.*?)<!-- end -->$", re.MULTILINE | re.DOTALL)


def print_anew(document: Path, containing: str = "") -> int:
    """Run the commands of ``document`` in which a text stands, and put what they print in place of what is there.

    They run in the current folder. Returns how many they were.

    Raises
    ------
    WormcastError
        One failed; then the document is left as it was.
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
        count += 1
        return found[0].replace(f"<!-- printed -->\n{found[2]}", f"<!-- printed -->\n\n{done.stdout.strip()}\n\n")

    text = PRINTED.sub(printed, document.read_text())
    with whole_file(document) as unfinished:
        unfinished.write_text(text)
    return count


if __name__ == "__main__":
    if not print_anew(Path(sys.argv[1]), *sys.argv[2:3]):
        sys.exit(f"tables: {sys.argv[1]} has no such command")
