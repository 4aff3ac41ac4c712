"""Time that figures take: measured and stored; or estimated from other measured figures or from constants."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from wormcast.algorithms import topology

from ..sweep import MemoryStore, Point, ResultStore
from .curve import SEEDS, Curve
from .definition import Figure
from .plan import committed_plan, node_cycles
from .rounds import FigureOutcome
from .single import RunCurve

__all__ = ["Costs", "Minutes"]

#: USUAL_PART: node cycles of a figure, divided by the node cycles of its largest points (see `Costs`).
#: USUAL_SPEED: node cycles simulated per second.
#: The time of a figure of load experiments is estimated from USUAL_PART and USUAL_SPEED if no measurements are stored.
#: USUAL_PART and USUAL_SPEED were measured with the figure 002-fig11 --quick on two cores.
USUAL_PART, USUAL_SPEED = 4.8, 2.6e6


@dataclass(frozen=True)
class Minutes:
    """Time that a figure takes on this machine.

    Parameters
    ----------
    minutes : float
    measured : bool
        True: this figure was measured before. If ``measured`` is False, the time is estimated from other figures.
    """

    minutes: float
    measured: bool


class Costs:
    """Costs of figures: node cycles of their points, and node cycles simulated per second.

    Node cycles are cycles times nodes, added up over all seeds. The time of a measured figure is its number of node
    cycles, divided by the node cycles per second of all measured points, plus the time of its commands. The node cycles
    of a figure that was not measured are estimated: those of its largest points, times a factor. A figure's largest
    points are one point of each series and variation, with the most nodes and the most cycles that the figure allows.
    The factor is the node cycles of all measured figures, divided by the node cycles of their largest points. If a
    figure that was not measured has a committed run plan, the node cycles of its full run are those of the run plan.
    The time of figures of single runs is not estimated.

    Parameters
    ----------
    store : ResultStore or MemoryStore
        Store of points and of their costs.
    """

    def __init__(self, store: ResultStore | MemoryStore):
        self._store = store

    def ran(self, points: Mapping[str, Point], seconds: float) -> None:
        """Add node cycles of points that were run, and the seconds of their runs, to the stored sums of all points."""
        known = self._known("speed")
        work = sum(_node_cycles(self._store[key], point.network.nodes, point.resolved["seeds"])
                   for key, point in points.items())
        self._store.put(_key("speed"), {"node_cycles": known.get("node_cycles", 0) + work,
                                        "seconds": known.get("seconds", 0.0) + seconds})

    def measured(self, figure: Figure, quick: bool, curves: Sequence[Curve | RunCurve], commands: float) -> None:
        """Store the costs of a completed figure, unless it has single runs.

        ``commands``: time of the figure's commands in seconds.
        """
        if figure.runs:
            return
        work = sum(_node_cycles(result, curve.point(place).network.nodes, curve.repetitions) for curve in curves
                   if isinstance(curve, Curve) for place, result in curve.results.items())
        self._store.put(_key(figure.name, quick), {"node_cycles": work, "most": _most(figure, quick),
                                                   "commands": commands})

    def minutes(self, figures: Sequence[Figure], quick: bool) -> list[Minutes | None]:
        """Return the time of each figure; None for figures of single runs.

        Estimates count all curves, also the curves of variations that leave a series as it is, which are not measured.
        On a machine without measurements the estimates come from `USUAL_PART` and `USUAL_SPEED`.
        """
        known = [self._known(figure.name, quick) for figure in figures]
        reckoned = [one for some in (known, [self._known(figure.name, not quick) for figure in figures])
                    if sum(one.get("most", 0) for one in some) for one in some][:len(figures)]
        found: list[Minutes | None] = []
        for figure, one in zip(figures, known, strict=True):
            work, seconds = one.get("node_cycles", 0), one.get("commands", 0.0)
            plan = None if quick else committed_plan(figure)
            if not one and plan is not None:
                [work] = node_cycles([(figure, plan)], looks=1)
            elif not one and not figure.runs:
                part = sum(each.get("node_cycles", 0) for each in reckoned) / sum(
                    each.get("most", 0) for each in reckoned) if reckoned else USUAL_PART
                work = part * _most(figure, quick)
            seconds += work / self.speed
            found.append(Minutes(seconds / 60, bool(one)) if one or work else None)
        return found

    def planned(self, outcomes: Sequence[FigureOutcome]) -> float:
        """Estimate how many seconds the first look of all figures takes, by the run plans of a pilot run."""
        return sum(node_cycles([(one.figure, one.plan) for one in outcomes if one.plan], looks=1)) / self.speed

    @property
    def speed(self) -> float:
        """Node cycles per second of all measured points; `USUAL_SPEED` without any."""
        speed = self._known("speed")
        return speed["node_cycles"] / speed["seconds"] if speed.get("node_cycles") else USUAL_SPEED

    def expected(self, figures: Sequence[Figure], quick: bool) -> float | None:
        """Estimate how many seconds all figures take together.

        Figures of single runs are left out. The result is None if all figures have single runs.
        """
        return sum(60 * known.minutes for known in self.minutes(figures, quick) if known is not None) or None

    def _known(self, *what: str | bool) -> dict[str, Any]:
        key = _key(*what)
        return self._store[key] if key in self._store else {}  # noqa: SIM401  (no mapping)


def _key(*what: str | bool) -> str:
    return json.dumps({"took": what})


def _node_cycles(result: Mapping[str, Any], nodes: int, seeds: int) -> int:
    return (result["cycles_simulated"] or 0) * seeds * nodes


def _most(figure: Figure, quick: bool) -> int:
    """Return the sum of the node cycles (cycles times nodes) of a figure's largest points (see `Costs`)."""
    found = 0
    for name in figure.named_series:
        of, series = figure.find_series(name)
        if of.runs:
            continue
        curves = [Curve(of, series, None, quick)]
        if not quick:
            curves += [Curve(of, series, one.on(name)) for one in figure.variations.values()]
        found += sum(one.options["cycles"] * SEEDS * _nodes(
            of.values[-1] if of.over == "topology" else one.given["topology"]) for one in curves)
    return found


@cache
def _nodes(network: str) -> int:
    return topology(network).nodes
