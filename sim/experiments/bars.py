"""Bars of a Gantt chart: activities of nodes, on tracks of their own if they overlap."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = ["OPEN", "Bar", "Steps", "on_tracks"]

#: Number in place of a bar's end if its activity does not end in the run.
OPEN = -1

#: Later than any cycle.
NEVER = 1 << 62


class Bar(NamedTuple):
    """Activity of a node in cycles ``begin`` to ``end`` - 1; ``end`` is `OPEN` for an activity that does not end.

    Members
    -------
    kind : str
    node, begin, end : int
    number : str
        Number of the packet in its worm, from 1. If the run has several messages, the number of the worm's message
        precedes the packet's.
    receiver : str
        Node to which the packet is sent; empty if there is not exactly one.
    track, tracks : int
        Track of the bar among overlapping bars of its kind and node, and the number of these tracks.
    flits : tuple of (int, int)
        First cycle, and cycle after the last one, of each run of flits in a bar with pauses; empty without pauses.
    """

    kind: str
    node: int
    begin: int
    end: int
    number: str = ""
    receiver: str = ""
    track: int = 0
    tracks: int = 1
    flits: tuple[tuple[int, int], ...] = ()


Steps = Sequence[Bar]
"""Consecutive activities of one packet, worm or receipt."""


def on_tracks(everything: Iterable[Steps], shared: Mapping[str, str]) -> Iterator[Bar]:
    """Yield the bars that have begun; bars that overlap by more than a cycle are on different tracks.

    Bars of a kind (key of ``shared``) share the tracks with bars of another kind (value).
    """
    places: dict[tuple[int, str], list[Steps]] = {}
    for steps in everything:
        if begun := [bar for bar in steps if bar.begin >= 0]:
            kind = begun[0].kind
            places.setdefault((begun[0].node, shared.get(kind, kind)), []).append(begun)
    for found in places.values():
        members = sorted(found, key=lambda steps: (steps[0].begin, steps))
        free: list[int] = []  # cycle from which each track is free
        tracks = []
        for steps in members:
            # a packet may be presented while the last flit of the packet before it is on the link
            track = next((number for number, cycle in enumerate(free) if cycle <= steps[0].begin + 1), len(free))
            free[track:track + 1] = [NEVER if steps[-1].end == OPEN else steps[-1].end]
            tracks.append(track)
        for steps, track in zip(members, tracks, strict=True):
            yield from (bar._replace(track=track, tracks=len(free)) for bar in steps)
