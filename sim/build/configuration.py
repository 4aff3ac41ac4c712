# amaranth: UnusedElaboratable=no
# (a kernel found on disk needs the component's ports alone, and never elaborates it)
"""The hardware options of a run, resolved and checked."""

import functools
from dataclasses import asdict, dataclass, replace
from typing import Any

from wormcast.algorithms import E_CUBE, HAMILTONIAN, ConsumptionClasses, Scheme, Topology, WormcastError, ideal_width
from wormcast.algorithms.headers import AddressList, Unicast
from wormcast.hw import PortSpec, Switch
from wormcast.hw.buffer import STORAGE
from wormcast.hw.decoders import Decoder, MeshDecoder, TableDecoder
from wormcast.hw.decoders.base import INJECTION
from wormcast.hw.decoders.table import MOST_ADDRESS_BITS
from wormcast.hw.interface import NetworkInterface
from wormcast.hw.switch import CONSUMPTION_LINKS, DELAYS, READERS

from ..common.schema import option, options_of, require_allowed

__all__ = ["HOST_FIELDS", "INTERFACE_FIELDS", "ROUTER_FIELDS", "UNTIMED_FIELDS", "Configuration", "changing"]

#: Largest number of cycles of an overhead of the hosts.
MOST_OVERHEAD = 2**32
MOST_HEADER_FLITS = 64

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
    buffer: int = _hardware("Flits of buffer per virtual channel and per consumption channel, {} by default.", 4,
                            limits=(1, 16), label="buffer of a virtual channel", unit="flits")
    readers: str = _hardware("Whether the outputs of a worm advance together, as they do by default.", "coupled",
                             allowed=READERS, changes="router")
    consumption: int = _hardware(
        "Consumption channels of each node; default: one for each class, so that none shares one.", 2, limits=(1, 16),
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
    consumption_links: str = _hardware("Whether a node's consumption channels share one link (default).", "shared",
                                       allowed=CONSUMPTION_LINKS)
    packet: int = _hardware("Payload flits of a packet; 0: worms are sent whole (default).", 0, limits=(0, 65535),
                            unit="payload flits", changes="interface")
    queue: int = _hardware("Flits of buffer between host and each injection port, {} by default.", 4, limits=(1, 16),
                           label="queue between host and interface", unit="flits", changes="interface")
    t_hs: int = _overhead("Host, before it posts a worm.", limits=(0, MOST_OVERHEAD), changes="host")
    t_hr: int = _overhead("Host, for each receipt.", limits=(0, MOST_OVERHEAD), changes="host")
    t_ns: int = _overhead("Interface, before each packet it sends.", limits=(0, 65535), changes="interface")
    t_nr: int = _overhead("Interface, before the last flit of each packet it gets is handed over.", limits=(0, 65535),
                          changes="interface")
    injection_delay: int = _overhead("Host, once for each message: it prepares the headers.",
                                     limits=(0, MOST_OVERHEAD), changes="host")
    classes: str | None = _hardware(
        'Classes of consumption channels, as check prints them (1+,0+/1-/0-:last); "": none, a worm takes any '
        "channel; default: the scheme's.", None, parse=ConsumptionClasses.parse, metavar="MAP", changes="router")

    def __post_init__(self) -> None:
        require_allowed(self)

    def for_headers(self, topology: Topology, destinations: int) -> "Configuration":
        """Resolve ``header="ideal"`` for worms of at most so many destinations."""
        if self.header == "real":
            return self
        width = ideal_width(topology.shape, max(destinations, 1))
        return replace(self, flit_width=max(self.flit_width, width))

    def resolved(self, topology: Topology, scheme: Scheme) -> dict[str, Any]:
        """Give all options as plain data for JSON, the scheme's classes where none are chosen."""
        return {**self.to_dict(), "classes": str(self.consumption_classes(topology, scheme))}

    def consumption_classes(self, topology: Topology, scheme: Scheme) -> ConsumptionClasses:
        """Give the classes that the routers are built for."""
        return scheme.classes_on(topology) if self.classes is None else ConsumptionClasses.parse(self.classes)

    def header_format(self, topology: Topology, scheme: Scheme, relations: int = 1) -> AddressList:
        """Make the scheme's header format at this flit width, for routers that know so many relations."""
        return scheme.header(topology.shape, self.flit_width, relations)

    def decoder(self, topology: Topology, scheme: Scheme, relations: tuple[str, ...] = ()) -> Decoder:
        """Build the header decoder: by comparing coordinates where the relation is known, else by a table.

        Raises
        ------
        WormcastError
            Of the relations named one is not known, or twice there; or the network is too large for a table.
        """
        compared = [relation for relation in (E_CUBE, HAMILTONIAN)
                    if topology.kind == "mesh" and MeshDecoder.knows(relation, topology.shape)]
        known = [relation.name for relation in compared]
        if not set(relations) <= set(known) or len(set(relations)) < len(relations):
            raise WormcastError(f"relations: {', '.join(relations)} is given, routers of {topology.name} compare "
                                f"coordinates by {', '.join(known)}, each once")
        header = self.header_format(topology, scheme, max(len(relations), 1))
        classes = self.consumption_classes(topology, scheme)
        multicast = not isinstance(header, Unicast)
        if relations or scheme.relation in compared:
            names = relations or (scheme.relation.name,)
            return MeshDecoder(
                header, relations=names, consumption=classes, multicast=multicast, injection=self.ports
            )
        if header.address_bits > MOST_ADDRESS_BITS:
            raise WormcastError(
                f"relation: {scheme.relation.name} is looked up in tables on {topology.name}, whose addresses have "
                f"{header.address_bits} bits, allowed are up to {MOST_ADDRESS_BITS} (16x16 nodes); e-cube and, in two "
                "dimensions, hamiltonian need no tables"
            )
        return TableDecoder(header, consumption=classes, multicast=multicast, injection=self.ports)

    def router(self, topology: Topology, scheme: Scheme, relations: tuple[str, ...] = ()) -> Switch:
        """Build one router of the network; it knows the scheme's routing relation, or those named."""
        decoder = self.decoder(topology, scheme, relations)
        inputs = [PortSpec(name, vcs=self.vcs, depth=self.buffer) for name in decoder.inputs]
        outputs = [
            PortSpec(name, vcs=self.vcs if o < decoder.ejection else self.consumption, depth=self.buffer)
            for o, name in enumerate(decoder.outputs)
        ]
        return Switch(
            inputs=inputs,
            outputs=outputs,
            decoder=decoder,
            width=self.flit_width,
            readers=self.readers,
            storage=self.storage,
            delays=self.delays,
            consumption_links=self.consumption_links,
        )

    def header_flits(self, topology: Topology, scheme: Scheme) -> int:
        """Header flits that an interface keeps of a worm: with packets as many as all other nodes need, else 1.

        Raises
        ------
        WormcastError
            These are more than 64.
        """
        if not self.packet:
            return 1
        header = self.header_format(topology, scheme)
        flits = 1 if isinstance(header, Unicast) else header.flits(max(topology.nodes - 1, 1))
        if flits > MOST_HEADER_FLITS:
            raise WormcastError(f"packet: {self.packet} is given where a header may have {flits} flits of "
                                f"{self.flit_width} bits, in packets {MOST_HEADER_FLITS} are allowed: "
                                "use wider flits or no packets")
        return flits

    def interface(self, topology: Topology, scheme: Scheme, *, ports: int = 1, links: int = 1) -> NetworkInterface:
        """Build one network interface with so many injection ports and consumption links."""
        return NetworkInterface(
            injection=PortSpec("injection", vcs=self.vcs, depth=self.buffer),
            consumption=PortSpec("consumption", vcs=self.consumption // links, depth=self.buffer),
            ports=ports,
            links=links,
            width=self.flit_width,
            storage=self.storage,
            queue=self.queue,
            packet=self.packet,
            header_flits=self.header_flits(topology, scheme),
            t_ns=self.t_ns,
            t_nr=self.t_nr,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give all options, resolved, as plain data for JSON."""
        return asdict(self)


def changing(part: str) -> tuple[str, ...]:
    """Names of the options that change this part alone; see `Option.changes`."""
    return tuple(name for name, declared in options_of(Configuration).items() if declared.changes == part)


#: What changes no hardware, the network interfaces alone, the routers alone, and no cycle.
HOST_FIELDS = changing("host")
INTERFACE_FIELDS = changing("interface")
ROUTER_FIELDS = changing("router")
UNTIMED_FIELDS = changing("cells")
