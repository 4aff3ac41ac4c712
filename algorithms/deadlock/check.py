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
from ..typecheck import checked, require_kind
from .channel_use import ChannelUse, find_channel_use
from .classes import fewest_classes
from .degrees import channel_bounds
from .graph import dependency_graph
from .interfaces import MULTICASTS, circle_of_interfaces
from .knot_search import choosing_parts
from .verdict import decide
from .witness import retell

__all__ = ["Analysis", "Dependency", "HeldWorm", "check"]

MOST_CHANNELS = 16


@dataclass(frozen=True)
class Dependency:
    """One step of a cycle: a worm that holds a resource and requests the next one.

    Parameters
    ----------
    resource : str
        ``link:U>V:vc``, ``cons:NODE:i``, ``retrans:NODE:i``, ``token:STAGE:GROUP`` or ``place:NODE:i``, as in the
        output of a run. If any of several channels or slots suffices, the number at the end of the resource's name is
        ``*`` or a range such as ``0-1``.
    scheme : str
        Scheme of the worm.
    source : int
        Source of the worm, or its previous stop.
    stops : tuple of int
        The worm's next one or two stops. For a replicated worm, `stops` has a destination in each of one or two
        branches. For a packet that interfaces forward, `stops` has all destinations of the message.
    """

    resource: str
    scheme: str
    source: int
    stops: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as data for JSON."""
        return {
            "resource": self.resource,
            "scheme": self.scheme,
            "source": self.source,
            "destinations": list(self.stops),
        }


@dataclass(frozen=True)
class HeldWorm:
    """A worm of a deadlock: its head waits for any of its candidates, all held by worms of the deadlock.

    Parameters
    ----------
    holds : tuple of str
        Resources that the worm holds, in the order in which its head passed them.
    waits : tuple of str
        The candidates for the next resource of the worm's head.
    scheme, source, stops
        As in `Dependency`.
    """

    holds: tuple[str, ...]
    waits: tuple[str, ...]
    scheme: str
    source: int
    stops: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as data for JSON."""
        return {
            "holds": list(self.holds),
            "waits": list(self.waits),
            "scheme": self.scheme,
            "source": self.source,
            "destinations": list(self.stops),
        }


@dataclass(frozen=True, eq=False)
class Analysis:
    """Result of the static deadlock analysis.

    Parameters
    ----------
    topology : Topology
    schemes : tuple of str
        Names of the schemes that share the network.
    consumption : int
        Consumption channels of each ejection port.
    ejection : "one" or "all"
        Ejection ports of each node: one, or one for each link by which worms arrive.
    classes : tuple of ConsumptionClasses
        Class map of each scheme.
    vcs : int
        Virtual channels of each link.
    vc_classes : int
        Classes of virtual channels that the relations distinguish on each link.
    verdict : str
        ``"free"``: the analysed worms cannot deadlock under the assumptions in `assumes`. ``"deadlock"``: a deadlock
        was found. ``"undecided"``: neither a proof nor the worms of a deadlock were found. If the verdict is undecided,
        the field `searched` says why.
    cycle : tuple of Dependency
        A cycle of dependencies, as short as possible: of the dependency graph, or of smart interfaces with too few
        packet buffer entries. `cycle` is empty if no cycle was found.
    worms : tuple of HeldWorm
        Worms of a deadlock in which some worm has a choice of channels. The worms of a deadlock together hold all
        candidates for which each of them waits. `worms` is empty if no deadlock with a choice of channels was found.
    assumes : str
        Assumptions of the proof, as a clause: about the hardware, or about the direction that hosts choose where both
        ways around a ring are equally long. `assumes` is empty if there is no proof, or if the proof needs no
        assumptions.
    searched : str
        Why the verdict is undecided, for example the search that found no deadlock. Empty for other verdicts.
    classes_required : int
        The largest number of consumption classes that one of the schemes states, at least 1.
    dans : ConsumptionClasses or None
        A map of directions to classes that excludes deadlocks; one with the fewest classes if this number is known.
        `dans` is None if no map was found. With slots or replicated worms, the analysis searches for no map, and `dans`
        is None.
    classes_minimal : int or None
        The fewest classes that exclude deadlocks. `classes_minimal` is None if no map was found, or if the fewest
        number is not known. With more than eight deciding directions, not all maps are tried, and ``dans`` has a class
        for each deciding direction.
    lemma1, corollary2 : int or None
        Consumption channels of each ejection port that suffice by Lemma 1 and by Corollary 2 of [Boppana98]. For worms
        without a choice, each link is counted with one virtual channel. If each link has an ejection port, `lemma1` and
        `corollary2` are 1 for worms without a choice. For worms with a choice that stop on their way, a link counts
        once for each class of virtual channels, and only Lemma 1 applies. `lemma1` is None if ``dans`` is None, or if
        Lemma 1 does not apply to the relation. `corollary2` is None if ``dans`` is None, or if Corollary 2 does not
        apply to the relation.
    complete : bool
        All worms that the schemes can send were analysed. If `complete` is False, only multicasts to two destinations
        and a sample of larger multicasts were analysed, and the absence of a cycle is no proof.
    sampled : int or None
        Number of random multicasts in the sample. `sampled` is None if `complete` is True.
    slots : int
        Retransmission slots of each node. With slots no class map is searched for, as worms take any consumption
        channel.
    tokens : int or None
        Number of groups of switches that share a token. `tokens` is 0 if switches replicate worms from buffers shorter
        than a worm, and use no tokens. `tokens` is None if no worm is replicated from buffers shorter than a worm.
    consumed : bool
        Consumption channels suffice for all replicated worms that can be at a node at a time (`all_consumed`).
    fits : bool or None
        Switch buffers store a whole worm. `fits` is None unless worms are replicated from buffers that can store a
        whole worm.
    choices : bool
        Some worms choose between channels, so that a cycle of dependencies is no deadlock.
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
    sampled: int | None = None
    slots: int = 0
    tokens: int | None = None
    consumed: bool = False
    fits: bool | None = None
    choices: bool = False

    @property
    def free(self) -> bool:
        """No deadlock is possible; if `complete` is False, the sample has no cycle."""
        return self.verdict == "free"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as data for JSON."""
        return {
            "free": self.free,
            "verdict": self.verdict,
            "complete": self.complete,
            "sampled": self.sampled,
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


@checked
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
        Consumption channels of each ejection port. Range: 1 to 16. Default: the number of classes of `classes`; without
        `classes`, the largest number of consumption classes of one of the schemes. The default is at least 1, and 1
        with `slots`.
    classes : ConsumptionClasses, optional
        Class map for all worms, in place of the schemes' own.
    others : sequence of (Scheme, Relation or None)
        Further schemes whose worms are in the same network.
    vcs : int
        Virtual channels of each link, a multiple of the classes that the relations distinguish. The verdict depends on
        ``vcs`` for replicated worms only: ``vcs`` decides if the consumption channels suffice for all worms that may
        arrive at a node (`all_consumed`).
    ejection : "one" or "all"
        Ejection ports of each node: one, or one for each link by which worms arrive. With ``ejection="all"``, worms
        that arrive by different links do not share consumption channels.
    slots : int
        Retransmission slots of each node. With slots, worms are absorbed at each destination and sent again from a
        slot. With slots, worms take any consumption channel, and classes are ignored. Range: 0 to 16.
    tokens : bool, optional
        Replicated worms wait for tokens. `tokens` is True by default if worms are replicated from buffers that store
        only a part of a worm.
    fits : bool, optional
        Switch buffers store a whole worm, so that no branch waits for another one. `fits` is True by default for
        schemes with `Scheme.needs_whole_packet`. Other schemes with replication by default replicate worms from buffers
        that store only a part of a worm.
    places : bool, optional
        Smart interfaces have packet buffer entries for all packets of a message. If `places` is None and interfaces
        forward worms, a proof assumes that these interfaces have packet buffer entries for all packets. If `places` is
        False and the network itself is free of deadlock, the analysis searches for a cycle of interfaces
        (`circle_of_interfaces`).
    seed : int
        Seed of the random multicasts that validate the visit triples, and in which cycles of interfaces are searched.
    """
    for one, by in others:
        require_kind("scheme", one, Scheme)
        require_kind("relation", by, Relation, NoneType)
    for name, value in (("consumption", consumption), ("vcs", vcs)):
        if value is not None and not 1 <= value <= MOST_CHANNELS:
            raise WormcastError(f"{name}: {value} is not valid. Allowed: 1 to {MOST_CHANNELS}.")
    if not 0 <= slots <= MOST_CHANNELS:
        raise WormcastError(f"slots: {slots} is not valid. Allowed: 0 to {MOST_CHANNELS}.")
    if slots:
        classes = ConsumptionClasses()
    pairs = [(part, by) for one, by in ((scheme, relation), *others) for part in one.parts()]
    parts = [find_channel_use(one, topology, by, classes, seed, absorbed=slots > 0) for one, by in pairs]
    for part in parts:
        if slots and part.stops_with_a_choice:
            raise WormcastError(f"absorb: {slots} is not valid: worms of {part.name} have a choice of channels "
                                "between their stops. Allowed: off, host.")
    if consumption is None:
        consumption = max(1, *(len(part.classes) for part in parts))
    trees = any(part.replication is not None for part in parts)
    if fits is not None and not trees:
        raise WormcastError(f"fits: {'on' if fits else 'off'} is not valid: worms of "
                            f"{' and '.join(part.name for part in parts)} are not replicated in switches. "
                            "Allowed: no value.")
    if fits is not None:  # buffers are deep: each output reads them at its own pace
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
    forwarded = [one for one, _ in pairs if one.forwarded]
    if places is not None and not forwarded:
        raise WormcastError(f"places: {'on' if places else 'off'} is not valid: no interface forwards worms of "
                            f"{' and '.join(part.name for part in parts)}. Allowed: no value.")
    verdict = decide(parts, consumption, ejection, slots, groups, consumed, fits)
    graph = verdict.graph
    relations = {part.routes.relation.name for part in parts}
    require_share(vcs, graph.vc_classes, f"{relations.pop()} has" if len(relations) == 1 else "the relations have",
                  topology)
    assumed = [verdict.assumes]
    if verdict.name == "free":
        if forwarded and not places:
            assumed.append("smart interfaces have packet buffer entries for all packets of the messages in their "
                           "child tables")
        assumed.append(_assumed_of_signs([one for one, _ in pairs], parts, consumption, classes, ejection, seed))
    cycle = [Dependency(graph.describe(one.resource, vcs), parts[one.part].name, one.source, one.stops)
             for one in retell(graph, parts)]
    found, searched = verdict.name, verdict.searched
    if found == "free" and places is False:
        cycle = [step for one in forwarded for step in _full_interfaces(topology, one, consumption, seed)]
        found, assumed = ("deadlock" if cycle else "undecided"), []
        searched = "" if cycle else ("smart interfaces have fewer packet buffer entries than a message has packets, "
                                     f"and {MULTICASTS} random multicasts contain no cycle of interfaces")

    def named(resources: Sequence[int]) -> tuple[str, ...]:
        return tuple(graph.describe(one, vcs) for one in resources)

    worms = [
        HeldWorm(named(worm.resources), named(worm.waits), parts[worm.part].name, worm.witness[0], worm.witness[1:])
        for worm in verdict.worms
    ]
    dans, fewest = (None, None) if slots or trees else fewest_classes(parts, ejection)
    # Lemma 1 and Corollary 2 assume that waits for links, without waits for consumption channels, cause no deadlock
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
        sampled=sum(part.sampled for part in parts if not part.complete) or None,
        slots=slots,
        tokens=None if not serial else 0 if groups is None else len(groups.names),
        consumed=consumed,
        fits=fits if buffered else None,
        choices=bool(choosing_parts(parts)),
    )


def _full_interfaces(topology: Topology, scheme: Scheme, consumption: int, seed: int) -> list[Dependency]:
    """Return the steps of a cycle of interfaces.

    The steps alternate: after a step that holds packet buffer entries of a node, the next step holds consumption
    channels of the next node of the cycle.
    """
    channels = "0" if consumption == 1 else "*"
    return [Dependency(str(resource), scheme.name, source, stops)
            for node, following, source, stops in circle_of_interfaces(topology, scheme, seed)
            for resource in (Resource.place(node, "*"), Resource("cons", str(following), channels))]


def _require_trees(trees: bool, serial: bool, parts: Sequence[ChannelUse], slots: int,
                   classes: ConsumptionClasses | None, tokens: bool | None) -> None:
    """Refuse options that contradict the replication of the worms."""
    names = " and ".join(part.name for part in parts if (part.replication is not None) == trees)
    if tokens and trees and not serial:
        raise WormcastError(f"tokens: on is not valid: worms of {names} are replicated from buffers that can store a "
                            "whole worm, and use no tokens. Allowed: off.")
    require_trees(None if tokens is None else "on" if tokens else "off", serial, names)
    if trees and slots:
        raise WormcastError(f"absorb: {slots} is not valid: worms of {names} are replicated in switches. Allowed: off, "
                            "host.")
    if trees:
        require_any_channel(classes, names)


def _assumed_of_signs(schemes: Sequence[Scheme], parts: Sequence[ChannelUse], consumption: int,
                      classes: ConsumptionClasses | None, ejection: str, seed: int) -> str:
    """Return the assumption of a proof about the signs of ties.

    The assumption is empty if no worm has signs. It is also empty if worms with signs make no stops on their way, and
    no choice of signs leads to a cycle.
    """
    relations = [with_any_signs(part.routes.relation) for part in parts]
    signed = [part for part, relation in zip(parts, relations, strict=True) if relation is not part.routes.relation]
    if not signed:
        return ""
    # if signed worms stop on their way, only their paths by the default signs are analysed
    if not any(part.has_stops for part in signed):
        every = [part if part not in signed else find_channel_use(scheme, part.topology, relation, classes, seed)
                 for scheme, part, relation in zip(schemes, parts, relations, strict=True)]
        if dependency_graph(every, consumption, ejection=ejection).free:
            return ""
    return "hosts choose the default signs of ties, which lead away from the ring's edge"
