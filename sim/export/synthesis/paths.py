"""The critical path, in the names of the design's signals."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .names import Names

__all__ = ["CriticalPath", "Step", "critical_path"]

#: What tools append to the name of a memory for its parts.
PART = re.compile(r"\.\d+\.\d+|\$.*|_[A-Z].*")


@dataclass(frozen=True)
class Step:
    """A signal on a path.

    Attributes
    ----------
    signal : str
        Hierarchical name, the bit in brackets; ``~`` before it where the path has the inverse.
    ns : float
        Delay since the signal before it: logic, and the wires up to the next logic.
    """

    signal: str
    ns: float


@dataclass(frozen=True)
class CriticalPath:
    """The longest path between two registers.

    Attributes
    ----------
    steps : tuple of Step
        From the register or memory where it starts to the one where it ends. In between are the signals that mapping
        has kept.
    """

    steps: tuple[Step, ...]

    @property
    def start(self) -> str:
        """Name of the register where it starts."""
        return self.steps[0].signal

    @property
    def end(self) -> str:
        """Name of the register where it ends."""
        return self.steps[-1].signal

    @property
    def ns(self) -> float:
        """Its delay."""
        return sum(step.ns for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON, delays rounded to ps."""
        return {
            "start": self.start, "end": self.end, "ns": round(self.ns, 3),
            "steps": [{"signal": step.signal, "ns": round(step.ns, 3)} for step in self.steps],
        }


def critical_path(report: Mapping[str, Any], names: Names) -> CriticalPath:
    """Read the longest path from clock to clock out of nextpnr's report."""
    paths = [entry["path"] for entry in report["critical_paths"]
             if "posedge" in entry["from"] and "posedge" in entry["to"]]
    return CriticalPath(tuple(_steps(max(paths, key=lambda steps: sum(step["delay"] for step in steps)), names)))


def _steps(path: Iterable[Mapping[str, Any]], names: Names) -> list[Step]:
    """The signals of a path with a name, each once in a row; delays of wires without one count to the next."""
    steps: list[Step] = []
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
        steps.append(Step(shown, ns))
        ns = 0.0
    return steps


def _shown(signal: str) -> str:
    """The name without the harness's part of it."""
    sign = "~" * signal.startswith("~")
    inside = signal.removeprefix("~")
    return sign + (inside.removeprefix("component.") if inside.startswith("component.") else f"harness.{inside}")
