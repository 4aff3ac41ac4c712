"""Views of a recorded network, cycle by cycle: waveform reader, space-time diagrams, replay, summaries.

All views show a ``History``, which is plain data.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .chunks import RecordedChunk, RecordedReading, choose_ports
    from .history import (
        History,
        RecordedBuffer,
        RecordedHold,
        RecordedLink,
        RecordedToken,
        RecordedWorm,
        Wait,
    )
    from .rows import ChannelRow, choose_links, rows_of
    from .spacetime import require_drawable, spacetime_figure
    from .summary import summarise, to_dict
    from .text import spacetime_text
    from .waveform import read_waveform
    from .worm_choice import colours_of, of_worms, shown_worms
else:
    __getattr__ = lazily(__name__, {
        "chunks": ("RecordedChunk", "RecordedReading", "choose_ports"),
        "history": ("History", "RecordedBuffer", "RecordedHold", "RecordedLink", "RecordedToken",
                    "RecordedWorm", "Wait"),
        "rows": ("ChannelRow", "choose_links", "rows_of"),
        "spacetime": ("require_drawable", "spacetime_figure"),
        "summary": ("summarise", "to_dict"),
        "text": ("spacetime_text",),
        "waveform": ("read_waveform",),
        "worm_choice": ("colours_of", "of_worms", "shown_worms"),
    })

__all__ = [
           "ChannelRow",
           "History",
           "RecordedBuffer",
           "RecordedChunk",
           "RecordedHold",
           "RecordedLink",
           "RecordedReading",
           "RecordedToken",
           "RecordedWorm",
           "Wait",
           "choose_links",
           "choose_ports",
           "colours_of",
           "of_worms",
           "read_waveform",
           "require_drawable",
           "rows_of",
           "shown_worms",
           "spacetime_figure",
           "spacetime_text",
           "summarise",
           "to_dict",
]
