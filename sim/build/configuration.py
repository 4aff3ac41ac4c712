# amaranth: UnusedElaboratable=no
# (a kernel found on disk needs the component's ports alone, and never elaborates it)
"""The hardware options of a run, resolved and checked."""

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

__all__ = ["ALLOWED", "LIMITS", "Configuration"]

#: Largest number of cycles of an overhead of the hosts.
MOST_OVERHEAD = 2**32

#: Values that options of few values may have, and least and most of the numbers.
ALLOWED: dict[str, tuple[str, ...]] = {
    "readers": READERS,
    "header": ("real", "ideal"),
    "delays": DELAYS,
    "storage": tuple(STORAGE),
    "ports": INJECTION,
    "consumption_links": CONSUMPTION_LINKS,
}
LIMITS = {
    "vcs": (1, 16), "buffer": (1, 16), "consumption": (1, 16), "flit_width": (1, 1024), "packet": (0, 65535),
    "queue": (1, 16), "t_ns": (0, 65535), "t_nr": (0, 65535), "t_hs": (0, MOST_OVERHEAD),
    "t_hr": (0, MOST_OVERHEAD), "injection_delay": (0, MOST_OVERHEAD),
}
#: What changes no hardware, the network interfaces alone, and the routers alone.
HOST_FIELDS = ("t_hs", "t_hr", "injection_delay")
INTERFACE_FIELDS = ("packet", "queue", "t_ns", "t_nr")
ROUTER_FIELDS = ("readers", "delays", "classes")
MOST_HEADER_FLITS = 64


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Hardware options: one object from the command line down to the components.

    Parameters
    ----------
    vcs : int
        Virtual channels of each link, 1 to 16.
    buffer : int
        Flits of buffer per virtual channel, 1 to 16; the same for each consumption channel.
    readers : "coupled" or "independent"
        Whether a worm's outputs advance together.
    consumption : int
        Consumption channels of each node, 1 to 16.
    flit_width : int
        Data bits of a flit, 1 to 1024.
    header : "real" or "ideal"
        ``ideal`` widens the flit until every header of the run fits into one.
    delays : "paper" or "fast"
        Header 3 and data 2 cycles a hop, or 4 and 3 at a higher clock.
    storage : "lutram" or "registers"
        What the buffers are built of; no cycle depends on it.
    ports : "one" or "all"
        Injection ports of each node: one, or one for each of its router's links.
    consumption_links : "shared" or "separate"
        All consumption channels of a node on one physical link, or a link for each.
    classes : str, optional
        Map of directions to consumption classes, as `ConsumptionClasses.parse` reads it; None for the scheme's.
    packet : int
        Payload flits of a packet, up to 65535; 0: worms are sent whole.
    queue : int
        Flits of buffer between host and each injection port, 1 to 16.
    t_hs, t_hr : int
        Host processor's cycles before it posts a worm, and for each receipt.
    t_ns, t_nr : int
        Cycles that a network interface waits before each packet it sends, and before it hands over the last flit
        of each packet it gets; up to 65535.
    injection_delay : int
        Host processor's cycles before it posts the first worm of a message: it prepares the headers ([Boppana98],
        section 4).

    Raises
    ------
    WormcastError
        A value that is not allowed.
    """

    vcs: int = 2
    buffer: int = 4
    readers: str = "coupled"
    consumption: int = 2
    flit_width: int = 32
    header: str = "real"
    delays: str = "paper"
    storage: str = "lutram"
    ports: str = "one"
    consumption_links: str = "shared"
    packet: int = 0
    queue: int = 4
    t_hs: int = 0
    t_hr: int = 0
    t_ns: int = 0
    t_nr: int = 0
    injection_delay: int = 0
    classes: str | None = None

    def __post_init__(self) -> None:
        for field, allowed in ALLOWED.items():
            value = getattr(self, field)
            if value not in allowed:
                raise WormcastError(f"{field}: {value!r} is given, allowed are {', '.join(allowed)}")
        for field, (least, most) in LIMITS.items():
            value = getattr(self, field)
            if not least <= value <= most:
                raise WormcastError(f"{field}: {value} is given, allowed are {least} to {most}")

        if self.classes is not None:
            ConsumptionClasses.parse(self.classes)

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
