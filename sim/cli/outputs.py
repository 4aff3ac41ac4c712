"""Options for what a load experiment leaves behind beside its report."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["DEADLOCK_FILE", "OUTPUTS"]

#: Waveform that a deadlock leaves behind in the current folder, if `deadlocks_left_in` does not say otherwise.
DEADLOCK_FILE = Path("wormcast-deadlock.vcd")

STATE = "State and waveforms"

#: What a load experiment leaves behind beside its report, as typer wants it, in the order of --help.
OUTPUTS: dict[str, Any] = {
    "links": Annotated[bool, typer.Option("--links", help="Tell the utilisation of each link too.")],
    "plot": Annotated[Path | None, typer.Option(
        help="Draw the network, and how busy its links are into this .svg or .png.")],
    "messages_out": Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write a row for each message that is received, to this .csv or .parquet.",
        show_default=False)],
    "checkpoint": Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write all there is to this file, for: wormcast continue FILE; at the end, and on Ctrl-C.",
        rich_help_panel=STATE, show_default=False)],
    "checkpoint_every": Annotated[int | None, typer.Option(
        metavar="CYCLES", help="And every so many cycles.", min=1, rich_help_panel=STATE, show_default=False)],
    "vcd": Annotated[Path | None, typer.Option(
        metavar="FILE", help=f"The waveform: of the --window, or else of a deadlock; default for one: {DEADLOCK_FILE}.",
        rich_help_panel=STATE, show_default=False)],
    "window": Annotated[str | None, typer.Option(
        metavar="A:B", help="Record cycles A to B - 1 of the first seed, into --vcd.", rich_help_panel=STATE,
        show_default=False)],
    "around_worst": Annotated[bool, typer.Option(
        "--around-worst", help="Record the message with the largest latency, from its creation to its last receipt, "
        "into --vcd.", rich_help_panel=STATE)],
    "instances": Annotated[str | None, typer.Option(
        metavar="NAME,NAME,...", help="Record these alone: 1.2 (a node's router and interface), router_1_2, ...; "
        "default: all.", rich_help_panel=STATE, show_default=False)],
}
