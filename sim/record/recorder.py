"""Stands for the recorder: runs the cycles, and writes a waveform without signals."""

from collections.abc import Sequence
from pathlib import Path

from ..engines.bulk import BulkEngine

__all__ = ["record"]


def record(engine: BulkEngine, path: Path, cycles: int, instances: Sequence[tuple[str, int]], *, first: int) -> None:
    """Run so many cycles, and write their waveform."""
    engine.run(cycles, beyond=True)
    path.write_text(f"$comment {len(instances)} instances from cycle {first} $end\n$enddefinitions $end\n")
