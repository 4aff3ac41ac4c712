"""Worms that wait for receipts of other messages."""

import numpy as np
import numpy.typing as npt

from .layout import Host

__all__ = ["wait_for"]

Integers = npt.NDArray[np.int64]


def wait_for(host: Host, worms: Integers, deliveries: Integers) -> Host:
    """Let worms wait for receipts besides what they wait for already; for those that are noted nobody waits.

    Parameters
    ----------
    worms, deliveries : int64 arrays of the same length
        Each worm, which has not been posted, and the delivery to its sender that it waits for; no pair twice.
    """
    due = host.deliveries["received"][deliveries] < 0
    worms, deliveries = worms[due], deliveries[due]
    rows, of = host.worms.copy(), host.deliveries.copy()
    np.add.at(rows["waits"], worms, 1)
    by = np.concatenate([np.repeat(np.arange(len(of)), of["release_end"] - of["release"]), deliveries])
    ends = np.cumsum(np.bincount(by, minlength=len(of)))
    of["release"], of["release_end"] = np.concatenate([[0], ends[:-1]]), ends
    releases = np.concatenate([host.releases, worms])
    return host._replace(worms=rows, deliveries=of, releases=releases[np.argsort(by, kind="stable")])
