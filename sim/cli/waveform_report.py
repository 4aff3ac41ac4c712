"""Waveform options of commands, and the waveform that is written on a deadlock."""

import contextlib
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from wormcast.algorithms import WormcastError

from .app import count
from .outputs import DEADLOCK_FILE

if TYPE_CHECKING:
    from ..experiments.run import Run

__all__ = ["deadlock_file", "deadlocks_left_in", "record_deadlock", "waveform_files"]

_FOLDER: ContextVar[Path] = ContextVar("folder", default=Path())


@contextlib.contextmanager
def deadlocks_left_in(folder: Path) -> Iterator[None]:
    """Write the waveforms of deadlocks into a folder, while the context is open."""
    before = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(before)


def deadlock_file() -> Path:
    """Return the path of the waveform that is written on a deadlock."""
    return _FOLDER.get() / DEADLOCK_FILE


def waveform_files(vcd: Path | None, *, layouts: bool = True) -> dict[str, Path]:
    """Return the files of the waveform ``vcd``, or of a deadlock's waveform, by their names in error messages."""
    from ..waves.record import beside

    word, path = ("the waveform of a deadlock", deadlock_file()) if vcd is None else ("--vcd", vcd)
    return {word: path} | ({f"{word} ({file.name} beside it)": file for file in beside(path)} if layouts else {})


def record_deadlock(result: "Run") -> tuple[Path, str] | None:
    """Write the waveform of a run's deadlock. Return the file and a description of its contents.

    Return None without a deadlock. If the file cannot be written, print the error on stderr and return None.
    """
    if result.deadlock is None:
        return None
    from ..waves.record import around, whole_waveform

    instances, first, end = around(result.network, result.deadlock)
    kinds = [kind for kind, _ in instances]
    shown = " and ".join(count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))
    try:
        with whole_waveform(deadlock_file()) as unfinished:
            result.record(unfinished, first, end, instances)
    except WormcastError as error:
        print(f"wormcast: the waveform of the deadlock is not written: {error}", file=sys.stderr)
        return None
    after = "; later cycles, up to the proof, are left out" if end < result.deadlock.at else ""
    return deadlock_file(), f"{shown}, cycles {first} to {end - 1}{after}"
