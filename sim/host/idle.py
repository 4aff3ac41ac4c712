"""Jumps over cycles without events, compiled."""

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.compiled import compiled

from ..lowering.native import native
from .constants import (
    ADMITS,
    BUCKET,
    CREDITS,
    END,
    EVENT,
    IMAGE,
    LOOK,
    MESSAGES,
    NEXT,
    NONE,
    NOW,
    RATE,
    ROWS,
    SAMPLES,
    SEPARATE,
    SKIPPED,
    WAIT,
)
from .counting import samples
from .program_layout import Host

__all__ = ["FIRST_LOOK", "FIRST_WAIT", "NEVER", "jump", "next_event", "watch"]

#: Number of cycles without a worm under way before `jump` stores a copy of the components' state.
FIRST_LOOK = 64

#: Number of cycles for which `jump` compares the state with the first copy. The number doubles for each further copy.
FIRST_WAIT = 16

#: Cycle that no run reaches.
NEVER = 1 << 62

#: Bytes compared at a time.
BLOCK = 1 << 10


def watch(end: int) -> npt.NDArray[np.int64]:
    """Return the state of `jump` for a run up to the cycle ``end``. With ``end`` 0, no cycles are skipped."""
    idle = np.zeros(7, np.int64)
    idle[[END, WAIT, IMAGE]] = end, FIRST_WAIT, NONE
    return idle


def next_event(host: Host) -> int:
    """Return the first cycle, from the present one on, in which a host acts, if nothing arrives before; or `NEVER`."""
    found = np.zeros(1, np.int64)
    _find_next_event(host, found)
    return int(found[0])


@native()
def _find_next_event(host, found):
    found[0] = _next_event(host)


@compiled
def _next_event(host):
    nodes, options, counters = host.nodes, host.options, host.counters
    now, event = counters[NOW], NEVER
    if options[ROWS] > 0 and counters[ADMITS] and not options[MESSAGES]:
        return now
    for row in range(len(host.sending)):
        if host.sending[row]:
            return now
    for row in range(len(host.channels)):
        if host.channels[row].owed > 0:
            return now
    most = options[BUCKET]
    for node in range(len(nodes)):
        if host.writing[node]:
            return now
        if options[MESSAGES]:
            if host.smart[node].state != 0:
                return now
            if host.smart[node].first_waiting >= 0:
                event = min(event, host.smart[node].until)
        # a host's token buckets fill in every cycle until they are full
        if options[RATE] > 0 and (nodes[node].taken < most or (options[SEPARATE] and nodes[node].given < most)):
            return now
        if host.working[node]:
            if nodes[node].task == NONE:
                return now
            event = min(event, nodes[node].until)
    if counters[NEXT] < len(host.agenda):
        event = min(event, host.worms[host.agenda[counters[NEXT]]].ready)
    return max(event, now)


@compiled
def _keep(memory, image, start):
    """Copy ``memory`` into ``image``, from index ``start`` of ``image`` on."""
    for k in range(len(memory)):
        image[start + k] = memory[k]


@compiled
def _differ(memory, image, start):
    """Return whether ``memory`` differs from the bytes of ``image`` from index ``start`` on."""
    for first in range(0, len(memory), BLOCK):
        different = np.uint8(0)
        for k in range(first, min(first + BLOCK, len(memory))):
            different |= memory[k] ^ image[start + k]
        if different:
            return True
    return False


@compiled
def jump(host, meter, state, outputs, idle, image):
    """Skip whole periods of a recurring state, up to the next event of a host or the end of the run.

    Call `jump` after every cycle from ``idle[LOOK]`` on while no worm is under way. Hosts do nothing before their next
    event. If state and outputs are the same in two cycles, they therefore repeat from then on, with the
    distance of the two cycles as their period. The state changes even without traffic, because tokens circulate.
    Brent's algorithm finds the period of the state. While no worm is under way, no flit is on a link and nothing waits,
    so only the number of samples grows in the meter.

    Parameters
    ----------
    meter : int64 [2]
        ``Meter.counters``.
    state, outputs : uint8 [bytes]
        State of all components, and the words that they and the hosts drive.
    idle : int64 [7]
        State from `watch`, kept from call to call.
    image : uint8 [bytes]
        Memory for a copy of ``state`` and ``outputs``.
    """
    counters, now = host.counters, host.counters[NOW]
    credits = 0
    for row in range(len(host.streams)):
        credits += host.streams[row].credits
    if idle[IMAGE] != NONE and now <= idle[EVENT]:
        if credits == idle[CREDITS] and not (_differ(state, image, 0) or _differ(outputs, image, len(state))):
            period = now - idle[IMAGE]
            counters[NOW] += (min(idle[EVENT], idle[END]) - now) // period * period
            idle[SKIPPED] += counters[NOW] - now
            meter[SAMPLES] += samples(now, counters[NOW])
            idle[LOOK], idle[IMAGE] = idle[EVENT] + 1, NONE
            return
        if now < idle[IMAGE] + idle[WAIT]:
            return
        idle[WAIT] *= 2
    event = _next_event(host)
    if min(event, idle[END]) <= now + FIRST_WAIT:
        idle[LOOK], idle[IMAGE] = max(event, now) + 1, NONE
    else:
        _keep(state, image, 0)
        _keep(outputs, image, len(state))
        idle[IMAGE], idle[CREDITS], idle[EVENT] = now, credits, event
