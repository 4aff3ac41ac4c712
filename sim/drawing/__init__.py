"""Pictures of networks, for papers: one column wide or as it takes, legible in grey.

``layout`` says where nodes, switches and links lie, from the topology's places, for the replay too; ``cables`` and
``boxes`` lead its ``ways``. ``sheet`` is what all pictures have in common and what is written below them, ``network``,
``arrows`` and ``tracks`` draw what several show. The pictures are
``topology`` (links, coordinates, labels), ``paths`` (a plan), ``cycle`` (of dependencies) and ``utilisation``.

A function ``..._sheet`` draws, and ``draw_...`` draws and writes.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cycle import cycle_sheet, draw_cycle
    from .layout import LineName, NetworkLayout, layout_of
    from .paths import draw_paths, paths_sheet
    from .sheet import Sheet, require_drawable, scheme_on
    from .topology import draw_topology, topology_sheet
    from .utilisation import utilisation_sheet
else:
    __getattr__ = lazily(__name__, {
        "cycle": ("cycle_sheet", "draw_cycle"),
        "layout": ("LineName", "NetworkLayout", "layout_of"),
        "paths": ("draw_paths", "paths_sheet"),
        "sheet": ("Sheet", "require_drawable", "scheme_on"),
        "topology": ("draw_topology", "topology_sheet"),
        "utilisation": ("utilisation_sheet",),
    })

__all__ = [
    "LineName",
    "NetworkLayout",
    "Sheet",
    "cycle_sheet",
    "draw_cycle",
    "draw_paths",
    "draw_topology",
    "layout_of",
    "paths_sheet",
    "require_drawable",
    "scheme_on",
    "topology_sheet",
    "utilisation_sheet",
]
