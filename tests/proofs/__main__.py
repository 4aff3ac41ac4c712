"""Command ``make prove``: proofs of all properties, one line for each."""

import argparse
import sys
from pathlib import Path

from .catalogue import PROOFS
from .page import Results, write

__all__: list[str] = []


def main() -> int:
    """Run all proofs, then find all mutants. Return 1 if a proof or a mutant fails."""
    parser = argparse.ArgumentParser(prog="proofs", description="Prove sentences about the hardware, and find mutants.")
    parser.add_argument("--waveforms", type=Path, default=Path("out/proofs"), metavar="FOLDER",
                        help="folder for the waveforms of violations (default: %(default)s)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="Markdown file whose tables are renewed")
    parser.add_argument("--component", metavar="TEXT", default="",
                        help="run only the proofs of components whose names contain TEXT")
    options = parser.parse_args()
    proofs = [proof for proof in PROOFS if options.component in proof.harness.component]
    if not proofs:
        known = ", ".join(dict.fromkeys(proof.harness.component for proof in PROOFS))
        parser.error(f"--component: {options.component} is not valid. Allowed: a part of {known}.")

    results, failed = Results(), 0
    for proof in proofs:
        outcome = proof.prove(options.waveforms)
        failed += not outcome.holds
        said = proof.method if outcome.holds else f"NOT PROVED, {outcome}"
        for known in proof.harness.properties:
            line = f"{proof}: {said}, {outcome.seconds:.1f} s: {known.sentence}"
            if proof.mutants:
                found = proof.find_mutant(known, options.waveforms)
                results.mutants.setdefault((proof.harness, known.name), found.step)
                failed += found.holds
                cycle = "NOT FOUND" if found.holds else f"found in cycle {found.step}"
                line += f" Mutant {cycle}, {found.seconds:.1f} s."
            print(line, flush=True)
    if options.page and not failed:
        write(options.page, results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
