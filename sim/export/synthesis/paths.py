"""Critical path, with the names of the design's signals."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .names import Names

__all__ = ["CriticalPath", "PathSignal", "critical_path"]

#: Suffixes that tools append to the name of a memory.
PART = re.compile(r"\.\d+\.\d+|\$.*|_[A-Z].*")


@dataclass(frozen=True)
class PathSignal:
    """A signal on a path.

    Attributes
    ----------
    signal : str
        Hierarchical name, with the bit in brackets; ``~`` marks an inverted signal.
    ns : float
        Delay from the end of the previous signal's wire to the end of this signal's wire, in ns: logic and routing.
    """

    signal: str
    ns: float


@dataclass(frozen=True)
class CriticalPath:
    """The longest path between two registers.

    Attributes
    ----------
    steps : tuple of PathSignal
        From the first register or memory to the last one, with the signals between them that mapping has kept.
    """

    steps: tuple[PathSignal, ...]

    @property
    def start(self) -> str:
        """Name of the register or memory at the start of the path."""
        return self.steps[0].signal

    @property
    def end(self) -> str:
        """Name of the register or memory at the end of the path."""
        return self.steps[-1].signal

    @property
    def ns(self) -> float:
        """Delay of the path, in ns."""
        return sum(step.ns for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain data for JSON, with delays rounded to ps."""
        return {
            "start": self.start, "end": self.end, "ns": round(self.ns, 3),
            "steps": [{"signal": step.signal, "ns": round(step.ns, 3)} for step in self.steps],
        }


def critical_path(report: Mapping[str, Any], names: Names) -> CriticalPath:
    """Return the longest path from clock edge to clock edge in nextpnr's report."""
    paths = [entry["path"] for entry in report["critical_paths"]
             if "posedge" in entry["from"] and "posedge" in entry["to"]]
    return CriticalPath(tuple(_steps(max(paths, key=lambda steps: sum(step["delay"] for step in steps)), names)))


def _steps(path: Iterable[Mapping[str, Any]], names: Names) -> list[PathSignal]:
    """Return the named signals of a path without repetitions.

    The delay of an unnamed wire is added to the delay of the next named signal.
    """
    steps: list[PathSignal] = []
    ns = 0.0
    for part in path:
        ns += part["delay"]
        if part["type"] == "routing":
            signal = names.of_wire(part["net"])
        elif part["type"] == "setup":
            signal = names.of_register(part["to"]["cell"]) or PART.sub("", part["to"]["cell"])
        else:
            continue
        if signal is None and not steps:
            signal = PART.sub("", part["from"]["cell"])
        if signal is None:
            continue
        shown = _shown(signal)
        if steps and steps[-1].signal == shown:
            ns += steps.pop().ns
        steps.append(PathSignal(shown, ns))
        ns = 0.0
    return steps


def _shown(signal: str) -> str:
    """Return a name relative to the component; names of the harness begin with ``harness``."""
    sign = "~" * signal.startswith("~")
    inside = signal.removeprefix("~")
    return sign + (inside.removeprefix("component.") if inside.startswith("component.") else f"harness.{inside}")
