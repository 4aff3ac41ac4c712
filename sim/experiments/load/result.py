"""Outcome of a load experiment."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology

from ...build.configuration import Configuration
from ...build.traffic import Traffic
from ...engines.deadlock import Deadlock
from .latencies import KEPT, Latencies, percentile
from .stages import HELD, WAITS, WALK, Stages
from .statistics import Interval, interval
from .trace import Trace
from .utilisation import LINKS, MEASURED

__all__ = ["TOTALS", "Load", "Totals", "steady_from"]

#: Spans of a message's life, each with the events that begin and end it (fields of `DONE`).
SPANS = {
    "latency": ("created", "received"),
    "queue_latency": ("created", "injected"),
    "injection_latency": ("injected", "handed"),
    "transit_latency": ("handed", "tail"),
    "network_latency": ("injected", "tail"),
    "reception_latency": ("tail", "received"),
}
#: Messages of each seed with which a mean may count as precise.
FEWEST = 30

KINDS = ("multicast", "unicast")
COUNTS = ("created", "wanted", "begun")

#: Flits per node and cycle: what is summed up, by the words of JSON.
PER_NODE = {"offered": "created", "effective": "wanted", "accepted": "consumed", "delivered_per_node": "completed"}

#: Of latency, by the words of JSON.
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

#: Of one lane in a slice of time. Payload flits ``created``, the same times their destinations ``wanted``, flits
#: times destinations of messages ``completed``; messages ``begun``; those of them that are received by the end, all and
#: by kind; worms of these multicasts (``copies``); sums of their spans; worms that wait at their sources at its end;
#: and what was `MEASURED`.
TOTALS = np.dtype([(field, np.int64) for field in (
    *COUNTS, "completed", "messages", *KINDS, "copies", *SPANS, *(f"{kind}_latency" for kind in KINDS), "waiting",
    *MEASURED)])


class Totals:
    """Sums over messages, by slices of time and by lane; nothing grows with the length of a run.

    Parameters
    ----------
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the last one ends.
    lanes : int
    """

    def __init__(self, edges: np.ndarray, lanes: int):
        self.edges = edges
        self.table = np.zeros((len(edges) - 1, lanes), TOTALS)
        self.latencies = Latencies(lanes)

    def _at(self, cycles: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.edges, cycles, side="right") - 1

    def add(self, done: np.ndarray) -> None:
        """Add messages that are through: each where it was created, its flits where it was completed."""
        lane = done["lane"]
        np.add.at(self.table["completed"], (self._at(done["received"]), lane), done["length"] * done["destinations"])
        where = self._at(done["created"]), lane
        np.add.at(self.table["messages"], where, 1)
        for name, (begin, end) in SPANS.items():
            np.add.at(self.table[name], where, done[end] - done[begin])
        for kind, which in zip(KINDS, (done["multicast"] == 1, done["multicast"] == 0), strict=True):
            there = where[0][which], lane[which]
            np.add.at(self.table[kind], there, 1)
            np.add.at(self.table[f"{kind}_latency"], there, (done["received"] - done["created"])[which])
        np.add.at(self.table["copies"], where, np.where(done["multicast"] == 1, done["worms"], 0))
        self.latencies.add(where[0], done)


def steady_from(series: np.ndarray) -> int:
    """Where a series that starts from an empty network has become steady: how many values are to be left out.

    The truncation for which the mean of what is left is known best (MSER: least sum of squares about the mean, over
    the square of the number left), at most a half. Source: [White97].
    """
    left = [series[first:] for first in range(len(series) // 2 + 1)]
    return int(np.argmin([((part - part.mean()) ** 2).sum() / len(part) ** 2 for part in left])) if len(series) else 0


@dataclass(frozen=True, eq=False)
class Load:
    """Outcome of a load experiment; the words are those of docs/experiments.md.

    Parameters
    ----------
    topology, scheme, configuration, traffic
        What was simulated.
    seeds : tuple of int
    edges : int array [slices + 1]
        Cycles in which slices of time begin, and the last one ends.
    first : int
        The first slice that counts; the others are the warm-up.
    slices : `TOTALS` records [slices, seeds]
    latencies : list of (int64 array, int64 array)
        Of each seed, the bins of latencies that are not empty in the slices that count, and what is in them
        (`Latencies.of_lane`).
    slowest : `WORST` records
        The messages of these slices with the largest latencies, some of each slice and seed; ``lane`` is the seed's
        place.
    links : dict of str to int64 array [links]
        Flits on the links of a kind (`LINKS`) in the cycles that count, all seeds together.
    stage_sums : int64 array [5, seeds, stages]
        What was counted of each stage in the cycles that count, of a multistage network (`Stages`).
    tokens : tuple of int
        Groups of each stage that share a token.
    ends : dict of str to list
        The two words that name each of these links in tables: of network links the switches that they come from and
        lead to (a number where it is a node's), of others the node and the link's place there.
    channels : dict of str to int
        Virtual channels of all links of a kind; of consumption links consumption channels.
    deadlock, deadlock_seed : Deadlock or None, int or None
        The earliest, and the seed that has run into it; then there is no steady state to measure.
    seconds : float
        Processor time of the simulation.
    precision : float
        Half the latency's interval over its mean at which the mean counts as precise.
    """

    topology: Topology
    scheme: Scheme
    configuration: Configuration
    traffic: Traffic | Trace
    seeds: tuple[int, ...]
    edges: np.ndarray
    first: int
    slices: np.ndarray
    latencies: list[tuple[np.ndarray, np.ndarray]]
    slowest: np.ndarray
    links: dict[str, np.ndarray]
    stage_sums: np.ndarray
    tokens: tuple[int, ...]
    ends: dict[str, list[tuple[int | str, int | str]]]
    channels: dict[str, int]
    deadlock: Deadlock | None
    deadlock_seed: int | None
    seconds: float
    precision: float

    @property
    def cycles(self) -> int:
        """Cycles simulated."""
        return int(self.edges[-1])

    @property
    def warmup(self) -> int:
        """Cycles at the start that do not count."""
        return int(self.edges[self.first])

    @cached_property
    def totals(self) -> np.ndarray:
        """`TOTALS` of the cycles that count, [seeds]."""
        counted = self.slices[self.first:]
        result = np.zeros(len(self.seeds), TOTALS)
        for field in TOTALS.names or ():
            result[field] = counted[field].sum(axis=0)
        return result

    def per_node(self, what: str) -> Interval:
        """Flits per node and cycle: ``created``, ``wanted``, ``consumed`` or ``completed``; nothing in a deadlock."""
        return self._measured(self.totals[what] / (self._counted * self.topology.nodes))

    def span(self, name: str) -> Interval:
        """Mean cycles of a span of messages' lives: the mean within each seed, then over seeds."""
        kind = name.removesuffix("_latency")
        messages = self.totals[kind if kind in KINDS else "messages"]
        return self._measured(self.totals[name][messages > 0] / messages[messages > 0])

    def utilisation(self, kind: str) -> Interval:
        """Flits per cycle and link of a kind (`LINKS`): the mean over its links within each seed, then over seeds."""
        flits = self.totals[f"{kind}_flits"]
        return self._measured(flits / (self._counted * max(1, len(self.ends[kind]))))

    def link_table(self, kind: str) -> list[tuple[int | str, int | str, float]]:
        """Flits per cycle on each link of a kind, mean over seeds; in a deadlock none."""
        if self.deadlock:
            return []
        flits = self.links[kind] / (self._counted * len(self.seeds))
        return [(*ends, value) for ends, value in zip(self.ends[kind], flits.tolist(), strict=True)]

    def busiest(self, kind: str) -> tuple[int | str, int | str, float] | None:
        """The busiest link of a kind, as in `link_table`."""
        return max(self.link_table(kind), key=lambda link: link[2], default=None)

    @property
    def _counted(self) -> int:
        """Cycles that count; 1 where there are none, and nothing in them."""
        return max(1, self.cycles - self.warmup)

    def _measured(self, values: np.ndarray) -> Interval:
        return Interval(None, None) if self.deadlock or self.cycles == self.warmup else interval(values)

    def _utilisation_to_dict(self, kind: str) -> dict[str, float | None]:
        busiest = self.busiest(kind)
        return {**self.utilisation(kind).to_dict(), "max": busiest[2] if busiest else None}

    def wait(self, what: str) -> Interval:
        """Mean cycles that a worm waits for a ``link``, each hop, or for a ``consumption`` channel, at each stop.

        The mean number of worms that wait over the rate at which they go on (Little's law), in each seed, then over
        seeds.
        """
        totals = self.totals
        gone = totals["hops" if what == "link" else "stops"]
        known = (gone > 0) & (totals["samples"] > 0)
        waiting = totals[f"{what}_waits"][known] / totals["samples"][known]
        return self._measured(waiting * self._counted / gone[known])

    def occupancy(self, kind: str) -> Interval:
        """Mean share of the virtual channels of a kind of link (``network``, ``consumption``) that a worm owns."""
        totals = self.totals
        owned = totals["links_owned" if kind == "network" else "consumption_owned"][totals["samples"] > 0]
        return self._measured(owned / totals["samples"][totals["samples"] > 0] / max(1, self.channels[kind]))

    @cached_property
    def stages(self) -> Stages:
        """What was measured of each stage of a multistage network; none of another one, and none in a deadlock."""
        idle = self.deadlock is not None or self.cycles == self.warmup
        accepted = self.totals["consumed"] / (self._counted * self.topology.nodes)
        return Stages(self.stage_sums, self.totals["samples"] * (not idle), self._counted, self.tokens, accepted)

    @property
    def hops_per_destination(self) -> Interval:
        """Hops of worms over links between routers for each of their stops ([Boppana98], section 4.1: the v-c ratio
        that a scheme uses).
        """
        known = self.totals["stops"] > 0
        return self._measured(self.totals["hops"][known] / self.totals["stops"][known])

    @property
    def copies(self) -> Interval:
        """Worms for each multicast."""
        known = self.totals["multicast"] > 0
        return self._measured(self.totals["copies"][known] / self.totals["multicast"][known])

    @property
    def vc_ratio(self) -> float:
        """Virtual channels of all links between routers over consumption channels: the v-c ratio that is provided."""
        return self.channels["network"] / self.channels["consumption"]

    def percentile(self, share: float) -> Interval:
        """The latency that a share of the messages does not exceed: of each seed, to 0.8 %, then over seeds."""
        return self._measured(np.array([percentile(*one, share) for one in self.latencies if len(one[0])]))

    @property
    def longest(self) -> Interval:
        """The largest latency of each seed, mean over seeds."""
        seeds = range(len(self.seeds))
        return self._measured(np.array([self.slowest["latency"][self.slowest["lane"] == seed].max() for seed in seeds
                                        if (self.slowest["lane"] == seed).any()], float))

    def worst(self) -> list[dict[str, int | None]]:
        """The messages with the largest latencies, the worst one first; none in a deadlock."""
        if self.deadlock:
            return []
        order = np.lexsort((self.slowest["message"], self.slowest["lane"], -self.slowest["latency"]))
        random = not isinstance(self.traffic, Trace)
        return [{"seed": self.seeds[row["lane"]] if random else None, **{
            field: int(row[field]) for field in ("message", "source", "created", "latency", "length", "destinations")}}
            for row in self.slowest[order[:KEPT]]]

    @property
    def censored(self) -> int:
        """Messages created in the cycles that count and not received by the end."""
        return int((self.totals["begun"] - self.totals["messages"]).sum())

    @property
    def imprecise(self) -> str | None:
        """Why the mean latency does not count as precise, in words; None if it does."""
        if self.span("latency").mean is None:
            return "no message received: no latency"
        # of a mix each kind's latency is known so well: the few multicasts are lost in the mean of all
        mixed = all(self.totals[kind].any() for kind in KINDS)
        for whose, kind in (("", "messages"), *((f"{kind}s' ", kind) for kind in KINDS if mixed)):
            latency = self.span("latency" if kind == "messages" else f"{kind}_latency")
            if latency.half_width is None:
                seeds = "one seed" if len(self.seeds) == 1 else f"one seed alone has {kind.removesuffix('s')}s"
                return f"{seeds}: no confidence interval"
            if latency.half_width > self.precision * (latency.mean or 0):
                return f"the {whose}latency's interval is wider than {100 * self.precision:g} %"
            fewest = int(self.totals[kind].min())
            if fewest < FEWEST:
                return f"a seed has {fewest} {kind.removesuffix('s')}s, fewer than {FEWEST}"
        return None

    @property
    def precise(self) -> bool:
        """Whether half the latency's interval is within ``precision`` of its mean, with 30 messages of each seed; of a
        mix that of multicasts and that of unicasts, too."""
        return self.imprecise is None

    @property
    def saturated(self) -> bool:
        """Whether the network does not keep up: it falls short of what is wanted, or worms pile up at its sources.

        It falls short if less than 95 % of ``wanted`` is ``completed``, and what is missing is more than 1.5 times what
        is on its way at that latency. Worms pile up if a straight line through the mean number that wait rises by more
        than a worm in ten nodes, and by more than three times the standard deviation about it.
        """
        return bool(self.deadlock is None and (self._falls_short() or self._piles_up()))

    def _falls_short(self) -> bool:
        wanted, completed = int(self.totals["wanted"].sum()), int(self.totals["completed"].sum())
        messages = int(self.totals["messages"].sum())
        if not messages:
            return False  # all that is known is that some are on their way
        on_the_way = wanted * int(self.totals["latency"].sum()) / messages / self._counted
        return wanted - completed > max(0.05 * wanted, 1.5 * on_the_way)

    def _piles_up(self) -> bool:
        grown, about = self._growth
        return grown > max(0.1 * self.topology.nodes, 3 * about)

    @cached_property
    def _growth(self) -> tuple[float, float]:
        """Worms by which those that wait at the sources have grown in the cycles that count, mean over seeds, by a
        straight line; and the standard deviation about it.
        """
        waiting = self.slices["waiting"][self.first:].mean(axis=1)
        if len(waiting) < 3:
            return 0.0, 0.0
        at = np.arange(len(waiting)) - (len(waiting) - 1) / 2
        slope = (at * waiting).sum() / (at**2).sum()
        return float(slope * len(waiting)), float((waiting - at * slope).std())

    @property
    def far_beyond(self) -> bool:
        """Whether it is saturated so clearly that a short run shows it: more than 5 % of what is created does not get
        through. Below, worms pile up at first although they are taken in the end.
        """
        totals = self.totals
        messages = max(1, int(totals["messages"].sum()))
        worms = totals["begun"].mean() * (totals["copies"].sum() + totals["unicast"].sum()) / messages
        return self.saturated and (self._falls_short() or self._growth[0] > 0.05 * worms)

    def to_dict(self, *, links: bool = False) -> dict[str, Any]:
        """Give the results as plain data for JSON, as ``wormcast load --json`` prints them.

        Parameters
        ----------
        links : bool
            With each kind's `link_table`.
        """
        per_node = self.per_node("completed").mean
        return {
            **{name: self.per_node(what).mean for name, what in PER_NODE.items() if name != "delivered_per_node"},
            "delivered": None if per_node is None else per_node * self.topology.nodes,
            "delivered_per_node": per_node,
            **{f"{name}_half_width": self.per_node(what).half_width for name, what in PER_NODE.items()},
            **{name: self.span(name).to_dict() for name in (*SPANS, *(f"{kind}_latency" for kind in KINDS))},
            **{f"{kind}_utilisation": self._utilisation_to_dict(kind) for kind in LINKS},
            "link_wait": self.wait("link").to_dict(),
            "consumption_wait": self.wait("consumption").to_dict(),
            "token_wait": self.stages.each(WAITS).to_dict(),
            "longest_token_wait": self.stages.longest(WAITS).to_dict(),
            "token_hold": self.stages.each(HELD).to_dict(),
            "token_walk": self.stages.each(WALK).to_dict(),
            "token_holders": self.stages.mean(HELD).to_dict(),
            "token_ceiling": self.stages.ceiling().to_dict(),
            "blocked_early": self.stages.early().to_dict(),
            "stages": self.stages.table(),
            "vc_occupancy": self.occupancy("network").to_dict(),
            "consumption_occupancy": self.occupancy("consumption").to_dict(),
            "hops_per_destination": self.hops_per_destination.to_dict(),
            "copies": self.copies.to_dict(),
            "vc_ratio": self.vc_ratio,
            "percentiles": {**{word: self.percentile(share).to_dict() for word, share in PERCENTILES.items()},
                            "max": self.longest.to_dict()},
            "worst": self.worst(),
            "messages": None if self.deadlock else int(self.totals["messages"].sum()),
            "censored": None if self.deadlock else self.censored,
            "cycles": self.cycles,
            "warmup": self.warmup,
            "saturated": self.saturated,
            "precise": self.precise,
            "deadlock": {"seed": self.deadlock_seed, **self.deadlock.to_dict()} if self.deadlock else None,
            "cycles_per_second": self.cycles * len(self.seeds) / self.seconds if self.seconds else None,
            **({f"{kind}_links": self.link_table(kind) for kind in LINKS} if links else {}),
        }
