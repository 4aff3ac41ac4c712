"""Loads what commands need when they run, Numba's functions and matplotlib, by commands for a network of its own."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from wormcast.sim.cli import main

COMMANDS = (
    "check ring:3 individual",
    "load ring:3 individual --destinations-mean 1 --rate 0.01 --cycles 1000 --plot {plot}",
    "run ring:3 individual --source 0 --destinations 1 --length 4",
)


def run(command):
    sys.argv = ["wormcast", *command.split()]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            main()
        except SystemExit as end:
            return end.code, errors.getvalue()
    return 0, ""


with tempfile.TemporaryDirectory() as folder:
    for command in COMMANDS:
        code, errors = run(command.format(plot=Path(folder, "plot.svg")))
        assert not code, errors
