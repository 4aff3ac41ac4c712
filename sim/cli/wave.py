"""``wave``: analysis of the worms in a waveform file."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import option_text

from ..api.arguments import window_of
from ..api.recordings import read_waveform
from ..common.atomic_write import require_writable
from ..common.figure_file import draw_file, require_page
from ..common.path_conflicts import require_apart
from ..common.picture_style import PictureOptions
from ..waves.view import (
    History,
    choose_ports,
    require_drawable,
    rows_of,
    spacetime_figure,
    spacetime_text,
    summarise,
)
from ..waves.view.descriptions import describe, describe_deadlock
from ..waves.view.replay import write_replay
from .app import Json, count, emit_result, say, table, width
from .commands import command
from .options import PICTURE, Given, picture_options, picture_paths, say_files, takes

__all__: list[str] = []


@command("wave")
@takes("look", PICTURE)
def wave(
    files: Annotated[list[Path], typer.Argument(
        metavar="FILE", help="Waveform, written by --vcd of run or load. Several files are drawn side by side.")],
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw a space-time diagram. Formats: .svg, .pdf, .png, .eps.")] = None,
    *,
    look: Given,
    replay: Annotated[Path | None, typer.Option(
        metavar="FILE.html", help="Write a page for a browser that replays the waveform cycle by cycle.")] = None,
    text: Annotated[bool, typer.Option(
        "--text", help="Print the space-time diagram in characters, as wide as the terminal.")] = False,
    window: Annotated[str | None, typer.Option(
        metavar="A:B", help="Show only cycles A to B - 1. Default: all; in a diagram the cycles from the first flit to "
        "soon after the last flit.",
        show_default=False)] = None,
    worms: Annotated[str | None, typer.Option(
        metavar="N,N,...", help="Numbers of the worms to show. Default: all.", show_default=False)] = None,
    links: Annotated[str, typer.Option(
        metavar="used|all|LINK,...", help="Links to show. used: links that worms hold or wait for. LINK: a link "
        "(0.1>0.2, inj:0.1, cons:0.1), or a node (0.1) for all its links. Default: used.",
        show_default=False)] = "used",
    buffers: Annotated[str | None, typer.Option(
        metavar="all|SWITCH[.PORT],...", help="Draw the buffer rows of deep switches below the diagram: their "
        "replication chunk counters, and the outputs that fetch and read them. Examples: s0, s0.n0.",
        show_default=False)] = None,
    json: Json = False,
) -> None:
    """The diagram has a row per link and virtual channel, and time on its horizontal axis. The diagram shows the worm
    that holds each channel, the flits, waiting headers, and the worms of a deadlock.
    """
    if text and json:
        raise WormcastError("--text is not valid with --json. Allowed: one of the two options.")
    if buffers is not None and plot is None:
        raise WormcastError(f"buffers: {buffers} is not valid without --plot. Needed: --plot FILE.")
    for option, asked in (("json", json), ("replay", replay)):
        if asked and len(files) > 1:
            raise WormcastError(f"{option_text(option, asked)} is not valid with more than one waveform: "
                                f"{', '.join(map(str, files))}. Allowed: one waveform.")
    options = picture_options(look, plot)
    cycles, chosen = window_of(window), _numbers(worms)
    require_apart({f"FILE {file}": file for file in files}, {**picture_paths(plot, options), "--replay": replay})
    if replay:
        require_page(replay)
    if plot:
        require_writable(plot)
    results = [read_waveform(file, window=cycles, worms=chosen, links=links) for file in files]
    histories = [result.history for result in results]
    seen = [(history, result.links) for history, result in zip(_shown(histories, cycles), results, strict=True)]
    if plot:
        _draw(seen, plot, buffers, options)
    if replay:
        write_replay(seen[0][0], replay)
    if json:
        files_made = {"plot": None if plot is None else str(plot), "replay": None if replay is None else str(replay)}
        emit_result(dataclasses.replace(results[0], files=files_made))
        return
    for file, history, (drawn, shown) in zip(files, histories, seen, strict=True):
        if len(files) > 1:
            say(f"{file}:")
        if not summarise(history):
            say(f"no worm holds a virtual channel in cycles {history.first} to {history.end - 1}")
        elif text:
            for line in spacetime_text(drawn, rows_of(drawn, shown), width()):
                say(line)
        else:
            _report(history)
    if plot:
        say_files(plot, options)
    if replay:
        say(f"replay: {replay}")


def _numbers(text: str | None) -> list[int] | None:
    """Read a list of worm numbers, separated by commas."""
    if text is None:
        return None
    numbers = [one.strip() for one in text.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 10 for one in numbers):
        raise WormcastError(f"worms: {text!r} is not valid. Allowed: numbers of worms, separated by commas, "
                            "for example 0,2.")
    return [int(one) for one in numbers]


def _shown(histories: list[History], window: tuple[int, int] | None) -> list[History]:
    """Return the cycles to show: those of the window; without a window, from the first flit of all waveforms to soon
    after the last one."""
    if window:
        return histories
    trimmed = [history.trimmed() for history in histories]
    first, end = min(one.first for one in trimmed), max(one.end for one in trimmed)
    return [one.between(max(first, one.first), min(end, one.end)) for one in histories]


def _draw(histories: list[tuple[History, list[int] | None]], plot: Path, buffers: str | None,
          options: PictureOptions) -> None:
    drawn = [(history, rows_of(history, shown)) for history, shown in histories]
    lanes = [choose_ports(buffers, history.chunks, history.readings) if buffers else [] for history, _ in drawn]
    for (_, rows), below in zip(drawn, lanes, strict=True):
        require_drawable(rows, plot, below)
    draw_file(plot, lambda: spacetime_figure(drawn, lanes=lanes), options)


def _report(history: History) -> None:
    """Print a table of the worms."""
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
        "ejected: cycle of the last tail on a consumption link; nodes: destinations whose tail is ejected; "
        "blocked: cycles in which the worm holds channels and none of its flits is on a link")
    for line in describe_deadlock(history):
        say(line)
