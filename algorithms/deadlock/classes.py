"""Search for the fewest consumption classes, over all maps from directions to classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from ..consumption import ConsumptionClasses
from ..topologies import Topology
from ..topologies.direct import GRIDS, direction_name, mesh_directions
from .channel_use import ChannelUse
from .knot_search import is_free

__all__ = ["ClassDirections", "fewest_classes", "links_along", "partitions", "vocabularies"]

MOST_DIRECTIONS = 8
"""Largest number of directions for which all maps from directions to classes are tried. For 8 directions there are 4140
maps."""


@dataclass(frozen=True)
class ClassDirections:
    """Directions of a network from which class maps are built: those of its dimensions, or up and down its labels.

    Parameters
    ----------
    deciding : tuple of str
        Directions of the hops that decide a class.
    idle : tuple of str
        Idle directions: directions whose hops decide no class. All idle directions can share one class. At a stop
        before its last one, no worm reserves a channel of this class, so that worms at their last destination can
        always get a channel of this class. The class of the idle directions is the "+ 1" of Lemma 1, which e-mcast on
        meshes of two rows needs.
    by : "next" or "last"
        The hop that decides the class at a stop: the hop after the stop, or the hop before the stop.
    """

    deciding: tuple[str, ...]
    idle: tuple[str, ...]
    by: Literal["next", "last"]

    @property
    def finest(self) -> ConsumptionClasses:
        """The map with a class for each deciding direction, and one class for all idle directions if there are any."""
        apart = [(direction,) for direction in self.deciding]
        return ConsumptionClasses((*apart, *([self.idle] if self.idle else [])), self.by)

    @property
    def divisible(self) -> bool:
        """The deciding directions are few enough to try all maps."""
        return len(self.deciding) <= MOST_DIRECTIONS

    def maps(self, count: int) -> Iterator[ConsumptionClasses]:
        """Yield once each map of the deciding directions to `count` classes.

        If there are idle directions, also yield the maps of the deciding directions to `count` - 1 classes, with all
        idle directions in a further class.
        """
        maps = partitions(self.deciding, count)
        if self.idle:
            maps = chain(maps, ((*blocks, self.idle) for blocks in partitions(self.deciding, count - 1)))
        for blocks in maps:
            yield ConsumptionClasses(blocks, self.by)


def vocabularies(parts: Sequence[ChannelUse]) -> list[ClassDirections]:
    """Return the sets of directions from which class maps of these worms can be built: of dimensions, and of labels.

    If the first scheme's own map uses one of the sets of directions, that set comes first.
    """
    stated, topology = parts[0].stated, parts[0].topology
    named = []
    if topology.kind in GRIDS:
        named.append([direction_name(*direction) for direction in mesh_directions(topology.shape)])
    if topology.labels is not None:
        named.append(["up", "down"])
    if {"up", "down"} & {*chain.from_iterable(stated.networks)}:
        named.reverse()
    found = []
    for directions in named:
        decides = _deciding(parts, directions, stated.by)
        found.append(ClassDirections(tuple(one for one in directions if one in decides),
                                     tuple(one for one in directions if one not in decides), stated.by))
    return found


def fewest_classes(parts: Sequence[ChannelUse], ejection: str = "one") -> tuple[ConsumptionClasses | None, int | None]:
    """Find a map of directions to classes of consumption channels without a deadlock, and the fewest classes.

    Each map is built from one of the sets of directions that `vocabularies` returns. The deciding hop (next or last) is
    that of the first scheme's own map.

    Joining two classes into one removes no cycle of dependencies. So if the map with a class for each direction has a
    cycle, every map has a cycle. For up to eight directions all maps are tried, fewest classes first. Of several maps
    with the fewest classes, one with the directions that the first scheme's own map uses is preferred.

    Parameters
    ----------
    parts : sequence of ChannelUse
    ejection : "one" or "all"
        As in `ejection_ports`.

    Returns
    -------
    ConsumptionClasses or None
        A map to the fewest classes. If there are too many directions to try all maps, the map has a class for each
        direction whose hops decide a class (`ClassDirections.finest`). The map is None if no map excludes deadlocks, or
        if one class does not suffice and the network has no named directions.
    int or None
        The fewest classes. The number is None if no map excludes deadlocks, or if the fewest number is not known.
    """
    known = vocabularies(parts)
    if not known or not any(part.has_stops for part in parts):
        return (ConsumptionClasses(), 1) if is_free(parts, 1, ConsumptionClasses(), ejection) else (None, None)
    helpful = [one for one in known if is_free(parts, len(one.finest), one.finest, ejection)]
    for count in range(1, MOST_DIRECTIONS + 2):
        for vocabulary in filter(lambda one: one.divisible, helpful):
            for classes in vocabulary.maps(count):
                if is_free(parts, count, classes, ejection):
                    return classes, count
    return helpful[0].finest if helpful else None, None


def _deciding(parts: Sequence[ChannelUse], vocabulary: list[str], by: str) -> list[str]:
    """Return the directions of `vocabulary` whose hops decide the consumption class at a stop."""
    topology = parts[0].topology
    links = topology.links
    decides = np.zeros(len(links), bool)
    for part in parts:
        held, port = np.nonzero(part.stops[:, :, 0] >= 0)
        held, port = held // part.vc_classes, port // part.vc_classes
        if by == "last":
            decides[held] = True
        else:
            asked = set(zip(links[held, 2].tolist(), port.tolist(), strict=True))
            decides |= [(start, out) in asked for start, out in links[:, :2].tolist()]
    return [direction for direction in vocabulary if (decides & links_along(topology, direction)).any()]


def links_along(topology: Topology, direction: str) -> np.ndarray:
    """Return the links that run in a direction, bool [links]."""
    return ConsumptionClasses(((direction,),)).of_channels(topology) == 0


def partitions(things: Sequence[str], blocks: int) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield all partitions of `things` into `blocks` non-empty blocks, each partition once, in a fixed order."""

    def divide(place: int, division: tuple[tuple[str, ...], ...]) -> Iterator[tuple[tuple[str, ...], ...]]:
        if len(division) + len(things) - place < blocks:
            return
        if place == len(things):
            yield division
            return
        thing = things[place]
        for block in range(len(division)):
            yield from divide(place + 1, (*division[:block], (*division[block], thing), *division[block + 1 :]))
        if len(division) < blocks:
            yield from divide(place + 1, (*division, (thing,)))

    yield from divide(0, ())
