"""HTML page that replays a history cycle by cycle, in one self-contained file."""

import html
import json
import re
from collections.abc import Sequence
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

import wormcast

from ...common.atomic_write import whole_file
from ...common.frame import COLOURS
from ...drawing.layout import layout_of
from .descriptions import describe, milestones
from .history import History, RecordedHold
from .replay_layout import HOST, QUEUE, lay_out
from .worm_choice import colours_of

__all__ = ["Note", "replay_page", "write_replay"]

PARTS = {"STYLE": "replay.css", "MODEL": "replay_model.js", "SCRIPT": "replay.js"}


Note = tuple[int, str]
"""A note on the page, and the first cycle in which the page shows it."""


def write_replay(history: History, file: Path, *, title: str = "", notes: Sequence[Note] = ()) -> str:
    """Write a page that replays a history, atomically, and return the page.

    The page opens from disk in any browser and loads no other file. For each cycle the page shows the worm that holds
    each virtual channel, the flits on the links and in the buffers, and the wait-for graph of the worms.

    Parameters
    ----------
    history : History
    file : Path
    title : str
        Title above the network's name.
    notes : sequence of (int, str)
        Notes, each with its first cycle, in order. The page shows one note at a time.
    """
    page = replay_page(history, title=title, notes=notes)
    with whole_file(file) as unfinished:
        unfinished.write_text(page, encoding="utf-8")
    return page


def replay_page(history: History, *, title: str = "", notes: Sequence[Note] = ()) -> str:
    """Return the page of `write_replay` as text."""
    folder = resources.files(__package__)
    # if the data contain no <, they cannot end the page's script element
    given = _data(history) | {"lesson": title, "notes": list(notes)}
    data = json.dumps(given, separators=(",", ":")).replace("<", "\\u003c")
    parts = {name: (folder / file).read_text(encoding="utf-8") for name, file in PARTS.items()}
    parts |= {"DATA": data, "TITLE": html.escape(title or describe(history)[0])}
    page = (folder / "replay.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda found: parts[found[1]], page)


def _data(history: History) -> dict[str, Any]:
    """Return the data of the page's script; see ``unpack`` in replay_model.js."""
    ground, layout = lay_out(history), layout_of(history.topology)
    # if a line is bent, names are drawn in the routers: the line would cross names beside routers
    beside = bool(layout.names) and all(len(way) == 2 for way in layout.links)
    first_track = [0]
    for link in history.links:
        first_track.append(first_track[-1] + link.vcs)
    number: dict[int | None, int] = {worm: place for place, worm in enumerate(history.worms)}
    delivered = set(history.deliveries)
    colours = colours_of(history)
    asked: dict[str, int] = {}
    waits = [
        [first_track[wait.link] + wait.vc, number[wait.worm], wait.first, wait.last,
         [asked.setdefault(resource, len(asked)) for resource in wait.resources]]
        for wait in history.waits
    ]
    tokens = [[asked[one.resource], number[one.worm], one.first, one.last] for one in history.tokens
              if one.resource in asked]
    steps = [] if history.deadlock is None else history.deadlock["cycle"]
    circle = [[number[step["worm"]], [asked.setdefault(resource, len(asked)) for resource in step["waits"]]]
              for step in steps if step["worm"] in number]
    named = {*(host.node for host in ground.hosts),
             *(node for worm in history.worms.values() for node in (worm.source, *worm.destinations))}
    places = [history.channel(resource) for resource in asked]
    return {
        "version": wormcast.__version__, "commit": wormcast.__commit__, "title": describe(history),
        "first": history.first, "end": history.end,
        "opens": min((hold.first for hold in history.holds), default=history.first),
        "hardware": [[name.replace("_", "-"), str(value)] for name, value in history.configuration.items()],
        "corner": _short(ground.corner), "size": _short(ground.size), "host": HOST,
        "names": {node: history.topology.node_name(node) for node in named},
        "switches": {router.switch: history.topology.switch_title(router.switch) for router in ground.routers},
        # the last two values of each router: its name is drawn beside it, not in it; its node is drawn beside it
        "routers": [[router.switch, *_short(router.at), *_short(router.half),
                     beside and bool(layout.shared[router.switch]), bool(layout.shared[router.switch])]
                    for router in ground.routers],
        "hosts": [[host.node, *_short(host.at), host.kind, _short(host.name), host.anchor]
                  for host in ground.hosts],
        "planes": [[value for point in plane for value in _short(point)] for plane in ground.planes],
        "plane_names": [[name, *_short(at)] for name, at in ground.names],
        "links": [[link.kind, link.source, link.target, first] for link, first in zip(history.links, first_track,
                                                                                     strict=False)],
        "tracks": [[link, history.channel_name(link, vc), [value for point in way for value in _short(point)]]
                  for link, ways in enumerate(ground.tracks) for vc, way in enumerate(ways)],
        "worms": [[worm.number, worm.source, worm.destinations, COLOURS.index(colours.get(worm.number, COLOURS[0]))]
                  for worm in history.worms.values()],
        # last but one value of each hold: 0 not ended, 1 ended with a tail, 2 ended with a delivery at a node
        "holds": [[first_track[hold.link] + hold.vc, number[hold.worm], hold.first, hold.last,
                   int(hold.ended) + (hold in delivered), _stretches(hold)] for hold in history.holds],
        "waits": waits,
        # each held token: its resource, worm, first and last cycle
        "tokens": tokens, "replicates": history.replicates,
        # each chunk: port, row, worm (-1: unknown), first and last cycle, changes of flits and of counter, fetches
        "chunks": [[f"{one.switch}.{one.port}", one.row, number.get(one.worm, -1), one.first, one.last,
                    _flat(one.flits), _flat(one.counts), _flat(one.fetches)] for one in history.chunks],
        "readings": [[f"{one.switch}.{one.port}", one.row, one.output, number.get(one.worm, -1), one.first, one.last,
                      _flat(one.places), one.follows] for one in history.readings],
        "resources": [[history.resource_name(resource), None if place is None else first_track[place[0]] + place[1]]
                      for resource, place in zip(asked, places, strict=True)],
        "deadlock": None if len(circle) < len(steps) or not steps else {
            "circle": circle, "closed": history.knot_closed(), "milestones": milestones(history)},
        "slots": ground.slots, "queue": QUEUE, "depth": history.depth,
        # each buffer: virtual channel, changes of the number of flits, changes of the number of credits in use
        "buffers": [[first_track[one.link] + one.vc, _flat(one.stored), _flat(one.spent)] for one in history.buffers],
    }


def _short(point: tuple[float, float]) -> list[float]:
    return [round(value, 1) for value in point]


def _flat(steps: Sequence[tuple[int, Any]]) -> list[Any]:
    return list(chain.from_iterable(steps))


def _stretches(hold: RecordedHold) -> list[int]:
    """Return run lengths from the hold's first cycle on: cycles without a flit and cycles with one, alternately."""
    lengths: list[int] = []
    now = hold.first
    for cycle in hold.flits:
        if cycle == now and lengths:
            lengths[-1] += 1
        else:
            lengths += [cycle - now, 1]
        now = cycle + 1
    return lengths
