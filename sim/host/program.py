"""The hosts' program, compiled."""

import numpy as np

from wormcast.algorithms.compiled import borrowing, compiled, inlined

from ..lowering import call_step

__all__ = ["count_sample", "gather", "host_step", "place_of", "run_cycles", "sampled", "widen"]

# a task is the number of a worm to post, the receipt of delivery d is RECEIPT - d
NONE = -1
RECEIPT = -2

# places in Host.options: SPREAD, flits over which a packet spreads its number; ROWS, messages that a smart interface
# may forward, 0 for none; COUNTED, its rows say how many packets there are; RATE, OF, SEPARATE: flits that a node's
# host moves in so many cycles, 0 for any, and whether that is each way; NODES, of a lane
WIDTH, CHANNEL_BITS, CHANNELS, PACKET, T_HR, T_NR, SPREAD, ROWS, COUNTED, RATE, OF, SEPARATE, NODES = range(13)
# places in Host.counters; ADMITS: whether rows have become free
NOW, UNDELIVERED, NEXT, TAG, UNDER_WAY, HELD, FAULT, FAULT_NODE, FAULT_CHANNEL, FREED, ADMITS = range(11)
# places in Meter.counters: cycles counted in bytes so far, cycles in which waiting worms were counted
NARROW, SAMPLES = range(2)

# a message's number says its row in these bits; see hw.interface.smart
ROW_MASK = 255
# what of a row is sent next, in place of a header flit
ROW_NUMBER, ROW_COUNT = -2, -1

# marks on a link, least significant bit first: valid, virtual channel (no bits towards the network), head, tail
VALID, HEAD, TAIL = 1, 2, 4


@inlined
def _follow(worms, deliveries, task, behind):
    """Put a task behind another one in its queue."""
    if task >= 0:
        worms[task].behind = behind
    else:
        deliveries[RECEIPT - task].behind = behind


@inlined
def _append(queue, worms, deliveries, task):
    """Put a task at the end of a processor's queue: a record with ``first`` and ``last``."""
    _follow(worms, deliveries, task, NONE)
    if queue.first == NONE:
        queue.first = task
    else:
        _follow(worms, deliveries, queue.last, task)
    queue.last = task


@inlined
def _take(queue, worms, deliveries):
    """Take the first task of a processor's queue that has one."""
    task = queue.first
    queue.first = worms[task].behind if task >= 0 else deliveries[RECEIPT - task].behind
    return task


@inlined
def _append_worm(queue, worms, worm):
    """Put a worm at the end of a link's queue."""
    worms[worm].behind = NONE
    if queue.first < 0:
        queue.first = worm
    else:
        worms[queue.last].behind = worm
    queue.last = worm


@inlined
def _payload(tag, place, options, part):
    """One 64-bit part of a payload flit's data: 16 bits of tag and 16 of place, repeated up to the flit's width.

    Of narrow flits the first ones of a packet say the tag, and which packet it is, low bits first. Behind the first one
    all have the tag's low bits, added to what they say: so most flits name their worm, while few are under way.
    """
    width, spread, packet = options[WIDTH], options[SPREAD], options[PACKET]
    if spread > 1:
        number = place // packet if packet > 0 else 0
        flit = place - number * packet
        pattern = np.uint64(((tag | number << 16) >> flit * width if flit < spread else 0) + (tag if flit > 0 else 0))
    else:
        pattern = np.uint64(tag | (place & 0xFFFF) << 16)
    word = pattern | pattern << np.uint64(32)
    used = width - 64 * part
    if used < 64:
        word &= (np.uint64(1) << np.uint64(used)) - np.uint64(1)
    return word


@compiled
def place_of(data, width):
    """Give the place in its worm that the first 32 bits of a payload flit say; in narrow flits it has fewer bits."""
    return (data >> 16) & 0xFFFF & ((1 << min(width, 32) - 16) - 1)


@compiled
def _stalls(stall, cycle, node, channel):
    """Whether a consumption channel takes nothing in this cycle; a hash, so that no engine's order matters."""
    mixed = stall[1] ^ np.uint64(cycle) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(node * 64 + channel + 1) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)) < stall[0]


@inlined
def _begin_work(cpu, worms, deliveries, smart, counters, worm):
    """A worm may be sent from now on: its node's processor gets it, or it waits until its rows are free."""
    if worms[worm].posting >= 0:
        queue = smart[worms[worm].source]
        worms[worm].behind = NONE
        if queue.first_waiting == NONE:
            queue.first_waiting = worm
        else:
            worms[queue.last_waiting].behind = worm
        queue.last_waiting = worm
        counters[ADMITS] = 1
    else:
        _append(cpu, worms, deliveries, worm)


@inlined
def _compute(nodes, streams, worms, deliveries, releases, smart, working, sending, options, counters, node):
    """Let a node's processor work: what is done in this cycle has its effect, and the next task begins."""
    now = counters[NOW]
    cpu = nodes[node]
    while True:
        if cpu.task == NONE:
            if cpu.first == NONE:
                working[node] = 0
                break
            cpu.task = _take(cpu, worms, deliveries)
            cpu.until = now + (worms[cpu.task].cost if cpu.task >= 0 else options[T_HR])
        if cpu.until > now:
            break
        task = cpu.task
        cpu.task = NONE
        if task >= 0:
            stream = worms[task].stream
            _append_worm(streams[stream], worms, task)
            worms[task].posted = now
            sending[stream] = 1
        else:
            delivery = deliveries[RECEIPT - task]
            delivery.received = now
            counters[UNDELIVERED] -= 1
            at = delivery.release
            while at >= 0:
                released = releases[at].worm
                worms[released].waits -= 1
                if worms[released].waits == 0:
                    worms[released].ready = now
                    releases[counters[FREED]].freed = released
                    counters[FREED] += 1
                    _begin_work(cpu, worms, deliveries, smart, counters, released)
                at = releases[at].next


@compiled
def _free_tag(tagged, start, bits, rows):
    """The next tag of so many bits that no worm under way has, and whose low bits are no row's; -1 if there is none."""
    mask = min(len(tagged), 1 << min(bits, 16)) - 1
    tag = start & mask
    for _ in range(mask + 1):
        if tagged[tag] < 0 and tag & ROW_MASK >= rows:
            return tag
        tag = (tag + 1) & mask
    return NONE


@inlined
def _may_begin(stream, worms, tagged, options, counters):
    """Whether there is a tag for the next worm of a link, as nearly always."""
    if counters[UNDER_WAY] == 0 or worms[stream.first].posting >= 0:
        return True
    worm, packet = worms[stream.first], options[PACKET]
    bits = options[WIDTH] * min(worm.length, packet if packet > 0 else worm.length)
    if options[ROWS] == 0 and bits >= 16:
        return counters[UNDER_WAY] < len(tagged)
    return _free_tag(tagged, counters[TAG], bits, options[ROWS]) != NONE


@inlined
def _send(streams, worms, header, tagged, sending, options, counters, row, tx, tx_data, port, node):
    """Put the next flit of an injection port on its link."""
    now, width = counters[NOW], options[WIDTH]
    stream = streams[row]
    worm = stream.worm
    if worm < 0:
        if not _may_begin(stream, worms, tagged, options, counters):
            counters[HELD] += 1  # the host's doing, not the network's: such a run counts for nothing
        else:
            worm = stream.first
            stream.first = worms[worm].behind
            begun = worms[worm]
            if begun.posting < 0:
                # a worm that is too short for a whole tag takes one of fewer bits
                bits = width * min(begun.length, options[PACKET] if options[PACKET] > 0 else begun.length)
                begun.tag = _free_tag(tagged, counters[TAG], bits, options[ROWS])
                tagged[begun.tag] = worm
                counters[TAG] = (begun.tag + 1) & (len(tagged) - 1)
            last = max(worm, begun.posting)  # what interfaces forward begins with it
            for other in range(worm, last + 1):
                worms[other].injected = now
            counters[UNDER_WAY] += last + 1 - worm
            stream.worms += last + 1 - worm
            begun.previous = stream.before
            stream.before = worm
            stream.worm = worm
            stream.sent = 0
            stream.headers = begun.headers
            stream.flits = begun.headers + begun.length
    if worm >= 0:
        place = stream.sent - stream.headers
        if place < 0:
            # what interfaces forward has no header: a flit with both marks says so
            tx[port, node] = VALID | HEAD | (TAIL if worms[worm].posting >= 0 else 0)
            at = worms[worm].header_at + stream.sent
            for part in range(tx_data.shape[1]):
                tx_data[port, part, node] = header[at, part]
        else:
            tx[port, node] = VALID | (TAIL if stream.sent == stream.flits - 1 else 0)
            for part in range(tx_data.shape[1]):
                tx_data[port, part, node] = _payload(worms[worm].tag, place, options, part)
        stream.sent += 1
        stream.credits -= 1
        worms[worm].touched = now
        if stream.sent == stream.flits:
            for other in range(worm, max(worm, worms[worm].posting) + 1):
                worms[other].handed = now
            stream.worm = NONE
            if stream.first < 0:
                sending[row] = 0


@compiled
def _begin(channels, worms, deliveries, begun, tagged, options, row, node, data):
    """Find the delivery and the packet that a first payload flit begins; False if there is none."""
    width, packet = options[WIDTH], options[PACKET]
    tag = np.int64(data) & (len(tagged) - 1)
    worm = tagged[tag]
    if worm < 0:
        return False
    length = worms[worm].length
    place, end, number = 0, length, 0
    if packet > 0:
        word = np.int64(data & np.uint64(0xFFFFFFFF))
        place = (word >> 16) * packet if options[SPREAD] > 1 else place_of(word, width)
        if place % packet != 0 or place >= length:
            return False
        number = place // packet
        end = min(length, place + packet)
    last = worms[worm].posting if worms[worm].posting >= 0 else worm
    for delivery in range(worms[worm].delivery, worms[last].delivery_end):
        if deliveries[delivery].node == node:
            at = deliveries[delivery].packets + number
            if begun[at]:
                return False
            begun[at] = 1
            channels[row].delivery = delivery
            channels[row].worm = deliveries[delivery].worm
            channels[row].tag = tag
            channels[row].place = place
            channels[row].end = end
            return True
    return False


@inlined
def _fail(counters, fault, node, channel):
    """Note the first receipt that is not as it must be."""
    if counters[FAULT] == 0:
        counters[FAULT] = fault
        counters[FAULT_NODE] = node
        counters[FAULT_CHANNEL] = channel


@inlined
def _end_worm(worms, deliveries, smart, tagged, counters, tag):
    """A worm has reached all its destinations: give its tag back, or, with the last one of what interfaces forward,
    that of the first one and the rows of all nodes."""
    worm = tagged[tag]
    last = worms[worm].posting
    whole = True
    if last >= 0:
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


@inlined
def _receive(nodes, channels, worms, deliveries, begun, smart, tagged, working, options, counters, marks, rx_data, link,
             node, vc, row):
    """Take the flit that the interface hands over, and compare it with the one that is due."""
    now, width = counters[NOW], options[WIDTH]
    number = link * options[CHANNELS] + vc
    channel = channels[row]
    there = channel.delivery >= 0
    known = True
    if not there:
        data = np.uint64(rx_data[link, 0, node])
        before = 0
        if options[SPREAD] > 1:
            before = channel.seen
            if before == 0:
                channel.since = now
                channel.word = np.int64(data)
            else:
                channel.word |= (np.int64(data) - channel.word & (1 << width) - 1) << before * width
            data = np.uint64(channel.word)
            known = before + 1 >= options[SPREAD] or marks >> options[CHANNEL_BITS] & (HEAD | TAIL) != 0
            channel.seen = 0 if known else before + 1
        if known:
            there = not marks & HEAD << options[CHANNEL_BITS] and _begin(
                channels, worms, deliveries, begun, tagged, options, row, node, data)
            if not there:
                _fail(counters, 1, node, number)
            elif before > 0:
                channel.place += before
                deliveries[channel.delivery].due -= before
                if deliveries[channel.delivery].head < 0:
                    deliveries[channel.delivery].head = channel.since
                    deliveries[channel.delivery].first = channel.place // options[PACKET] if options[PACKET] > 0 else 0
    if there:
        last = channel.place == channel.end - 1
        right = marks == VALID | vc << 1 | (TAIL << options[CHANNEL_BITS] if last else 0)
        for part in range(rx_data.shape[1]):
            right &= np.uint64(rx_data[link, part, node]) == _payload(channel.tag, channel.place, options, part)
        if not right:
            _fail(counters, 2, node, number)
            if marks >> 1 + options[CHANNEL_BITS] & TAIL >> 1:
                channel.delivery = NONE  # what comes next on this channel is judged by itself
        else:
            delivery = deliveries[channel.delivery]
            worms[channel.worm].touched = now
            taken = now - options[T_NR] if last else now
            if delivery.head < 0:
                delivery.head = taken
                delivery.first = channel.place // options[PACKET] if options[PACKET] > 0 else 0
            channel.place += 1
            delivery.due -= 1
            if last:
                if delivery.due == 0:
                    delivery.tail = taken
                    _append(nodes[node], worms, deliveries, RECEIPT - channel.delivery)
                    working[node] = 1
                    worms[channel.worm].left -= 1
                    if worms[channel.worm].left == 0:
                        _end_worm(worms, deliveries, smart, tagged, counters, channel.tag)
                channel.delivery = NONE


@inlined
def _admit(smart, worms, deliveries, tagged, writing, options, counters):
    """Give rows to what interfaces are to forward, where one is free at all of its nodes, and have them written.

    The oldest of each node is tried; the node that comes first changes from cycle to cycle.
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
                _append(smart[node], worms, deliveries, worm)
                writing[node] = 1
                for delivery in range(worms[worm].delivery, worms[last].delivery_end):
                    other = deliveries[delivery].node
                    worms[worm].rows_due += 1
                    smart[other].rows |= np.int64(1) << row
                    _append(smart[other], worms, deliveries, RECEIPT - delivery)
                    writing[other] = 1
                smart[node].first_waiting = following
                worm = following


@inlined
def _write_row(nodes, smart, worms, deliveries, header, working, writing, options, tx, tx_data, table, node):
    """Put the next flit of a node's child table on its link; see `ChildTable`. With the last one the message of all
    rows that are written is posted."""
    row = smart[node]
    if row.task == NONE:
        if row.first == NONE:
            writing[node] = 0
        else:
            row.task = _take(row, worms, deliveries)
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
            for part in range(tx_data.shape[1]):
                tx_data[table, part, node] = 0
            tx_data[table, 0, node] = value
        else:
            child = worms[row.child]
            at = child.header_at + row.sent
            for part in range(tx_data.shape[1]):
                tx_data[table, part, node] = header[at, part]
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
                _append(nodes[worms[root].source], worms, deliveries, root)
                working[worms[root].source] = 1


@inlined
def _move(nodes, streams, channels, worms, header, tagged, sending, options, counters, tx, tx_data, rx_credit, node):
    """Let a node's host take flits and send some, as many as its memory moves: a credit is a flit that was moved.

    A bucket holds what is moved in three cycles at most; both ways share one, or have one each.
    """
    count, vcs = len(nodes), options[CHANNELS]
    cpu, cost = nodes[node], options[OF]
    most = max(2 * cost, options[RATE])
    cpu.taken = min(cpu.taken + options[RATE], most)
    cpu.given = min(cpu.given + options[RATE], most) if options[SEPARATE] else 0
    refused = False
    for way in range(2):
        if (way + cpu.turn) & 1 == 0:
            for link in range(rx_credit.shape[0]):
                for vc in range(vcs):
                    row = (link * count + node) * vcs + vc
                    if channels[row].owed > 0 and rx_credit[link, node] == 0:
                        if cpu.taken >= cost:
                            cpu.taken -= cost
                            channels[row].owed -= 1
                            rx_credit[link, node] = 1 << vc
                        else:
                            refused = True
        else:
            for port in range(len(streams) // count):
                row = port * count + node
                if sending[row] and streams[row].credits > 0:
                    left = cpu.given if options[SEPARATE] else cpu.taken
                    if left >= cost:
                        if options[SEPARATE]:
                            cpu.given -= cost
                        else:
                            cpu.taken -= cost
                        _send(streams, worms, header, tagged, sending, options, counters, row, tx, tx_data, port, node)
                    else:
                        refused = True
    if refused:
        cpu.turn = 1 - cpu.turn


@inlined
def _step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found):
    """One cycle of all hosts; see `host_step`. ``lookup`` is room for a number for each node, and one."""
    (nodes, streams, channels, worms, deliveries, agenda, releases, header, begun, smart, tagged, working, sending,
     writing, options, stall, counters) = host
    now, count, vcs = counters[NOW], len(nodes), options[CHANNELS]
    stalls, limited = stall[0] > 0, options[RATE] > 0
    while counters[NEXT] < len(agenda) and worms[agenda[counters[NEXT]]].ready <= now:
        worm = agenda[counters[NEXT]]
        worms[worm].waits -= 1
        if worms[worm].waits == 0:
            _begin_work(nodes[worms[worm].source], worms, deliveries, smart, counters, worm)
            working[worms[worm].source] = 1
        counters[NEXT] += 1
    for link in range(rx.shape[0]):
        for node in range(count):
            rx_credit[link, node] = 0
        # which nodes receive something, without a branch: nobody can guess it
        receiving = 0
        for node in range(count):
            found[receiving] = node
            receiving += rx[link, node] & VALID
        for k in range(receiving):
            node = found[k]
            marks = np.int64(rx[link, node])
            vc = marks >> 1 & ((1 << options[CHANNEL_BITS]) - 1)
            row = (link * count + node) * vcs + vc
            _receive(nodes, channels, worms, deliveries, begun, smart, tagged, working, options, counters, marks,
                     rx_data, link, node, vc, row)
            if stalls or limited:
                channels[row].owed += 1
            else:
                rx_credit[link, node] = 1 << vc
    if stalls:
        for row in range(len(channels)):
            link, node, vc = row // (count * vcs), row // vcs % count, row % vcs
            if channels[row].owed > 0 and not _stalls(stall, now, node, link * vcs + vc):
                channels[row].owed -= 1
                rx_credit[link, node] |= 1 << vc
    for node in range(count):
        if working[node]:
            _compute(nodes, streams, worms, deliveries, releases, smart, working, sending, options, counters, node)
    if options[ROWS] > 0:
        if counters[ADMITS]:
            _admit(smart, worms, deliveries, tagged, writing, options, counters)
        table = tx.shape[0] - 1
        for node in range(count):
            tx[table, node] = 0
            if writing[node]:
                _write_row(nodes, smart, worms, deliveries, header, working, writing, options, tx, tx_data, table, node)
    for port in range(len(streams) // count):
        for node in range(count):
            row = port * count + node
            if tx_credit[port, node]:
                streams[row].credits += 1
            tx[port, node] = 0
            if sending[row] and streams[row].credits > 0 and not limited:
                _send(streams, worms, header, tagged, sending, options, counters, row, tx, tx_data, port, node)
    if limited:
        for node in range(count):
            _move(nodes, streams, channels, worms, header, tagged, sending, options, counters, tx, tx_data, rx_credit,
                  node)
    counters[NOW] += 1


@compiled
def host_step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit):
    """One cycle of all hosts.

    Parameters
    ----------
    rx, rx_data : unsigned [links, nodes], unsigned [links, parts, nodes]
        Marks and data on the links from the interfaces in this cycle.
    tx_credit : unsigned [ports, nodes]
        Credits from the interfaces in this cycle.
    tx, tx_data, rx_credit : unsigned [ports, nodes], unsigned [ports, parts, nodes], unsigned [links, nodes]
        What the hosts' registers drive in the next cycle; behind the ports, the links to smart interfaces' tables.
    """
    _step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, np.empty(len(host.nodes) + 1, np.int64))


@compiled
def _copy(wires, inputs, outputs):
    """Copy runs of words, of each in a column where to, where from and how many, and single words, where to and where
    from; unsigned, so that LLVM makes vectors of runs."""
    runs, masks, single = wires
    for k in range(runs.shape[1]):
        to, source, mask = runs[0, k], runs[1, k], runs[3, k]
        if mask:
            for j in range(runs[2, k]):
                inputs[to + j] = outputs[source + j] & masks[mask + j]
        else:
            for j in range(runs[2, k]):
                inputs[to + j] = outputs[source + j]
    for k in range(single.shape[1]):
        inputs[single[0, k]] = outputs[single[1, k]]


@inlined
def _gather(runs, inputs, outputs):
    """Copy all words on the links; see `gather`."""
    _copy(runs[0], inputs[0], outputs[0])
    _copy(runs[1], inputs[1], outputs[1])
    _copy(runs[2], inputs[2], outputs[2])
    _copy(runs[3], inputs[3], outputs[3])


@compiled
def gather(runs, inputs, outputs):
    """Copy the words on all links from their drivers to their receivers; parameters as in `run_cycles`."""
    _gather(runs, inputs, outputs)


@compiled
def sampled(cycle):
    """Whether waiting worms are counted in a cycle.

    It is one of each 64 in a row, chosen by a hash: so the mean is right whatever period the traffic has.
    """
    mixed = (np.uint64(cycle >> 6) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed >> np.uint64(58) == np.uint64(cycle & 63)


@compiled
def _count_links(ports, flits, tails, outputs):
    """Count flits and tails on the links that each port of a kind of component drives, eight instances to a word."""
    ones = np.uint64(0x0101010101010101)
    for k in range(np.uint64(len(ports))):
        start, tail, words, first = ports[k, 0], ports[k, 1], ports[k, 2], ports[k, 3]
        for j in range(words):  # unsigned, so that LLVM makes it vectors
            marks = outputs[start + j]
            flits[first + j] += marks & ones
            tails[first + j] += marks & marks >> tail & ones


@compiled
def widen(narrow, wide):
    """Move counts from bytes to full numbers: uint64 [words], int64 [8 x words]."""
    for j in range(narrow.shape[0]):
        for lane in range(8):
            wide[8 * j + lane] += np.int64(narrow[j] >> np.uint64(8 * lane) & np.uint64(255))
        narrow[j] = 0


@compiled
def count_sample(meter, state):
    """Count in each router the worms that wait now, for a link, a consumption channel or a token, and what is owned.

    Parameters
    ----------
    meter : Meter
    state : uint8 [bytes]
        The routers' state, kind after kind.
    """
    for channel in range(len(meter.channels)):
        kind, begin, end = meter.channels[channel]
        start, tiles, tile_bytes, lanes, first = meter.kinds[kind]
        for tile in range(tiles):
            for byte in range(lanes // 8):
                # of eight instances each
                asked, owned, through, for_channel, leaves, for_token = 0, 0, 0, 0, 0, 0
                for k in range(begin, end):
                    register = meter.flags[k, 0]
                    bits = np.int64(state[start + tile * tile_bytes + meter.flags[k, 1] + byte])
                    asked |= bits * (register == 0)
                    owned |= bits * (register == 1)
                    through |= bits * (register == 2)
                    for_channel |= bits * (register == 3)
                    leaves |= bits * (register == 4)
                    for_token |= bits * (register == 5)
                for_link = asked & ~(owned | through | for_channel)
                for_channel |= leaves & ~(owned | through)
                instance = first + tile * lanes + 8 * byte
                while for_link | for_channel | for_token:
                    meter.counts[0, instance] += for_link & 1
                    meter.counts[1, instance] += for_channel & 1
                    if for_token & 1:
                        meter.counts[4, instance] += 1
                        meter.asked[meter.rings[instance]] = 1
                    for_link >>= 1
                    for_channel >>= 1
                    for_token >>= 1
                    instance += 1
    for row in range(len(meter.owners)):
        kind, at, what = meter.owners[row]
        start, tiles, tile_bytes, lanes, first = meter.kinds[kind]
        for tile in range(tiles):
            for byte in range(lanes // 8):
                instance = first + tile * lanes + 8 * byte
                flags = np.int64(state[start + tile * tile_bytes + at + byte])
                while flags:
                    meter.counts[what, instance] += flags & 1
                    if what == 5 and flags & 1:
                        meter.asked[meter.rings[instance]] = 0
                    flags >>= 1
                    instance += 1
    for instance in range(len(meter.asked)):
        meter.counts[6, instance] += meter.asked[instance]
        meter.asked[instance] = 0
    meter.counters[SAMPLES] += 1


@compiled
def _count_grants(meter, inputs, state):
    """Count the tokens that are taken in this cycle: one comes to a switch, and some worm there asks for it."""
    ones, gathered = np.uint64(0x0101010101010101), np.uint64(0x0102040810204080)
    for row in range(len(meter.stations)):
        kind, at, begin, end = meter.stations[row]
        start, tiles, tile_bytes, lanes, first = meter.kinds[kind]
        for tile in range(tiles):
            for byte in range(lanes // 8):
                # of eight instances each
                here = np.int64((inputs[at + tile * lanes // 8 + byte] & ones) * gathered >> np.uint64(56))
                if here:
                    asks = np.int64(0)
                    for k in range(begin, end):
                        asks |= np.int64(state[start + tile * tile_bytes + meter.flags[k, 1] + byte])
                    taken, instance = here & asks, first + tile * lanes + 8 * byte
                    while taken:
                        meter.counts[7, instance] += taken & 1
                        taken >>= 1
                        instance += 1


@borrowing
def run_cycles(cycles, beyond, calls, runs, inputs, outputs, host, rx, rx_data, tx_credit, tx, tx_data, rx_credit,
               found, meter, state):
    """Run a network of lowered components: so many cycles, or until everything is delivered.

    Parameters
    ----------
    calls : int64 [kinds, 5]
        Arguments of `call_step`, by kind of component.
    runs : (uint64 [4, runs], unsigned [masks]) for each word size
        Where to and where from the words on the links are copied, how many that follow each other, and where their
        masks begin, 0 for none; the masks.
    inputs, outputs : unsigned [words] for each word size
    rx ... rx_credit
        As in `host_step`.
    found : int64 [nodes + 1]
        Room to work in.
    meter : Meter
        What is counted; see there.
    state : uint8 [bytes]
        The routers' state, kind after kind.
    """
    end = host.counters[NOW] + cycles
    while host.counters[NOW] < end and (beyond or host.counters[UNDELIVERED] > 0):
        if len(meter.ports) > 0:
            _count_links(meter.ports, meter.flits_of_late, meter.worms_of_late, outputs[3])
            meter.counters[NARROW] += 1
            if meter.counters[NARROW] == 255:
                widen(meter.flits_of_late, meter.flits)
                widen(meter.worms_of_late, meter.worms)
                meter.counters[NARROW] = 0
            if sampled(host.counters[NOW]):
                count_sample(meter, state)
        _gather(runs, inputs, outputs)
        _count_grants(meter, inputs[3], state)
        _step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found)
        for k in range(len(calls)):
            call_step(calls[k, 0], calls[k, 1], calls[k, 2], calls[k, 3], calls[k, 4])
