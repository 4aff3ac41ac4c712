"""Trace of retransmission slots: the worm in each slot in each cycle, and the worms that wait for a slot."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.channels import Resource

from ...build.fabric import FabricLink, LinkEnd
from ...build.network import Network
from ...engines.bulk import BulkEngine
from ...engines.retransmission_waits import AbsorbedPackets
from ...engines.snapshot import Snapshot
from .trace import NOBODY, LinkTrace, trace_links

__all__ = ["SLOTS", "slots_at", "trace_all"]

#: Kind of a `FabricLink` that carries no flits, and represents the retransmission slots of an interface.
SLOTS = "slots"


def slots_at(network: Network, instances: Sequence[tuple[str, int]], lane: int = 0) -> list[FabricLink]:
    """Return a `FabricLink` of kind `SLOTS` for each interface of a lane among these instances.

    Each virtual channel of a link of this kind represents one retransmission slot of the interface.
    """
    slots = network.configuration.slots
    shown = set(instances) if slots else set()
    return [FabricLink(f"retrans:{node}", SLOTS, int(network.topology.consumptions[node, 0]), node,
                 LinkEnd("interface", node, ""), LinkEnd("interface", node, ""), slots,
                 f"retrans_{network.node_scope(node)}", node=node)
            for node in range(network.nodes) if ("interface", lane * network.nodes + node) in shown]


def trace_all(engine: BulkEngine, links: Sequence[FabricLink], cycles: int, lane: int = 0) -> LinkTrace:
    """Trace links as `trace_links` does, and append a column for each retransmission slot.

    A worm that has arrived completely and has no slot yet holds its consumption channel, and requests a slot of the
    interface that it arrived at.
    """
    slots = [link for link in links if link.kind == SLOTS]
    trace = trace_links(engine, [link for link in links if link.kind != SLOTS], cycles, lane)
    if not slots:
        return trace

    count = sum(link.vcs for link in slots)
    trace = LinkTrace(
        _behind(trace.marks, len(slots)), _behind(trace.held, count, NOBODY), _behind(trace.front, count, NOBODY),
        _behind(trace.waits, count), _behind(trace.targets, count), _behind(trace.stored, count),
        _behind(trace.owners, count), _behind(trace.rows, count), _behind(trace.reads, count),
        _behind(trace.fetches, count), _behind(trace.tokens, count), words=trace.words)
    names = [_name(link, vc) for link in links for vc in range(link.vcs)]
    column = {name: at for at, name in enumerate(names) if name}
    codes: dict[str, int] = {"": 0}
    before = engine.capture()
    for cycle in range(cycles):
        inside = AbsorbedPackets(Snapshot(engine, lane))
        for place in chain(inside.kept(), (one for one in inside.consumption() if one.waits)):
            at = column.get(place.resource)
            if at is not None and place.packet is not None:
                trace.held[cycle, at] = trace.front[cycle, at] = place.packet[0]
                trace.waits[cycle, at] = codes.setdefault("|".join(place.waits), len(codes))
        engine.run(1, beyond=True)
    engine.restore(before)
    # a worm waits in a cycle if it makes the same request in this cycle and in the next one
    columns = list(column.values())
    requests = trace.waits[:, columns]
    trace.waits[:-1, columns] = np.where(requests[:-1] == requests[1:], requests[:-1], 0)
    return trace._replace(asked=tuple(codes))


def _behind(array: npt.NDArray[Any], count: int, value: int = 0) -> npt.NDArray[Any]:
    """Append ``count`` columns with a constant value to an array."""
    return np.hstack([array, np.full((len(array), count), value, array.dtype)])


def _name(link: FabricLink, vc: int) -> str:
    """Return the name of a slot or consumption channel as in JSON, and an empty text for other channels."""
    if link.kind == SLOTS:
        return str(Resource.retrans(link.target, vc))
    return str(Resource.cons(link.target, link.first + vc)) if link.kind == "consumption" else ""
