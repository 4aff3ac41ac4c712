"""Load experiments: simulation of traffic for a number of cycles, and its measurements.

Traffic: ``source`` creates random messages (parameters: ``build/traffic``), ``trace`` reads messages from a file; both
return ``created`` messages.

Simulation: ``message_window`` holds the messages on their way, ``accounting`` counts them. ``seed_batch`` simulates
seeds side by side, ``checks`` asserts that no flit is lost. ``experiment`` runs all seeds, ``specification`` reads an
experiment from options.

Results: ``utilisation`` sums up flits on links, ``event_totals`` events in routers and interfaces, ``stages`` waiting
worms in stages of multistage networks, ``latencies`` is a histogram. ``result`` has the results of an experiment,
``statistics`` computes its confidence intervals, ``drawing`` draws it. ``completed`` and ``header_waits`` describe each
received message, ``messages`` writes a table of received messages. ``saturation`` searches for the load at which a
network saturates.

States: ``past_states`` keeps states of experiments in memory, ``rewind`` records waveforms from these states,
``checkpoint`` stores experiments in files, ``validate`` refuses invalid states.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

from ...build.limits import CYCLES, PRECISION, SEEDS
from ...build.patterns import PATTERNS
from ...build.traffic import DISTRIBUTIONS, Traffic

if TYPE_CHECKING:
    from .checkpoint import keep, resume
    from .drawing import load_sheet
    from .experiment import Experiment, check, lengths, load, load_until_interval, settled, shared
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
        "drawing": ("load_sheet",),
        "experiment": ("Experiment", "check", "lengths", "load", "load_until_interval",
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
    "find_saturation",
    "interval",
    "keep",
    "lengths",
    "load",
    "load_sheet",
    "load_until_interval",
    "require_table",
    "resume",
    "rewind_to_deadlock",
    "rewind_to_message",
    "rewind_to_window",
    "settled",
    "shared",
]
