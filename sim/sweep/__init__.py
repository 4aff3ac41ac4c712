"""Sweeps: load experiments for all combinations of some options' values, which can be interrupted at any time.

``file`` reads what is to be run, ``point`` is one experiment of it, ``store`` keeps those that are finished, ``run``
runs the others, ``export`` writes them all as a table.
"""

from .export import row, write
from .file import OPTIONS, Sweep, read
from .point import Point, points
from .run import missing, run_missing
from .store import Store

__all__ = ["OPTIONS", "Point", "Store", "Sweep", "missing", "points", "read", "row", "run_missing", "write"]
