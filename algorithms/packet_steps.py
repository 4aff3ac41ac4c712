"""Which packet a smart network interface sends in which step: the schedules of [Sivaram98], section 4.2."""

import numpy as np
import numpy.typing as npt

from .compiled import LINEAR, compiled_from
from .errors import WormcastError
from .typecheck import require_kind
from .worms import AT_ONCE, INTERFACE, Worms

__all__ = ["DISCIPLINES", "forwarded_alone", "packet_steps", "require_packets"]

DISCIPLINES = {"fpfs": "first packet first", "fcfs": "first child first"}
"""Each packet to all children before the next one; all packets to a child before the next one."""


def forwarded_alone(worms: Worms) -> bool:
    """Say whether all that others than the sources send is forwarded by network interfaces, to one destination each.

    Packet steps tell when such worms are sent, and no others.
    """
    return len(worms.destinations) == len(worms) and bool((worms.tier[worms.after != AT_ONCE] == INTERFACE).all())


def require_packets(packets: int) -> None:
    """Refuse what is no number of packets of a message."""
    require_kind("packets", packets, int)
    if packets < 1:
        raise WormcastError(f"packets: {packets} is given, allowed are whole numbers from 1")


def packet_steps(worms: Worms, packets: int, discipline: str) -> npt.NDArray[np.int64]:
    """Say in which step each packet of each worm is sent, if an interface sends one packet a step.

    The source has all packets before step 1. What is sent in a step is there at its end, and can be sent on in the
    next. An interface sends in its order alone: what is not there yet keeps what comes behind it waiting.

    Parameters
    ----------
    worms : Worms
        Of trees of unicasts: each node gets each message once, and sends all of its worms after that receipt.
    packets : int
        Of each message.
    discipline : "fpfs" or "fcfs"

    Returns
    -------
    int64 array [worms, packets]
        Steps from 1.

    Raises
    ------
    WormcastError
        There are no packets, or no such discipline.
    """
    require_packets(packets)
    if discipline not in DISCIPLINES:
        raise WormcastError(f"discipline: {discipline!r} is given, allowed are {', '.join(DISCIPLINES)}")
    return _steps(worms.message_offsets, worms.source, worms.rank, worms.after, packets, discipline == "fcfs")


@compiled_from(LINEAR)
def _steps(message_offsets, source, rank, after, packets, by_child):
    sent = np.zeros((len(source), packets), np.int64)
    for message in range(len(message_offsets) - 1):
        first, end = message_offsets[message], message_offsets[message + 1]
        # worms of a sender one behind the other, in the order of sending
        keys = source[first:end].astype(np.int64) << 32 | rank[first:end]
        order = np.argsort(keys) + first
        place = np.empty(end - first, np.int64)
        for at in range(len(order)):
            place[order[at] - first] = at
        for row in range(first, end):  # a worm comes behind the one that releases it
            if sent[row, 0] > 0:  # as all of its sender's
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
