"""Packets of one step that share a link ([Sivaram98], section 4.3.4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..channels import link_names
from ..compiled import QUADRATIC, compiled_from
from ..multicast_plan import Plan

__all__ = ["Conflict", "conflicts"]


@dataclass(frozen=True)
class Conflict:
    """Two packets that are sent in one step and share a link.

    Parameters
    ----------
    step : int
        Number of the step, from 1.
    worms, packets : (int, int)
        Ids of the worms, and the number of the packet of each, from 1.
    link : int
        Row of `Topology.links`: the first shared link on the second worm's way.
    """

    step: int
    worms: tuple[int, int]
    packets: tuple[int, int]
    link: int

    def to_dict(self, plan: Plan) -> dict[str, Any]:
        """Return the fields as data for JSON, with the name of the link."""
        return {"step": self.step, "worms": list(self.worms), "packets": list(self.packets),
                "link": link_names(plan.topology)[self.link]}


def conflicts(plan: Plan, discipline: str = "fpfs") -> list[Conflict] | None:
    """List the pairs of packets that are sent in one step and share a link. The result is None if the plan has no
    packet steps.

    A tree without packets that share a link in one step is depth contention-free ([Sivaram98], section 4.3.4). In some
    orders of the nodes, worms within disjoint pieces of the order share no link. Such an order excludes shared links
    for the first packet only. While a later packet is sent, nodes that are between the packet's sender and its receiver
    in the order may send other packets over the same links.

    Parameters
    ----------
    discipline : "fpfs" or "fcfs"
    """
    steps = plan.packet_steps(discipline)
    if steps is None:
        return None
    ways = [worm.link_rows for worm in plan.worms]
    found = _shared(np.cumsum([0, *map(len, ways)]), np.array([link for way in ways for link in way], np.int64), steps,
                    np.argsort(steps, axis=None, kind="stable"), len(plan.topology.links))
    return [Conflict(step, (one, other), (packet + 1, after + 1), link)
            for step, one, packet, other, after, link in found.tolist()]


@compiled_from(QUADRATIC)
def _shared(offsets, taken, steps, by_step, links):
    """Return rows (step, worm, its packet, other worm, its packet, link). Packets are numbered from 0. ``by_step`` has
    the indices of all sends, sorted by step."""
    packets = steps.shape[1]
    found = np.empty((1024, 6), np.int64)
    count = 0
    last = np.full(links, -1, np.int64)  # row in `uses` of each link's latest use in this step; -1: none
    # rows of `uses`: a send that uses a link in this step, and the row of the link's previous use (-1: none)
    uses = np.empty((len(steps) * 2 + len(taken), 2), np.int64)
    seen = np.full(len(by_step), -1, np.int64)  # for each send: the last send with which it was listed as a pair
    used, step = 0, 0
    for place in range(len(by_step)):
        send = by_step[place]
        worm, packet = send // packets, send % packets
        if steps[worm, packet] != step:
            last[:] = -1
            used, step = 0, steps[worm, packet]
        for at in range(offsets[worm], offsets[worm + 1]):
            link = taken[at]
            use = last[link]
            while use >= 0:
                other = uses[use, 0]
                if seen[other] != send:
                    seen[other] = send
                    if count == len(found):
                        grown = np.empty((2 * count, 6), np.int64)
                        grown[:count] = found
                        found = grown
                    found[count, 0] = step
                    found[count, 1], found[count, 2] = other // packets, other % packets
                    found[count, 3], found[count, 4], found[count, 5] = worm, packet, link
                    count += 1
                use = uses[use, 1]
            uses[used, 0], uses[used, 1] = send, last[link]
            last[link] = used
            used += 1
    return found[:count].copy()
