"""Composition: which components a network is made of, and which of their links are joined."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from amaranth.lib import wiring

from wormcast.algorithms import Scheme, Topology, WormcastError
from wormcast.algorithms.headers import AddressList

from .configuration import Configuration

__all__ = ["HOST", "Join", "Kind", "Network"]

HOST = "host"
"""The kind of the programs above the network interfaces: one instance a node, links ``tx`` and ``rx``."""

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

    Parameters
    ----------
    topology : Topology
    scheme : Scheme
        Gives the header format and the routing relation that the routers are built for.
    configuration : Configuration
    """

    topology: Topology
    scheme: Scheme
    configuration: Configuration

    def __post_init__(self) -> None:
        for switch, ports in enumerate(self.topology.ports):
            if len(ports) != len(self.router_ports):
                raise WormcastError(f"network: switch {switch} of {self.topology.name} has {len(ports)} ports, "
                                    f"this router has {len(self.router_ports)}")
        if self.topology.attachments[:, 0].tolist() != list(range(self.topology.switches)):
            raise WormcastError(f"network: {self.topology.name} has switches without a node, or several at one; "
                                "so far node i is built at switch i")

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.topology.nodes

    @cached_property
    def header(self) -> AddressList:
        """The header format of the network's worms."""
        return self.configuration.header_format(self.topology, self.scheme)

    @cached_property
    def router_ports(self) -> tuple[str, ...]:
        """Names of a router's ports, in the order of the topology's."""
        return self._router.decoder.ports

    @cached_property
    def _router(self):
        return self.configuration.router(self.topology, self.scheme)

    def consumption_mask(self, node: int, port: int) -> int:
        """Mask of the consumption channels that a worm arriving at a node's router by a port may take."""
        row = int(self.topology.coordinates[node, 0])
        return self._router.consumption_masks()[self._router.decoder.class_of(port, odd=row % 2 == 1)]

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The components, by kind: routers, then interfaces."""
        names = [self.topology.node_name(node).replace(".", "_") for node in range(self.nodes)]
        straps = {
            f"strap_{name}": self.topology.coordinates[:, int(name.rsplit("_", 1)[1])].astype(np.int64)
            for name in self._router.decoder.straps
        }
        options = sorted(self.configuration.to_dict().items())
        return {
            "router": Kind(
                "router",
                lambda: self.configuration.router(self.topology, self.scheme),
                tuple(f"router_{name}" for name in names),
                straps,
                f"router {self.header!r} {self.scheme.relation.name} {options}",
            ),
            "interface": Kind(
                "interface",
                self.configuration.interface,
                tuple(f"interface_{name}" for name in names),
                {},
                f"interface {options}",
            ),
        }

    @cached_property
    def joins(self) -> list[Join]:
        """All links of the network, those of the host included."""
        every = np.arange(self.nodes)
        joins = [
            Join(HOST, "tx", every, "interface", "host_in", every),
            Join("interface", "host_out", every, HOST, "rx", every),
        ]
        switches, ports = self.topology.attachments.astype(np.int64).T
        for port in np.unique(ports):
            here, name = ports == port, self.router_ports[port]
            joins += [
                Join("interface", "network_out", every[here], "router", f"{name}_in", switches[here]),
                Join("router", f"{name}_out", switches[here], "interface", "network_in", every[here]),
            ]
        links = self.topology.links.astype(np.int64)
        for out, into in sorted({(int(o), int(i)) for o, i in links[:, [1, 3]]}):
            rows = links[(links[:, 1] == out) & (links[:, 3] == into)]
            joins.append(Join("router", f"{self.router_ports[out]}_out", rows[:, 0],
                              "router", f"{self.router_ports[into]}_in", rows[:, 2]))
        return joins
