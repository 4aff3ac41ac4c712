"""Waveforms of the bulk engine, every signal of some instances over some cycles; and state kept in files.

``recorder`` writes what an engine does from now on: of every signal (``changes`` finds what is new in a cycle), and
of worms. ``links`` names the links, ``trace`` finds which worm has which of their virtual channels, ``worms`` declares
what is shown of that (``columns`` writes it), ``heading`` is the file's first comment. ``layout`` is what viewers show
first, ``whole`` makes all these files or none. ``instances`` finds instances by their names, ``window`` records some
cycles of a program by running it from its start, ``around`` says which cycles and instances show how a deadlock came
about. ``arrays`` has the state of objects as arrays by name, ``checkpoint`` writes and reads such arrays.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cycle_window import record_window, require_size
    from .deadlock_window import around
    from .heading import About
    from .instances import find_instances, instances_at
    from .layout_files import beside, require_waveform, whole_waveform
    from .recorder import record
else:
    __getattr__ = lazily(__name__, {
        "deadlock_window": ("around",),
        "heading": ("About",),
        "instances": ("find_instances", "instances_at"),
        "layout_files": ("beside", "require_waveform", "whole_waveform"),
        "recorder": ("record",),
        "cycle_window": ("record_window", "require_size"),
    })

__all__ = ["About", "around", "beside", "find_instances", "instances_at", "record", "record_window", "require_size",
           "require_waveform", "whole_waveform"]
