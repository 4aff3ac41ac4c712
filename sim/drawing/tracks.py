"""Tracks (parallel lines beside a link) of worms that share links: assignment, required space, lines of paths."""

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
STRAIGHT, SHARP = 0.2, -0.2  # largest sine of a turn that counts as straight; largest cosine of a sharp turn


@dataclass(frozen=True)
class _Run:
    """Consecutive hops of a journey in one direction, and the turn at their end: 1 right, -1 left, 0 the journey ends.

    ``least`` is the lowest track number that the run may have.
    """

    journey: int
    first: int
    hops: tuple[Hop, ...]
    turn: int
    least: int

    @property
    def order(self) -> tuple[int, int, int, int]:
        """Sort key: runs with small keys get tracks near the line, so that runs with the same start do not cross."""
        return (1, -len(self.hops), self.journey, self.first) if self.turn > 0 else (
            0, len(self.hops), self.journey, self.first)


def tracks(ways: Mapping[Hop, Floats], journeys: Sequence[Sequence[Hop]], shunned: Sequence[Set[int]],
          least: int) -> list[list[int]]:
    """Assign a track beside the line to each hop of each journey; 0 is the nearest.

    A journey is the path of a worm, or of a branch. Journeys on the same hop have different tracks. A journey keeps its
    track until it turns. If the hops between two turns of a journey touch a switch in its ``shunned`` set, these hops
    have track ``least`` or one farther out.

    Parameters
    ----------
    ways : mapping of (int, int) to float array [points, 2]
        Line of each hop, y downwards.
    journeys : sequence of sequence of (int, int)
        Consecutive hops from switch to switch.
    shunned : sequence of set of int
        For each journey, the switches whose discs the journey must not touch.
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
    """Divide a journey into runs at its turns."""
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
    """Return 1 for a turn to the right or back, -1 to the left, 0 for straight on. The y axis points down."""
    across = round(float(way[0] * after[1] - way[1] * after[0]), 6)
    return int(np.sign(across)) or int(way @ after < 0)


def least_cell(starts: Floats, ends: Floats, reach: Floats, used: Sequence[int], gap: float) -> float:
    """Return the smallest cell, in points, in which tracks of opposite parallel links are at least ``gap`` apart.

    Parameters
    ----------
    starts, ends : float array [links, 2]
        In cells.
    reach : float array [links]
        Width of the tracks to the right of each link, in points.
    used : sequence of int
        Numbers of the links with tracks.
    gap : float
        Least distance between tracks of opposite links, in points.
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
    """Return the corners of a path beside these lines. At a turn, two shifted lines are joined at their intersection.

    If the intersection is far away, or a line ends elsewhere than the next one begins (at a switch's box), the ends are
    joined by a straight line.

    Parameters
    ----------
    ways : sequence of float array [points, 2]
    apart : sequence of float
        Shift to the right of each line.
    """
    if not len(ways):
        return []
    lines = [beside(way, away) for way, away in zip(ways, apart, strict=True)]
    corners = [lines[0][0]]
    for (one, other), (line, next_line) in zip(pairwise(ways), pairwise(lines), strict=True):
        corners += list(line[1:-1])
        way, after = along(*one[-2:]), along(*other[:2])
        across = way[0] * after[1] - way[1] * after[0]
        beyond = float(across < -STRAIGHT)  # 1 for a turn to the left, where the path is on the outer side
        if not np.array_equal(one[-1], other[0]):
            corners += [line[-1], next_line[0]]
        elif abs(across) < STRAIGHT or way @ after < SHARP:  # the intersection is far away or missing
            corners += [line[-1] + beyond * way * np.linalg.norm(line[-1] - one[-1]),
                        next_line[0] - beyond * after * np.linalg.norm(next_line[0] - other[0])]
        else:
            difference = next_line[0] - line[-1]
            corners.append(line[-1] + way * (difference[0] * after[1] - difference[1] * after[0]) / across)
    return [*corners, *lines[-1][1:]]
