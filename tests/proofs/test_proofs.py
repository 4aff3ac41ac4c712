# amaranth: UnusedElaboratable=no
"""The properties that are proved of the hardware, and mutants that each of them finds."""

import re
from pathlib import Path

import pytest

from .catalogue import PROOFS
from .page import BEGINS, ENDS, Results, count, tables, write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "proofs.md"


def marked(proof, *broken, slow=False):
    name = ", ".join([str(proof), *(known.name for known in broken)])
    return pytest.param(proof, *broken, id=name, marks=[pytest.mark.slow] * (slow or proof.slow))


@pytest.mark.parametrize("proof", [marked(proof) for proof in PROOFS])
def test_properties_hold(proof, tmp_path):
    outcome = proof.prove(tmp_path)
    assert outcome.holds, outcome


# of each component one by default
@pytest.mark.parametrize(
    ("proof", "broken"),
    [marked(proof, broken, slow=number > 0)
     for proof in PROOFS if proof.mutants for number, broken in enumerate(proof.harness.properties)],
)
def test_mutant_is_found(proof, broken, tmp_path):
    outcome = proof.find_mutant(broken, tmp_path)
    assert not outcome.holds
    assert outcome.waveform.exists()


def test_page_is_what_proofs_make():
    """The cycles in which mutants were found are not compared: only a run of all proofs has them."""
    found = PAGE.read_text().split(BEGINS)[1].split(ENDS)[0]
    every = Results({(proof.harness, known.name): 0 for proof in PROOFS for known in proof.harness.properties})
    assert without_cycles(found) == without_cycles(f"\n{count()} are proved.\n\n" + "".join(tables(every).values()))


def test_readme_states_the_number_of_properties():
    assert f"`make prove` proves {count()} of\n" in (ROOT / "README.md").read_text()


def test_sections_without_results_stay(tmp_path):
    """A run of some proofs renews their sections, and adds those that the page lacks."""
    page, harness = tmp_path / "proofs.md", PROOFS[-1].harness
    page.write_text(PAGE.read_text())
    write(page, Results({(harness, known.name): 12345 for known in harness.properties}))
    changed = page.read_text()
    assert changed.count("| 12345 |") == len(harness.properties)
    assert without_cycles(changed) == without_cycles(PAGE.read_text())
    page.write_text(f"{BEGINS}{ENDS}")
    write(page, Results({(harness, known.name): 1 for known in harness.properties}))
    assert page.read_text().count("## ") == 1


def without_cycles(made):
    return re.sub(r"\| \d+ \|$", "| |", made, flags=re.MULTILINE)
