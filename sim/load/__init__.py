"""Load experiments: random traffic, for as many cycles as one likes, and what is measured of it.

``traffic`` creates messages, ``window`` has those that are on their way, ``load`` runs them with several seeds,
``result`` says what came of it, ``statistics`` with which certainty. ``group`` is what is run, captured and put back,
``ladder`` has past states to go back to, ``waveform`` records from there, ``kept`` has experiments in files.
"""

from .kept import Origin, keep, relation_digest, resume
from .load import (
    MOST_SEEDS,
    Experiment,
    check,
    lengths,
    load,
    load_until_interval,
    most_destinations,
    settled,
    shared,
)
from .result import Load
from .statistics import Interval, interval
from .traffic import DISTRIBUTIONS, Traffic
from .waveform import record_deadlock, record_window

__all__ = [
    "DISTRIBUTIONS",
    "MOST_SEEDS",
    "Experiment",
    "Interval",
    "Load",
    "Origin",
    "Traffic",
    "check",
    "interval",
    "keep",
    "lengths",
    "load",
    "load_until_interval",
    "most_destinations",
    "record_deadlock",
    "record_window",
    "relation_digest",
    "resume",
    "settled",
    "shared",
]
