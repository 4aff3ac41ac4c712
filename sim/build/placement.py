"""Where the switches and nodes of a network are built: which router each is, and which of its ports lead to whom."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from wormcast.algorithms import Scheme, Topology
from wormcast.hw.kinds import SwitchKind
from wormcast.hw.router import Blueprint
from wormcast.hw.switch import Switch

from .configuration import Configuration

__all__ = ["Consumption", "Home", "Placement", "scope_of"]


class Home(NamedTuple):
    """Where a switch is built.

    Parameters
    ----------
    kind : str
        The kind of component.
    instance : int
        Which of that kind, in the first lane.
    router : Switch
        One of the kind, not elaborated.
    inputs, outputs : dict of int to int
        The router's numbers of inputs from and outputs to other switches, by the topology's port.
    """

    kind: str
    instance: int
    router: Switch
    inputs: dict[int, int]
    outputs: dict[int, int]


class Consumption(NamedTuple):
    """A consumption link of a node: its name at the router, the router's output, its first channel, and how many."""

    name: str
    output: int
    first: int
    channels: int


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

    @cached_property
    def switch_kinds(self) -> dict[str, SwitchKind]:
        """The kinds of routers by name, as `Blueprint.named_kinds`."""
        return self.blueprint.named_kinds

    @cached_property
    def routers(self) -> dict[str, Switch]:
        """One router of each kind, not elaborated."""
        return {name: self.blueprint.router(kind) for name, kind in self.switch_kinds.items()}

    @cached_property
    def ports(self) -> int:
        """Injection ports of an interface: as many as the node that needs most."""
        return max(len(self.injection_ports(node)) for node in range(self.nodes))

    @cached_property
    def links(self) -> int:
        """Consumption links of an interface: as many as the node that needs most."""
        return max(len(self.consumption_ports(node)) for node in range(self.nodes))

    @cached_property
    def channels(self) -> int:
        """Consumption channels of a consumption link."""
        return self.consumption_ports(0)[0].channels

    @cached_property
    def _homes(self) -> tuple[Home, ...]:
        found: dict[int, Home] = {}
        for name, kind in self.switch_kinds.items():
            inputs = {port: number for number, port in enumerate(kind.network_inputs)}
            outputs = {port: number for number, port in enumerate(kind.network_outputs)}
            for instance, switch in enumerate(kind.members.tolist()):
                found[switch] = Home(name, instance, self.routers[name], inputs, outputs)
        return tuple(found[switch] for switch in range(self.topology.switches))

    def home(self, switch: int) -> Home:
        """Where a switch is built."""
        return self._homes[switch]

    def switch_of(self, kind: str, instance: int) -> int:
        """The switch that a router is, in whichever lane."""
        return int(self.switch_kinds[kind].members[instance % self.count(kind)])

    def injection_ports(self, node: int) -> tuple[str, ...]:
        """Names of its router's inputs that a node's interface feeds, in the interface's order."""
        switch, port = self.topology.injections[node].tolist()
        home = self.home(switch)
        return home.router.injections[self.switch_kinds[home.kind].injections.index(port)]

    def consumption_ports(self, node: int) -> tuple[Consumption, ...]:
        """Its router's outputs to a node's interface, in the interface's order."""
        return self._consumption_ports[node]

    @cached_property
    def _consumption_ports(self) -> tuple[tuple[Consumption, ...], ...]:
        separate = self.configuration.consumption_links == "separate"
        found = []
        for switch, port in self.topology.consumptions.tolist():
            home = self.home(switch)
            known: dict[str, tuple[int, int]] = {}
            for number, output in enumerate(home.router.outputs):
                if number >= len(home.outputs):
                    names = [f"{output.name}_{c}" for c in range(output.vcs)] if separate else [output.name]
                    known |= {name: (number, output.vcs // len(names)) for name in names}
            links, first = [], 0
            for name in home.router.consumptions[self.switch_kinds[home.kind].ejections.index(port)]:
                number, channels = known[name]
                links.append(Consumption(name, number, first, channels))
                first += channels
            found.append(tuple(links))
        return tuple(found)

    def consumption_node(self, switch: int, output: int) -> int:
        """The node that an ejection port of a switch leads to."""
        return self._consumption_nodes[switch, output]

    @cached_property
    def _consumption_nodes(self) -> dict[tuple[int, int], int]:
        return {(switch, link.output): node
                for node, switch in enumerate(self.topology.consumptions[:, 0].tolist())
                for link in self.consumption_ports(node)}

    def node_scope(self, node: int) -> str:
        """A node's name as a part of names in waveforms: ``1_2``."""
        return scope_of(self.topology.node_name(node))

    def switch_scope(self, switch: int) -> str:
        """A switch's name as a part of names in waveforms: ``1_2`` where it is a node's, else ``s3``."""
        return scope_of(self.topology.switch_title(switch))
