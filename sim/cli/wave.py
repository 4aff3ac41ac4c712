"""``wave``: what a waveform file tells of worms."""

from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError
from wormcast.algorithms.announcements import announce

from ..common.atomic_write import require_writable
from ..common.figure_file import whole_picture
from ..common.path_conflicts import require_apart
from ..waves.view import (
    History,
    choose_links,
    choose_ports,
    draw_spacetime,
    of_worms,
    read_waveform,
    require_drawable,
    rows_of,
    spacetime_text,
    summarise,
    to_dict,
)
from ..waves.view.replay import write_replay
from ..waves.view.telling import describe, describe_deadlock
from .app import Json, count, emit, say, table, width
from .commands import command
from .waveform_report import window_of

__all__: list[str] = []


@command("wave")
def wave(
    files: Annotated[list[Path], typer.Argument(
        metavar="FILE", help="What run or load has written by --vcd; several are drawn side by side.")],
    plot: Annotated[Path | None, typer.Option(help="Draw the space-time diagram into this .svg or .png.")] = None,
    replay: Annotated[Path | None, typer.Option(
        help="Write a page for a browser that replays it cycle by cycle.")] = None,
    text: Annotated[bool, typer.Option("--text", help="Print it in characters, as wide as the terminal.")] = False,
    window: Annotated[str | None, typer.Option(
        metavar="A:B", help="From cycle A up to the one before B; default: all, of a diagram those with flits.",
        show_default=False)] = None,
    worms: Annotated[str | None, typer.Option(
        metavar="N,N,...", help="These worms alone; default: all.", show_default=False)] = None,
    links: Annotated[str, typer.Option(
        metavar="used|all|LINK,...", help="Links: those with flits, all, or 0.1>0.2, inj:0.1, cons:0.1 or a node's "
                                          "0.1, joined by commas.")] = "used",
    buffers: Annotated[str | None, typer.Option(
        metavar="all|SWITCH[.PORT],...", help="Draw, below, rows of the buffers of deep switches with their counters, "
                                              "and which outputs fetch and read them: s0, s0.n0, joined by commas.",
        show_default=False)] = None,
    json: Json = False,
) -> None:
    """Links run down and cycles across: when each worm had which virtual channel, where its flits were, what its header
    waited for, and which worms a deadlock is made of.
    """
    if text and json:
        raise WormcastError("wave: --text and --json are given, allowed is one or the other")
    if buffers is not None and plot is None:
        raise WormcastError("wave: --buffers is given without --plot, it says what is drawn")
    for option, asked in (("json", json), ("replay", replay)):
        if asked and len(files) > 1:
            raise WormcastError(f"wave: --{option} is given with {len(files)} files, it tells of one")
    cycles, chosen = window_of(window), _numbers(worms)
    require_apart({f"FILE {file}": file for file in files}, {"--plot": plot, "--replay": replay})
    for path in filter(None, (plot, replay)):
        require_writable(path)
    with announce("reading waveforms"):
        histories = [read_waveform(file) for file in files]
    if chosen is not None:
        histories = [of_worms(history, chosen) for history in histories]
    if cycles is not None:
        histories = [history.between(*cycles) for history in histories]
    seen = [(history if cycles else history.trimmed(), choose_links(history, links)) for history in histories]
    if plot:
        _draw(seen, plot, buffers)
    if replay:
        write_replay(seen[0][0], replay)
    if json:
        [history], [(_, shown)] = histories, seen
        rows = rows_of(history, shown)
        files_made = {"plot": plot and str(plot), "replay": replay and str(replay)}
        emit(to_dict(history, {row.link for row in rows}) | files_made,
             {"file": str(files[0]), "window": f"{history.first}:{history.end}", "worms": chosen, "links": links})
        return
    for file, history, (drawn, shown) in zip(files, histories, seen, strict=True):
        if len(files) > 1:
            say(f"{file}:")
        if not summarise(history):
            say(f"no worm has a virtual channel in cycles {history.first} to {history.end - 1}")
        elif text:
            for line in spacetime_text(drawn, rows_of(drawn, shown), width()):
                say(line)
        else:
            _report(history)
    if plot:
        say(f"picture: {plot}")
    if replay:
        say(f"replay: {replay}")


def _numbers(text: str | None) -> list[int] | None:
    """Read numbers of worms, joined by commas."""
    if text is None:
        return None
    numbers = [one.strip() for one in text.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 10 for one in numbers):
        raise WormcastError(f"worms: {text!r} is given, allowed are numbers of worms, joined by commas")
    return [int(one) for one in numbers]


def _draw(histories: list[tuple[History, list[int] | None]], plot: Path, buffers: str | None) -> None:
    drawn = [(history, rows_of(history, shown)) for history, shown in histories]
    lanes = [choose_ports(buffers, history.chunks, history.readings) if buffers else [] for history, _ in drawn]
    for (_, rows), below in zip(drawn, lanes, strict=True):
        require_drawable(rows, plot, below)
    with whole_picture(plot) as target:
        draw_spacetime(drawn, *target, lanes=lanes)


def _report(history: History) -> None:
    """Print what became of the worms, for people."""
    name = history.topology.node_name
    links = {index for index, link in enumerate(history.links) if link.kind != "slots"}
    used = len({hold.link for hold in history.holds} & links)
    part = "" if history.is_whole else f"; a part of the network, of {count(len(history.topology.links), 'link')}"
    for line in [*describe(history), f"{used} of {count(len(links), 'link')} used{part}"]:
        say(line)
    table(["worm", "from", "to", "injected", "arrived", "ejected", "nodes", "blocked"],
          [[one["worm"], name(one["source"]), " ".join(map(name, one["destinations"])), one["injected"],
            one["arrived"], one["delivered"], f"{one['nodes']} of {one['recorded']}", one["blocked"]]
           for one in summarise(history)])
    say("injected, arrived: cycle of the first flit on the injection link, on a consumption link; "
        "ejected: of the last tail there; nodes: destinations whose tail is; "
        "blocked: cycles in which it has channels and none of its flits is on a link")
    for line in describe_deadlock(history):
        say(line)
