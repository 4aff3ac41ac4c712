"""Plans of many random multicasts: what a scheme costs on average, without a network that is run."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError, survey

from .load import Interval, Traffic, interval

__all__ = ["SAMPLES", "random_plans"]

#: Samples that the multicasts are divided into: intervals are of their means.
SAMPLES = 8

MOST = 1_000_000


def random_plans(topology: Topology, scheme: Scheme, law: Mapping[str, Any], multicasts: int,
                 seed: int = 0, source: int | None = None) -> dict[str, Interval]:
    """Plan random multicasts, as many of each node as of any other, or all of one.

    Parameters
    ----------
    law : mapping
        How many destinations they have: parameters of `Traffic` whose names begin with ``destinations``.
    multicasts : int
        In all, of `SAMPLES` samples.
    seed : int
        Of the first sample.
    source : int, optional
        The node that sends all of them.

    Returns
    -------
    dict of str to Interval
        By the names of `Survey`: mean and 95 % interval over the samples.

    Raises
    ------
    WormcastError
        A parameter is refused, or the scheme refuses the topology.
    """
    if not SAMPLES <= multicasts <= MOST:
        raise WormcastError(f"random: {multicasts} multicasts are given, allowed are {SAMPLES} to {MOST}")
    each = math.ceil(multicasts / SAMPLES)
    cycles = each if source is not None else math.ceil(each / topology.nodes)
    # a message of every node in each cycle
    traffic = Traffic(rate=Traffic.length, **law)
    found = []
    for sample in range(seed, seed + SAMPLES):
        created = traffic.source(topology, sample).until(cycles)
        if source is not None:
            created = created.reordered(np.flatnonzero(created.source == source))
        offsets = created.offsets[:each + 1]
        found.append(vars(survey(topology, scheme, created.source[:each], offsets, created.destinations[:offsets[-1]])))
    return {name: interval([one[name] for one in found]) for name in found[0]}
