"""How long figures take: as it was measured where their points are kept, or by what others took there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wormcast.algorithms import topology

from ..sweep import Point, ResultStore
from .curve import SEEDS, Curve
from .definition import Figure
from .rounds import curves_of, each_once
from .single import RunCurve

__all__ = ["Costs", "Minutes"]

#: Node cycles of a figure over those that a point of each curve takes at most, and node cycles in a second: as of
#: 002-fig11 --quick on two cores, for figures and machines of which nothing is known.
USUAL_PART, USUAL_SPEED = 4.8, 2.6e6


@dataclass(frozen=True)
class Minutes:
    """How long a figure takes on this machine.

    Parameters
    ----------
    minutes : float
    measured : bool
        Whether all its points are known; or it is reckoned by its curves and their cycles, from those that are.
    """

    minutes: float
    measured: bool


class Costs:
    """What figures took: node cycles of their points, and how many of these were simulated in a second.

    Node cycles are cycles times nodes, of all seeds. A figure whose points were measured here takes as long as its node
    cycles do at the speed of all points that were, and its commands besides. Of another one with curves it is reckoned
    which part of their node cycles it will run, by those that are known.

    Parameters
    ----------
    store : ResultStore
        Where points are kept; what they took is kept there, too.
    """

    def __init__(self, store: ResultStore):
        self._store = store

    def ran(self, points: Mapping[str, Point], seconds: float) -> None:
        """Note that points, by their keys, were run in so many seconds."""
        known = self._known("speed")
        work = sum(_node_cycles(self._store[key], point.network.nodes) for key, point in points.items())
        self._store.put(_key("speed"), {"node_cycles": known.get("node_cycles", 0) + work,
                                        "seconds": known.get("seconds", 0.0) + seconds})

    def measured(self, figure: Figure, quick: bool, curves: Mapping[Any, Curve | RunCurve], commands: float) -> None:
        """Note what came of all points of a figure, and how many seconds its commands took; not one of single runs."""
        if figure.runs:
            return
        work = sum(_node_cycles(result, topology(curve.options["topology"]).nodes)
                   for curve in each_once(curves) for result in curve.results.values())
        self._store.put(_key(figure.name, quick), {"node_cycles": work, "most": _most(curves), "commands": commands})

    def minutes(self, figures: list[Figure], quick: bool) -> list[Minutes | None]:
        """Say how long each of some figures takes; None where nothing is known that it could be reckoned from."""
        known = [self._known(figure.name, quick) for figure in figures]
        speed = self._known("speed")
        reckoned = [one for some in (known, [self._known(figure.name, not quick) for figure in figures])
                    if sum(one.get("most", 0) for one in some) for one in some][:len(figures)]
        found: list[Minutes | None] = []
        for figure, one in zip(figures, known, strict=True):
            work, seconds = one.get("node_cycles", 0), one.get("commands", 0.0)
            if not one and reckoned and not figure.runs:
                part = sum(each.get("node_cycles", 0) for each in reckoned) / sum(each.get("most", 0)
                                                                                 for each in reckoned)
                work = part * _most(curves_of(figure, quick=quick))
            if work and speed.get("node_cycles"):
                seconds += work * speed["seconds"] / speed["node_cycles"]
            found.append(Minutes(seconds / 60, bool(one)) if one or work else None)
        return found

    def expected(self, figures: list[Figure], quick: bool) -> float | None:
        """Return about how many seconds some figures take, also on a machine that has measured none.

        Those of single runs count as far as they were measured. None: there are no others.
        """
        seconds = 0.0
        for figure, known in zip(figures, self.minutes(figures, quick), strict=True):
            if known is not None:
                seconds += 60 * known.minutes
            elif not figure.runs:
                seconds += USUAL_PART * _most(curves_of(figure, quick=quick)) / USUAL_SPEED
        return seconds or None

    def _known(self, *what: str | bool) -> dict[str, Any]:
        key = _key(*what)
        return self._store[key] if key in self._store else {}  # noqa: SIM401  (no mapping)


def _key(*what: str | bool) -> str:
    return json.dumps({"took": what})


def _node_cycles(result: Mapping[str, Any], nodes: int) -> int:
    return (result["cycles_simulated"] or 0) * SEEDS * nodes


def _most(curves: Mapping[Any, Curve | RunCurve]) -> int:
    """Node cycles that a point of each curve takes at most."""
    return sum(curve.options["cycles"] * SEEDS * topology(curve.options["topology"]).nodes
               for curve in each_once(curves))
