"""What the commands say about waveforms, and the one that a deadlock leaves behind."""

import sys
from pathlib import Path

from wormcast.algorithms import WormcastError

from ..experiments.run import Run
from ..waves.record import around, beside, whole_waveform
from .app import count

__all__ = ["DEADLOCK_FILE", "record_deadlock", "waveform_files", "window_of"]

#: In the current folder.
DEADLOCK_FILE = Path("wormcast-deadlock.vcd")


def waveform_files(vcd: Path | None, *, layouts: bool = True) -> dict[str, Path]:
    """The files of a waveform as `require_apart` takes them: without ``vcd`` those that a deadlock leaves behind."""
    word, path = ("the waveform of a deadlock", DEADLOCK_FILE) if vcd is None else ("--vcd", vcd)
    return {word: path} | ({f"{word} ({file.name} beside it)": file for file in beside(path)} if layouts else {})


def window_of(text: str | None) -> tuple[int, int] | None:
    """Read A:B, a first cycle and the cycle behind the last one.

    Raises
    ------
    WormcastError
        It is not of this form.
    """
    if text is None:
        return None
    first, colon, end = text.partition(":")
    if not (colon and all(part.isascii() and part.isdigit() and len(part) < 16 for part in (first, end))):
        raise WormcastError(f"window: {text!r} is given, it must be A:B: the first cycle, and the one behind the last")
    return int(first), int(end)


def record_deadlock(result: Run) -> tuple[Path, str] | None:
    """Write the waveform of a run's deadlock; return the file and what is in it, in words.

    None if there is no deadlock, or if the file cannot be written: then a line on stderr says why.
    """
    if result.deadlock is None:
        return None
    instances, first, end = around(result.network, result.host, result.deadlock)
    kinds = [kind for kind, _ in instances]
    shown = " and ".join(count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))
    try:
        with whole_waveform(DEADLOCK_FILE) as unfinished:
            result.record(unfinished, first, end, instances)
    except WormcastError as error:
        print(f"wormcast: the waveform of the deadlock is left out: {error}", file=sys.stderr)
        return None
    return DEADLOCK_FILE, f"{shown}, cycles {first} to {end - 1}"
