"""Replays of runs and waveforms for a browser."""

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.figure_file import require_page
from .option_types import PathLike

if TYPE_CHECKING:
    from ..waves.view import History

__all__ = ["Replay"]

#: Height of a replay in a notebook, in pixels.
HEIGHT = 640


@dataclass(frozen=True)
class Replay:
    """Replay of a network cycle by cycle: one HTML page that loads no other file. A notebook shows the page.

    Parameters
    ----------
    page : str
        Text of the HTML page.
    path : Path or None
        File to which the page was written; None: no file was written.
    """

    page: str = field(repr=False)
    path: Path | None = None

    @classmethod
    def of(cls, history: "History", path: PathLike | None = None) -> "Replay":
        """Return the replay of a history. Write the page if there is a path."""
        from ..waves.view.replay import replay_page, write_replay

        if path is None:
            return cls(replay_page(history))
        require_page(Path(path))
        return cls(write_replay(history, Path(path)), Path(path))

    def _repr_html_(self) -> str:
        """Return a frame with the page, for notebooks."""
        return (f'<iframe srcdoc="{html.escape(self.page)}" width="100%" height="{HEIGHT}" '
                'style="border: 0"></iframe>')
