"""The command line of the fuzzer; see the package."""

import argparse
import sys
import time
from pathlib import Path

from . import PARTS, Session
from . import __doc__ as text


def main() -> int:
    """Run the parts; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="Default: all.")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="Default: the time; it is printed.")
    parser.add_argument("--first", type=int, default=0, help="Number of the first trial. Default: 0.")
    parser.add_argument("--count", type=int, default=100, help="Trials of each part. Default: 100.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Time of each part. Default: any.")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="Folder for trials with faults.")
    given = parser.parse_args()
    faults = 0
    for part in given.part or PARTS:
        print(f"{part}: seed {given.seed}", flush=True)
        session = Session(part, given.seed, given.keep, lambda line: print(line, flush=True))
        session.run(PARTS[part], given.count, given.seconds, given.first)
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(session.codes.items()))
        print(
            f"{part}: {session.tried} trials, exit codes {codes}; {session.kinds.total()} faults of "
            f"{len(session.kinds)} kinds"
        )
        for kind, count in session.kinds.most_common():
            print(f"  {count} x {kind}")
        faults += session.kinds.total()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
