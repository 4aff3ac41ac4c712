"""Atomic writing of each file of a waveform: the waveform and its layout files."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ...common.atomic_write import require_writable, whole_file

__all__ = ["beside", "require_waveform", "whole_waveform"]

#: Suffixes of the layout files: a save file of GTKWave, a command file of Surfer, and a translation of ``waits_id``.
LAYOUTS = (".gtkw", ".sucl", ".waits.txt")


def beside(path: Path) -> list[Path]:
    """Return the paths of the layout files that `record` writes beside a waveform."""
    if not path.name:  # the folders . and / have no name
        require_writable(path)
    return [path.with_name(path.name + ending) for ending in LAYOUTS]


def require_waveform(path: Path) -> None:
    """Refuse a path that `whole_waveform` cannot write."""
    for file in (path, *beside(path)):
        require_writable(file)


@contextlib.contextmanager
def whole_waveform(path: Path) -> Iterator[Path]:
    """Yield a temporary path for `record`.

    On success the temporary files replace ``path`` and the layouts beside it. On failure the temporary files are
    deleted.
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
