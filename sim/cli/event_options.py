"""Options of events and their energy, for ``run`` and ``load``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["EnergyOption", "EventsOption"]

EventsOption = Annotated[bool, typer.Option(
    "--events", help="Count events in routers and interfaces: buffer writes and reads, crossbar passes, flits on "
    "links.")]

EnergyOption = Annotated[Path | None, typer.Option(
    metavar="FILE.toml", help="Count events, and compute their energy from the costs in this file.",
    show_default=False)]
