"""Requests for rows of child tables by control packets, compiled: the source's side of `RowAdmission`."""

import numpy as np

from wormcast.algorithms.compiled import compiled, inlined
from wormcast.hw.options import CONTROL, CONTROL_ANSWER, GRANTED, RELEASE, REQUEST, REQUEST_LEAF

from .constants import (
    ADMITTED,
    ANSWER_PAYLOAD,
    CONTROL_FLITS,
    HEAD,
    MESSAGES,
    NODES,
    NONE,
    NOW,
    OWN_REFUSALS,
    REFUSALS,
    RELEASES,
    REQUESTS,
    ROW_MASK,
    ROWS,
    SPREAD,
    TAG_BITS,
    TAIL,
    VALID,
    WAITED,
    WIDTH,
)
from .link_data import PARTS, put_part
from .queues import append

__all__ = ["ask_for_rows", "is_answer", "note_answer", "send_control"]

# values of the field ``state`` of a `SMART` record
# IDLE: no row is requested; OWN: the own interface decides on the row; ASKING: the own row is granted
IDLE, OWN, ASKING = range(3)

# values of the field ``state`` of an `ASK` record; a refused or released request is UNASKED
UNASKED, ASKED, HELD_ROW = range(3)

# the data of a flit on the link to the child table that gives a row back have this bit
GIVE_BACK = 128

# cycles from the flit that requests the own row to its credit
OWN_ANSWER = 2

# after a refusal by the own interface, the source waits for at most OWN_WAIT cycles
# after a refusal by another interface, it waits for at most LEAST_WAIT * 2**tries cycles, and at most MOST_WAIT
OWN_WAIT, LEAST_WAIT, MOST_WAIT = 8, 64, 1024


@compiled
def _random(seed, first, second, third):
    """Return a number from 0 to 2**31 - 1, by a hash that is the same in all engines."""
    mixed = np.uint64(seed) ^ np.uint64(first) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= np.uint64(second) * np.uint64(0x94D049BB133111EB)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed ^= np.uint64(third) * np.uint64(0xD6E8FEB86659FD93)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(mixed >> np.uint64(33))


@inlined
def ask_for_rows(nodes, smart, worms, deliveries, asks, tagged, working, sending, writing, options, counters, admission,
                 tx_credit, tx, tx_data, table, node):
    """Do the next step of a source that requests rows for its oldest waiting message.

    First the own interface grants a row, then requests go to all destinations. After a refusal no further request is
    sent, each granted row is released, and the own row is given back; then the source waits, and tries again.
    """
    now, rows = counters[NOW], smart[node]
    worm = rows.first_waiting
    if rows.state == IDLE:
        if worm != NONE and now >= rows.until:
            if rows.tries == 0:
                rows.begun = now
            random = _random(rows.seed, now, node % options[NODES], worms[worm].message)
            rows.row = random % options[ROWS]
            _put_on_table(tx, tx_data, table, node, HEAD, rows.row)
            rows.state = OWN
            rows.until = now + OWN_ANSWER
    elif rows.state == OWN:
        if now == rows.until:
            rows.tries += 1
            if tx_credit[table, node]:
                rows.task = rows.child = worm
                rows.sent = NONE  # the next flit holds the number of packets
                writing[node] = 1
                worms[worm].rows_due = 2  # until all rows are granted
                rows.state = ASKING
                rows.number = (rows.number + 1) & ROW_MASK
                rows.following = worms[worm].delivery
                rows.due = 0
                rows.refused = 0
            else:
                admission[node, OWN_REFUSALS] += 1
                rows.state = IDLE
                rows.until = now + 1 + _random(rows.seed, now, node % options[NODES], rows.tries) % OWN_WAIT
    elif rows.kind == NONE and rows.task == NONE:
        last = worms[worms[worm].posting].delivery_end
        if rows.refused:
            held = NONE
            for delivery in range(worms[worm].delivery, rows.following):
                if asks[delivery].state == HELD_ROW:
                    held = delivery
            if held != NONE:
                asks[held].state = UNASKED
                _begin_control(rows, sending, node, RELEASE, held)
                admission[node, RELEASES] += 1
            elif rows.due == 0:
                _put_on_table(tx, tx_data, table, node, HEAD | TAIL, rows.row | GIVE_BACK)
                wait = min(LEAST_WAIT << min(rows.tries, 20), MOST_WAIT)
                rows.state = IDLE
                rows.until = now + 1 + _random(rows.seed, now, node % options[NODES], rows.number) % wait
        elif rows.following < last:
            leaf = deliveries[rows.following].child < 0
            asks[rows.following].state = ASKED
            _begin_control(rows, sending, node, REQUEST_LEAF if leaf else REQUEST, rows.following)
            rows.following += 1
            rows.due += 1
            admission[node, REQUESTS] += 1
        elif rows.due == 0:
            tag = rows.row
            while tag < len(tagged) and tagged[tag] >= 0:
                tag += ROW_MASK + 1
            if tag < len(tagged):
                worms[worm].tag = tag
                tagged[tag] = worm
                rows.first_waiting = worms[worm].behind
                append(nodes[node], worms, deliveries, worm)
                working[node] = 1
                admission[node, ADMITTED] += 1
                admission[node, WAITED] += now - rows.begun
                rows.state = IDLE
                rows.until = now
                rows.tries = 0


@inlined
def _put_on_table(tx, tx_data, table, node, marks, value):
    """Put a flit on the link to the child table."""
    tx[table, node] = VALID | marks
    put_part(tx_data, table, 0, node, value)
    for part in range(1, tx_data[PARTS]):
        put_part(tx_data, table, part, node, 0)


@inlined
def _begin_control(rows, sending, node, kind, delivery):
    """Have a control packet sent to the node of a delivery, on the link to the injection port."""
    rows.kind = kind
    rows.target = delivery
    rows.flit = 0
    sending[node] = 1


@inlined
def send_control(streams, smart, asks, control, sending, options, admission, tx, tx_data, node):
    """Put the next flit of a control packet on the link from a host to its injection port."""
    rows, stream = smart[node], streams[node]
    ask = asks[rows.target]
    width, place = options[WIDTH], rows.flit - ask.headers
    # number of payload flits before those that are the same at each try
    before = options[SPREAD] + 1
    flits = ask.headers + before if rows.kind == RELEASE else ask.flits
    last = rows.flit == flits - 1
    tx[0, node] = VALID | (HEAD if place < 0 else 0) | (TAIL if last else 0)
    if 0 <= place < before:
        word = np.uint64(CONTROL | rows.row << 8 | rows.kind << 14 | node % options[NODES] << TAG_BITS)
        value = word >> np.uint64(place * width) if place < options[SPREAD] else np.uint64(rows.number)
        if width < 64:
            value &= (np.uint64(1) << np.uint64(width)) - np.uint64(1)
        put_part(tx_data, 0, 0, node, value)
        for part in range(1, tx_data[PARTS]):
            put_part(tx_data, 0, part, node, 0)
    else:
        at = ask.at + (rows.flit if place < 0 else rows.flit - before)
        for part in range(tx_data[PARTS]):
            put_part(tx_data, 0, part, node, control[at, part])
    rows.flit += 1
    stream.credits -= 1
    admission[node, CONTROL_FLITS] += 1
    if last:
        rows.kind = NONE
        if stream.first < 0:
            sending[node] = 0


@inlined
def is_answer(options, data):
    """Return whether a packet with these first bits is an answer to a request for a row."""
    return options[MESSAGES] != 0 and np.int64(data) & ROW_MASK == CONTROL_ANSWER


@inlined
def note_answer(smart, worms, deliveries, asks, options, admission, node, data):
    """Note an answer. Return False if it answers no request."""
    rows, word = smart[node], np.int64(data & np.uint64(0xFFFFFFFF))
    worm = rows.first_waiting
    if rows.state != ASKING or worm == NONE:
        return False
    for delivery in range(worms[worm].delivery, rows.following):
        if asks[delivery].state == ASKED and deliveries[delivery].node % options[NODES] == word >> TAG_BITS:
            granted = word >> 14 & 3 == GRANTED
            asks[delivery].state = HELD_ROW if granted else UNASKED
            rows.due -= 1
            admission[node, CONTROL_FLITS] += asks[delivery].answer
            admission[node, ANSWER_PAYLOAD] += options[SPREAD]
            if not granted:
                rows.refused = 1
                admission[node, REFUSALS] += 1
            return True
    return False
