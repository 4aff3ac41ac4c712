"""What a load experiment came to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology

from ..configuration import Configuration
from ..deadlock import Deadlock
from .statistics import Interval, interval
from .traffic import Traffic

__all__ = ["Load", "Totals"]

#: Spans of a message's life, each with the events that begin and end it (fields of `DONE`).
SPANS = {
    "latency": ("created", "received"),
    "queue_latency": ("created", "injected"),
    "network_latency": ("injected", "tail"),
    "reception_latency": ("tail", "received"),
}
KINDS = ("multicast", "unicast")

#: Of one lane, in the cycles that count. Payload flits ``created``, the same times their destinations ``wanted``, those
#: taken by all nodes ``consumed``, and flits times destinations of messages ``completed``; messages ``begun``; those of
#: them that are received, all and by kind; sums of their spans.
TOTALS = np.dtype([(field, np.int64) for field in (
    "created", "wanted", "consumed", "completed", "begun", "messages", *KINDS, *SPANS,
    *(f"{kind}_latency" for kind in KINDS))])


class Totals:
    """Sums over messages, lane by lane; nothing grows with the length of a run."""

    def __init__(self, lanes: int):
        self.lanes = np.zeros(lanes, TOTALS)

    def add(self, done: np.ndarray, since: int) -> None:
        """Add messages that are through: those created from this cycle on, and completed flits from then on."""
        late = done[done["received"] >= since]
        np.add.at(self.lanes["completed"], late["lane"], late["length"] * late["destinations"])
        done = done[done["created"] >= since]
        lane = done["lane"]
        np.add.at(self.lanes["messages"], lane, 1)
        for name, (begin, end) in SPANS.items():
            np.add.at(self.lanes[name], lane, done[end] - done[begin])
        for kind, which in zip(KINDS, (done["multicast"] == 1, done["multicast"] == 0), strict=True):
            np.add.at(self.lanes[kind], lane[which], 1)
            np.add.at(self.lanes[f"{kind}_latency"], lane[which], (done["received"] - done["created"])[which])


@dataclass(frozen=True, eq=False)
class Load:
    """What a load experiment came to; the words are those of docs/interfaces.md.

    Parameters
    ----------
    topology, scheme, configuration, traffic
        What was simulated.
    seeds : tuple of int
    cycles, warmup : int
        Cycles simulated, and how many of them come before those that count.
    totals : `TOTALS` records [seeds]
    backlog : int array [seeds, samples]
        Worms that are created and not begun, in the cycles that count at equal distances.
    deadlock, deadlock_seed : Deadlock or None, int or None
        The earliest, and the seed that has run into it; then there is no steady state to measure.
    seconds : float
        Processor time of the simulation.
    """

    topology: Topology
    scheme: Scheme
    configuration: Configuration
    traffic: Traffic
    seeds: tuple[int, ...]
    cycles: int
    warmup: int
    totals: np.ndarray
    backlog: np.ndarray
    deadlock: Deadlock | None
    deadlock_seed: int | None
    seconds: float

    def per_node(self, what: str) -> Interval:
        """Flits per node and cycle: ``created``, ``wanted``, ``consumed`` or ``completed``."""
        counted = self.cycles - self.warmup
        return interval(self.totals[what] / (counted * self.topology.nodes)) if counted > 0 else Interval(None, None)

    def span(self, name: str) -> Interval:
        """Mean cycles of a span of messages' lives: the mean within each seed, then over seeds."""
        kind = name.removesuffix("_latency")
        messages = self.totals[kind if kind in KINDS else "messages"]
        return interval(self.totals[name][messages > 0] / messages[messages > 0])

    @property
    def censored(self) -> int:
        """Messages created in the cycles that count and not received by the end."""
        return int((self.totals["begun"] - self.totals["messages"]).sum())

    @property
    def saturated(self) -> bool:
        """Whether less than 95 % of what is offered is delivered, or the source queues grow (slope positive at 95 %).

        Queues that have grown by less than a worm in ten nodes by the end are none.
        """
        if self.totals["completed"].sum() < 0.95 * self.totals["wanted"].sum():
            return True
        samples = self.backlog.shape[1]
        if samples < 3:
            return False
        at = np.arange(samples) - (samples - 1) / 2
        slopes = interval((at * self.backlog).sum(axis=1) / (at**2).sum())
        if slopes.mean is None or slopes.half_width is None:
            return False
        grown = slopes.mean * samples > 0.1 * self.topology.nodes
        return grown and slopes.mean > slopes.half_width

    def to_dict(self) -> dict[str, Any]:
        """Give the results as plain data for JSON, as ``wormcast load --json`` prints them."""
        per_node = self.per_node("completed").mean
        return {
            "offered": self.per_node("created").mean,
            "effective": self.per_node("wanted").mean,
            "accepted": self.per_node("consumed").mean,
            "delivered": None if per_node is None else per_node * self.topology.nodes,
            "delivered_per_node": per_node,
            **{name: self.span(name).to_dict() for name in (*SPANS, *(f"{kind}_latency" for kind in KINDS))},
            "messages": int(self.totals["messages"].sum()),
            "censored": self.censored,
            "cycles": self.cycles,
            "warmup": self.warmup,
            "saturated": self.saturated,
            "deadlock": {"seed": self.deadlock_seed, **self.deadlock.to_dict()} if self.deadlock else None,
            "cycles_per_second": self.cycles * len(self.seeds) / self.seconds if self.seconds else None,
        }
