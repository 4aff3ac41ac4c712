"""Worms that wait for receipts, listed by receipt."""

from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Worms

from ..lowering.native import native
from .constants import NONE

__all__ = ["RELEASE", "awaited", "link", "receipts"]

#: Worm that waits for the receipt of a delivery. ``next``: index of the delivery's next record, or -1.
#: ``freed``: a separate list of the released worms, in the order of release; `Host.counters` has its length in `FREED`.
RELEASE = np.dtype([(field, np.int32) for field in ("worm", "delivery", "next", "freed")])


def awaited(worms: Worms, waiting: npt.NDArray[np.int64], nodes: int) -> npt.NDArray[np.int64]:
    """Return for each worm w of ``waiting`` the delivery of worm ``worms.after[w]`` at the source of w; -1 if there is
    none."""
    given = np.repeat(np.arange(len(worms)), np.diff(worms.destination_offsets)) * nodes + worms.destinations
    by_key = np.argsort(given)
    wanted = worms.after[waiting] * nodes + worms.source[waiting]
    found = by_key[np.minimum(np.searchsorted(given[by_key], wanted), len(given) - 1)]
    return np.where(given[found] == wanted, found, NONE)


@native()
def link(deliveries, releases, first):
    """Append the releases from row ``first`` on to the lists of their deliveries."""
    for at in range(first, len(releases)):
        delivery = deliveries[releases[at].delivery]
        releases[at].next = -1
        if delivery.release < 0:
            delivery.release = at
        else:
            releases[delivery.last_release].next = at
        delivery.last_release = at


def receipts(first_worms: npt.NDArray[np.int64], host: Any, waiting: npt.NDArray[np.int64],
             others: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return, for each waiting message, the delivery of its awaited message at its own source; -1 if there is none."""
    found = np.full(len(waiting), -1)
    _find_receipts(first_worms, host.worms, host.deliveries, waiting, others, found)
    return found


@native()
def _find_receipts(first_worms, worms, deliveries, waiting, others, found):
    for k in range(len(waiting)):
        source = worms[first_worms[waiting[k]]].source
        end = first_worms[others[k] + 1] if others[k] + 1 < len(first_worms) else len(worms)
        for delivery in range(worms[first_worms[others[k]]].delivery, worms[end - 1].delivery_end):
            if deliveries[delivery].node == source:
                found[k] = delivery
