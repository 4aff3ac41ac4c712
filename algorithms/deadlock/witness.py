"""Concrete worms, some of them replicated, that realise a cycle of dependencies."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .channel_use import ChannelUse
from .graph import DependencyGraph

__all__ = ["CycleStep", "retell"]


class CycleStep(NamedTuple):
    """A step of a cycle: a resource, and a worm that holds this resource and requests the next resource of the cycle.
    """

    resource: int
    part: int
    source: int
    stops: tuple[int, ...]


class _Run(NamedTuple):
    """Resources of a cycle that one replicated worm uses: the worm holds the resource `still` in one branch, and waits
    in another branch.
    """

    part: int
    still: int
    waits: tuple[int, ...]  # channels of the waiting branch; the worm waits for the last one and holds the others


def retell(graph: DependencyGraph, parts: Sequence[ChannelUse]) -> list[CycleStep]:
    """Find a few worms that realise a shortest cycle, if possible worms of which no two hold the same resource.

    Each witness of `DependencyGraph` is the first worm found for its edge, regardless of the rest of the cycle. If
    a replicated worm realises several consecutive steps of a cycle, one branch holds the first step's channel. A second
    branch of the replicated worm holds the channels of the following steps, and waits for the next channel of the
    cycle. A replicated worm that realises several steps of the cycle replaces the witnesses of these steps, if it holds
    no resource of the worms found before.
    """
    edges = graph.cycle_edges()
    copied = [] if graph.copied is None else graph.copied[edges].tolist()
    begin = next((place for place, switch in enumerate(copied) if switch >= 0), None)
    plain = [CycleStep(int(graph.starts[edge]), part, source, tuple(stop for stop in stops if stop >= 0))
             for edge in edges for part, source, *stops in [graph.witnesses[edge].tolist()]]
    if begin is None:
        return plain
    plain, copied = plain[begin:] + plain[:begin], copied[begin:] + copied[:begin]
    firsts = [place for place, switch in enumerate(copied) if switch >= 0]
    found: list[CycleStep] = []
    taken: set[int] = set()
    for first, end in zip(firsts, [*firsts[1:], len(plain)], strict=True):
        steps = plain[first:end]
        waits = [step.resource for step in (*plain[first + 1:end], plain[end % len(plain)])]
        run = _Run(steps[0].part, steps[0].resource, tuple(waits))
        source, stops, held = next((worm for worm in _worms(graph, parts[run.part], run) if not worm[2] & taken),
                                   (None, (), set()))
        taken |= held
        found += steps if source is None else [CycleStep(step.resource, run.part, source, stops) for step in steps]
    return found


def _worms(graph: DependencyGraph, part: ChannelUse, run: _Run) -> Iterator[tuple[int, tuple[int, ...], set[int]]]:
    """Yield replicated worms that hold and wait for the resources of `run`, a part of a cycle: source, two
    destinations, and resources held."""
    topology, share = part.topology, graph.vc_classes // part.vc_classes
    for source in range(topology.nodes):
        ways = {}
        for node in range(topology.nodes):
            if node != source:
                channels = part.routes.channels(source, [node])
                link = channels[-1] // part.vc_classes if channels else 0
                end = graph.asked_at_the_end + int(graph.ports.at(node, link))
                ways[node] = [channel * share for channel in channels] + [end]
        still = next(((node, way) for node, way in ways.items() if run.still in way), None)
        waits = next(((node, way) for node, way in ways.items() if run.waits[-1] in way and run.still not in way
                      and set(run.waits) <= set(way)), None)
        if still is None or waits is None:
            continue
        (node, way), (other, other_way) = still, waits
        sends = -1 - source  # a node sends one worm at a time
        yield source, (node, other), {
            sends, *way[:way.index(run.still) + 1], *other_way[:other_way.index(run.waits[-1])]}
