"""Files of measured figures: tables, pictures, pages, and the report on several figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..common.atomic_write import make_folder, whole_file
from ..common.csv_file import write_csv
from ..common.figure_file import draw_file
from ..common.text import version_text
from ..experiments.figure import (
    PLANS,
    FigureOutcome,
    claim_rows,
    claims_page,
    figure_page,
    file_of,
    index_page,
    join_records,
    papers_in,
    papers_page,
    read_plans,
    read_records,
    record_of,
    scatter_figure,
    written_plans,
    written_records,
)
from ..experiments.figure.substitution import written
from .command_texts import read_command

__all__ = ["write_figure", "write_report"]


def write_figure(outcome: FigureOutcome, out: Path, quick: bool, *, progress: bool = True) -> tuple[Path, ...]:
    """Write a figure's table, pictures and page into a folder, and return the files.

    ``progress``: announce long work of the commands of pictures on a terminal.
    """
    figure, files = outcome.figure, list[Path]()
    pictures: list[tuple[str, str]] = []
    if outcome.rows:
        files.append(out / f"{figure.name}.csv")
        with whole_file(files[-1]) as unfinished:
            write_csv(outcome.rows, unfinished)
    if outcome.curves:
        files.append(out / f"{figure.name}.svg")
        draw_file(files[-1], outcome.picture_of_curves)
        pictures.append((figure.title, files[-1].name))
    if outcome.scatter:
        files.append(out / f"{figure.name}-scatter.svg")
        draw_file(files[-1], lambda: scatter_figure(figure, outcome.scatter))
        pictures.append((figure.title, files[-1].name))
    for one in figure.pictures:
        files.append(out / f"{figure.name}-{one.name}.svg")
        draw_file(files[-1], read_command(one.command).result(progress=progress).figure)
        pictures.append((written(one.command, {"plot": f"{one.name}.svg"}, one.name), files[-1].name))
    files.append(out / f"{figure.name}.html")
    with whole_file(files[-1]) as unfinished:
        unfinished.write_text(figure_page(outcome, pictures, _notes(outcome, quick)), encoding="utf-8")
    return tuple(files)


def write_report(outcomes: Sequence[FigureOutcome], out: Path, quick: bool) -> tuple[Path, ...]:
    """Write the pages about several figures, and return the files.

    The files are the index, the page on all papers, the run plans, and for each paper of these figures its
    statements as Markdown, CSV and JSON. The pages show all figures whose verdicts are in the folder: verdicts of
    earlier runs are read from the papers' JSON.
    """
    new = [record_of(one, quick) for one in outcomes]
    records = join_records(read_records(out), new)
    run = {one.figure for one in new}
    texts = {out / "index.html": index_page(records), out / "papers.md": papers_page(records)}
    if plans := {one.figure.name: one.plan for one in outcomes if one.plan}:
        texts[out / PLANS.name] = written_plans({**read_plans(out / PLANS.name), **plans})
    tables: dict[Path, list[dict[str, Any]]] = {}
    for paper, some in papers_in(records).items():
        if any(one.figure in run for one in some):
            texts[file_of(paper, out, "md")] = claims_page(paper, some)
            texts[file_of(paper, out, "json")] = written_records(paper, some)
            tables[file_of(paper, out, "csv")] = claim_rows(some)
    for file in (*texts, *tables):
        make_folder(file.parent)
    for file, text in texts.items():
        with whole_file(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    for file, rows in tables.items():
        with whole_file(file) as unfinished:
            write_csv(rows, unfinished)
    return (*texts, *tables)


QUICK = ("This run is quick: four repetitions, each for an eighth of the cycles or, if more, the cycles of 200 "
         "messages; one look, no variations.")

RULE = ("held: the statement is true at every load, by paired differences of the repetitions at a level of 0.001 over "
        "all looks; not held: the statement is reversed at one load or more; no difference: neither of these, and the "
        "95 % interval of the difference lies within 2 % at every load; undecided: all other cases.")

#: Definitions of terms, for the page of a figure with curves.
ABOUT = """\
Loads are payload flits per node and cycle. Effective load: flits created, times destinations. Accepted load: flits \
that nodes consume. Delivered: flits of messages that all their destinations have received. In statements, throughput \
is the highest accepted load of a curve.
{length} Points at which half the 95 % interval of the latency exceeds {percent} % of its mean are marked.
Open markers are points at which all repetitions together are saturated. In statements, saturation and saturated are \
decided in each repetition, so that their loads may differ from the load of the first open marker."""
PILOT = ("A point has four repetitions, and runs until the latency is precise, or the network is far beyond "
         "saturation, or the cycles of the figure end.")
PLANNED = ("All points have ten repetitions, {warmup} cycles of warm-up, and {cycles} cycles after them at the first "
           "look. Statements that a look does not decide are judged again after twice the cycles, at most twice.")
ABOUT_RUNS = """\
A point is one multicast in an otherwise empty network. Latency: cycles from its creation to the last receipt. Nothing \
is random. formula: the latency by the scheme's formula, from t_s and t_r of the options, and from t_hop and c, which \
are measured with single unicasts on these routers. bound: the latency of the steps that are needed if each step \
multiplies the number of informed nodes by 5, and takes as long as a unicast over one hop, as in [Hou]. A node that \
sends several worms within a step may be faster.
Waits: cycles in which flits waited for channels or for their turn, behind worms of other nodes, behind worms of their \
own sender, or behind no worm. Cycles in which a sender holds a worm back until its previous worm has left are not \
counted, because the worm is not in the network yet."""
RULE_OF_RUNS = ("held: the statement is true at every value that all series have; not held: the statement is false at "
                "one value or more; undecided: all other cases.")
RUNS_IN_HASTE = "Quick: every other value, no variations."


def _notes(outcome: FigureOutcome, quick: bool) -> list[str]:
    """Return the command, the definitions and the rule of the verdicts for a figure's page."""
    figure = outcome.figure
    made = f"wormcast figure {figure.name}{' --quick' if quick else ''}, version {version_text()}."
    if figure.runs:
        return [made, *ABOUT_RUNS.splitlines(), RULE_OF_RUNS, *([RUNS_IN_HASTE] if quick else [])]
    length = PLANNED.format(**vars(outcome.plan)) if outcome.plan and not quick else PILOT
    about = [*ABOUT.format(percent=10 if quick else 5, length=length).splitlines(), RULE] if figure.series else []
    return [made, *about, *([QUICK] if quick and figure.series else [])]
