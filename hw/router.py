# amaranth: UnusedElaboratable=no
# (components that are built only to read their ports are never elaborated)
"""Parameters and construction of routers and network interfaces from topology, scheme and options."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from wormcast.algorithms.channels import require_share
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import Header
from wormcast.algorithms.routing import Relation, Routes, as_built, signed_dimensions
from wormcast.algorithms.schemes import Scheme
from wormcast.algorithms.token_groups import (
    TokenGroups,
    all_consumed,
    require_one_or_all,
    require_trees,
    token_groups,
)
from wormcast.algorithms.topologies.base import Topology

from .decoders import Decoder
from .decoders.choice import DecoderPlace, decoder_for
from .options import MOST_SHALLOW, MOST_SOURCES, RouterOptions
from .port import PortSpec
from .router_kind import SwitchKind, switch_kinds
from .switch_spec import ConsumptionLink, SwitchSpec
from .tables import TableBus
from .variants import InterfaceVariant, RouterVariant, interface_variant, router_variant

if TYPE_CHECKING:
    from .interface import NetworkInterface
    from .switch import Switch

__all__ = ["Blueprint", "RouterInstance", "RouterOptions", "SwitchKind", "switch_kinds"]

MOST_HEADER_FLITS = 64


Given = TypeVar("Given", bound=RouterOptions)
"""Type of `Blueprint.configuration`."""


class RouterInstance(NamedTuple):
    """Router kind and instance of a switch.

    Parameters
    ----------
    kind : str
        Name of the router kind, a key of `Blueprint.named_kinds`.
    instance : int
        Index of the switch among the members of its kind.
    router : SwitchSpec
        Parameters of the kind's routers.
    inputs, outputs : dict of int to int
        Index of each input from another switch and of each output to another switch, by the port's number in the
        topology.
    """

    kind: str
    instance: int
    router: SwitchSpec
    inputs: dict[int, int]
    outputs: dict[int, int]


@dataclass(frozen=True, eq=False)
class Blueprint(Generic[Given]):
    """Parameters of all components of a network.

    Parameters
    ----------
    topology : Topology
    scheme : Scheme
        Determines the header format and the routing relation.
    configuration : RouterOptions
    relations : tuple of str
        Relations that routers decode by comparing coordinates; if empty, routers decode only the scheme's relation, by
        any decoder.
    """

    topology: Topology
    scheme: Scheme
    configuration: Given
    relations: tuple[str, ...] = ()

    @property
    def decoded(self) -> tuple[str, ...]:
        """Names of the relations that routers decode. Default: the scheme's relation."""
        return self.relations or (self.scheme.relation_on(self.topology).name,)

    @cached_property
    def kinds(self) -> tuple[SwitchKind, ...]:
        """Kinds of the network's switches."""
        return switch_kinds(self.topology)

    @cached_property
    def named_kinds(self) -> dict[str, SwitchKind]:
        """Router kinds by name: ``router``, or, if there are several, ``router_0``, ``router_1`` and so on."""
        return {"router" if len(self.kinds) == 1 else f"router_{k}": kind for k, kind in enumerate(self.kinds)}

    @cached_property
    def variant(self) -> RouterVariant:
        """Variant of the network's routers."""
        return router_variant(self.configuration, self.header)

    @cached_property
    def relation(self) -> Relation:
        """The scheme's relation on this network, with the ties and classes of virtual channels of the options."""
        return as_built(self.scheme.relation_on(self.topology), self.topology, self.configuration.ties,
                        self.configuration.vc_classes)

    @cached_property
    def routes(self) -> Routes:
        """Routes of `relation` on the network."""
        return self.relation.on(self.topology)

    @cached_property
    def header(self) -> Header:
        """Header format of the network's worms, for routers that decode ``relations``."""
        return _header(self.topology, self.scheme, self.relation, self.configuration.flit_width, self.relations)

    def decoder(self, kind: SwitchKind | None = None) -> Decoder:
        """Return the header decoder of a kind of switches, see `decoder_for`. Default: the first kind."""
        return self._decoders[(kind or self.kinds[0]).signature]

    @cached_property
    def _decoders(self) -> dict[tuple, Decoder]:
        """Header decoders by the kind's signature."""
        return {kind.signature: decoder_for(DecoderPlace(kind, self.header, self.scheme, self.routes,
                                                         self.configuration, self.relations))
                for kind in self.kinds}

    def router(self, kind: SwitchKind | None = None) -> "Switch":
        """Build a router of a kind. Default: the first kind."""
        return self.variant.build(**self.parameters(kind))

    def parameters(self, kind: SwitchKind | None = None) -> dict[str, Any]:
        """Return the parameters of a kind's routers, by the names in the variant's ``spec``. Default: the first kind.

        Raises
        ------
        WormcastError
            The virtual channels cannot be divided among the relation's classes.
        """
        require_share(self.configuration.vcs, len(self.routes.classes), f"{self.routes.relation.name} has",
                      self.topology)
        kind = kind or self.kinds[0]
        decoder, options = self.decoder(kind), self.configuration
        inputs = [self._buffer(name) for name in decoder.inputs]
        outputs = [self._buffer(name) if o < decoder.ejection else
                   PortSpec(name, vcs=options.consumption, depth=self.consumption_depth, to_node=True)
                   for o, name in enumerate(decoder.outputs)]
        return {"inputs": inputs, "outputs": outputs, "decoder": decoder, "width": options.flit_width,
                "tables": self.tables, **self.variant.parameters(options, self.scheme, self.tokens, kind)}

    def _buffer(self, name: str) -> PortSpec:
        """Return the parameters of a port whose link ends at a switch."""
        options = self.configuration
        return PortSpec(name, vcs=options.vcs, depth=options.buffer, chunk=options.chunk if options.deep else 1)

    @property
    def consumption_depth(self) -> int:
        """Buffer depth of a consumption channel, in flits: the depth of other channels, at most `MOST_SHALLOW`."""
        return min(self.configuration.buffer, MOST_SHALLOW)

    @cached_property
    def tokens(self) -> TokenGroups | None:
        """Groups of switches that share a token; None without tokens."""
        options = self.configuration
        # no tokens: for schemes that need buffers for whole worms, and with deep buffers
        copied = self.scheme.is_tree and not (self.scheme.needs_whole_packet or options.deep)
        require_trees(options.tokens, copied, self.scheme.name)
        if not copied or options.tokens == "off":
            return None
        channels: dict[str, Any] = {"channels": options.consumption, "vcs": options.vcs, "ejection": options.ejection}
        require_one_or_all(self.topology, **channels)
        return token_groups(self.topology, consumed=all_consumed(self.topology, **channels))

    @cached_property
    def tables(self) -> TableBus | None:
        """Bus that writes the tables of all switches; None if no decoder has tables in memories."""
        decoders = self._decoders.values()
        bits = [decoder.table_bits for decoder in decoders if decoder.table_bits is not None]
        if not bits:
            return None
        return TableBus(max(decoder.table_count for decoder in decoders), max(one.address for one in bits),
                        max(one.entry for one in bits))

    def _header_flits(self, width: int) -> int:
        """Largest number of header flits of a worm, if flits have ``width`` data bits."""
        header = _header(self.topology, self.scheme, self.relation, width, ())
        return header.flits(max(self.topology.nodes - 1, 1) if header.multicast else 1)

    @property
    def header_flits(self) -> int:
        """Number of header flits that an interface stores: the most that a worm can have if messages are split into
        packets, else 1.

        Raises
        ------
        WormcastError
            The number exceeds 64.
        """
        packet, width = self.configuration.packet, self.configuration.flit_width
        if not packet:
            return 1
        flits = self._header_flits(width)
        if flits > MOST_HEADER_FLITS:
            wider = next((f", or a flit_width of {wide} or more" for wide in range(width + 1, width * flits + 1)
                          if self._header_flits(wide) <= MOST_HEADER_FLITS), "")
            raise WormcastError(f"packet: {packet} is not valid: a header can have {flits} flits of {width} bits, and "
                                f"an interface can store at most {MOST_HEADER_FLITS} header flits. Allowed: packet 0"
                                f"{wider}.")
        return flits

    @cached_property
    def routers(self) -> dict[str, SwitchSpec]:
        """Parameters of the routers of each kind, by the names of `named_kinds`."""
        return {name: self.variant.spec(**self.parameters(kind)) for name, kind in self.named_kinds.items()}

    def home(self, switch: int) -> RouterInstance:
        """Return the router kind and instance of a switch."""
        return self._homes[switch]

    @cached_property
    def _homes(self) -> tuple[RouterInstance, ...]:
        found: dict[int, RouterInstance] = {}
        for name, kind in self.named_kinds.items():
            inputs = {port: number for number, port in enumerate(kind.network_inputs)}
            outputs = {port: number for number, port in enumerate(kind.network_outputs)}
            for instance, switch in enumerate(kind.members.tolist()):
                found[switch] = RouterInstance(name, instance, self.routers[name], inputs, outputs)
        return tuple(found[switch] for switch in range(self.topology.switches))

    def injection_ports(self, node: int) -> tuple[str, ...]:
        """Return the names of the router's inputs that a node's interface feeds, in the interface's order."""
        switch, port = self.topology.injections[node].tolist()
        home = self.home(switch)
        return home.router.injections[self.named_kinds[home.kind].injections.index(port)]

    def consumption_links(self, node: int) -> tuple[ConsumptionLink, ...]:
        """Return the links from the router to a node's interface, in the interface's order."""
        switch, port = self.topology.consumptions[node].tolist()
        home = self.home(switch)
        return home.router.consumptions[self.named_kinds[home.kind].ejections.index(port)]

    def interface(self, **count: int | None) -> "NetworkInterface":
        """Build a network interface; arguments are those of `interface_parameters`."""
        return self.interface_variant.build(**self.interface_parameters(**count))

    @cached_property
    def interface_variant(self) -> InterfaceVariant:
        """Variant of the network interfaces."""
        return interface_variant(self.configuration)

    def interface_parameters(self, *, ports: int | None = None, links: int | None = None,
                             channels: int | None = None) -> dict[str, Any]:
        """Return the parameters of the network interfaces' component.

        Parameters
        ----------
        ports, links : int, optional
            Number of injection ports and of consumption links; by default those of node 0.
        channels : int, optional
            Consumption channels of each link; by default as many as on the switches' links to nodes.
        """
        options = self.configuration
        if ports is None:
            ports = len(self.injection_ports(0))
        if links is None:
            links = len(self.consumption_links(0))
        if channels is None:
            channels = options.consumption if options.consumption_links == "shared" else 1
        return {
            "injection": self._buffer("injection"),
            "consumption": PortSpec("consumption", vcs=channels, depth=self.consumption_depth),
            "width": options.flit_width,
            "storage": options.storage,
            "queue": options.queue,
            "packet": options.packet,
            "header_flits": self.header_flits,
            "t_ns": options.t_ns,
            "t_nr": options.t_nr,
            **self.interface_variant.parameters(options, ports, links),
            **({"sources": self._sources} if options.admission == "messages" else {}),
        }


    @property
    def _sources(self) -> int:
        """Number of nodes that may request rows of an interface by control packets."""
        others = max(self.topology.nodes - 1, 1)
        if others > MOST_SOURCES:
            raise WormcastError(f"admission: messages is not valid with {self.topology.nodes} nodes: an interface has "
                                f"a place for an answer to each other node, at most {MOST_SOURCES}. Allowed: oracle.")
        return others


def _header(topology: Topology, scheme: Scheme, relation: Relation, width: int,
            relations: tuple[str, ...]) -> Header:
    """Return the header format of a scheme's worms, for routers that decode ``relations``."""
    return scheme.header_on(topology, width, max(len(relations), 1), signed_dimensions(relation, topology))
