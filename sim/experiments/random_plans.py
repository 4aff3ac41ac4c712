"""Plans of many random multicasts: average cost of a scheme, without simulation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError, survey

from ..build.compatibility import require_sendable
from ..build.configurations import hardware
from ..build.limits import PARTS
from ..build.traffic import Traffic
from .load import Interval, interval
from .load.source import Source

__all__ = ["random_plans"]

MOST = 1_000_000


def random_plans(topology: Topology, scheme: Scheme, law: Mapping[str, Any], multicasts: int,
                 seed: int = 0, source: int | None = None) -> dict[str, Interval]:
    """Plan random multicasts. In each part the nodes are sources in turn, or all multicasts have the same source.

    Parameters
    ----------
    law : mapping
        Distribution of the number of destinations: parameters of `Traffic` whose names begin with ``destinations``.
    multicasts : int
        Number of multicasts in all `PARTS` parts together, rounded up to a multiple of `PARTS`.
    seed : int
        Seed of the first part.
    source : int, optional
        Source of all multicasts.

    Returns
    -------
    dict of str to Interval
        By the names of `PlanStatistics`: mean and 95 % interval over the parts.

    Raises
    ------
    WormcastError
        A parameter is not valid, the scheme does not support the topology, or routers do not deliver all of its
        multicasts (`require_sendable`).
    """
    if not PARTS <= multicasts <= MOST:
        raise WormcastError(f"random: {multicasts} is not valid. Allowed: {PARTS} to {MOST} multicasts.")
    buffers = {"buffer_kind": "deep"} if scheme.needs_whole_packet else {}
    require_sendable(topology, scheme, hardware(topology, scheme, buffers))
    each = math.ceil(multicasts / PARTS)
    # each node creates a message in each cycle
    traffic = Traffic(rate=Traffic.length, **law)
    found = []
    for part in range(seed, seed + PARTS):
        created = Source(traffic, topology, part).until(math.ceil(each / topology.nodes))
        offsets = created.offsets[:each + 1]
        sources, destinations = created.source[:each], created.destinations[:offsets[-1]]
        # ``source`` replaces each drawn source. Where ``source`` is a destination, the drawn source replaces it
        if source is not None:
            own = np.repeat(sources, np.diff(offsets))
            sources, destinations = np.full_like(sources, source), np.where(destinations == source, own, destinations)
        found.append(vars(survey(topology, scheme, sources, offsets, destinations)))
    return {name: interval([one[name] for one in found]) for name in found[0]}
