"""Checks and writing of picture files, and checks of the paths of HTML pages."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wormcast.algorithms import WormcastError
from wormcast.algorithms.announcements import announce

from .atomic_write import require_writable, whole_file
from .csv_file import write_csv
from .frame import beside, missing_glyphs_drawn_as_boxes
from .picture_style import PictureOptions, drawn_with

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_file", "files_of_picture", "require_page", "require_picture", "save_figure", "whole_picture"]

#: Formats of pictures. The ending of a file's name is its format.
FORMATS = ("svg", "pdf", "png", "eps")

#: Metadata entry that would contain the time of writing, by format. matplotlib leaves out entries with the value None.
WITHOUT_TIME = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}

#: Environment variable with the time that programs write into files.
EPOCH = "SOURCE_DATE_EPOCH"


def require_picture(path: Path) -> None:
    """Refuse a file name that does not end in one of `FORMATS`."""
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
    """Yield a temporary file to draw into, as `whole_file` does, and the format, which is the ending of ``path``."""
    with whole_file(path) as unfinished, announce("drawing"):
        yield unfinished, path.suffix[1:]


def files_of_picture(path: Path, options: PictureOptions | None = None) -> dict[str, Path]:
    """Return the files that `draw_file` writes, by their names in messages: in the styles ``paper`` and ``slides`` also
    FILE's caption and data, with the endings .caption.txt and .data.csv in place of FILE's ending."""
    if options is None or not options.caption_beside:
        return {"picture": path}
    return {"picture": path, "caption": path.with_suffix(".caption.txt"), "data": path.with_suffix(".data.csv")}


def draw_file(path: Path, make: "Callable[[], Figure]", options: PictureOptions | None = None) -> dict[str, Path]:
    """Write the figure that ``make`` returns to a file atomically, in the format of the file's ending.

    Parameters
    ----------
    make : callable
        Draws the figure in the style of ``options``, and returns it.
    options : PictureOptions, optional
        In the styles ``paper`` and ``slides``, the caption and the data are written into the files of
        `files_of_picture`, too.

    Returns
    -------
    files : dict of str to Path
        Result of `files_of_picture`.

    Raises
    ------
    WormcastError
        The figure has no such panel, or no such name to label; no file is written then.
    """
    files = files_of_picture(path, options)
    with contextlib.ExitStack() as stack:
        written = {name: stack.enter_context(whole_file(file)) for name, file in files.items() if name != "picture"}
        target = stack.enter_context(whole_picture(path))
        with drawn_with(options) as style:
            figure = make()
            style.require_used()
            save_figure(figure, *target)
        if written:
            described = beside(figure)
            written["caption"].write_text("".join(f"{line}\n" for line in described.caption), encoding="utf-8")
            write_csv(described.rows, written["data"])
    return files


def save_figure(figure: "Figure", file: Path, form: str) -> None:
    """Write a figure in one of `FORMATS`. The same figure gives the same bytes.

    Characters that the font lacks are drawn as boxes.
    """
    # matplotlib gets an open file, because it would write the name of a file into EPS
    with missing_glyphs_drawn_as_boxes(), _fixed_time(), file.open("wb") as opened:
        figure.savefig(opened, format=form, metadata=WITHOUT_TIME.get(form))


@contextlib.contextmanager
def _fixed_time() -> Iterator[None]:
    """Let matplotlib write the time 0 into files that must contain a time."""
    before = os.environ.get(EPOCH)
    os.environ[EPOCH] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[EPOCH]
        else:
            os.environ[EPOCH] = before
