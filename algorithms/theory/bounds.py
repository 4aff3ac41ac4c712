"""Definition 1, Lemma 1 and Corollary 2 of [Boppana98]: sufficient consumption channels from counts of links."""

from ..deadlock.degrees import Degrees, degrees
from ..phrases import count
from .problem import Problem
from .statement import TheoremCheck

__all__ = ["bounds"]

PLACE = "section 3.2"


def bounds(subject: Problem) -> list[TheoremCheck]:
    """Count links by two interpretations of Definition 1, and check the two constructions of Lemma 1's proof for
    cycles.

    The interpretation ``held`` follows section 3.2.1: of the links out of a node, it counts those that worms use while
    they hold a consumption channel. Of the links into a node, ``held`` counts those by which worms arrive at a
    destination. The interpretation ``all`` counts all links that worms of several destinations use.
    """
    if subject.unfit:
        why = f"does not apply: {subject.unfit}"
        return [TheoremCheck(name, PLACE, why, None) for name in ("Definition 1", "Lemma 1", "Corollary 2")]
    if not subject.has_stops:
        return _without_stops(subject)
    held, every = degrees(subject.parts, "held"), degrees(subject.parts, "all")
    return [_definition1(subject, held, every), _lemma1(subject, held, every), _corollary2(subject, held, every)]


def _without_stops(subject: Problem) -> list[TheoremCheck]:
    """Return the statements for worms with one destination each."""
    none = "every worm has one destination, so no worm uses a link while it holds a consumption channel"
    definition = TheoremCheck("Definition 1", PLACE, f"v_in and v_out are 0: {none}", None,
                           found={"held": {"v_in": 0, "v_out": 0}, "all": {"v_in": 0, "v_out": 0}})
    return [definition, *(TheoremCheck(name, PLACE, f"one consumption channel per node suffices: {none}", True,
                                    found={"channels": 1}) for name in ("Lemma 1", "Corollary 2"))]


def _counts(subject: Problem, found: Degrees) -> dict[str, object]:
    """Return the link counts by one interpretation of Definition 1 as data for JSON."""
    return {
        "v_in": found.v_in, "v_in_node": int(found.incoming.argmax()),
        "v_out": found.v_out, "v_out_node": int(found.outgoing.argmax()),
        "v_in_vcs": found.v_in * subject.vcs, "v_out_vcs": found.v_out * subject.vcs,
    }


def _definition1(subject: Problem, held: Degrees, every: Degrees) -> TheoremCheck:
    def counts(found: Degrees) -> str:
        return (f"v_in is {found.v_in} (at {subject.named(int(found.incoming.argmax()))}) and v_out is "
                f"{found.v_out} (at {subject.named(int(found.outgoing.argmax()))})")

    sentence = (f"with one virtual channel per link, {counts(held)}. v_in counts the links by which worms arrive at a "
                "destination. v_out counts the links that worms use while they hold a consumption channel. Over all "
                f"links that worms use, {counts(every)}")
    if subject.vcs > 1:
        sentence += (f". With {subject.vcs} virtual channels, v_in is {held.v_in * subject.vcs} and v_out is "
                     f"{held.v_out * subject.vcs}. Over all links they are {every.v_in * subject.vcs} and "
                     f"{every.v_out * subject.vcs}")
    paper, agrees = None, None
    if subject.stated is not None and subject.stated.outgoing is not None:
        paper = f"{subject.stated.outgoing} outgoing virtual channels with 2 on each link (section 3.2.1)"
        agrees = 2 * held.v_out == subject.stated.outgoing
    return TheoremCheck("Definition 1", "sections 3.2 and 3.2.1", sentence, None, paper, agrees,
                     {"held": _counts(subject, held), "all": _counts(subject, every), "vcs": subject.vcs})


def _lemma1(subject: Problem, held: Degrees, every: Degrees) -> TheoremCheck:
    incoming, outgoing = held.by_incoming(), held.by_outgoing(spare=True)
    cycles = [subject.cycle(len(classes), classes) for classes in (incoming, outgoing)]
    sentence = (
        f"min(v_in, v_out + 1) = min({held.v_in}, {held.v_out + 1}) = {held.lemma1} consumption channels per node "
        f"suffice. Over all links that worms use, it is min({every.v_in}, {every.v_out + 1}) = {every.lemma1}. "
        f"Check 1: {count(len(incoming), 'channel')}, one per incoming link, {_cycle_text(cycles[0])}. "
        f"Check 2: {count(len(outgoing), 'channel')}, one per outgoing link and a spare one, "
        f"{_cycle_text(cycles[1])}")
    if subject.vcs > 1:
        by_vcs = min(held.v_in * subject.vcs, held.v_out * subject.vcs + 1)
        sentence += (f". Counted with {subject.vcs} virtual channels per link, the minimum is {by_vcs}. But a worm "
                     "takes any virtual channel of a link, so no more classes are needed than with one virtual channel "
                     "per link (section 3.2.1)")
    found = {
        "channels": held.lemma1, "channels_of_all_links": every.lemma1,
        "by_incoming": {"channels": len(incoming), "free": not cycles[0]},
        "by_outgoing": {"channels": len(outgoing), "free": not cycles[1]},
    }
    return TheoremCheck("Lemma 1", PLACE, sentence, not any(cycles), found=found,
                     certificate={"cycles": cycles} if any(cycles) else None)


def _corollary2(subject: Problem, held: Degrees, every: Degrees) -> TheoremCheck:
    stated = subject.stated
    paper, agrees = None, None
    if stated is not None:
        paper, agrees = "all known schemes for meshes meet its condition", held.met
    if not held.met:
        return TheoremCheck("Corollary 2", PLACE, "does not apply: its condition is not met. Some worm ends at a node "
                            "from which it could not go on, and which has v_out outgoing links", None, paper,
                            agrees,
                         {"met": False, "met_of_all_links": every.met})
    outgoing = held.by_outgoing(spare=False)
    cycle = subject.cycle(len(outgoing), outgoing)
    sentence = (
        "its condition is met. At each node where a worm ends, the worm could go on, or the node has fewer than "
        f"v_out outgoing links. So min(v_in, v_out) = min({held.v_in}, {held.v_out}) = {held.corollary2} consumption "
        f"channels per node suffice. Over all links that worms use, it is min({every.v_in}, {every.v_out}) = "
        f"{every.corollary2}. "
        f"Check: {count(len(outgoing), 'channel')}, one per outgoing link, {_cycle_text(cycle)}")
    return TheoremCheck("Corollary 2", PLACE, sentence, not cycle, paper, agrees, {
        "met": True, "met_of_all_links": every.met, "channels": held.corollary2,
        "channels_of_all_links": every.corollary2,
        "by_outgoing": {"channels": len(outgoing), "free": not cycle},
    }, certificate={"cycle": cycle} if cycle else None)


def _cycle_text(cycle: list[str]) -> str:
    return f"a cycle of {len(cycle)}" if cycle else "no cycle"
