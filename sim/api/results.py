"""Base of the results that functions of `wormcast` return."""

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import wormcast
from wormcast.algorithms import Relation, Scheme, Topology, WormcastError

from ..build.setup import name_of
from ..common.exit_codes import Exit
from ..common.frame import load_notebook_backend, notebook_figures
from ..common.picture_style import PictureOptions, drawn_with
from ..common.requirements import require
from .option_types import PathLike, PictureWords

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CommandResult", "names_of"]

#: Largest numbers of lines of a result's ``repr``, and of rows of its table in a notebook.
LINES, ROWS = 3, 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CommandResult(ABC):
    """Result of a function of `wormcast`, and of the command with the same name.

    Parameters
    ----------
    configuration : dict
        Options of the call by their keys in JSON, hardware options with their defaults.
    seed : int or None
        First seed of the random numbers; None if nothing is random.
    files : dict of str to str or None
        Written files by their JSON keys; None for files that are not written.
    """

    configuration: dict[str, Any]
    seed: int | None = None
    files: dict[str, str | None] = field(default_factory=dict)

    @property
    def exit_code(self) -> Exit:
        """Exit code of the command with this result."""
        return Exit.DONE

    def to_json(self) -> str:
        """Return the text that the command prints with --json. The paths of files that only the command writes are
        null."""
        return json.dumps({"version": wormcast.__version__, "commit": wormcast.__commit__,
                           "configuration": self.configuration, "seed": self.seed, **self._data(), **self.files})

    def to_dict(self) -> dict[str, Any]:
        """Return `to_json` as a dictionary."""
        return json.loads(self.to_json())

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the result's main table, each as a dictionary from column to value."""

    def to_dataframe(self) -> Any:
        """Return `rows` as a pandas DataFrame.

        Raises
        ------
        ToolMissing
            pandas, which the extra ``pandas`` installs, is missing.
        """
        return require("pandas", "pandas").DataFrame(self.rows())

    def to_arrow(self) -> Any:
        """Return `rows` as a pyarrow Table.

        Raises
        ------
        ToolMissing
            pyarrow, which the extra ``parquet`` installs, is missing.
        """
        return require("pyarrow", "parquet").Table.from_pylist(self.rows())

    def figure(self, **look: Unpack[PictureWords]) -> "Figure":
        """Return the picture of the result. A notebook does not show the picture of `figure`, only the picture of
        `plot`.

        Parameters
        ----------
        **look
            Options of the picture, those of --plot: ``style="paper"``, ``width="ieee"``, ``panel="latency"``,
            ``label={"dual-path": "DP"}``.

        Raises
        ------
        WormcastError
            Results of this kind have no picture, or this result cannot be drawn.
        """
        if not look:
            return self._figure()
        with drawn_with(PictureOptions.of(look)) as style:
            figure = self._figure()
            style.require_used()
        return figure

    def plot(self, **look: Unpack[PictureWords]) -> "Axes":
        """Draw the result, and return the first axes of its picture.

        A notebook shows the picture. ``axes.figure.savefig`` writes the picture to a file. Options and errors are as
        for `figure`.
        """
        import matplotlib

        from ..common.curve_frame import curve_settings

        load_notebook_backend()
        with (drawn_with(PictureOptions.of(look)) as style, matplotlib.rc_context(curve_settings()),
              notebook_figures()):
            figure = self._figure()
            style.require_used()
            figure.draw_without_rendering()  # so that ticks keep the sizes in `curve_settings`
        return figure.axes[0]

    def savefig(self, path: PathLike, **look: Unpack[PictureWords]) -> dict[str, Path]:
        """Write the picture of the result to a file, as --plot does.

        With ``style="paper"``, the caption and the data are written into files beside the picture.

        Parameters
        ----------
        path : path
            A file .svg, .pdf, .png or .eps.
        **look
            As for `figure`.

        Returns
        -------
        files : dict of str to Path
            ``picture``, and with ``style="paper"`` also ``caption`` and ``data``.
        """
        from ..common.figure_file import draw_file, require_picture

        require_picture(Path(path))
        return draw_file(Path(path), self._figure, PictureOptions.of(look))

    def _figure(self) -> "Figure":
        """Draw the picture of the result in the current style; see `figure`."""
        raise WormcastError(f"plot: a {type(self).__name__} has no picture. Allowed: results with a picture, for "
                            "example of plan, run, load or sweep.")

    @abstractmethod
    def _data(self) -> dict[str, Any]:
        """Return the keys of the command's JSON besides version, configuration, seed and files."""

    def _shown(self) -> list[dict[str, Any]]:
        """Return the rows of the table that a notebook shows."""
        return self.rows()

    @abstractmethod
    def _lines(self) -> Sequence[str]:
        """Return the result in words, at most three lines."""

    def __repr__(self) -> str:
        return "\n".join(self._lines()[:LINES])

    def _repr_html_(self) -> str:
        """Return the result in words and the first rows of its table, for notebooks."""
        words = "".join(f"<p>{html.escape(line)}</p>" for line in self._lines()[:LINES])
        rows = self._shown()
        left = f"<p>{len(rows) - ROWS} more rows</p>" if len(rows) > ROWS else ""
        return f"{words}{_table(rows[:ROWS])}{left}"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""

    def line(tag: str, cells: Sequence[object]) -> str:
        texts = ("" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"

    return f"<table>{line('th', list(rows[0]))}{''.join(line('td', list(row.values())) for row in rows)}</table>"


def names_of(network: Topology, scheme: str | Scheme, relation: str | Relation | None, **others: Any) -> dict[str, Any]:
    """Return the options of a call as plain data, with names in place of objects."""
    return {"topology": network.origin, "scheme": name_of(scheme), "relation": name_of(relation), **others}
