"""The hardware options of a run, resolved and checked."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from wormcast.algorithms import ConsumptionClasses, Relation, Scheme, Topology, WormcastError
from wormcast.algorithms.consumption import require_any_channel
from wormcast.algorithms.ejection import EJECTION
from wormcast.algorithms.routing import TIES, as_built, signed_dimensions
from wormcast.algorithms.schemes import classes_of
from wormcast.algorithms.store_and_forward import AbsorbedByHosts
from wormcast.algorithms.typecheck import require_fields
from wormcast.hw.options import (
    CONSUMPTION_LINKS,
    DELAYS,
    FORWARD_ORDERS,
    INJECTION,
    MOST_DELAY,
    MOST_PACKET,
    MOST_PLACES,
    MOST_ROWS,
    MOST_SHALLOW,
    MOST_SLOTS,
    READERS,
    ROW_BITS,
    SLOT_FLITS,
    STORAGE,
)

from ..common.packet_count import packets_of
from ..common.schema import option, options_of, require_allowed

__all__ = ["CHANNEL_FIELDS", "HOST_FIELDS", "INTERFACE_FIELDS", "ROUTER_FIELDS", "UNTIMED_FIELDS", "Configuration",
           "changing", "unusual"]

#: Most flits of a deep buffer.
MOST_DEEP = 4096

#: What deep buffers are built with.
DEEP = {"vcs": 1, "consumption": 1, "readers": "coupled", "delays": "paper", "ejection": "one", "absorb": "off"}

#: What smart interfaces are built with.
SMART = {"ports": "one", "ejection": "one", "consumption_links": "shared", "absorb": "off"}

#: What is always told of smart interfaces, and of the network that they are in.
ROOM = ("rows", "places", "buffer_kind")

#: Largest number of cycles of an overhead of the hosts.
MOST_OVERHEAD = 2**32


def retransmission_slots(absorb: str) -> int:
    """Read how many slots an interface has; refuses what says neither that nor ``off`` or ``host``."""
    if absorb in ("off", "host"):
        return 0
    if not absorb.isdecimal() or not 1 <= int(absorb) <= MOST_SLOTS:
        raise WormcastError(f"absorb: {absorb!r} is given, allowed are off, host, and 1 to {MOST_SLOTS} slots")
    return int(absorb)


def flit_rate(dma: str) -> tuple[int, int]:
    """Read how many flits are moved in how many cycles; refuses what is no rate above 0."""
    flits, slash, cycles = dma.partition("/")
    numbers = [int(part) if part.isdecimal() and len(part) < 5 else 0 for part in (flits, cycles if slash else "1")]
    if not all(numbers):
        raise WormcastError(f"dma: {dma!r} is given, allowed are flits over cycles, each 1 to 9999: 4/3")
    return numbers[0], numbers[1]


def overhead_ratio(ratio: str) -> float:
    """Read a ratio of overheads; refuses what is no number above 0."""
    try:
        value = float(ratio)
    except ValueError:
        value = 0.0
    if not 1e-6 < value < 1e6:
        raise WormcastError(f"ratio: {ratio!r} is given, allowed are numbers above 0")
    return value


def on_or_off(tokens: str) -> str:
    """Refuse what is neither."""
    if tokens not in ("on", "off"):
        raise WormcastError(f"tokens: {tokens!r} is given, allowed are on, off")
    return tokens


_hardware = functools.partial(option, panel="Hardware", changes="node")
_overhead = functools.partial(option, default=0, panel="Overheads, in cycles", unit="cycles")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Hardware options: one object from the command line down to the components.

    Each field is declared with its meaning and the values that it may have, and nowhere else: checks, ``--help``, the
    keys of sweeps, axes and JSON follow.

    Raises
    ------
    WormcastError
        A value that is not allowed.
    """

    vcs: int = _hardware("Virtual channels of each link, {} by default.", 2, limits=(1, 16),
                         label="virtual channels of a link")
    buffer: int = _hardware(
        "Flits of buffer per virtual channel and per consumption channel, {} by default; shallow up to 16, deep 640 by "
        "default.", 4, limits=(1, MOST_DEEP), label="buffer of a virtual channel", unit="flits")
    buffer_kind: str = _hardware(
        "shallow: buffers that a worm passes through (default). deep: buffers of whole packets in block memory at the "
        "inputs of switches, each output reads a worm by itself; of one virtual channel and one consumption channel.",
        "shallow", allowed=("shallow", "deep"))
    chunk: int = _hardware("Flits of a row of a deep buffer, which is freed as a whole, {} by default.", 8,
                           limits=(2, 256), label="chunk of a deep buffer", unit="flits")
    readers: str = _hardware("Whether the outputs of a worm advance together, as they do by default.", "coupled",
                             allowed=READERS, changes="router")
    consumption: int = _hardware(
        "Consumption channels of each node; default: one for each class, so that none shares one. Unicasts have one "
        "class, and deliver 8 % less beyond saturation with one channel than with two.", 2, limits=(1, 16),
        label="consumption channels of a node")
    flit_width: int = _hardware("Data bits of a flit, {} by default.", 32, limits=(1, 1024), label="flit width",
                                unit="bits")
    # resolved into the flit's width by `for_headers`, from the messages of a run
    header: str = _hardware("ideal widens the flit until every header fits into one.", "real",
                            allowed=("real", "ideal"), changes="host")
    delays: str = _hardware(
        "Cycles per hop: paper, header 3 and data 2 (default), or fast, 4 and 3 for a higher clock.", "paper",
        allowed=DELAYS, changes="router")
    storage: str = _hardware("What the buffers are built of, {} by default; no cycle depends on it.", "lutram",
                             allowed=tuple(STORAGE), changes="cells")
    ports: str = _hardware("Injection ports of each node: one (default), or one for each link of its router.", "one",
                           allowed=INJECTION)
    ejection: str = _hardware(
        "Ejection ports of each node: one (default), or one for each way in from which worms can end there, with "
        "consumption channels of its own.", "one", allowed=EJECTION)
    consumption_links: str = _hardware("Whether a node's consumption channels share one link (default).", "shared",
                                       allowed=CONSUMPTION_LINKS)
    packet: int = _hardware("Payload flits of a packet; 0: worms are sent whole (default).", 0, limits=(0, MOST_PACKET),
                            unit="payload flits", changes="interface")
    queue: int = _hardware("Flits of buffer between host and each injection port, {} by default.", 4, limits=(1, 16),
                           label="queue between host and interface", unit="flits", changes="interface")
    t_hs: int = _overhead("Host, before it posts a worm.", limits=(0, MOST_OVERHEAD), changes="host")
    t_hr: int = _overhead("Host, for each receipt.", limits=(0, MOST_OVERHEAD), changes="host")
    t_ns: int = _overhead("Interface, before each packet it sends.", limits=(0, MOST_DELAY), changes="interface")
    t_nr: int = _overhead("Interface, before the last flit of each packet it gets is handed over.",
                          limits=(0, MOST_DELAY), changes="interface")
    dma: str | None = option(
        "Flits that a node's host moves to and from its interface, N/M: so many in M cycles, N: in each; default: any.",
        None, panel="Overheads, in cycles", parse=flit_rate, metavar="FLITS[/CYCLES]", changes="host")
    dma_buckets: str = option("Whether both ways share that (default), or have as much each.", "shared",
                              panel="Overheads, in cycles", allowed=("shared", "separate"), changes="host")
    ratio: str | None = option(
        "Overheads of the host, for a message, over those of the interface, for a packet: sets t-ns to t-hs/RATIO and "
        "t-nr to t-hr/RATIO.", None, panel="Overheads, in cycles", parse=overhead_ratio, metavar="RATIO",
        changes="interface")
    absorb: str = _hardware(
        "How worms pass a destination on their way: off, they go on while they are consumed (default); or they end "
        "there and are sent anew, from so many retransmission slots of the interface, or from the memory of the host.",
        "off", parse=retransmission_slots, metavar="off|host|SLOTS", label="retransmission slots of a node")
    slot: int = _hardware("Flits of the longest message that is absorbed, header flits among them, {} by default.", 128,
                          limits=SLOT_FLITS, label="flits of a retransmission slot", unit="flits", changes="interface")
    ni: str = _hardware(
        "conventional: hosts forward multicasts (default). Smart interfaces forward their packets: fpfs, each to all "
        "children, then the next; fcfs, all of a message to a child, then to the next one.", "conventional",
        allowed=("conventional", *FORWARD_ORDERS), changes="interface")
    rows: int = _hardware("Messages that a smart interface may forward at a time, {} by default.", 8,
                          limits=(1, MOST_ROWS), label="rows of a child table", changes="interface")
    places: int = _hardware("Packets of each message that a smart interface has room for, {} by default.", 4,
                            limits=(1, MOST_PLACES), label="packet places of a row", unit="packets",
                            changes="interface")
    row: int = _hardware("Header flits of all children of a row in a smart interface's table, {} by default.", 32,
                         limits=(1, 1024), label="flits of a row of a child table", unit="flits", changes="interface")
    injection_delay: int = _overhead("Host, once for each message: it prepares the headers.",
                                     limits=(0, MOST_OVERHEAD), changes="host")
    multicast_delay: int = _overhead("Host, once for each multicast, besides.", limits=(0, MOST_OVERHEAD),
                                     changes="host")
    copy_delay: int = _overhead("Host, for each worm of a multicast, besides t_hs.", limits=(0, MOST_OVERHEAD),
                                changes="host")
    copying: str = option(
        "Whether the first worm of a message is sent while the host works on the others (overlapped, default), or when "
        "all are made (first).", "overlapped", panel="Overheads, in cycles", allowed=("overlapped", "first"),
        changes="host")
    vc_classes: str = _hardware(
        "none: worms take any virtual channel of a link, whatever class their relation says; default: the relation's.",
        "relation", allowed=("relation", "none"), changes="router")
    tokens: str | None = _hardware(
        "Whether a worm that is to be copied waits for its group's token (on, default), or copies may deadlock (off); "
        "of trees alone.", None, parse=on_or_off, metavar="on|off", changes="router")
    ties: str = _hardware(
        "Which way around an even ring a worm goes to the node opposite, under e-cube: plus, upwards (default), or "
        "signed, as a bit for each dimension in its header says.", "plus", allowed=TIES, changes="router")
    classes: str | None = _hardware(
        'Classes of consumption channels, as check prints them (1+,0+/1-/0-:last); "": none, a worm takes any '
        "channel; default: the scheme's.", None, parse=ConsumptionClasses.parse, metavar="MAP", changes="router")

    def __post_init__(self) -> None:
        require_fields(self)
        require_allowed(self)
        self._apply_ratio()
        if not self.deep and self.buffer > MOST_SHALLOW:
            raise WormcastError(f"buffer: {self.buffer} is given, allowed are 1 to {MOST_SHALLOW}; more with "
                                "buffer-kind deep")
        if self.deep:
            self._require_deep()
        if self.slots:
            alone = {"ports": "one", "ejection": "one", "consumption_links": "shared"}
            for name, allowed in alone.items():
                if getattr(self, name) != allowed:
                    raise WormcastError(f"{name}: {getattr(self, name)} is given with retransmission slots (absorb "
                                        f"{self.absorb}), which have one way in and one way out: allowed is {allowed}")
        if self.smart:
            self._require_smart()
        if self.absorb != "off" and self.classes is not None and len(ConsumptionClasses.parse(self.classes)):
            raise WormcastError(f"classes: {self.classes} is given with absorb {self.absorb}, where worms end at each "
                                'destination and take any channel: allowed is ""')

    def _apply_ratio(self) -> None:
        """Set the interface's overheads by those of the host."""
        if self.ratio is None:
            return
        for name, of in (("t_ns", self.t_hs), ("t_nr", self.t_hr)):
            cycles = round(of / overhead_ratio(self.ratio))
            if getattr(self, name) not in (0, cycles):
                raise WormcastError(f"{name.replace('_', '-')}: {getattr(self, name)} is given with ratio "
                                    f"{self.ratio}, which makes it {cycles}: give one of both")
            if cycles > MOST_DELAY:
                raise WormcastError(f"ratio: {self.ratio} is given, which makes {name.replace('_', '-')} {cycles}, "
                                    f"allowed are up to {MOST_DELAY}")
            object.__setattr__(self, name, cycles)

    def _require_all(self, options: Mapping[str, Any], beside: str) -> None:
        """Refuse other values of these options beside an option that goes with these alone."""
        for name, allowed in options.items():
            if getattr(self, name) != allowed:
                raise WormcastError(f"{name.replace('_', '-')}: {getattr(self, name)} is given with {beside}, "
                                    f"allowed is {allowed}")

    def _require_smart(self) -> None:
        """Refuse what smart interfaces do not go with."""
        self._require_all(SMART, f"ni {self.ni}")
        if not self.packet:
            raise WormcastError(f"packet: 0 (the default) makes no packets, which ni {self.ni} forwards: allowed are 1 "
                                f"to {MOST_PACKET}")
        if self.rows & self.rows - 1:
            raise WormcastError(f"rows: {self.rows} is given, allowed are powers of two up to {MOST_ROWS}")
        if self.flit_width < ROW_BITS:
            raise WormcastError(f"flit-width: {self.flit_width} is given with ni {self.ni}, allowed are {ROW_BITS} "
                                "bits and more")

    def _require_deep(self) -> None:
        """Refuse what deep buffers do not go with."""
        self._require_all(DEEP, "buffer-kind deep")
        if self.buffer % self.chunk or self.buffer < 2 * self.chunk:
            raise WormcastError(f"buffer: {self.buffer} is given with chunks of {self.chunk} flits, allowed are their "
                                f"multiples from {2 * self.chunk}")

    @property
    def deep(self) -> bool:
        """Whether the inputs of switches hold whole packets."""
        return self.buffer_kind == "deep"

    @property
    def smart(self) -> bool:
        """Whether network interfaces forward packets by themselves."""
        return self.ni != "conventional"

    @property
    def counts_packets(self) -> bool:
        """Whether interfaces are told how many packets a message has."""
        return self.smart and FORWARD_ORDERS[self.ni]

    @property
    def dma_rate(self) -> tuple[int, int]:
        """Flits that a host moves, in how many cycles; 0 for any."""
        return (0, 1) if self.dma is None else flit_rate(self.dma)

    @property
    def slots(self) -> int:
        """Retransmission slots of each interface."""
        return retransmission_slots(self.absorb)

    def holds_messages(self, length: int | None) -> bool | None:
        """Whether smart interfaces have places for all packets of messages with so many flits; None: it is not known,
        as of messages of any length, or of interfaces that are not smart."""
        if not self.smart or length is None:
            return None
        return bool(self.packets_of(length) <= self.places)

    def packets_of(self, length: Any) -> Any:
        """Packets of a message of so many payload flits, or of each of an array."""
        return packets_of(length, self.packet)

    def as_sent(self, scheme: Scheme) -> Scheme:
        """Give a scheme with its worms as hosts send them: with ``absorb="host"`` one to each destination."""
        if self.absorb != "host" or isinstance(scheme, AbsorbedByHosts):
            return scheme
        return AbsorbedByHosts(scheme)

    def relation_on(self, topology: Topology, scheme: Scheme) -> Relation:
        """Return the scheme's relation with ties and classes of virtual channels as the options say."""
        return as_built(scheme.relation_on(topology), topology, self.ties, self.vc_classes)

    def for_headers(self, topology: Topology, scheme: Scheme, destinations: int) -> "Configuration":
        """Resolve ``header="ideal"`` for a scheme's worms of at most so many destinations."""
        if self.header == "real":
            return self
        width = scheme.header.ideal_width_on(topology, max(destinations, 1),
                                             signed=signed_dimensions(self.relation_on(topology, scheme), topology))
        return replace(self, flit_width=max(self.flit_width, width))

    def resolved(self, topology: Topology, scheme: Scheme) -> dict[str, Any]:
        """Give all options as plain data for JSON, the scheme's classes where none are chosen."""
        return {**self.to_dict(), "classes": str(self.consumption_classes(topology, scheme))}

    def consumption_classes(self, topology: Topology, scheme: Scheme) -> ConsumptionClasses:
        """Give the classes that the routers are built for.

        Raises
        ------
        WormcastError
            Some are given, and worms of the scheme are copied on their way.
        """
        if self.classes is not None:
            given = ConsumptionClasses.parse(self.classes)
            if scheme.is_tree:
                require_any_channel(given, scheme.name)
            return given
        return classes_of(scheme, topology) if self.absorb == "off" else ConsumptionClasses()

    def to_dict(self) -> dict[str, Any]:
        """Give all options, resolved, as plain data for JSON."""
        return asdict(self)


def changing(part: str) -> tuple[str, ...]:
    """Names of the options that change this part alone; see `Option.changes`."""
    return tuple(name for name, declared in options_of(Configuration).items() if declared.changes == part)


def unusual(hardware: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Write those of these options that are not the usual ones: ``["ejection all"]``; no classes are usual.

    Where network interfaces forward, what room they have is written too, and the kind of buffers, whatever they are.
    """
    usual, no_classes = Configuration().to_dict(), str(ConsumptionClasses())
    stated = ROOM if hardware.get("ni", usual["ni"]) != usual["ni"] else ()
    return [f"{name.replace('_', '-')} {hardware[name]}" for name in names
            if name in hardware and (name in stated or hardware[name] not in (usual[name], no_classes))]


#: Which channels worms may take.
CHANNEL_FIELDS = ("ejection", "vc_classes", "ties", "absorb")
#: What changes no hardware, the network interfaces alone, the routers alone, and no cycle.
HOST_FIELDS = changing("host")
INTERFACE_FIELDS = changing("interface")
ROUTER_FIELDS = changing("router")
UNTIMED_FIELDS = changing("cells")
