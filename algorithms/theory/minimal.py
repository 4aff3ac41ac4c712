"""Definition 3 of [Boppana98]: valid sets of the fewest DANs, made of whole directions."""

from dataclasses import dataclass

import numpy as np

from ..deadlock.classes import MOST_DIRECTIONS, links_along, partitions, vocabularies
from ..phrases import count
from .acyclic_partitions import DanSet, LinkGroups, group_links, own_dans
from .problem import Problem
from .ranking import certificate
from .statement import TheoremCheck

__all__ = ["MinimalDanSets", "minimal", "minimal_by_directions"]


@dataclass(frozen=True, eq=False)
class MinimalDanSets:
    """Valid sets of the fewest DANs, and all sets of fewer DANs, none of which is valid.

    Each DAN consists of all links in some directions.

    Parameters
    ----------
    sets : list of DanSet
        The valid sets, each once.
    refused : list of DanSet
        All sets that have fewer DANs than each set in `sets`. None of the sets in `refused` is valid.
    """

    sets: list[DanSet]
    refused: list[DanSet]


def minimal(subject: Problem) -> TheoremCheck:
    """Find all valid sets of the fewest DANs made of whole directions, and why all smaller sets are not valid."""
    place = "section 3.2"
    if subject.unfit:
        return TheoremCheck("Definition 3", place, f"does not apply: {subject.unfit}", None)
    if not subject.has_stops:
        return TheoremCheck("Definition 3", place, "no DAN is needed, so the minimal set is empty", None,
                         found={"dans": 0})
    found = minimal_by_directions(subject)
    if found is None:
        return TheoremCheck("Definition 3", place, "no valid set of whole directions was found. Either none is "
                         f"valid, or there are more than {MOST_DIRECTIONS} directions", None)
    number = len(found.sets[0])
    shown = ", ".join(map(str, found.sets[:4])) + (", ..." if len(found.sets) > 4 else "")
    smaller = len(found.refused)
    tried = f"None of the {smaller} smaller sets is valid" if smaller else "There is no smaller set"
    own = own_dans(subject, subject.maps[0]) if len(subject.maps) == 1 and len(subject.maps[0]) else None
    one = len(found.sets) == 1
    sentence = (f"a valid set of whole directions has at least {count(number, 'DAN')}. The "
                f"{'only valid set of this size is' if one else 'valid sets of this size are'} {shown}"
                f"{'' if one else f' ({len(found.sets)} sets)'}. {tried}")
    if own is not None and own.valid and len(own) > number:
        sentence += f". The scheme's own set has {len(own)} DANs"
    paper, agrees, stated = None, None, subject.stated
    if stated is not None and stated.unique:
        paper, agrees = f"{stated.dans} DANs, and the set is unique", number == stated.dans and one
    return TheoremCheck(
        "Definition 3", place, sentence, own is not None and own.valid and len(own) == number, paper, agrees,
        {"dans": number, "sets": [str(one) for one in found.sets], "smaller": len(found.refused)},
        certificate={"sets": [one.to_dict() for one in found.sets], "refused": [one.to_dict() for one in found.refused],
                     "channels": certificate(subject, found.sets[0].classes())})


def minimal_by_directions(subject: Problem) -> MinimalDanSets | None:
    """Partition the directions of links that worms use while they hold a consumption channel into the fewest DANs.

    Both the directions of dimensions (``0+``, ``0-``, ...) and those of labels (``up``, ``down``) are partitioned. A
    set with the same links as an earlier one is left out. Directions that no worm uses while it holds a consumption
    channel are in no DAN. The result is None if no set is valid, or if there are too many directions.
    """
    vocabularies_ = [one for one in (_needed(subject, [*known.deciding, *known.idle]) for known in vocabularies(
        subject.parts)) if len(one.names) <= MOST_DIRECTIONS]
    refused: list[DanSet] = []
    for size in range(1, max((len(one.names) for one in vocabularies_), default=0) + 1):
        sets, seen = [], set()
        for groups in vocabularies_:
            for blocks in partitions(groups.names, size):
                found = DanSet(subject, groups, tuple(tuple(groups.names.index(name) for name in block)
                                                    for block in blocks))
                if not found.valid:
                    refused.append(found)
                    continue
                links = frozenset(frozenset(np.flatnonzero(found.numbers == dan).tolist()) for dan in range(size))
                if links not in seen:
                    seen.add(links)
                    sets.append(found)
        if sets:
            return MinimalDanSets(sets, [one for one in refused if len(one) < size])
    return None


def _needed(subject: Problem, directions: list[str]) -> LinkGroups:
    """Return a group of links for each direction in ``directions`` that is needed, with all links of the direction.

    A direction is needed if worms use one of its links while they hold a consumption channel.
    """
    loaded = np.any([part.loaded for part in subject.parts], axis=0)
    along = {direction: links_along(subject.topology, direction) for direction in directions}
    needed = [direction for direction in directions if (along[direction] & loaded).any()]
    numbers = np.full(len(loaded), -1, np.int16)
    for number, direction in enumerate(needed):
        numbers[along[direction]] = number
    return group_links(subject, needed, numbers)
