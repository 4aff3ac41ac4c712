"""Fewest consumption classes that exclude cycles of dependencies, and the numbers of [Boppana98].

Definition 3 of [Boppana98] asks for the fewest DANs of a valid set. In this module, a class map is sufficient if worms
cannot wait in a cycle, even if its classes are not a valid set of DANs.
"""

from dataclasses import dataclass
from typing import Any

from ..consumption import ConsumptionClasses
from ..deadlock.classes import fewest_classes, vocabularies
from ..deadlock.knot_search import is_free
from ..phrases import count
from .boppana98_claims import Claim
from .problem import Problem
from .ranking import certificate
from .statement import TheoremCheck

__all__ = ["ClassesNeeded", "find_need", "need"]


@dataclass(frozen=True)
class ClassesNeeded:
    """Number of consumption classes that a scheme needs.

    Parameters
    ----------
    stated : int
        Number of classes of the map in use, at least one.
    free : bool
        One consumption channel for each of the `stated` classes suffices.
    fewest : int or None
        The fewest classes of a map from directions to consumption classes that has the same deciding hop (`by`: next or
        last) as the scheme's own map. `fewest` is None if the number is not known, or if no map excludes cycles.
    maps : list of ConsumptionClasses
        All maps to the fewest classes. If the fewest number is not known, `maps` has one map without a cycle, if there
        is one.
    refused : list of dict
        All maps from directions to `fewest` - 1 classes, each with a cycle of dependencies that this map does not
        exclude. If the map with the most classes (`ClassDirections.finest`) has fewer than `fewest` - 1 classes, that
        map is listed. All maps with a single class are equal, so that only one of them is listed. Joining two classes
        removes no cycle, so that maps to even fewer classes have a cycle, too.
    """

    stated: int
    free: bool
    fewest: int | None
    maps: list[ConsumptionClasses]
    refused: list[dict[str, Any]]


def find_need(subject: Problem) -> ClassesNeeded:
    """Search the maps from directions to consumption classes for the fewest classes without a cycle."""
    stated = max(1, *map(len, subject.maps)) if subject.maps else 1
    free = is_free(subject.parts, stated)
    found, fewest = fewest_classes(subject.parts)
    if found is None or fewest is None or not subject.has_stops:
        return ClassesNeeded(stated, free, fewest, [] if found is None else [found], [])
    words = [one for one in vocabularies(subject.parts) if one.divisible]
    maps = [one for known in words for one in known.maps(fewest) if is_free(subject.parts, fewest, one)]
    fewer = [one for known in words for one in known.maps(min(fewest - 1, len(known.finest)))]
    if fewest == 2:
        fewer = fewer[:1]  # all maps with a single class are equal
    return ClassesNeeded(stated, free, fewest, maps, [
        {"classes": str(one), "cycle": subject.cycle(len(one), one)} for one in fewer])


def need(subject: Problem) -> list[TheoremCheck]:
    """Decide which numbers of classes suffice, and compare them with each claim of the paper."""
    name, place = "Classes needed", "section 3.2"
    if subject.has_stops and any(not part.routes.deterministic for part in subject.parts):
        return [TheoremCheck(name, place, "not decided: worms choose between channels, so a cycle need not be a "
                          "deadlock", None)]
    found = find_need(subject)
    if not found.maps:
        cycle = subject.cycle(found.stated)
        sentence = (f"no number of classes suffices if classes consist of directions. The map in use has "
                    f"{count(found.stated, 'class')} and {_cycle_text(cycle)}")
        return [TheoremCheck(name, place, sentence, False,
                             found={"stated": found.stated, "free": found.free, "fewest": None})]
    proof = certificate(subject, found.maps[0]) if subject.has_stops and not subject.unfit else None
    numbers = {"stated": found.stated, "free": found.free, "fewest": found.fewest,
               "maps": [str(one) for one in found.maps]}
    general = TheoremCheck(name, place, _sentence(subject, found), found.free, found=numbers,
                        certificate={"refused": found.refused, "channels": proof})
    claims = () if subject.stated is None else subject.stated.claims
    return [general, *(_beside(subject, found, claim) for claim in claims)]


def _sentence(subject: Problem, found: ClassesNeeded) -> str:
    """Return in words the numbers of classes that suffice."""
    maps = [str(one) for one in subject.maps if len(one)]
    mapped = f" with the map in use ({' and '.join(maps)})" if maps else ""
    said = [_number(count(found.stated, "class"), found.stated, found.free) + mapped]
    if found.fewest is None:
        return (f"{said[0]}. {len(found.maps[0])} classes suffice ({found.maps[0]}). Whether fewer suffice is not "
                "known: there are too many directions to search")
    if not (found.free and found.fewest == found.stated):
        shown = " or ".join(map(str, found.maps[:4])) + (" or others" if len(found.maps) > 4 else "")
        enough = _number(count(found.fewest, "class"), found.fewest, True)
        said.append(f"{enough}{f' ({shown})' if len(found.maps[0]) else ''}")
    if found.refused:
        fewer = _number(count(found.fewest - 1, "class"), found.fewest - 1, False)
        said.append(f"{fewer} ({_cycle_text(found.refused[0]['cycle'])})" if len(found.refused) == 1 else
                    f"{fewer}: each of the {len(found.refused)} maps of directions has a cycle")
    return ". ".join(said)


def _beside(subject: Problem, found: ClassesNeeded, claim: Claim) -> TheoremCheck:
    """Compare a claim of the paper with the numbers of classes that suffice."""
    said, holds, numbers = [], True, {}
    if claim.too_few is not None:
        cycle = subject.cycle(1, ConsumptionClasses()) if claim.too_few == 1 else []
        enough = not cycle if claim.too_few == 1 else found.fewest is not None and found.fewest <= claim.too_few
        holds, numbers[str(claim.too_few)] = not enough, enough
        shown = f" ({_cycle_text(cycle)})" if cycle else ""
        if enough and len(found.maps[0]):
            fewer = "" if found.fewest == claim.too_few else f"{found.fewest} suffice already: "
            shown = f" ({fewer}{found.maps[0]})"
        said.append(_number(count(claim.too_few, "channel"), claim.too_few, enough) + shown)
    if claim.enough is not None:
        enough = (found.free and found.stated <= claim.enough) or (
            found.fewest is not None and found.fewest <= claim.enough)
        holds, numbers[str(claim.enough)] = holds and enough, enough
        said.append(_number(count(claim.enough, "channel"), claim.enough, enough))
    return TheoremCheck(claim.name, claim.place, ". ".join(said), holds, claim.text, holds, {"enough": numbers})


def _number(things: str, number: int, enough: bool) -> str:
    """Return "N things suffice" or "N things do not suffice"."""
    if enough:
        return f"{things} suffice{'s' if number == 1 else ''}"
    return f"{things} do{'es' if number == 1 else ''} not suffice"


def _cycle_text(cycle: list[str]) -> str:
    return f"a cycle of {len(cycle)}" if cycle else "no cycle"
