"""Hardware options of a run, resolved and checked."""

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from wormcast.algorithms import ConsumptionClasses, Relation, Scheme, Topology, WormcastError
from wormcast.algorithms.consumption import MOST_CONSUMPTION, require_any_channel
from wormcast.algorithms.ejection import EJECTION
from wormcast.algorithms.host_retransmission import AbsorbedByHosts
from wormcast.algorithms.phrases import given_text
from wormcast.algorithms.routing import TIES, as_built, signed_dimensions
from wormcast.algorithms.schemes import classes_of
from wormcast.hw.options import (
    ADMISSION,
    CONSUMPTION_LINKS,
    CONTROL_BITS,
    DELAYS,
    DMA_BUCKETS,
    DMA_ENGINES,
    EJECTED_HEADER,
    FORWARD_ORDERS,
    INJECTION,
    LABEL_BITS,
    MOST_BUS_RATE,
    MOST_CHUNK,
    MOST_DELAY,
    MOST_PACKET,
    MOST_PLACES,
    MOST_QUEUE,
    MOST_ROW_FLITS,
    MOST_ROWS,
    MOST_SHALLOW,
    MOST_SLOTS,
    NEVER_FULL,
    PROCESSORS,
    READERS,
    ROW_BITS,
    SERVICE_ORDERS,
    SLOT_FLITS,
    STORAGE,
    STRINGS,
)

from ..common.option import option, options_of, require_allowed, require_types
from ..common.packet_count import packets_of

__all__ = ["ANALYSED", "CHANNEL_FIELDS", "DMA_FIELDS", "HOST_FIELDS", "INTERFACE_FIELDS", "ROUTER_FIELDS",
           "UNTIMED_FIELDS", "Configuration", "changing", "chosen", "describe_classes", "unusual"]

#: Largest number of data bits of a flit.
MOST_WIDTH = 1024

#: Largest number of flits of a deep buffer.
MOST_DEEP = 4096

#: Options that deep buffers require, and their values.
DEEP = {"vcs": 1, "consumption": 1, "readers": "coupled", "delays": "paper", "ejection": "one", "absorb": "off"}

#: Options that smart interfaces require, and their values.
SMART = {"ports": "one", "ejection": "one", "consumption_links": "shared", "absorb": "off"}

#: Options that `unusual` lists even with their default values if the network interfaces are smart.
ROOM = ("rows", "places", "admission", "buffer_kind")

#: Options of the interfaces' queues of packets.
QUEUES = ("receive_queue", "send_queue")

#: Largest overhead of a host, in cycles.
MOST_OVERHEAD = 2**32


def retransmission_slots(absorb: str) -> int:
    """Return the number of retransmission slots in the option ``absorb``: 0 for ``off`` and ``host``."""
    if absorb in ("off", "host"):
        return 0
    if not absorb.isdecimal() or not 1 <= int(absorb) <= MOST_SLOTS:
        raise WormcastError(f"absorb: {absorb!r} is not valid. Allowed: off, host, 1 to {MOST_SLOTS} slots.")
    return int(absorb)


def flit_rate(dma: str) -> tuple[int, int]:
    """Return flits and cycles of a rate in flits per cycle: (4, 3) for ``4/3``. Refuse a text that is not a rate."""
    flits, slash, cycles = dma.partition("/")
    numbers = [int(part) if part.isdecimal() and len(part) <= len(str(MOST_BUS_RATE)) else 0
               for part in (flits, cycles if slash else "1")]
    if not all(numbers):
        raise WormcastError(f"dma: {dma!r} is not valid. Allowed: FLITS or FLITS/CYCLES, each 1 to {MOST_BUS_RATE}, "
                            "for example 4/3.")
    return numbers[0], numbers[1]


def overhead_ratio(ratio: str) -> float:
    """Return the option ``ratio`` as a number. Refuse numbers that are not between 1e-6 and 1e6, and other text."""
    try:
        value = float(ratio)
    except ValueError:
        value = 0.0
    if not 1e-6 < value < 1e6:
        raise WormcastError(f"ratio: {ratio!r} is not valid. Allowed: numbers above 1e-6 and below 1e6.")
    return value


def on_or_off(tokens: str) -> str:
    """Return ``on`` or ``off``. Refuse other words."""
    if tokens not in ("on", "off"):
        raise WormcastError(f"tokens: {tokens!r} is not valid. Allowed: on, off.")
    return tokens


_hardware = functools.partial(option, panel="Hardware", changes="node")
_overhead = functools.partial(option, default=0, panel="Overheads, in cycles", unit="cycles")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Hardware options of a run, in one object from the command line to the components.

    Each field declares its meaning and the allowed values once. Checks, ``--help``, keys of sweeps and JSON, and labels
    of axes follow from the declaration.

    Raises
    ------
    WormcastError
        A value that is not allowed.
    """

    vcs: int = _hardware("Virtual channels of each link between routers, and of each link from a node to its router. "
                         "Default: {}.", 2, limits=(1, 16), label="virtual channels of a link")
    buffer: int = _hardware(
        "Buffer per virtual channel and per consumption channel. Default: {}; 640 with --buffer-kind deep. Range: up "
        "to 16; up to 4096 with deep. Unit: flits.", 4, limits=(1, MOST_DEEP), label="buffer of a virtual channel",
        unit="flits")
    buffer_kind: str = _hardware(
        "shallow: buffers of a few flits, through which worms pass. deep: buffers in block memory at the switch inputs "
        "hold whole packets, and each output reads a worm at its own pace; only with one virtual channel and one "
        "consumption channel. Default: {}.",
        "shallow", allowed=("shallow", "deep"))
    chunk: int = _hardware("Row of a deep buffer: its flits are freed together. Default: {}. Unit: flits.", 8,
                           limits=(2, MOST_CHUNK), label="chunk of a deep buffer", unit="flits")
    readers: str = _hardware("coupled: all outputs of a worm get a flit in the same cycle. independent: each output "
                             "gets flits at its own pace. Default: {}.", "coupled", allowed=READERS, changes="router")
    consumption: int = _hardware(
        "Consumption channels of each node. Unicasts have one consumption class; with one channel they deliver 8 % "
        "less beyond saturation than with two. Default: one per consumption class.", 2, limits=(1, MOST_CONSUMPTION),
        label="consumption channels of a node")
    flit_width: int = _hardware("Data bits of a flit. Default: {}.", 32, limits=(1, MOST_WIDTH), label="flit width",
                                unit="bits")
    # `for_headers` computes the flit width for ``ideal``, from the largest number of destinations of a worm
    header: str = _hardware("ideal widens the flit until every header fits into one flit. Default: {}.", "real",
                            allowed=("real", "ideal"), changes="host")
    delays: str = _hardware(
        "Cycles per hop. paper: 3 for the header, 2 for data. fast: 4 and 3, for a higher clock. Default: {}.", "paper",
        allowed=DELAYS, changes="router")
    storage: str = _hardware("Memory that the buffers are made of. The memory changes no cycle of a run. Default: {}.",
                             "lutram", allowed=tuple(STORAGE), changes="cells")
    ports: str = _hardware("Injection ports of each node. one: a single port. all: a port for each link of its router. "
                           "Default: {}.", "one", allowed=INJECTION)
    ejection: str = _hardware(
        "Ejection ports of each node. one: a single port. all: a port for each router input from which worms can end "
        "at the node, each with its own consumption channels. Default: {}.", "one", allowed=EJECTION)
    consumption_links: str = _hardware(
        "shared: the consumption channels of an ejection port share a link. separate: each channel has its own link. "
        "Default: {}.", "shared", allowed=CONSUMPTION_LINKS)
    ejected_header: str = _hardware(
        "Header flits that a worm still has where it leaves for a node. keep: they go to the node before the payload. "
        "strip: only the payload goes to the node; not with retransmission slots. Default: {}.", "keep",
        allowed=EJECTED_HEADER, changes="router")
    packet: int = _hardware("Payload of a packet. 0: worms are sent whole. Default: {}. Unit: flits.", 0,
                            limits=(0, MOST_PACKET),
                            unit="payload flits", changes="interface")
    queue: int = _hardware("Buffer between host and each injection port. Default: {}. Unit: flits.", 4, limits=(1, 16),
                           label="queue between host and interface", unit="flits", changes="interface")
    receive_queue: int | str = _hardware(
        "Packets that an interface stores for each consumption channel, while they wait for t-nr and for the host. 0: "
        "packets wait in the channel's buffer. never-full: for simulation alone; a packet without a place is an error. "
        "Needs --packet. Default: {}. Unit: packets.", 0, limits=(0, MOST_QUEUE), words=(NEVER_FULL,),
        label="receive queue of a consumption channel", unit="packets", changes="interface")
    send_queue: int | str = _hardware(
        "Packets that an interface stores for each injection port, while they wait for t-ns and for the network. 0: "
        "hosts send flit by flit, as the network takes them. never-full: for simulation alone; a packet without a "
        "place is an error. Needs --packet. Default: {}. Unit: packets.", 0,
        limits=(0, MOST_QUEUE), words=(NEVER_FULL,), label="send queue of an injection port", unit="packets",
        changes="interface")
    ni_processors: str = _hardware(
        "Processors of an interface that spend t-ns and t-nr. two: each injection port has one for t-ns, and each "
        "consumption link one for t-nr. one: the interface has one for both. Needs both queues. Default: {}.", "two",
        allowed=PROCESSORS, changes="interface")
    ni_order: str = _hardware(
        "Order in which one processor of an interface serves packets that can start. arrival: the oldest first. "
        "receive-first, send-first: received packets first, or packets to send first. Default: {}.", "arrival",
        allowed=SERVICE_ORDERS, changes="interface")
    t_hs: int = _overhead("Cycles of a host's processor to post a worm. Default: {}.", limits=(0, MOST_OVERHEAD),
                          changes="host")
    t_hr: int = _overhead("Cycles of a host's processor for each receipt. Default: {}.", limits=(0, MOST_OVERHEAD),
                          changes="host")
    t_ns: int = _overhead("Cycles that an interface holds the first flit of a packet to the network. Default: {}.",
                          limits=(0, MOST_DELAY), changes="interface")
    t_nr: int = _overhead("Cycles that an interface holds the last flit of a packet to the host. Default: {}.",
                          limits=(0, MOST_DELAY), changes="interface")
    dma: str | None = option(
        "Rate between a node's host and its interface: N/M is N flits in M cycles, N is N flits per cycle. Default: "
        "unlimited.",
        None, panel="Overheads, in cycles", parse=flit_rate, metavar="FLITS[/CYCLES]", changes="interface")
    dma_buckets: str = option(
        "shared: both directions together have the rate of --dma. separate: each direction has this rate. Default: {}.",
        "shared", panel="Overheads, in cycles", allowed=DMA_BUCKETS, changes="interface")
    dma_engine: str = option(
        "Part of a node that keeps to the rate of --dma. host: the hosts' program, for simulation alone. interface: a "
        "token bucket in the network interface. Default: {}.", "host", panel="Overheads, in cycles",
        allowed=DMA_ENGINES, changes="interface")
    ratio: str | None = option(
        "Host overhead per message over interface overhead per packet. Sets t-ns to t-hs/RATIO and t-nr to t-hr/RATIO. "
        "Default: t-ns and t-nr as set.", None, panel="Overheads, in cycles", parse=overhead_ratio, metavar="RATIO",
        changes="interface")
    absorb: str = _hardware(
        "off: a worm goes on while a destination on its way consumes it. SLOTS: a worm ends at each destination, and "
        "the interface sends it again, from one of this number of retransmission slots. host: a worm ends at each "
        "destination, and the host sends it again, from its memory. Default: {}.",
        "off", parse=retransmission_slots, metavar="off|host|SLOTS", label="retransmission slots of a node")
    slot: int = _hardware("Longest message that is absorbed, with its header flits. Default: {}. Unit: flits.", 128,
                          limits=SLOT_FLITS, label="flits of a retransmission slot", unit="flits", changes="interface")
    ni: str = _hardware(
        "conventional: hosts forward multicasts. Smart interfaces forward packets themselves. fpfs: each packet to all "
        "children, then the next packet. fcfs: all packets to a child, then to the next child. Default: {}.",
        "conventional",
        allowed=("conventional", *FORWARD_ORDERS), changes="interface")
    rows: int = _hardware("Messages that a smart interface can forward at a time. Default: {}.", 8,
                          limits=(1, MOST_ROWS), label="rows of a child table", changes="interface")
    places: int = _hardware("Packets of each message that a smart interface can store. Default: {}.", 4,
                            limits=(1, MOST_PLACES), label="packet places of a row", unit="packets",
                            changes="interface")
    row: int = _hardware("Header flits for all children in a child table row. Default: {}. Unit: flits.", 32,
                         limits=(1, MOST_ROW_FLITS), label="flits of a row of a child table", unit="flits",
                         changes="interface")
    admission: str = _hardware(
        "Reservation of rows for a message, at its source and all destinations. oracle: in no time, without messages; "
        "for simulation alone. messages: the source requests rows by control packets; if an interface refuses a "
        "request, the source releases all granted rows and tries again after a random time. Default: {}.", "oracle",
        allowed=ADMISSION, changes="interface")
    injection_delay: int = _overhead("Cycles of a host's processor per message, to prepare the headers. Default: {}.",
                                     limits=(0, MOST_OVERHEAD), changes="host")
    multicast_delay: int = _overhead("Further cycles of a host's processor per multicast. Default: {}.",
                                     limits=(0, MOST_OVERHEAD), changes="host")
    copy_delay: int = _overhead(
        "Cycles of a host's processor per worm of a multicast, in addition to t-hs. Default: {}.",
        limits=(0, MOST_OVERHEAD), changes="host")
    copying: str = option(
        "The first worm of a message is sent while the host makes the others (overlapped), or after all are made "
        "(first). Default: {}.", "overlapped", panel="Overheads, in cycles", allowed=("overlapped", "first"),
        changes="host")
    vc_classes: str = _hardware(
        "relation: a worm uses the virtual channels of the class that its relation gives. none: any virtual channel of "
        "a link. Default: {}.",
        "relation", allowed=("relation", "none"), changes="router")
    tokens: str | None = _hardware(
        "on: a worm that a switch replicates waits for the token of the switch's group. off: replication may deadlock. "
        "Only with trees. Default: on.", None, parse=on_or_off, metavar="on|off", changes="router")
    strings: str = _hardware(
        "Reachability strings of the outputs down, in switches for trees. restricted: each node is in the string of "
        "one output. whole: each node is in the strings of all outputs that lead down to it, and the switch branches "
        "by the last of them. Runs have the same cycles with both. Default: {}.", "restricted", allowed=STRINGS,
        changes="router")
    ties: str = _hardware(
        "Direction to the opposite node of an even ring, under e-cube. plus: upwards. signed: a header bit per "
        "dimension decides. Default: {}.", "plus", allowed=TIES, changes="router")
    classes: str | None = _hardware(
        'Map of consumption classes, as check prints it (1+,0+/1-/0-:last). "": a worm uses any consumption channel. '
        "Default: the scheme's.", None, parse=ConsumptionClasses.parse, metavar="MAP", changes="router")

    def __post_init__(self) -> None:
        require_types(self)
        for name in QUEUES:  # the command line's numbers
            if isinstance(value := vars(self)[name], str) and value.isdecimal():
                object.__setattr__(self, name, int(value))
        self._require_narrower_ranges()
        require_allowed(self)
        self._apply_ratio()
        if self.deep:
            self._require_all(DEEP, "buffer_kind deep")
        if self.slots:
            alone = {"ports": "one", "ejection": "one", "consumption_links": "shared"}
            for name, allowed in alone.items():
                if (value := vars(self)[name]) != allowed:
                    raise WormcastError(f"{name}: {value} is not valid: retransmission slots (absorb "
                                        f"{self.absorb}) need one injection port, one ejection port and a shared "
                                        f"consumption link. Allowed: {allowed}.")
            if self.ejected_header != "keep":
                raise WormcastError(f"ejected_header: {self.ejected_header} is not valid with absorb {self.absorb}: "
                                    "interfaces with retransmission slots send a worm on with the rest of its header. "
                                    "Allowed: keep.")
        self._require_queues()
        if self.dma_engine == "interface" and self.dma is None:
            raise WormcastError("dma_engine: interface is not valid without dma: the engine has the rate of dma. "
                                "Allowed: host (the default), or with dma FLITS/CYCLES.")
        if self.smart:
            self._require_smart()
        if self.requests_rows:
            self._require_requests()
        if self.absorb != "off" and self.classes is not None and len(ConsumptionClasses.parse(self.classes)):
            raise WormcastError(f"classes: {self.classes} is not valid: with absorb {self.absorb} worms end at each "
                                'destination and take any channel. Allowed: "".')

    def _apply_ratio(self) -> None:
        """If ``ratio`` is given, compute t_ns and t_nr of the interface from t_hs and t_hr of the host."""
        if self.ratio is None:
            return
        for name, of in (("t_ns", self.t_hs), ("t_nr", self.t_hr)):
            cycles = round(of / overhead_ratio(self.ratio))
            if (value := vars(self)[name]) not in (0, cycles):
                raise WormcastError(f"{name}: {value} is not valid: ratio {self.ratio} sets it to {cycles}. Allowed: "
                                    "one of the two options.")
            if cycles > MOST_DELAY:
                least = math.ceil(max(self.t_hs, self.t_hr) / MOST_DELAY * 1e6) / 1e6
                raise WormcastError(f"ratio: {self.ratio} is not valid: it sets {name} to {cycles}, above "
                                    f"{MOST_DELAY}. Allowed: {least:g} or more.")
            object.__setattr__(self, name, cycles)

    def _require_all(self, options: Mapping[str, Any], beside: str) -> None:
        """Refuse options whose values differ from ``options``, the values that the option in ``beside`` requires."""
        for name, allowed in options.items():
            if (value := vars(self)[name]) != allowed:
                raise WormcastError(f"{name}: {value} is not valid with {beside}. Allowed: {allowed}.")

    def _require_narrower_ranges(self) -> None:
        """Refuse values outside of ranges that depend on other options. These checks come before `require_allowed`,
        because its refusals name the declared ranges, which are wider."""
        if self.deep:
            options_of(Configuration)["chunk"].require(self.chunk)
            if self.buffer % self.chunk or not 2 * self.chunk <= self.buffer <= MOST_DEEP:
                raise WormcastError(f"buffer: {self.buffer} is not valid with chunks of {self.chunk} flits. Allowed: "
                                    f"multiples of {self.chunk} from {2 * self.chunk} to {MOST_DEEP}.")
        elif not 1 <= self.buffer <= MOST_SHALLOW:
            raise WormcastError(f"buffer: {self.buffer} is not valid. Allowed: 1 to {MOST_SHALLOW}, and up to "
                                f"{MOST_DEEP} with buffer_kind deep.")
        if self.ni in FORWARD_ORDERS:
            if self.rows & self.rows - 1 or not 1 <= self.rows <= MOST_ROWS:
                raise WormcastError(f"rows: {self.rows} is not valid with ni {self.ni}. Allowed: powers of two up to "
                                    f"{MOST_ROWS}.")
            if self.flit_width < ROW_BITS:
                raise WormcastError(f"flit_width: {self.flit_width} is not valid with ni {self.ni}. Allowed: "
                                    f"{ROW_BITS} bits or more.")

    def _require_queues(self) -> None:
        """Refuse options that queues of packets exclude, and ``ni_order`` of a processor that interfaces do not
        have."""
        resending = f"ni {self.ni}" if self.smart else f"absorb {self.absorb}" if self.slots else ""
        if self.ni_processors == "one" and resending:
            raise WormcastError(f"ni_processors: one is not valid with {resending}: the processor serves the packets "
                                "of the queues, and packets that the interface sends on are not in the send queue. "
                                "Allowed: two.")
        for name in QUEUES:
            if places := vars(self)[name]:
                if not self.packet:
                    raise WormcastError(f"{name}: {places} is not valid with packet 0 (the default): a place holds a "
                                        "packet. Allowed: 0, or with packet 1 or more.")
            elif self.ni_processors == "one":
                raise WormcastError(f"ni_processors: one is not valid with {name} 0 (the default): the processor "
                                    "serves the packets of both queues. Allowed: two, or with receive_queue and "
                                    "send_queue 1 or more.")
        if self.ni_order != "arrival" and self.ni_processors != "one":
            allowed = "arrival" if resending else "arrival, or with ni_processors one"
            raise WormcastError(f"ni_order: {self.ni_order} is not valid with ni_processors "
                                f"{given_text(self, 'ni_processors')}: each processor has packets of one kind. "
                                f"Allowed: {allowed}.")

    def _require_smart(self) -> None:
        """Refuse options that smart interfaces exclude."""
        self._require_all(SMART, f"ni {self.ni}")
        if not self.packet:
            raise WormcastError(f"ni: {self.ni} is not valid with packet 0 (the default): a smart interface forwards "
                                f"packets. Allowed: with packet 1 to {MOST_PACKET}.")

    def _require_requests(self) -> None:
        """Refuse options with which rows cannot be requested by control packets."""
        if not self.smart:
            raise WormcastError(f"admission: messages is not valid with ni {given_text(self, 'ni')}: only smart "
                                "interfaces have rows. Allowed: oracle, or with ni fcfs or fpfs.")
        if LABEL_BITS < self.flit_width < CONTROL_BITS:
            raise WormcastError(f"flit_width: {self.flit_width} is not valid with admission messages. Allowed: "
                                f"{ROW_BITS} to {LABEL_BITS} bits, or {CONTROL_BITS} or more.")

    def require_hardware(self) -> None:
        """Refuse options that exist in simulation alone."""
        for name in QUEUES:
            if vars(self)[name] == NEVER_FULL:
                raise WormcastError(f"{name}: {NEVER_FULL} is not valid with verilog and synth: the "
                                    f"queue is for simulation alone. Allowed: 0 to {MOST_QUEUE}.")
        if self.dma is not None and self.dma_engine == "host":
            raise WormcastError(f"dma: {self.dma} is not valid with verilog and synth: with dma_engine host (the "
                                "default) the hosts' program keeps to the rate, and no hardware does. Allowed: with "
                                "dma_engine interface.")

    @property
    def deep(self) -> bool:
        """Flag: switch inputs have deep buffers, which are meant to hold whole packets."""
        return self.buffer_kind == "deep"

    @property
    def smart(self) -> bool:
        """Flag: network interfaces are smart and forward packets without their hosts."""
        return self.ni != "conventional"

    @property
    def counts_packets(self) -> bool:
        """Flag: the order of smart interfaces (``ni="fcfs"``) needs the number of packets of each message."""
        return self.smart and FORWARD_ORDERS[self.ni]

    @property
    def requests_rows(self) -> bool:
        """Flag: control packets request rows of child tables."""
        return self.admission == "messages"

    @property
    def dma_rate(self) -> tuple[int, int]:
        """Rate that the hosts' program keeps to, as (flits, cycles); 0 flits: no limit."""
        return flit_rate(self.dma) if self.dma is not None and self.dma_engine == "host" else (0, 1)

    @property
    def bus_rate(self) -> tuple[int, int]:
        """Rate of the interfaces' DMA engines, as (flits, cycles); 0 flits: no engine."""
        return flit_rate(self.dma) if self.dma is not None and self.dma_engine == "interface" else (0, 1)

    @property
    def slots(self) -> int:
        """Number of retransmission slots of each interface."""
        return retransmission_slots(self.absorb)

    def holds_messages(self, length: int | None) -> bool | None:
        """Return whether smart interfaces have entries for all packets of messages of this length.

        Return None if the length is not given, or if the interfaces are not smart.
        """
        if not self.smart or length is None:
            return None
        return bool(self.packets_of(length) <= self.places)

    def packets_of(self, length: Any) -> Any:
        """Return the number of packets of a message with ``length`` payload flits.

        For an array of lengths, return an array.
        """
        return packets_of(length, self.packet)

    def as_sent(self, scheme: Scheme) -> Scheme:
        """Return a scheme as hosts run it: with ``absorb="host"``, each stop of a worm gets a worm of its own."""
        if self.absorb != "host" or isinstance(scheme, AbsorbedByHosts):
            return scheme
        return AbsorbedByHosts(scheme)

    def relation_on(self, topology: Topology, scheme: Scheme) -> Relation:
        """Return the scheme's relation with the options ``ties`` and ``vc_classes`` applied."""
        return as_built(scheme.relation_on(topology), topology, self.ties, self.vc_classes)

    def for_headers(self, topology: Topology, scheme: Scheme, destinations: int) -> "Configuration":
        """Return the configuration with the flit width that its option ``header`` needs.

        With ``header="ideal"``, a worm's header with ``destinations`` addresses fits into one flit.
        """
        if self.header == "real":
            return self
        width = scheme.ideal_header_width(topology, max(destinations, 1),
                                          signed=signed_dimensions(self.relation_on(topology, scheme), topology))
        return replace(self, flit_width=max(self.flit_width, width))

    def resolved(self, topology: Topology, scheme: Scheme) -> dict[str, Any]:
        """Return all options as plain data for JSON. ``classes`` has the consumption classes built into the routers."""
        return {**self.to_dict(), "classes": str(self.consumption_classes(topology, scheme))}

    def consumption_classes(self, topology: Topology, scheme: Scheme) -> ConsumptionClasses:
        """Return the consumption classes that the routers are built for.

        Raises
        ------
        WormcastError
            ``classes`` has a consumption class, and switches replicate worms of the scheme.
        """
        if self.classes is not None:
            given = ConsumptionClasses.parse(self.classes)
            if scheme.is_tree:
                require_any_channel(given, scheme.name)
            return given
        return classes_of(scheme, topology) if self.absorb == "off" else ConsumptionClasses()

    def to_dict(self) -> dict[str, Any]:
        """Return the values of all options as plain data for JSON."""
        return asdict(self)


def changing(part: str) -> tuple[str, ...]:
    """Return the names of the hardware options that are declared with ``changes=part``: "host", "router" and so on."""
    return tuple(name for name, declared in options_of(Configuration).items() if declared.changes == part)


def unusual(hardware: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return, as texts, the options in ``names`` whose values differ from the defaults: ``["ejection all"]``.

    An empty map of consumption classes counts as a default. If ``hardware`` has smart interfaces, options in ``names``
    that are in `ROOM` are included even with their default values.
    """
    usual, no_classes = Configuration().to_dict(), str(ConsumptionClasses())
    stated = ROOM if hardware.get("ni", usual["ni"]) != usual["ni"] else ()
    return [f"{name.replace('_', '-')} {hardware[name]}" for name in names
            if name in hardware and (name in stated or hardware[name] not in (usual[name], no_classes))]


#: Options of ejection ports, virtual-channel classes, ties and absorption, which affect the channels of worms.
CHANNEL_FIELDS = ("ejection", "vc_classes", "ties", "absorb")
#: Options of the I/O bus between host and interface.
DMA_FIELDS = ("dma", "dma_buckets", "dma_engine")
#: Options that no hardware component reads. Most options that no component reads describe the hosts' software.
HOST_FIELDS = changing("host")
#: Options that change only the network interfaces.
INTERFACE_FIELDS = changing("interface")
#: Options that change only the routers.
ROUTER_FIELDS = changing("router")
#: Options that change only cells of the hardware, and no cycle of a run.
UNTIMED_FIELDS = changing("cells")

#: Options that affect a deadlock analysis.
ANALYSED = ("vcs", "consumption", "classes", "ejection", "vc_classes", "ties", "absorb", "tokens", "buffer_kind",
            "buffer", "chunk", "flit_width", "header", "packet", "ni", "places", "admission")


def chosen(name: str, value: Any) -> Any:
    """Return the value of a hardware option, or its default for None. Refuse values that are not allowed."""
    declared = options_of(Configuration)[name]
    value = declared.default if value is None else value
    declared.require(value)
    return value


def describe_classes(classes: ConsumptionClasses) -> str:
    """Return a map of consumption classes in words. Without consumption classes, a worm may use any consumption
    channel."""
    return f"classes {classes}" if len(classes) else "no consumption classes"
