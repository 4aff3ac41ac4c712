"""Messages that wait for receipts of other messages."""

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError

from .layout import Host

__all__ = ["wait_for"]

Integers = npt.NDArray[np.int64]


def wait_for(host: Host, worms: Integers, messages: Integers, others: Integers) -> Host:
    """Let messages wait for their sources' receipts of others, besides what they wait for already.

    For a receipt that is noted nobody waits.

    Parameters
    ----------
    worms : int64 array [messages]
        How many worms of the host's each message has, in their order.
    messages, others : int64 arrays of the same length
        A message of which no worm has been posted, and one whose receipt at its source it waits for; no pair twice.

    Raises
    ------
    WormcastError
        A source is no destination of what it is to wait for.
    """
    starts, nodes = np.cumsum(worms) - worms, len(host.nodes)
    message_of = np.repeat(np.arange(len(worms)), worms)
    keys = message_of[host.deliveries["worm"]] * nodes + host.deliveries["node"]
    wanted = others * nodes + host.worms["source"][starts[messages]]
    order = np.argsort(keys)
    receipt = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    if (keys[receipt] != wanted).any():
        raise WormcastError("after: a message waits for one of which its source is no destination, it must be one of "
                            "its destinations")
    counts = worms[messages]
    first = np.repeat(starts[messages] - np.cumsum(counts) + counts, counts)
    return _wait(host, first + np.arange(counts.sum()), np.repeat(receipt, counts))


def _wait(host: Host, worms: Integers, deliveries: Integers) -> Host:
    """Let worms wait for deliveries to their senders, those that are outstanding."""
    due = host.deliveries["received"][deliveries] < 0
    worms, deliveries = worms[due], deliveries[due]
    rows, of = host.worms.copy(), host.deliveries.copy()
    np.add.at(rows["waits"], worms, 1)
    by = np.concatenate([np.repeat(np.arange(len(of)), of["release_end"] - of["release"]), deliveries])
    ends = np.cumsum(np.bincount(by, minlength=len(of)))
    of["release"], of["release_end"] = np.concatenate([[0], ends[:-1]]), ends
    releases = np.concatenate([host.releases, worms])
    return host._replace(worms=rows, deliveries=of, releases=releases[np.argsort(by, kind="stable")])
