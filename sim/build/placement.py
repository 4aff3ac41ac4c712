"""Where the switches and nodes of a network are built, and what they are called."""

from dataclasses import dataclass
from functools import cache, cached_property

from wormcast.algorithms import Scheme, Topology
from wormcast.hw.router import Blueprint, Home
from wormcast.hw.router_kind import SwitchKind
from wormcast.hw.switch_spec import ConsumptionLink, SwitchSpec

from .configuration import Configuration

__all__ = ["Placement", "scope_of"]


@cache
def scope_of(name: str) -> str:
    """A node's or switch's name as a part of names in waveforms and Verilog: ``1_2``."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)


@dataclass(frozen=True, eq=False)
class Placement:
    """The routers that the switches of a network are, several lanes of them; see `Network`."""

    topology: Topology
    scheme: Scheme
    configuration: Configuration
    lanes: int = 1

    @property
    def nodes(self) -> int:
        """Number of nodes of one lane."""
        return self.topology.nodes

    @property
    def hosts(self) -> int:
        """Number of nodes of all lanes, and of their interfaces and hosts."""
        return self.nodes * self.lanes

    def count(self, kind: str) -> int:
        """Instances of a kind in one lane."""
        return len(self.switch_kinds[kind].members) if kind in self.switch_kinds else self.nodes

    @cached_property
    def blueprint(self) -> Blueprint[Configuration]:
        """What its components are built by."""
        return Blueprint(self.topology, self.scheme, self.configuration)

    @property
    def switch_kinds(self) -> dict[str, SwitchKind]:
        """The kinds of routers by name, as `Blueprint.named_kinds`."""
        return self.blueprint.named_kinds

    @property
    def routers(self) -> dict[str, SwitchSpec]:
        """What routers of each kind are built by."""
        return self.blueprint.routers

    @cached_property
    def ports(self) -> int:
        """Injection ports of an interface: as many as the node that needs most."""
        return max(len(self.injection_ports(node)) for node in range(self.nodes))

    @cached_property
    def links(self) -> int:
        """Consumption links of an interface: as many as the node that needs most."""
        return max(len(self.consumption_links(node)) for node in range(self.nodes))

    @cached_property
    def channels(self) -> int:
        """Consumption channels of a consumption link."""
        return self.consumption_links(0)[0].channels

    def home(self, switch: int) -> "Home":
        """Where a switch is built."""
        return self.blueprint.home(switch)

    def switch_of(self, kind: str, instance: int) -> int:
        """The switch that a router is, in whichever lane."""
        return int(self.switch_kinds[kind].members[instance % self.count(kind)])

    def injection_ports(self, node: int) -> tuple[str, ...]:
        """As `Blueprint.injection_ports`."""
        return self.blueprint.injection_ports(node)

    def consumption_links(self, node: int) -> "tuple[ConsumptionLink, ...]":
        """As `Blueprint.consumption_links`."""
        return self.blueprint.consumption_links(node)

    def node_scope(self, node: int) -> str:
        """A node's name as a part of names in waveforms: ``1_2``."""
        return scope_of(self.topology.node_name(node))

    def switch_scope(self, switch: int) -> str:
        """A switch's name as a part of names in waveforms: ``1_2`` where it is a node's, else ``s3``."""
        return scope_of(self.topology.switch_title(switch))
