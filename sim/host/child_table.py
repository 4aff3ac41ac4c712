"""Rows of the child tables of smart interfaces, compiled: admission, writing and release."""

import numpy as np

from wormcast.algorithms.compiled import inlined

from .constants import (
    ADMITS,
    COUNTED,
    HEAD,
    NODES,
    NONE,
    NOW,
    PACKET,
    RECEIPT,
    ROW_MASK,
    ROWS,
    SMART,
    TAIL,
    UNDER_WAY,
    VALID,
)
from .link_data import PARTS, put_part
from .queues import append, take

__all__ = ["admit", "begin_work", "end_worm", "write_row"]

# values of the field ``sent`` of a child table while no header flit of the row is written
# ``sent`` is ROW_NUMBER: the next flit holds the row's number
# ``sent`` is ROW_COUNT: the next flit holds the number of packets
ROW_NUMBER, ROW_COUNT = -2, -1


@inlined
def begin_work(cpu, worms, deliveries, smart, counters, worm):
    """Queue a worm for its node's processor; a worm of a message that interfaces forward waits for free rows first."""
    if SMART and worms[worm].posting >= 0:
        queue = smart[worms[worm].source]
        worms[worm].behind = NONE
        if queue.first_waiting == NONE:
            queue.first_waiting = worm
        else:
            worms[queue.last_waiting].behind = worm
        queue.last_waiting = worm
        counters[ADMITS] = 1
    else:
        append(cpu, worms, deliveries, worm)


@inlined
def admit(smart, worms, deliveries, tagged, writing, options, counters):
    """Reserve, for each waiting message that interfaces forward, the same row at all nodes of the message, and have
    the rows written.

    At each node, waiting messages are tried from the oldest on, until no row or tag is free for one of them. The node
    that is tried first changes from cycle to cycle.
    """
    counters[ADMITS] = 0
    nodes = options[NODES]
    for first in range(0, len(smart), nodes):
        for k in range(nodes):
            node = first + (counters[NOW] + k) % nodes
            worm = smart[node].first_waiting
            while worm >= 0:
                last = worms[worm].posting
                used = smart[node].rows
                for delivery in range(worms[worm].delivery, worms[last].delivery_end):
                    used |= smart[deliveries[delivery].node].rows
                row = 0
                while row < options[ROWS] and used >> row & 1:
                    row += 1
                tag = row
                while tag < len(tagged) and tagged[tag] >= 0:
                    tag += ROW_MASK + 1
                if row == options[ROWS] or tag >= len(tagged):
                    break
                following = worms[worm].behind
                worms[worm].tag = tag
                tagged[tag] = worm
                worms[worm].rows_due = 1
                smart[node].rows |= np.int64(1) << row
                append(smart[node], worms, deliveries, worm)
                writing[node] = 1
                for delivery in range(worms[worm].delivery, worms[last].delivery_end):
                    other = deliveries[delivery].node
                    worms[worm].rows_due += 1
                    smart[other].rows |= np.int64(1) << row
                    append(smart[other], worms, deliveries, RECEIPT - delivery)
                    writing[other] = 1
                smart[node].first_waiting = following
                worm = following


@inlined
def write_row(nodes, smart, worms, deliveries, header, working, writing, options, tx, tx_data, table, node):
    """Put the next flit of a node's child table on its link; see `ChildTable`.

    The task of posting a message is appended to its source's processor when the last flits of all its rows are sent.
    """
    row = smart[node]
    if row.task == NONE:
        if row.first == NONE:
            writing[node] = 0
        else:
            row.task = take(row, worms, deliveries)
            row.child = row.task if row.task >= 0 else deliveries[RECEIPT - row.task].child
            row.sent = ROW_NUMBER
    if row.task != NONE:
        root = row.task if row.task >= 0 else worms[deliveries[RECEIPT - row.task].worm].root
        marks, value, done = VALID, 0, False
        if row.sent < 0:
            if row.sent == ROW_NUMBER:
                marks |= HEAD
                value = worms[root].tag & ROW_MASK
                done = row.child < 0
                row.sent = ROW_COUNT if options[COUNTED] else 0
            else:
                value = (worms[root].length - 1) // options[PACKET]
                row.sent = 0
            put_part(tx_data, table, 0, node, value)
            for part in range(1, tx_data[PARTS]):
                put_part(tx_data, table, part, node, 0)
        else:
            child = worms[row.child]
            at = child.header_at + row.sent
            for part in range(tx_data[PARTS]):
                put_part(tx_data, table, part, node, header[at, part])
            row.sent += 1
            if row.sent == child.own_headers:
                marks |= TAIL
                row.child = child.sibling
                row.sent = 0
                done = row.child < 0
        tx[table, node] = marks | (HEAD | TAIL if done else 0)
        if done:
            row.task = NONE
            worms[root].rows_due -= 1
            if worms[root].rows_due == 0:
                append(nodes[worms[root].source], worms, deliveries, root)
                working[worms[root].source] = 1


@inlined
def end_worm(worms, deliveries, smart, tagged, counters, tag):
    """Release the tag of a worm that has reached all its destinations.

    A message that interfaces forward keeps the tag of its first worm, and the rows of all nodes, until its last worm
    has reached its destinations.
    """
    worm = tagged[tag]
    last = worms[worm].posting
    whole = True
    if SMART and last >= 0:
        for other in range(worm, last + 1):
            whole = whole and worms[other].left == 0
        if whole:
            free = ~(np.int64(1) << (tag & ROW_MASK))
            smart[worms[worm].source].rows &= free
            for delivery in range(worms[worm].delivery, worms[last].delivery_end):
                smart[deliveries[delivery].node].rows &= free
            counters[ADMITS] = 1
    if whole:
        tagged[tag] = NONE
    counters[UNDER_WAY] -= 1
