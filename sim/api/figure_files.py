"""Files of measured figures: tables, pictures, pages, and the report on several figures."""

from collections.abc import Sequence
from pathlib import Path

from ..common.atomic_write import whole_file
from ..common.figure_file import draw_file
from ..common.text import version_text
from ..experiments.figure import Figure, FigureOutcome, figure_page, index_page, scatter_figure, verdicts_page
from ..experiments.figure.substitution import written
from ..experiments.option_grid import write_csv
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
        pictures.append((written(one.command, {"plot": f"{one.name}.svg"}), files[-1].name))
    files.append(out / f"{figure.name}.html")
    with whole_file(files[-1]) as unfinished:
        unfinished.write_text(figure_page(outcome, pictures, _notes(figure, quick)), encoding="utf-8")
    return tuple(files)


def write_report(name: str, outcomes: Sequence[FigureOutcome], out: Path, quick: bool) -> tuple[Path, ...]:
    """Write the index page of several figures, and the page of their verdicts, and return the files."""
    files = [out / "index.html", out / "verdicts.md"]
    made = f"Made by `wormcast figure {name}{' --quick' if quick else ''}`, version {version_text()}."
    texts = [index_page(outcomes), verdicts_page(outcomes, [made, RULE, VARIED])]
    for file, text in zip(files, texts, strict=True):
        with whole_file(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    return tuple(files)


RULE = ("held: at every load that all series measured before saturation, the 95 % intervals do not overlap and lie in "
        "the stated order; not held: they lie in the opposite order at every such load; undecided: all other cases.")
VARIED = ("Variations run for an eighth of the cycles, with intervals twice as wide. A variation is named if its "
          "verdict differs from the default's and is not undecided.")

#: Definitions of terms, for the page of a figure with curves.
ABOUT = """\
Loads are payload flits times destinations per node and cycle: created (offered) or received (delivered). Throughput \
is the number of flits that the whole network delivers per cycle.
A point runs until half the 95 % interval of the latency is within {percent} % of its mean. A saturated point runs \
until it is saturated twice in a row and its throughput has this precision. Less precise points are marked."""
ABOUT_RUNS = """\
A point is one multicast in an otherwise empty network. Latency: cycles from its creation to the last receipt. Nothing \
is random. formula: the scheme's cost from t_s, t_r, and t_hop and c measured with one unicast on these routers. \
bound: the steps that are needed if each step multiplies the number of informed nodes by 5, each step a unicast over \
one hop, as in [Hou]. A node that sends several worms within a step may be faster.
Waits: cycles in which flits waited for channels or for their turn, behind worms of other nodes, behind worms of their \
own sender, or behind no worm. Cycles in which a sender holds a worm back until its previous worm has left are not \
counted, because the worm is not in the network yet."""
RULE_OF_RUNS = ("held: true at every value that all series have; not held: true at none of them; undecided: all other "
                "cases, and equal numbers that should differ.")
RUNS_IN_HASTE = "Quick: every other value, no variations."
IN_HASTE = "Quick: an eighth of the cycles, intervals twice as wide, no variations."


def _notes(figure: Figure, quick: bool) -> list[str]:
    """Return the command, the definitions and the rule of the verdicts for a figure's page."""
    made = f"wormcast figure {figure.name}{' --quick' if quick else ''}, version {version_text()}."
    if figure.runs:
        return [made, *ABOUT_RUNS.splitlines(), RULE_OF_RUNS, *([RUNS_IN_HASTE] if quick else [])]
    about = [*ABOUT.format(percent=10 if quick else 5).splitlines(), RULE] if figure.series else []
    return [made, *about, *([IN_HASTE] if quick and figure.series else [])]
