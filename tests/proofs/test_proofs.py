# amaranth: UnusedElaboratable=no
"""The properties that are proved of the hardware, and mutants that each of them finds."""

from pathlib import Path

import pytest

from .catalogue import PROOFS
from .page import BEGINS, ENDS

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


def marked(proof, *broken):
    name = ", ".join([str(proof), *(known.name for known in broken)])
    return pytest.param(proof, *broken, id=name, marks=[pytest.mark.slow] * proof.slow)


@pytest.mark.parametrize("proof", [marked(proof) for proof in PROOFS])
def test_properties_hold(proof, tmp_path):
    outcome = proof.prove(tmp_path)
    assert outcome.holds, outcome


@pytest.mark.parametrize(
    ("proof", "broken"),
    [marked(proof, broken) for proof in PROOFS if proof.mutants for broken in proof.harness.properties],
)
def test_mutant_is_found(proof, broken, tmp_path):
    outcome = proof.find_mutant(broken, tmp_path)
    assert not outcome.holds
    assert outcome.waveform.exists()


def test_page_lists_what_is_proved():
    made = PAGE.read_text().split(BEGINS)[1].split(ENDS)[0]
    rows = [line for line in made.splitlines() if line.startswith("| ")]
    expected = {f"| {proof.said} | {proof.method} |" for proof in PROOFS}
    sentences = {f"| {known.sentence} |" for proof in PROOFS for known in proof.harness.properties}
    headings = 2 * len({proof.harness for proof in PROOFS})
    assert len(rows) == len(expected) + len(sentences) + headings
    assert expected <= set(rows)
    assert all(any(row.startswith(sentence) for row in rows) for sentence in sentences)
