"""Options for the output files of a load experiment."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import PICTURE

__all__ = ["DEADLOCK_FILE", "LOAD_OUTPUTS", "OUTPUTS"]

#: Waveform of a deadlock, written into the current folder or into the folder of `deadlocks_left_in`.
DEADLOCK_FILE = Path("wormcast-deadlock.vcd")

STATE = "State and waveforms"

#: Typer annotations of the output options of ``continue``, in the order of --help.
OUTPUTS: dict[str, Any] = {
    "links": Annotated[bool, typer.Option("--links", help="Also print the utilisation of each link.")],
    "plot": Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the network with the utilisation of its links. Formats: .svg, .pdf, .png, .eps.")],
    **PICTURE,
    "csv": Annotated[Path | None, typer.Option(
        metavar="FILE.csv", help="Write all options and results as a table with the columns of sweep: one row; with "
        "--find-saturation a row per load experiment of the search.", show_default=False)],
    "messages_out": Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write a table with a row per received message. Formats: .csv, .parquet.",
        show_default=False)],
    "checkpoint": Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the state of the simulation at the end and on Ctrl-C. To continue: wormcast "
        "continue FILE.", rich_help_panel=STATE, show_default=False)],
    "checkpoint_every": Annotated[int | None, typer.Option(
        metavar="CYCLES", help="Also write --checkpoint each time this number of cycles has passed.", min=1,
        rich_help_panel=STATE, show_default=False)],
    "vcd": Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the waveform of --window or --around-worst to this file; without these options, "
        f"the waveform of a deadlock. Default for a deadlock: {DEADLOCK_FILE}.", rich_help_panel=STATE,
        show_default=False)],
    "window": Annotated[str | None, typer.Option(
        metavar="A:B", help="Record cycles A to B - 1 of the first seed into --vcd.", rich_help_panel=STATE,
        show_default=False)],
    "around_worst": Annotated[bool, typer.Option(
        "--around-worst", help="Record the message with the largest latency into --vcd, from its creation to its last "
        "receipt.", rich_help_panel=STATE)],
    "instances": Annotated[str | None, typer.Option(
        metavar="NAME,NAME,...", help="With --window: record only these instances: a node (1.2: its router and "
        "interface) or an instance (router_1_2). Default: all.", rich_help_panel=STATE, show_default=False)],
}

#: Typer annotations of the output options of ``load``: only ``load`` can count events, because a checkpoint holds none.
LOAD_OUTPUTS: dict[str, Any] = {**OUTPUTS, "links": Annotated[bool, typer.Option(
    "--links", help="Also print the utilisation of each link, and with --events or --energy the events of each router "
    "and interface.")]}
