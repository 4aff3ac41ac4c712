"""Common layout of all pictures: colours, text width and line breaks. `picture_style` has widths and font sizes."""

import contextlib
import importlib
import math
import sys
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .picture_style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "GRID", "LEGEND", "MARGIN", "POINTS", "WORDS", "CaptionAndData", "beside",
           "blank_figure", "in_notebook", "legend_columns", "legend_entry", "load_notebook_backend",
           "missing_glyphs_drawn_as_boxes", "notebook_figures", "put_beside", "settings", "text_width", "wrapped"]

POINTS = 72  # in an inch

MARGIN = 0.06  # inches

#: Resolution of pictures in a notebook, in dots per inch.
CELL = 160

#: Largest number of pixels of a PNG file.
MOST_PIXELS = 2**27

#: Colours that colour-blind readers can distinguish.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
WORDS = "#404040"
GRID = "#e2e2e2"

#: matplotlib's options for a legend in columns. Lengths in options of a legend are in units of the font size.
LEGEND: dict[str, Any] = {"frameon": False, "handlelength": 2.8, "handletextpad": 0.6, "columnspacing": 1.2}
ENTRY = 4.6  # width of a legend's entry without its text, in units of the font size, with the options LEGEND

FONT = "DejaVu Sans"

#: matplotlib's settings, except the font size, which depends on the style.
SETTINGS: dict[Any, Any] = {
    "font.family": FONT, "svg.hashsalt": "wormcast", "hatch.linewidth": 0.45,
    "axes.linewidth": 0.5, "xtick.major.width": 0.5, "ytick.major.width": 0.5,
    "pdf.fonttype": 42, "ps.fonttype": 42,  # journals refuse matplotlib's default, fonts of Type 3
}


def settings() -> dict[Any, Any]:
    """Return matplotlib's settings for the current style."""
    return SETTINGS | {"font.size": style().text}


@dataclass(frozen=True)
class CaptionAndData:
    """Caption of a picture as lines, and its data as rows: dictionaries from column to value."""

    caption: Sequence[str]
    rows: Sequence[Mapping[str, Any]]


_beside: "WeakKeyDictionary[Figure, CaptionAndData]" = WeakKeyDictionary()


def put_beside(figure: "Figure", caption: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Set the caption and the data of a picture. The styles ``paper`` and ``slides`` write caption and data into files
    beside the picture."""
    _beside[figure] = CaptionAndData([*caption], [*rows])


def beside(figure: "Figure") -> CaptionAndData:
    """Return the caption and the data of a picture that `put_beside` has set."""
    return _beside.get(figure, CaptionAndData([], []))


@contextlib.contextmanager
def missing_glyphs_drawn_as_boxes() -> Iterator[None]:
    """Draw characters that the font lacks as boxes, without matplotlib's warnings."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def text_width(text: str, size: float | None = None) -> float:
    """Return the width of a text in points. Default of ``size``: the size of normal text."""
    return _text_width(text, style().text if size is None else size)


@cache
def _text_width(text: str, size: float) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=size)
    with missing_glyphs_drawn_as_boxes():
        return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrapped(texts: Iterable[str], width: float, size: float | None = None) -> list[str]:
    """Break texts into lines at most ``width`` inches wide, at spaces, or inside a word that is longer than a line."""
    def fits(line: str) -> bool:
        return text_width(line, size) <= width * POINTS

    lines = []
    for text in texts:
        line = ""
        for word in text.split(" "):
            if line and not fits(f"{line} {word}"):
                lines.append(line)
                line = ""
            line = f"{line} {word}" if line else word
            while not fits(line):
                end = _letters_that(fits, line)
                lines.append(line[:end])
                line = line[end:]
        lines.append(line)
    return lines


def _letters_that(fits: Callable[[str], bool], line: str) -> int:
    """Return the length of the longest beginning of a line that fits, in letters, at least 1."""
    return 1 + bisect_left(range(2, len(line)), True, key=lambda end: not fits(line[:end]))


def legend_columns(labels: Sequence[str], width: float, size: float | None = None) -> int:
    """Return the number of columns of a legend that is ``width`` inches wide, at least 1."""
    return max(1, int(width / legend_entry(labels, size)))


def legend_entry(labels: Sequence[str], size: float | None = None) -> float:
    """Return the width in inches of a legend's column with these labels."""
    size = style().text if size is None else size
    return (ENTRY * size + max((text_width(label, size) for label in labels), default=0.0)) / POINTS


def blank_figure(width: float, height: float, **options: Any) -> "Figure":
    """Return an empty figure. Width and height are in inches, ``options`` are matplotlib's.

    The figure needs no screen. In the context of `notebook_figures`, a notebook shows the figure below its cell. When
    the figure is saved, the settings of `SETTINGS` have the values that they had when the figure was made. A saved
    figure has the style's dots per inch (300 for screens), or fewer if the file would have more than 2^27 pixels; the
    argument ``dpi`` of ``savefig`` sets another resolution.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if _in_cell.get() and in_notebook():
        from matplotlib import pyplot

        return pyplot.figure(figsize=(width, height), dpi=CELL, FigureClass=_saved_figure(), **options)
    figure: Figure = _saved_figure()(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure


@cache
def _saved_figure() -> "type[Figure]":
    """Return the class of figures that are saved with the settings with which they are made."""
    import matplotlib
    from matplotlib.figure import Figure

    class SavedFigure(Figure):
        """Figure that is saved with the settings with which it is made."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            self._settings = {name: matplotlib.rcParams[name] for name in settings()}
            self._dots = style().sizes.dots
            super().__init__(*arguments, **options)

        def savefig(self, fname: Any, *, transparent: bool | None = None, **options: Any) -> None:
            dots = min(self._dots, math.sqrt(MOST_PIXELS / math.prod(self.get_size_inches())))
            with matplotlib.rc_context(self._settings), missing_glyphs_drawn_as_boxes():
                super().savefig(fname, transparent=transparent, **{"dpi": dots, **options})

    SavedFigure.__qualname__ = "SavedFigure"  # pickle finds the class by `__getattr__`
    return SavedFigure


def __getattr__(name: str) -> Any:
    if name == "SavedFigure":
        return _saved_figure()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_in_cell = ContextVar("in_cell", default=False)


def in_notebook() -> bool:
    """Return whether the process is a notebook's kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def load_notebook_backend() -> None:
    """Load matplotlib's backend of a notebook. Call this function outside of contexts of settings.

    Loading the backend makes matplotlib interactive. At its end, a context of settings would make matplotlib
    non-interactive again.
    """
    import matplotlib

    if in_notebook() and "inline" in matplotlib.get_backend():
        importlib.import_module("matplotlib_inline.backend_inline")


@contextlib.contextmanager
def notebook_figures() -> Iterator[None]:
    """Make figures that a notebook shows below its cell, while the context is open."""
    before = _in_cell.set(True)
    try:
        yield
    finally:
        _in_cell.reset(before)
