"""Compiled program that tracks worms through the routers, and logs each grant with the wait before it."""

import numpy as np

from wormcast.algorithms.compiled import compiled, inlined

from ..host import NOW, UNDELIVERED
from ..lowering import call_native
from ..lowering.native import native

__all__ = [
    "BUFFER",
    "CONSUMPTION",
    "COUNT",
    "ELIGIBLE",
    "FIRST",
    "INJECTION",
    "LINK",
    "MESSAGE",
    "MOST",
    "NOBODY",
    "PACKET_BITS",
    "TAIL",
    "TURN",
    "WORM",
    "run_tracked",
]

#: Kinds of grants: values of the field ``kind`` of `GRANT`.
INJECTION, LINK, CONSUMPTION, BUFFER, TURN = range(5)
#: Indices in ``GrantTracking.counters``. FIRST: number of the first worm in the hosts' program. COUNT: log entries.
#: MOST: largest number of log entries that a cycle can add.
FIRST, COUNT, MOST = range(3)
NOBODY = -1

# Flags of a front (`FrontTable.flags`) say of the worm at the front: it needs a link (NEEDS_LINK), owns the link
# (OWNS_LINK), has sent its tail on the link (LINK_DONE), requests a consumption channel (REQUESTS_CONSUMPTION), has a
# destination at this router (HERE), has sent its tail to the node (CONSUMPTION_DONE).
# Flag ELIGIBLE of a front: the first reader has a flit that could move.
NEEDS_LINK, OWNS_LINK, LINK_DONE, REQUESTS_CONSUMPTION, HERE, CONSUMPTION_DONE, ELIGIBLE = range(7)
# Bits of `GrantTracking.before`: the worm at the front waits for a link (WAITS) or for a consumption channel (WANTS).
# Bits of `GrantTracking.before`: the worm at the front holds a link (HOLDS) or a consumption channel (CONSUMES).
# Bits of `GrantTracking.before`: a worm is at the front (ACTIVE) and has a flit that could move (ABLE).
WAITS, WANTS, HOLDS, CONSUMES, ACTIVE, ABLE = range(6)
# Columns of `GrantTracking.ports`. OPEN: 1 while the link sends a packet. WORM, MESSAGE: the packet's worm, and the
# worm's message and sender. PACKET, PACKETS: index of the worm's next packet, and number of the worm's packets. TAIL:
# cycle of the last tail on the link.
OPEN, WORM, PACKET, PACKETS, MESSAGE, TAIL = range(6)

#: Number of bits of a packet's number. A packet is one integer: its number in the low bits, its worm's number above.
PACKET_BITS = 16

#: Number of bits of a sender. A worm's name is one integer: the sender in the low bits, the message's number above.
NODE_BITS = 24

# constants of type uint64, which is the type of the words that they are combined with
ZERO, ONE, EIGHT, BYTE = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(255)

#: Cycles from the departure of a buffer's last flit until its credit is at the output that drives the buffer's link.
CREDIT = 2


@compiled
def _number(state, pieces, begin, end, tile, lane):
    """Return a register of one instance, assembled from its pieces (`FrontTable.pieces`)."""
    value = np.int64(0)
    for k in range(begin, end):
        low, width, shift, offset, bits = pieces[k]
        at, part = tile + offset, np.int64(0)
        if bits == 1:
            part = np.int64(state[at + lane // 8]) >> lane % 8
        else:
            at += lane * bits // 8
            for byte in range(bits // 8):
                part |= np.int64(state[at + byte]) << 8 * byte
        value |= (part >> shift & (1 << width) - 1) << low
    return value


@compiled
def _behind(fronts, tracking, out, asked):
    """Return the name of the worm that occupied channel ``out`` when it was requested (``asked``), or `NOBODY`."""
    front = fronts.into[out]
    if front >= 0 and (tracking.first[front] < tracking.end[front] or tracking.current[front] != NOBODY):
        return tracking.owner[out]
    left = tracking.left[front] if front >= 0 else tracking.released[out]
    return tracking.owner[out] if left + CREDIT >= asked else NOBODY


@compiled
def _note(tracking, worm, switch, kind, wait, behind):
    """Write a grant, or an entry of kind `TURN`, to the log."""
    row = tracking.log[tracking.counters[COUNT]]
    row[0], row[1], row[2], row[3] = worm >> PACKET_BITS, worm & (1 << PACKET_BITS) - 1, switch, kind
    row[4], row[5], row[6] = wait, NOBODY, NOBODY
    if wait > 0 and behind != NOBODY:
        row[5], row[6] = behind >> NODE_BITS, behind & (1 << NODE_BITS) - 1
    tracking.counters[COUNT] += 1


@compiled
def _name(fronts, worms, worm):
    """Return a worm's message and sender as one number, which stays valid after the hosts' program drops it."""
    return np.int64(worms[worm].message) << NODE_BITS | worms[worm].source % fronts.nodes


@compiled
def _own(fronts, tracking, worms, worm, out, comes):
    """Make a packet's worm the owner of an output channel, and queue the packet for the front at the channel's far end.

    ``comes``: cycle in which the packet's first flit is on the link.
    """
    before = tracking.owner[out]
    tracking.owner[out] = _name(fronts, worms, (worm >> PACKET_BITS) - tracking.counters[FIRST])
    front = fronts.into[out]
    if front >= 0:
        queued = tracking.queue[front, tracking.end[front] % tracking.queue.shape[1]]
        queued[0], queued[1], queued[2] = worm, comes, before
        tracking.end[front] += 1


@compiled
def _inject(fronts, tracking, host, marks, row, now):
    """Update the tracking of packets by the flit that an interface sends to its router in this cycle."""
    at, stream, bits, switch = fronts.ports[row]
    mark = np.int64(marks[at])
    port, worms, first = tracking.ports[row], host.worms, tracking.counters[FIRST]
    if port[OPEN] == 0:
        before, out = port[MESSAGE], fronts.injected[row, mark >> 1 & (1 << bits) - 1]
        if port[PACKET] == port[PACKETS]:
            # find the worm that the host sent next after ``last``, the last worm on this link
            worm, last = host.streams[stream].before, port[WORM] - first
            while worms[worm].previous >= 0 and worms[worm].previous != last:
                worm = worms[worm].previous
            port[WORM], port[PACKET], port[MESSAGE] = worm + first, 0, _name(fronts, worms, worm)
            port[PACKETS] = -(-worms[worm].length // fronts.packet) if fronts.packet > 0 else 1
        asked = worms[port[WORM] - first].injected + fronts.least
        behind = before if port[TAIL] + CREDIT >= asked else _behind(fronts, tracking, out, asked)
        packet = port[WORM] << PACKET_BITS | port[PACKET]
        _note(tracking, packet, switch, INJECTION, now - asked, behind)
        _own(fronts, tracking, worms, packet, out, now)
        port[OPEN] = 1
        port[PACKET] += 1
    if mark >> 2 + bits & 1:
        port[OPEN], port[TAIL] = 0, now


@compiled
def _change(fronts, tracking, host, state, channel, router, was, now_is, now):
    """Update the tracking for a front whose bits have changed since the cycle before: log grants, record releases."""
    fell, rose = was & ~now_is, now_is & ~was
    front = channel.first + router
    held, worm, asked = tracking.held[front], tracking.current[front], tracking.asked[front]
    switch = fronts.switch[fronts.kinds[channel.kind].first + router]
    for k in range(2):
        if fell >> HOLDS + k & 1:
            tracking.released[held[k]] = now
    if fell >> ACTIVE & 1:
        tracking.left[front], worm = now, NOBODY
    if rose >> ACTIVE & 1:
        worm, comes, before = tracking.queue[front, tracking.first[front] % tracking.queue.shape[1]]
        _note(tracking, worm, switch, BUFFER, now - comes - fronts.header,
              before if tracking.left[front] > comes else NOBODY)
        tracking.first[front] += 1
        tracking.came[front] = now
    tracking.current[front] = worm
    for k in range(2):
        if rose >> HOLDS + k & 1:
            held[k] = _out(fronts, state, channel, router, k)
            since = asked[k] + 1  # a grant comes at least one cycle after the request
            _note(tracking, worm, switch, LINK + k, now - since, _behind(fronts, tracking, held[k], since))
            _own(fronts, tracking, host.worms, worm, held[k], now + fronts.lag)
        if rose >> WAITS + k & 1:
            asked[k] = now


@compiled
def _out(fronts, state, channel, router, k):
    """Return the output channel that a front's worm holds: of a link (``k`` = 0) or an ejection port (``k`` = 1)."""
    kind = fronts.kinds[channel.kind]
    tile, lane = kind.start + router // kind.lanes * kind.tile_bytes, router % kind.lanes
    output = 0
    if k == 0:
        vc = _number(state, fronts.pieces, channel.link_vc, channel.ejection_port, tile, lane)
        for link in range(channel.links, channel.links_end):
            if state[tile + fronts.links[link, 0] + lane // 8] >> lane % 8 & 1:
                output = fronts.links[link, 1]
    else:
        output = fronts.ejection_ports[channel.ejection_ports + _number(
            state, fronts.pieces, channel.ejection_port, channel.consumption_vc, tile, lane)]
        vc = _number(state, fronts.pieces, channel.consumption_vc, channel.position, tile, lane)
    return kind.out + router * kind.outs + output * fronts.vcs + vc


@compiled
def _position(fronts, state, channel, router):
    """Return the position of a front's first reader in the buffer, which changes with each flit that the reader
    reads."""
    kind = fronts.kinds[channel.kind]
    return _number(state, fronts.pieces, channel.position, channel.pieces_end,
                   kind.start + router // kind.lanes * kind.tile_bytes, router % kind.lanes)


@compiled
def _bit(words, channel, unit, router):
    """Return a front's bit in ``words`` as a number; each word has the bits of ``unit`` fronts."""
    return np.int64(words[channel.word + router // unit] >> np.uint64(router % unit) & ONE)


@compiled
def _look(fronts, tracking, state):
    """For each front with a flit that could move in the cycle before, note its outputs and whether it moved."""
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        kind = fronts.kinds[channel.kind]
        for router in range(kind.instances):
            if _bit(tracking.could, channel, kind.unit, router):
                front, before = channel.first + router, tracking.before
                holds = _bit(before[:, HOLDS], channel, kind.unit, router)
                consumes = _bit(before[:, CONSUMES], channel, kind.unit, router)
                tracking.uses[front] = holds | _bit(before[:, WAITS], channel, kind.unit, router) | consumes << 1
                tracking.holds[front] = holds | consumes
                tracking.went[front] = _position(fronts, state, channel, router) != tracking.position[front]


@compiled
def _count_turns(fronts, tracking, host, state):
    """Write to the log the flits that could have moved and did not, each with the worm that was served instead."""
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        kind = fronts.kinds[channel.kind]
        for router in range(kind.instances):
            front = channel.first + router
            if _bit(tracking.could, channel, kind.unit, router) and tracking.holds[front] and not (
                    tracking.went[front]):
                _note(tracking, tracking.current[front], fronts.switch[kind.first + router], TURN, 1,
                      _served(fronts, tracking, host, channel, router))
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        kind = fronts.kinds[channel.kind]
        for word in range(channel.word, channel.word + (kind.instances + kind.unit - 1) // kind.unit):
            before = tracking.before[word]
            tracking.could[word] = before[ABLE] & (before[HOLDS] | before[CONSUMES] | before[WAITS])
        for router in range(kind.instances):
            if _bit(tracking.could, channel, kind.unit, router):
                tracking.position[channel.first + router] = _position(fronts, state, channel, router)


@compiled
def _served(fronts, tracking, host, channel, router):
    """Return the name of the worm that was served in place of the worm at a front.

    The served worm is one whose flit went to the output of the waiting worm, or else one whose flit came from the
    waiting worm's input, or else one at this input whose header was read, or whose request was not granted.
    """
    front, unit, found = channel.first + router, fronts.kinds[channel.kind].unit, NOBODY
    for number in range(len(fronts.channels)):
        other = fronts.channels[number]
        rival = other.first + router
        if other.kind != channel.kind or rival == front:
            continue
        could = _bit(tracking.could, other, unit, router)
        if not (could and tracking.went[rival]):
            asked = could and not tracking.holds[rival]
            if found == NOBODY and other.input == channel.input and (
                    asked or tracking.came[rival] == host.counters[NOW]):
                worm = (tracking.current[rival] >> PACKET_BITS) - tracking.counters[FIRST]
                found = _name(fronts, host.worms, worm)
            continue
        for k in range(2):
            if tracking.uses[rival] >> k & 1:
                out = tracking.held[rival, k]
                for j in range(2):
                    if tracking.uses[front] >> j & 1 and tracking.held[front, j] // fronts.vcs == out // fronts.vcs:
                        return tracking.owner[out]
                if other.input == channel.input:
                    found = tracking.owner[out]
    return found


@inlined
def _word(states, at, size):
    """Return ``size`` bytes of state as one number."""
    if size == 8:
        return np.uint64(states[3][at >> 3])
    if size == 4:
        return np.uint64(states[2][at >> 2])
    return np.uint64(states[1][at >> 1])


@inlined
def _any(fronts, states, number, what, at, size):
    """Return a word with a bit for each front: 1 if any of the front's flags with meaning ``what`` is set."""
    found = ZERO
    for k in range(fronts.flag_ends[number, what], fronts.flag_ends[number, what + 1]):
        found |= _word(states, at + fronts.flags[k], size)
    return found


@compiled
def _watch(fronts, tracking, host, marks, states):
    """Update the tracking of all worms in this cycle. ``states``: state of the routers at the start of the cycle."""
    now, state = host.counters[NOW], states[0]
    if fronts.turns:
        _look(fronts, tracking, state)
    for row in range(len(fronts.ports)):
        if marks[fronts.ports[row, 0]] & 1:
            _inject(fronts, tracking, host, marks, row, now)
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        kind = fronts.kinds[channel.kind]
        size = kind.unit // 8
        for word in range((kind.instances + kind.unit - 1) // kind.unit):
            router = word * kind.unit
            at = kind.start + router // kind.lanes * kind.tile_bytes + router % kind.lanes // 8
            there = ~ZERO if kind.instances - router >= 64 else (ONE << np.uint64(kind.instances - router)) - ONE
            needs_link = _any(fronts, states, number, NEEDS_LINK, at, size) & there
            here = _any(fronts, states, number, HERE, at, size) & there
            before = tracking.before[channel.word + word]
            if needs_link | here | before[ACTIVE] == ZERO:
                before[ABLE] = ZERO
                continue
            owns = _any(fronts, states, number, OWNS_LINK, at, size)
            link_done = _any(fronts, states, number, LINK_DONE, at, size)
            requests_consumption = _any(fronts, states, number, REQUESTS_CONSUMPTION, at, size) & there
            consumed = _any(fronts, states, number, CONSUMPTION_DONE, at, size)
            bits = (needs_link & ~(owns | link_done | requests_consumption), requests_consumption,
                    needs_link & owns & ~link_done, here & ~requests_consumption & ~consumed, needs_link | here)
            changed = ZERO
            for k in range(5):
                changed |= bits[k] ^ before[k]
            while changed:
                if changed & BYTE == ZERO:
                    changed >>= EIGHT
                    router += 8
                    continue
                if changed & ONE:
                    was = now_is = np.int64(0)
                    for k in range(5):
                        bit = np.uint64(router - word * kind.unit)
                        was |= np.int64(before[k] >> bit & ONE) << k
                        now_is |= np.int64(bits[k] >> bit & ONE) << k
                    _change(fronts, tracking, host, state, channel, router, was, now_is, now)
                changed >>= ONE
                router += 1
            for k in range(5):
                before[k] = bits[k]
            before[ABLE] = _any(fronts, states, number, ELIGIBLE, at, size) & there
    if fronts.turns:
        _count_turns(fronts, tracking, host, state)


@native()
def run_tracked(cycles, beyond, fronts, tracking, states, outputs, host, entry, table):
    """Run a network as `run_cycles` does, and track its worms. Stop early if the log may lack room for another cycle.

    Parameters
    ----------
    fronts, tracking : FrontTable, GrantTracking
        See `Grants`.
    states : unsigned [words] for 1, 2, 4 and 8 bytes
        State of all components, viewed as numbers of these sizes.
    outputs : uint8 [bytes]
        Words that the components and the hosts drive.
    entry, table : int
        Arguments of `call_native` that call `run_cycles` for one cycle.
    """
    end = host.counters[NOW] + cycles
    while (host.counters[NOW] < end and (beyond or host.counters[UNDELIVERED] > 0)
           and tracking.counters[COUNT] + tracking.counters[MOST] <= len(tracking.log)):
        _watch(fronts, tracking, host, outputs, states)
        if call_native(entry, table):
            raise RuntimeError("the network has failed")
