"""The hosts' program, compiled."""

import numpy as np

from wormcast.algorithms.compiled import compiled, inlined

from ..lowering import call_native, call_step
from ..lowering.native import native
from .child_table import admit, begin_work, end_worm, write_row
from .constants import (
    ADMITS,
    ASKS,
    BUCKET,
    CHANNEL_BITS,
    CHANNELS,
    END,
    FAULT,
    FAULT_CHANNEL,
    FAULT_EXPECTED,
    FAULT_FLIT,
    FAULT_MARKS,
    FAULT_NODE,
    FAULT_RECEIVED,
    FAULT_WORM,
    FREED,
    HEAD,
    HELD,
    IMAGE,
    LOOK,
    MARK_BITS,
    MESSAGES,
    NEXT,
    NONE,
    NOW,
    OF,
    PACKET,
    RATE,
    RECEIPT,
    ROWS,
    SEPARATE,
    SMART,
    SPREAD,
    T_HR,
    T_NR,
    TAG,
    TAG_BITS,
    TAIL,
    UNDELIVERED,
    UNDER_WAY,
    VALID,
    WAIT,
    WIDTH,
)
from .idle import FIRST_LOOK, FIRST_WAIT, jump
from .link_data import PARTS, get_part, put_part
from .payload import free_tag, joined, payload, place_of
from .program_layout import Host
from .queues import append, append_worm, take
from .requests import end_reply, hold_request, send_requests
from .row_requests import ask_for_rows, is_answer, note_answer, send_control

__all__ = ["gather", "host_step", "needed", "run_cycles"]


def needed(host: Host) -> dict[str, bool]:
    """Return the values of the switches of `host_step` for a hosts' program: ``SMART`` with smart interfaces, ``ASKS``
    with requests for rows of child tables."""
    return {"SMART": bool(host.options[ROWS]), "ASKS": bool(host.options[MESSAGES])}


@compiled
def _stalls(stall, cycle, node, channel):
    """Return whether a consumption channel is stalled in a cycle, by a hash that is the same in all engines."""
    mixed = stall[1] ^ np.uint64(cycle) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(node * 64 + channel + 1) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)) < stall[0]


@inlined
def _compute(nodes, streams, worms, deliveries, releases, exchanges, smart, working, sending, options, counters, node):
    """Let a node's processor work: tasks that end in this cycle take effect, and then the next task begins."""
    now = counters[NOW]
    cpu = nodes[node]
    while True:
        if cpu.task == NONE:
            if cpu.first == NONE:
                working[node] = 0
                break
            cpu.task = take(cpu, worms, deliveries)
            cpu.until = now + (worms[cpu.task].cost if cpu.task >= 0 else options[T_HR])
        if cpu.until > now:
            break
        task = cpu.task
        cpu.task = NONE
        if task >= 0:
            stream = worms[task].stream
            append_worm(streams[stream], worms, task)
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
                    begin_work(cpu, worms, deliveries, smart, counters, released)
                at = releases[at].next
            if worms[delivery.worm].answers >= 0:
                end_reply(cpu, exchanges[worms[delivery.worm].answers], now)
                send_requests(cpu, worms, deliveries, exchanges, smart, options, counters)


@inlined
def _tag_bits(worm, options):
    """Return the number of payload bits in a worm's first packet. The tag has this number of bits, at most 16."""
    packet = options[PACKET]
    return options[WIDTH] * (min(worm.length, packet) if packet > 0 else worm.length)


@inlined
def _may_begin(stream, worms, tagged, options, counters):
    """Return whether a tag is free for the next worm of a link."""
    if counters[UNDER_WAY] == 0 or worms[stream.first].posting >= 0:
        return True
    bits = _tag_bits(worms[stream.first], options)
    if options[ROWS] == 0 and bits >= TAG_BITS:
        return counters[UNDER_WAY] < len(tagged)
    return free_tag(tagged, counters[TAG], bits, options[ROWS], options[MESSAGES]) != NONE


@inlined
def _send(streams, worms, header, tagged, smart, asks, control, sending, options, counters, admission, row, tx, tx_data,
          port, node):
    """Put the next flit on the link from a host to an injection port. Control packets go before worms."""
    now = counters[NOW]
    stream = streams[row]
    worm = stream.worm
    controls = False
    if ASKS:
        controls = worm < 0 and smart[node].kind != NONE
        if controls:
            send_control(streams, smart, asks, control, sending, options, admission, tx, tx_data, node)
    if worm < 0 and not controls:
        if not _may_begin(stream, worms, tagged, options, counters):
            # the host, not the network, holds the worm back until a tag is free: the run is not valid
            counters[HELD] = _tag_bits(worms[stream.first], options)
        else:
            worm = stream.first
            stream.first = worms[worm].behind
            begun = worms[worm]
            if begun.posting < 0:
                begun.tag = free_tag(tagged, counters[TAG], _tag_bits(begun, options), options[ROWS],
                                     options[MESSAGES])
                tagged[begun.tag] = worm
                counters[TAG] = (begun.tag + 1) & (len(tagged) - 1)
            last = max(worm, begun.posting)  # all worms of a forwarded message begin with its first worm
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
            # a forwarded message has no header: a flit with head and tail marks replaces it
            tx[port, node] = VALID | HEAD | (TAIL if worms[worm].posting >= 0 else 0)
            at = worms[worm].header_at + stream.sent
            for part in range(tx_data[PARTS]):
                put_part(tx_data, port, part, node, header[at, part])
        else:
            tx[port, node] = VALID | (TAIL if stream.sent == stream.flits - 1 else 0)
            for part in range(tx_data[PARTS]):
                put_part(tx_data, port, part, node, payload(worms[worm].tag, place, options, part))
        stream.sent += 1
        stream.credits -= 1
        worms[worm].touched = now
        if stream.sent == stream.flits:
            for other in range(worm, max(worm, worms[worm].posting) + 1):
                worms[other].handed = now
            stream.worm = NONE
            if stream.first < 0:
                sending[row] = 0
                if ASKS:
                    sending[row] = smart[node].kind != NONE


@compiled
def _begin(channels, worms, deliveries, begun, tagged, options, row, node, data):
    """Find the delivery and the packet of a packet's first payload flit. Return False if the flit fits no worm."""
    width, packet = options[WIDTH], options[PACKET]
    tag = np.int64(data) & (len(tagged) - 1)
    worm = tagged[tag]
    if worm < 0:
        return False
    length = worms[worm].length
    place, end, number = 0, length, 0
    if packet > 0:
        word = np.int64(data & np.uint64(0xFFFFFFFF))
        place = (word >> TAG_BITS) * packet if options[SPREAD] > 1 else place_of(word, width)
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
def _fail(counters, fault, node, channel, received, marks, worm, flit, expected, wanted):
    """Record a wrong receipt if it is the first one.

    ``received``, ``marks``: the flit. ``worm``, ``flit``, ``expected``, ``wanted``: the expected worm, number of its
    payload flit, and the flit's data and marks.
    """
    if counters[FAULT] == 0:
        counters[FAULT] = fault
        counters[FAULT_NODE] = node
        counters[FAULT_CHANNEL] = channel
        counters[FAULT_WORM] = worm
        counters[FAULT_FLIT] = flit
        counters[FAULT_EXPECTED] = np.int64(expected)
        counters[FAULT_RECEIVED] = np.int64(received)
        counters[FAULT_MARKS] = marks | wanted << MARK_BITS


@inlined
def _receive(nodes, channels, worms, deliveries, begun, smart, asks, tagged, working, options, counters, admission,
             marks, rx_data, link, node, vc, row):
    """Receive the flit that the interface hands to the host, and compare it with the expected one."""
    now, width = counters[NOW], options[WIDTH]
    number = link * options[CHANNELS] + vc
    channel = channels[row]
    there = channel.delivery >= 0
    known, answers = True, False
    if not there:
        data = get_part(rx_data, link, 0, node)
        before = 0
        if options[SPREAD] > 1:
            before = channel.seen
            if before == 0:
                channel.since = now
            plain = False  # the flits hold the bits as they are, without the tag
            if ASKS:
                plain = before > 0 and is_answer(options, channel.word)
            if plain:
                channel.word |= np.int64(data) << before * width
            else:
                channel.word = joined(channel.word, np.int64(data), before, width)
            data = np.uint64(channel.word)
            known = before + 1 >= options[SPREAD] or marks >> options[CHANNEL_BITS] & (HEAD | TAIL) != 0
            channel.seen = 0 if known else before + 1
        if ASKS:
            whole = known and is_answer(options, data) and marks >> options[CHANNEL_BITS] & (HEAD | TAIL) == TAIL
            answers = whole and note_answer(smart, worms, deliveries, asks, options, admission, node, data)
        if known and not answers:
            there = not marks & HEAD << options[CHANNEL_BITS] and _begin(
                channels, worms, deliveries, begun, tagged, options, row, node, data)
            if not there:
                _fail(counters, 1, node, number, data, marks >> options[CHANNEL_BITS] & (HEAD | TAIL), NONE, 0,
                      np.uint64(0), 0)
            elif before > 0:
                channel.place += before
                deliveries[channel.delivery].due -= before
                if deliveries[channel.delivery].head < 0:
                    deliveries[channel.delivery].head = channel.since
                    deliveries[channel.delivery].first = channel.place // options[PACKET] if options[PACKET] > 0 else 0
    if there:
        last = channel.place == channel.end - 1
        right = marks == VALID | vc << 1 | (TAIL << options[CHANNEL_BITS] if last else 0)
        for part in range(rx_data[PARTS]):
            right &= get_part(rx_data, link, part, node) == payload(channel.tag, channel.place, options, part)
        if not right:
            _fail(counters, 2, node, number, get_part(rx_data, link, 0, node),
                  marks >> options[CHANNEL_BITS] & (HEAD | TAIL), channel.worm, channel.place,
                  payload(channel.tag, channel.place, options, 0), TAIL if last else 0)
            if marks >> 1 + options[CHANNEL_BITS] & TAIL >> 1:
                channel.delivery = NONE  # the next flit on this channel begins a new packet
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
                    append(nodes[node], worms, deliveries, RECEIPT - channel.delivery)
                    working[node] = 1
                    worms[channel.worm].left -= 1
                    if worms[channel.worm].left == 0:
                        end_worm(worms, deliveries, smart, tagged, counters, channel.tag)
                channel.delivery = NONE


@inlined
def _move(nodes, streams, channels, worms, header, tagged, smart, asks, control, sending, options, counters, admission,
          tx, tx_data, rx_credit, node):
    """Move a node's flits in both directions, within the rate of its I/O bus.

    For received flits, the rate limits the credits that the host returns, one for each flit. Both directions share a
    token bucket, or each direction has its own. A token bucket loses no part while a flit waits for a token. If both
    directions have flits, the next flit is of the direction that did not move the last one.
    """
    count, vcs = len(nodes), options[CHANNELS]
    cpu, cost, most = nodes[node], options[OF], options[BUCKET]
    cpu.taken = min(cpu.taken + options[RATE], most)
    cpu.given = min(cpu.given + options[RATE], most) if options[SEPARATE] else 0
    refused, moved = False, 0  # bits of ``moved``: 1 for received flits, 2 for sent ones
    for way in range(2):
        if (way + cpu.turn) & 1 == 0:
            for link in range(rx_credit.shape[0]):
                for vc in range(vcs):
                    row = (link * count + node) * vcs + vc
                    if channels[row].owed > 0 and rx_credit[link, node] == 0:
                        if cpu.taken >= cost:
                            cpu.taken -= cost
                            channels[row].owed -= 1
                            moved |= 1
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
                        moved |= 2
                        _send(streams, worms, header, tagged, smart, asks, control, sending, options, counters,
                              admission, row, tx, tx_data, port, node)
                    else:
                        refused = True
    # in a cycle without a token the turn stays: if it changed, one direction would have it each time a token comes
    if refused and moved:
        cpu.turn = 1 - cpu.turn if moved == 3 else moved & 1


@inlined
def _step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found):
    """Do one cycle of all hosts; see `host_step`."""
    (nodes, streams, channels, worms, deliveries, agenda, releases, exchanges, header, begun, smart, tagged, working,
     sending, writing, options, stall, counters, asks, control, admission) = host
    now, count, vcs = counters[NOW], len(nodes), options[CHANNELS]
    stalls, throttled = stall[0] > 0, options[RATE] > 0
    holds = stalls or throttled  # the host does not return each credit at once
    while counters[NEXT] < len(agenda) and worms[agenda[counters[NEXT]]].ready <= now:
        worm = agenda[counters[NEXT]]
        worms[worm].waits -= 1
        if worms[worm].waits == 0:
            if worms[worm].asks >= 0:
                hold_request(nodes[worms[worm].source], worms, worm)
                send_requests(nodes[worms[worm].source], worms, deliveries, exchanges, smart, options, counters)
            else:
                begin_work(nodes[worms[worm].source], worms, deliveries, smart, counters, worm)
            working[worms[worm].source] = 1
        counters[NEXT] += 1
    for link in range(rx.shape[0]):
        for node in range(count):
            rx_credit[link, node] = 0
        # collect receiving nodes without an if: processors would predict it badly
        receiving = 0
        for node in range(count):
            found[receiving] = node
            receiving += rx[link, node] & VALID
        for k in range(receiving):
            node = found[k]
            marks = np.int64(rx[link, node])
            vc = marks >> 1 & ((1 << options[CHANNEL_BITS]) - 1)
            row = (link * count + node) * vcs + vc
            _receive(nodes, channels, worms, deliveries, begun, smart, asks, tagged, working, options, counters,
                     admission, marks, rx_data, link, node, vc, row)
            if holds:
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
            _compute(nodes, streams, worms, deliveries, releases, exchanges, smart, working, sending, options, counters,
                     node)
    if SMART:
        if counters[ADMITS] and not options[MESSAGES]:
            admit(smart, worms, deliveries, tagged, writing, options, counters)
        table = tx.shape[0] - 1
        for node in range(count):
            tx[table, node] = 0
            if writing[node]:
                write_row(nodes, smart, worms, deliveries, header, working, writing, options, tx, tx_data, table, node)
        if ASKS:
            for node in range(count):
                ask_for_rows(nodes, smart, worms, deliveries, asks, tagged, working, sending, writing, options,
                             counters, admission, tx_credit, tx, tx_data, table, node)
    for port in range(len(streams) // count):
        for node in range(count):
            row = port * count + node
            if tx_credit[port, node]:
                streams[row].credits += 1
            tx[port, node] = 0
            if sending[row] and streams[row].credits > 0 and not throttled:
                _send(streams, worms, header, tagged, smart, asks, control, sending, options, counters, admission, row,
                      tx, tx_data, port, node)
    if throttled:
        for node in range(count):
            _move(nodes, streams, channels, worms, header, tagged, smart, asks, control, sending, options, counters,
                  admission, tx, tx_data, rx_credit, node)
    counters[NOW] += 1


@native("SMART", "ASKS")
def host_step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found):
    """Do one cycle of all hosts.

    Parameters
    ----------
    rx, rx_data : unsigned [links, nodes], array of `link_data`
        Marks and data on the links from the interfaces in this cycle.
    tx_credit : unsigned [ports, nodes]
        Credits from the interfaces in this cycle.
    tx, tx_data, rx_credit : unsigned [ports, nodes], array of `link_data`, unsigned [links, nodes]
        Words that the hosts' registers drive in the next cycle. In ``tx``, the links to the child tables of smart
        interfaces follow the links to the injection ports.
    found : int64 [nodes + 1]
        Scratch memory.
    """
    _step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found)


@compiled
def _copy(wires, inputs, outputs):
    """Copy runs of consecutive words, and single words.

    A run is a column of four indices or numbers: first target word, first source word, number of words, first mask. A
    single word is a column of two numbers: target, source. The numbers are unsigned, so that LLVM vectorises runs.
    """
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


@native()
def gather(runs, inputs, outputs):
    """Copy the words on all links from their drivers to their receivers. The parameters are as in `run_cycles`."""
    _gather(runs, inputs, outputs)


@native("SMART", "ASKS")
def run_cycles(cycles, beyond, calls, runs, inputs, outputs, host, rx, rx_data, tx_credit, tx, tx_data, rx_credit,
               found, counting, meter, state, idle, image):
    """Run a network of lowered components for ``cycles`` cycles; without ``beyond``, stop earlier if everything is
    delivered.

    Cycles without events are skipped, up to cycle ``idle[END]``, which may be after the last of the ``cycles`` cycles.

    Parameters
    ----------
    calls : int64 [kinds, 5]
        Arguments of `call_step`, by kind of component.
    runs : (uint64 [4, runs], unsigned [masks], uint32 [2, words]) for each word size
        Words to copy on links, in runs of consecutive words and singly. For each word size, the first array has first
        target, first source and length of each run, and the index of its first mask, 0 for no mask. The second array
        has the masks, which are ANDed with the copied words. The third array has target and source of each word that is
        in no run.
    inputs, outputs : unsigned [words] for each word size
    rx, rx_data, tx_credit, tx, tx_data, rx_credit, found
        As in `host_step`.
    counting : int64 [3, 2]
        Arguments of `call_native`: a native function that counts at the start of a cycle, and two that count after the
        links have been copied. 0 for no function.
    meter : int64 [2]
        ``Meter.counters``.
    state : uint8 [bytes]
        The components' state, kind after kind, the routers' first.
    idle, image : int64 [7], uint8 [bytes]
        See `jump`.
    """
    end = host.counters[NOW] + cycles
    while host.counters[NOW] < end and (beyond or host.counters[UNDELIVERED] > 0):
        if counting[0, 0] and call_native(counting[0, 0], counting[0, 1]):
            raise RuntimeError("counting has failed")
        _gather(runs, inputs, outputs)
        for k in range(1, 3):
            if counting[k, 0] and call_native(counting[k, 0], counting[k, 1]):
                raise RuntimeError("counting has failed")
        _step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found)
        for k in range(len(calls)):
            call_step(calls[k, 0], calls[k, 1], calls[k, 2], calls[k, 3], calls[k, 4])
        if host.counters[UNDER_WAY] > 0:
            idle[LOOK], idle[WAIT], idle[IMAGE] = host.counters[NOW] + FIRST_LOOK, FIRST_WAIT, NONE
        elif idle[LOOK] <= host.counters[NOW] < idle[END]:
            jump(host, meter, state, outputs[0], idle, image)
