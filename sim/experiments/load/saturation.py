"""Search for the load at which a network saturates, by bisection."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError

from ...build.configuration import Configuration
from ...build.limits import MOST_LOAD_CYCLES
from ...build.traffic import Traffic
from .experiment import CYCLES, PRECISION, consumption_links, load_until_interval
from .result import Load

__all__ = ["Saturation", "find_saturation", "highest_rate"]

#: Resolution of rates as a share of the highest rate (`highest_rate`).
FINEST = 1e-3

#: Largest multiple of the latency at zero load.
MOST_MULTIPLE = 1e6

#: Mean number of messages of each seed in the most cycles of the experiment at zero load, if ``cycles`` are fewer.
ENOUGH = 200


@dataclass(frozen=True)
class Saturation:
    """Bounds of the load at which a network saturates: the rates of two load experiments.

    Parameters
    ----------
    probes : tuple of Load
        Load experiments in the order in which they were run.
    highest : float
        The highest rate that traffic can have (`highest_rate`).
    multiple : float, optional
        Multiple of the latency at zero load, for a second definition of saturation: the mean latency exceeds this
        multiple, or the network is saturated.
    zero_load : Load, optional
        Load experiment at a thousandth of the highest rate, which measures the latency at zero load.
    """

    probes: tuple[Load, ...]
    highest: float
    multiple: float | None = None
    zero_load: Load | None = None

    @property
    def below(self) -> Load | None:
        """Load experiment with the highest rate below all rates that saturate; None if the lowest rate saturates."""
        return self._bounds(_saturated)[0]

    @property
    def above(self) -> Load | None:
        """Load experiment with the lowest rate that saturates; None if no rate saturates."""
        return self._bounds(_saturated)[1]

    @property
    def slow_above(self) -> Load | None:
        """Load experiment with the lowest rate that is `slow`; None if no rate is slow."""
        return self._bounds(self.slow)[1]

    @property
    def limit(self) -> float | None:
        """Multiple of the latency at zero load, in cycles. None without a multiple, or if this latency is not known."""
        if self.multiple is None or self.zero_load is None:
            return None
        mean = self.zero_load.span("latency").mean
        return None if mean is None else self.multiple * mean

    def slow(self, one: Load) -> bool:
        """Return whether the mean latency of a load experiment exceeds `limit`, or the network is saturated."""
        mean, limit = one.span("latency").mean, self.limit
        return one.saturated or (mean is not None and limit is not None and mean > limit)

    def _bounds(self, over: Callable[[Load], bool]) -> tuple[Load | None, Load | None]:
        """Return the load experiments with the lowest rate that is ``over``, and with the highest rate below it."""
        above = min(filter(over, self.probes), key=_rate, default=None)
        known = [one for one in self.probes if not over(one) and (above is None or _rate(one) < _rate(above))]
        return max(known, key=_rate, default=None), above

    @property
    def deadlock(self) -> Load | None:
        """Load experiment with a deadlock, which ends the search; None if there is no deadlock."""
        return next((one for one in (*self.probes, self.zero_load) if one is not None and one.deadlock), None)

    def rates(self) -> tuple[float, float]:
        """Return two rates between which the network saturates.

        If no probe saturates, the upper rate is `highest`, the highest rate that traffic can have.
        """
        return self._rates(_saturated)

    def slow_rates(self) -> tuple[float, float]:
        """Return two rates between which probes become `slow`; if no probe is slow, the upper rate is `highest`."""
        return self._rates(self.slow)

    def _rates(self, over: Callable[[Load], bool]) -> tuple[float, float]:
        below, above = self._bounds(over)
        return 0.0 if below is None else _rate(below), self.highest if above is None else _rate(above)

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds and probes as plain data for JSON."""
        return {
            "saturation": self._between(_saturated),
            "zero_load": None if self.zero_load is None else {
                "multiple": self.multiple, "limit": self.limit,
                "latency": self.zero_load.span("latency").to_dict(), "cycles": self.zero_load.cycles,
                "measured_at_rate": _rate(self.zero_load), "saturation": self._between(self.slow)},
            "highest_rate": self.highest,
            "probes": [{"rate": _rate(one), **{word: found[word] for word in (
                "effective", "delivered_per_node", "delivered_per_node_half_width", "latency", "saturated", "precise",
                "cycles", "deadlock")}} for one in self.probes for found in [one.to_dict()]],
        }

    def _between(self, over: Callable[[Load], bool]) -> dict[str, Any] | None:
        """Return the bounds of a definition of saturation as plain data; None if no probe is ``over``."""
        below, above = (None if one is None else {"rate": _rate(one), **one.to_dict()} for one in self._bounds(over))
        return None if above is None else {
            word: {"low": None if below is None else below[word], "high": above[word]}
            for word in ("rate", "effective", "delivered_per_node")}


def _saturated(one: Load) -> bool:
    return one.saturated


def _rate(one: Load) -> float:
    assert one.rate is not None
    return one.rate


def highest_rate(topology: Topology, configuration: Configuration, traffic: Traffic) -> float:
    """Return the highest rate: limited by the nodes' consumption links, or by one message per node and cycle.

    Nodes with bursts create at most one message in each cycle of a burst.
    """
    low = min(FINEST, traffic.highest_rate)
    wanted = dataclasses.replace(traffic, rate=low).consumption(topology) / low
    links = consumption_links(topology, configuration)
    return float(min((links[wanted > 0] / wanted[wanted > 0]).min(initial=np.inf), traffic.highest_rate))


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
    multiple: float | None = None,
) -> Iterator[Saturation]:
    """Find two rates between which a network saturates, by bisection.

    Each probe is a load experiment by `load_until_interval`. The search ends if half the distance of the two rates is
    at most ``precision`` times their mean. The search also ends if the two rates differ by at most a thousandth of the
    highest rate, if the highest rate does not saturate, and after a deadlock.

    With ``multiple``, the latency at zero load is then measured, and a second bisection finds two rates between which
    probes become `Saturation.slow`. The experiment at zero load may run for more than ``cycles`` cycles: up to the
    cycles in which each seed has about 200 messages.

    Yields
    ------
    Saturation
        The bounds after each load experiment. The bounds after the last load experiment are the result of the search.
    """
    if multiple is not None and not 1 < multiple <= MOST_MULTIPLE:
        raise WormcastError(f"zero_load_multiple: {multiple:g} is not valid. Allowed: above 1, up to "
                            f"{MOST_MULTIPLE:g}.")
    highest = highest_rate(topology, configuration, traffic)

    def probe(rate: float, cycles: int) -> Load:
        return load_until_interval(
            topology, scheme, dataclasses.replace(traffic, rate=float(f"{rate:.6g}")), configuration=configuration,
            cycles=cycles, warmup=warmup, seeds=seeds, precision=precision)

    known = Saturation((), highest, multiple)
    following: float | None = highest / 2
    while following is not None:
        known = dataclasses.replace(known, probes=(*known.probes, probe(following, cycles)))
        yield known
        following = _next(known, precision, known.rates(), known.above)
    if multiple is None or known.deadlock:
        return
    rate = FINEST * highest
    enough = math.ceil(ENOUGH * traffic.mean_length / (rate * topology.nodes))
    unloaded = probe(rate, max(cycles, min(enough, MOST_LOAD_CYCLES)))
    known = dataclasses.replace(known, zero_load=unloaded)
    yield known
    if known.limit is None and not known.deadlock:
        raise WormcastError(f"zero_load_multiple: {multiple:g} is not valid: at rate {rate:.4g} no message is received "
                            f"in {unloaded.cycles} cycles. Needed: more cycles or seeds.")
    while (following := _next(known, precision, known.slow_rates(), known.slow_above)) is not None:
        known = dataclasses.replace(known, probes=(*known.probes, probe(following, cycles)))
        yield known


def _next(known: Saturation, precision: float, rates: tuple[float, float], above: Load | None) -> float | None:
    """Return the rate to probe next between two rates; None if the search has ended."""
    low, high = rates
    if known.deadlock or low >= 0.999 * known.highest:
        return None
    if above is None:
        return min(known.highest, 1.5 * low) * (1 - 1e-5)  # a rounded rate must not exceed what nodes can consume
    if high - low <= max(precision * (high + low), FINEST * known.highest):
        return None
    return (low + high) / 2
