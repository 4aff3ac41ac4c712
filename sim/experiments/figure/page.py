"""Figures as HTML pages."""

import html
from collections.abc import Iterable, Sequence

from .definition import Figure
from .record import FigureRecord
from .rounds import FigureOutcome
from .verdict import VERDICTS, Verdict

__all__ = ["figure_page", "index_page"]

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #202020; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
td, th { border-bottom: 1px solid #d8d8d8; padding: .3em .6em; text-align: left; vertical-align: top; }
th { font-weight: 600; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.held, .not { font-weight: 600; }
.held::before { content: "\\2713 "; }
.not::before { content: "\\2717 "; }
.undecided::before, .no::before { content: "? "; }
code { font-size: 12px; } img, svg { max-width: 100%; height: auto; } .scroll { overflow-x: auto; max-height: 40em; }
"""

#: Columns of the table of load experiments on a figure's page. The CSV has all columns.
SHOWN = ("effective", "accepted", "accepted_half_width", "delivered_per_node", "delivered_per_node_half_width",
         "latency_mean", "latency_half_width", "percentiles_p99_mean", "link_wait_mean",
         "consumption_wait_mean", "multicast_latency_mean", "unicast_latency_mean", "token_wait_mean",
         "token_holders_mean", "token_ceiling_mean", "cycles_simulated", "saturated", "precise", "deadlock")

#: SHOWN_OF_RUNS: columns of the table of single runs on a figure's page.
#: SHOWN_OF_DRAWN: columns of the table of means over random multicasts on a figure's page.
SHOWN_OF_RUNS = ("latency", "formula", "bound", "bound_steps", "t_hop", "c", "worms", "others_wait", "own_wait",
                 "arbitration_wait")
SHOWN_OF_DRAWN = ("latency", "latency_half_width", "phases", "worms")

UNITS = {"load": "nominal effective load, flits/node/cycle", "effective": "effective, flits/node/cycle",
         "accepted": "accepted, flits/node/cycle", "accepted_half_width": "half of its interval",
         "delivered_per_node": "delivered, flits/node/cycle", "delivered_per_node_half_width": "half of its interval",
         "latency_mean": "latency, cycles", "latency_half_width": "half of its interval",
         "percentiles_p99_mean": "99 %, cycles",
         "link_wait_mean": "wait for a link, cycles per hop",
         "consumption_wait_mean": "wait for consumption, cycles per stop",
         "multicast_latency_mean": "of multicasts", "unicast_latency_mean": "of unicasts",
         "token_wait_mean": "wait for a token, cycles", "token_holders_mean": "tokens held",
         "token_ceiling_mean": "ceiling of the tokens, flits/node/cycle",
         "cycles_simulated": "cycles", "precise": "latency within the goal",
         "others_wait": "waits behind other nodes, cycles", "own_wait": "behind own sends",
         "arbitration_wait": "by arbitration"}


def figure_page(outcome: FigureOutcome, pictures: Sequence[tuple[str, str]], notes: Sequence[str]) -> str:
    """Return the HTML page of a figure.

    Parameters
    ----------
    pictures : sequence of (str, str)
        Alternative text, and file name in the page's folder.
    notes : sequence of str
        Sentences on the making of the figure.
    """
    figure = outcome.figure
    measured = {row["variation"] for row in outcome.rows}
    variations = [f"<tr><td>{_text(one.name)}</td><td>{_text(one.text)}</td></tr>"
                  for one in figure.variations.values() if one.name in measured]
    parts = [
        f"<h1>{_text(figure.name)}</h1><p>{_text(figure.title)}. {_text(figure.source)}.</p>",
        *(f'<p><img src="{_text(file)}" alt="{_text(words)}"></p>' for words, file in pictures),
        "<h2>Statements</h2>" + _verdict_table(outcome.verdicts) if outcome.verdicts else "",
        "<h2>Variations</h2><table>" + "".join(variations) + "</table>" if variations and outcome.rows else "",
        "<h2>Series</h2>" + _series(outcome.rows) if outcome.rows else "",
        "<h2>Points</h2>" + _points(outcome.rows, figure) if outcome.rows else "",
        "<h2>How it was made</h2><ul>" + "".join(f"<li>{_text(note)}</li>" for note in notes) + "</ul>",
    ]
    return _page(figure.name, parts)


def index_page(records: Sequence[FigureRecord]) -> str:
    """Return the HTML page with links to all figures that have run, and with all verdicts."""
    rows = [f'<tr><td><a href="{_text(one.figure)}.html">{_text(one.figure)}</a></td><td>{_text(one.title)}</td>'
            f"<td>{_text(_counts(one.verdicts))}</td><td>{_text(one.run)}</td></tr>" for one in records]
    return _page("Figures", [
        "<h1>Figures</h1><table><tr><th>figure</th><th></th><th>verdicts</th><th></th></tr>", *rows, "</table>",
        *(f"<h2>{_text(one.figure)}</h2>{_verdict_table(one.verdicts)}" for one in records if one.verdicts)])


def _page(title: str, parts: Iterable[str]) -> str:
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
            f"<style>{STYLE}</style></head><body>\n" + "\n".join(part for part in parts if part) + "\n</body></html>\n")


def _text(text: object) -> str:
    return html.escape(str(text))


def _counts(verdicts: Sequence[Verdict]) -> str:
    names = [one.verdict for one in verdicts]
    return ", ".join(f"{names.count(name)} {name}" for name in VERDICTS if name in names)


def _why(verdict: Verdict) -> str:
    """Return the explanation of a verdict, its limit and rivals, and the variations that change it."""
    changed = "; ".join(f"{other} with {name}" for name, other in verdict.changed_by.items())
    return "; ".join(part for part in (verdict.why, verdict.remarks, verdict.sweep, changed) if part)


def _verdict_table(verdicts: Sequence[Verdict]) -> str:
    rows = [f'<tr><td>{_text(one.claim)}</td><td>{_text(one.statement)}<br><code>{_text(one.predicate)}</code></td>'
            f'<td class="{one.verdict.split()[0]}">{_text(one.verdict)}</td>'
            f"<td>{_text(one.numbers)}</td><td>{_text(_why(one))}</td></tr>" for one in verdicts]
    return ("<table><tr><th>claim</th><th>statement and predicate</th><th>verdict</th><th>numbers</th>"
            "<th>explanation, and variations that change it</th></tr>" + "".join(rows) + "</table>")


def _series(rows: Sequence[dict[str, object]]) -> str:
    """Return a table of the options of each series under each variation."""
    given = {(row["series"], row["variation"]): row["options"] for row in rows}
    body = "".join(f"<tr><td>{_text(name)}</td><td>{_text(variation)}</td><td>{_text(options)}</td></tr>"
                   for (name, variation), options in given.items())
    return f"<table><tr><th>series</th><th>variation</th><th>options</th></tr>{body}</table>"


def _points(rows: Sequence[dict[str, object]], figure: Figure) -> str:
    words = SHOWN_OF_DRAWN if "phases" in rows[0] else SHOWN_OF_RUNS if figure.runs else SHOWN
    shown = ("series", "variation", figure.over, *words)
    head = "".join(f"<th>{_text(UNITS.get(name, name))}</th>" for name in shown)
    body = "".join("<tr>" + "".join(_point(row[name]) for name in shown) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _point(value: object) -> str:
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        return f'<td class="number">{value if isinstance(value, int) else format(value, ".4g")}</td>'
    return f"<td>{_text(value or '')}</td>"
