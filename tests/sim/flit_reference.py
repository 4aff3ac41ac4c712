"""Unicasts in a network of wormhole routers, flit by flit: a second simulator, from the documented timing alone.

It knows what docs/links.md and docs/hosts.md promise (Delays, Credit loop, Turns, Interface, Host), and imports nothing
of the package. A flit that *leaves* a buffer in cycle c is on the link behind it in c + 1 (``fast`` routers: c + 2).
One that is on a link in t leaves the buffer behind it in t + 1 at the earliest. The first flit of a worm is fetched in
t + 1, not before the cycle after the tail in front has left, and leaves in the cycle after at the earliest. The place
of a flit that left in c may be taken by one that leaves the buffer before it in c + 2, and the virtual channel of a
worm whose tail left in c by another worm's header that leaves in c + 2. At its destination a header reserves a
consumption channel instead of leaving, and goes nowhere.

Who goes first follows the paragraph on turns. Nothing is left open: the hardware's unicasts do the same in the same
cycle.

Not here: several destinations, packets, all ports, separate links, overheads.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numba
import numpy as np

__all__ = ["EAST", "LOCAL", "NORTH", "SOUTH", "WEST", "Net", "Sent", "simulate"]

QUEUE = 4
NONE, NEVER = -1, 1 << 60
EAST, WEST, SOUTH, NORTH, LOCAL = range(5)
# what the worm at the front of an input's virtual channel does
IDLE, ASKS, MOVES = range(3)


class Net(NamedTuple):
    """Links between switches and nodes, and routes of worms.

    A switch numbers its inputs: those from other switches first, then those from nodes; its outputs likewise.
    """

    links: Sequence[tuple[int, int, int, int]]  # from a switch, by its output, to a switch, by its input
    injections: Sequence[tuple[int, int]]  # [nodes], switch and input
    consumptions: Sequence[tuple[int, int]]  # [nodes], switch and output
    routes: np.ndarray  # [switches, inputs, nodes], the output towards each node


class Sent(NamedTuple):
    """Times of the messages, -1 for events that have not happened."""

    injected: np.ndarray  # [messages], the cycle before the first flit is on the host's link
    head: np.ndarray  # [messages], the first payload flit is on the link to the destination's host
    tail: np.ndarray  # [messages], the last one is
    trace: np.ndarray  # [flits, 6], on routers' links: cycle, router, output, its channel, message, place (header 0)


def _record(*fields):
    return np.dtype([(field, np.int64) for field in fields])


#: The buffer behind a virtual channel of a link: its flits, how many have been sent to it and have left it so far; the
#: message that has the virtual channel, or the cycle from which on another one may. Those of (router, input, virtual
#: channel) come first, then those of (node, consumption channel), then the queues of the interfaces.
BUFFER = _record("depth", "sent", "left", "owner", "free_at")
#: A place in a buffer: a flit, the cycle in which it is on the link, and the one in which it left.
PLACE = _record("message", "place", "on_link", "left_at")
#: The worm at the front of a router's buffer: what it does, its output, the buffer behind that; and where the virtual
#: channel stands in the order of its router.
WORM = _record("does", "output", "holds", "rank")
#: An output: the buffers behind it, the one offered to headers, which of them was offered last, when one was taken;
#: whether it leads to a node.
OUTPUT = _record("first", "count", "offer", "offered", "taken_at", "ends")
#: An input, or an interface: the virtual channel that had the last turn; the buffer that the interface's worm fills.
TURN = _record("vc", "fills")
#: A host: its next message and the last one's end, in the order of sending, and the next flit.
HOST = _record("message", "end", "place")
MESSAGE = _record("at", "source", "destination", "length", "injected", "head", "tail")


def mesh(rows, columns):
    """A mesh whose worms go by e-cube, the last coordinate first."""
    nodes = list(product(range(rows), range(columns)))
    links, routes = [], np.zeros((len(nodes), LOCAL + 1, len(nodes)), np.int64)
    for node, (row, column) in enumerate(nodes):
        for output, to_row, to_column in ((EAST, row, column + 1), (WEST, row, column - 1), (SOUTH, row + 1, column),
                                          (NORTH, row - 1, column)):
            if 0 <= to_row < rows and 0 <= to_column < columns:
                # east leads to the neighbour's west
                links.append((node, output, to_row * columns + to_column, output ^ 1))
        for destination, (to_row, to_column) in enumerate(nodes):
            across, down = (WEST, EAST)[to_column > column], (NORTH, SOUTH)[to_row > row]
            routes[node, :, destination] = across if to_column != column else down if to_row != row else LOCAL
    ends = [(node, LOCAL) for node in range(len(nodes))]
    return Net(links, ends, ends, routes)


def simulate(net, at, source, destination, length, *, cycles, vcs=2, depth=4, channels=2, fast=False, trace=0):
    """Send messages.

    Parameters
    ----------
    net : Net or (rows, columns)
        A mesh is given by its shape.
    at, source, destination, length : [messages]
        In the order of ``at``; a node sends its own in this order. Lengths in payload flits, behind one header flit.
    cycles : int
        Cycles 0 to cycles - 1 are simulated.
    vcs, depth, channels : int
        Virtual channels of a link, flits of buffer for each (for each consumption channel too), consumption channels.
    trace : int
        So many flits on the routers' output links are noted.
    """
    net = net if isinstance(net, Net) else mesh(*net)
    nodes, (switches, ports, _) = len(net.injections), net.routes.shape
    several = ports * vcs
    inputs = switches * several
    buffers = np.zeros(inputs + nodes * channels + nodes, BUFFER)
    buffers["depth"], buffers["owner"] = depth, NONE
    buffers["depth"][-nodes:] = QUEUE
    worms = np.zeros(inputs, WORM)
    worms["rank"] = np.arange(inputs) % several
    outputs, injections = np.zeros((switches, int(net.routes.max()) + 1), OUTPUT), np.zeros(nodes, OUTPUT)
    for one in (outputs, injections):
        one["taken_at"] = -NEVER
    for switch, output, to, entry in net.links:
        outputs[["first", "count"]][switch, output] = (to * ports + entry) * vcs, vcs
    for node, ((switch, entry), end) in enumerate(zip(net.injections, net.consumptions, strict=True)):
        injections[["first", "count"]][node] = (switch * ports + entry) * vcs, vcs
        outputs[["first", "count", "ends"]][end] = inputs + node * channels, channels, 1
    messages = np.zeros(len(at), MESSAGE)
    for field, values in (("at", at), ("source", source), ("destination", destination), ("length", length)):
        messages[field] = values
    for field in ("injected", "head", "tail"):
        messages[field] = NONE
    of = np.argsort(messages["source"], kind="stable")
    ends = np.searchsorted(messages["source"][of], np.arange(nodes + 1))
    hosts = np.zeros(nodes, HOST)
    hosts["message"], hosts["end"] = ends[:-1], ends[1:]
    noted = np.zeros((trace, 6), np.int64)
    places = np.zeros((len(buffers), max(depth, QUEUE)), PLACE)
    turns, turns_of_nodes = np.zeros((switches, ports), TURN), np.zeros(nodes, TURN)
    count = _simulate(cycles, vcs, 2 if fast else 1, net.routes, np.array(net.consumptions), buffers, places, worms,
                      outputs, injections, turns, turns_of_nodes, hosts, of, messages, noted)
    for field in ("head", "tail"):
        messages[field][messages[field] >= cycles] = NONE
    return Sent(messages["injected"], messages["head"], messages["tail"], noted[:count])


@numba.njit
def _room(buffers, places, at, now):
    """Return whether a flit can be sent to this buffer now."""
    buffer = buffers[at]
    over = buffer.sent - buffer.depth
    return over < 0 or (buffer.left > over and places[at, over % buffer.depth].left_at + 2 <= now)


@numba.njit
def _there(buffers, places, at, now):
    """Return whether the buffer holds a flit."""
    buffer = buffers[at]
    return buffer.left < buffer.sent and places[at, buffer.left % buffer.depth].on_link < now


@numba.njit
def _take(buffers, places, at, now):
    """The front flit leaves: its message and place."""
    buffer = buffers[at]
    flit = places[at, buffer.left % buffer.depth]
    flit.left_at = now
    buffer.left += 1
    return flit.message, flit.place


@numba.njit
def _put(buffers, places, at, message, place, cycle):
    """A flit is on the link to this buffer in this cycle."""
    buffer = buffers[at]
    flit = places[at, buffer.sent % buffer.depth]
    flit.message, flit.place, flit.on_link = message, place, cycle
    buffer.sent += 1


@numba.njit
def _front(buffers, places, at):
    return places[at, buffers[at].left % buffers[at].depth].message


@numba.njit
def _post(buffers, places, queue, host, of, messages, now):
    """The host's next flit is on its link."""
    if host.message == host.end:
        return
    message = of[host.message]
    if messages[message].at < now and _room(buffers, places, queue, now):
        if host.place == 0:
            messages[message].injected = now - 1
        _put(buffers, places, queue, message, host.place, now)
        host.place += 1
        if host.place > messages[message].length:
            host.place = 0
            host.message += 1


@numba.njit
def _inject(buffers, places, queue, offer, turn, messages, now):
    """The interface sends its worms one after the other."""
    if not _there(buffers, places, queue, now):
        return
    fresh = places[queue, buffers[queue].left % QUEUE].place == 0
    if fresh:
        turn.fills = offer
    to = turn.fills
    if to != NONE and (fresh or _room(buffers, places, to, now)):
        message, place = _take(buffers, places, queue, now)
        _put(buffers, places, to, message, place, now + 1)
        buffers[to].owner = message
        if place == messages[message].length:
            buffers[to].owner, buffers[to].free_at = NONE, now + 2


@numba.njit
def _consume(buffers, places, output, turn, messages, now):
    """The interface hands over a flit of the next consumption channel that has one."""
    for k in range(1, output.count + 1):
        channel = (turn.vc + k) % output.count
        if _there(buffers, places, output.first + channel, now):
            message, place = _take(buffers, places, output.first + channel, now)
            if place == 1:
                messages[message].head = now + 1
            if place == messages[message].length:
                messages[message].tail = now + 1
            turn.vc = channel
            return


@numba.njit
def _make_offer(buffers, places, output, now):
    """Offer headers the next virtual channel, behind the one offered last, that is free and has a place."""
    output.offer = NONE
    for k in range(1, output.count + 1):
        vc = (output.offered + k) % output.count
        at = output.first + vc
        if buffers[at].owner == NONE and buffers[at].free_at <= now and _room(buffers, places, at, now):
            output.offer, output.offered = at, vc
            return


@numba.njit
def _present(buffers, places, worms, outputs, routes, first, vcs, turn, messages, now):
    """The buffer for which an input asks, if any: of the next virtual channel that has a use for the reader.

    What a header wanted may be gone since the cycle before: then the look is in vain, and costs no turn.
    """
    for k in range(1, vcs + 1):
        vc = (turn.vc + k) % vcs
        at = first + vc
        if not _there(buffers, places, at, now):
            continue
        worm = worms[at]
        if worm.does == IDLE:
            worm.does, worm.output = ASKS, routes[messages[_front(buffers, places, at)].destination]
            turn.vc = vc
            return NONE
        if worm.does == ASKS and outputs[worm.output].offer == NONE:
            if outputs[worm.output].taken_at == now - 1:
                return NONE
        elif worm.does == ASKS or _room(buffers, places, worm.holds, now):
            turn.vc = vc
            return at
    return NONE


@numba.njit
def _grant(buffers, places, worms, at, output, cycle, messages, now):
    """The front flit leaves: its message and place."""
    message, place = _take(buffers, places, at, now)
    worm = worms[at]
    if place == 0:
        worm.does, worm.holds = MOVES, output.offer
        output.taken_at = now
        buffers[worm.holds].owner = message
        if output.ends:
            return message, place
    _put(buffers, places, worm.holds, message, place, cycle)
    if place == messages[message].length:
        buffers[worm.holds].owner, buffers[worm.holds].free_at = NONE, now + 2
        worm.does = IDLE
    return message, place


@numba.njit
def _to_the_end(worms, won):
    """Put those who won behind all others of a router; both keep their order."""
    inside = np.empty(len(worms), np.int64)
    for k in range(len(worms)):
        inside[worms[k].rank] = k
    rank = 0
    for which in (False, True):
        for k in inside:
            if won[k] == which:
                worms[k].rank = rank
                rank += 1


@numba.njit
def _simulate(cycles, vcs, lag, routes, consumptions, buffers, places, worms, outputs, injections, turns,
              turns_of_nodes, hosts, of, messages, noted):
    """Run the network; the number of flits noted."""
    count, nodes, ports = 0, len(hosts), turns.shape[1]
    several = ports * vcs
    asks, won = np.zeros(ports, np.int64), np.zeros(several, np.bool_)
    for now in range(cycles + 1):
        # what a node or a switch does, others see in later cycles
        for node in range(nodes):
            queue = len(buffers) - nodes + node
            _post(buffers, places, queue, hosts[node], of, messages, now)
            _consume(buffers, places, outputs[consumptions[node, 0], consumptions[node, 1]], turns_of_nodes[node],
                     messages, now)
            _make_offer(buffers, places, injections[node], now)
            _inject(buffers, places, queue, injections[node].offer, turns_of_nodes[node], messages, now)
        for node in range(len(outputs)):
            for output in range(outputs.shape[1]):
                _make_offer(buffers, places, outputs[node, output], now)
            for port in range(ports):
                asks[port] = _present(buffers, places, worms, outputs[node], routes[node, port],
                                      (node * ports + port) * vcs, vcs, turns[node, port], messages, now)
            won[:] = False
            for output in range(outputs.shape[1]):
                best = NONE
                for at in asks:
                    if at != NONE and worms[at].output == output and (
                            best == NONE or worms[at].rank < worms[best].rank):
                        best = at
                if best == NONE:
                    continue
                won[best - node * several] = True
                message, place = _grant(buffers, places, worms, best, outputs[node, output], now + lag, messages, now)
                if count < len(noted) and (place > 0 or not outputs[node, output].ends):
                    vc = worms[best].holds - outputs[node, output].first
                    noted[count] = now + lag, node, output, vc, message, place
                    count += 1
            if won.any():
                _to_the_end(worms[node * several:(node + 1) * several], won)
    return count
