"""Random traffic: which node creates which message in which cycle."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError
from wormcast.algorithms.compiled import compiled

__all__ = ["DISTRIBUTIONS", "Created", "Source", "Traffic"]

DISTRIBUTIONS = ("fixed", "uniform", "normal")

#: Longest message, in flits.
LONGEST = 1 << 16

Integers = npt.NDArray[np.int64]

#: What a node's stream of messages is in the middle of: its random state, and the cycle of its next message.
STREAM = np.dtype([("state", np.uint64), ("next", np.int64)])


@dataclass(frozen=True)
class Traffic:
    """A mixture of multicasts and unicasts, created by every node independently.

    A node creates a message in each cycle with the same chance (so the gaps between them are geometric), chosen for the
    rate. A multicast goes to distinct nodes chosen uniformly, never to its source.

    Parameters
    ----------
    rate : float
        Payload flits that a node creates per cycle, a multicast counted once.
    length, unicast_length : int
        Payload flits of a multicast, and of a unicast.
    multicast_fraction : float
        Share of multicasts among the messages, 0 to 1.
    destinations_mean : float
        Mean number of a multicast's destinations.
    destinations_distribution : "fixed", "uniform" or "normal"
        That number itself (a mean in between is met by two); uniform from 1 to 2 x mean - 1; or normal with a standard
        deviation of ``destinations_deviation``, rounded, and clamped to 1 to N - 1.
    destinations_deviation : float

    Raises
    ------
    WormcastError
        A parameter outside its range; a rate above one message per node and cycle.
    """

    rate: float
    length: int = 20
    unicast_length: int = 20
    multicast_fraction: float = 1.0
    destinations_mean: float = 10.0
    destinations_distribution: str = "fixed"
    destinations_deviation: float = 0.0

    def __post_init__(self) -> None:
        for name, least, most in (("length", 1, LONGEST), ("unicast_length", 1, LONGEST)):
            if not least <= getattr(self, name) <= most:
                raise WormcastError(f"{name}: {getattr(self, name)} flits are given, allowed are {least} to {most}")
        if not 0 <= self.multicast_fraction <= 1:
            raise WormcastError(f"multicast_fraction: {self.multicast_fraction} is given, allowed is 0 to 1")
        if self.destinations_distribution not in DISTRIBUTIONS:
            raise WormcastError(f"destinations_distribution: {self.destinations_distribution!r} is given, "
                                f"allowed are {', '.join(DISTRIBUTIONS)}")
        if not self.destinations_deviation >= 0:
            raise WormcastError(f"destinations_deviation: {self.destinations_deviation} is given, "
                                "it must be 0 or more")
        if not 0 <= self.rate <= self.mean_length:
            raise WormcastError(f"rate: {self.rate} flits per node and cycle is given, allowed is 0 to "
                                f"{self.mean_length:g}, a message in every cycle")

    @property
    def mean_length(self) -> float:
        """Mean payload flits of a message."""
        return self.multicast_fraction * self.length + (1 - self.multicast_fraction) * self.unicast_length

    @property
    def chance(self) -> float:
        """Chance that a node creates a message in a cycle."""
        return self.rate / self.mean_length

    def counts(self, nodes: int) -> npt.NDArray[np.float64]:
        """Distribution of a multicast's number of destinations: chance of 1, 2, ... to nodes - 1.

        Raises
        ------
        WormcastError
            The mean cannot be had with so many nodes.
        """
        most, mean = nodes - 1, self.destinations_mean
        values = np.arange(1, most + 1)
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

    def effective(self, nodes: int) -> float:
        """Payload flits per node and cycle that are to be consumed: length times destinations of each message."""
        multicast = float((self.counts(nodes) * np.arange(1, nodes)).sum()) if self.multicast_fraction else 0.0
        return self.chance * (self.multicast_fraction * self.length * multicast
                              + (1 - self.multicast_fraction) * self.unicast_length)


class Created(NamedTuple):
    """Messages in the order of their cycles, those of a cycle by source."""

    at: Integers  # [messages]
    source: npt.NDArray[np.int32]  # [messages]
    length: Integers  # [messages], payload flits
    multicast: npt.NDArray[np.bool_]  # [messages]
    offsets: Integers  # [messages + 1]
    destinations: npt.NDArray[np.int32]

    def reordered(self, order: Integers) -> "Created":
        """Give the messages in another order: their present places."""
        counts = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(self.offsets[:-1][order] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Created(self.at[order], self.source[order], self.length[order], self.multicast[order], offsets,
                       self.destinations[places])


class Source:
    """The messages of one network, created as time goes on: the same ones, however the time is cut.

    Parameters
    ----------
    traffic : Traffic
    nodes : int
    seed : int
        Two seeds give independent traffic.
    """

    def __init__(self, traffic: Traffic, nodes: int, seed: int):
        self.traffic = traffic
        self.nodes = nodes
        counts = traffic.counts(nodes) if traffic.multicast_fraction else np.zeros(nodes - 1)
        self._below = np.cumsum(counts)
        self._streams = np.zeros(nodes, STREAM)
        self._streams["state"] = np.random.default_rng(seed).integers(0, 2**64, nodes, np.uint64)
        self._streams["next"] = -1
        _skip(self._streams, traffic.chance)

    def until(self, cycle: int) -> Created:
        """Create the messages of all cycles before this one that are not created yet."""
        traffic = self.traffic
        expected = traffic.chance * self.nodes * max(0, cycle - int(self._streams["next"].min()))
        room = int(expected + 6 * math.sqrt(expected)) + 64
        parts: list[tuple[np.ndarray, ...]] = []
        while True:
            heads = np.zeros((room, 4), np.int64)  # cycle, source, whether a multicast, destinations
            nodes = np.zeros(room * (self.nodes - 1 if len(parts) else max(1, min(self.nodes - 1, 64))), np.int32)
            messages, places = _create(self._streams, cycle, traffic.chance, traffic.multicast_fraction, self._below,
                                       heads, nodes, np.arange(self.nodes, dtype=np.int32))
            parts.append((heads[:messages], nodes[:places]))
            if not (self._streams["next"] < cycle).any():
                break
        heads, nodes = (np.concatenate(part) for part in zip(*parts, strict=True))
        multicast = heads[:, 2] != 0
        by_node = Created(
            at=heads[:, 0],
            source=heads[:, 1].astype(np.int32),
            length=np.where(multicast, traffic.length, traffic.unicast_length).astype(np.int64),
            multicast=multicast,
            offsets=np.concatenate([[0], np.cumsum(heads[:, 3])]),
            destinations=nodes,
        )
        return by_node.reordered(np.lexsort((by_node.source, by_node.at)))


@compiled
def _uniform(streams, node):
    """Draw a number from 0 to below 1 (SplitMix64)."""
    streams[node].state += np.uint64(0x9E3779B97F4A7C15)
    mixed = streams[node].state
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.float64((mixed ^ mixed >> np.uint64(31)) >> np.uint64(11)) * 2.0**-53


@compiled
def _gap(streams, node, chance):
    """Cycles up to the next message, from 1."""
    if chance >= 1.0:
        return 1
    if chance <= 0.0:
        return 1 << 60
    return 1 + int(min(np.log1p(-_uniform(streams, node)) / np.log1p(-chance), 2.0**60))


@compiled
def _skip(streams, chance):
    for node in range(len(streams)):
        streams[node].next += _gap(streams, node, chance)


@compiled
def _create(streams, cycle, chance, multicast_fraction, below, heads, nodes, shuffled):
    """Write messages node by node, as long as there is room: how many, and how many destinations.

    ``shuffled`` holds all nodes in some order, and is put back.
    """
    messages, places, others = 0, 0, len(streams) - 1
    swapped = np.empty(others, np.int32)
    for node in range(len(streams)):
        while streams[node].next < cycle:
            if messages == len(heads) or places + others > len(nodes):
                return messages, places
            multicast = _uniform(streams, node) < multicast_fraction
            count = 1
            if multicast:
                drawn = _uniform(streams, node) * below[-1]
                count = min(np.searchsorted(below, drawn, side="right") + 1, others)
            # the source to the end, then the first places at random out of the others
            shuffled[node], shuffled[others] = shuffled[others], shuffled[node]
            for k in range(count):
                other = k + int(_uniform(streams, node) * (others - k))
                swapped[k] = other
                shuffled[k], shuffled[other] = shuffled[other], shuffled[k]
                nodes[places + k] = shuffled[k]
            for k in range(count - 1, -1, -1):
                other = swapped[k]
                shuffled[k], shuffled[other] = shuffled[other], shuffled[k]
            shuffled[node], shuffled[others] = shuffled[others], shuffled[node]
            heads[messages, 0] = streams[node].next
            heads[messages, 1] = node
            heads[messages, 2] = multicast
            heads[messages, 3] = count
            messages += 1
            places += count
            streams[node].next += _gap(streams, node, chance)
    return messages, places
