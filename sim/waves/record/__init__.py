"""Recording of waveforms with the bulk engine, and checkpoint files.

A waveform has all signals of selected instances in a range of cycles, and the worms on their links. ``recorder`` writes
the waveform: ``changes`` finds the signals that change in a cycle, ``trace`` and ``slots`` find the worm that holds
each virtual channel and slot. ``worm_signals`` and ``interfaces`` declare the signals of worms and of smart interfaces,
``columns`` returns the lines of their changes, ``heading`` returns the first comment. The module ``viewer_setup``
returns the layouts for viewers, ``layout_files`` writes waveform and layouts completely or not at all. The module
``instances`` finds routers and interfaces by name. The module ``cycle_window`` runs a program from its start and
records a range of cycles, ``deadlock_window`` selects the cycles and instances to record for a deadlock. The module
``arrays`` converts the state of objects to named arrays, ``checkpoint`` writes named arrays to files and reads them.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cycle_window import record_window, require_size
    from .deadlock_window import around
    from .heading import RecordingFacts
    from .instances import find_instances, instances_at
    from .layout_files import beside, require_waveform, whole_waveform
    from .recorder import record
else:
    __getattr__ = lazily(__name__, {
        "deadlock_window": ("around",),
        "heading": ("RecordingFacts",),
        "instances": ("find_instances", "instances_at"),
        "layout_files": ("beside", "require_waveform", "whole_waveform"),
        "recorder": ("record",),
        "cycle_window": ("record_window", "require_size"),
    })

__all__ = ["RecordingFacts", "around", "beside", "find_instances", "instances_at", "record", "record_window",
           "require_size", "require_waveform", "whole_waveform"]
