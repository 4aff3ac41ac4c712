"""Random traffic: its parameters and the quantities that follow from them."""

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.phrases import allowed_text, given_text, number_text

from ..common.option import option, require_allowed, require_types
from ..common.text import count, span_text
from .patterns import (
    MULTICAST_SETS,
    PATTERNS,
    PERMUTATIONS,
    CandidateNodes,
    candidates_of,
    expected_hot_spots,
    partners,
)

__all__ = ["DISTRIBUTIONS", "INJECTION_PROCESSES", "LONGEST", "Traffic"]

INJECTION_PROCESSES = ("bernoulli", "on-off")

DISTRIBUTIONS = ("fixed", "uniform", "normal", "given", "all")

#: Largest standard deviation of a normal number of destinations, and largest weight of a number of destinations.
MOST_DEVIATION, MOST_WEIGHT = 10**6, 1e12

#: Longest mean burst, and longest mean pause between bursts, in cycles.
MOST_BURST = 10**9

#: Largest limit of outstanding requests.
MOST_OUTSTANDING = 10**6

#: Longest message, in flits.
LONGEST = 1 << 16

Reals = npt.NDArray[np.float64]

_traffic = functools.partial(option, panel="Traffic")


@dataclass(frozen=True)
class Traffic:
    """Mixture of multicasts and unicasts, created by every node independently.

    With the injection process ``bernoulli``, a node creates a message in each cycle with the same probability, which
    follows from the rate, so that the gaps between a node's messages have a geometric distribution. With the injection
    process ``on-off``, only nodes in a burst create messages, and the probability in a burst follows from the rate.
    Destinations are distinct, and the source is not one of them. A node that a permutation pattern maps to itself
    creates no unicasts.

    Each field declares its meaning and the allowed values once, as in `Configuration`.

    Raises
    ------
    WormcastError
        A parameter is outside its range, or the parameter that it belongs to is missing; or the rate is above
        `highest_rate`.
    """

    rate: float = _traffic("Payload flits that a node creates per cycle. A multicast counts once.",
                           label="rate", unit="payload flits created per node and cycle")
    length: int = _traffic("Payload of a multicast. Default: {}. Unit: flits.", 20, limits=(1, LONGEST),
                           label="length of a multicast", unit="payload flits")
    unicast_length: int = _traffic("Payload of a unicast. Default: {}. Unit: flits.", 20, limits=(1, LONGEST),
                                   label="length of a unicast", unit="payload flits")
    multicast_fraction: float = _traffic("Share of multicasts among the messages. Default: {}. Range: 0 to 1.", 1.0,
                                         limits=(0, 1),
                                         label="share of multicasts among the messages")
    destinations_mean: float = _traffic("Mean number of destinations of a multicast. Default: {}.", 10.0,
                                        label="mean destinations of a multicast")
    destinations_distribution: str = _traffic(
        "Number of destinations. fixed: the mean. uniform: 1 to 2 x mean - 1. normal: a normal number, rounded, and "
        "clamped to 1 and the number of other nodes. given: by --destinations-counts. all: all other nodes, which "
        "makes broadcasts. Default: {}.", "fixed",
        allowed=DISTRIBUTIONS)
    destinations_deviation: float = _traffic("Standard deviation of a normal number of destinations. Default: {}.", 0.0,
                                             label="standard deviation of the destinations of a multicast")
    destinations_counts: str | None = _traffic(
        "Weights of the numbers of destinations for given, with any sum: 1:0.5,8:0.3,63:0.2.", None,
        metavar="COUNT:WEIGHT,...")
    pattern: str = _traffic(
        "Choice of destinations. uniform: any nodes. hot-spot: hot spots more often. Otherwise a permutation for "
        "unicasts; multicasts go to any nodes. Default: {}.", "uniform", allowed=PATTERNS)
    hot_spots: str | None = _traffic("Hot spots: nodes, joined by commas.", None, metavar="NODE,...")
    hot_spot_share: float = _traffic("Probability that a destination is drawn from the hot spots alone. Range: above "
                                     "0, up to 1.", 0.0)
    multicast_sets: str = _traffic(
        "Nodes among which the destinations of a multicast are chosen. any: all nodes. cluster: the --cluster-size "
        "nodes nearest to the source. row: the nodes that differ from the source only in the last coordinate. column: "
        "only in the first. Default: {}.", "any", allowed=MULTICAST_SETS)
    cluster_size: int = _traffic("Number of nodes of a cluster, without the source.", 0, metavar="NODES",
                                 label="nodes of a cluster")
    injection_process: str = _traffic(
        "bernoulli: a node creates a message in each cycle with the same probability. on-off: only in bursts. --rate "
        "is the mean over bursts and pauses. Default: {}.", "bernoulli", allowed=INJECTION_PROCESSES)
    burst_on: float = _traffic("Mean length of a burst of on-off, from 1. Unit: cycles.", 0.0,
                               label="mean length of a burst", unit="cycles")
    burst_off: float = _traffic("Mean length of the pause between two bursts of on-off, from 1. Unit: cycles.", 0.0,
                                label="mean pause between bursts", unit="cycles")
    reply: int = _traffic(
        "Payload of the unicast by which each destination replies to the source, when it has received the message. "
        "The rate does not count replies. 0: no replies. Default: {}. Unit: flits.", 0, limits=(0, LONGEST),
        label="length of a reply", unit="payload flits")
    outstanding: int = _traffic(
        "With --reply: limit of the outstanding requests of a node. A request, unicast or multicast, is outstanding "
        "until its source has received all replies. Further requests wait at the host. 0: no limit. Default: {}.", 0,
        limits=(0, MOST_OUTSTANDING), label="limit of the outstanding requests of a node")

    def __post_init__(self) -> None:
        require_types(self)
        require_allowed(self)
        normal = self.destinations_distribution == "normal"
        if not 0 <= self.destinations_deviation <= MOST_DEVIATION * normal:
            allowed = f"0 to {MOST_DEVIATION}" if normal else "0, or with destinations_distribution normal"
            raise WormcastError(f"destinations_deviation: {number_text(self.destinations_deviation)} is not valid with "
                                f"{self._with('destinations_distribution')}. Allowed: {allowed}.")
        if (self.destinations_counts is not None) != (self.destinations_distribution == "given"):
            raise WormcastError("destinations_counts is missing. Needed with destinations_distribution given: numbers "
                                "of destinations and their weights, for example 1:0.5,8:0.3."
                                if self.destinations_counts is None else
                                f"destinations_counts: {self.destinations_counts!r} is not valid with "
                                f"{self._with('destinations_distribution')}. Allowed: with destinations_distribution "
                                "given.")
        self.weights  # noqa: B018
        self._check_pattern()
        self._check_sets()
        self._check_bursts()
        if self.outstanding and not self.reply:
            raise WormcastError(f"outstanding: {self.outstanding} is not valid with {self._with('reply')}: no request "
                                "waits for replies. Allowed: 0; with reply 1 or more, any limit.")
        if not self.rate >= 0:  # nan, too
            raise WormcastError(f"rate: {number_text(self.rate)} is not valid. Allowed: 0 flits per node and cycle, or "
                                "more.")
        if self.rate > self.highest_rate:
            when = "every cycle" if self.injection_process == "bernoulli" else "every cycle of a burst"
            raise WormcastError(f"rate: {number_text(self.rate)} is not valid. Allowed: up to {self.highest_rate:g} "
                                f"flits per node and cycle, a message in {when}; less if nodes cannot consume them.")

    def _with(self, name: str) -> str:
        """Return the name and the value of an option for an error message."""
        return f"{name} {given_text(self, name)}"

    def _check_pattern(self) -> None:
        hot = self.pattern == "hot-spot"
        if (self.hot_spots is not None) != hot:
            raise WormcastError("hot_spots is missing. Needed with pattern hot-spot: hot_spots and hot_spot_share."
                                if hot else
                                f"hot_spots: {self.hot_spots!r} is not valid with {self._with('pattern')}. Allowed: "
                                "with pattern hot-spot and hot_spot_share.")
        if hot and not self.hot_spot_share:
            raise WormcastError("pattern: hot-spot is not valid without hot_spot_share. Needed: hot_spot_share above "
                                "0, up to 1.")
        if not (0 < self.hot_spot_share <= 1 if hot else self.hot_spot_share == 0):
            allowed = "above 0, up to 1" if hot else "with pattern hot-spot"
            raise WormcastError(f"hot_spot_share: {given_text(self, 'hot_spot_share')} is not valid with "
                                f"{self._with('pattern')}. Allowed: {allowed}.")
        if self.pattern in PERMUTATIONS and self.multicast_fraction == 1:
            raise WormcastError(f"pattern: {self.pattern} is not valid with {self._with('multicast_fraction')}: it is "
                                "for unicasts, and there are none. Allowed: uniform, or with multicast_fraction below "
                                "1.")

    def _check_sets(self) -> None:
        name, cluster = self.multicast_sets, self.multicast_sets == "cluster"
        if cluster and not self.cluster_size:
            raise WormcastError("multicast_sets: cluster is not valid without cluster_size. Needed: cluster_size 1 or "
                                "more, the number of nodes without the source.")
        if not (self.cluster_size >= 1 if cluster else self.cluster_size == 0):
            allowed = ("1 or more, as far as the network has other nodes" if cluster else
                       "0, or with multicast_sets cluster")
            raise WormcastError(f"cluster_size: {self.cluster_size} is not valid with {self._with('multicast_sets')}. "
                                f"Allowed: {allowed}.")
        if name != "any" and not self.multicast_fraction:
            raise WormcastError(f"multicast_sets: {name} is not valid with {self._with('multicast_fraction')}: it is "
                                "for multicasts, and there are none. Allowed: any, or with multicast_fraction above 0.")
        if name != "any" and self.pattern == "hot-spot":
            raise WormcastError(f"multicast_sets: {name} is not valid with pattern hot-spot, which also chooses the "
                                "destinations of multicasts. Allowed: any, or with another pattern.")

    def _check_bursts(self) -> None:
        for name, value in (("burst_on", self.burst_on), ("burst_off", self.burst_off)):
            if self.injection_process == "on-off" and not value:
                raise WormcastError(f"injection_process: on-off is not valid without {name}. Needed: burst_on and "
                                    f"burst_off, each 1 to {MOST_BURST:g} cycles.")
            if not (1 <= value <= MOST_BURST if self.injection_process == "on-off" else value == 0):
                allowed = f"1 to {MOST_BURST:g}" if self.injection_process == "on-off" else (
                    "with injection_process on-off")
                raise WormcastError(f"{name}: {number_text(value)} is not valid with "
                                    f"{self._with('injection_process')}. Allowed: {allowed}.")

    @functools.cached_property
    def weights(self) -> dict[int, float]:
        """Weight of each number of destinations in ``destinations_counts``."""
        found: dict[int, float] = {}
        for pair in self.destinations_counts.split(",") if self.destinations_counts is not None else ():
            try:
                count, weight = int(pair.partition(":")[0]), float(pair.partition(":")[2])
            except ValueError:
                count, weight = 0, 0.0
            if count < 1 or not 0 < weight <= MOST_WEIGHT:
                raise WormcastError(f"destinations_counts: {pair!r} is not valid. Allowed: COUNT:WEIGHT, with a count "
                                    f"from 1 and a weight above 0 up to {MOST_WEIGHT:g}.")
            if count in found:
                raise WormcastError(f"destinations_counts: {self.destinations_counts!r} is not valid: the count "
                                    f"{count} occurs twice. Allowed: each count once.")
            found[count] = weight
        return found

    @property
    def mean_length(self) -> float:
        """Mean payload flits of a message."""
        return self.multicast_fraction * self.length + (1 - self.multicast_fraction) * self.unicast_length

    @property
    def chance(self) -> float:
        """Probability that a node creates a message in a cycle; with bursts, the mean over bursts and pauses."""
        return self.rate / self.mean_length

    @property
    def share_on(self) -> float:
        """Share of cycles in which a node is in a burst; 1 without bursts."""
        return 1.0 if self.injection_process == "bernoulli" else self.burst_on / (self.burst_on + self.burst_off)

    @property
    def highest_rate(self) -> float:
        """Highest rate that a node can create: a message in every cycle, or in every cycle of a burst."""
        return self.mean_length * self.share_on

    def candidates(self, topology: Topology) -> CandidateNodes | None:
        """Return the nodes among which the destinations of each source's multicasts are chosen; None: all nodes."""
        if self.multicast_sets == "any" or not self.multicast_fraction:
            return None
        return candidates_of(self.multicast_sets, self.cluster_size, topology)

    def counts_on(self, topology: Topology) -> Reals:
        """Return the probabilities of the numbers of destinations of a multicast (`counts`) in a network."""
        found = self.candidates(topology)
        return self.counts(topology.nodes if found is None else found.size + 1)

    def counts(self, nodes: int) -> Reals:
        """Return the probabilities that a multicast has 1, 2, 3 and so on up to ``nodes`` - 1 destinations.

        ``nodes``: number of nodes of the network; with ``multicast_sets``, number of nodes of a set, with the source.

        Raises
        ------
        WormcastError
            The mean, or a given number, is not possible with this number of nodes; or a uniform distribution cannot
            have this mean.
        """
        most, mean = nodes - 1, self.destinations_mean
        where = (f"a cluster of {most} nodes beside the source" if self.multicast_sets == "cluster" else
                 f"a {'network' if self.multicast_sets == 'any' else self.multicast_sets} of {nodes} nodes")
        values = np.arange(1, most + 1)
        if self.destinations_distribution == "given":
            if max(self.weights) > most:
                raise WormcastError(f"destinations_counts: the count {max(self.weights)} is not valid in {where}. "
                                    f"Allowed: {span_text(1, most)}.")
            return np.array([self.weights.get(int(value), 0.0) for value in values]) / math.fsum(self.weights.values())
        if self.destinations_distribution == "all":
            return np.maximum(0, 1 - np.abs(values - most))
        uniform = self.destinations_distribution == "uniform"
        upper = (most + 1) / 2 if uniform else most
        if not 1 <= mean <= upper or (uniform and 2 * mean != int(2 * mean)):
            raise WormcastError(f"destinations_mean: {given_text(self, 'destinations_mean')} is not valid with "
                                f"{self._with('destinations_distribution')} in {where}. "
                                + allowed_text(self, "destinations_mean", "multiples of 0.5 from " * (
                                    uniform and upper > 1) + span_text(1, upper)))
        if self.destinations_distribution == "fixed" or (
                self.destinations_distribution == "normal" and not self.destinations_deviation):
            return np.maximum(0, 1 - np.abs(values - mean))
        if uniform:
            return (values <= 2 * mean - 1) / (2 * mean - 1)
        edges = [-math.inf, *(values[:-1] + 0.5), math.inf]
        below = np.array([math.erf((edge - mean) / (self.destinations_deviation * math.sqrt(2))) for edge in edges])
        return np.diff(below) / 2

    def most_destinations(self, topology: Topology) -> int:
        """Return the largest number of destinations of a message."""
        return int(np.flatnonzero(self.counts_on(topology))[-1]) + 1 if self.multicast_fraction else 1

    def hot_nodes(self, topology: Topology) -> list[int]:
        """Return the ids of the hot spots; an empty list with patterns other than ``hot-spot``.

        Raises
        ------
        WormcastError
            A hot spot is not a node, or is named twice.
        """
        if self.hot_spots is None:
            return []
        found = topology.node_set(self.hot_spots, "hot_spots")
        if not found or len(set(found)) < len(found):
            reason = "a node occurs twice" if found else "it has no node"
            raise WormcastError(f"hot_spots: {self.hot_spots!r} is not valid: {reason}. Allowed: one node or more, "
                                "each once.")
        return found

    def consumption(self, topology: Topology) -> Reals:
        """Return the mean payload flits to deliver at each node per cycle, [nodes]."""
        nodes = topology.nodes
        unicasts = self.chance * (1 - self.multicast_fraction) * self.unicast_length
        multicasts = self.chance * self.multicast_fraction * self.length
        if self.pattern in PERMUTATIONS:
            to = partners(self.pattern, topology)
            once = np.bincount(to[to != np.arange(nodes)], minlength=nodes).astype(float)
        else:
            once = self._come_to(topology, np.eye(1, nodes - 1)[0])  # to one node
        replies = self._replies(topology)
        if not self.multicast_fraction:
            return unicasts * once + replies
        counts, found = self.counts_on(topology), self.candidates(topology)
        reached = (self._come_to(topology, counts) if found is None else
                   float(counts @ np.arange(1, len(counts) + 1)) * found.reached())
        return multicasts * reached + unicasts * once + replies

    def _replies(self, topology: Topology) -> Reals:
        """Return the mean payload flits of replies that each node consumes per cycle, [nodes]."""
        nodes = topology.nodes
        if not self.reply:
            return np.zeros(nodes)
        asked = np.full(nodes, 1 - self.multicast_fraction)  # mean number of replies to a message of each node
        if self.pattern in PERMUTATIONS:
            asked[partners(self.pattern, topology) == np.arange(nodes)] = 0
        if self.multicast_fraction:
            counts = self.counts_on(topology)
            asked += self.multicast_fraction * float(counts @ np.arange(1, len(counts) + 1))
        return self.chance * self.reply * asked

    def _come_to(self, topology: Topology, counts: Reals) -> Reals:
        """Return the mean number of messages that reach each node when every node sends one, [nodes].

        ``counts``: probability of each number of destinations, from 1 on.
        """
        nodes, hot = topology.nodes, self.hot_nodes(topology)
        mean = float((counts * np.arange(1, nodes)).sum())
        if not hot:
            return np.full(nodes, mean)
        here = np.zeros(nodes, bool)
        here[hot] = True
        result = np.zeros(nodes)
        for sources, own in ((nodes - len(hot), 0), (len(hot), 1)):  # the senders: other nodes, then hot spots
            to_hot = float((counts * expected_hot_spots(nodes - 1, len(hot) - own, self.hot_spot_share)[1:]).sum())
            # by symmetry, all hot spots receive the same mean, and all other nodes receive the same mean
            result[here] += sources * to_hot / len(hot)
            result[~here] += sources * (mean - to_hot) / max(1, nodes - len(hot))
        return result

    def nominal(self, topology: Topology) -> float:
        """Return the payload flits that are created per node and cycle in the long run, a multicast counted once.

        The result is the rate, less the unicasts of the nodes that a permutation maps to themselves, plus the replies.
        """
        replies = float(self._replies(topology).mean())
        if self.pattern not in PERMUTATIONS:
            return self.rate + replies
        silent = float((partners(self.pattern, topology) == np.arange(topology.nodes)).mean())
        return self.rate - self.chance * (1 - self.multicast_fraction) * self.unicast_length * silent + replies

    def effective(self, topology: Topology) -> float:
        """Return the payload flits to deliver per node and cycle: length times destinations of each message."""
        return float(self.consumption(topology).mean())

    def fits(self, topology: Topology, links: npt.NDArray[np.integer]) -> bool:
        """Return whether nodes with these numbers of consumption links, [nodes], can sustain the traffic."""
        return bool((self.consumption(topology) <= links).all())

    def check(self, topology: Topology, links: npt.NDArray[np.integer]) -> None:
        """Refuse a rate that the nodes' consumption links cannot sustain; see `fits`."""
        wanted = self.consumption(topology)
        busiest = int((wanted - links).argmax())
        there = int(links[busiest])
        if not self.fits(topology, links):
            uniform = self.pattern == "uniform" and self.multicast_sets == "any" and (links == there).all()
            where = "per node and cycle" if uniform else f"per cycle at node {topology.node_name(busiest)}"
            most = self.rate * float((links / wanted)[wanted > 0].min())
            unit = 10.0 ** (math.floor(math.log10(most)) - 3)
            raise WormcastError(f"rate: {number_text(self.rate)} is not valid: it creates {wanted[busiest]:g} flits to "
                                f"consume {where}, and the node can consume {there}. Allowed: rates up to "
                                f"{math.floor(most / unit) * unit:g}.")

    @property
    def words(self) -> str:
        """The traffic in words: rate, lengths, destinations, and the pattern if it is not uniform."""
        share = "multicasts" if self.multicast_fraction == 1 else f"{self.multicast_fraction:.0%} multicasts"
        text = f"{self.rate:g} flits created per node and cycle"
        if self.multicast_fraction:
            to = (f"{self.destinations_counts} nodes" if self.destinations_counts is not None
                  else f"{self.destinations_mean:g} node{'' if self.destinations_mean == 1 else 's'}")
            text += f", {share} of {count(self.length, 'flit')} to {to}"
        if self.multicast_fraction < 1:
            text += f", unicasts of {count(self.unicast_length, 'flit')}"
        return text + (f", {self.pattern}" if self.pattern != "uniform" else "")

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters as plain data for JSON."""
        return dataclasses.asdict(self)
