"""Side by side: which place each worm has on the links that it shares, what room that takes, and its way there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
import numpy.typing as npt

from .ways import along, aside, beside

__all__ = ["bend", "least_cell", "tracks"]

Floats = npt.NDArray[np.float64]
Hop = tuple[int, int]

NEAR = 1e-3  # cells
STRAIGHT, SHARP = 0.2, -0.2  # sine of a turn that is hardly one, cosine of one that is nearly back


@dataclass(frozen=True)
class _Run:
    """Hops of a journey that go on straight, and how it turns behind them: 1 to the right, -1 to the left, 0 it ends.

    ``least`` is the first place that it may have.
    """

    journey: int
    first: int
    hops: tuple[Hop, ...]
    turn: int
    least: int

    @property
    def order(self) -> tuple[int, int, int, int]:
        """Who comes first is nearest to the line: so, of those that start together, none crosses another's way."""
        return (1, -len(self.hops), self.journey, self.first) if self.turn > 0 else (
            0, len(self.hops), self.journey, self.first)


def tracks(ways: Mapping[Hop, Floats], journeys: Sequence[Sequence[Hop]], shunned: Sequence[Set[int]],
          least: int) -> list[list[int]]:
    """Give each hop of each journey its place beside the line, 0 the nearest: no two have the same one on a link.

    A journey keeps its place while it goes straight on. Where it meets a switch that it shuns, it is in place
    ``least`` or farther out.

    Parameters
    ----------
    ways : mapping of (int, int) to float array [points, 2]
        The way of each hop, y downwards.
    journeys : sequence of sequence of (int, int)
        Hops from switch to switch, one after the other.
    shunned : sequence of set of int
        Switches that each journey keeps away from.
    """
    found = [[0] * len(hops) for hops in journeys]
    taken: dict[Hop, set[int]] = defaultdict(set)
    for run in sorted((run for number, hops in enumerate(journeys)
                       for run in _runs(ways, number, hops, shunned[number], least)),
                      key=lambda run: run.order):
        used = {track for hop in run.hops for track in taken[hop]}
        track = next(track for track in count(run.least) if track not in used)
        for offset, hop in enumerate(run.hops):
            taken[hop].add(track)
            found[run.journey][run.first + offset] = track
    return found


def _runs(ways: Mapping[Hop, Floats], journey: int, hops: Sequence[Hop], shunned: Set[int], least: int) -> list[_Run]:
    """Divide a journey where it turns."""
    turns = [_turn(ways[one][-1] - ways[one][-2], ways[other][1] - ways[other][0]) for one, other in pairwise(hops)]
    found, first = [], 0
    for place, turn in enumerate([*turns, 0]):
        if turn or place == len(hops) - 1:
            straight = tuple(hops[first:place + 1])
            away = any(switch in shunned for hop in straight for switch in hop)
            found.append(_Run(journey, first, straight, turn, least if away else 0))
            first = place + 1
    return found if hops else []


def _turn(way: Floats, after: Floats) -> int:
    """1 to the right, or back, and -1 to the left, where y points down; 0 straight on."""
    across = round(float(way[0] * after[1] - way[1] * after[0]), 6)
    return int(np.sign(across)) or int(way @ after < 0)


def least_cell(starts: Floats, ends: Floats, reach: Floats, used: Sequence[int], gap: float) -> float:
    """Points that a cell needs so that what lies beside parallel links, towards each other, is this far apart.

    Parameters
    ----------
    starts, ends : float array [links, 2]
        In cells.
    reach : float array [links]
        Points that are taken to the right of each.
    used : sequence of int
        Links that need the room.
    gap : float
        Points.
    """
    middles, lengths = (starts + ends) / 2, np.linalg.norm(ends - starts, axis=1)
    ways = along(starts, ends)
    needed = 0.0
    for link in used:
        away = middles - middles[link]
        apart, beyond = away @ aside(ways[link]), np.abs(away @ ways[link])
        facing = (ways @ ways[link] < -0.999) & (apart > NEAR) & (beyond < (lengths + lengths[link]) / 2 - NEAR)
        needed = max(needed, ((reach[link] + reach[facing] + gap) / apart[facing]).max(initial=0.0))
    return needed


def bend(ways: Sequence[Floats], apart: Sequence[float]) -> list[Floats]:
    """Corners of a path beside these ways: where it turns, the lines beside both meet, if that is not far away.

    Where one way ends at another place than the next one begins, on the box of a switch, the path goes straight from
    the one to the other.

    Parameters
    ----------
    ways : sequence of float array [points, 2]
    apart : sequence of float
        How far to the right of each.
    """
    if not len(ways):
        return []
    lines = [beside(way, away) for way, away in zip(ways, apart, strict=True)]
    corners = [lines[0][0]]
    for (one, other), (line, next_line) in zip(pairwise(ways), pairwise(lines), strict=True):
        corners += list(line[1:-1])
        way, after = along(*one[-2:]), along(*other[:2])
        across = way[0] * after[1] - way[1] * after[0]
        beyond = float(across < -STRAIGHT)  # on the outer side of a turn to the left
        if not np.array_equal(one[-1], other[0]):
            corners += [line[-1], next_line[0]]
        elif abs(across) < STRAIGHT or way @ after < SHARP:  # where the lines meet, if they do, is far away
            corners += [line[-1] + beyond * way * np.linalg.norm(line[-1] - one[-1]),
                        next_line[0] - beyond * after * np.linalg.norm(next_line[0] - other[0])]
        else:
            difference = next_line[0] - line[-1]
            corners.append(line[-1] + way * (difference[0] * after[1] - difference[1] * after[0]) / across)
    return [*corners, *lines[-1][1:]]
