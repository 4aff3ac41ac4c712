"""Page on all papers, with what held and what did not, and a page and rows for each paper."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wormcast.algorithms import SCHEMES
from wormcast.hw.options import FORWARD_ORDERS

from ...common.text import count
from .definition import catalogue, paper_of
from .evidence import HELD, NOT_HELD
from .papers import PAPERS, Paper
from .record import CLAIMS, FigureRecord, papers_in
from .verdict import VERDICTS, Verdict, expected_errors

__all__ = ["claim_rows", "claims_page", "papers_page"]

#: Start of the note of a statement that is misprinted in the paper.
MISPRINTED = "misprinted: "

#: Largest number of main results that the page on all papers has of a paper.
HEADLINES = 8

#: Most characters of a cell with numbers, and of the sentences of a reason.
LONGEST_NUMBERS, LONGEST_REASON = 160, 320

#: Verdicts that are neither for nor against a statement.
OPEN = tuple(name for name in VERDICTS if name not in (HELD, NOT_HELD))

INTRODUCTION = """\
# What the papers say

For readers of five papers on multicast. After this page you know which statements of a paper hold on wormcast's \
routers, which do not, what is open, and why. The page is made from stored verdicts, in which each statement of a \
paper is a formula on measurements:

| verdict | |
|---|---|
| held | true at every load that the statement names |
| not held | reversed at one load or more |
| no difference | neither, and both sides are equal within 2 % at every load |
| undecided | none of these: too much noise, a reconstructed rival, or something that the paper lacks |
| not judged | a word without a limit, such as "small" |
| circular | a scheme was reconstructed from this statement |

[Figures and verdicts](figures.md#verdicts) has the rules. *Open* are all verdicts but held and not held. A claim, \
such as 003-51f, is a sentence of the paper. Several statements may judge one claim, on different figures. Names of \
figures are those of `wormcast figure`: 003-fig5a is Figure 5(a) of [Amnah].

A number after *at* or *x =* is a place on the figure's x axis: a load (payload flits times destinations, created per \
node and cycle) or an option's value. A number after ± is half of a 95 % interval; *(2290 to 2360)* is a range.

A *reconstructed rival* is a scheme that the paper compares with and does not define. Its form here is ours, after \
the papers' descriptions. A statement of order against such a rival is held only if it also holds against a bound \
that every form of the rival obeys."""

QUICK = """\
A quick run has four repetitions, each for an eighth of the cycles or, if more, the cycles of 200 messages; one \
look; and no variations. Most statements that it leaves open need a full run."""


#: Texts of words of predicates whose own text does not say what they are.
NAMES = {"others_wait": "wait behind other nodes' worms", "own_wait": "wait behind worms of the same sender",
         "arbitration_wait": "wait behind no worm", "p50": "median latency", "p95": "95 % of latencies",
         "p99": "99 % of latencies", "vc_ratio": "ratio of virtual channels", "to": "receiver",
         "received": "receipt", "lut4": "look-up tables", "ff": "flip-flops", "dpr16x4": "memories of 16 x 4 bits",
         "mhz": "clock in MHz", "median_mhz": "clock in MHz"}


def verdicts_of(records: Iterable[FigureRecord]) -> list[Verdict]:
    """Return the verdicts on all statements of figures."""
    return [verdict for one in records for verdict in one.verdicts]


def claim_rows(records: Iterable[FigureRecord]) -> list[dict[str, Any]]:
    """Return a row of plain cells for each statement, with its figure and the figure's run."""
    return [{"figure": one.figure, "date": one.date, "quick": one.quick,
             **{name: _plain(value) for name, value in verdict.to_dict().items()}}
            for one in records for verdict in one.verdicts]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {one}" for name, one in value.items())
    return ", ".join(value) if isinstance(value, list) else value


def papers_page(records: Iterable[FigureRecord]) -> str:
    """Return the page on all papers as Markdown, from the records of all figures that have run."""
    papers = papers_in(records)
    lines = [INTRODUCTION, "", *([QUICK, ""] if any(one.quick for some in papers.values() for one in some) else []),
             f"| paper | run | {' | '.join(VERDICTS)} | wrong by chance, at most |",
             "|---|---" + "|---:" * (len(VERDICTS) + 1) + "|"]
    for paper in PAPERS:
        some = papers.get(paper)
        found = verdicts_of(some or [])
        numbers = [str(sum(one.verdict == name for one in found)) if some else "" for name in VERDICTS]
        named = f"[{paper.key}](#{_anchor(paper)})" if some else paper.key
        lines.append(f"| {paper.number} [{named}] | {_runs(paper, some or [])} | {' | '.join(numbers)} | "
                     f"{f'{expected_errors(found):.2g}' if some else ''} |")
    for paper, some in papers.items():
        lines += ["", f"## {_heading(paper)}", "", *_paper(paper, some)]
    return "\n".join(lines).rstrip() + "\n"


def _runs(paper: Paper, records: Sequence[FigureRecord]) -> str:
    """Return the kinds and dates of a paper's runs as text, and how many of its figures have run if not all have."""
    if not records:
        return "not run"
    every = ", ".join(dict.fromkeys(f"{one.kind} {one.date}" for one in records))
    figures = _figures(paper)
    return every + (f"; {len(records)} of {len(figures)} figures" if len(records) < len(figures) else "")


def _figures(paper: Paper) -> list[str]:
    return [name for name in catalogue() if paper_of(name) == paper.number]


def _heading(paper: Paper) -> str:
    return f"{paper.key}: {paper.title}"


def _anchor(paper: Paper) -> str:
    return "".join(one for one in _heading(paper).lower().replace(" ", "-") if one.isalnum() or one in "-_")


def _paper(paper: Paper, records: Sequence[FigureRecord]) -> Iterator[str]:
    every, number = verdicts_of(records), f"{CLAIMS}/{paper.number}"
    yield (f"{paper.authors}. {_totals(every)} All statements: [{paper.number}]({number}.md), "
           f"[CSV]({number}.csv), [JSON]({number}.json).")
    yield from ("", *_made(paper, records))
    headlines = [(one, verdict) for one in records for verdict in one.verdicts if verdict.printed]
    if headlines:
        yield from ("", "| claim | statement | the paper | ours | verdict |", "|---|---|---|---|---|")
        yield from (_row(verdict.claim, verdict.statement, verdict.printed, _numbers(verdict), verdict.verdict)
                    for _, verdict in headlines[:HEADLINES])
    pictured = next((one for one, _ in headlines if one.picture), None) or next(
        (one for one in records if one.picture), None)
    if pictured is not None:
        yield from ("", f"![{pictured.title}]({pictured.picture})", "", f"*{pictured.title} ({pictured.source}).*")
    yield from ("", "| figure | title | held (claims) | not held | open |", "|---|---|---|---:|---:|")
    yield from (_row(one.figure, one.title, _held(one), *(str(sum(each.verdict in names for each in one.verdicts))
                                                          for names in ((NOT_HELD,), OPEN))) for one in records)
    yield from _listed("Not held", _reasons(records, (NOT_HELD,)))
    yield from _listed("Open", _reasons(records, OPEN))
    yield from _listed("Reconstructed rivals", [f"`{name}` is {SCHEMES[name].provenance}." for name in SCHEMES
                                                if any(name in one.reconstructed for one in every)])
    yield from _listed("Misprints, not held as printed", [
        f"{one.claim} {_quoted(one.statement)} {_sentences(_misprint(one))}" for one in every if _misprint(one)])


def _held(record: FigureRecord) -> str:
    """Return how many statements of a figure held, and on which claims, as text: ``3 (01a, 01c)``."""
    held = [one.claim for one in record.verdicts if one.verdict == HELD]
    claims = ", ".join(dict.fromkeys(claim.split("-", 1)[-1] for claim in held))
    return f"{len(held)} ({claims})" if held else "0"


def _numbers(verdict: Verdict) -> str:
    """Return a verdict's numbers as text for readers: names in place of formulas and paths, and no constants."""
    found = re.sub(r"(\w+)\('([^']+)'(?:, ([^)]+))?\)", _of_series, verdict.numbers)
    found = re.sub(r"points/given\.([^/]+)/result/(?:ranges/)?(\w+)", lambda one: f"{_name(one[2])} ({one[1]})", found)
    found = re.sub(r"explanation/statement=([^/]+)/(?:found/)?(\w+)", lambda one: f"{_name(one[2])} ({one[1]})", found)
    found = re.sub(r"ranges/(\w+)", lambda one: _name(one[1]), found)
    found = re.sub(r"(?<!: )\b\w+(?:/(?:\w+(?:=\w+)?|[#*]))+(?=[:)])",
                   lambda one: _path_words(re.split("[/=]", one[0])), found)
    found = re.sub(r"\d+(?:\.\d+)?e\+\d+", lambda one: f"{float(one[0]):.0f}", found.replace("+-", "±"))
    sides = [side for part in found.split(" | ") for side in re.split(r", (?=[^,]*: )", part.replace("; ", ", "))]
    shown = [side for side in dict.fromkeys(sides) if not re.fullmatch(r"[\d.]+: [\d.]+", side)]
    return _short("; ".join(shown), LONGEST_NUMBERS)


def _path_words(path: Sequence[str]) -> str:
    """Return a path in the JSON of a command as words: ``worms/*/step`` is "step of each worm"."""
    within = [name for name in path if name in FORWARD_ORDERS]
    *rest, last = (name for name in path if name not in FORWARD_ORDERS)

    def element() -> str:
        name = rest.pop()
        if rest and not rest[-1].isdigit():
            return f"each {_singular(rest.pop())}" if name == "*" else f"{_singular(rest.pop())} {name}"
        return f"entry {name}"

    if last == "#":
        counted = rest[-1].endswith("s")
        words = f"number of {_name(rest.pop())}" if counted else (
            f"entries in {element() if rest[-1].isdigit() else _name(rest.pop())}")
    elif last.isdigit():
        rest.append(last)
        words = element()
    else:
        words = f"mean {_name(rest.pop())}" if last == "mean" else _name(last)
    while rest:
        if rest[-1] == "*" or rest[-1].isdigit():
            words += f" of {element()}"
        else:
            within.insert(0, _name(rest.pop()))
    return words + (f" ({' '.join(within)})" if within else "")


def _singular(word: str) -> str:
    """Return the singular of a key in JSON."""
    return re.sub("(?<=ch)es$|(?<=ss)es$|(?<=[^s])s$", "", re.sub("ies$", "y", _name(word.removeprefix("by_"))))


def _of_series(call: re.Match[str]) -> str:
    return f"{_name(call[1])} of {call[2]}" + (f" at {call[3]}" if call[3] else "")


def _name(word: str) -> str:
    return NAMES.get(word) or word.replace("_", " ")


def _misprint(verdict: Verdict) -> str:
    """Return the correction of a statement that is misprinted in the paper; empty for other statements."""
    return next((part.removeprefix(MISPRINTED) for part in verdict.why.split("; ") if part.startswith(MISPRINTED)), "")


def _made(paper: Paper, records: Sequence[FigureRecord]) -> Iterator[str]:
    """Yield sentences on the runs that a paper's verdicts are from."""
    runs = dict.fromkeys(one.run for one in records)
    for run in runs:
        names = ", ".join(one.figure for one in records if one.run == run)
        yield f"{run[0].upper()}{run[1:]}{'' if len(runs) == 1 else f': {names}'}."
    if rest := [name for name in _figures(paper) if name not in {one.figure for one in records}]:
        yield f"Not run: {', '.join(rest)}."


def _totals(verdicts: Sequence[Verdict]) -> str:
    found = [f"{number} {name}" for name in VERDICTS if (number := sum(one.verdict == name for one in verdicts))]
    return f"{count(len(verdicts), 'statement')}: {', '.join(found)}."


def _reasons(records: Sequence[FigureRecord], names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each statement with one of the verdicts ``names``: its claim, its figures, and the reason."""
    figures: dict[tuple[str, str, str, str], list[str]] = {}
    for one in records:
        for verdict in one.verdicts:
            if verdict.verdict in names and not _misprint(verdict):
                kind = "" if verdict.verdict == NOT_HELD else f"{verdict.verdict.capitalize()}. "
                reason = _sentences(verdict.why) or f"{_numbers(verdict)}."
                figures.setdefault((verdict.claim, verdict.statement, kind, reason), []).append(
                    one.figure.split("-", 1)[1])
    for (claim, text, kind, reason), some in sorted(figures.items(), key=lambda entry: entry[0][0]):
        yield f"{claim} ({', '.join(dict.fromkeys(some))}) {_quoted(text)} {kind}{reason}"


def _sentences(why: str) -> str:
    """Return a reason as whole sentences, at most `LONGEST_REASON` characters of them."""
    found = ""
    for part in filter(None, why.split("; ")):
        sentence = f"{part[0].upper()}{part[1:]}{'' if part.endswith('.') else '.'}"
        if found and len(found) + len(sentence) > LONGEST_REASON:
            break
        found += f"{' ' if found else ''}{sentence}"
    return found


def _quoted(text: str) -> str:
    return f"\"{text}\"."


def _short(text: str, longest: int) -> str:
    return textwrap.shorten(text, longest, placeholder=" ...") if text else ""


def _listed(title: str, entries: Iterable[str]) -> Iterator[str]:
    found = [*entries]
    if found:
        yield from ("", f"**{title}.**", "", *(f"- {_escaped(one)}" for one in found))


def _row(*cells: str) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("*", "\\*")


def claims_page(paper: Paper, records: Sequence[FigureRecord]) -> str:
    """Return all statements of a paper as Markdown, a line each."""
    lines = [f"# {_heading(paper)}", "", *_made(paper, records), "", _totals(verdicts_of(records)), "",
             "| claim | figure | statement | verdict | ours | limit, rival, variations | why |", "|---" * 7 + "|"]
    lines += [_row(verdict.claim, one.figure, verdict.statement, verdict.verdict, _numbers(verdict),
                   "; ".join(filter(None, [verdict.remarks, verdict.sweep])), _sentences(verdict.why))
              for one in records for verdict in one.verdicts]
    return "\n".join(lines) + "\n"
