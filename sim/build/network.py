"""Composition: which components a network is made of, and which of their links are joined."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from amaranth.lib import wiring

from wormcast.algorithms import HAMILTONIAN, NO_CLASS, Scheme, Topology, WormcastError, Worms
from wormcast.algorithms.headers import AddressList, Unicast
from wormcast.algorithms.topologies.mesh import mesh_directions, port_name
from wormcast.hw.interface import NetworkInterface
from wormcast.hw.router import Blueprint
from wormcast.hw.switch import Switch

from .configuration import HOST_FIELDS, INTERFACE_FIELDS, ROUTER_FIELDS, Configuration

__all__ = ["HOST", "Join", "Kind", "Network"]

HOST = "host"
"""The kind of the programs above the network interfaces: one instance a node, links ``tx_{p}`` and ``rx_{c}``."""

Instances = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """Components that differ in their straps alone: elaborated, lowered and compiled once.

    Parameters
    ----------
    name : str
    build : callable
        Makes the component.
    instances : tuple of str
        A name for each, as it appears in waveforms.
    straps : dict of str to int array [instances]
        Values of the static inputs.
    key : str
        Tells components apart: two kinds with the same key are the same hardware.
    """

    name: str
    build: Callable[[], wiring.Component]
    instances: tuple[str, ...]
    straps: dict[str, Instances]
    key: str


@dataclass(frozen=True)
class Join:
    """Links between two kinds' ports, one for each pair of instances: flits forward, credits back."""

    from_kind: str
    from_port: str
    from_instances: Instances
    to_kind: str
    to_port: str
    to_instances: Instances


@dataclass(frozen=True, eq=False)
class Network:
    """Routers and network interfaces, joined as a topology says.

    Routers have the ports of a mesh of the topology's shape, whatever relation they look up: two for each dimension
    of more than one node, named as in a mesh, then the node's. Which port leads where is free, as long as input and
    output of one port lead to the same neighbour.

    Parameters
    ----------
    topology : Topology
    scheme : Scheme
        Gives the header format and the routing relation that the routers are built for.
    configuration : Configuration
    lanes : int
        Networks of this kind side by side, which know nothing of each other: node i of lane k is instance
        k x nodes + i of each kind.

    Raises
    ------
    WormcastError
        Routers cannot be built or joined so, or would have to choose a class by a hop that they do not know.
    """

    topology: Topology
    scheme: Scheme
    configuration: Configuration
    lanes: int = 1

    def __post_init__(self) -> None:
        self._require_ports()
        self._require_known_classes()

    def _require_ports(self) -> None:
        """Refuse a topology whose switches are not the routers that are built."""
        topology, shape = self.topology, self.topology.shape
        built = (*(port_name(len(shape), *direction) for direction in mesh_directions(shape)), "local")
        for switch, ports in enumerate(topology.ports):
            if ports != built:
                raise WormcastError(
                    f"network: switch {switch} of {topology.name} has the ports {', '.join(ports)}, routers are built "
                    f"with those of a mesh of shape {'x'.join(map(str, shape))}: {', '.join(built)}"
                )
        own = [[node, len(built) - 1] for node in range(topology.switches)]
        if topology.injections.tolist() != own or topology.consumptions.tolist() != own:
            raise WormcastError(f"network: {topology.name} has switches without a node at their port local, or several "
                                "nodes at one; so far node i is built at switch i")
        start, _, end, into = topology.links.T
        for row in np.flatnonzero(topology.neighbours[end, into] != start)[:1]:
            port = built[into[row]]
            raise WormcastError(
                f"network: a link of {topology.name} comes from switch {start[row]} to input {port} of switch "
                f"{end[row]}, whose output {port} does not lead back; a port's input and output must join one neighbour"
            )

    def _require_known_classes(self) -> None:
        """Refuse classes by the next hop where a router may have to choose one before it knows that hop.

        A header flit that is used up leaves the next hop unknown: then the class of the last hop is taken, which is
        the same one for worms that stay in a dimension, or in a network of labels.
        """
        rule, bits = self._router.decoder.consumption, self.header.address_bits
        if rule.by == "last" or not len(rule) or isinstance(self.header, Unicast):
            return
        partial = bool((rule.of_links(self.topology) == NO_CLASS).any())
        if partial and self.header.capacity < 2:
            raise WormcastError(
                f"flit_width: {self.header.flit_width} bits hold one address of {bits} bits; "
                f"for the classes {rule} a header flit must hold two, as the next hop decides"
            )
        dimensions = {direction.rstrip("+-") for network in rule.networks for direction in network}
        by_labels = dimensions <= {"up", "down"} and self.scheme.relation is HAMILTONIAN
        if len(dimensions) > 1 and not by_labels and self.header.capacity < self.nodes - 1:
            raise WormcastError(
                f"classes: {rule} does not go with relation {self.scheme.relation.name}: by the next hop only one "
                "dimension can be told apart (or up and down, under hamiltonian), as a router does not know that hop "
                "where a header flit is used up; give classes that end in :last"
            )

    @property
    def nodes(self) -> int:
        """Number of nodes of one lane."""
        return self.topology.nodes

    @property
    def instances(self) -> int:
        """Instances of each kind of component, and hosts."""
        return self.nodes * self.lanes

    @cached_property
    def header(self) -> AddressList:
        """The header format of the network's worms."""
        return self._blueprint.header

    @cached_property
    def router_inputs(self) -> tuple[str, ...]:
        """Names of a router's inputs: those from other routers in the topology's order, then the node's."""
        return self._router.decoder.inputs

    @cached_property
    def router_outputs(self) -> tuple[str, ...]:
        """Names of a router's outputs to other routers, in the topology's order."""
        return self._router.decoder.outputs[:-1]

    def reaches(self, port: int) -> list[int]:
        """Outputs to other routers that a router's input leads to, in the order of its bits."""
        return self._router.decoder.reaches(port)

    @cached_property
    def components(self) -> dict[str, Switch | NetworkInterface]:
        """One component of each kind, not elaborated: what it is called and laid out as."""
        return {"router": self._router, "interface": self._blueprint.interface()}

    @cached_property
    def _blueprint(self) -> Blueprint:
        return Blueprint(self.topology, self.scheme, self.configuration)

    @cached_property
    def _router(self) -> Switch:
        return self._blueprint.router()

    @cached_property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of a router's inputs that its node's interface feeds, in the interface's order."""
        return self._router.injection_ports

    @cached_property
    def consumption_ports(self) -> tuple[str, ...]:
        """Names of a router's outputs to its node's interface, in the interface's order."""
        return self._router.consumption_ports

    def injection_port_of(self, worms: Worms) -> Instances:
        """Injection port that each worm is sent by, [worms]: that of its first hop, where there are several."""
        if len(self.injection_ports) == 1:
            return np.zeros(len(worms), np.int64)
        first = worms.destinations[worms.destination_offsets[:-1]]
        hop = self.scheme.relation.on(self.topology).table[self.topology.injections[worms.source, 0], first]
        return hop.astype(np.int64)

    @cached_property
    def _hop_classes(self) -> dict[tuple[int, int], int]:
        """Class of the hop that leaves a switch by a port."""
        classes = self._router.decoder.consumption.of_links(self.topology)
        return {(int(u), int(o)): int(k) for (u, o, _, _), k in zip(self.topology.links, classes, strict=True)}

    def consumption_mask(self, node: int, port: int, output: int | None, ends_here: bool) -> int:
        """Mask of the consumption channels of a node that a worm may take.

        Parameters
        ----------
        port : int
            By which input it came, from another router.
        output : int or None
            By which output it goes on, as far as its header tells.
        ends_here : bool
            The node is its last destination.
        """
        masks, rule = self._router.consumption_masks(), self._router.decoder.consumption
        if ends_here:
            return masks[-1]
        came = int(self.topology.neighbours[node, port])
        back = int(self.topology.neighbours[came].tolist().index(node))
        following = NO_CLASS if output is None else self._hop_classes[node, output]
        return masks[int(rule.at_stop(self._hop_classes[came, back], following))]  # that of no class is the last one

    def node_scope(self, node: int) -> str:
        """A node's name as a part of names in waveforms: ``1_2``."""
        return self.topology.node_name(node).replace(".", "_")

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The components, by kind: routers, then interfaces."""
        nodes = [self.node_scope(node) for node in range(self.nodes)]
        names = nodes if self.lanes == 1 else [f"lane{lane}_{node}" for lane in range(self.lanes) for node in nodes]
        strap_values = self._router.decoder.strap_values(self._blueprint.routes, self._blueprint.kinds[0])
        straps = {
            f"strap_{name}": np.tile(np.array(values, object), self.lanes)
            for name, values in strap_values.items()
        }
        hardware = {name: value for name, value in self.configuration.to_dict().items() if name not in HOST_FIELDS}
        options = sorted(hardware.items())
        router_options = [entry for entry in options if entry[0] not in INTERFACE_FIELDS]
        interface_options = [entry for entry in options if entry[0] not in ROUTER_FIELDS]
        ports, links = len(self.injection_ports), len(self.consumption_ports)
        return {
            "router": Kind(
                "router",
                self._blueprint.router,
                tuple(f"router_{name}" for name in names),
                straps,
                f"router {type(self._router.decoder).__name__} {self.header!r} {self.scheme.relation.name} "
                f"{self._router.decoder.consumption} {router_options}",
            ),
            "interface": Kind(
                "interface",
                self._blueprint.interface,
                tuple(f"interface_{name}" for name in names),
                {},
                f"interface {ports} {links} {self._blueprint.header_flits} "
                f"{interface_options}",
            ),
        }

    @cached_property
    def joins(self) -> list[Join]:
        """All links of the network, those of the host included."""
        every = np.arange(self.instances)
        switches = self._in_all_lanes(self.topology.injections[:, 0])
        joins = []
        for p, name in enumerate(self.injection_ports):
            joins += [
                Join(HOST, f"tx_{p}", every, "interface", f"host_in_{p}", every),
                Join("interface", f"network_out_{p}", every, "router", f"{name}_in", switches),
            ]
        for c, name in enumerate(self.consumption_ports):
            joins += [
                Join("router", f"{name}_out", switches, "interface", f"network_in_{c}", every),
                Join("interface", f"host_out_{c}", every, HOST, f"rx_{c}", every),
            ]
        links = self.topology.links.astype(np.int64)
        for out, into in sorted({(int(o), int(i)) for o, i in links[:, [1, 3]]}):
            rows = links[(links[:, 1] == out) & (links[:, 3] == into)]
            near, far = self._in_all_lanes(rows[:, 0]), self._in_all_lanes(rows[:, 2])
            joins.append(Join("router", f"{self.router_outputs[out]}_out", near,
                              "router", f"{self.router_inputs[into]}_in", far))
        return joins

    def _in_all_lanes(self, nodes: npt.NDArray[np.integer]) -> Instances:
        """Instances of these nodes, lane after lane."""
        return (np.arange(self.lanes)[:, None] * self.nodes + nodes).reshape(-1)
