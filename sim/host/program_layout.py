"""Program, state and results of all nodes' hosts, as arrays."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, Worms
from wormcast.algorithms.headers import AddressList, Header
from wormcast.algorithms.phrases import count, given_text
from wormcast.algorithms.worms import AT_ONCE
from wormcast.hw.options import SLOT_FLITS

from ..build.configuration import Configuration
from ..build.network import Network
from ..common.packet_count import packets_of
from .constants import ADMISSION, CHANNELS, COUNTERS, NONE, PACKET, TAG_BITS, UNDELIVERED
from .control_layout import lay_out_control
from .dependents import RELEASE, awaited, link
from .ni_messages import forwarded_messages, lay_out_rows

__all__ = ["EXCHANGE", "Host", "lay_out", "slot_flits", "tag_bits"]

#: Limit of outstanding requests that no node reaches.
UNLIMITED = 1 << 62

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.uint8]
Booleans = npt.NDArray[np.bool_]
Records = npt.NDArray[np.void]


def _record(*fields: str, narrow: tuple[str, ...] = ()) -> np.dtype:
    """Return a record type: ``fields`` of 64 bits, then fields ``narrow`` of 32 bits to save memory."""
    return np.dtype([*((field, np.int64) for field in fields), *((field, np.int32) for field in narrow)])


#: Processor of a node. ``task``, ``until``: the processor's present task, and the cycle in which this task ends.
#: ``first``, ``last``: the first and the last task that wait for the processor.
#: A task is the number of a worm to post, or -2 - d for the receipt of delivery d.
#: ``taken``, ``given``: token buckets that limit the flit rate: of received and of sent flits, or ``taken`` for both.
#: ``turn``: the direction in which the host moves flits first in a cycle: 0 for received flits, 1 for sent flits.
#: ``outstanding``: number of the node's outstanding requests.
#: ``first_held``, ``last_held``: first and last worm of requests that wait until fewer requests are outstanding.
#: ``exchanged``: sum over the node's requests that were sent to the processor.
#: An answered request adds the cycles from this sending to the receipt of the last reply.
#: An outstanding request subtracts the cycle of this sending.
NODE = _record("task", "until", "first", "last", "taken", "given", "turn", "outstanding", "first_held", "last_held",
               "exchanged")
#: Child table of a smart interface. ``rows``: bit k is 1 if row k is in use.
#: ``first_waiting``, ``last_waiting``: first and last worm that wait for free rows.
#: ``task``, ``first``, ``last``: the row that is being written, the first and the last row that wait to be written.
#: In ``task``, ``first``, ``last``, a worm's number denotes the row at its source, -2 - d the row at delivery d's node.
#: ``child``, ``sent``: the child whose header flits are being written, and the number of these flits already sent.
#: The other fields are used if rows are requested by control packets, for the oldest message that waits.
#: ``state``: see `ask_for_rows`. ``until``: the next cycle in which the source acts, if it waits.
#: ``row``, ``number``: the requested row, and the number of the request. ``tries``: requests of the own row so far.
#: ``begun``: the cycle of the first request of the own row.
#: ``following``: the next delivery at whose node the row is to be requested.
#: ``due``: number of answers that have not arrived. ``refused``: 1 after a refusal.
#: ``kind``, ``target``, ``flit``: the control packet that is being sent or -1, its delivery, number of its flits sent.
#: ``seed``: seed of the random waits.
SMART = _record("rows", "first_waiting", "last_waiting", "task", "first", "last", "child", "sent", "state", "until",
                "row", "number", "tries", "begun", "following", "due", "refused", "kind", "target", "flit", "seed")
#: Link from a host to an injection port. ``worm``: the worm that is being sent over the link.
#: ``sent``, ``flits``, ``headers``: of ``worm``, the number of flits already sent, of all flits, and of header flits.
#: ``first``, ``last``: the first and the last worm that wait for the link.
#: ``before``: the last worm that the host has begun to send over the link; it may still be under way.
#: ``worms``: number of worms that the host has begun to send over the link so far.
STREAM = _record("credits", "worm", "sent", "flits", "headers", "first", "last", "before", "worms")
#: Consumption channel. ``delivery``: index of the delivery to which the incoming packet belongs.
#: ``place``, ``end``: place of the next flit in its worm, and the place after the packet's last flit.
#: ``owed``: number of credits that the host has not returned yet.
#: The other fields concern a packet whose worm is not identified yet. ``seen``: number of its flits received so far.
#: ``word``: the joined data of these flits. ``since``: the cycle in which the first of these flits was received.
CHANNEL = _record("delivery", "worm", "tag", "place", "end", "owed", "word", "seen", "since")
#: Worm. ``waits``: number of events that the worm still waits for: the cycle of its message, and receipts.
#: ``ready``: cycle of the worm's message, or cycle of the last receipt that the worm waited for.
#: ``cost``: number of cycles that a processor works before the worm is posted.
#: ``posted``: cycle in which the worm entered the queue of its link.
#: ``stream``: index of the worm's link in `Host.streams`.
#: ``touched``: cycle in which a host last sent or received a flit of the worm.
#: ``left``: number of outstanding deliveries of the worm. ``tag``: the worm's tag while the worm is under way.
#: ``previous``: the worm that was sent before this one on the same link.
#: ``behind``: the next task or worm in the queue in which the worm waits.
#: ``message``: number of the worm's message in its lane. ``own_headers``: number of the worm's own header flits.
#: ``root``: the first worm of the message, if interfaces forward the message; else -1.
#: ``posting``: in the first worm of a forwarded message, the message's last worm; else -1.
#: ``sibling``: the next worm of a forwarded message that the same node sends.
#: ``rows_due``: in the first worm of a forwarded message, number of table rows that are not written yet.
#: ``asks``, ``answers``: the exchange to which the worm's message belongs, as its request or as a reply; else -1.
WORM = _record("ready", "posted", "injected", "handed", "touched", "header_at", "cost", narrow=(
    "source", "length", "headers", "stream", "delivery", "delivery_end", "left", "previous", "tag", "waits",
    "behind", "message", "root", "posting", "sibling", "own_headers", "rows_due", "asks", "answers"))
#: Delivery of a worm at a node. ``due``: number of payload flits that have not arrived at the node.
#: ``packets``: index of the delivery's first packet in `Host.begun`. ``first``: number of the first packet to arrive.
#: ``release``, ``last_release``: first and last entry in the list of worms that wait for the delivery's receipt.
#: ``behind``: in the processor's queue, the task that follows the delivery's receipt.
#: ``child``: the first of the message's worms that the node's interface forwards; -1 if there is none.
DELIVERY = _record("head", "tail", "received", "packets", narrow=(
    "node", "worm", "due", "release", "last_release", "behind", "first", "child"))

#: Exchange: a request and its replies. ``created``: cycle of the request.
#: ``issued``: cycle in which the request was sent to its source's processor; -1 before.
#: ``closed``: cycle in which the request's source noted the last receipt of a reply; -1 before.
#: ``due``: number of replies whose receipts are not noted yet.
EXCHANGE = _record("created", "issued", "closed", "due")


class Host(NamedTuple):
    """All nodes' hosts, as arrays for the compiled `host_step`.

    Worms are numbered in the order of their messages. A node has one processor. The processor does tasks in the order
    in which they arise. The task of a worm that no interface forwards arises when its message is created, or when the
    last receipt that the worm waits for is noted. The task of a message that interfaces forward arises when the last of
    its child table rows is written. The task of a receipt arises when the last flit of the delivery has arrived. Tasks
    that arise in one cycle have this order: worms of created messages by message number, receipts, released worms,
    forwarded messages. Requests released by a reply's receipt follow worms that wait for this receipt.
    Posting a worm takes t_hs cycles, and more with an injection, multicast or copy delay
    (`Configuration`). Noting a receipt takes t_hr cycles. A posted worm is sent after those posted before it at the
    same injection port; the processor does not wait until the worm is sent.

    A payload flit of more than 16 bits carries its worm's tag and its place in the worm, repeated over the flit's
    width. A tag has 16 bits and is unique among the worms under way. Every received payload flit is compared with the
    expected data. In flits of up to 16 bits, the first flits of a packet carry the tag and the packet's number, low
    bits first. If flits have up to 16 bits, a packet's later flits carry the tag's low bits. Packets of a worm may
    arrive in any order and interleaved.

    A message that smart interfaces forward has one tag for all its worms. The tag's low 8 bits are the number of the
    child table row that the message has at its source and at all destinations. Hosts write the rows over separate links
    to the interfaces, and then the source posts the message once. A row is free again when all flits of its message
    have arrived at all destinations. Interfaces therefore always have a row for an arriving message. If control packets
    request rows, interfaces grant and free them; see `ask_for_rows`.
    """

    nodes: Records  # [nodes], NODE
    streams: Records  # [ports x nodes], STREAM: port 0 of all nodes, then port 1 of all nodes
    channels: Records  # consumption channels, CHANNEL: [links x nodes x channels of a link]
    worms: Records  # [worms], WORM
    deliveries: Records  # [deliveries], DELIVERY
    agenda: Integers  # worms that wait for no receipt of their own message, in the order of creation cycles
    releases: Records  # [pairs of a receipt and a waiting worm], RELEASE
    exchanges: Records  # [requests], EXCHANGE: a record for each request, in the order of the messages
    header: Words  # [header flits, parts], data
    begun: Flags  # [packets of all deliveries]
    smart: Records  # [nodes], SMART
    tagged: Integers  # [tags], the worm under way with this tag, or NONE
    working: Flags  # [nodes], the processor has work
    sending: Flags  # [ports x nodes], the link has work
    writing: Flags  # [nodes], the link to the child table has work
    options: Integers
    stall: Words  # probability that a channel stalls in a cycle, times 2**32; seed
    counters: Integers
    asks: Records  # [deliveries], ASK; [0] if no rows are requested
    control: Words  # [flits of requests, parts], data
    admission: Integers  # [nodes, counters]

    @property
    def injected(self) -> Integers:
        """Cycle in which the host sends each worm's first flit; -1 for an unsent flit. [worms]

        The first flit is on the link from host to interface one cycle later.
        """
        return self.worms["injected"]

    @property
    def handed(self) -> Integers:
        """Cycle in which the host sends each worm's last flit; -1 for an unsent flit. [worms]

        The last flit is on the link from host to interface one cycle later.
        """
        return self.worms["handed"]

    @property
    def packets(self) -> Integers:
        """Number of packets of each worm, [worms]."""
        return packets_of(self.worms["length"], int(self.options[PACKET]))

    @property
    def unnamed(self) -> Integers:
        """Number of flits that each node has received of packets that are not identified yet, [nodes]."""
        return self.channels["seen"].reshape(-1, len(self.nodes), int(self.options[CHANNELS])).sum(axis=(0, 2))

    @property
    def left(self) -> Integers:
        """Deliveries outstanding, [worms]."""
        return self.worms["left"]

    @property
    def touched(self) -> Integers:
        """Cycle in which a host last sent or received a flit of each worm; -1 without a flit. [worms]"""
        return self.worms["touched"]

    @property
    def head(self) -> Integers:
        """Cycle in which each delivery's first payload flit is on the link to the host; -1 before. [deliveries]

        If this flit is also the last flit of its packet, ``head`` is t_nr cycles earlier.
        """
        return self.deliveries["head"]

    @property
    def tail(self) -> Integers:
        """Cycle in which each delivery's last payload flit is on the link to the host, minus t_nr; -1 before.
        [deliveries]"""
        return self.deliveries["tail"]

    @property
    def received(self) -> Integers:
        """Cycle in which the host notes each receipt: t_nr + t_hr after the tail, or later; -1 before. [deliveries]"""
        return self.deliveries["received"]


def tag_bits(flit_width: int) -> int:
    """Return the number of tag bits that one payload flit can hold."""
    return min(flit_width, TAG_BITS)


def _spread(flit_width: int, packet: int) -> int:
    """Return how many of a packet's first flits together hold the worm's tag and the packet's number."""
    if flit_width > TAG_BITS:
        return 1
    return -(-(2 * TAG_BITS if packet else TAG_BITS) // flit_width)


def lay_out(network: Network, at: Integers, length: Integers, worms: Worms, *, lane: Integers | int = 0,
            numbers: Integers | None = None, multicast: Booleans | None = None, requests: Integers | None = None,
            outstanding: int = 0, stall: float = 0.0, seed: int = 0) -> Host:
    """Lay out the program that sends the worms of many messages.

    Parameters
    ----------
    at : int64 array [messages]
        Cycles in which the messages are created, in any order.
    length : int64 array [messages]
        Number of payload flits of each message.
    lane : int64 array [messages], or int
        Lane of the network that sends each message. In ``worms``, nodes are numbered within a lane.
    numbers : int64 array [messages], optional
        Number of each message in its lane. By default, messages are counted from 0.
    multicast : bool array [messages], optional
        True for multicasts. By default, multicasts are the messages with several destinations.
    requests : int64 array [messages], optional
        For a reply, the index of the request that it answers; for a request, its own index. The replies follow their
        request. `MovingHost.wait_for` lets replies wait for receipts. By default, messages have no replies.
    outstanding : int
        With ``requests``: limit of the outstanding requests of a node. 0: no limit.
    stall : float
        Probability, from 0 to below 1, that a consumption channel is stalled in a cycle. Only tests of back-pressure
        stall channels.
    seed : int
        Seed of the stalls, and of the waits before a row is requested again.

    Raises
    ------
    WormcastError
        ``stall`` is outside its range; flits are too narrow for packets; worms are too long for retransmission slots;
        or interfaces cannot forward a message.
    """
    if not 0 <= stall < 1:
        raise WormcastError(f"stall: {stall} is not valid. Allowed: 0 to below 1.")
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
    header_offsets, header = network.encode(worms)
    for field, values in {
        "ready": created, "source": source, "length": length[message_of],
        "headers": np.diff(header_offsets), "header_at": header_offsets[:-1],
        "stream": network.injection_port_of(worms) * nodes + source,
        "delivery": worms.destination_offsets[:-1], "delivery_end": worms.destination_offsets[1:],
        "message": message_of if numbers is None else numbers[message_of],
        "left": np.diff(worms.destination_offsets), "waits": 1,
        "own_headers": np.diff(header_offsets),
        **dict.fromkeys(("posted", "injected", "handed", "touched", "previous", "behind", "root", "posting", "sibling",
                         "asks", "answers"), NONE),
    }.items():
        rows[field] = values
    exchanges = np.zeros(0, EXCHANGE)
    if requests is not None:
        exchanges = _exchanges(requests, at)
        reply = requests != np.arange(len(requests))
        exchange_of = np.cumsum(~reply) - 1
        rows["asks"] = np.where(reply, NONE, exchange_of)[message_of]
        rows["answers"] = np.where(reply, exchange_of, NONE)[message_of]
    forwarded = forwarded_messages(network, worms)
    order = np.lexsort((worms.rank, message_of, created))
    by_host = ~forwarded[message_of]
    by_host[worms.message_offsets[:-1][forwarded]] = True  # the first worm of a forwarded message represents it
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
    for field in ("task", "first", "last", "first_held", "last_held"):
        processors[field] = NONE
    consumption = np.zeros(links * nodes * channels, CHANNEL)
    for field in ("delivery", "worm"):
        consumption[field] = NONE
    rate, of = configuration.dma_rate
    # no part is lost while a flit waits: fewer than ``of`` parts are left then, and a cycle adds ``rate``
    bucket = max(2 * of, rate + of - 1)
    smart = np.zeros(nodes, SMART)
    for field in ("first_waiting", "last_waiting", "task", "first", "last", "child", "kind"):
        smart[field] = NONE
    smart["seed"] = seed
    counters = np.zeros(COUNTERS, np.int64)
    counters[UNDELIVERED] = len(deliveries)
    asks, control = lay_out_control(network, worms, rows, deliveries, header)
    return Host(
        nodes=processors,
        streams=streams,
        channels=consumption,
        worms=rows,
        deliveries=deliveries,
        agenda=agenda,
        releases=releases,
        exchanges=exchanges,
        header=header,
        begun=np.zeros(int(packets.sum()), np.uint8),
        smart=smart,
        tagged=np.full(1 << TAG_BITS, NONE),
        working=np.zeros(nodes, np.uint8),
        sending=np.zeros(ports * nodes, np.uint8),
        writing=np.zeros(nodes, np.uint8),
        options=np.array([width, (channels - 1).bit_length(), channels, packet, configuration.t_hr, configuration.t_nr,
                          _spread(width, packet), configuration.rows if configuration.smart else 0,
                          configuration.counts_packets, rate, of, bucket, configuration.dma_buckets == "separate",
                          network.nodes,
                          0 if requests is None else outstanding or UNLIMITED, configuration.requests_rows]),
        stall=np.array([int(stall * 2**32), seed], np.uint64),
        counters=counters,
        asks=asks,
        control=control,
        admission=np.zeros((nodes, len(ADMISSION)), np.int64),
    )


def _exchanges(requests: Integers, at: Integers) -> Records:
    """Return an `EXCHANGE` record for each request. The parameters are those of `lay_out`."""
    own = np.flatnonzero(requests == np.arange(len(requests)))
    exchanges = np.zeros(len(own), EXCHANGE)
    exchanges["created"] = at[own]
    exchanges["due"] = np.bincount(requests, minlength=len(requests))[own] - 1
    for field in ("issued", "closed"):
        exchanges[field] = NONE
    return exchanges


def _costs(configuration: Configuration, agenda: Integers, message_of: Integers, multicast: Booleans) -> Integers:
    """Return the processor cycles before each worm is posted, [worms]. ``agenda``: as in `Host`."""
    costs = configuration.t_hs + configuration.copy_delay * multicast[message_of]
    messages, first = np.unique(message_of[agenda], return_index=True)
    if configuration.copying == "first":  # the processor does all start-ups of a message before it posts a worm
        whole = np.bincount(message_of[agenda], costs[agenda], len(multicast)).astype(np.int64)
        costs[agenda] = 0
        costs[agenda[first]] = whole[messages]
    costs[agenda[first]] += configuration.injection_delay + configuration.multicast_delay * multicast[messages]
    return costs


def _check_packets(packet: int, width: int, length: Integers) -> None:
    """Refuse packets with flits too narrow for the number of the packet: the host reassembles worms by this number."""
    if not packet or not len(length):
        return
    longest = int(length.max())
    most = 1 << min(width, 2 * TAG_BITS) - TAG_BITS if width > TAG_BITS else packet << TAG_BITS
    if longest > most:
        raise WormcastError(f"packet: {packet} is not valid: flits of {width} bits cannot number the packets of a "
                            f"message of {longest} flits. Allowed: messages of up to {most} flits.")
    needed = _spread(width, packet)
    rest = np.where(length > packet, (length - 1) % packet + 1, needed)
    if (rest < needed).any() or (longest > packet and packet < needed):
        short = int(length[rest.argmin()]) if (rest < needed).any() else longest
        last = count(int(min((short - 1) % packet + 1, packet)), "flit")
        raise WormcastError(f"packet: {packet} is not valid: the last packet of a message of {short} flits has {last} "
                            f"of {count(width, 'bit')}, and the number of a packet needs {needed}. Allowed: packets of "
                            f"{needed} flits or more, the last one of each message included.")


def _check_slots(configuration: Configuration, header: Header, length: Integers, worms: Worms) -> None:
    """Refuse worms to several destinations that are longer than a retransmission slot."""
    visits = np.diff(worms.destination_offsets)
    goes_on = visits > 1
    if not configuration.slots or not goes_on.any():
        return
    payload = np.repeat(length, np.diff(worms.message_offsets))
    if configuration.packet:
        payload = np.minimum(payload, configuration.packet)
    flits = slot_flits(header, visits[goes_on], payload[goes_on])
    most = int(flits.argmax())
    require_slot(configuration, int(visits[goes_on][most]), int(payload[goes_on][most]), int(flits[most]), "--packet")


def require_slot(configuration: Configuration, visits: int, payload: int, flits: int, smaller: str) -> None:
    """Refuse a worm that takes more flits than a retransmission slot has. ``smaller``: options for smaller worms."""
    if flits > configuration.slot:
        allowed = [f"slot {flits} to {SLOT_FLITS[1]}"] * (flits <= SLOT_FLITS[1]) + [
            f"smaller worms by {smaller}"] * (payload > 1)
        raise WormcastError(f"slot: {given_text(configuration, 'slot')} is not valid: a worm to {visits} destinations "
                            f"with {count(payload, 'payload flit')} takes {flits} flits of a slot. Allowed: "
                            f"{', or '.join(allowed)}.")


def slot_flits(header: Header, visits: Any, payload: Any) -> Any:
    """Return the flits that worms with two or more stops take in a retransmission slot at the first stop."""
    assert isinstance(header, AddressList)
    # the first header flit is stripped if it held one address
    return payload - (-visits // header.capacity) - (header.capacity == 1)


def _releases(worms: Worms, order: Integers, nodes: int) -> Records:
    """Return a record for each worm of ``order`` that waits for a receipt. The records are not linked to lists yet."""
    waiting = order[worms.after[order] != AT_ONCE]
    releases = np.zeros(len(waiting), RELEASE)
    releases["worm"], releases["delivery"] = waiting, awaited(worms, waiting, nodes)
    return releases
