"""The program above the network interfaces: posts worms, notes receipts. One for every engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, Worms
from wormcast.algorithms.compiled import compiled
from wormcast.algorithms.headers import AddressList
from wormcast.hw.network_interface import HOST_DEPTH

from .lowering import call_step

__all__ = ["Host", "Message", "check_receipts", "host_step", "make_host", "run_cycles"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# marks on a link, least significant bit first: valid, virtual channel (no bits towards the network), head, tail
VALID, HEAD, TAIL = 1, 2, 4

# places in Host.counters
NOW, UNDELIVERED, HELD, FAULT, FAULT_NODE, FAULT_CHANNEL = range(6)
FAULTS = (
    "",
    "a first payload flit that belongs to no worm for this node",
    "a payload flit that is not the next one of its worm, or is wrongly marked",
)


@dataclass(frozen=True)
class Message:
    """One multicast to send: created in cycle ``at``, of ``length`` payload flits."""

    at: int
    source: int
    destinations: tuple[int, ...]
    length: int


class Host(NamedTuple):
    """Program, state and results of all nodes' hosts, as arrays for the compiled `host_step`.

    Worms are numbered in the order of their messages; node n sends queue[queue_offsets[n]:queue_offsets[n+1]]
    in turn, none before its cycle ``ready``. A payload flit carries its worm's tag (the low bits of its number,
    unique among the worms under way) and its place in the worm, repeated over the flit's width, and every
    receipt is compared with what is due; flits of 16 bits and less have no room for the place. Messages that a
    source creates in the same cycle are sent in their order.
    """

    ready: Integers  # [worms]
    length: Integers  # [worms], payload flits
    header_offsets: Integers  # [worms + 1]
    header: Words  # [header flits, parts], data
    queue_offsets: Integers  # [nodes + 1]
    queue: Integers  # [worms]
    delivery_offsets: Integers  # [worms + 1]
    delivery_node: Integers  # [deliveries]
    delivery_worm: Integers  # [deliveries]
    layout: Integers  # flit width, bits of a consumption channel's number, channels

    queue_at: Integers  # [nodes]
    sent: Integers  # [nodes], flits sent of the worm in turn
    credits: Integers  # [nodes]
    tagged: Integers  # [tags], the worm under way with this tag, or -1
    receiving: Integers  # [nodes, channels], the delivery under way, or -1
    received: Integers  # [nodes, channels], its payload flits so far
    owed: Integers  # [nodes, channels], credits not yet given back
    stall: Words  # chance out of 2**32 to take nothing in a cycle, seed

    injected: Integers  # [worms], cycle of the first flit on the host's link, or -1
    left: Integers  # [worms], deliveries outstanding
    touched: Integers  # [worms], cycle in which a flit was last sent or received
    head: Integers  # [deliveries], cycle of the first payload flit, or -1
    tail: Integers  # [deliveries], cycle of the last
    counters: Integers


def make_host(nodes: int, messages: Sequence[Message], worms: Worms, header: AddressList, *,
              consumption: int, stall: float = 0.0, seed: int = 0) -> Host:
    """Lay out the program that sends these worms of these messages.

    Parameters
    ----------
    consumption : int
        Consumption channels of a node.
    stall : float
        Chance, 0 to below 1, that a consumption channel takes nothing in a cycle; for tests of back-pressure.
    seed : int
        Of the stalls.

    Raises
    ------
    WormcastError
        ``stall`` is outside its range.
    """
    if not 0 <= stall < 1:
        raise WormcastError(f"stall: {stall} is given, allowed is from 0 to below 1")
    width = header.flit_width
    count = len(worms)
    message_of = np.repeat(np.arange(worms.messages), np.diff(worms.message_offsets))
    created = np.array([message.at for message in messages], np.int64)
    lengths = np.array([message.length for message in messages], np.int64)
    flit_offsets, flits = header.encode_batch(worms.destination_offsets, worms.destinations)
    queue_offsets = np.concatenate([[0], np.cumsum(np.bincount(worms.source, minlength=nodes))])
    order = np.lexsort((worms.rank, message_of, created[message_of], worms.source))
    deliveries = len(worms.destinations)
    counters = np.zeros(6, np.int64)
    counters[UNDELIVERED] = deliveries
    return Host(
        ready=created[message_of],
        length=lengths[message_of],
        header_offsets=flit_offsets,
        header=flits,
        queue_offsets=queue_offsets,
        queue=order.astype(np.int64),
        delivery_offsets=worms.destination_offsets.astype(np.int64),
        delivery_node=worms.destinations.astype(np.int64),
        delivery_worm=np.repeat(np.arange(count), np.diff(worms.destination_offsets)),
        layout=np.array([width, (consumption - 1).bit_length(), consumption]),
        queue_at=queue_offsets[:-1].copy(),
        sent=np.zeros(nodes, np.int64),
        credits=np.full(nodes, HOST_DEPTH),
        tagged=np.full(1 << min(width, 16), -1),
        receiving=np.full((nodes, consumption), -1),
        received=np.zeros((nodes, consumption), np.int64),
        owed=np.zeros((nodes, consumption), np.int64),
        stall=np.array([int(stall * 2**32), seed], np.uint64),
        injected=np.full(count, -1),
        left=np.diff(worms.destination_offsets).astype(np.int64),
        touched=np.full(count, -1),
        head=np.full(deliveries, -1),
        tail=np.full(deliveries, -1),
        counters=counters,
    )


@compiled
def _tag(worm, width):
    """The tag of a worm: its number, in the 16 lowest bits of the data at most."""
    return worm & ((1 << min(width, 16)) - 1)


@compiled
def _payload(worm, place, width, part):
    """One 64-bit part of a payload flit's data: 16 bits of tag and 16 of place, repeated up to the flit's width."""
    pattern = np.uint64(_tag(worm, width) | (place & 0xFFFF) << 16)
    word = pattern | pattern << np.uint64(32)
    used = width - 64 * part
    if used < 64:
        word &= (np.uint64(1) << np.uint64(used)) - np.uint64(1)
    return word


@compiled
def _stalls(stall, cycle, node, channel):
    """Whether a consumption channel takes nothing in this cycle; a hash, so that no engine's order matters."""
    mixed = stall[1] ^ np.uint64(cycle) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(node * 64 + channel + 1) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)) < stall[0]


@compiled
def _fail(host, fault, node, channel):
    """Note the first receipt that is not as it must be."""
    if host.counters[FAULT] == 0:
        host.counters[FAULT] = fault
        host.counters[FAULT_NODE] = node
        host.counters[FAULT_CHANNEL] = channel


@compiled
def _send(host, node, tx, tx_data):
    """Put the node's next flit on its link to the interface, if its time has come."""
    at = host.queue_at[node]
    now = host.counters[NOW]
    worm, sent = host.queue[at], host.sent[node]
    width = host.layout[0]
    if sent == 0:
        if host.ready[worm] > now:
            return
        if host.tagged[_tag(worm, width)] >= 0:
            host.counters[HELD] += 1  # the host's doing, not the network's: such a run counts for nothing
            return
        host.tagged[_tag(worm, width)] = worm
        host.injected[worm] = now
    first = host.header_offsets[worm]
    headers = host.header_offsets[worm + 1] - first
    place = sent - headers
    if place < 0:
        tx[node] = VALID | HEAD
    else:
        tx[node] = VALID | (TAIL if place == host.length[worm] - 1 else 0)
    for part in range(tx_data.shape[0]):
        tx_data[part, node] = host.header[first + sent, part] if place < 0 else _payload(worm, place, width, part)
    host.sent[node] += 1
    host.credits[node] -= 1
    host.touched[worm] = now
    if host.sent[node] == headers + host.length[worm]:
        host.sent[node] = 0
        host.queue_at[node] += 1


@compiled
def _first_flit(host, node, data):
    """Find the delivery that a first payload flit at this node begins, or -1."""
    worm = host.tagged[_tag(np.int64(data & np.uint64(0xFFFF)), host.layout[0])]
    if worm < 0:
        return -1
    for delivery in range(host.delivery_offsets[worm], host.delivery_offsets[worm + 1]):
        if host.delivery_node[delivery] == node and host.head[delivery] < 0:
            return delivery
    return -1


@compiled
def _receive(host, node, marks, rx_data):
    """Take the flit that the interface hands over, and compare it with the one that is due."""
    width, channel_bits = host.layout[0], host.layout[1]
    channel = marks >> 1 & ((1 << channel_bits) - 1)
    now = host.counters[NOW]
    host.owed[node, channel] += 1
    place = host.received[node, channel]
    if place == 0:
        host.receiving[node, channel] = _first_flit(host, node, np.uint64(rx_data[0, node]))
    delivery = host.receiving[node, channel]
    if delivery < 0:
        _fail(host, 1, node, channel)
        return
    worm = host.delivery_worm[delivery]
    last = place == host.length[worm] - 1
    right = marks == VALID | channel << 1 | (TAIL << channel_bits if last else 0)
    for part in range(rx_data.shape[0]):
        right &= np.uint64(rx_data[part, node]) == _payload(worm, place, width, part)
    if not right:
        _fail(host, 2, node, channel)
        return
    if place == 0:
        host.head[delivery] = now
    host.received[node, channel] = place + 1
    host.touched[worm] = now
    if last:
        host.tail[delivery] = now
        host.received[node, channel] = 0
        host.counters[UNDELIVERED] -= 1
        host.left[worm] -= 1
        if host.left[worm] == 0:
            host.tagged[_tag(worm, width)] = -1


@compiled
def host_step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit):
    """One cycle of all hosts.

    Parameters
    ----------
    rx, rx_data : unsigned [nodes], unsigned [parts, nodes]
        Marks and data on the links from the interfaces in this cycle.
    tx_credit : unsigned [nodes]
        Credits from the interfaces in this cycle.
    tx, tx_data, rx_credit : unsigned [nodes], unsigned [parts, nodes], unsigned [nodes]
        What the hosts' registers drive in the next cycle.
    """
    # every call passes all of the host's arrays: idle nodes must get by without one
    channels, now = host.layout[2], host.counters[NOW]
    for node in range(len(host.queue_at)):
        host.credits[node] += tx_credit[node]
        marks = np.int64(rx[node])
        if marks & VALID:
            _receive(host, node, marks, rx_data)
        credit = 0
        for channel in range(channels):
            if host.owed[node, channel] > 0 and not _stalls(host.stall, now, node, channel):
                host.owed[node, channel] -= 1
                credit |= 1 << channel
        rx_credit[node] = credit
        tx[node] = 0
        if host.credits[node] > 0 and host.queue_at[node] < host.queue_offsets[node + 1]:
            _send(host, node, tx, tx_data)
    host.counters[NOW] += 1


@compiled
def _gather(wires, inputs, outputs):
    for k in range(wires.shape[1]):
        inputs[wires[0, k]] = outputs[wires[1, k]]


@compiled
def run_cycles(cycles, beyond, calls, wires, inputs, outputs, host, rx, rx_data, tx_credit, tx, tx_data, rx_credit):
    """Run a network of lowered components: so many cycles, or until everything is delivered.

    Parameters
    ----------
    calls : int64 [kinds, 5]
        Arguments of `call_step`, by kind of component.
    wires : int64 [2, links] for each word size
        Where to and where from the words on the links are copied.
    inputs, outputs : unsigned [words] for each word size
    rx ... rx_credit
        As in `host_step`.

    It stands here because numba's cache looks at a function's own file alone: in another one it would keep
    running an older `host_step`.
    """
    end = host.counters[NOW] + cycles
    while host.counters[NOW] < end and (beyond or host.counters[UNDELIVERED] > 0):
        _gather(wires[0], inputs[0], outputs[0])
        _gather(wires[1], inputs[1], outputs[1])
        _gather(wires[2], inputs[2], outputs[2])
        _gather(wires[3], inputs[3], outputs[3])
        host_step(host, rx, rx_data, tx_credit, tx, tx_data, rx_credit)
        for k in range(len(calls)):
            call_step(calls[k, 0], calls[k, 1], calls[k, 2], calls[k, 3], calls[k, 4])


def check_receipts(host: Host) -> None:
    """Refuse to go on after a receipt that was not as it must be.

    Raises
    ------
    WormcastError
        A worm was held back because its tag was in use: flits too narrow to tell the worms under way apart.
    RuntimeError
        The hardware lost, reordered or corrupted a flit: a bug of the hardware or of an engine, never the user's.
    """
    if host.counters[HELD]:
        width = int(host.layout[0])
        raise WormcastError(f"flit_width: {width} bits tell {1 << min(width, 16)} worms under way apart, "
                            "this run has more at a time")
    fault = int(host.counters[FAULT])
    if fault:
        node, channel = int(host.counters[FAULT_NODE]), int(host.counters[FAULT_CHANNEL])
        raise RuntimeError(f"node {node}, consumption channel {channel}: received {FAULTS[fault]}")
