"""Loads what commands need when they run, Numba's functions and matplotlib, by commands for a network of its own."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from wormcast.sim.cli import (  # noqa: F401  (imported by commands when they run)
    figure_report,
    hunt_report,
    installation,
    load_report,
    main,
    sweep_report,
    synthesis_report,
)
from wormcast.sim.cli.commands import COMMANDS as ALL
from wormcast.sim.cli.commands import find_command

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


for name in ALL:
    find_command(name)
with tempfile.TemporaryDirectory() as folder:
    for command in COMMANDS:
        code, errors = run(command.format(plot=Path(folder, "plot.svg")))
        assert not code, errors
