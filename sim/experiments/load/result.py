"""Results of a load experiment."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology

from ...build.configuration import Configuration
from ...build.traffic import Traffic
from ...engines.deadlock import Deadlock
from ...host import ADMISSION
from ..events import EventSums
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
#: Least number of messages of each seed for a precise mean, and of messages of all seeds for saturation.
FEWEST = 30

#: Standard deviations by which the number of messages under way may exceed its mean by chance.
CHANCE = 3

#: Least number of received messages per message that is not received by the end, in a run that is long enough.
SHORT = 4

#: Kinds of messages, and their plurals. A reply counts only as a reply, not as a unicast.
KINDS = {"multicast": "multicasts", "unicast": "unicasts", "reply": "replies"}
#: Spans of requests, from creation to an event of the exchange: being sent to the processor, the last reply's receipt.
EXCHANGE_SPANS = {"outstanding_wait": "issued", "round_trip_latency": "closed"}
COUNTS = ("created", "wanted", "begun")

#: For each key of the JSON with flits per node and cycle: the field of `TOTALS` with the sum of these flits.
PER_NODE = {"offered": "created", "effective": "wanted", "accepted": "consumed", "delivered_per_node": "completed"}

#: Counters of requests for rows. The results have the mean of each of these counters per admitted message.
ADMISSION_RATIOS = ("requests", "refusals", "own_refusals", "releases", "admission_wait")

#: Percentiles of the latency by key in JSON.
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

#: Sums of a lane in a time slice. ``begun``: number of messages created in the slice.
#: ``created``: payload flits of the messages created in the slice. ``wanted``: payload flits of these messages times
#: destinations. ``completed``: payload flits times destinations of the messages with their last receipt in the slice.
#: ``messages``: number of messages created in the slice and received by the end. ``multicast``, ``unicast``: by kind.
#: ``copies``: worms of the received multicasts. Fields named in `SPANS`: sums of these spans over received messages.
#: ``round_trips``: number of requests created in the slice with all replies received by the end. Fields named in
#: `EXCHANGE_SPANS`: sums of these spans over the requests of ``round_trips``. ``exchanged``: sum over the cycles of the
#: slice of the number of outstanding requests. ``waiting``: worms that wait at their sources at the end of the slice.
#: `ADMISSION`: counters of requests for rows. The last fields are the fields in `MEASURED`.
TOTALS = np.dtype([(field, np.int64) for field in (
    *COUNTS, "completed", "messages", *KINDS, "copies", *SPANS, *(f"{kind}_latency" for kind in KINDS),
    "round_trips", *EXCHANGE_SPANS, "exchanged", "waiting", *ADMISSION, *MEASURED)])


class Totals:
    """Sums over messages, by time slice and lane. A longer slice needs no more memory, except for latencies.

    Parameters
    ----------
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the end of the last one.
    lanes : int
    """

    def __init__(self, edges: np.ndarray, lanes: int):
        self.edges = edges
        self.table = np.zeros((len(edges) - 1, lanes), TOTALS)
        self.latencies, self.round_trips = Latencies(lanes), Latencies(lanes)

    def _at(self, cycles: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.edges, cycles, side="right") - 1

    def add(self, done: np.ndarray) -> None:
        """Add received messages, each to the slice of its creation, and its flits to the slice of its last receipt."""
        lane = done["lane"]
        np.add.at(self.table["completed"], (self._at(done["received"]), lane), done["length"] * done["destinations"])
        where = self._at(done["created"]), lane
        np.add.at(self.table["messages"], where, 1)
        for name, (begin, end) in SPANS.items():
            np.add.at(self.table[name], where, done[end] - done[begin])
        for kind, which in zip(KINDS, _kinds(done), strict=True):
            there = where[0][which], lane[which]
            np.add.at(self.table[kind], there, 1)
            np.add.at(self.table[f"{kind}_latency"], there, (done["received"] - done["created"])[which])
        np.add.at(self.table["copies"], where, np.where(done["multicast"] == 1, done["worms"], 0))
        self.latencies.add(where[0], done)
        trips = done[done["closed"] > 0].copy()
        for field, of in (("created", "asked"), ("received", "closed"), ("message", "request")):
            trips[field] = trips[of]
        where = self._at(trips["created"]), trips["lane"]
        np.add.at(self.table["round_trips"], where, 1)
        for name, end in EXCHANGE_SPANS.items():
            np.add.at(self.table[name], where, trips[end] - trips["created"])
        self.round_trips.add(where[0], trips)


def _kinds(done: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return for each kind of `KINDS` which messages are of this kind."""
    multicast, reply = done["multicast"] == 1, done["reply"] == 1
    return multicast, ~multicast & ~reply, reply


def steady_from(series: np.ndarray) -> int:
    """Return the number of values to discard at the start of a series until it is steady.

    The truncation, of at most half the series, minimises the error of the mean of the other values. MSER estimates the
    error of the mean of some values: sum of their squares about the mean, divided by the square of their number.
    Source: [White97].
    """
    left = [series[first:] for first in range(len(series) // 2 + 1)]
    return int(np.argmin([((part - part.mean()) ** 2).sum() / len(part) ** 2 for part in left])) if len(series) else 0


@dataclass(frozen=True, eq=False)
class Load:
    """Results of a load experiment. docs/experiments.md explains the measurements.

    Parameters
    ----------
    topology, scheme, configuration, traffic
        Parameters of the simulation.
    seeds : tuple of int
    edges : int array [slices + 1]
        Cycles in which time slices begin, and the end of the last one.
    first : int
        The first slice after the warm-up.
    slices : `TOTALS` records [slices, seeds]
    latencies : list of (int64 array, int64 array)
        For each seed: the latency bins that are not empty, and their counts, in the slices after the warm-up
        (`Latencies.of_lane`).
    slowest : `WORST` records
        The messages with the largest latencies of each seed in each slice after the warm-up. Field ``lane`` of
        ``slowest`` is the seed's index.
    links : dict of str to int64 array [links]
        Flits on each link, by kind of link (`LINKS`), after the warm-up: sums over all seeds.
    stage_sums : int64 array [5, seeds, stages]
        Counts of each stage of a multistage network after the warm-up, see ``sums`` of `Stages`.
    tokens : tuple of int
        Number of token groups in each stage.
    ends : dict of str to list
        By kind of link, the pair that names each link in tables. A link between routers is named by its two switches:
        by numbers if they are ids of nodes, else by names. Injection and consumption links are named by the node and
        the link's number at the node.
    channels : dict of str to int
        Number of virtual channels on all links of a kind; on consumption links these are the consumption channels.
    deadlock, deadlock_seed : Deadlock or None, int or None
        The earliest deadlock and its seed. After a deadlock, all measurements are empty.
    seconds : float
        Processor time of the simulation in seconds.
    precision : float
        Largest ratio of half the latency's interval to its mean for which the mean counts as precise.
    round_trips : list of (int64 array, int64 array, int)
        For each seed: bins and counts of round trips like those of ``latencies``, and the longest round trip (0 without
        a round trip).
    events : EventSums or None
        Events in the cycles after the warm-up; None if they were not counted, and after a deadlock.
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
    round_trips: list[tuple[np.ndarray, np.ndarray, int]]
    events: EventSums | None = None

    @property
    def cycles(self) -> int:
        """Cycles simulated."""
        return int(self.edges[-1])

    @property
    def warmup(self) -> int:
        """Number of cycles at the start that do not count."""
        return int(self.edges[self.first])

    @cached_property
    def totals(self) -> np.ndarray:
        """`TOTALS` of each seed, summed over the slices after the warm-up, [seeds]."""
        counted = self.slices[self.first:]
        result = np.zeros(len(self.seeds), TOTALS)
        for field in TOTALS.names or ():
            result[field] = counted[field].sum(axis=0)
        return result

    def per_node(self, what: str) -> Interval:
        """Return payload flits per node and cycle. ``what``: ``created``, ``wanted``, ``consumed`` or ``completed``."""
        return self._measured(self.totals[what] / (self._counted * self.topology.nodes))

    def span(self, name: str) -> Interval:
        """Return the mean cycles of a span of messages: first the mean of each seed, then over the seeds.

        ``name``: a key of `SPANS` or `EXCHANGE_SPANS`, or a key of `KINDS` with ``_latency`` behind it.
        """
        kind = name.removesuffix("_latency")
        messages = self.totals["round_trips" if name in EXCHANGE_SPANS else kind if kind in KINDS else "messages"]
        return self._measured(self.totals[name][messages > 0] / messages[messages > 0])

    @property
    def request_latency(self) -> Interval:
        """Mean latency of requests, in cycles: of all messages that are no replies. Empty without replies."""
        requests = self.totals["multicast"] + self.totals["unicast"]
        known = (requests > 0) & self.replies
        cycles = self.totals["multicast_latency"] + self.totals["unicast_latency"]
        return self._measured(cycles[known] / requests[known])

    @property
    def outstanding(self) -> Interval:
        """Mean number of outstanding requests of a node. Empty without replies."""
        here = self.totals["exchanged"] / (self._counted * self.topology.nodes)
        return self._measured(here if self.replies else here[:0])

    @property
    def replies(self) -> bool:
        """Destinations reply to messages."""
        return isinstance(self.traffic, Traffic) and self.traffic.reply > 0

    def round_trip_percentile(self, share: float) -> Interval:
        """Return the round trip, in cycles, that a share of the requests does not exceed; see `percentile`."""
        return self._measured(np.array([percentile(bins, counts, share, longest)
                                        for bins, counts, longest in self.round_trips if len(bins)], float))

    def utilisation(self, kind: str) -> Interval:
        """Return flits per cycle and link of a kind (`LINKS`): the mean over links in each seed, then over seeds."""
        flits = self.totals[f"{kind}_flits"]
        return self._measured(flits / (self._counted * max(1, len(self.ends[kind]))))

    def link_table(self, kind: str) -> list[tuple[int | str, int | str, float]]:
        """Return flits per cycle on each link of a kind, mean over seeds; an empty list after a deadlock."""
        if self.deadlock:
            return []
        flits = self.links[kind] / (self._counted * len(self.seeds))
        return [(*ends, value) for ends, value in zip(self.ends[kind], flits.tolist(), strict=True)]

    def busiest(self, kind: str) -> tuple[int | str, int | str, float] | None:
        """Return the busiest link of a kind, see `link_table`."""
        return max(self.link_table(kind), key=lambda link: link[2], default=None)

    @property
    def _counted(self) -> int:
        """Number of cycles after the warm-up, at least 1."""
        return max(1, self.cycles - self.warmup)

    def _measured(self, values: np.ndarray) -> Interval:
        return Interval(None, None) if self.deadlock or self.cycles == self.warmup else interval(values)

    def _utilisation_to_dict(self, kind: str) -> dict[str, float | None]:
        busiest = self.busiest(kind)
        return {**self.utilisation(kind).to_dict(), "max": busiest[2] if busiest else None}

    def wait(self, what: str) -> Interval:
        """Return the mean cycles that a worm waits for a ``link`` per hop, or a ``consumption`` channel per stop.

        For each seed, the mean number of waiting worms is divided by the rate at which worms proceed (Little's law).
        The result is the mean over seeds.
        """
        totals = self.totals
        gone = totals["hops" if what == "link" else "stops"]
        known = (gone > 0) & (totals["samples"] > 0)
        waiting = totals[f"{what}_waits"][known] / totals["samples"][known]
        return self._measured(waiting * self._counted / gone[known])

    def occupancy(self, kind: str) -> Interval:
        """Return the mean share of virtual channels with an owner on ``network`` or ``consumption`` links."""
        totals = self.totals
        owned = totals["links_owned" if kind == "network" else "consumption_owned"][totals["samples"] > 0]
        return self._measured(owned / totals["samples"][totals["samples"] > 0] / max(1, self.channels[kind]))

    @cached_property
    def stages(self) -> Stages:
        """Measurements of each stage of a multistage network. Networks of other kinds have no stages."""
        idle = self.deadlock is not None or self.cycles == self.warmup
        accepted = self.totals["consumed"] / (self._counted * self.topology.nodes)
        return Stages(self.stage_sums, self.totals["samples"] * (not idle), self._counted, self.tokens, accepted)

    @property
    def hops_per_destination(self) -> Interval:
        """Hops divided by stops of all worms ([Boppana98], section 4.1: the v-c ratio that a scheme uses)."""
        known = self.totals["stops"] > 0
        return self._measured(self.totals["hops"][known] / self.totals["stops"][known])

    def admission(self) -> dict[str, Interval]:
        """Return how rows were requested: requests, refusals and releases per admitted message, the mean cycles from
        the first request of a message to the last grant, and the share of control flits on the injection links."""
        totals = self.totals
        known = totals["admitted"] > 0
        found = {name: self._measured(totals[name][known] / totals["admitted"][known])
                 for name in ADMISSION if name in ADMISSION_RATIOS}
        flits = totals["injection_flits"]
        return {**found, "control_share": self._measured(totals["control_flits"][flits > 0] / flits[flits > 0])}

    @property
    def copies(self) -> Interval:
        """Worms per multicast."""
        known = self.totals["multicast"] > 0
        return self._measured(self.totals["copies"][known] / self.totals["multicast"][known])

    @property
    def rate(self) -> float | None:
        """The option ``rate``: payload flits that a node creates per cycle, without replies; None for a trace."""
        return self.traffic.rate if isinstance(self.traffic, Traffic) else None

    @property
    def nominal(self) -> float | None:
        """Payload flits that are created per node and cycle in the long run (`Traffic.nominal`); None for a trace."""
        return self.traffic.nominal(self.topology) if isinstance(self.traffic, Traffic) else None

    @property
    def vc_ratio(self) -> float:
        """Virtual channels of links between routers, divided by consumption channels: the provided v-c ratio."""
        return self.channels["network"] / self.channels["consumption"]

    def percentile(self, share: float) -> Interval:
        """Return the latency that a share of the messages does not exceed: mean over seeds, each exact to 0.8 %."""
        return self._measured(np.array([percentile(*self.latencies[seed], share, largest)
                                        for seed, largest in self._largest.items()], float))

    @property
    def longest(self) -> Interval:
        """Largest latency of each seed, mean over seeds."""
        return self._measured(np.array(list(self._largest.values()), float))

    @cached_property
    def _largest(self) -> dict[int, int]:
        """Largest latency of each seed that has received messages, by the seed's index."""
        return {seed: int(self.slowest["latency"][self.slowest["lane"] == seed].max())
                for seed, (bins, _) in enumerate(self.latencies) if len(bins)}

    def worst(self) -> list[dict[str, int | None]]:
        """Return the `KEPT` messages with the largest latencies, the slowest first; an empty list after a deadlock."""
        if self.deadlock:
            return []
        order = np.lexsort((self.slowest["message"], self.slowest["lane"], -self.slowest["latency"]))
        random = not isinstance(self.traffic, Trace)
        return [{"seed": self.seeds[row["lane"]] if random else None, **{
            field: int(row[field]) for field in ("message", "source", "created", "latency", "length", "destinations")}}
            for row in self.slowest[order[:KEPT]]]

    @property
    def censored(self) -> int:
        """Number of messages created after the warm-up and not received by the end."""
        return int((self.totals["begun"] - self.totals["messages"]).sum())

    @property
    def imprecise(self) -> str | None:
        """Reason in words for which the mean latency does not count as precise; None if it does."""
        if self.span("latency").mean is None:
            return "no message received: no latency"
        # in a mix, each kind must be precise, because a few multicasts hardly change the mean of all messages
        mixed = [kind for kind in KINDS if self.totals[kind].any()]
        for whose, kind, words in (("", "messages", "messages"), *(
                (f"{KINDS[kind]}' ", kind, KINDS[kind]) for kind in mixed if len(mixed) > 1)):
            latency = self.span("latency" if kind == "messages" else f"{kind}_latency")
            if latency.half_width is None:
                seeds = "one seed" if len(self.seeds) == 1 else f"only one seed has {words}"
                return f"{seeds}: no confidence interval"
            if latency.half_width > self.precision * (latency.mean or 0):
                return f"the {whose}latency's interval is wider than {100 * self.precision:g} %"
            fewest = int(self.totals[kind].min())
            if fewest < FEWEST:
                return f"a seed has {fewest} {words}, fewer than {FEWEST}"
        return None

    @property
    def precise(self) -> bool:
        """The mean latency is precise, and the run is long enough to decide whether the network is saturated.

        Half the latency's interval is at most ``precision`` times the mean, and each seed has received 30 messages or
        more. If multicasts, unicasts and replies are mixed, the messages of each kind must also meet both conditions.
        The run must not be `too_short`, because a run that is too short has received only the messages with low
        latencies.
        """
        return self.imprecise is None and not self.too_short

    @property
    def saturated(self) -> bool:
        """The network is saturated: it delivers too few flits, or worms accumulate at their sources.

        The network delivers too few flits if two conditions hold. Less than 95 % of ``wanted`` is ``completed``. The
        missing flits exceed 1.5 times the flits of the messages on their way (estimated from the mean latency) plus an
        allowance for chance. Worms accumulate if a straight line, fitted to the mean number of waiting worms over time,
        rises by more than a worm per ten nodes. The rise must also exceed three times the standard deviation about the
        line. Networks in which fewer than `FEWEST` messages are created after the warm-up, over all seeds, do not count
        as saturated. Requests that wait at their hosts for replies to earlier requests are waiting worms: a limit of
        outstanding requests can saturate a network that has capacity left.
        """
        return bool(self.deadlock is None and int(self.totals["begun"].sum()) >= FEWEST
                    and (self._falls_short() or self._piles_up()))

    @property
    def too_short(self) -> bool:
        """The network is not saturated, but too few messages are created or received to be sure.

        A run with fewer than `SHORT` received messages per message that is not received by the end is too short. A run
        is also too short if the network would count as saturated with more messages or without the allowance for
        chance.
        """
        return not self.saturated and (SHORT * self.censored > int(self.totals["messages"].sum())
                                       or self._falls_short(chance=0) or self._piles_up())

    @property
    def state(self) -> str:
        """Saturation in words, and reasons to doubt the latency or the saturation."""
        limited = isinstance(self.traffic, Traffic) and self.traffic.outstanding > 0
        by = ", by the network or by the limit of outstanding requests" if limited else ""
        saturation = "not saturated"
        if self.saturated:
            saturation = f"saturated{by}"
        elif self.too_short:
            saturation = "saturation undecided: the run is too short, too many messages are not received"
        return saturation if self.imprecise is None else f"{saturation}; {self.imprecise}"

    def _falls_short(self, chance: float = CHANCE) -> bool:
        """Return whether more flits are missing than messages on their way account for.

        The number of messages on their way is a Poisson variable: its variance is its mean. One message is added to the
        variance, because the mean of a few messages is not known well.
        """
        wanted, completed = int(self.totals["wanted"].sum()), int(self.totals["completed"].sum())
        messages, begun = int(self.totals["messages"].sum()), int(self.totals["begun"].sum())
        if not messages:
            return False  # no message is received yet, but all may be on their way
        on_the_way = begun * int(self.totals["latency"].sum()) / messages / self._counted
        most = 1.5 * on_the_way + chance * math.sqrt(on_the_way + 1)
        return wanted - completed > max(0.05 * wanted, most * wanted / begun)

    def _piles_up(self) -> bool:
        grown, about = self._growth
        return grown > max(0.1 * self.topology.nodes, 3 * about)

    @cached_property
    def _growth(self) -> tuple[float, float]:
        """Growth of the number of worms waiting at the sources after the warm-up, and its standard deviation.

        A straight line over time is fitted to the numbers of waiting worms, which are means over seeds. The standard
        deviation measures how the values vary about the fitted line.
        """
        waiting = self.slices["waiting"][self.first:].mean(axis=1)
        if len(waiting) < 3:
            return 0.0, 0.0
        at = np.arange(len(waiting)) - (len(waiting) - 1) / 2
        slope = (at * waiting).sum() / (at**2).sum()
        return float(slope * len(waiting)), float((waiting - at * slope).std())

    @property
    def far_beyond(self) -> bool:
        """The network is so far beyond saturation that a short run shows it.

        Condition: the network is `saturated`, and either delivers too few flits, or its number of waiting worms grows
        by more than 5 % of the created worms. With smaller growth of this number, worms may accumulate at first and be
        sent later.
        """
        totals = self.totals
        messages = max(1, int(totals["messages"].sum()))
        single = totals["unicast"].sum() + totals["reply"].sum()
        worms = totals["begun"].mean() * (totals["copies"].sum() + single) / messages
        return self.saturated and (self._falls_short() or self._growth[0] > 0.05 * worms)

    def repetitions(self) -> list[dict[str, float | bool | None]]:
        """Return the results of each seed by itself: means by their keys in `to_dict`, percentiles by their own keys.

        Flits of single links are counted for all seeds together, so they are left out.
        """
        return [_flat(self._of_seed(index).to_dict()) for index in range(len(self.seeds))]

    def _of_seed(self, index: int) -> "Load":
        """Return the results of one seed. ``links`` and ``events`` keep their values, which are sums over all seeds."""
        here = slice(index, index + 1)
        slowest = self.slowest[self.slowest["lane"] == index].copy()
        slowest["lane"] = 0
        return replace(self, seeds=self.seeds[here], slices=self.slices[:, here], latencies=self.latencies[here],
                       slowest=slowest, stage_sums=self.stage_sums[:, here], round_trips=self.round_trips[here])

    def to_dict(self, *, links: bool = False) -> dict[str, Any]:
        """Return the results as plain data for JSON, as ``wormcast load --json`` prints them.

        Parameters
        ----------
        links : bool
            Include each kind's `link_table`.
        """
        per_node = self.per_node("completed").mean
        return {
            "nominal": self.nominal,
            **{name: self.per_node(what).mean for name, what in PER_NODE.items() if name != "delivered_per_node"},
            "delivered": None if per_node is None else per_node * self.topology.nodes,
            "delivered_per_node": per_node,
            **{f"{name}_half_width": self.per_node(what).half_width for name, what in PER_NODE.items()},
            **{name: self.span(name).to_dict() for name in (*SPANS, *(f"{kind}_latency" for kind in KINDS))},
            "request_latency": self.request_latency.to_dict(),
            **{name: self.span(name).to_dict() for name in EXCHANGE_SPANS},
            "round_trip_percentiles": {**{word: self.round_trip_percentile(share).to_dict()
                                          for word, share in PERCENTILES.items()},
                                       "max": self.round_trip_percentile(1).to_dict()},
            "outstanding_requests": self.outstanding.to_dict(),
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
            **({"admission": {name: value.to_dict() for name, value in self.admission().items()}}
               if self.configuration.requests_rows else {}),
            "percentiles": {**{word: self.percentile(share).to_dict() for word, share in PERCENTILES.items()},
                            "max": self.longest.to_dict()},
            "worst": self.worst(),
            "messages": None if self.deadlock else int(self.totals["messages"].sum()),
            "round_trips": None if self.deadlock else int(self.totals["round_trips"].sum()),
            "censored": None if self.deadlock else self.censored,
            "cycles": self.cycles,
            "warmup": self.warmup,
            "saturated": self.saturated,
            "precise": self.precise,
            "deadlock": {"seed": self.deadlock_seed, **self.deadlock.to_dict()} if self.deadlock else None,
            "cycles_per_second": self.cycles * len(self.seeds) / self.seconds if self.seconds else None,
            **({f"{kind}_links": self.link_table(kind) for kind in LINKS} if links else {}),
        }


def _flat(found: dict[str, Any]) -> dict[str, float | bool | None]:
    """Return the numbers and truth values of a result, means in place of intervals."""
    flat: dict[str, float | bool | None] = {}
    for name, value in {**found, **found["percentiles"]}.items():
        if isinstance(value, dict) and "mean" in value:
            flat[name] = value["mean"]
        elif value is None or isinstance(value, bool | int | float):
            flat[name] = value
    return {name: value for name, value in flat.items()
            if not name.endswith("_half_width") and name not in ("cycles", "warmup", "cycles_per_second", "precise")}
