"""Requests and their replies, compiled: a limit of the outstanding requests of a node."""

from wormcast.algorithms.compiled import inlined

from .child_table import begin_work
from .constants import NONE, NOW, OUTSTANDING

__all__ = ["end_reply", "hold_request", "send_requests"]


@inlined
def hold_request(cpu, worms, worm):
    """Append a worm of a request to the queue in which requests wait until fewer requests are outstanding."""
    worms[worm].behind = NONE
    if cpu.first_held == NONE:
        cpu.first_held = worm
    else:
        worms[cpu.last_held].behind = worm
    cpu.last_held = worm


@inlined
def send_requests(cpu, worms, deliveries, exchanges, smart, options, counters):
    """Queue waiting requests for a node's processor, in the order of their creation, while the limit allows it.

    The worms of a request follow one another in the queue: the first worm counts as the request.
    """
    while cpu.first_held != NONE:
        worm = cpu.first_held
        exchange = exchanges[worms[worm].asks]
        if exchange.issued < 0:
            if cpu.outstanding == options[OUTSTANDING]:
                break
            cpu.outstanding += 1
            cpu.exchanged -= counters[NOW]
            exchange.issued = counters[NOW]
        cpu.first_held = worms[worm].behind
        begin_work(cpu, worms, deliveries, smart, counters, worm)


@inlined
def end_reply(cpu, exchange, now):
    """Note the receipt of a reply. After the last reply to a request, the request is no longer outstanding."""
    exchange.due -= 1
    if exchange.due == 0:
        exchange.closed = now
        cpu.outstanding -= 1
        cpu.exchanged += now
