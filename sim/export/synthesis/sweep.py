"""Synthesis of a component for all combinations of option values."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import naming

from ...experiments.option_grid import Sweep, require_known, require_points
from .flow import Synthesis
from .point import OPTIONS, SynthesisPoint
from .targets import TARGETS

__all__ = ["read_sweep", "row", "run"]

#: Whole number of an option. No valid value has more than 18 digits.
WHOLE = re.compile("[0-9]{1,18}")


def read_sweep(texts: Sequence[str], fixed: Mapping[str, Any]) -> Sweep:
    """Parse a sweep from texts ``OPTION=VALUE,VALUE``. Semicolons separate values that contain commas.

    Parameters
    ----------
    texts : sequence of str
        Names of `OPTIONS`, with underscores or hyphens.
    fixed : mapping
        Options with one value for all points.

    Raises
    ------
    WormcastError
        A text has another form; an option is unknown, repeated or fixed; a value has the wrong type or is repeated.
    """
    swept: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not values:
            raise WormcastError(f"sweep: {text!r} is not valid. Allowed: OPTION=VALUE,VALUE, for example vcs=1,2.")
        key = key.replace("-", "_")
        with naming("sweep"):
            require_known(key, OPTIONS, "synth that can be swept")
        if key in swept or key in fixed:
            raise WormcastError(f"sweep: {text!r} is not valid: {key} is given twice. Allowed: each option once.")
        swept[key] = [_value(key, value) for value in values.split(";" if ";" in values else ",")]
    require_points(swept)
    return Sweep("synth", dict(fixed), swept)


def _value(key: str, text: str) -> Any:
    if OPTIONS[key].kind is bool:
        if text not in ("false", "true"):
            raise WormcastError(f"{key}: {text!r} is not valid. Allowed: false, true.")
        return text == "true"
    if OPTIONS[key].kind is not int or text.strip() in OPTIONS[key].words:
        return text
    if not WHOLE.fullmatch(text.strip()):
        raise WormcastError(f"{key}: {text!r} is not valid. Allowed: "
                            f"{', or '.join(('a whole number', *OPTIONS[key].words))}.")
    return int(text)


def run(points: Sequence[SynthesisPoint], seeds: Sequence[int], progress: Callable[[str], None],
        runs: int = 1) -> Iterator[Synthesis]:
    """Synthesise all points on all processors, and yield the results in the order of ``points``.

    For ``seeds`` and ``runs`` see `synthesise`. ``progress`` is called with the name of each step. If there are at
    least twice as many processors as points, runs and placements of a point are concurrent. The error of a point is
    raised after the results of all earlier points have been yielded. When an error is raised, points that have not
    begun are dropped.
    """
    processors = os.cpu_count() or 1
    at_once = max(1, min(processors, len(points)))

    def one(number: int, point: SynthesisPoint) -> Synthesis:
        head = f"{number} of {len(points)}" + (f", {point.name}" if point.name else "")
        return point.synthesise(seeds, lambda step: progress(f"{head}: {step}"), processors // at_once, runs)

    pool = ThreadPoolExecutor(at_once)
    try:
        yield from pool.map(one, range(1, len(points) + 1), points)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def row(sweep: Sweep, point: SynthesisPoint, result: Synthesis) -> dict[str, Any]:
    """Return the table row of a point, by column: swept options as given, other options as built, then the costs.

    Columns for cells that only other targets of the sweep have are None.
    """
    columns = sweep.columns(point.given, point.resolved)
    for target in sweep.swept.get("target", [point.resolved["target"]]):
        columns |= dict.fromkeys((*map(str.lower, TARGETS[target].cells), TARGETS[target].logic_cell.lower()))
    costs = result.to_dict()
    columns |= {name: costs[name] for name in costs if name not in ("target", "mhz", "critical", "ranges", "runs")}
    columns |= {f"{end}_{name}": each[end] for name, each in costs["ranges"].items() if name != "mhz"
                for end in ("least", "most")}
    path = result.critical
    return columns | {
        "least_mhz": min(result.mhz, default=None), "most_mhz": max(result.mhz, default=None),
        "critical_start": path and path.start, "critical_end": path and path.end, "critical_ns": path and path.ns,
    }
