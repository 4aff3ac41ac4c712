"""The load at which a network saturates, by bisection."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology

from ...build.configuration import Configuration
from ...build.traffic import Traffic
from .experiment import CYCLES, PRECISION, consumption_links, load_until_interval
from .result import Load

__all__ = ["Saturation", "find_saturation", "highest_rate"]

#: Of the highest rate that nodes can consume: rates are no finer.
FINEST = 1e-3


@dataclass(frozen=True)
class Saturation:
    """Where a network saturates, as far as it is known: between the rates of two load experiments.

    Parameters
    ----------
    probes : tuple of Load
        In the order in which they were run.
    highest : float
        The highest rate that nodes can consume.
    """

    probes: tuple[Load, ...]
    highest: float

    @property
    def below(self) -> Load | None:
        """The highest load below all that saturate; None where even the lowest one does."""
        above = self.above
        known = [one for one in self.probes if not one.saturated and (above is None or _rate(one) < _rate(above))]
        return max(known, key=_rate, default=None)

    @property
    def above(self) -> Load | None:
        """The lowest load that saturates; None where none does."""
        return min((one for one in self.probes if one.saturated), key=_rate, default=None)

    @property
    def deadlock(self) -> Load | None:
        """The load that ended in a deadlock, which ends the search."""
        return next((one for one in self.probes if one.deadlock), None)

    def rates(self) -> tuple[float, float]:
        """Two rates between which it saturates; both are the highest one where it does not."""
        low = 0.0 if self.below is None else _rate(self.below)
        return (low, self.highest) if self.above is None else (low, _rate(self.above))

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {
            "saturation": None if self.above is None else {
                what: {"low": None if self.below is None else low, "high": high}
                for what, low, high in (
                    ("rate", *self.rates()),
                    *((word, *(None if one is None else one.to_dict()[word] for one in (self.below, self.above)))
                      for word in ("effective", "delivered_per_node")))},
            "highest_rate": self.highest,
            "probes": [{"rate": _rate(one), **{word: told[word] for word in (
                "effective", "delivered_per_node", "delivered_per_node_half_width", "latency", "saturated", "precise",
                "cycles", "deadlock")}} for one in self.probes for told in [one.to_dict()]],
        }


def _rate(one: Load) -> float:
    assert isinstance(one.traffic, Traffic)
    return one.traffic.rate


def highest_rate(topology: Topology, configuration: Configuration, traffic: Traffic) -> float:
    """Give the highest rate that the nodes' consumption links can take, or at which a node creates all it can."""
    wanted = dataclasses.replace(traffic, rate=FINEST).consumption(topology) / FINEST
    links = consumption_links(topology, configuration)
    return float(min((links[wanted > 0] / wanted[wanted > 0]).min(initial=np.inf), traffic.mean_length))


def find_saturation(
    topology: Topology,
    scheme: Scheme,
    traffic: Traffic,
    *,
    configuration: Configuration,
    cycles: int = CYCLES,
    warmup: int | None = None,
    seeds: Sequence[int] | None = None,
    precision: float = PRECISION,
) -> Iterator[Saturation]:
    """Halve the rates between which a network saturates, until they are so near that the mean is precise.

    Each probe is a `load_until_interval`. The search ends when half the distance of the two rates is within
    ``precision`` of their mean, when the highest rate does not saturate, in a deadlock, or where the rates are a
    thousandth of the highest one.

    Yields
    ------
    Saturation
        What is known after each probe; the last one is the result.

    Raises
    ------
    WormcastError
        Bad input, as `load`.
    """
    highest = highest_rate(topology, configuration, traffic)
    known = Saturation((), highest)
    following: float | None = highest / 2
    while following is not None:
        probe = load_until_interval(
            topology, scheme, dataclasses.replace(traffic, rate=float(f"{following:.6g}")), configuration=configuration,
            cycles=cycles, warmup=warmup, seeds=seeds, precision=precision)
        known = Saturation((*known.probes, probe), highest)
        yield known
        following = _next(known, precision)


def _next(known: Saturation, precision: float) -> float | None:
    """The rate to probe next; None at the end."""
    low, high = known.rates()
    if known.deadlock or low >= 0.999 * known.highest:
        return None
    if known.above is None:
        return min(known.highest, 1.5 * low) * (1 - 1e-5)  # rounding must not make it more than nodes can consume
    if high - low <= max(precision * (high + low), FINEST * known.highest):
        return None
    return (low + high) / 2
