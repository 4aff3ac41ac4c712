"""Verdict of the deadlock analysis: free of deadlock, deadlock, or undecided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..token_groups import TokenGroups
from .channel_use import ChannelUse
from .graph import DependencyGraph, dependency_graph
from .knot_search import KnotSearch, KnotWorm, choosing_parts

__all__ = ["DeadlockVerdict", "decide"]


@dataclass(frozen=True, eq=False)
class DeadlockVerdict:
    """Result of a deadlock analysis, with its reasons.

    Parameters
    ----------
    name : str
        ``"free"``, ``"deadlock"`` or ``"undecided"``.
    graph : DependencyGraph
        The graph whose cycle shows a deadlock: the graph of all worms, or of the worms of a deadlock. If the graph of
        all worms has a cycle but the verdict is free, `graph` has no edges.
    worms : list of KnotWorm
        Worms of a deadlock in which some worm has a choice of channels.
    assumes, searched : str
        As in `Analysis`.
    """

    name: str
    graph: DependencyGraph
    worms: Sequence[KnotWorm] = ()
    assumes: str = ""
    searched: str = ""


def decide(parts: Sequence[ChannelUse], channels: int, ejection: str = "one", slots: int = 0,
           tokens: TokenGroups | None = None, consumed: bool = False, fits: bool = False) -> DeadlockVerdict:
    """Decide whether worms can deadlock.

    Without a cycle of dependencies no deadlock is possible, with or without a choice of channels. With tokens, the
    verdict is free if every cycle provably needs a token twice, and otherwise undecided. Without tokens, and if no worm
    has a choice, a cycle counts as a deadlock. If worms have a choice, the largest set of resources that could be held
    for ever is searched for (`KnotSearch.possible`). If the largest set is not empty, `KnotSearch.search` looks for
    worms that hold a part of the set and wait for nothing outside this part.

    Parameters
    ----------
    parts : sequence of ChannelUse
    channels : int
        Consumption channels of each ejection port.
    ejection : "one" or "all"
        As in `ejection_ports`.
    slots, tokens, consumed, fits
        As in `dependency_graph`.
    """
    graph = dependency_graph(parts, channels, ejection=ejection, slots=slots, tokens=tokens, consumed=consumed,
                             fits=fits)
    if graph.free:
        return DeadlockVerdict("free", _of_worms(graph, []) if graph.locked().any() else graph)
    if tokens is not None:
        return DeadlockVerdict(
            "undecided", graph, searched="worms may wait in a cycle, but the cycle may need one token twice")
    choosing = choosing_parts(parts)
    if not choosing:
        return DeadlockVerdict("deadlock", graph)
    careful = [part for part in choosing if part.routes.relation.enters_empty]
    if careful and not KnotSearch(parts, careful, channels, ejection=ejection).possible().any():
        names = " and ".join(dict.fromkeys(part.routes.relation.name for part in careful))
        return DeadlockVerdict("free", _of_worms(graph, []),
                       assumes=f"a header routed by {names} enters a virtual channel only when its buffer is empty")
    search = KnotSearch(parts, choosing, channels, ejection=ejection)
    worms, steps = search.search()
    if worms:
        return DeadlockVerdict("deadlock", _of_worms(graph, worms), worms)
    if not search.possible().any():
        return DeadlockVerdict("undecided", graph, searched="worms can wait for each other only if heads are in "
                               "buffers behind the tails of other worms. Whether such waits form a cycle is not known")
    return DeadlockVerdict("undecided", graph, searched=f"a search of {steps} steps found no worms that hold all "
                           "channels for which they wait")


def _of_worms(graph: DependencyGraph, worms: Sequence[KnotWorm]) -> DependencyGraph:
    """Return only the dependencies of these worms.

    Each resource that a worm holds has an edge to the next resource that the worm holds. The last resource that a worm
    holds has an edge to each candidate that the worm waits for.
    """
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
