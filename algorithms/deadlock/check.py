"""Static deadlock analysis of schemes on a topology."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

from ..channels import Resource, require_share
from ..consumption import ConsumptionClasses, require_any_channel
from ..errors import WormcastError
from ..routing import Relation, with_any_signs
from ..schemes import Scheme
from ..token_groups import all_consumed, require_one_or_all, require_trees, token_groups
from ..topologies import Topology
from ..typecheck import require_kind
from .channel_use import ChannelUse, find_channel_use
from .classes import fewest_classes
from .degrees import channel_bounds
from .graph import dependency_graph
from .interfaces import MULTICASTS, circle_of_interfaces
from .verdict import decide
from .witness import retell

__all__ = ["Analysis", "Dependency", "HeldWorm", "check"]

MOST_CHANNELS = 16


@dataclass(frozen=True)
class Dependency:
    """One step of a cycle: a worm that holds a resource and asks for the next one.

    Parameters
    ----------
    resource : str
        ``link:U>V:vc``, ``cons:NODE:i``, ``retrans:NODE:i`` or ``place:NODE:i``, as a run writes them; the vc is ``*``
        where any of several will do, and slots are ``0-1`` then.
    scheme : str
        Whose worm it is.
    source : int
        Node that the worm comes from: its source, or its previous stop.
    stops : tuple of int
        Its next stops, one or two; of a packet that interfaces forward, all of the message's destinations.
    """

    resource: str
    scheme: str
    source: int
    stops: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {
            "resource": self.resource,
            "scheme": self.scheme,
            "source": self.source,
            "destinations": list(self.stops),
        }


@dataclass(frozen=True)
class HeldWorm:
    """A worm of a deadlock whose head may take any of several channels, all of them held.

    Parameters
    ----------
    holds : tuple of str
        Resources, in the order in which its head passed them.
    waits : tuple of str
        All that its head may take next.
    scheme, source, stops
        As `Dependency` has them.
    """

    holds: tuple[str, ...]
    waits: tuple[str, ...]
    scheme: str
    source: int
    stops: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {
            "holds": list(self.holds),
            "waits": list(self.waits),
            "scheme": self.scheme,
            "source": self.source,
            "destinations": list(self.stops),
        }


@dataclass(frozen=True, eq=False)
class Analysis:
    """What the dependencies say.

    Parameters
    ----------
    topology : Topology
    schemes : tuple of str
        Names of the schemes whose worms were put together.
    consumption : int
        Consumption channels of each ejection port.
    ejection : "one" or "all"
        Ejection ports of each node: one, or one for each link by which worms come there.
    classes : tuple of ConsumptionClasses
        Map of each scheme.
    vcs : int
        Virtual channels of each link.
    vc_classes : int
        Classes of virtual channels that the relations tell apart on each link.
    verdict : str
        ``"free"``: no deadlock is possible; ``"deadlock"``; or ``"undecided"``, where worms have a choice of channels,
        and neither a proof nor worms of a deadlock were found.
    cycle : tuple of Dependency
        A shortest cycle of dependencies; empty where no deadlock is possible.
    worms : tuple of HeldWorm
        Where worms have a choice of channels: those of a deadlock, which hold all that each of them may take next.
    assumes : str
        What the proof assumes of the hardware, or of the signs of ties, as a sentence; empty where it is nothing.
    searched : str
        What was looked for in vain, as a sentence; empty where it is not undecided.
    classes_required : int
        Consumption classes that the schemes state.
    dans : ConsumptionClasses or None
        A map of directions to classes without a deadlock, and to the fewest that do if these are known; None where
        no map will do.
    classes_minimal : int or None
        The fewest classes without a deadlock; None where no number will do, or where more than eight directions
        leave too many maps to try: then ``dans`` has a class for each.
    lemma1, corollary2 : int or None
        Channels of each ejection port that suffice without classes by [Boppana98], where each serves one link alone;
        with one virtual channel, but 1 with any number where each link has an ejection port. None where the links alone
        have a cycle. Where worms with a choice stop on their way, each serves one virtual channel, of those of all
        classes; Lemma 1 alone.
    complete : bool
        Whether all worms that the schemes may send were looked at; else those to two destinations, and a sample of
        larger multicasts: then no cycle is no proof.
    slots : int
        Retransmission slots of each node. With some, classes are not looked for: worms take any channel.
    tokens : int or None
        Where worms are copied on their way: groups of switches that share a token, 0 where they are copied without.
    consumed : bool
        Consumption channels are enough for all worms that are copied and may come to a node (`all_consumed`).
    fits : bool or None
        Where worms are copied out of buffers that may hold a whole one: whether they do.
    """

    topology: Topology
    schemes: tuple[str, ...]
    consumption: int
    ejection: str
    classes: tuple[ConsumptionClasses, ...]
    vcs: int
    vc_classes: int
    verdict: str
    cycle: tuple[Dependency, ...]
    worms: tuple[HeldWorm, ...]
    assumes: str
    searched: str
    classes_required: int
    dans: ConsumptionClasses | None
    classes_minimal: int | None
    lemma1: int | None
    corollary2: int | None
    complete: bool
    slots: int = 0
    tokens: int | None = None
    consumed: bool = False
    fits: bool | None = None

    @property
    def free(self) -> bool:
        """Whether no deadlock is possible."""
        return self.verdict == "free"

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {
            "free": self.free,
            "verdict": self.verdict,
            "complete": self.complete,
            "cycle": [step.resource for step in self.cycle] or None,
            "worms": [step.to_dict() for step in self.cycle] or None,
            "held": [worm.to_dict() for worm in self.worms] or None,
            "assumes": self.assumes or None,
            "searched": self.searched or None,
            "classes_required": self.classes_required,
            "classes_minimal": self.classes_minimal,
            "dans": None if self.dans is None else str(self.dans),
            "lemma1": self.lemma1,
            "corollary2": self.corollary2,
            "tokens": self.tokens,
            "fits": self.fits,
        }


def check(
    topology: Topology,
    scheme: Scheme,
    *,
    relation: Relation | None = None,
    consumption: int | None = None,
    classes: ConsumptionClasses | None = None,
    others: Sequence[tuple[Scheme, Relation | None]] = (),
    vcs: int = 2,
    ejection: str = "one",
    slots: int = 0,
    tokens: bool | None = None,
    fits: bool | None = None,
    places: bool | None = None,
    seed: int = 0,
) -> Analysis:
    """Decide whether the worms of a scheme, sent by any nodes at any time, can deadlock.

    Parameters
    ----------
    relation : Relation, optional
        Routes the scheme's worms in place of its own.
    consumption : int, optional
        Consumption channels of each ejection port, 1 to 16; by default as many as there are classes.
    classes : ConsumptionClasses, optional
        Map for all worms, in place of the schemes' own.
    others : sequence of (Scheme, Relation or None)
        Further schemes whose worms are in the same network.
    vcs : int
        Virtual channels of each link, a multiple of the classes that the relations tell apart. The answer does not
        depend on it, but that worms which are copied take no tokens in the last stage where consumption channels are
        enough for all worms that may come (`all_consumed`).
    ejection : "one" or "all"
        Ejection ports of each node: one, or one for each link by which worms come there, so that those that come by
        different links do not share consumption channels.
    slots : int
        Retransmission slots of each node, 0 to 16: with some, worms are absorbed at each destination and sent anew from
        a slot. They then take any consumption channel, whatever classes there are.
    tokens : bool, optional
        Whether worms that are copied on their way wait for tokens, as they do by default where ``fits`` is not given.
    fits : bool, optional
        Whether a switch's buffers hold a whole worm: then no copy waits for another one. By default they do, of a
        scheme with `Scheme.needs_whole_packet`; other worms that are copied go through buffers that hold a part of
        them, unless it is said here what they hold.
    places : bool, optional
        Whether interfaces that forward have places for all packets of a message; by default a proof assumes that. Where
        they have not, a circle of interfaces is looked for (`circle_of_interfaces`).
    seed : int
        Of the multicasts that are held against the schemes' triples, and in which circles are looked for.

    Raises
    ------
    WormcastError
        Anything is refused: the topology, the number of channels, a relation without a way between two nodes, a
        worm without a class, triples that do not show what the worms do.
    """
    require_kind("topology", topology, Topology)
    require_kind("classes", classes, ConsumptionClasses, NoneType)
    require_kind("seed", seed, int)
    require_kind("ejection", ejection, str)
    for one, by in ((scheme, relation), *others):
        require_kind("scheme", one, Scheme)
        require_kind("relation", by, Relation, NoneType)
    for name, value in (("consumption", consumption), ("vcs", vcs)):
        require_kind(name, value, int, NoneType)
        if value is not None and not 1 <= value <= MOST_CHANNELS:
            raise WormcastError(f"{name}: {value} is given, allowed are 1 to {MOST_CHANNELS}")
    require_kind("slots", slots, int)
    if not 0 <= slots <= MOST_CHANNELS:
        raise WormcastError(f"slots: {slots} is given, allowed are 0 to {MOST_CHANNELS}")
    if slots:
        classes = ConsumptionClasses()
    everybody = [(scheme, relation), *others]
    parts = [find_channel_use(one, topology, by, classes, seed, absorbed=slots > 0) for one, by in everybody]
    for part in parts:
        if slots and part.stops_with_a_choice:
            raise WormcastError(f"slots: {slots} is given, where worms of {part.name} have a choice of channels "
                                "between their stops: allowed is 0")
    if consumption is None:
        consumption = max(1, *(len(part.classes) for part in parts))
    trees = any(part.replication is not None for part in parts)
    if fits is not None and not trees:
        raise WormcastError(f"fits: {'on' if fits else 'off'} is given, worms of "
                            f"{' and '.join(part.name for part in parts)} are not copied on their way: it is of those "
                            "that are")
    if fits is not None:  # buffers that may hold a whole worm are deep ones, whose readers go by themselves
        parts = [part if part.replication is None else
                 replace(part, needs_whole_packet=True, replication="asynchronous") for part in parts]
    buffered = any(part.needs_whole_packet for part in parts)
    serial = any(part.replication is not None and not part.needs_whole_packet for part in parts)  # may take tokens
    _require_trees(trees, serial, parts, slots, classes, tokens)
    if fits is None:
        fits = buffered
    if serial and tokens is not False:
        require_one_or_all(topology, channels=consumption, vcs=vcs, ejection=ejection)
    consumed = trees and all_consumed(topology, channels=consumption, vcs=vcs, ejection=ejection)
    groups = token_groups(topology, consumed=consumed) if serial and tokens is not False else None
    forwarded = [one for one, _ in everybody if one.forwarded]
    if places is not None and not forwarded:
        raise WormcastError(f"places: {'on' if places else 'off'} is given, interfaces forward no worms of "
                            f"{' and '.join(part.name for part in parts)}: it is of those that they do")
    verdict = decide(parts, consumption, ejection, slots, groups, consumed, fits)
    graph = verdict.graph
    require_share(vcs, graph.vc_classes, "the relations tell", topology)
    assumed = [verdict.assumes]
    if verdict.name == "free":
        if forwarded and not places:
            assumed.append("interfaces that forward have places for all packets of the messages in their rows")
        assumed.append(_assumed_of_signs([one for one, _ in everybody], parts, consumption, classes, ejection, seed))
    cycle = [Dependency(graph.describe(one.resource, vcs), parts[one.part].name, one.source, one.stops)
             for one in retell(graph, parts)]
    found, searched = verdict.name, verdict.searched
    if found == "free" and places is False:
        cycle = [step for one in forwarded for step in _full_interfaces(topology, one, consumption, seed)]
        found, assumed = ("deadlock" if cycle else "undecided"), []
        searched = "" if cycle else ("interfaces have places for fewer packets than a message has, and no circle of "
                                     f"them is in {MULTICASTS} multicasts")

    def named(resources: Sequence[int]) -> tuple[str, ...]:
        return tuple(graph.describe(one, vcs) for one in resources)

    worms = [
        HeldWorm(named(worm.resources), named(worm.waits), parts[worm.part].name, worm.witness[0], worm.witness[1:])
        for worm in verdict.worms
    ]
    dans, fewest = (None, None) if slots or trees else fewest_classes(parts, ejection)
    # the bounds are for relations that are free by themselves
    lemma1, corollary2 = (None, None) if dans is None else channel_bounds(parts, ejection)
    return Analysis(
        topology=topology,
        schemes=tuple(part.name for part in parts),
        consumption=consumption,
        ejection=ejection,
        classes=tuple(part.classes for part in parts),
        vcs=vcs,
        vc_classes=graph.vc_classes,
        verdict=found,
        cycle=tuple(cycle),
        worms=tuple(worms),
        assumes=", and ".join(filter(None, assumed)),
        searched=searched,
        classes_required=max(1, *(len(part.stated) for part in parts)),
        dans=dans,
        classes_minimal=fewest,
        lemma1=lemma1,
        corollary2=corollary2,
        complete=all(part.complete for part in parts),
        slots=slots,
        tokens=None if not serial else 0 if groups is None else len(groups.names),
        consumed=consumed,
        fits=fits if buffered else None,
    )


def _full_interfaces(topology: Topology, scheme: Scheme, consumption: int, seed: int) -> list[Dependency]:
    """Who holds what around a circle of interfaces: their places, and consumption channels of the next ones."""
    channels = "0" if consumption == 1 else "*"
    return [Dependency(str(resource), scheme.name, source, stops)
            for node, following, source, stops in circle_of_interfaces(topology, scheme, seed)
            for resource in (Resource.place(node, "*"), Resource("cons", str(following), channels))]


def _require_trees(trees: bool, serial: bool, parts: Sequence[ChannelUse], slots: int,
                   classes: ConsumptionClasses | None, tokens: bool | None) -> None:
    """Refuse what worms that are copied on their way do not have, and what they alone have."""
    names = " and ".join(part.name for part in parts if (part.replication is not None) == trees)
    if tokens and trees and not serial:
        raise WormcastError(f"tokens: on is given, worms of {names} are copied out of buffers that may hold them "
                            "whole, and take no tokens: allowed is off")
    require_trees(None if tokens is None else "on" if tokens else "off", serial, names)
    if trees and slots:
        raise WormcastError(f"slots: {slots} is given, worms of {names} are copied on their way: allowed is 0")
    if trees:
        require_any_channel(classes, names)


def _assumed_of_signs(schemes: Sequence[Scheme], parts: Sequence[ChannelUse], consumption: int,
                      classes: ConsumptionClasses | None, ejection: str, seed: int) -> str:
    """Say what a proof assumes of the signs of ties: nothing where there is no cycle, whatever signs worms carry."""
    relations = [with_any_signs(part.routes.relation) for part in parts]
    signed = [part for part, relation in zip(parts, relations, strict=True) if relation is not part.routes.relation]
    if not signed:
        return ""
    # worms that stop on their way are analysed by one way each
    if not any(part.has_stops for part in signed):
        every = [part if part not in signed else find_channel_use(scheme, part.topology, relation, classes, seed)
                 for scheme, part, relation in zip(schemes, parts, relations, strict=True)]
        if dependency_graph(every, consumption, ejection=ejection).free:
            return ""
    return "hosts sign ties as they do by default, away from the ring's edge"
