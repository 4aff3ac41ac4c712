"""Error for a damaged waveform file."""

from pathlib import Path

from wormcast.algorithms import WormcastError

__all__ = ["damaged"]


def damaged(path: Path, why: str) -> WormcastError:
    """Return the error for a waveform file that was changed or cut off after it was written."""
    return WormcastError(f"{path} is damaged ({why}). Needed: the waveform as run or load wrote it.")
