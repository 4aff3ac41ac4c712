# amaranth: UnusedElaboratable=no
# (components that are built for their ports alone are never elaborated)
"""Parameters and construction of routers and network interfaces from topology, scheme and options."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from wormcast.algorithms.channels import require_share
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList, BitString, Header, MultiDrop, Unicast
from wormcast.algorithms.routing import (
    E_CUBE,
    E_CUBE_SIGNED,
    HAMILTONIAN,
    AnyChannel,
    Relation,
    Routes,
    as_built,
    signed_dimensions,
)
from wormcast.algorithms.schemes import Scheme
from wormcast.algorithms.token_groups import (
    TokenGroups,
    all_consumed,
    require_one_or_all,
    require_trees,
    token_groups,
)
from wormcast.algorithms.topologies.base import Topology
from wormcast.algorithms.topologies.direct import GRIDS
from wormcast.algorithms.turns import require_unicasts

from .decoders import (
    AdaptiveDecoder,
    BitStringDecoder,
    Decoder,
    MeshDecoder,
    MultiDropDecoder,
    ReachDecoder,
    RouteDecoder,
    TableDecoder,
    TagDecoder,
    TorusDecoder,
    tag_digits,
)
from .decoders.grid import grid_kind
from .decoders.table import MOST_ADDRESS_BITS
from .options import MOST_SHALLOW, RouterOptions, require_buffers
from .port import PortSpec
from .router_kind import SwitchKind, switch_kinds
from .switch_spec import ConsumptionLink, SwitchSpec
from .tables import TableBus
from .variants import ROUTERS, RouterVariant

if TYPE_CHECKING:
    from .interface import NetworkInterface
    from .switch import Switch

__all__ = ["Blueprint", "Home", "RouterOptions", "SwitchKind", "decoder_for", "switch_kinds"]

MOST_HEADER_FLITS = 64


Given = TypeVar("Given", bound=RouterOptions)
"""Type of a blueprint's options."""


class Home(NamedTuple):
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
        The router's numbers of the inputs from other switches and of the outputs to other switches, by the topology's
        port.
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
        Relations that routers decode by comparing coordinates; if empty, the scheme's relation alone, by any decoder.
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
        """Router kinds by name: ``router``, or ``router_0``, ``router_1``, ... if there are several."""
        return {"router" if len(self.kinds) == 1 else f"router_{k}": kind for k, kind in enumerate(self.kinds)}

    @cached_property
    def variant(self) -> RouterVariant:
        """Variant of the network's routers."""
        return next(variant for variant in ROUTERS if variant.fits(self.configuration, self.header))

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
        return {kind.signature: decoder_for(kind, self.topology, self.scheme, self.routes, self.configuration,
                                            self.relations) for kind in self.kinds}

    def router(self, kind: SwitchKind | None = None) -> "Switch":
        """Build a router of a kind. Default: the first kind."""
        return self.variant.build(**self.parameters(kind))

    def parameters(self, kind: SwitchKind | None = None) -> dict[str, Any]:
        """Return the parameters of a kind's routers, as of the variant's ``spec``. Default: the first kind.

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
        """Flits of buffer of a consumption channel: as many as other channels have, at most `MOST_SHALLOW`."""
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

    @property
    def header_flits(self) -> int:
        """Header flits that an interface stores: those of a worm to all other nodes if worms are split into packets,
        else 1.

        Raises
        ------
        WormcastError
            The number exceeds 64.
        """
        packet, width = self.configuration.packet, self.configuration.flit_width
        if not packet:
            return 1
        header = _header(self.topology, self.scheme, self.relation, width, ())
        flits = 1 if isinstance(header, Unicast) else header.flits(max(self.topology.nodes - 1, 1))
        if flits > MOST_HEADER_FLITS:
            raise WormcastError(f"packet: {packet} is not valid: a header can have {flits} flits of {width} bits, and "
                                f"packets have room for {MOST_HEADER_FLITS}. Allowed: 0, or wider flits.")
        return flits

    @cached_property
    def routers(self) -> dict[str, SwitchSpec]:
        """Parameters of the routers of each kind, by the names of `named_kinds`."""
        return {name: self.variant.spec(**self.parameters(kind)) for name, kind in self.named_kinds.items()}

    def home(self, switch: int) -> Home:
        """Return the router kind and instance of a switch."""
        return self._homes[switch]

    @cached_property
    def _homes(self) -> tuple[Home, ...]:
        found: dict[int, Home] = {}
        for name, kind in self.named_kinds.items():
            inputs = {port: number for number, port in enumerate(kind.network_inputs)}
            outputs = {port: number for number, port in enumerate(kind.network_outputs)}
            for instance, switch in enumerate(kind.members.tolist()):
                found[switch] = Home(name, instance, self.routers[name], inputs, outputs)
        return tuple(found[switch] for switch in range(self.topology.switches))

    def injection_ports(self, node: int) -> tuple[str, ...]:
        """Return the names of the router's inputs that a node's interface feeds, in the interface's order."""
        switch, port = self.topology.injections[node].tolist()
        home = self.home(switch)
        return home.router.injections[self.named_kinds[home.kind].injections.index(port)]

    def consumption_links(self, node: int) -> tuple[ConsumptionLink, ...]:
        """Return the router's links to a node's interface, in the interface's order."""
        switch, port = self.topology.consumptions[node].tolist()
        home = self.home(switch)
        return home.router.consumptions[self.named_kinds[home.kind].ejections.index(port)]

    def interface(self, **count: int | None) -> "NetworkInterface":
        """Build a network interface; arguments are those of `interface_parameters`."""
        from .interface import NetworkInterface  # imports Amaranth

        return NetworkInterface(**self.interface_parameters(**count))

    def interface_parameters(self, *, ports: int | None = None, links: int | None = None,
                             channels: int | None = None) -> dict[str, Any]:
        """Return the parameters of a `NetworkInterface`.

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
            "ports": ports,
            "links": links,
            "width": options.flit_width,
            "storage": options.storage,
            "queue": options.queue,
            "packet": options.packet,
            "header_flits": self.header_flits,
            "t_ns": options.t_ns,
            "t_nr": options.t_nr,
            "slots": options.slots,
            "slot_flits": options.slot,
            "kind": options.ni,
            "rows": options.rows,
            "places": options.places,
            "row_flits": options.row,
        }


def decoder_for(kind: SwitchKind, topology: Topology, scheme: Scheme, routes: Routes, configuration: RouterOptions,
                relations: tuple[str, ...] = ()) -> Decoder:
    """Build the header decoder of a kind of switches.

    The decoder follows from header, relation and network:

    - With shallow buffers, coordinates are compared for e-cube on meshes, tori and rings (on tori and rings with the
      signs of ties, if chosen), and for hamiltonian on meshes. In lists of addresses coordinates are compared also for
      adaptive and e-cube-adaptive on meshes.
    - Lists of addresses under other relations use a table in straps.
    - On meshes, unicasts under relations other than e-cube and hamiltonian use tables in straps, if two conditions
      hold. Addresses have at most 8 bits; the relation has one phase, one class of virtual channels and no
      alternatives. Other unicasts use digits of the destination as output numbers, if this is possible at all switches
      of the network, else tables in memories. With deep buffers unicasts always use tables in memories.
    - Lists of switches, and bit strings of worms that go up and then down, need deep buffers.

    Parameters
    ----------
    kind : SwitchKind
        One of the topology's kinds.
    scheme : Scheme
        Determines the header format and the consumption classes.
    routes : Routes
        The scheme's relation on the topology.
    configuration : RouterOptions
    relations : tuple of str
        Relations that the switches decode by comparing coordinates; if empty, the relation of the routes.

    Raises
    ------
    WormcastError
        No decoder supports this combination of network, scheme, relations and options.
    """
    relation, ports = routes.relation, {"injection": configuration.ports, "ejection": configuration.ejection}
    absorbs = configuration.slots > 0
    # a user's network can have the kind mesh, but other ports or links than a mesh
    grid = topology.kind in GRIDS and kind.signature == grid_kind(topology.shape).signature
    compared = [one for one in (E_CUBE, HAMILTONIAN) if grid and topology.kind == "mesh" and MeshDecoder.knows(one)]
    known = [one.name for one in compared]
    if not set(relations) <= set(known) or len(set(relations)) < len(relations):
        reason = (f". Allowed: {', '.join(known)}, each once." if known else
                  f": routers of {topology.name} decode the scheme's relation alone")
        raise WormcastError(f"relations: {', '.join(relations)} is not valid{reason}")
    header = _header(topology, scheme, relation, configuration.flit_width, relations)
    require_buffers(scheme, deep=configuration.deep)
    require_unicasts(scheme, routes)
    if isinstance(header, MultiDrop):
        return MultiDropDecoder(header, kind=kind, injection=configuration.ports)
    if scheme.needs_whole_packet and isinstance(header, BitString):
        return ReachDecoder(header, kind=kind, injection=configuration.ports, in_turn=not routes.deterministic)
    if isinstance(header, BitString):
        decided = tag_digits(routes, kind)
        if decided is None:
            raise WormcastError(f"relation: {relation.name} is not valid: worms with bit strings need outputs that are "
                                f"digits of the destination, which those of {topology.name} are not")
        if not configuration.deep:
            _require_tree(header, configuration)
        return BitStringDecoder(header, kind=kind, deciding=decided, **ports)
    if not isinstance(header, AddressList):
        raise WormcastError(f"scheme: {scheme.name} is not valid: {topology.name} with buffer-kind "
                            f"{'deep' if configuration.deep else 'shallow'} has no decoder for its header, "
                            f"{type(header).__name__}")
    classes = configuration.consumption_classes(topology, scheme)
    multicast = not isinstance(header, Unicast)
    plain = relation.relation if isinstance(relation, AnyChannel) else relation
    if configuration.deep:
        return RouteDecoder(header, kind=kind, in_turn=routes.in_turn)
    if relations or plain in compared:
        return MeshDecoder(header, relations=relations or (plain.name,), consumption=classes, multicast=multicast,
                           kind=kind, absorbs=absorbs and multicast, **ports)
    if plain in (E_CUBE, E_CUBE_SIGNED) and grid:
        return TorusDecoder(header, classes=plain is relation, consumption=classes, multicast=multicast, kind=kind,
                            absorbs=absorbs and multicast, **ports)
    if multicast and grid and AdaptiveDecoder.knows(relation):
        if absorbs:
            raise WormcastError(f"absorb: {configuration.slots} is not valid: relation {relation.name} is adaptive. "
                                "Allowed: off.")
        return AdaptiveDecoder(header, relation=relation, consumption=classes, kind=kind, **ports)
    if header.signed:
        raise WormcastError(f"ties: signed is not valid: routers of {topology.name} have routing tables, which ignore "
                            "signs. Allowed: plus.")
    simple = routes.deterministic and len(routes.options) == 1 == len(routes.classes)
    if multicast or (topology.kind == "mesh" and simple and header.address_bits <= MOST_ADDRESS_BITS):
        if not simple:
            raise WormcastError(f"relation: {relation.name} is not valid: on {topology.name} it has alternatives, "
                                "phases or classes of virtual channels. Allowed for worms with several "
                                "destinations: relations without these.")
        if header.address_bits > MOST_ADDRESS_BITS:
            raise WormcastError(
                f"relation: {relation.name} is not valid: addresses of {topology.name} have {header.address_bits} "
                f"bits, and its routing tables have room for {MOST_ADDRESS_BITS} (16x16 nodes). Allowed: e-cube, "
                "hamiltonian, which need no tables."
            )
        return TableDecoder(header, consumption=classes, multicast=multicast, kind=kind,
                            absorbs=absorbs and multicast, **ports)
    digits = {one: tag_digits(routes, one) for one in switch_kinds(topology)}
    own = next(found for one, found in digits.items() if one.members[0] == kind.members[0])
    if own is not None and None not in digits.values() and not relation.enters_empty:
        return TagDecoder(header, kind=kind, digit=own[0] if len(set(own)) == 1 else None, **ports)
    if routes.in_turn and configuration.ports != "one":
        raise WormcastError(f"ports: {configuration.ports} is not valid: relation {relation.name} takes its outputs in "
                            "turn, and each of several injection ports leads to one output. Allowed: one.")
    return RouteDecoder(header, kind=kind, vc_classes=len(routes.classes), in_turn=routes.in_turn,
                        adaptive=not (routes.in_turn or routes.deterministic), preferred=_preferred(routes),
                        enters_empty=relation.enters_empty, **ports)


def _header(topology: Topology, scheme: Scheme, relation: Relation, width: int,
            relations: tuple[str, ...]) -> Header:
    """Return the header format of a scheme's worms, for routers that decode ``relations``, with signs of ties."""
    return scheme.header.on(topology, width, max(len(relations), 1), signed_dimensions(relation, topology))


def _require_tree(header: BitString, configuration: RouterOptions) -> None:
    """Refuse options that do not support replication to several outputs."""
    flits, depth = header.flits(), configuration.buffer
    if flits > depth:
        raise WormcastError(f"buffer: {depth} is not valid: a bit string of {header.bits} bits has {flits} flits of "
                            f"{header.flit_width} bits, which the buffer must hold. Allowed: "
                            + (f"{flits} to {MOST_SHALLOW}, or " if flits <= MOST_SHALLOW else "") + "wider flits.")
    if configuration.ports != "one":
        raise WormcastError(f"ports: {configuration.ports} is not valid: each of several injection ports leads to one "
                            "output, and worms with bit strings need several. Allowed: one.")
    if configuration.slots:
        raise WormcastError(f"absorb: {configuration.slots} is not valid: worms with bit strings end at each "
                            "destination. Allowed: off.")
    if configuration.readers != "coupled":
        raise WormcastError(f"readers: {configuration.readers} is not valid: the scheme determines the replication of "
                            "worms with bit strings. Allowed: coupled.")


def _preferred(routes: Routes) -> tuple[int, ...]:
    """Return the classes of virtual channels in the routes' order of preference, by their mean place among the
    alternatives."""
    place = np.broadcast_to(np.arange(routes.options.shape[-1]), routes.options.shape)[routes.options >= 0]
    k = routes.options[routes.options >= 0] % len(routes.classes)
    means = [place[k == one].mean() if (k == one).any() else np.inf for one in range(len(routes.classes))]
    return tuple(np.argsort(means, kind="stable").tolist())
