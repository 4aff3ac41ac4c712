"""Tables of docs/proofs.md, generated from the harnesses."""

import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

from .catalogue import PROOFS
from .harness import Harness

__all__ = ["BEGINS", "ENDS", "Results", "count", "tables", "write"]

BEGINS, ENDS = "<!-- made by make prove -->\n", "<!-- end -->\n"


@dataclass
class Results:
    """Results of proofs: for each harness and property, the cycle in which the mutant was found."""

    mutants: dict[tuple[type[Harness], str], int | None] = field(default_factory=dict)


def count() -> str:
    """Return the number of properties that are proved, as the page and the README state it."""
    harnesses = dict.fromkeys(proof.harness for proof in PROOFS)
    return f"{sum(len(harness.properties) for harness in harnesses)} properties"


def tables(results: Results) -> dict[str, str]:
    """Return the section of each component that has results: assumptions, properties, mutants, parameters, methods."""
    made = {}
    for harness in dict.fromkeys(proof.harness for proof in PROOFS):
        if not all((harness, known.name) in results.mutants for known in harness.properties):
            continue
        said = inspect.cleandoc(harness.__doc__ or "").split("\n\nParameters\n")[0]
        parts = [f"## {harness.component}\n\n{said}\n\n",
                 "| property | mutant | in | found in cycle |\n|---|---|---|---:|\n"]
        for known in harness.properties:
            parts.append(f"| {known.sentence} | {_code(known.mutant)} | `{known.mutant.place}` | "
                         f"{results.mutants[harness, known.name]} |\n")
        parts.append("\n| parameters | how |\n|---|---|\n")
        parts += [f"| {proof.said} | {proof.method} |\n" for proof in PROOFS if proof.harness is harness]
        made[harness.component] = "".join([*parts, "\n"])
    return made


def _code(mutant) -> str:
    """Return a mutant as the text of a table cell."""
    old, new = (part.replace("|", "\\|") for part in (mutant.old, mutant.new))
    return f"`{old}` → `{new}`"


def write(page: Path, results: Results) -> None:
    """Replace the sections between the page's marks that have results, and keep the others.

    Sections of components that have no proof are removed.
    """
    text = page.read_text()
    found = re.search(f"(?<={re.escape(BEGINS)}).*(?={re.escape(ENDS)})", text, re.DOTALL)
    if not found:
        raise ValueError(f"{page} has no lines {BEGINS.strip()!r} and {ENDS.strip()!r}, the tables go between them")
    kept = re.findall(r"^(## (.*)\n(?:(?!## ).*\n)*)", found[0], re.MULTILINE)
    sections = {name: section for section, name in kept} | tables(results)
    order = dict.fromkeys(proof.harness.component for proof in PROOFS)
    made = f"\n{count()} are proved.\n\n" + "".join(sections[name] for name in order if name in sections)
    page.write_text(text[:found.start()] + made + text[found.end():])
