"""Load experiments: traffic for as many cycles as one likes, and what is measured of it.

``source`` creates messages of random traffic (its parameters: ``build/traffic``); ``trace`` reads them from a file;
``created`` is what both give. ``window`` has those that are on their way, ``seed_batch`` runs some seeds side by side,
``checks`` asserts that nothing gets lost, ``experiment`` runs all batches; ``specification`` takes an experiment from
options. ``utilisation`` sums up how busy the links were, ``latencies`` counts latencies in bins, ``result`` says what
came of it, ``statistics`` with which certainty, ``drawing`` shows it; ``through`` says what became of each message,
``messages`` has a row for each in a file; ``saturation`` looks for the load at which a network saturates.
``past_states`` can be gone back to, ``waveform`` records from there, ``checkpoint`` has experiments in files, ``sound``
refuses states that are none.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

from ...build.limits import CYCLES, PRECISION, SEEDS
from ...build.patterns import PATTERNS
from ...build.traffic import DISTRIBUTIONS, Traffic

if TYPE_CHECKING:
    from .checkpoint import keep, resume
    from .drawing import draw_utilisation
    from .experiment import MOST_SEEDS, Experiment, check, lengths, load, load_until_interval, settled, shared
    from .messages import MessageTable, require_table
    from .result import PERCENTILES, Load
    from .rewind import rewind_to_deadlock, rewind_to_message, rewind_to_window
    from .saturation import Saturation, find_saturation
    from .specification import Specification
    from .statistics import Interval, interval
    from .trace import Trace
else:
    __getattr__ = lazily(__name__, {
        "checkpoint": ("keep", "resume"),
        "drawing": ("draw_utilisation",),
        "experiment": ("MOST_SEEDS", "Experiment", "check", "lengths", "load", "load_until_interval",
                       "settled", "shared"),
        "messages": ("MessageTable", "require_table"),
        "result": ("PERCENTILES", "Load"),
        "saturation": ("Saturation", "find_saturation"),
        "specification": ("Specification",),
        "statistics": ("Interval", "interval"),
        "trace": ("Trace",),
        "rewind": ("rewind_to_deadlock", "rewind_to_message", "rewind_to_window"),
    })

__all__ = [
    "CYCLES",
    "DISTRIBUTIONS",
    "MOST_SEEDS",
    "PATTERNS",
    "PERCENTILES",
    "PRECISION",
    "SEEDS",
    "Experiment",
    "Interval",
    "Load",
    "MessageTable",
    "Saturation",
    "Specification",
    "Trace",
    "Traffic",
    "check",
    "draw_utilisation",
    "find_saturation",
    "interval",
    "keep",
    "lengths",
    "load",
    "load_until_interval",
    "require_table",
    "resume",
    "rewind_to_deadlock",
    "rewind_to_message",
    "rewind_to_window",
    "settled",
    "shared",
]
