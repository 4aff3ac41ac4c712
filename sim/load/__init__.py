"""Load experiments: traffic for as many cycles as one likes, and what is measured of it.

``traffic`` has the parameters of random traffic, ``patterns`` where it goes, ``source`` creates its messages; ``trace``
reads them from a file; ``created`` is what both give. ``window`` has those that are on their way, ``load`` runs them
with several seeds, ``checks`` asserts that nothing gets lost. ``utilisation`` sums up how busy the links were,
``result`` says what came of it, ``statistics`` with which certainty, ``drawing`` shows it. ``asked`` takes an
experiment from options.
"""

from .asked import Asked
from .drawing import draw_utilisation
from .load import CYCLES, MOST_SEEDS, SEEDS, check, load, load_until_interval
from .patterns import PATTERNS
from .result import Load
from .statistics import Interval, interval
from .trace import Trace
from .traffic import DISTRIBUTIONS, Traffic

__all__ = ["CYCLES", "DISTRIBUTIONS", "MOST_SEEDS", "PATTERNS", "SEEDS", "Asked", "Interval", "Load",
           "Trace", "Traffic", "check", "draw_utilisation", "interval", "load", "load_until_interval"]
