"""Figures of papers: curves, and verdicts on the papers' statements by measurements.

Input: ``definition`` reads a figure from a file of the ``catalogue`` or of a user, and checks it by the ``schema``.
``substitution`` replaces each ``{NAME}`` in formulas and commands by a text. ``predicate`` is a paper's statement as a
formula, ``quantity`` is a number with its interval in a formula. ``papers`` has authors, years and titles.

Measurement: ``placing`` selects the next points of a pilot run, and ``plan`` has the run plan: the points, the lengths
and the curves of the run after the pilot run. ``curve`` is a curve of load experiments, ``single`` a curve of single
runs over an option; ``series_curve`` is the base class of both. A point of ``random_points`` is the mean of many random
multicasts. ``rounds`` measures all curves. ``cost`` estimates the time.

Judging: ``evidence`` tests paired repetitions, ``verdict`` decides statements by these tests.

Output: ``drawing`` and ``run_drawing`` draw curves, ``scatter`` draws results of commands, ``page`` makes HTML.
``record`` stores verdicts, paper by paper, and ``paper_page`` makes the Markdown on papers from them.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cost import Costs, Minutes
    from .curve import Curve
    from .definition import (
        HERE,
        Figure,
        axes_of,
        catalogue,
        choose_figures,
        find_figure,
        paper_of,
    )
    from .page import figure_page, index_page
    from .paper_page import claim_rows, claims_page, papers_page
    from .papers import PAPERS, Paper, find_papers
    from .plan import PLANS, cut_plans, node_cycles, read_plans, written_plans
    from .random_points import RandomPoint
    from .record import FigureRecord, file_of, join_records, papers_in, read_records, record_of, written_records
    from .rounds import AnyPoint, FigureOutcome, Study, curves_of, each_once, measure_all
    from .scatter import scatter_figure
    from .single import RunCurve, RunPoint
    from .verdict import Verdict
else:
    __getattr__ = lazily(__name__, {
        "cost": ("Costs", "Minutes"),
        "curve": ("Curve",),
        "definition": ("HERE", "Figure", "axes_of", "catalogue", "choose_figures", "find_figure", "paper_of"),
        "random_points": ("RandomPoint",),
        "page": ("figure_page", "index_page"),
        "paper_page": ("claim_rows", "claims_page", "papers_page"),
        "plan": ("PLANS", "cut_plans", "node_cycles", "read_plans", "written_plans"),
        "papers": ("PAPERS", "Paper", "find_papers"),
        "record": ("FigureRecord", "file_of", "join_records", "papers_in", "read_records", "record_of",
                   "written_records"),
        "rounds": ("AnyPoint", "FigureOutcome", "Study", "curves_of", "each_once", "measure_all"),
        "scatter": ("scatter_figure",),
        "single": ("RunCurve", "RunPoint"),
        "verdict": ("Verdict",),
    })

__all__ = [
    "HERE",
    "PAPERS",
    "PLANS",
    "AnyPoint",
    "Costs",
    "Curve",
    "Figure",
    "FigureOutcome",
    "FigureRecord",
    "Minutes",
    "Paper",
    "RandomPoint",
    "RunCurve",
    "RunPoint",
    "Study",
    "Verdict",
    "axes_of",
    "catalogue",
    "choose_figures",
    "claim_rows",
    "claims_page",
    "curves_of",
    "cut_plans",
    "each_once",
    "figure_page",
    "file_of",
    "find_figure",
    "find_papers",
    "index_page",
    "join_records",
    "measure_all",
    "node_cycles",
    "paper_of",
    "papers_in",
    "papers_page",
    "read_plans",
    "read_records",
    "record_of",
    "scatter_figure",
    "written_plans",
    "written_records",
]
