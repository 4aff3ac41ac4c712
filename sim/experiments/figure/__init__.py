"""Figures of papers: curves, and what the papers say of them, decided by what is measured.

``definition`` reads what a figure is from a file, those of ``catalogue`` or a user's own, in which ``words`` stand for
longer texts; ``predicate`` has what a paper says, ``quantity`` the numbers that it compares. ``placing`` says where a
curve is measured next, ``curve`` what was measured there, ``single`` a curve of single runs, over an option in place of
the load, ``drawn`` points that are means of many; ``run`` measures all curves and makes the table, ``verdict`` decides,
``drawing`` and ``run_drawing`` draw, ``scatter`` what commands tell, ``page`` writes it down; ``cost`` says how long it
takes.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cost import Costs, Minutes
    from .curve import Curve
    from .definition import HERE, Figure, catalogue, find_figure, paper_of
    from .drawing import draw_figure
    from .drawn import DrawnPoint
    from .page import figure_page, index_page, verdicts_page
    from .rounds import AnyPoint, FigureOutcome, curves_of, each_once, measure, outcome_of
    from .run_drawing import draw_runs
    from .scatter import draw_scatter
    from .single import RunCurve, RunPoint
else:
    __getattr__ = lazily(__name__, {
        "cost": ("Costs", "Minutes"),
        "curve": ("Curve",),
        "definition": ("HERE", "Figure", "catalogue", "find_figure", "paper_of"),
        "drawing": ("draw_figure",),
        "drawn": ("DrawnPoint",),
        "page": ("figure_page", "index_page", "verdicts_page"),
        "rounds": ("AnyPoint", "FigureOutcome", "curves_of", "each_once", "measure", "outcome_of"),
        "run_drawing": ("draw_runs",),
        "scatter": ("draw_scatter",),
        "single": ("RunCurve", "RunPoint"),
    })

__all__ = [
    "HERE",
    "AnyPoint",
    "Costs",
    "Curve",
    "DrawnPoint",
    "Figure",
    "FigureOutcome",
    "Minutes",
    "RunCurve",
    "RunPoint",
    "catalogue",
    "curves_of",
    "draw_figure",
    "draw_runs",
    "draw_scatter",
    "each_once",
    "figure_page",
    "find_figure",
    "index_page",
    "measure",
    "outcome_of",
    "paper_of",
    "verdicts_page",
]
