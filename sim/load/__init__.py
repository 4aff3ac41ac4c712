"""Load experiments: traffic for as many cycles as one likes, and what is measured of it.

``traffic`` has the parameters of random traffic, ``patterns`` where it goes, ``source`` creates its messages; ``trace``
reads them from a file; ``created`` is what both give. ``window`` has those that are on their way, ``load`` runs them
with several seeds, ``result`` says what came of it, ``statistics`` with which certainty; ``asked`` takes all this from
options.
"""

from .asked import Asked
from .load import CYCLES, MOST_SEEDS, SEEDS, check, load, load_until_interval
from .patterns import PATTERNS
from .result import Load
from .statistics import Interval, interval
from .trace import Trace
from .traffic import DISTRIBUTIONS, Traffic

__all__ = ["CYCLES", "DISTRIBUTIONS", "MOST_SEEDS", "PATTERNS", "SEEDS", "Asked", "Interval", "Load",
           "Trace", "Traffic", "check", "interval", "load", "load_until_interval"]
