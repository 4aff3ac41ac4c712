"""How many classes of consumption channels are needed: by search, and by the bounds of [Boppana98]."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from ..consumption import ConsumptionClasses
from ..topologies import Topology
from ..topologies.grid import GRIDS, direction_name, mesh_directions
from .alternatives import is_free
from .ways import Ways

__all__ = ["channel_bounds", "fewest_classes", "partitions"]

MOST_DIRECTIONS = 8
"""Directions that are divided among classes in every way: 4140 ways."""


def fewest_classes(parts: Sequence[Ways], ejection: str = "one") -> tuple[ConsumptionClasses | None, int | None]:
    """Find a map of directions to classes of consumption channels without a deadlock, and the fewest classes.

    A map has the directions of the hops that decide a class: those of dimensions, or up and down the Hamiltonian
    path where nodes have labels. One class may be left to the other directions: no worm holds it on its way, so that
    a last destination always finds it free (the "+ 1" of Lemma 1; e-mcast in two rows needs it). The rule (next or
    last hop) stays the first part's.

    To join two classes takes no cycle away, so where a class for each direction does not help, no map does. Up to
    eight directions are divided in every way, fewest classes first. Of maps with as few classes, one in the terms of
    the first part's own is taken.

    Parameters
    ----------
    parts : sequence of Ways
    ejection : "one" or "all"
        As `ejection_ports` has it.

    Returns
    -------
    ConsumptionClasses or None
        A map to the fewest classes; with a class for each direction where these are too many to divide; None where
        no map will do, or directions have no names.
    int or None
        How many are the fewest; None where no map will do, or it is not known.
    """
    stated, topology = parts[0].stated, parts[0].topology
    vocabularies = []
    if topology.kind in GRIDS:
        vocabularies.append([direction_name(*direction) for direction in mesh_directions(topology.shape)])
    if topology.labels is not None:
        vocabularies.append(["up", "down"])
    if not vocabularies or not any(part.has_stops for part in parts):
        return (ConsumptionClasses(), 1) if is_free(parts, 1, ConsumptionClasses(), ejection) else (None, None)
    if {"up", "down"} & {*chain.from_iterable(stated.networks)}:
        vocabularies.reverse()
    choices = []
    for vocabulary in vocabularies:
        deciding, idle = _by_deciding(parts, vocabulary, stated.by)
        apart = [[direction] for direction in deciding] + ([idle] if idle else [])
        finest = ConsumptionClasses(tuple(map(tuple, apart)), stated.by)
        if is_free(parts, len(finest), finest, ejection):
            choices.append((deciding, idle, finest))
    divisible = [(deciding, idle) for deciding, idle, _ in choices if len(deciding) <= MOST_DIRECTIONS]
    for count in range(1, MOST_DIRECTIONS + 2):
        for deciding, idle in divisible:
            maps = partitions(deciding, count)
            if idle:
                maps = chain(maps, ((*blocks, tuple(idle)) for blocks in partitions(deciding, count - 1)))
            for blocks in maps:
                classes = ConsumptionClasses(blocks, stated.by)
                if is_free(parts, count, classes, ejection):
                    return classes, count
    return choices[0][2] if choices else None, None


def _by_deciding(parts: Sequence[Ways], vocabulary: list[str], by: str) -> tuple[list[str], list[str]]:
    """Divide directions into those of hops that decide a class, and the others."""
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
    deciding = [direction for direction in vocabulary if (decides & _runs(topology, direction)).any()]
    return deciding, [direction for direction in vocabulary if direction not in deciding]


def _runs(topology: Topology, direction: str) -> np.ndarray:
    """Links that run in a direction, bool [links]."""
    return ConsumptionClasses(((direction,),)).of_channels(topology) == 0


def partitions(things: Sequence[str], blocks: int) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Give all ways to divide things into so many blocks, none of them empty; each way once, in a fixed order."""

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


def channel_bounds(parts: Sequence[Ways], ejection: str) -> tuple[int | None, int | None]:
    """Give the channels that suffice by Lemma 1, min(v_in, v_out + 1), and by Corollary 2, min(v_in, v_out).

    None where they say nothing: without a choice they are for relations that tell no classes of virtual channels apart.
    With an ejection port for each link 1 will do. Of worms that stop on their way and have a choice all virtual
    channels are counted, one of each class, that they come to stops by, or go on by (section 3.2.1): Lemma 1 alone.

    v_out is the most links out of a node that worms use once they hold a consumption channel (section 3.2.1 counts
    so: the row links of column-path are not among them); v_in is the most links into a node by which worms of
    several destinations come to one of them. (Were links into a node counted only where a worm holds a channel
    already, Lemma 1 would be wrong: a line of four nodes with dual-path would need one channel, and it needs
    two.) Without a choice both with one virtual channel a link, as others of the same link change nothing. One channel
    is needed in any case.

    Where the condition of Corollary 2 is not met (a worm can end where it could not go on, at a node of full
    degree: column-path in two rows), Lemma 1 is all there is. Source: [Boppana98], section 3.2.
    """
    topology, vc_classes = parts[0].topology, parts[0].vc_classes
    choice = all(part.stops_with_a_choice and part.vc_classes == vc_classes for part in parts)
    if not choice and not all(part.vc_classes == 1 and part.routes.deterministic for part in parts):
        return None, None
    if ejection == "all":
        return (None, None) if choice else (1, 1)
    start, _, end, _ = np.repeat(topology.links, vc_classes, axis=0).T
    arrives = np.any([part.arrives for part in parts], axis=0)
    loaded = np.any([part.loaded for part in parts], axis=0)
    v_in = int(np.bincount(end[arrives], minlength=1).max())
    degree = np.bincount(start[loaded], minlength=topology.switches)
    v_out = int(degree.max())
    if choice:
        return max(1, min(v_in, v_out + 1)), None

    onward = np.zeros(topology.neighbours.shape, bool)  # outputs that Corollary 2 associates with a channel
    onward[start[loaded], topology.links[loaded, 1]] = True
    ends = np.any([part.ends for part in parts], axis=0)
    follows = np.any([part.follows for part in parts], axis=0)
    goes_on = (follows & onward[end]).any(axis=1)
    met = bool((goes_on | (degree[end] < v_out))[ends].all())
    return max(1, min(v_in, v_out + 1)), max(1, min(v_in, v_out if met else v_out + 1))
