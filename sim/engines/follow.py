"""The program that follows worms through the routers, compiled: who is where, what each gets, and after what wait.

`run_followed` holds a copy of `host.run_cycles`, and numba's cache looks at this file alone: change it when that one
changes.
"""

import numpy as np

from wormcast.algorithms.compiled import borrowing, compiled

from ..host import NOW, UNDELIVERED, run_cycles

__all__ = ["BUFFER", "CONSUMPTION", "COUNT", "ELIGIBLE", "FIRST", "INJECTION", "LINK", "MESSAGE", "MOST", "NOBODY",
           "PACKET_BITS", "SLOT", "TAIL", "WORM", "run_followed"]

#: What a worm has got: `Grants.log`.
INJECTION, LINK, CONSUMPTION, BUFFER, SLOT = range(5)
#: Places in ``Following.counters``: number of the host's first worm, entries of the log, most of a cycle.
FIRST, COUNT, MOST = range(3)
NOBODY = -1

# bits of a front (`Fronts.flags`): of the link: asked for, owned, passed; of the consumption channel: claimed, there,
# passed; a flit could go
ASKS, OWNS, THROUGH, CLAIMS, HERE, DONE, ELIGIBLE = range(7)
# what they come to (`Following.before`): waits for a link, for a consumption channel, holds one, the other, is there; a
# flit could go
WAITS, WANTS, HOLDS, CONSUMES, ACTIVE, ABLE = range(6)
# columns of Following.ports: whether a packet is under way, the worm, which packet of it comes next, how many it has,
# its name, the cycle of the last tail
OPEN, WORM, PACKET, PACKETS, MESSAGE, TAIL = range(6)

#: A worm's packet is a number: the worm's, and in so many bits below it the packet's.
PACKET_BITS = 16

#: A worm's name is its message's number, and in so many bits below it its sender.
NODE_BITS = 24

#: Cycles from the last flit that leaves a buffer until its credit is where the next worm asks.
CREDIT = 2


@compiled
def _number(state, pieces, begin, end, tile, lane):
    """A register of one instance, from its pieces (`Fronts.pieces`)."""
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
def _behind(fronts, following, out, asked):
    """The worm that kept a channel from one that has asked for it since this cycle, as `Following.owner` names it."""
    front = fronts.into[out]
    if front >= 0 and (following.first[front] < following.end[front] or following.current[front] != NOBODY):
        return following.owner[out]
    left = following.left[front] if front >= 0 else following.released[out]
    return following.owner[out] if left + CREDIT >= asked else NOBODY


@compiled
def _note(following, worm, switch, kind, wait, behind):
    """Write down what a worm has got, and how."""
    row = following.log[following.counters[COUNT]]
    row[0], row[1], row[2], row[3] = worm >> PACKET_BITS, worm & (1 << PACKET_BITS) - 1, switch, kind
    row[4], row[5], row[6] = wait, NOBODY, NOBODY
    if wait > 0 and behind != NOBODY:
        row[5], row[6] = behind >> NODE_BITS, behind & (1 << NODE_BITS) - 1
    following.counters[COUNT] += 1


@compiled
def _name(fronts, worms, worm):
    """A worm's message and sender as one number, which means the same when the worm is forgotten."""
    return np.int64(worms[worm].message) << NODE_BITS | worms[worm].source % fronts.nodes


@compiled
def _own(fronts, following, worms, worm, out, comes):
    """Let a worm own a channel, on which its first flit comes in a cycle, into the buffer behind it."""
    before = following.owner[out]
    following.owner[out] = _name(fronts, worms, (worm >> PACKET_BITS) - following.counters[FIRST])
    front = fronts.into[out]
    if front >= 0:
        queued = following.queue[front, following.end[front] % following.queue.shape[1]]
        queued[0], queued[1], queued[2] = worm, comes, before
        following.end[front] += 1


@compiled
def _inject(fronts, following, host, marks, row, now):
    """Follow what goes from an interface to its router."""
    at, stream, bits, switch = fronts.ports[row]
    mark = np.int64(marks[at])
    if mark & 1 == 0:
        return
    port, worms, first = following.ports[row], host.worms, following.counters[FIRST]
    if port[OPEN] == 0:
        before, out = port[MESSAGE], fronts.injected[row, mark >> 1 & (1 << bits) - 1]
        if port[PACKET] == port[PACKETS]:
            # the worm that the host has sent behind the last one that has come here
            worm, last = host.streams[stream].before, port[WORM] - first
            while worms[worm].previous >= 0 and worms[worm].previous != last:
                worm = worms[worm].previous
            port[WORM], port[PACKET], port[MESSAGE] = worm + first, 0, _name(fronts, worms, worm)
            port[PACKETS] = -(-worms[worm].length // fronts.packet) if fronts.packet > 0 else 1
        asked = worms[port[WORM] - first].injected + fronts.least
        behind = before if port[TAIL] + CREDIT >= asked else _behind(fronts, following, out, asked)
        packet = port[WORM] << PACKET_BITS | port[PACKET]
        _note(following, packet, switch, INJECTION, now - asked, behind)
        _own(fronts, following, worms, packet, out, now)
        port[OPEN] = 1
        port[PACKET] += 1
    if mark >> 2 + bits & 1:
        port[OPEN], port[TAIL] = 0, now


@compiled
def _change(fronts, following, host, state, channel, tile, lane, front, router, was, now_is, now):
    """Follow the worm at a front whose bits are others than in the cycle before."""
    (kind, _, _, links, links_end, exits, link_vc, link_vc_end, exit_, exit_end, consumption_vc,
     consumption_vc_end) = channel[:12]
    fell, rose = was & ~now_is, now_is & ~was
    held = following.held[front]
    for k in range(2):
        if fell >> HOLDS + k & 1:
            following.released[held[k]] = now
    outs, switch = fronts.outs[kind] + router * fronts.outputs[kind], fronts.switch[fronts.switches[kind] + router]
    if fell >> ACTIVE & 1:
        following.left[front], following.current[front] = now, NOBODY
    if rose >> ACTIVE & 1:
        worm, comes, before = following.queue[front, following.first[front] % following.queue.shape[1]]
        _note(following, worm, switch, BUFFER, now - comes - fronts.header,
              before if following.left[front] > comes else NOBODY)
        following.current[front] = worm
        following.first[front] += 1
    worm, asked = following.current[front], following.asked[front]
    for k in range(2):
        if rose >> HOLDS + k & 1:
            if k == 0:
                output, vc = 0, _number(state, fronts.pieces, link_vc, link_vc_end, tile, lane)
                for link in range(links, links_end):
                    if state[tile + fronts.links[link, 0] + lane // 8] >> lane % 8 & 1:
                        output = fronts.links[link, 1]
            else:
                output = fronts.exits[exits + _number(state, fronts.pieces, exit_, exit_end, tile, lane)]
                vc = _number(state, fronts.pieces, consumption_vc, consumption_vc_end, tile, lane)
            held[k] = outs + output * fronts.vcs + vc
            since = asked[k] + 1  # it asks for a cycle at least
            _note(following, worm, switch, LINK + k, now - since, _behind(fronts, following, held[k], since))
            _own(fronts, following, host.worms, worm, held[k], now + fronts.lag)
        if rose >> WAITS + k & 1:
            asked[k] = now


@compiled
def _position(fronts, state, channel, router):
    """Where the first reader of a front stands in its buffer: it moves with each flit."""
    start, tile_bytes, lanes, _ = fronts.kinds[channel[0]]
    return _number(state, fronts.pieces, channel[13], channel[14], start + router // lanes * tile_bytes, router % lanes)


@compiled
def _look(fronts, following, state):
    """See of each front of which a flit could go in the cycle before where to, and whether it went."""
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        for eight in range(channel[15], channel[15] + (fronts.kinds[channel[0], 3] + 7) // 8):
            before, could = following.before[eight], np.int64(following.could[eight])
            router = 8 * (eight - channel[15])
            while could:
                if could & 1:
                    front, bit = channel[12] + router, router % 8
                    onward = np.int64(before[HOLDS] | before[WAITS]) >> bit & 1
                    following.uses[front] = onward | (np.int64(before[CONSUMES]) >> bit & 1) << 1
                    following.went[front] = _position(fronts, state, channel, router) != following.position[front]
                    following.holds[front] = np.int64(before[HOLDS] | before[CONSUMES]) >> bit & 1
                could >>= 1
                router += 1


@compiled
def _count_turns(fronts, following, state):
    """Write down which flits of worms with channels could have gone and did not, and whose went in their place."""
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        for eight in range(channel[15], channel[15] + (fronts.kinds[channel[0], 3] + 7) // 8):
            could, router = np.int64(following.could[eight]), 8 * (eight - channel[15])
            while could:
                front = channel[12] + router
                if could & 1 and following.holds[front] and not following.went[front]:
                    _note(following, following.current[front], fronts.switch[fronts.switches[channel[0]] + router],
                          SLOT, 1, _served(fronts, following, channel, router))
                could >>= 1
                router += 1
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        for eight in range(channel[15], channel[15] + (fronts.kinds[channel[0], 3] + 7) // 8):
            before = following.before[eight]
            following.could[eight] = before[ABLE] & (before[HOLDS] | before[CONSUMES] | before[WAITS])
            could, router = np.int64(following.could[eight]), 8 * (eight - channel[15])
            while could:
                if could & 1:
                    following.position[channel[12] + router] = _position(fronts, state, channel, router)
                could >>= 1
                router += 1


@compiled
def _served(fronts, following, channel, router):
    """Name of the worm whose flit went in place of the one at a front: to the same output, else from the same input."""
    front, found = channel[12] + router, NOBODY
    for number in range(len(fronts.channels)):
        other = fronts.channels[number]
        rival = other[12] + router
        if other[0] != channel[0] or rival == front or not (
                following.could[other[15] + router // 8] >> router % 8 & 1 and following.went[rival]):
            continue
        for k in range(2):
            if following.uses[rival] >> k & 1:
                out = following.held[rival, k]
                for j in range(2):
                    if following.uses[front] >> j & 1 and following.held[front, j] // fronts.vcs == out // fronts.vcs:
                        return following.owner[out]
                if other[16] == channel[16]:
                    found = following.owner[out]
    return found


@compiled
def _watch(fronts, following, host, marks, state):
    """Follow all worms in this cycle; the state is that at its start."""
    now = host.counters[NOW]
    if fronts.slots:
        _look(fronts, following, state)
    for row in range(len(fronts.ports)):
        _inject(fronts, following, host, marks, row, now)
    place = 0  # in ``before``
    for number in range(len(fronts.channels)):
        channel = fronts.channels[number]
        kind, begin, end, first = channel[0], channel[1], channel[2], channel[12]
        start, tile_bytes, lanes, instances = fronts.kinds[kind]
        for byte in range((instances + 7) // 8):
            tile, part = start + 8 * byte // lanes * tile_bytes, byte % (lanes // 8)
            # of eight instances each
            asks = owns = through = claims = here = done = eligible = np.int64(0)
            for k in range(begin, end):
                what, bits = fronts.flags[k, 0], np.int64(state[tile + fronts.flags[k, 1] + part])
                asks |= bits * (what == ASKS)
                owns |= bits * (what == OWNS)
                through |= bits * (what == THROUGH)
                claims |= bits * (what == CLAIMS)
                here |= bits * (what == HERE)
                done |= bits * (what == DONE)
                eligible |= bits * (what == ELIGIBLE)
            waits, holds = asks & ~(owns | through | claims), asks & owns & ~through
            consumes, active = here & ~claims & ~done, asks | here
            before = following.before[place]
            changed = np.int64(waits ^ before[WAITS] | claims ^ before[WANTS] | holds ^ before[HOLDS]
                       | consumes ^ before[CONSUMES] | active ^ before[ACTIVE])
            bit = 0
            while changed:
                if changed & 1:
                    was = now_is = np.int64(0)
                    for k, bits in enumerate((waits, claims, holds, consumes, active)):
                        was |= (np.int64(before[k]) >> bit & 1) << k
                        now_is |= (bits >> bit & 1) << k
                    router = 8 * byte + bit
                    if router < instances:
                        _change(fronts, following, host, state, channel, tile, router % lanes, first + router, router,
                               was, now_is, now)
                changed >>= 1
                bit += 1
            before[WAITS], before[WANTS], before[HOLDS], before[CONSUMES], before[ACTIVE], before[ABLE] = (
                waits, claims, holds, consumes, active, eligible)
            place += 1
    if fronts.slots:
        _count_turns(fronts, following, state)


@borrowing
def run_followed(cycles, beyond, fronts, following, calls, runs, inputs, outputs, host, rx, rx_data, tx_credit, tx,
                 tx_data, rx_credit, found, meter, state):
    """Run a network as `run_cycles` does, and follow its worms; it stops early when the log is full.

    Parameters
    ----------
    fronts, following : Fronts, Following
        See `Grants`.
    """
    end = host.counters[NOW] + cycles
    while (host.counters[NOW] < end and (beyond or host.counters[UNDELIVERED] > 0)
           and following.counters[COUNT] + following.counters[MOST] <= len(following.log)):
        _watch(fronts, following, host, outputs[0], state)
        run_cycles(1, beyond, calls, runs, inputs, outputs, host, rx, rx_data, tx_credit, tx, tx_data, rx_credit, found,
                   meter, state)
