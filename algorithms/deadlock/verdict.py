"""Free of deadlock, deadlock, or undecided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..token_groups import TokenGroups
from .channel_use import ChannelUse
from .graph import DependencyGraph, dependency_graph
from .knot_search import Held, KnotSearch, choosing_parts

__all__ = ["DeadlockVerdict", "decide"]


@dataclass(frozen=True, eq=False)
class DeadlockVerdict:
    """What is decided, and why.

    Parameters
    ----------
    name : str
        ``"free"``, ``"deadlock"`` or ``"undecided"``.
    graph : DependencyGraph
        Whose cycle shows it: that of all worms, or of those of a deadlock; where it is free without a proof of its
        own, it has no edges.
    worms : list of Held
        Of a deadlock among worms with a choice.
    assumes, searched : str
        As `Analysis` has them.
    """

    name: str
    graph: DependencyGraph
    worms: Sequence[Held] = ()
    assumes: str = ""
    searched: str = ""


def decide(parts: Sequence[ChannelUse], channels: int, ejection: str = "one", slots: int = 0,
           tokens: TokenGroups | None = None, consumed: bool = False, fits: bool = False) -> DeadlockVerdict:
    """Decide whether worms can deadlock.

    Without a cycle of dependencies they cannot, whatever they choose. Where nobody has a choice a cycle is a deadlock;
    with tokens it is not decided, as one may be needed twice in it. Otherwise the greatest set of resources that could
    be held for ever is looked for (`KnotSearch.possible`); if there is one, then worms that hold a part of it and wait
    for nothing else (`KnotSearch.search`).

    Parameters
    ----------
    parts : sequence of ChannelUse
    channels : int
        Consumption channels of each ejection port.
    ejection : "one" or "all"
        As `ejection_ports` has it.
    slots, tokens, consumed, fits
        As `dependency_graph` has them.
    """
    graph = dependency_graph(parts, channels, ejection=ejection, slots=slots, tokens=tokens, consumed=consumed,
                             fits=fits)
    if graph.free:
        return DeadlockVerdict("free", _of_worms(graph, []) if graph.locked().any() else graph)
    if tokens is not None:
        return DeadlockVerdict(
            "undecided", graph, searched="worms may wait in a circle, by different tokens or by the same")
    choosing = choosing_parts(parts)
    if not choosing:
        return DeadlockVerdict("deadlock", graph)
    careful = [part for part in choosing if part.routes.relation.enters_empty]
    if careful and not KnotSearch(parts, careful, channels, ejection=ejection).possible().any():
        names = " and ".join(dict.fromkeys(part.routes.relation.name for part in careful))
        return DeadlockVerdict("free", _of_worms(graph, []),
                       assumes=f"a head routed by {names} enters a virtual channel only when its buffer is empty")
    question = KnotSearch(parts, choosing, channels, ejection=ejection)
    worms, steps = question.search()
    if worms:
        return DeadlockVerdict("deadlock", _of_worms(graph, worms), worms)
    if not question.possible().any():
        return DeadlockVerdict("undecided", graph, searched="worms can wait for each other only where heads are in "
                               "buffers behind the ends of others; whether they do in a circle is not known")
    return DeadlockVerdict("undecided", graph, searched=f"in {steps} steps no worms were found of which each holds "
                           "channels of its own, and all of them what any may take next")


def _of_worms(graph: DependencyGraph, worms: Sequence[Held]) -> DependencyGraph:
    """The dependencies of these worms alone: along what each holds, and to all that it waits for."""
    edges: dict[tuple[int, int], tuple[int, ...]] = {}
    for worm in worms:
        ends = [*worm.resources[1:], None]
        for held, following in zip(worm.resources, ends, strict=True):
            for asked in worm.waits if following is None else (following,):
                edges[held, asked] = (worm.part, *worm.witness, -1, -1)[:4]
    ordered = sorted(edges)
    starts, ends_of = np.array(ordered, np.int32).reshape(-1, 2).T.copy()
    witnesses = np.array([edges[edge] for edge in ordered], np.int32).reshape(-1, 4)
    return replace(graph, starts=starts, ends=ends_of, witnesses=witnesses, copied=None)
