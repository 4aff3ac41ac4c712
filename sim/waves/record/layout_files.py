"""Waveforms and the layouts beside them: all of these files, or none."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ...common.atomic_write import require_writable, whole_file

__all__ = ["beside", "require_waveform", "whole_waveform"]

#: What the names of layouts have behind the waveform's: GTKWave's save file, and a command file of Surfer.
LAYOUTS = (".gtkw", ".sucl")


def beside(path: Path) -> list[Path]:
    """The files that `record` writes beside a waveform: what viewers are to show first."""
    return [path.with_name(path.name + ending) for ending in LAYOUTS]


def require_waveform(path: Path) -> None:
    """Refuse a path that `whole_waveform` cannot write, before there is anything to lose.

    Raises
    ------
    WormcastError
        As in `whole_file`.
    """
    for file in (path, *beside(path)):
        require_writable(file)


@contextlib.contextmanager
def whole_waveform(path: Path) -> Iterator[Path]:
    """A path for `record` that becomes ``path``, with the layouts beside it, when all went well, or vanishes.

    Raises
    ------
    WormcastError
        As in `whole_file`, of one of the files.
    """
    with contextlib.ExitStack() as stack:
        unfinished = stack.enter_context(whole_file(path))
        layouts = [stack.enter_context(whole_file(file)) for file in beside(path)]
        try:
            yield unfinished
            for file, layout in zip(beside(unfinished), layouts, strict=True):
                file.replace(layout)
        finally:
            for file in beside(unfinished):
                file.unlink(missing_ok=True)
