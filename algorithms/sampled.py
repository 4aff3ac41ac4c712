"""What a scheme's plans cost on average: over random multicasts."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import WormcastError
from .schemes import Scheme
from .topologies import Topology

__all__ = ["MOST_SAMPLES", "Sampled", "sample_plans"]

MOST_SAMPLES = 1_000_000

#: Multicasts that are planned together.
TOGETHER = 1000


@dataclass(frozen=True)
class Sampled:
    """Means over random multicasts to the same number of destinations, with half of their 95 % intervals.

    Parameters
    ----------
    copies : (float, float)
        Worms.
    hops : (float, float)
        Sum of the lengths of the worms' ways.
    longest : (float, float)
        Hops of the longest way.
    first_links : (float, float)
        Links by which the source's worms leave, each once.
    sharing : (float, float)
        Share of the multicasts of which two worms leave their sender by the same link.
    """

    copies: tuple[float, float]
    hops: tuple[float, float]
    longest: tuple[float, float]
    first_links: tuple[float, float]
    sharing: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Give them as plain data for JSON."""
        return {name: {"mean": mean, "half_width": half} for name, (mean, half) in vars(self).items()}


def sample_plans(topology: Topology, scheme: Scheme, destinations: int, samples: int, *, seed: int = 0,
                 source: int | None = None) -> Sampled:
    """Plan random multicasts: any set of so many destinations with the same chance.

    Parameters
    ----------
    scheme : Scheme
        With the relation that it has on the topology (`Scheme.on`).
    destinations : int
        Of each multicast.
    samples : int
        Multicasts, 2 to a million.
    seed : int
        The same one draws the same multicasts for every scheme.
    source : int or None
        Node that sends all of them; None: any, with the same chance.

    Raises
    ------
    WormcastError
        There are not so many other nodes, or a number is outside its range; the scheme refuses the topology.
    """
    if not 1 <= destinations < topology.nodes:
        raise WormcastError(f"random: {destinations} destinations are given, on {topology.name} they must be 1 to "
                            f"{topology.nodes - 1}")
    if not 2 <= samples <= MOST_SAMPLES:
        raise WormcastError(f"samples: {samples} is given, allowed are 2 to {MOST_SAMPLES}")
    if seed < 0:
        raise WormcastError(f"seed: {seed} is given, it must be 0 or more")
    random = np.random.default_rng(seed)
    rows = []
    for done in range(0, samples, TOGETHER):
        drawn = _drawn(random, topology.nodes, min(TOGETHER, samples - done), destinations, source)
        rows.append(_facts(topology, scheme, *drawn))
    facts = np.concatenate(rows, axis=1)
    halves = 1.96 * facts.std(axis=1, ddof=1) / math.sqrt(samples)
    return Sampled(*((float(mean), float(half)) for mean, half in zip(facts.mean(axis=1), halves, strict=True)))


def _drawn(random: np.random.Generator, nodes: int, count: int, destinations: int,
           source: int | None) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Sources [count] and destinations [count, destinations]."""
    keys = random.random((count, nodes))
    if source is not None:
        keys[:, source] = -1.0
    order = np.argsort(keys, axis=1).astype(np.int32)
    return order[:, 0], order[:, 1:1 + destinations]


def _facts(topology: Topology, scheme: Scheme, sources: npt.NDArray[np.int32],
           destinations: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The words of `Sampled` of each multicast; [words, multicasts]."""
    count, each = destinations.shape
    worms = scheme.batch(topology, sources, np.arange(count + 1) * each, destinations.ravel())
    routes = scheme.relation_on(topology).on(topology)
    message = np.repeat(np.arange(count), np.diff(worms.message_offsets))
    hops, first = routes.hops(worms), worms.message_offsets[:-1]
    to = worms.destinations[worms.destination_offsets[:-1]]
    ports = routes.options[0, topology.injections[worms.source, 0], to, 0] // len(routes.classes)
    ways = np.unique(np.stack([message, worms.source, ports]), axis=1)  # message, sender and link, each once
    left = np.bincount(ways[0], minlength=count)
    own = np.bincount(ways[0][ways[1] == sources[ways[0]]], minlength=count)
    copies = np.diff(worms.message_offsets)
    return np.stack([copies, np.add.reduceat(hops, first), np.maximum.reduceat(hops, first), own,
                     left < copies]).astype(float)
