"""Pages on the papers are those of the stored verdicts, and the README has their totals."""

import re
from pathlib import Path

from wormcast.sim.experiments.figure.evidence import HELD, NOT_HELD
from wormcast.sim.experiments.figure.paper_page import claims_page, papers_page, verdicts_of
from wormcast.sim.experiments.figure.papers import PAPERS
from wormcast.sim.experiments.figure.record import papers_in, read_records

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RECORDS = read_records(DOCS)

#: Most characters of the page on a paper: four screens of 50 lines.
LONGEST = 4 * 50 * 120


def test_pages_are_made_from_the_stored_verdicts():
    assert (DOCS / "papers.md").read_text() == papers_page(RECORDS)
    for paper, some in papers_in(RECORDS).items():
        assert (DOCS / f"verdicts/{paper.number}.md").read_text() == claims_page(paper, some)
        assert len((DOCS / f"verdicts/{paper.number}.csv").read_text().splitlines()) == 1 + len(verdicts_of(some))


def test_the_readme_has_the_totals():
    found = [one.verdict for one in verdicts_of(RECORDS)]
    total, held, not_held, rest = map(int, re.search(
        r"Of (\d+) statements, (\d+) held, (\d+) did not, (\d+) are open",
        (ROOT / "README.md").read_text().replace("\n ", "")).groups())
    assert (total, held, not_held) == (len(found), found.count(HELD), found.count(NOT_HELD))
    assert rest == total - held - not_held


def test_a_paper_takes_at_most_four_screens():
    parts = (DOCS / "papers.md").read_text().split("\n## ")[1:]
    assert len(parts) == len(papers_in(RECORDS))
    for part in parts:
        assert len(part) < LONGEST


def test_all_papers_are_named():
    page = (DOCS / "papers.md").read_text()
    assert all(f"| {paper.number} [" in page for paper in PAPERS)
