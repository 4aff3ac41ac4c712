"""Identification of the copies of a forwarded packet, all of which have the same payload."""

from collections.abc import Sequence

import numpy as np

from ..host import Host, children_at

__all__ = ["by_header", "child_of"]


def by_header(host: Host, root: int, flits: Sequence[int]) -> int | None:
    """Return the worm of a message whose last header flits are ``flits``, or None.

    Parameters
    ----------
    root : int
        First worm of the message.
    flits : sequence of int
        Data of the header flits that the worm still has. Switches remove header flits, the first one first.
    """
    parts = [[flit >> 64 * part & (1 << 64) - 1 for part in range(host.header.shape[1])] for flit in flits]
    given = np.array(parts, host.header.dtype)
    for worm in range(root, int(host.worms["posting"][root]) + 1):
        end = int(host.worms["header_at"][worm] + host.worms["own_headers"][worm])
        if len(flits) <= host.worms["own_headers"][worm] and np.array_equal(host.header[end - len(flits):end], given):
            return worm
    return None


def child_of(host: Host, node: int, root: int, at: int, payload: bool) -> int | None:
    """Return the worm by which a node's interface is forwarding a message, or None.

    Parameters
    ----------
    node, root : int
        As for `children_at`.
    at : int
        Position, in the row of the child table, of the next header flit to be sent.
    payload : bool
        True: the copy's whole header, which ends before ``at``, has been sent, and the copy's payload has not.
    """
    end = 0
    for child in children_at(host, node, root):
        start, end = end, end + int(host.worms["own_headers"][child])
        if start <= at < end or (payload and at == end):
            return child
    return None
