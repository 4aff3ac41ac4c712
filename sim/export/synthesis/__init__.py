"""Cost of components on an FPGA: area, clock, critical path, and area by block.

``targets`` has the FPGA families, ``flow`` runs the tools, ``breakdown`` synthesises block by block, ``names`` and
``paths`` describe the critical path with the names of the design's signals. ``point`` is a component with its options,
``sweep`` runs many points, ``curves`` plots them.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .breakdown import Breakdown
    from .curves import costs_figure, require_drawable
    from .flow import Synthesis, synthesise
    from .harness import Harness
    from .paths import CriticalPath
    from .point import SynthesisPoint, build, points
    from .sweep import read_sweep, row, run
    from .targets import SEEDS, TARGETS
else:
    __getattr__ = lazily(__name__, {
        "breakdown": ("Breakdown",),
        "curves": ("costs_figure", "require_drawable"),
        "flow": ("Synthesis", "synthesise"),
        "harness": ("Harness",),
        "paths": ("CriticalPath",),
        "point": ("SynthesisPoint", "build", "points"),
        "sweep": ("read_sweep", "row", "run"),
        "targets": ("SEEDS", "TARGETS"),
    })

__all__ = ["SEEDS", "TARGETS", "Breakdown", "CriticalPath", "Harness", "Synthesis", "SynthesisPoint", "build",
           "costs_figure", "points", "read_sweep", "require_drawable", "row", "run", "synthesise"]
