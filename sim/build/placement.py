"""Mapping of a network's switches and nodes to components, and their names."""

from dataclasses import dataclass
from functools import cache, cached_property

from wormcast.algorithms import Scheme, Topology
from wormcast.hw.router import Blueprint, RouterInstance
from wormcast.hw.router_kind import SwitchKind
from wormcast.hw.switch_spec import ConsumptionLink, SwitchSpec

from .configuration import Configuration

__all__ = ["Placement", "scope_of"]


@cache
def scope_of(name: str) -> str:
    """Return a node's or switch's name in the form for waveforms and Verilog: ``1_2`` for ``1.2``."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)


@dataclass(frozen=True, eq=False)
class Placement:
    """Mapping of a network's switches and nodes, in all lanes, to routers and interfaces; see `Network`."""

    topology: Topology
    scheme: Scheme
    configuration: Configuration
    lanes: int = 1

    @property
    def nodes(self) -> int:
        """Number of nodes in one lane."""
        return self.topology.nodes

    @property
    def hosts(self) -> int:
        """Number of nodes in all lanes, which is also the number of interfaces and hosts."""
        return self.nodes * self.lanes

    def count(self, kind: str) -> int:
        """Return the number of instances that a kind of component has in one lane."""
        return len(self.switch_kinds[kind].members) if kind in self.switch_kinds else self.nodes

    @cached_property
    def blueprint(self) -> Blueprint[Configuration]:
        """Blueprint of the components."""
        return Blueprint(self.topology, self.scheme, self.configuration)

    @property
    def switch_kinds(self) -> dict[str, SwitchKind]:
        """Kinds of routers by name, as in `Blueprint.named_kinds`."""
        return self.blueprint.named_kinds

    @property
    def routers(self) -> dict[str, SwitchSpec]:
        """Specification of the routers of each kind."""
        return self.blueprint.routers

    @cached_property
    def ports(self) -> int:
        """Number of injection ports of each interface: the largest number that a node needs."""
        return max(len(self.injection_ports(node)) for node in range(self.nodes))

    @cached_property
    def links(self) -> int:
        """Number of consumption links of each interface: the largest number that a node needs."""
        return max(len(self.consumption_links(node)) for node in range(self.nodes))

    @cached_property
    def channels(self) -> int:
        """Number of consumption channels of a consumption link."""
        return self.consumption_links(0)[0].channels

    def home(self, switch: int) -> "RouterInstance":
        """Return the router of a switch."""
        return self.blueprint.home(switch)

    def switch_of(self, kind: str, instance: int) -> int:
        """Return the switch of a router, in any lane."""
        return int(self.switch_kinds[kind].members[instance % self.count(kind)])

    def injection_ports(self, node: int) -> tuple[str, ...]:
        """Return the names of the router inputs that a node's interface feeds."""
        return self.blueprint.injection_ports(node)

    def consumption_links(self, node: int) -> "tuple[ConsumptionLink, ...]":
        """Return the router's consumption links to a node's interface."""
        return self.blueprint.consumption_links(node)

    def node_scope(self, node: int) -> str:
        """Return a node's name in the form for waveforms and Verilog: ``1_2``."""
        return scope_of(self.topology.node_name(node))

    def switch_scope(self, switch: int) -> str:
        """Return a switch's name in the form for waveforms and Verilog: ``1_2`` if it has a node, else ``s3``."""
        return scope_of(self.topology.switch_title(switch))
