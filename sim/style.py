"""What all curves look like."""

from typing import Any

__all__ = ["COLOURS", "CURVES", "MARKERS"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")  # told apart by all
MARKERS = "os^Dv<>Pph*X"

#: matplotlib's settings.
CURVES: dict[Any, Any] = {
    "font.size": 7, "font.family": "DejaVu Sans", "svg.hashsalt": "wormcast",
    "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "errorbar.capsize": 1.5,
}
