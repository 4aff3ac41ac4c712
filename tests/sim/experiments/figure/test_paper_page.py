"""The page on the papers, of made-up verdicts: totals, main results, what is open and why."""

import json
from dataclasses import replace

import pytest

from wormcast.algorithms import WormcastError
from wormcast.algorithms.toml_file import read_toml
from wormcast.sim.api.figure_files import write_report
from wormcast.sim.experiments.figure.definition import Figure, names_of_claim, require_claim
from wormcast.sim.experiments.figure.paper_page import claim_rows, claims_page, papers_page
from wormcast.sim.experiments.figure.plan import RunPlan
from wormcast.sim.experiments.figure.record import FigureRecord, papers_in, read_records
from wormcast.sim.experiments.figure.rounds import FigureOutcome
from wormcast.sim.experiments.figure.verdict import Verdict

VERDICTS = [
    Verdict("004-01a", "DCF is fast", "p", "held", "latency: 12", "", {}, statistical=True, printed="12 cycles"),
    Verdict("004-02b", "Z waits | a lot", "p", "not held", "waits: 0",
            "the statement is reversed at x = 3; as printed", {},
            {"slow": "held", "fast": "not held"}, True),
    Verdict("004-03c", "DCF beats EDN", "p", "undecided", "latency: 3", "the rival is reconstructed: no bound", {},
            reconstructed=("edn",)),
    Verdict("004-03d", "DCF beats EDN by far", "p", "undecided", "latency: 3",
            "the rival is reconstructed: no bound", {}, reconstructed=("edn",), limit=1.5, turns_at=1.731),
    Verdict("004-04e", "EDN has its formula", "p", "circular", "latency: 9", "reconstructed from it", {}),
    Verdict("004-05f", "nodes have four ports", "p", "not held", "ports: 3", "misprinted: three", {}),
    Verdict("004-06g", "the same", "p", "no difference", "x: 3", "", {}, statistical=True),
]
OUTCOME = FigureOutcome(Figure("004-fig7", "Latency", "[Hou], Figure 7"), [], [], VERDICTS, [])
RECORD = FigureRecord("004-fig7", "Latency", "[Hou], Figure 7", "0.1.0", "0123456789abcdef", "2026-11-27", quick=True,
                      picture="a.svg", verdicts=tuple(VERDICTS))
OTHER = replace(RECORD, figure="004-fig8", title="Waits", date="2026-11-28", quick=False, picture="", verdicts=(
    replace(VERDICTS[1], why="no wait at all"),
    replace(VERDICTS[2], claim="004-09z", why="the difference between the two sides of the statement may be 0")))


def test_a_page_says_what_held_what_did_not_and_why():
    page = papers_page([RECORD, OTHER]).splitlines()
    for line in (
        ("| 004 [[Hou](#hou-depth-contention-free-broadcasting-on-torus-networks)] | quick 2026-11-27, full "
         "2026-11-28; 2 of 10 figures | 1 | 3 | 1 | 3 | 0 | 1 | 0.004 |"),
        "| 003 [Amnah] | not run |  |  |  |  |  |  |  |",
        ("Y. Hou, C.-M. Wang and L.-H. Hsu. 9 statements: 1 held, 3 not held, 1 no difference, 3 undecided, "
         "1 circular. All statements: [004](verdicts/004.md), [CSV](verdicts/004.csv), [JSON](verdicts/004.json)."),
        "Quick run of 2026-11-27, version 0.1.0 (commit 0123456789ab): 004-fig7.",
        "Full run of 2026-11-28, version 0.1.0 (commit 0123456789ab): 004-fig8.",
        "Not run: 004-area, 004-fig3, 004-fig6, 004-fig9, 004-length, 004-size, 004-startup, 004-theorem1.",
        "| 004-01a | DCF is fast | 12 cycles | latency: 12 | held |",
        "![Latency](a.svg)",
        "| 004-fig7 | Latency | 1 (01a) | 2 | 4 |",
        "| 004-fig8 | Waits | 0 | 1 | 1 |",
        "- 004-02b (fig7) \"Z waits \\| a lot\". The statement is reversed at x = 3. As printed.",
        "- 004-02b (fig8) \"Z waits \\| a lot\". No wait at all.",
        "- 004-03c (fig7) \"DCF beats EDN\". Undecided. The rival is reconstructed: no bound.",
        "- 004-03d (fig7) \"DCF beats EDN by far\". Undecided. The rival is reconstructed: no bound.",
        "- 004-04e (fig7) \"EDN has its formula\". Circular. Reconstructed from it.",
        "- 004-05f \"nodes have four ports\". Three.",
    ):
        assert line in page
    assert any(line.startswith("- `edn` is reconstructed") for line in page)


@pytest.mark.parametrize(("numbers", "text"), [
    ("latency('tp', 60): 436.4 +- 66, latency('sp', 60): 422 +- 4.9e+02",
     "latency of tp at 60: 436.4 ± 66; latency of sp at 60: 422 ± 490"),
    ("others_wait('dcf'): 0 at 1; 0 at 200 | others_wait('dcf-ties-up'): 0 at 1",
     "wait behind other nodes' worms of dcf: 0 at 1, 0 at 200; wait behind other nodes' worms of dcf-ties-up: 0 at 1"),
    ("latency('edn') - latency('dcf'): 400 at 1, 200: 200", "latency of edn - latency of dcf: 400 at 1"),
    ("points/given.scheme=tp/result/lut4: 3576, 1.1 * (points/given.scheme=sp/result/lut4): 3934",
     "look-up tables (scheme=tp): 3576; 1.1 \\* (look-up tables (scheme=sp)): 3934"),
    ("points/given.vcs=2/result/ranges/ff: 491, 1.1 * (points/given.vcs=1/result/ranges/lut4): 2332 (2290 to 2360)",
     "flip-flops (vcs=2): 491; 1.1 \\* (look-up tables (vcs=1)): 2332 (2290 to 2360)"),
    ("explanation/statement=Two networks/found/links: 108 | explanation/statement=Two networks/holds: True",
     "links (Two networks): 108; holds (Two networks): True"),
    ("ranges/mhz: 90.2 (88 to 91)", "clock in MHz: 90.2 (88 to 91)"),
    ("messages/0/latency: 1064, 8 * 100: 1064", "latency of message 0: 1064; 8 \\* 100: 1064"),
    ("worms/0/links/#: 28 | nodes/#: 27 | copies/mean: 1.926 | copies/mean: 1.926",
     "number of links of worm 0: 28; number of nodes: 27; mean copies: 1.926"),
    ("", "")])
def test_numbers_for_readers(numbers, text):
    page = papers_page([replace(RECORD, verdicts=(replace(VERDICTS[0], numbers=numbers),))])
    assert f"| 12 cycles | {text} | held |" in page


def test_a_page_of_one_run_names_it_once():
    page = papers_page([replace(RECORD, quick=False, commit=None)])
    assert "Full run of 2026-11-27, version 0.1.0.\n" in page
    assert "A quick run has" not in page
    assert "A quick run has" in papers_page([RECORD])


def test_a_page_of_a_paper_has_a_line_for_each_statement():
    [(paper, some)] = papers_in([RECORD]).items()
    page = claims_page(paper, some).splitlines()
    assert sum(line.startswith("| 004-") for line in page) == 7
    assert ("| 004-02b | 004-fig7 | Z waits \\| a lot | not held | waits: 0 | held in 1 of 2 variations: slow | "
            "The statement is reversed at x = 3. As printed. |") in page
    assert any("| limit of ours: 1.5; the verdict turns at 1.73; reconstructed: edn |" in line for line in page)
    row = claim_rows([RECORD])[1]
    assert (row["figure"], row["claim"], row["variations"]) == ("004-fig7", "004-02b", "slow: held; fast: not held")


def test_the_files_of_a_report(tmp_path):
    files = write_report([replace(OUTCOME, plan=RunPlan((4, 8), 500, 1000))], tmp_path, quick=True)
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        "index.html", "papers.md", "plans.toml", "verdicts/004.md", "verdicts/004.json", "verdicts/004.csv"]
    [found] = json.loads(files[4].read_text())["figures"]
    assert (found["quick"], len(found["verdicts"]), found["figure"]) == (True, 7, "004-fig7")
    assert len(files[5].read_text().splitlines()) == 8
    assert read_toml(files[2], "plans") == {"004-fig7": {"places": [4, 8], "warmup": 500, "cycles": 1000}}


def test_papers_and_their_figures_run_one_by_one(tmp_path):
    write_report([replace(OUTCOME, plan=RunPlan((4, 8), 500, 1000))], tmp_path, quick=True)
    first = (tmp_path / "verdicts/004.json").read_text()
    verdict = replace(VERDICTS[0], claim="003-01a")
    other = FigureOutcome(Figure("003-fig4", "Paths", "[Amnah]"), [], [], [verdict], [], RunPlan((1,), 0, 500))
    write_report([other], tmp_path, quick=False)
    assert (tmp_path / "verdicts/004.json").read_text() == first
    assert [one.figure for one in read_records(tmp_path)] == ["003-fig4", "004-fig7"]
    assert read_records(tmp_path)[1].verdicts == tuple(VERDICTS)
    page = (tmp_path / "papers.md").read_text()
    assert "## Amnah" in page
    assert "## Hou" in page
    assert {*read_toml(tmp_path / "plans.toml", "plans")} == {"003-fig4", "004-fig7"}
    # another figure of a paper, and the first one again
    write_report([replace(OUTCOME, figure=replace(OUTCOME.figure, name="004-area"))], tmp_path, quick=False)
    write_report([replace(OUTCOME, verdicts=VERDICTS[:1])], tmp_path, quick=False)
    assert [(one.figure, one.quick, len(one.verdicts)) for one in read_records(tmp_path)] == [
        ("003-fig4", False, 1), ("004-area", False, 7), ("004-fig7", False, 1)]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"figures": [{"figure": "004-fig7"}]}'])
def test_stored_verdicts_of_another_form_are_refused(tmp_path, text):
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts/004.json").write_text(text)
    with pytest.raises(WormcastError, match=r"verdicts/004\.json is not valid: wormcast figure did"):
        read_records(tmp_path)


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
    with pytest.raises(WormcastError, match=r"^claim: 'x' is not valid: 004-fig7 has no statement on it\."):
        require_claim("x", [OUTCOME.figure])
