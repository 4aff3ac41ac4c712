"""Which of the copies of a packet it is that interfaces forward: their payload says the same."""

from collections.abc import Sequence

import numpy as np

from ..host import Host, children_at

__all__ = ["by_header", "child_of"]


def by_header(host: Host, root: int, flits: Sequence[int]) -> int | None:
    """The worm of a message that has such a header, or None.

    Parameters
    ----------
    root : int
        The first worm of the message, which stands for all.
    flits : sequence of int
        Data of the header flits that are left of it: switches strip them from the front.
    """
    parts = [[flit >> 64 * part & (1 << 64) - 1 for part in range(host.header.shape[1])] for flit in flits]
    given = np.array(parts, host.header.dtype)
    for worm in range(root, int(host.worms["posting"][root]) + 1):
        end = int(host.worms["header_at"][worm] + host.worms["own_headers"][worm])
        if len(flits) <= host.worms["own_headers"][worm] and np.array_equal(host.header[end - len(flits):end], given):
            return worm
    return None


def child_of(host: Host, node: int, root: int, at: int, payload: bool) -> int | None:
    """The worm by which a node's interface sends a message on, where so many header flits of its row are sent.

    Parameters
    ----------
    node, root : int
        As of `children_at`.
    at : int
        Place in the row of the next header flit.
    payload : bool
        The header in front of that is sent, and its payload not.
    """
    end = 0
    for child in children_at(host, node, root):
        start, end = end, end + int(host.worms["own_headers"][child])
        if start <= at < end or (payload and at == end):
            return child
    return None
