"""Drawings of networks for papers: one column wide, or wider for large networks, legible in grey.

``layout`` computes the positions of nodes, switches and links from the topology's places, for the replay too.
``cables`` and ``boxes`` compute the lines that represent links, with the geometry in ``ways``. ``sheet`` makes the
figure of each drawing, with its legend and the text below. ``network`` draws lines, boxes and nodes, ``arrows``
computes outlines of arrows, ``tracks`` computes parallel lines of worms on a link. The drawings are ``topology``
(links, names of nodes, labels), ``paths`` (a plan), ``cycle`` (of dependencies) and ``utilisation`` (of links).

A function ``..._sheet`` returns a drawing; `draw_file` writes its figure.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cycle import cycle_sheet
    from .layout import LineName, NetworkLayout, layout_of
    from .paths import paths_sheet
    from .sheet import Sheet, require_drawable, scheme_on
    from .topology import topology_sheet
    from .utilisation import utilisation_sheet
else:
    __getattr__ = lazily(__name__, {
        "cycle": ("cycle_sheet",),
        "layout": ("LineName", "NetworkLayout", "layout_of"),
        "paths": ("paths_sheet",),
        "sheet": ("Sheet", "require_drawable", "scheme_on"),
        "topology": ("topology_sheet",),
        "utilisation": ("utilisation_sheet",),
    })

__all__ = [
    "LineName",
    "NetworkLayout",
    "Sheet",
    "cycle_sheet",
    "layout_of",
    "paths_sheet",
    "require_drawable",
    "scheme_on",
    "topology_sheet",
    "utilisation_sheet",
]
