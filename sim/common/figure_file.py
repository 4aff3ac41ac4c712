"""Checks and writing of picture files (SVG and PNG), and checks of the paths of HTML pages."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wormcast.algorithms import WormcastError
from wormcast.algorithms.announcements import announce

from .atomic_write import require_writable, whole_file
from .frame import missing_glyphs_drawn_as_boxes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["require_page", "require_picture", "save_figure", "whole_picture"]

FORMATS = ("svg", "png")


def require_picture(path: Path) -> None:
    """Refuse a file name that ends in neither .svg nor .png."""
    if path.suffix[1:] not in FORMATS:
        raise WormcastError(f"plot: {path} is not valid. Allowed: names that end in "
                            f"{', '.join('.' + one for one in FORMATS)}.")


def require_page(path: Path) -> None:
    """Refuse a file name that does not end in .html, and a path that cannot be written."""
    if path.suffix != ".html":
        raise WormcastError(f"replay: {path} is not valid. Allowed: names that end in .html.")
    require_writable(path)


@contextlib.contextmanager
def whole_picture(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a temporary file to draw into, as `whole_file` does, and "svg" or "png" by the ending of ``path``."""
    with whole_file(path) as unfinished, announce("drawing"):
        yield unfinished, path.suffix[1:]


def save_figure(figure: "Figure", file: Path, form: str, resolution: float = 300) -> None:
    """Write a figure as "svg" or "png", ``resolution`` in dots per inch. The same figure gives the same bytes.

    Characters that the font lacks are drawn as boxes.
    """
    with missing_glyphs_drawn_as_boxes():
        figure.savefig(file, format=form, dpi=resolution, metadata={"Date": None} if form == "svg" else None)
