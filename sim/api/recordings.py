"""Recorded runs, read from waveform files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.announcements import announce
from wormcast.algorithms.typecheck import checked

from ..common.progress import watched
from ..common.text import count
from .arguments import window_of
from .option_types import PathLike
from .replays import Replay
from .results import CommandResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..waves.view import History

__all__ = ["WaveformResult", "read_waveform"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WaveformResult(CommandResult):
    """Result of `read_waveform`: when each worm moved, waited and held channels.

    Parameters
    ----------
    history : History
        The recorded cycles.
    drawn : History
        The cycles that pictures show: the cycles of the window. Without a window, pictures show the cycles from the
        first flit to some cycles after the last flit.
    links : list of int or None
        Links to show; None: links with channels that worms hold or wait at.
    """

    history: "History"
    drawn: "History"
    links: list[int] | None

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each worm."""
        from ..waves.view import summarise

        return [{**one, "destinations": " ".join(map(str, one["destinations"]))} for one in summarise(self.history)]

    def _figure(self) -> "Figure":
        """Return a space-time diagram.

        Raises
        ------
        WormcastError
            The diagram would be empty, or has too many rows.
        """
        from ..waves.view import require_drawable, rows_of
        from ..waves.view.spacetime import spacetime_figure

        rows = rows_of(self.drawn, self.links)
        require_drawable(rows, Path("plot.svg"))
        return spacetime_figure([(self.drawn, rows)])

    def replay(self, path: PathLike | None = None) -> Replay:
        """Return a page for a browser that replays the waveform cycle by cycle. A notebook shows the page.

        Parameters
        ----------
        path : path, optional
            File ``.html`` to write.
        """
        return Replay.of(self.drawn, path)

    def _data(self) -> dict[str, Any]:
        from ..waves.view import rows_of, to_dict

        return to_dict(self.history, {row.link for row in rows_of(self.history, self.links)})

    def _lines(self) -> list[str]:
        from ..waves.view.descriptions import describe

        found = self.history
        return [f"{count(len(self.rows()), 'worm')} in cycles {found.first} to {found.end - 1}", *describe(found)]


@checked
def read_waveform(
    path: PathLike,
    *,
    window: str | Sequence[int] | None = None,
    worms: Sequence[int] | None = None,
    links: str = "used",
    progress: bool = True,
) -> WaveformResult:
    """Read a waveform that a run or a load experiment has recorded: ``wormcast wave``.

    Parameters
    ----------
    path : path
        The file, ``.vcd``, ``.vcd.gz`` or ``.fst``.
    window : (int, int) or "A:B", optional
        First cycle to read, and the cycle after the last one. Default: all cycles.
    worms : list of int, optional
        Numbers of the worms to show. Default: all.
    links : str
        Links to show, as for ``--links``.
    progress : bool
        Announce long work on a terminal.
    """
    from ..waves.view import choose_links, of_worms
    from ..waves.view import read_waveform as read

    cycles = window_of(window)
    with watched(progress), announce("reading waveforms"):
        history = read(Path(path))
    if worms is not None:
        history = of_worms(history, worms)
    if cycles is not None:
        history = history.between(*cycles)
    named = {"file": os.fspath(path), "window": f"{history.first}:{history.end}", "worms": worms, "links": links}
    return WaveformResult(configuration=named, files={"plot": None, "replay": None}, history=history,
                          drawn=history.trimmed() if cycles is None else history,
                          links=choose_links(history, links))
