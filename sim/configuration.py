# amaranth: UnusedElaboratable=no
# (a kernel found on disk needs the component's ports alone, and never elaborates it)
"""The hardware options of a run, resolved and checked."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from wormcast.algorithms import ConsumptionClasses, Scheme, Topology, WormcastError, ideal_width
from wormcast.algorithms.headers import AddressList, Unicast
from wormcast.hw import PortSpec, Switch
from wormcast.hw.decoders import MeshDecoder
from wormcast.hw.network_interface import NetworkInterface

__all__ = ["Configuration"]

ALLOWED = {
    "readers": ("coupled", "independent"),
    "header": ("real", "ideal"),
    "delays": ("paper", "fast"),
    "storage": ("lutram", "registers"),
    "ports": ("one", "all"),
    "consumption_links": ("shared", "separate"),
}
LIMITS = {"vcs": (1, 16), "buffer": (1, 16), "consumption": (1, 16), "flit_width": (1, 1024)}


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
        Consumption channels of each node, 1 to 16, on one shared physical link.
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

    def for_headers(self, topology: Topology, destinations: int) -> "Configuration":
        """Resolve ``header="ideal"`` for worms of at most so many destinations."""
        if self.header == "real":
            return self
        width = ideal_width(topology.shape, max(destinations, 1))
        return replace(self, flit_width=max(self.flit_width, width))

    def consumption_classes(self, topology: Topology, scheme: Scheme) -> ConsumptionClasses:
        """Give the classes that the routers are built for."""
        return scheme.classes_on(topology) if self.classes is None else ConsumptionClasses.parse(self.classes)

    def header_format(self, topology: Topology, scheme: Scheme, relations: int = 1) -> AddressList:
        """Make the scheme's header format at this flit width, for routers that know so many relations."""
        return scheme.header(topology.shape, self.flit_width, relations)

    def router(self, topology: Topology, scheme: Scheme, relations: tuple[str, ...] = ()) -> Switch:
        """Build one router of the network; it knows the scheme's routing relation, or those named."""
        relations = relations or (scheme.relation.name,)
        header = self.header_format(topology, scheme, len(relations))
        decoder = MeshDecoder(
            header,
            relations=relations,
            consumption=self.consumption_classes(topology, scheme),
            multicast=not isinstance(header, Unicast),
            injection=self.ports,
        )
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

    def interface(self) -> NetworkInterface:
        """Build one network interface."""
        return NetworkInterface(
            injection=PortSpec("injection", vcs=self.vcs, depth=self.buffer),
            consumption=PortSpec("consumption", vcs=self.consumption, depth=self.buffer),
            width=self.flit_width,
            storage=self.storage,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give all options, resolved, as plain data for JSON."""
        return asdict(self)
