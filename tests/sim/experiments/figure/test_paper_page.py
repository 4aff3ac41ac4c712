"""The page on the papers, of made-up verdicts: totals, main results, what is open and why."""

import json
from dataclasses import replace

import pytest

from wormcast.algorithms import WormcastError
from wormcast.algorithms.toml_file import read_toml
from wormcast.sim.api.figure_files import write_report
from wormcast.sim.experiments.figure.definition import Figure, Statement, names_of_claim, require_claim
from wormcast.sim.experiments.figure.paper_page import claim_rows, claims_page, papers_in, papers_page
from wormcast.sim.experiments.figure.plan import RunPlan
from wormcast.sim.experiments.figure.predicate import Predicate
from wormcast.sim.experiments.figure.rounds import FigureOutcome
from wormcast.sim.experiments.figure.verdict import Verdict

VERDICTS = [
    Verdict("004-01a", "DCF is fast", "p", "held", "latency: 12", "", {}, statistical=True),
    Verdict("004-02b", "Z waits | a lot", "p", "not held", "waits: 0", "reversed at 3; as printed", {}, {
        "slow": "held", "fast": "not held"}, True),
    Verdict("004-03c", "DCF beats EDN", "p", "undecided", "latency: 3", "rival reconstructed: no bound", {},
            reconstructed=("edn",)),
    Verdict("004-03d", "DCF beats EDN by far", "p", "undecided", "latency: 3", "rival reconstructed: no bound", {},
            reconstructed=("edn",), limit=1.5, turns_at=1.731),
    Verdict("004-04e", "EDN has its formula", "p", "circular", "latency: 9", "reconstructed from it", {}),
    Verdict("004-05f", "nodes have four ports", "p", "not held", "ports: 3", "misprinted: three", {}),
    Verdict("004-06g", "the same", "p", "no difference", "x: 3", "", {}, statistical=True),
]
STATEMENTS = tuple(Statement(one.claim, one.statement, Predicate("1 < 2"), printed="12 cycles" if one.claim[-1] == "a"
                             else "") for one in VERDICTS)
OUTCOME = FigureOutcome(Figure("004-fig7", "Latency", "[Hou], Figure 7", statements=STATEMENTS), [], [], VERDICTS, [])


def test_a_page_says_what_held_what_did_not_and_why():
    page = papers_page([OUTCOME], "Made by hand.").splitlines()
    for line in (
        "| [[Hou](#hou-depth-contention-free-broadcasting-on-torus-networks)] | 1 | 2 | 1 | 2 | 0 | 1 | 0.003 |",
        ("Y. Hou, C.-M. Wang and L.-H. Hsu. 7 statements: 1 held, 2 not held, 1 no difference, 2 undecided, "
         "1 circular. All statements: [004](verdicts/004.md), [CSV](verdicts/004.csv), [JSON](verdicts/004.json)."),
        "| 004-01a | DCF is fast | 12 cycles | latency: 12 | held |",
        "- Latency (`004-fig7`): 1 of 7",
        "- 004-02b: \"Z waits \\| a lot\": reversed at 3; as printed",
        "- 004-03c, 004-03d: undecided; rival reconstructed: no bound",
        "- 004-04e: \"EDN has its formula\": circular; reconstructed from it",
        "- 004-05f: \"nodes have four ports\"; three",
    ):
        assert line in page
    assert any(line.startswith("- `edn`: reconstructed") for line in page)


def test_a_page_of_a_paper_has_a_line_for_each_statement():
    [(paper, some)] = papers_in([OUTCOME]).items()
    page = claims_page(paper, some, "Made by hand.").splitlines()
    assert sum(line.startswith("| 004-") for line in page) == 7
    assert ("| 004-02b | 004-fig7 | Z waits \\| a lot | not held | waits: 0 | held in 1 of 2 variations: slow | "
            "reversed at 3; as printed |") in page
    assert any("| limit ours: 1.5, turns at 1.73; reconstructed: edn |" in line for line in page)
    row = claim_rows([OUTCOME])[1]
    assert (row["figure"], row["claim"], row["variations"]) == ("004-fig7", "004-02b", "slow: held; fast: not held")


def test_the_files_of_a_report(tmp_path):
    files = write_report("004", [replace(OUTCOME, plan=RunPlan((4, 8), 500, 1000))], tmp_path, quick=True)
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        "index.html", "papers.md", "plans.toml", "verdicts/004.md", "verdicts/004.json", "verdicts/004.csv"]
    found = json.loads(files[4].read_text())
    assert (found["quick"], len(found["verdicts"]), found["verdicts"][0]["figure"]) == (True, 7, "004-fig7")
    assert len(files[5].read_text().splitlines()) == 8
    assert "This run is quick" in files[1].read_text()
    assert read_toml(files[2], "plans") == {"004-fig7": {"places": [4, 8], "warmup": 500, "cycles": 1000}}


@pytest.mark.parametrize(("held", "text"), [
    ((True, True), "held in all 2 variations"), ((True, False), "held in 1 of 2 variations: a"),
    ((False, False), "held in none of 2 variations"), ((), "")])
def test_sweeps(held, text):
    variations = {name: "held" if one else "undecided" for name, one in zip("ab", held, strict=False)}
    assert replace(VERDICTS[0], variations=variations).sweep == text


def test_claims():
    assert names_of_claim("004-04b") == ["004-theorem1"]
    assert [one.claim for one in OUTCOME.of_claim("004-03c").verdicts] == ["004-03c"]
    with pytest.raises(WormcastError, match=r"^claim: '004-04bb' is unknown\. Nearest: 004-04b\. Allowed: claims that"):
        names_of_claim("004-04bb")
    with pytest.raises(WormcastError, match=r"^claim: 'x' is not valid: no statement of 004-fig7 has it\."):
        require_claim("x", [OUTCOME.figure])
