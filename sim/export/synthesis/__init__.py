"""What components cost on an FPGA: area, clock, critical path, and which block costs what.

``targets`` are the FPGA families, ``flow`` runs the tools, ``breakdown`` keeps the hierarchy, ``names`` and ``paths``
tell the critical path in the design's own words. ``point`` is a component with its options, ``sweep`` runs many,
``curves`` draws them.
"""

from .breakdown import Breakdown, breakdown
from .curves import draw, require_drawable
from .flow import SEEDS, Synthesis, synthesise
from .harness import Harness
from .paths import CriticalPath
from .point import SynthesisPoint, build, points
from .sweep import read_sweep, row, run
from .targets import TARGETS

__all__ = ["SEEDS", "TARGETS", "Breakdown", "CriticalPath", "Harness", "Synthesis", "SynthesisPoint", "breakdown",
           "build", "draw", "points", "read_sweep", "require_drawable", "row", "run", "synthesise"]
