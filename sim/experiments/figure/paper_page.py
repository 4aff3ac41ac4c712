"""Page on all papers, with what held and what did not, and a page and rows for each paper."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from wormcast.algorithms import SCHEMES

from ...common.text import count
from .definition import paper_of
from .evidence import HELD, NOT_HELD, UNDECIDED
from .papers import PAPERS, Paper
from .rounds import FigureOutcome
from .verdict import VERDICTS, Verdict, expected_errors

__all__ = ["claim_rows", "claims_page", "papers_in", "papers_page"]

#: Start of the note of a statement that is misprinted in the paper.
MISPRINTED = "misprinted: "

#: Most headline results of a paper.
HEADLINES = 8

#: Most characters of a cell with numbers, and of a reason.
LONGEST_NUMBERS, LONGEST_REASON = 160, 240

RULES = """\
Each statement of a paper is a formula on measurements of our routers, with a verdict:

| verdict | |
|---|---|
| held | true at every load that the statement names |
| not held | reversed at one load or more |
| no difference | neither, and both sides are equal within 2 % at every load |
| undecided | none of these: too much noise, a reconstructed rival, or something that the paper lacks |
| not judged | a word without a limit, such as "small" |
| circular | a scheme was reconstructed from this statement |

[Figures and verdicts](figures.md#verdicts) has the rules. A limit in the column *limit* is ours: it stands for a word \
of the paper, such as 1.5 for *much*; the number after it is the limit at which the verdict would turn."""


def papers_in(outcomes: Sequence[FigureOutcome]) -> dict[Paper, list[FigureOutcome]]:
    """Return the papers of measured figures, each with its figures."""
    found = {paper: [one for one in outcomes if paper_of(one.figure.name) == paper.number] for paper in PAPERS}
    return {paper: some for paper, some in found.items() if some}


def verdicts_of(outcomes: Sequence[FigureOutcome]) -> list[Verdict]:
    """Return the verdicts on all statements of figures."""
    return [verdict for one in outcomes for verdict in one.verdicts]


def claim_rows(outcomes: Sequence[FigureOutcome]) -> list[dict[str, Any]]:
    """Return a row of plain cells for each statement, with its figure."""
    return [{"figure": one.figure.name, **{name: _plain(value) for name, value in verdict.to_dict().items()}}
            for one in outcomes for verdict in one.verdicts]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {one}" for name, one in value.items())
    return ", ".join(value) if isinstance(value, list) else value


def papers_page(outcomes: Sequence[FigureOutcome], made: str) -> str:
    """Return the page on all papers as Markdown.

    ``made``: sentence on the command and the version.
    """
    papers = papers_in(outcomes)
    lines = ["# What the papers say", "", made, "", RULES, "",
             f"| paper | {' | '.join(VERDICTS)} | wrong by chance, at most |", "|---" * (len(VERDICTS) + 2) + "|"]
    for paper, some in papers.items():
        found = verdicts_of(some)
        numbers = [str(sum(one.verdict == name for one in found)) for name in VERDICTS]
        lines.append(f"| [[{paper.key}](#{_anchor(paper)})] | {' | '.join(numbers)} | {expected_errors(found):.2g} |")
    for paper, some in papers.items():
        lines += ["", f"## {_heading(paper)}", "", *_paper(paper, some)]
    return "\n".join(lines).rstrip() + "\n"


def _heading(paper: Paper) -> str:
    return f"{paper.key}: {paper.title}"


def _anchor(paper: Paper) -> str:
    return "".join(one for one in _heading(paper).lower().replace(" ", "-") if one.isalnum() or one in "-_")


def _paper(paper: Paper, outcomes: Sequence[FigureOutcome]) -> Iterator[str]:
    every, number = verdicts_of(outcomes), paper.number
    yield (f"{paper.authors}. {_totals(every)} All statements: [{number}](verdicts/{number}.md), "
           f"[CSV](verdicts/{number}.csv), [JSON](verdicts/{number}.json).")
    headlines = [(one.figure, statement.printed, verdict) for one in outcomes
                 for statement, verdict in zip(one.figure.statements, one.verdicts, strict=True) if statement.printed]
    if headlines:
        yield from ("", "| claim | | the paper | ours | verdict |", "|---|---|---|---|---|")
        yield from (_row(verdict.claim, verdict.statement, printed, _short(verdict.numbers, LONGEST_NUMBERS),
                         verdict.verdict) for _, printed, verdict in headlines[:HEADLINES])
    pictured = next((figure for figure, *_ in headlines if figure.series), None) or next(
        (one.figure for one in outcomes if one.curves), None)
    if pictured is not None and pictured.is_drawable and pictured.series:
        yield from ("", f"![{pictured.title}]({pictured.name}.svg)", "", f"*{pictured.title} ({pictured.source}).*")
    yield from _listed("Held", [f"{one.figure.title} (`{one.figure.name}`): {held} of {len(one.verdicts)}"
                                for one in outcomes if (held := sum(each.verdict == HELD for each in one.verdicts))])
    for title, names in ("Not held", (NOT_HELD,)), ("Open", tuple(
            name for name in VERDICTS if name not in (HELD, NOT_HELD))):
        yield from _listed(title, _reasons([one for one in every if one.verdict in names]))
    yield from _listed("Reconstructed rivals", [f"`{name}`: {SCHEMES[name].provenance}" for name in SCHEMES
                                                if any(name in one.reconstructed for one in every)])
    yield from _listed("Misprints", [f"{verdict.claim}: \"{verdict.statement}\"; {part.removeprefix(MISPRINTED)}"
                                     for verdict in every for part in verdict.why.split("; ", 1)
                                     if part.startswith(MISPRINTED)])


def _totals(verdicts: Sequence[Verdict]) -> str:
    found = [f"{number} {name}" for name in VERDICTS if (number := sum(one.verdict == name for one in verdicts))]
    return f"{count(len(verdicts), 'statement')}: {', '.join(found)}."


def _reasons(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield a sentence for each statement, or for all statements that are undecided for the same reason."""
    ordered = sorted(verdicts, key=lambda one: (one.verdict, one.why if one.verdict == UNDECIDED else one.claim))
    for (name, why), group in groupby(ordered, key=lambda one: (
            one.verdict, one.why if one.verdict == UNDECIDED else f"{one.claim} {one.statement}")):
        some = list(group)
        if len(some) == 1:
            [one] = some
            prefix = "" if name == NOT_HELD else f"{name}; "
            yield f"{one.claim}: {_sentence(one.statement)} {prefix}{_short(one.why or one.numbers, LONGEST_REASON)}"
        else:
            yield f"{', '.join(dict.fromkeys(one.claim for one in some))}: {name}; {_short(why, LONGEST_REASON)}"


def _sentence(text: str) -> str:
    return f"\"{text}\":"


def _short(text: str, longest: int) -> str:
    return textwrap.shorten(text, longest, placeholder=" ...") if text else ""


def _listed(title: str, entries: Sequence[str] | Iterator[str]) -> Iterator[str]:
    found = [*entries]
    if found:
        yield from ("", f"**{title}.**", "", *(f"- {_escaped(one)}" for one in found))


def _row(*cells: str) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("*", "\\*")


def claims_page(paper: Paper, outcomes: Sequence[FigureOutcome], made: str) -> str:
    """Return all statements of a paper as Markdown, a line each."""
    lines = [f"# {_heading(paper)}", "", made, "", _totals(verdicts_of(outcomes)), "",
             "| claim | figure | statement | verdict | ours | limit, rival, variations | why |", "|---" * 7 + "|"]
    lines += [_row(verdict.claim, one.figure.name, verdict.statement, verdict.verdict,
                   _short(verdict.numbers, LONGEST_NUMBERS), "; ".join(filter(None, [verdict.remarks, verdict.sweep])),
                   _short(verdict.why, LONGEST_REASON)) for one in outcomes for verdict in one.verdicts]
    return "\n".join(lines) + "\n"
