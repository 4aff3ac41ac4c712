"""Whether packets that are sent in one step share a link: what [Sivaram98], section 4.3.4, asks of a tree."""

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
        From 1.
    worms, packets : (int, int)
        Ids of the worms, and which packet of each, from 1.
    link : int
        Row of `Topology.links`: the first one on the first worm's way that both take.
    """

    step: int
    worms: tuple[int, int]
    packets: tuple[int, int]
    link: int

    def to_dict(self, plan: Plan) -> dict[str, Any]:
        """Give it as plain data for JSON, the link by its name."""
        return {"step": self.step, "worms": list(self.worms), "packets": list(self.packets),
                "link": link_names(plan.topology)[self.link]}


def conflicts(plan: Plan, discipline: str = "fpfs") -> list[Conflict] | None:
    """List the pairs of packets that are sent in one step and share a link; None where there are no packet steps.

    A tree is depth contention-free ([Sivaram98], section 4.3.4) if there are none. An order of which no two pairs of
    neighbours share a link keeps the packets of one step apart only while there is one packet, as later ones overlap
    with worms that lie within their own.

    Parameters
    ----------
    discipline : "fpfs" or "fcfs"
    """
    steps = plan.packet_steps(discipline)
    if steps is None:
        return None
    rows = {(start, end): row for row, (start, _, end, _) in reversed(list(enumerate(plan.topology.links.tolist())))}
    ways = [[rows[link] for link in worm.links] for worm in plan.worms]
    found = _shared(np.cumsum([0, *map(len, ways)]), np.array([link for way in ways for link in way], np.int64), steps,
                    np.argsort(steps, axis=None, kind="stable"), len(plan.topology.links))
    return [Conflict(step, (one, other), (packet + 1, after + 1), link)
            for step, one, packet, other, after, link in found.tolist()]


@compiled_from(QUADRATIC)
def _shared(offsets, taken, steps, by_step, links):
    """Rows (step, worm, packet, worm, packet, link), packets from 0; ``by_step``: all sends in the order of steps."""
    packets = steps.shape[1]
    found = np.empty((1024, 6), np.int64)
    count = 0
    last = np.full(links, -1, np.int64)  # the last use of each link in this step, and of each use the one before
    uses = np.empty((len(steps) * 2 + len(taken), 2), np.int64)
    seen = np.full(len(by_step), -1, np.int64)  # the last send with which each has been paired
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
