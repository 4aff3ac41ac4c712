"""Steps in which smart network interfaces send packets: the schedules of [Sivaram98], section 4.2."""

import numpy as np
import numpy.typing as npt

from .compiled import LINEAR, compiled_from
from .errors import WormcastError
from .typecheck import require_kind
from .worms import AT_ONCE, INTERFACE, Worms

__all__ = ["DISCIPLINES", "forwarded_alone", "packet_steps", "require_packets"]

DISCIPLINES = {"fpfs": "first packet first", "fcfs": "first child first"}
"""``fpfs``: each packet goes to all children before the next packet. ``fcfs``: all packets go to one child, then all to
the next child."""


def forwarded_alone(worms: Worms) -> bool:
    """Return whether packet steps are defined for these worms.

    Packet steps are defined if each worm goes to one destination, and network interfaces forward all worms that
    destinations send.
    """
    return len(worms.destinations) == len(worms) and bool((worms.tier[worms.after != AT_ONCE] == INTERFACE).all())


def require_packets(packets: int) -> None:
    """Refuse a number of packets that is not a whole number from 1."""
    require_kind("packets", packets, int)
    if packets < 1:
        raise WormcastError(f"packets: {packets} is not valid. Allowed: whole numbers from 1.")


def packet_steps(worms: Worms, packets: int, discipline: str) -> npt.NDArray[np.int64]:
    """Compute the step in which each packet of each worm is sent, if an interface sends one packet per step.

    The source has all packets before step 1. A packet that is sent in a step can be forwarded in the next. An interface
    sends in strict order: a packet that has not arrived delays all later ones.

    Parameters
    ----------
    worms : Worms
        Worms of trees of unicasts: each node receives each message once, and sends all of its worms after the receipt.
    packets : int
        Packets of each message.
    discipline : "fpfs" or "fcfs"
        Order in which an interface sends packets, as in `DISCIPLINES`.

    Returns
    -------
    int64 array [worms, packets]
        Steps from 1.
    """
    require_packets(packets)
    if discipline not in DISCIPLINES:
        raise WormcastError(f"discipline: {discipline!r} is not valid. Allowed: {', '.join(DISCIPLINES)}.")
    return _steps(worms.message_offsets, worms.source, worms.rank, worms.after, packets, discipline == "fcfs")


@compiled_from(LINEAR)
def _steps(message_offsets, source, rank, after, packets, by_child):
    sent = np.zeros((len(source), packets), np.int64)
    for message in range(len(message_offsets) - 1):
        first, end = message_offsets[message], message_offsets[message + 1]
        # sort worms by sender, then by order of sending
        keys = source[first:end].astype(np.int64) << 32 | rank[first:end]
        order = np.argsort(keys) + first
        place = np.empty(end - first, np.int64)
        for at in range(len(order)):
            place[order[at] - first] = at
        for row in range(first, end):  # a worm that waits for another worm's receipt is in a later row than that worm
            if sent[row, 0] > 0:  # this worm's steps are computed already, with its sender's other worms
                continue
            begin, stop = place[row - first], place[row - first]
            while begin > 0 and source[order[begin - 1]] == source[row]:
                begin -= 1
            while stop < len(order) and source[order[stop]] == source[row]:
                stop += 1
            children, step = stop - begin, 0
            for job in range(children * packets):
                child, packet = (job // packets, job % packets) if by_child else (job % children, job // children)
                there = 0 if after[row] == AT_ONCE else sent[after[row], packet]
                step = max(step, there) + 1
                sent[order[begin + child], packet] = step
    return sent
