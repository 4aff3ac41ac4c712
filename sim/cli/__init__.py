"""The command ``wormcast``. Its names are a contract: scripts outside this project rely on them.

One file for each group of commands; ``app`` holds what they share: options, output, exit codes.
"""

from . import (
    checking,
    continuing,
    demo,
    doctor,
    figuring,
    hunting,
    loading,
    running,
    showing,
    sweeping,
    synthesis,
    verilog,
    wave,
)
from .app import main

__all__ = ["checking", "continuing", "demo", "doctor", "figuring", "hunting", "loading", "main", "running", "showing",
           "sweeping", "synthesis", "verilog", "wave"]
