"""Sweeps: load experiments for all combinations of options' values. A sweep can be interrupted at any time.

``file`` reads a sweep, ``point`` is one experiment of a sweep, ``store`` stores the results of finished points.
``local`` runs the missing points on this machine, ``cluster`` on other machines. ``same_cycles`` makes results
comparable, ``export`` writes the results as a table, ``curves`` draws the results.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .cluster import require_cluster, run_on_cluster
    from .curves import curves_figure, require_drawable, scheme_name
    from .export import cells_of, require_parquet, row, write_parquet
    from .file import OPTIONS, REPETITIONS, SWEEP, read, sweep_of
    from .local import missing, run_missing
    from .point import Point, build_point, plain_results, points
    from .same_cycles import over_same_cycles
    from .store import MemoryStore, ResultStore
else:
    __getattr__ = lazily(__name__, {
        "cluster": ("require_cluster", "run_on_cluster"),
        "curves": ("curves_figure", "require_drawable", "scheme_name"),
        "export": ("cells_of", "require_parquet", "row", "write_parquet"),
        "file": ("OPTIONS", "REPETITIONS", "SWEEP", "read", "sweep_of"),
        "point": ("Point", "build_point", "plain_results", "points"),
        "local": ("missing", "run_missing"),
        "same_cycles": ("over_same_cycles",),
        "store": ("MemoryStore", "ResultStore"),
    })

__all__ = ["OPTIONS", "REPETITIONS", "SWEEP", "MemoryStore", "Point", "ResultStore", "build_point", "cells_of",
           "curves_figure", "missing", "over_same_cycles", "plain_results", "points", "read", "require_cluster",
           "require_drawable", "require_parquet", "row", "run_missing", "run_on_cluster", "scheme_name", "sweep_of",
           "write_parquet"]
