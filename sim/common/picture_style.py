"""Styles of pictures: sizes for screens, papers and slides, and the words that users choose."""

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from wormcast.algorithms import WormcastError

from .option import Option, option, options_of

__all__ = ["DECLARED", "MILLIMETRES", "WIDTHS", "PictureOptions", "PictureStyle", "drawn_with", "style"]

MILLIMETRES = 25.4  # in an inch

#: Widths of columns by name, in inches: IEEE journals and the proceedings of ACM, one column and both columns.
WIDTHS = {"ieee": 3.5, "ieee-two": 7.16, "acm": 3.33, "acm-two": 7.0}

#: Largest height in inches of a picture that fits a page.
MOST_HEIGHT = 8.0

LEAST_WIDTH, MOST_WIDTH = 60, 600  # millimetres


def _width(text: str) -> float:
    """Return a width in inches: of a name in `WIDTHS`, or of a number of millimetres."""
    if text in WIDTHS:
        return WIDTHS[text]
    number = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(?: ?mm)?", text)
    if number is None or not LEAST_WIDTH <= float(number[1]) <= MOST_WIDTH:
        raise WormcastError(f"width: {text!r} is not valid. Allowed: {', '.join(WIDTHS)}, and {LEAST_WIDTH} to "
                            f"{MOST_WIDTH} millimetres.")
    return float(number[1]) / MILLIMETRES


@dataclass(frozen=True)
class _Sizes:
    """Sizes of a style.

    Parameters
    ----------
    text, small, axes : float
        Font sizes in points: of normal text, of text where space is short, and of axes and legends of plots.
    column, page : float
        Widths of narrow and wide pictures in inches.
    shape : float or None
        Height of all pictures as a share of their width. None: the height depends on the content.
    weight : float
        Factor of the widths of lines and the sizes of markers in plots of curves.
    dots : int
        Largest resolution of PNG files in dots per inch.
    """

    text: float
    small: float
    axes: float
    column: float
    page: float
    shape: float | None
    weight: float
    dots: int


STYLES = {
    "screen": _Sizes(6.0, 6.0, 7.0, 3.4, 7.0, None, 1.0, 300),
    "paper": _Sizes(7.0, 7.0, 8.0, WIDTHS["ieee"], WIDTHS["ieee-two"], None, 1.0, 600),
    "slides": _Sizes(9.0, 8.0, 10.0, 6.4, 6.4, 9 / 16, 1.6, 400),
}

PANEL = "Picture"


@dataclass(frozen=True)
class PictureOptions:
    """Options of all pictures: `--plot` on the command line; `figure`, `plot` and `savefig` in Python."""

    style: str = option(
        "Style of the picture. paper: fonts of 7 points or more at the printed width. slides: large fonts, 16:9. With "
        "paper and slides, the caption and the data are in files beside the picture. Default: {}.",
        "screen", allowed=tuple(STYLES), panel=PANEL)
    width: str | None = option(
        "Width of the picture: a column of IEEE or ACM, both columns (-two), or millimetres. Default: of the style.",
        None, metavar="|".join((*WIDTHS, "MM")), parse=_width, panel=PANEL)
    panel: str | None = option(
        "Draw only this panel of a picture with several panels. Default: all.", None, metavar="NAME", panel=PANEL)
    label: Mapping[str, str] = option(
        "Name of a scheme in the picture, or of an entry of its legend. Can be given several times.", None,
        metavar="SCHEME=NAME", panel=PANEL)

    def __post_init__(self) -> None:
        DECLARED["style"].require(self.style)
        DECLARED["width"].require(self.width)

    @property
    def caption_beside(self) -> bool:
        """The picture has no caption. Caption and data are in files beside the picture."""
        return self.style != "screen"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "PictureOptions":
        """Return options from a mapping. Refuse unknown names. A width may be a number of millimetres."""
        for name in given:
            if name not in DECLARED:
                raise WormcastError(f"{name!r} is not an option of pictures. Allowed: {', '.join(DECLARED)}.")
        if (labels := given.get("label")) is not None:
            _require_labels(labels)
        found: dict[str, Any] = {name: str(value) if name == "width" and isinstance(value, int | float) else value
                                 for name, value in given.items() if value is not None}
        return cls(**found)


def _require_labels(labels: Any) -> None:
    if not (isinstance(labels, Mapping) and all(isinstance(text, str) for pair in labels.items() for text in pair)):
        raise WormcastError(f"label: {labels!r} is not valid. Allowed: a mapping from schemes to names, for "
                            "example {'dual-path': 'DP'}.")
    for scheme, text in labels.items():
        if not text:
            raise WormcastError(f"label: the name of {scheme!r} is empty. Allowed: SCHEME=NAME, with one or more "
                                "letters in NAME.")


_KIND: type = PictureOptions

#: Declarations of the options of pictures, by name.
DECLARED: Mapping[str, Option] = options_of(_KIND)


@dataclass
class PictureStyle:
    """Sizes and words of the picture that is being drawn.

    Attributes
    ----------
    sizes : _Sizes
    options : PictureOptions
    named : set of str
        Names for which `label` was called.
    offered : list of str
        Panels among which `panels` has chosen.
    """

    sizes: _Sizes
    options: PictureOptions
    named: set[str] = field(default_factory=set)
    offered: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, options: PictureOptions) -> "PictureStyle":
        """Return the style for these options."""
        return cls(STYLES[options.style], options)

    @property
    def text(self) -> float:
        """Font size of normal text in points."""
        return self.sizes.text

    @property
    def small(self) -> float:
        """Font size of text where space is short, in points."""
        return self.sizes.small

    @property
    def axes(self) -> float:
        """Font size of axes and legends of plots in points."""
        return self.sizes.axes

    @property
    def line(self) -> float:
        """Distance between lines of text in inches."""
        return self.text / 60

    @property
    def column(self) -> float:
        """Width of a narrow picture in inches."""
        return self.fixed or self.sizes.column

    @property
    def page(self) -> float:
        """Width of a wide picture in inches."""
        return self.fixed or self.sizes.page

    @property
    def fixed(self) -> float | None:
        """Width that the user has chosen, in inches."""
        return None if self.options.width is None else _width(self.options.width)

    @property
    def shape(self) -> float | None:
        """Height of all pictures as a share of their width. None: the height depends on the content."""
        return self.sizes.shape

    def highest(self, width: float) -> float:
        """Return the largest height in inches of a picture with a width of ``width`` inches."""
        return MOST_HEIGHT if self.shape is None else self.shape * width

    def width_for(self, height: float) -> float:
        """Return the width in inches of a picture with the style's shape that is ``height`` inches high."""
        assert self.shape is not None
        return height / self.shape

    def require_width(self, needed: float) -> None:
        """Refuse a width that the user has chosen if it is less than ``needed`` inches."""
        if self.fixed is None or needed <= self.fixed + 1e-9:
            return
        least = math.ceil(needed * MILLIMETRES)
        allowed = f"{least} to {MOST_WIDTH}" if least <= MOST_WIDTH else (
            f"no width; more than {MOST_WIDTH} cannot be chosen")
        raise WormcastError(f"width: {self.options.width} is not valid: the picture needs {least} millimetres. "
                            f"Allowed: {allowed}.")

    @property
    def weight(self) -> float:
        """Factor of the widths of lines and the sizes of markers in plots of curves."""
        return self.sizes.weight

    @property
    def caption_beside(self) -> bool:
        """As of `PictureOptions`. Such a picture has no text smaller than `small`."""
        return self.options.caption_beside

    def least(self, size: float) -> float:
        """Return the least font size in points of a text that is omitted if it does not fit: ``size`` on a screen,
        else `small`."""
        return self.small if self.caption_beside else size

    def label(self, name: str) -> str:
        """Return the user's name of a scheme or of an entry of a legend; without such a name, ``name``."""
        self.named.add(name)
        return (self.options.label or {}).get(name, name)

    def entry(self, names: Sequence[str], otherwise: str) -> str:
        """Return the text of a legend's entry: the label that the user gave for any of ``names``, else ``otherwise``,
        else the first of ``names``."""
        self.named.update(names)
        labels = self.options.label or {}
        return next((labels[name] for name in names if name in labels), otherwise or names[0])

    def panels(self, offered: Sequence[str], shown: Sequence[str] | None = None) -> list[str]:
        """Return the panels to draw: the panel that the user chose, else all of ``shown`` (default: all that are
        offered).

        Raises
        ------
        WormcastError
            The user's panel is not offered.
        """
        self.offered = [*offered]
        asked = self.options.panel
        if asked is None:
            return [*(offered if shown is None else shown)]
        if asked not in offered:
            raise WormcastError(f"panel: {asked!r} is not valid for this picture. Allowed: {', '.join(offered)}.")
        return [asked]

    def require_used(self) -> None:
        """Refuse a panel of a picture without panels, and a label of a name that the picture does not have."""
        if self.options.panel is not None and not self.offered:
            raise WormcastError(f"panel: {self.options.panel!r} is not valid: this picture has one panel. "
                                "Allowed: no panel.")
        for name in self.options.label or {}:
            if name not in self.named:
                allowed = ", ".join(sorted(self.named)) or "no label"
                raise WormcastError(f"label: {name!r} is not valid: the picture has no such name. Allowed: {allowed}.")


_drawn: ContextVar[PictureStyle | None] = ContextVar("drawn", default=None)
_SCREEN = PictureStyle.of(PictureOptions())


def style() -> PictureStyle:
    """Return the style of the picture that is being drawn; outside of `drawn_with` the style for screens."""
    return _drawn.get() or _SCREEN


@contextlib.contextmanager
def drawn_with(options: PictureOptions | None) -> Iterator[PictureStyle]:
    """Draw pictures with these options while the context is open. Without options, keep the options of an outer
    context."""
    if options is None:
        yield style()
        return
    chosen = PictureStyle.of(options)
    before = _drawn.set(chosen)
    try:
        yield chosen
    finally:
        _drawn.reset(before)
