"""Table of a network's links, which all of sim uses to name, count and draw them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.channels import link_names

from .placement import Placement

__all__ = ["HOST", "KINDS", "Fabric", "FabricLink", "LinkEnd"]

HOST = "host"
"""Name of the hosts as a kind of component. There is one instance per node, with the ports ``tx_0``, ``tx_1`` and so on
to the interface, and ``rx_0``, ``rx_1`` and so on from the interface."""

KINDS = ("network", "injection", "consumption", "host")
"""Kinds of links: between routers, from interface to router, from router to interface, from interface to host."""

Integers = npt.NDArray[np.int64]


class LinkEnd(NamedTuple):
    """End of a link: kind of component, number of the instance in the first lane, and port."""

    kind: str
    instance: int
    port: str


@dataclass(frozen=True)
class FabricLink:
    """Unidirectional link of a lane.

    Parameters
    ----------
    name : str
        ``link:U>V``, ``link:U>V#k`` for parallel links; ``inj:NODE:PORT``; ``cons:NODE#LINK``;
        ``host:NODE:LINK``.
    kind : str
        One of `KINDS`.
    source, target : int
        Start and end: two switches (network link), node and switch (injection link), switch and node (consumption
        link), or twice the node (host link).
    near, far : LinkEnd
        Driving and receiving end of the link.
    vcs : int
        Number of virtual channels; of a consumption or host link, number of consumption channels.
    scope : str
        Name of the link in waveforms.
    output, input : int or None
        Number of the driving router's output, and of the receiving router's input; None if that end is no router.
    first : int
        For a consumption or host link, number of its first channel among the node's consumption channels; else 0.
    node, number : int or None, int
        Node that sends or receives by the link, and number of the link among the node's links of the same kind. A
        network link has the node None and the number 0.
    """

    name: str
    kind: str
    source: int
    target: int
    near: LinkEnd
    far: LinkEnd
    vcs: int
    scope: str
    output: int | None = None
    input: int | None = None
    first: int = 0
    node: int | None = None
    number: int = 0


class Fabric:
    """Links of one lane of a network, in the order of `KINDS`; without the links from hosts to interfaces.

    Network links are in the order of `Topology.links`. Links to or from interfaces are ordered by port number,
    then by node.

    Parameters
    ----------
    network : Placement

    Attributes
    ----------
    links : tuple of FabricLink
    """

    def __init__(self, network: Placement):
        self.network = network
        self.links: tuple[FabricLink, ...] = (*_network_links(network), *_injections(network), *_consumptions(network),
                                        *_hosts(network))

    def rows(self, kind: str) -> slice:
        """Return the range of ``links`` with the links of a kind."""
        return self._rows[kind]

    def of_kind(self, kind: str) -> tuple[FabricLink, ...]:
        """Return the links of a kind."""
        return self.links[self.rows(kind)]

    @cached_property
    def _rows(self) -> dict[str, slice]:
        found, start = {}, 0
        for kind in KINDS:
            count = sum(link.kind == kind for link in self.links)
            found[kind] = slice(start, start + count)
            start += count
        return found

    @cached_property
    def driven(self) -> dict[tuple[str, str], Integers]:
        """Index in ``links`` of each instance's outgoing link, or -1, by (kind, port); int64 [instances of a lane]."""
        found: dict[tuple[str, str], Integers] = {}
        for row, link in enumerate(self.links):
            kind, instance, port = link.near
            found.setdefault((kind, port), np.full(self.network.count(kind), -1, np.int64))[instance] = row
        return found

    @cached_property
    def into(self) -> dict[tuple[int, int], int]:
        """Index in ``links`` of the link to each switch input, by (switch, number of the input)."""
        return {(link.target, link.input): row for row, link in enumerate(self.links) if link.input is not None}

    @cached_property
    def out_of(self) -> dict[tuple[int, int], int]:
        """Index in ``links`` of the first link from each switch output, by (switch, number of the output)."""
        found: dict[tuple[int, int], int] = {}
        for row, link in enumerate(self.links):
            if link.output is not None:
                found.setdefault((link.source, link.output), row)
        return found

    def around(self) -> list[FabricLink]:
        """Return all links except host links, switch by switch.

        A switch's injection links come first, then its links to other switches, then its consumption links.
        """
        order: list[list[list[FabricLink]]] = [[[], [], []] for _ in range(self.network.topology.switches)]
        for link in self.links:
            if link.kind != "host":
                at = link.target if link.kind == "injection" else link.source
                order[at][("injection", "network", "consumption").index(link.kind)].append(link)
        for groups in order:
            for group in (groups[0], groups[2]):
                group.sort(key=lambda link: link.node or 0)
        return [link for groups in order for group in groups for link in group]


def _network_links(network: Placement) -> Iterator[FabricLink]:
    topology = network.topology
    for name, (start, out, end, into) in zip(link_names(topology), topology.links.tolist(), strict=True):
        near, far = network.home(start), network.home(end)
        output, entry = near.outputs[out], far.inputs[into]
        parallel = name.partition("#")[2]
        yield FabricLink(
            f"link:{name}", "network", start, end,
            LinkEnd(near.kind, near.instance, f"{near.router.outputs[output].name}_out"),
            LinkEnd(far.kind, far.instance, f"{far.router.inputs[entry].name}_in"),
            network.configuration.vcs,
            f"link_{network.switch_scope(start)}_to_{network.switch_scope(end)}" + (f"_{parallel}" if parallel else ""),
            output=output, input=entry,
        )


def _injections(network: Placement) -> Iterator[FabricLink]:
    ports = [network.injection_ports(node) for node in range(network.nodes)]
    for port in range(max(map(len, ports))):
        for node, (switch, _) in enumerate(network.topology.injections.tolist()):
            if port < len(ports[node]):
                home, name = network.home(switch), ports[node][port]
                several = f"_{port}" if len(ports[node]) > 1 else ""
                yield FabricLink(
                    f"inj:{node}:{port}", "injection", node, switch, LinkEnd("interface", node, f"network_out_{port}"),
                    LinkEnd(home.kind, home.instance, f"{name}_in"), network.configuration.vcs,
                    f"injection_{network.node_scope(node)}{several}",
                    input=home.router.decoder.inputs.index(name), node=node, number=port,
                )


def _consumptions(network: Placement) -> Iterator[FabricLink]:
    links = [network.consumption_links(node) for node in range(network.nodes)]
    for number in range(max(map(len, links))):
        for node, (switch, _) in enumerate(network.topology.consumptions.tolist()):
            if number < len(links[node]):
                home, (name, output, first, vcs) = network.home(switch), links[node][number]
                several = f"_{number}" if len(links[node]) > 1 else ""
                yield FabricLink(
                    f"cons:{node}#{number}", "consumption", switch, node,
                    LinkEnd(home.kind, home.instance, f"{name}_out"),
                    LinkEnd("interface", node, f"network_in_{number}"), vcs,
                    f"consumption_{network.node_scope(node)}{several}", output=output, first=first, node=node,
                    number=number,
                )


def _hosts(network: Placement) -> Iterator[FabricLink]:
    links = [network.consumption_links(node) for node in range(network.nodes)]
    for number in range(max(map(len, links))):
        for node in range(network.nodes):
            if number < len(links[node]):
                _, _, first, vcs = links[node][number]
                yield FabricLink(f"host:{node}:{number}", "host", node, node,
                                 LinkEnd("interface", node, f"host_out_{number}"),
                                 LinkEnd(HOST, node, f"rx_{number}"), vcs,
                                 f"host_{network.node_scope(node)}_{number}", first=first, node=node, number=number)
