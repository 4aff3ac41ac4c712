"""Search for the load at which a network saturates, by bisection."""

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

#: Resolution of rates as a share of the highest rate (`highest_rate`).
FINEST = 1e-3


@dataclass(frozen=True)
class Saturation:
    """Bounds of the load at which a network saturates: the rates of two load experiments.

    Parameters
    ----------
    probes : tuple of Load
        Load experiments in the order in which they were run.
    highest : float
        The highest rate that traffic can have (`highest_rate`).
    """

    probes: tuple[Load, ...]
    highest: float

    @property
    def below(self) -> Load | None:
        """Load experiment with the highest rate below all rates that saturate; None if the lowest rate saturates."""
        above = self.above
        known = [one for one in self.probes if not one.saturated and (above is None or _rate(one) < _rate(above))]
        return max(known, key=_rate, default=None)

    @property
    def above(self) -> Load | None:
        """Load experiment with the lowest rate that saturates; None if no rate saturates."""
        return min((one for one in self.probes if one.saturated), key=_rate, default=None)

    @property
    def deadlock(self) -> Load | None:
        """Load experiment with a deadlock, which ends the search; None if there is no deadlock."""
        return next((one for one in self.probes if one.deadlock), None)

    def rates(self) -> tuple[float, float]:
        """Return two rates between which the network saturates.

        If no probe saturates, the upper rate is `highest`, the highest rate that traffic can have.
        """
        low = 0.0 if self.below is None else _rate(self.below)
        return (low, self.highest) if self.above is None else (low, _rate(self.above))

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds and probes as plain data for JSON."""
        return {
            "saturation": None if self.above is None else {
                what: {"low": None if self.below is None else low, "high": high}
                for what, low, high in (
                    ("rate", *self.rates()),
                    *((word, *(None if one is None else one.to_dict()[word] for one in (self.below, self.above)))
                      for word in ("effective", "delivered_per_node")))},
            "highest_rate": self.highest,
            "probes": [{"rate": _rate(one), **{word: found[word] for word in (
                "effective", "delivered_per_node", "delivered_per_node_half_width", "latency", "saturated", "precise",
                "cycles", "deadlock")}} for one in self.probes for found in [one.to_dict()]],
        }


def _rate(one: Load) -> float:
    assert one.rate is not None
    return one.rate


def highest_rate(topology: Topology, configuration: Configuration, traffic: Traffic) -> float:
    """Return the highest rate: limited by the nodes' consumption links, or by one message per node and cycle."""
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
    """Bisect the rates between which a network saturates, until the middle of the two rates is precise.

    Each probe is a load experiment by `load_until_interval`. The search ends if half the distance of the two rates is
    at most ``precision`` times their mean. The search also ends if the two rates differ by at most a thousandth of the
    highest rate, if the highest rate does not saturate, and after a deadlock.

    Yields
    ------
    Saturation
        The bounds after each probe. The bounds after the last probe are the result of the search.
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
    """Return the rate to probe next; None if the search has ended."""
    low, high = known.rates()
    if known.deadlock or low >= 0.999 * known.highest:
        return None
    if known.above is None:
        return min(known.highest, 1.5 * low) * (1 - 1e-5)  # a rounded rate must not exceed what nodes can consume
    if high - low <= max(precision * (high + low), FINEST * known.highest):
        return None
    return (low + high) / 2
