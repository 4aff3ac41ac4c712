"""Command line of the fuzzer; see the package."""

import argparse
import functools
import sys
import time
from pathlib import Path

from . import PARTS, Session
from . import __doc__ as text


def main() -> int:
    """Run the selected parts of the fuzzer; return 1 if they found a fault, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="Default: all parts.")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="Seed of the trials. Default: the time.")
    parser.add_argument("--first", type=int, default=0, help="Number of the first trial. Default: 0.")
    parser.add_argument("--count", type=int, default=100, help="Number of trials of each part. Default: 100.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Time limit of each part. Default: none.")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="Folder for trials with faults.")
    arguments = parser.parse_args()
    show = functools.partial(print, flush=True)
    faults = 0
    for part in arguments.part or PARTS:
        show(f"{part}: seed {arguments.seed}")
        session = Session(part, arguments.seed, arguments.keep, show, show)
        session.run(PARTS[part], arguments.count, arguments.seconds, arguments.first)
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(session.exit_codes.items()))
        show(f"{part}: {session.trials} trials, exit codes {codes}; {session.faults.total()} faults of "
             f"{len(session.faults)} kinds")
        for kind, count in session.faults.most_common():
            show(f"  {count} x {kind}")
        faults += session.faults.total()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
