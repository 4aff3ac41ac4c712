"""Worms that wait for receipts, listed by receipt."""

import numpy as np

from wormcast.algorithms.compiled import compiled

__all__ = ["RELEASE", "link"]

#: A worm that waits for the receipt of a delivery, and the next one that does, or -1. ``freed`` is a list of its own:
#: the worms that have been released, as many as `Host.counters` say, in the order in which they were.
RELEASE = np.dtype([(field, np.int32) for field in ("worm", "delivery", "next", "freed")])


@compiled
def link(deliveries, releases, first):
    """Put the releases from this row on behind those that their deliveries have."""
    for at in range(first, len(releases)):
        delivery = deliveries[releases[at].delivery]
        releases[at].next = -1
        if delivery.release < 0:
            delivery.release = at
        else:
            releases[delivery.last_release].next = at
        delivery.last_release = at
