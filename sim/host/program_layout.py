"""The program, state and results of all nodes' hosts, as arrays."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, Worms
from wormcast.algorithms.headers import AddressList, Header
from wormcast.algorithms.routing import default_signs
from wormcast.algorithms.worms import AT_ONCE

from ..build.configuration import Configuration
from ..build.network import Network
from ..common.packet_count import packets_of
from .constants import CHANNELS, NONE, PACKET, TAG_BITS, UNDELIVERED
from .dependents import RELEASE, awaited, link
from .ni_messages import forwarded_messages, lay_out_rows

__all__ = ["Host", "lay_out", "tag_bits"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.uint8]
Booleans = npt.NDArray[np.bool_]
Records = npt.NDArray[np.void]


def _record(*fields: str, narrow: tuple[str, ...] = ()) -> np.dtype:
    """Fields of 64 bits, and behind them of 32, where there are many records."""
    return np.dtype([*((field, np.int64) for field in fields), *((field, np.int32) for field in narrow)])


#: A node's processor: the task it works on (a worm to post, or as -2 - d the receipt of delivery d), until when, and
#: the first and last of the tasks that wait. ``taken``, ``given``: what its memory may move; ``turn``: which way first.
NODE = _record("task", "until", "first", "last", "taken", "given", "turn")
#: A smart interface's table: rows that are taken, a bit each; the worms that wait for rows, first and last; what is
#: written (a worm: the row of its source; as -2 - d: that of the node of delivery d), and waits to be, first and last;
#: the child whose header comes next, and how many flits of it are sent.
SMART = _record("rows", "first_waiting", "last_waiting", "task", "first", "last", "child", "sent")
#: The link to one injection port: the worm that is being sent, its flits sent, all its flits, its header flits; the
#: worms that wait for the link; the worm sent before; how many it has begun to send.
STREAM = _record("credits", "worm", "sent", "flits", "headers", "first", "last", "before", "worms")
#: A consumption channel: the delivery whose packet is coming in, place of the next flit, place behind the packet's
#: last flit, credits not yet given back; of a packet that is not known yet, what its flits have said, how many of them
#: there were, and the cycle of the first.
CHANNEL = _record("delivery", "worm", "tag", "place", "end", "owed", "word", "seen", "since")
#: ``waits``: its message's cycle and receipts, as many of them as are still to come; ``ready``: that cycle, or that of
#: the last one where it was a receipt; ``cost``: processor cycles before it is posted; ``stream``: row of its link;
#: ``touched``: cycle in which a flit was last sent or received; ``left``: deliveries outstanding; ``previous``: the
#: worm sent before it on the same link; ``tag``: while it is under way; ``behind``: the task or worm behind it in its
#: queue; ``posted``: cycle in which it came into that of its link; ``message``: number of its message in its lane.
#: Where interfaces forward a message, its first worm, ``root`` of all, stands for all up to the worm ``posting``;
#: ``sibling``: the worm that the same node sends next, ``own_headers``: its header flits; ``rows_due``: rows that are
#: still to be written.
WORM = _record("ready", "posted", "injected", "handed", "touched", "header_at", "cost", narrow=(
    "source", "length", "headers", "stream", "delivery", "delivery_end", "left", "previous", "tag", "waits",
    "behind", "message", "root", "posting", "sibling", "own_headers", "rows_due"))
#: ``due``: payload flits outstanding; ``packets``: row of its first packet; ``release``, ``last_release``: what waits
#: for it; ``behind``: the task behind its receipt; ``first``: the packet whose first flit was taken in ``head``;
#: ``child``: the first worm that its node's interface forwards.
DELIVERY = _record("head", "tail", "received", "packets", narrow=(
    "node", "worm", "due", "release", "last_release", "behind", "first", "child"))


class Host(NamedTuple):
    """All nodes' hosts, as arrays for the compiled `host_step`.

    Worms are numbered in the order of their messages. A node has one processor. It takes tasks in the order in
    which they arise: its worms when their message is created, receipts when the last flit is there, worms that
    wait for receipts when the last of them is noted; those of one cycle in this order, messages by number. Posting
    a worm takes t_hs cycles, the first of a message the injection delay before; noting a receipt t_hr. A posted worm
    is sent behind the others of its injection port while the processor goes on.

    A payload flit carries its worm's tag (of 16 bits, unique among the worms under way) and its place in the worm,
    repeated over the flit's width, and every receipt is compared with what is due. Of narrower flits the first ones of
    a packet carry the tag, and which packet of its worm it is, low bits first, the others the tag's low bits. Packets
    of a worm may come in any order and side by side.

    What smart interfaces forward has one tag for all of its worms. It is posted once, when a row of the child tables is
    free at all of its nodes: the same one, which the tag's low 8 bits say. The rows are written before, over links of
    their own, and are free when all destinations have the message: so interfaces have room for whatever comes.
    """

    nodes: Records  # [nodes], NODE
    streams: Records  # [ports x nodes], STREAM: all nodes of port 0, of port 1, ...
    channels: Records  # [links x nodes x channels of a link], CHANNEL
    worms: Records  # [worms], WORM
    deliveries: Records  # [deliveries], DELIVERY
    agenda: Integers  # worms that wait for no receipt of their own message, in the order of their cycles
    releases: Records  # [pairs of a receipt and a worm that waits for it], RELEASE
    header: Words  # [header flits, parts], data
    begun: Flags  # [packets of all deliveries]
    smart: Records  # [nodes], SMART
    tagged: Integers  # [tags], the worm under way with this tag, or NONE
    working: Flags  # [nodes], the processor has something to do
    sending: Flags  # [ports x nodes], the link has
    writing: Flags  # [nodes], the link to the child table has
    options: Integers
    stall: Words  # chance out of 2**32 to take nothing in a cycle, seed
    counters: Integers

    @property
    def injected(self) -> Integers:
        """Cycle of each worm's first flit on the host's link, or -1; [worms]."""
        return self.worms["injected"]

    @property
    def handed(self) -> Integers:
        """Cycle of each worm's last flit on the host's link, or -1; [worms]."""
        return self.worms["handed"]

    @property
    def packets(self) -> Integers:
        """Packets that each worm is sent in, [worms]."""
        return packets_of(self.worms["length"], int(self.options[PACKET]))

    @property
    def unnamed(self) -> Integers:
        """Flits that each node's channels have taken of packets which do not tell their worm yet, [nodes]."""
        return self.channels["seen"].reshape(-1, len(self.nodes), int(self.options[CHANNELS])).sum(axis=(0, 2))

    @property
    def left(self) -> Integers:
        """Deliveries outstanding, [worms]."""
        return self.worms["left"]

    @property
    def touched(self) -> Integers:
        """Cycle in which a flit was last sent or received, or -1; [worms]."""
        return self.worms["touched"]

    @property
    def head(self) -> Integers:
        """Cycle in which the first payload flit was taken from its consumption channel, or -1; [deliveries]."""
        return self.deliveries["head"]

    @property
    def tail(self) -> Integers:
        """The same for the last payload flit, without t_nr; [deliveries]."""
        return self.deliveries["tail"]

    @property
    def received(self) -> Integers:
        """Cycle in which the receipt was noted, t_nr and t_hr later at the earliest, or -1; [deliveries]."""
        return self.deliveries["received"]


def tag_bits(flit_width: int) -> int:
    """Bits that tell worms of one payload flit apart."""
    return min(flit_width, TAG_BITS)


def _spread(flit_width: int, packet: int) -> int:
    """Flits of a packet that together say its worm, and which packet it is."""
    if flit_width > TAG_BITS:
        return 1
    return -(-(2 * TAG_BITS if packet else TAG_BITS) // flit_width)


def lay_out(network: Network, at: Integers, length: Integers, worms: Worms, *, lane: Integers | int = 0,
            numbers: Integers | None = None, multicast: Booleans | None = None, stall: float = 0.0,
            seed: int = 0) -> Host:
    """Lay out the program that sends the worms of many messages.

    Parameters
    ----------
    at : int64 array [messages]
        Cycles in which they are created, in any order.
    length : int64 array [messages]
        Payload flits.
    lane : int64 array [messages], or int
        The network's lane in which each is sent; the worms name the nodes of one lane.
    numbers : int64 array [messages], optional
        Their numbers in their lanes; by default they are counted from 0.
    multicast : bool array [messages], optional
        Which of them are multicasts; by default those with several destinations.
    stall : float
        Chance, 0 to below 1, that a consumption channel takes nothing in a cycle; for tests of back-pressure.
    seed : int
        Of the stalls.

    Raises
    ------
    WormcastError
        ``stall`` is outside its range; flits are too narrow for packets; a worm waits for a receipt that its
        sender never gets.
    """
    if not 0 <= stall < 1:
        raise WormcastError(f"stall: {stall} is given, allowed is from 0 to below 1")
    configuration, nodes = network.configuration, network.hosts
    ports, links, channels = network.ports, network.links, network.channels
    width, packet = network.header.flit_width, configuration.packet
    _check_packets(packet, width, length)
    _check_slots(configuration, network.header, length, worms)

    rows = np.zeros(len(worms), WORM)
    message_of = np.repeat(np.arange(worms.messages), np.diff(worms.message_offsets))
    created = at[message_of]
    first_node = np.broadcast_to(lane, worms.messages)[message_of] * network.nodes
    source = first_node + worms.source
    signs = None
    if network.header.signed:
        signs = default_signs(network.topology, worms) if worms.signs is None else worms.signs
    header_offsets, header = network.header.encode_batch(worms.destination_offsets, worms.destinations, signs=signs)
    for field, values in {
        "ready": created, "source": source, "length": length[message_of],
        "headers": np.diff(header_offsets), "header_at": header_offsets[:-1],
        "stream": network.injection_port_of(worms) * nodes + source,
        "delivery": worms.destination_offsets[:-1], "delivery_end": worms.destination_offsets[1:],
        "message": message_of if numbers is None else numbers[message_of],
        "left": np.diff(worms.destination_offsets), "waits": 1,
        "own_headers": np.diff(header_offsets),
        **dict.fromkeys(("posted", "injected", "handed", "touched", "previous", "behind", "root", "posting", "sibling"),
                        NONE),
    }.items():
        rows[field] = values
    forwarded = forwarded_messages(network, worms)
    order = np.lexsort((worms.rank, message_of, created))
    by_host = ~forwarded[message_of]
    by_host[worms.message_offsets[:-1][forwarded]] = True  # the first worm stands for all
    order = order[by_host[order]]
    agenda = order[worms.after[order] == AT_ONCE]
    if multicast is None:
        multicast = np.diff(worms.destination_offsets[worms.message_offsets]) > 1
    rows["cost"] = _costs(configuration, agenda, message_of, multicast)

    deliveries = np.zeros(len(worms.destinations), DELIVERY)
    worm_of = np.repeat(np.arange(len(worms)), np.diff(worms.destination_offsets))
    packets = packets_of(rows["length"][worm_of], packet)
    for field, values in {
        "node": first_node[worm_of] + worms.destinations, "worm": worm_of, "due": rows["length"][worm_of],
        "packets": np.cumsum(packets) - packets, "release": NONE, "last_release": NONE,
        "head": NONE, "tail": NONE, "received": NONE, "behind": NONE, "child": NONE,
    }.items():
        deliveries[field] = values
    if forwarded.any():
        lay_out_rows(network, worms, forwarded, rows, deliveries)
    releases = _releases(worms, order, network.nodes)
    link(deliveries, releases, 0)

    streams = np.zeros(ports * nodes, STREAM)
    for field in ("worm", "first", "last", "before"):
        streams[field] = NONE
    streams["credits"] = configuration.queue
    processors = np.zeros(nodes, NODE)
    for field in ("task", "first", "last"):
        processors[field] = NONE
    consumption = np.zeros(links * nodes * channels, CHANNEL)
    for field in ("delivery", "worm"):
        consumption[field] = NONE
    smart = np.zeros(nodes, SMART)
    for field in ("first_waiting", "last_waiting", "task", "first", "last", "child"):
        smart[field] = NONE
    counters = np.zeros(11, np.int64)
    counters[UNDELIVERED] = len(deliveries)
    return Host(
        nodes=processors,
        streams=streams,
        channels=consumption,
        worms=rows,
        deliveries=deliveries,
        agenda=agenda,
        releases=releases,
        header=header,
        begun=np.zeros(int(packets.sum()), np.uint8),
        smart=smart,
        tagged=np.full(1 << TAG_BITS, NONE),
        working=np.zeros(nodes, np.uint8),
        sending=np.zeros(ports * nodes, np.uint8),
        writing=np.zeros(nodes, np.uint8),
        options=np.array([width, (channels - 1).bit_length(), channels, packet, configuration.t_hr, configuration.t_nr,
                          _spread(width, packet), configuration.rows if configuration.smart else 0,
                          configuration.counts_packets, *configuration.dma_rate,
                          configuration.dma_buckets == "separate", network.nodes]),
        stall=np.array([int(stall * 2**32), seed], np.uint64),
        counters=counters,
    )


def _costs(configuration: Configuration, agenda: Integers, message_of: Integers, multicast: Booleans) -> Integers:
    """Cycles that a host works on each worm before it is posted, [worms]; ``agenda``: those that are posted at once."""
    costs = configuration.t_hs + configuration.copy_delay * multicast[message_of]
    messages, first = np.unique(message_of[agenda], return_index=True)
    if configuration.copying == "first":  # all of the work lies before the first one
        whole = np.bincount(message_of[agenda], costs[agenda], len(multicast)).astype(np.int64)
        costs[agenda] = 0
        costs[agenda[first]] = whole[messages]
    costs[agenda[first]] += configuration.injection_delay + configuration.multicast_delay * multicast[messages]
    return costs


def _check_packets(packet: int, width: int, length: Integers) -> None:
    """Refuse packets whose flits cannot say which packet of their worm it is: the host puts them together again."""
    if not packet or not len(length):
        return
    longest = int(length.max())
    most = 1 << min(width, 2 * TAG_BITS) - TAG_BITS if width > TAG_BITS else packet << TAG_BITS
    if longest > most:
        raise WormcastError(f"packet: a message of {longest} flits is given with flits of {width} bits, "
                            f"in packets it may have up to {most}")
    needed = _spread(width, packet)
    rest = np.where(length > packet, (length - 1) % packet + 1, needed)
    if (rest < needed).any() or (longest > packet and packet < needed):
        short = int(length[rest.argmin()]) if (rest < needed).any() else longest
        raise WormcastError(f"packet: a message of {short} flits is given with packets of {packet}, of flits of "
                            f"{width} bits each packet of several must have {needed} or more: they say which one it is")


def _check_slots(configuration: Configuration, header: Header, length: Integers, worms: Worms) -> None:
    """Refuse packets on their way that are longer than a retransmission slot."""
    visits = np.diff(worms.destination_offsets)
    goes_on = visits > 1
    if not configuration.slots or not goes_on.any():
        return
    assert isinstance(header, AddressList)
    payload = np.repeat(length, np.diff(worms.message_offsets))
    if configuration.packet:
        payload = np.minimum(payload, configuration.packet)
    # the first header flit is stripped where it held one address
    flits = payload[goes_on] - (-visits[goes_on] // header.capacity) - (header.capacity == 1)
    most = int(flits.argmax())
    if flits[most] > configuration.slot:
        raise WormcastError(f"slot: {configuration.slot} flits are given, a worm to {visits[goes_on][most]} "
                            f"destinations with {payload[goes_on][most]} payload flits needs {flits[most]}: give wider "
                            "slots, or --packet")


def _releases(worms: Worms, order: Integers, nodes: int) -> Records:
    """Worms that wait for receipts, in the order of messages and ranks, and these receipts; not linked yet."""
    waiting = order[worms.after[order] != AT_ONCE]
    deliveries = awaited(worms, waiting, nodes)
    lost = deliveries == NONE
    if lost.any():
        worm = int(waiting[lost.argmax()])
        raise WormcastError(f"worm {worm} waits for node {worms.source[worm]}'s receipt of worm {worms.after[worm]}, "
                            "which does not go there")
    releases = np.zeros(len(waiting), RELEASE)
    releases["worm"], releases["delivery"] = waiting, deliveries
    return releases
