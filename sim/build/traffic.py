"""Random traffic: its parameters, and what follows from them."""

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.typecheck import require_fields

from ..common.schema import option, require_allowed
from .patterns import PATTERNS, PERMUTATIONS, expected_hot_spots, partners

__all__ = ["DISTRIBUTIONS", "LONGEST", "Traffic"]

DISTRIBUTIONS = ("fixed", "uniform", "normal", "given", "all")

#: Largest standard deviation of a normal number of destinations, and largest weight of a given one.
MOST_DEVIATION, MOST_WEIGHT = 10**6, 1e12

#: Longest message, in flits.
LONGEST = 1 << 16

Reals = npt.NDArray[np.float64]

_traffic = functools.partial(option, panel="Traffic")


@dataclass(frozen=True)
class Traffic:
    """A mixture of multicasts and unicasts, created by every node independently.

    A node creates a message in each cycle with the same chance (so the gaps between them are geometric), chosen for the
    rate. Its destinations are distinct, and never its source.

    Each field is declared with its meaning and the values that it may have, and nowhere else, as those of
    `Configuration`.

    Raises
    ------
    WormcastError
        A parameter outside its range, or without the one that it belongs to; a rate above one message per node and
        cycle.
    """

    rate: float = _traffic("Payload flits that a node creates per cycle, a multicast counted once.",
                           label="load", unit="payload flits to deliver per node and cycle")
    length: int = _traffic("Payload flits of a multicast, {} by default.", 20, limits=(1, LONGEST),
                           label="length of a multicast", unit="payload flits")
    unicast_length: int = _traffic("Payload flits of a unicast, {} by default.", 20, limits=(1, LONGEST),
                                   label="length of a unicast", unit="payload flits")
    multicast_fraction: float = _traffic("Share of multicasts among the messages, {} by default.", 1.0, limits=(0, 1),
                                         label="share of multicasts among the messages")
    destinations_mean: float = _traffic("Mean destinations of a multicast, {} by default.", 10.0,
                                        label="mean destinations of a multicast")
    destinations_distribution: str = _traffic(
        "Of their number: that mean (default); uniform from 1 to 2 x mean - 1; normal, clamped; as given; or all other "
        "nodes, which makes broadcasts.", "fixed",
        allowed=DISTRIBUTIONS)
    destinations_deviation: float = _traffic("Standard deviation of a normal one, {} by default.", 0.0,
                                             label="standard deviation of the destinations of a multicast")
    destinations_counts: str | None = _traffic(
        "Numbers of destinations that are given, with weights of any sum: 1:0.5,8:0.3,63:0.2.", None,
        metavar="COUNT:WEIGHT,...")
    pattern: str = _traffic(
        "Destinations: any nodes ({}, default); hot spots more often; or a permutation, which unicasts go by, and "
        "multicasts to any.", "uniform", allowed=PATTERNS)
    hot_spots: str | None = _traffic("Hot spots: nodes, joined by commas.", None, metavar="NODE,...")
    hot_spot_share: float = _traffic("Chance that a destination is chosen among the hot spots alone.", 0.0)

    def __post_init__(self) -> None:
        require_fields(self)
        require_allowed(self)
        most = MOST_DEVIATION if self.destinations_distribution == "normal" else 0
        if not 0 <= self.destinations_deviation <= most:
            raise WormcastError(f"destinations_deviation: {self.destinations_deviation} is given, "
                                f"allowed are 0 to {MOST_DEVIATION}, with normal alone")
        if (self.destinations_counts is not None) != (self.destinations_distribution == "given"):
            raise WormcastError(f"destinations_counts: {self.destinations_counts!r} is given with the distribution "
                                f"{self.destinations_distribution}, counts belong to given, and given needs them")
        self.weights  # noqa: B018
        self._check_pattern()
        if not 0 <= self.rate <= self.mean_length:
            raise WormcastError(f"rate: {self.rate} flits per node and cycle is given, allowed is 0 to "
                                f"{self.mean_length:g}, a message in every cycle")

    def _check_pattern(self) -> None:
        hot = self.pattern == "hot-spot"
        if (self.hot_spots is not None) != hot:
            raise WormcastError(f"hot_spots: {self.hot_spots!r} is given with the pattern {self.pattern}, hot spots "
                                "belong to hot-spot, and hot-spot needs them")
        if not (0 < self.hot_spot_share <= 1 if hot else self.hot_spot_share == 0):
            raise WormcastError(f"hot_spot_share: {self.hot_spot_share} is given with the pattern {self.pattern}, with "
                                "hot-spot it must be above 0, up to 1, and else 0")
        if self.pattern in PERMUTATIONS and self.multicast_fraction == 1:
            raise WormcastError(f"pattern: {self.pattern} is given without unicasts, which it is for: "
                                "multicast_fraction must be below 1")

    @functools.cached_property
    def weights(self) -> dict[int, float]:
        """Weights by number of destinations, as ``destinations_counts`` gives them."""
        found: dict[int, float] = {}
        for pair in self.destinations_counts.split(",") if self.destinations_counts is not None else ():
            try:
                count, weight = int(pair.partition(":")[0]), float(pair.partition(":")[2])
            except ValueError:
                count, weight = 0, 0.0
            if count < 1 or not 0 < weight <= MOST_WEIGHT:
                raise WormcastError(f"destinations_counts: {pair!r} is given, it must be COUNT:WEIGHT, a count from 1 "
                                    f"and a weight above 0, up to {MOST_WEIGHT:g}")
            if count in found:
                raise WormcastError(f"destinations_counts: {count} is given twice, each count must be there once")
            found[count] = weight
        return found

    @property
    def mean_length(self) -> float:
        """Mean payload flits of a message."""
        return self.multicast_fraction * self.length + (1 - self.multicast_fraction) * self.unicast_length

    @property
    def chance(self) -> float:
        """Chance that a node creates a message in a cycle."""
        return self.rate / self.mean_length

    def counts(self, nodes: int) -> Reals:
        """Distribution of a multicast's number of destinations: chance of 1, 2, ... to nodes - 1.

        Raises
        ------
        WormcastError
            The mean, or a number that is given, cannot be had with so many nodes.
        """
        most, mean = nodes - 1, self.destinations_mean
        values = np.arange(1, most + 1)
        if self.destinations_distribution == "given":
            if max(self.weights) > most:
                raise WormcastError(f"destinations_counts: {max(self.weights)} destinations are given, in a network of "
                                    f"{nodes} nodes they must be 1 to {most}")
            return np.array([self.weights.get(int(value), 0.0) for value in values]) / math.fsum(self.weights.values())
        if self.destinations_distribution == "all":
            return np.maximum(0, 1 - np.abs(values - most))
        if not 1 <= mean <= most or (self.destinations_distribution == "uniform" and 2 * mean - 1 > most):
            upper = (most + 1) / 2 if self.destinations_distribution == "uniform" else most
            raise WormcastError(f"destinations_mean: {mean:g} is given, {self.destinations_distribution} in a network "
                                f"of {nodes} nodes it must be 1 to {upper:g}")
        if self.destinations_distribution == "fixed" or (
                self.destinations_distribution == "normal" and not self.destinations_deviation):
            return np.maximum(0, 1 - np.abs(values - mean))
        if self.destinations_distribution == "uniform":
            if 2 * mean != int(2 * mean):
                raise WormcastError(f"destinations_mean: {mean:g} is given, uniform it must be a multiple of 0.5")
            return (values <= 2 * mean - 1) / (2 * mean - 1)
        edges = [-math.inf, *(values[:-1] + 0.5), math.inf]
        below = np.array([math.erf((edge - mean) / (self.destinations_deviation * math.sqrt(2))) for edge in edges])
        return np.diff(below) / 2

    def most_destinations(self, topology: Topology) -> int:
        """Most destinations of a message."""
        return int(np.flatnonzero(self.counts(topology.nodes))[-1]) + 1 if self.multicast_fraction else 1

    def hot_nodes(self, topology: Topology) -> list[int]:
        """Ids of the hot spots; none without.

        Raises
        ------
        WormcastError
            One of them is no node, or is there twice.
        """
        if self.hot_spots is None:
            return []
        try:
            found = topology.node_set(self.hot_spots)
        except WormcastError as error:
            raise WormcastError(f"hot_spots: {error}") from error
        if not found or len(set(found)) < len(found):
            raise WormcastError(f"hot_spots: {self.hot_spots!r} is given, it must be a node or more, each once")
        return found

    def consumption(self, topology: Topology) -> Reals:
        """Payload flits that are to be consumed at each node per cycle, on average; [nodes]."""
        nodes = topology.nodes
        unicasts = self.chance * (1 - self.multicast_fraction) * self.unicast_length
        multicasts = self.chance * self.multicast_fraction * self.length
        if self.pattern in PERMUTATIONS:
            to = partners(self.pattern, topology)
            once = np.bincount(to[to != np.arange(nodes)], minlength=nodes).astype(float)
        else:
            once = self._come_to(topology, np.eye(1, nodes - 1)[0])  # to one node
        if not self.multicast_fraction:
            return unicasts * once
        return multicasts * self._come_to(topology, self.counts(nodes)) + unicasts * once

    def _come_to(self, topology: Topology, counts: Reals) -> Reals:
        """Mean messages that come to each node when every node sends one, to so many nodes; [nodes]."""
        nodes, hot = topology.nodes, self.hot_nodes(topology)
        mean = float((counts * np.arange(1, nodes)).sum())
        if not hot:
            return np.full(nodes, mean)
        here = np.zeros(nodes, bool)
        here[hot] = True
        result = np.zeros(nodes)
        for sources, own in ((nodes - len(hot), 0), (len(hot), 1)):  # which are no hot spots, and which are
            to_hot = float((counts * expected_hot_spots(nodes - 1, len(hot) - own, self.hot_spot_share)[1:]).sum())
            # a source has all hot spots but itself, and the other nodes but itself, to share out
            result[here] += sources * to_hot / len(hot)
            result[~here] += sources * (mean - to_hot) / max(1, nodes - len(hot))
        return result

    def effective(self, topology: Topology) -> float:
        """Payload flits per node and cycle that are to be consumed: length times destinations of each message."""
        return float(self.consumption(topology).mean())

    def fits(self, topology: Topology, links: npt.NDArray[np.integer]) -> bool:
        """Whether nodes with so many consumption links, [nodes], can take it for long."""
        return bool((self.consumption(topology) <= links).all())

    def check(self, topology: Topology, links: npt.NDArray[np.integer]) -> None:
        """Refuse what does not fit (see `fits`) with a WormcastError."""
        wanted = self.consumption(topology)
        busiest = int((wanted - links).argmax())
        there = int(links[busiest])
        if not self.fits(topology, links):
            uniform = self.pattern == "uniform" and (links == there).all()
            where = "per node and cycle" if uniform else f"per cycle at node {topology.node_name(busiest)}"
            raise WormcastError(f"rate: {self.rate:g} creates {wanted[busiest]:g} flits to consume {where}, "
                                f"{'a' if uniform else 'that'} node's {there} consumption "
                                f"link{'' if there == 1 else 's'} can take {there}")

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return dataclasses.asdict(self)
