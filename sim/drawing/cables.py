"""Lines between switches: a line for each pair of opposite links, straight or curved around other switches."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from .ways import arc, reaches

__all__ = ["Cable", "Obstacles", "cables_of", "nearest", "ways_of"]

Floats = npt.NDArray[np.float64]

PARALLEL = 0.3  # distance of parallel lines between two switches, in cells
BULGES = (0.35, 0.3, 0.25, 0.2, 0.16, 0.12, 0.09, 0.06, 0.04)  # distances of curves from the straight line, in cells
NEAR = 0.13  # smallest distance of a straight line from other switches, in cells
PROBED = 48  # largest number of lines of one direction and length that are tested for obstacles
LIKE = 3  # decimals to which the directions and lengths of lines are rounded before they are compared


@dataclass(frozen=True)
class Cable:
    """A link between two switches, and its opposite link if there is an opposite link.

    Parameters
    ----------
    there, back : int, int or None
        Rows of the topology's links.
    start, end : int
        Switches at the start and the end of link ``there``.
    number, among : int
        Index among the cables between these two switches, and the number of these cables.
    """

    there: int
    back: int | None
    start: int
    end: int
    number: int
    among: int


@dataclass(frozen=True, eq=False)
class Obstacles:
    """Obstacles of lines: boxes, or points if their size is 0.

    Parameters
    ----------
    places, half : float array [places, 2]
        Centres, and half the width and height of the boxes.
    """

    places: Floats
    half: Floats

    def distance(self, way: Floats, apart_from: Iterable[int]) -> float:
        """Return the smallest distance of a line from the obstacles except ``apart_from``, in cells; at most 1."""
        others = np.ones(len(self.places), bool)
        others[list(apart_from)] = False
        low, high = way.min(axis=0) - 1, way.max(axis=0) + 1
        others &= ((self.places + self.half >= low) & (self.places - self.half <= high)).all(axis=1)
        if not others.any():
            return 1.0
        gaps = np.abs(reaches(way)[:, None] - self.places[others]) - self.half[others]
        return min(1.0, float(np.linalg.norm(np.maximum(gaps, 0), axis=2).min()))


def cables_of(topology: Topology) -> list[Cable]:
    """Pair each link with its opposite link.

    The opposite link joins the same ports, or else is the first unpaired link back between the same two switches.
    """
    rows = {tuple(link): row for row, link in enumerate(topology.links.tolist())}
    free: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row, (start, _, end, _) in enumerate(topology.links.tolist()):
        free[start, end].append(row)
    between: dict[tuple[int, int], list[tuple[int, int | None]]] = defaultdict(list)
    paired: set[int] = set()
    for exact in (True, False):
        for row, (start, out, end, into) in enumerate(topology.links.tolist()):
            if row in paired:
                continue
            back = rows.get((end, into, start, out))
            if back is None and not exact:
                back = next((one for one in free[end, start] if one not in paired and one != row), None)
            if back is not None and back not in paired and back != row:
                paired |= {row, back}
                between[min(start, end), max(start, end)].append((row, back))
            elif not exact:
                paired.add(row)
                between[min(start, end), max(start, end)].append((row, None))
    found = []
    for pairs in between.values():
        for number, (row, back) in enumerate(sorted(pairs)):
            start, end = topology.links[row, [0, 2]].tolist()
            found.append(Cable(row, back, start, end, number, len(pairs)))
    return sorted(found, key=lambda cable: cable.there)


def ways_of(places: Floats, cables: Sequence[Cable]) -> tuple[list[Floats], float]:
    """Return the lines of cables: straight lines, or curves around other switches.

    Cables between the same two switches are parallel. Other cables with the same direction and length have the same
    curve, for example the wraparound links of a torus.

    Parameters
    ----------
    places : float array [switches, 2]

    Returns
    -------
    ways : list of float array [points, 2]
        Line of each cable, from its start.
    narrowest : float
        Smallest distance of a line from other switches and parallel lines, in cells; at most 1.
    """
    obstacles = Obstacles(places, np.zeros_like(places))
    closest = nearest(places)
    alike: dict[tuple[float, ...], list[int]] = defaultdict(list)
    for at, cable in enumerate(cables):
        difference = places[cable.end] - places[cable.start]
        alike[cable.number, cable.among, *difference.round(LIKE).tolist()].append(at)
    ways: list[Floats] = [places[[cable.start, cable.end]] for cable in cables]
    narrowest = min(1.0, closest)
    limit = min(NEAR, closest / 2)
    for (number, among, *difference), members in alike.items():
        probed = [cables[at] for at in members[::-(-len(members) // PROBED)]]
        middle = PARALLEL * (number - (among - 1) / 2)
        if cables[members[0]].start > cables[members[0]].end:
            middle = -middle  # the right side of a line is the left side of the opposite line
        # no third switch is near a line shorter than 1.4 times the smallest distance between two switches
        short = float(np.linalg.norm(difference)) < 1.4 * closest
        if short or _clear(obstacles, places, probed, middle) >= limit - 1e-9:
            bulge = middle
            narrowest = min(narrowest, PARALLEL if among > 1 else 1.0)
        else:
            bulge, distance = _around(obstacles, places, probed, np.array(difference), middle)
            narrowest = min(narrowest, distance)
        for at in members:
            ways[at] = arc(ways[at][0], ways[at][-1], bulge)
    return ways, narrowest


def _clear(obstacles: Obstacles, places: Floats, cables: Sequence[Cable], bulge: float) -> float:
    """Return the smallest distance of these cables from other switches if their lines have this bulge."""
    return min(obstacles.distance(arc(places[cable.start], places[cable.end], bulge), (cable.start, cable.end))
               for cable in cables)


def _around(obstacles: Obstacles, places: Floats, cables: Sequence[Cable], difference: Floats,
            middle: float) -> tuple[float, float]:
    """Return the bulge with the largest distance from other switches, and this distance.

    Of bulges with equal distances, one up or to the left is returned.
    """
    up = 1.0 if difference[1] - difference[0] > 0 else -1.0
    found = [(round(_clear(obstacles, places, cables, side * bulge + middle), 3), side * bulge + middle)
             for side in (up, -up) for bulge in BULGES]
    distance, bulge = max(found, key=lambda one: one[0])
    return bulge, max(distance, 0.02)


def nearest(places: Floats) -> float:
    """Return the smallest distance between two different positions, or 1 if all positions are equal."""
    places = np.unique(places, axis=0)
    least = np.inf
    for at in range(0, len(places), 256):
        apart = np.linalg.norm(places[at:at + 256, None] - places[None], axis=2)
        least = min(least, apart[apart > 0].min(initial=np.inf))
    return float(least) if np.isfinite(least) else 1.0
