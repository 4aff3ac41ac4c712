"""Tables of docs/proofs.md, generated from the harnesses."""

import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

from .catalogue import PROOFS
from .harness import Harness

__all__ = ["BEGINS", "ENDS", "Results", "tables", "write"]

BEGINS, ENDS = "<!-- made by make prove -->\n", "<!-- end -->\n"


@dataclass
class Results:
    """Results of all proofs: for each harness and property, the cycle in which the mutant was found."""

    mutants: dict[tuple[type[Harness], str], int | None] = field(default_factory=dict)


def tables(results: Results) -> str:
    """Return for each harness its assumptions, properties, mutants, parameters and methods."""
    parts = []
    for harness in dict.fromkeys(proof.harness for proof in PROOFS):
        said = inspect.cleandoc(harness.__doc__ or "").split("\n\nParameters\n")[0]
        parts.append(f"## {harness.component}\n\n{said}\n\n"
                     "| property | mutant | in | found in cycle |\n|---|---|---|---:|\n")
        for known in harness.properties:
            parts.append(f"| {known.sentence} | {_code(known.mutant)} | `{known.mutant.place}` | "
                         f"{results.mutants[harness, known.name]} |\n")
        parts.append("\n| parameters | how |\n|---|---|\n")
        parts += [f"| {proof.said} | {proof.method} |\n" for proof in PROOFS if proof.harness is harness]
        parts.append("\n")
    return "".join(parts)


def _code(mutant) -> str:
    """Return a mutant as the text of a table cell."""
    old, new = (part.replace("|", "\\|") for part in (mutant.old, mutant.new))
    return f"`{old}` → `{new}`"


def write(page: Path, results: Results) -> None:
    """Replace the tables between the page's marks."""
    text = page.read_text()
    kept = re.compile(f"(?<={re.escape(BEGINS)}).*(?={re.escape(ENDS)})", re.DOTALL)
    if not kept.search(text):
        raise ValueError(f"{page} has no lines {BEGINS.strip()!r} and {ENDS.strip()!r}, the tables go between them")
    page.write_text(kept.sub(lambda _: "\n" + tables(results), text))
