# amaranth: UnusedElaboratable=no
"""The properties that are proved of the hardware, and mutants that each of them finds."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from .catalogue import PROOFS
from .page import BEGINS, ENDS, Results, tables

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


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
    """But for the cycles in which mutants were found: those only a run of all proofs knows."""
    found = PAGE.read_text().split(BEGINS)[1].split(ENDS)[0]
    assert without_cycles(found) == without_cycles("\n" + tables(Results(defaultdict(int))))


def without_cycles(made):
    return re.sub(r"\| \d+ \|$", "| |", made, flags=re.MULTILINE)
