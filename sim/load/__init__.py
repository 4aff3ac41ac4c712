"""Load experiments: random traffic, for as many cycles as one likes, and what is measured of it.

``traffic`` creates messages, ``window`` has those that are on their way, ``load`` runs them with several seeds,
``checks`` asserts that nothing gets lost, ``utilisation`` sums up how busy the links were, ``result`` says what came of
it, ``statistics`` with which certainty, ``drawing`` shows it.
"""

from .drawing import draw_utilisation
from .load import MOST_SEEDS, check, load, load_until_interval, most_destinations
from .result import Load
from .statistics import Interval, interval
from .traffic import DISTRIBUTIONS, Traffic

__all__ = ["DISTRIBUTIONS", "MOST_SEEDS", "Interval", "Load", "Traffic", "check", "draw_utilisation", "interval",
           "load", "load_until_interval", "most_destinations"]
