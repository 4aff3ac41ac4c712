"""The links of a network, as a waveform and its heading name them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...build.network import Network
from ...engines.meter import links_of

__all__ = ["Link", "shown_links"]


@dataclass(frozen=True)
class Link:
    """One link of a lane.

    Parameters
    ----------
    name : str
        ``link:U>V``; ``inj:NODE:PORT`` from interface to router; ``cons:NODE#LINK`` from router to interface, with
        some of the channels ``cons:NODE:i`` on it.
    kind : "network", "injection" or "consumption"
    source, target : int
        Nodes.
    vcs : int
        Virtual channels; consumption channels of a consumption link.
    scope : str
        Its scope in a waveform, below ``bench.top.worms``.
    driver : (str, str)
        Kind of component that drives it, and the port; the component is the source's.
    output, input : int or None
        The output of the source's router that it comes from, the first one behind those to other routers if it is a
        consumption link; the input of the target's router that it leads to. None where it is no router.
    first : int
        Consumption channel that its first virtual channel is.
    """

    name: str
    kind: str
    source: int
    target: int
    vcs: int
    scope: str
    driver: tuple[str, str]
    output: int | None
    input: int | None
    first: int = 0

    @property
    def ends(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """The components that it joins: kind and node of each."""
        near, far = {"network": ("router", "router"), "injection": ("interface", "router"),
                     "consumption": ("router", "interface")}[self.kind]
        return (near, self.source), (far, self.target)


def shown_links(network: Network, instances: Sequence[tuple[str, int]], lane: int = 0) -> list[Link]:
    """The links of a lane of which at least one end is among these instances, node by node."""
    shown = {(kind, number - lane * network.nodes) for kind, number in instances}
    onward: dict[int, list[list[int]]] = defaultdict(list)
    for link in network.topology.links.tolist():
        onward[link[0]].append(link[1:])
    return [link for node in range(network.nodes) for link in _from_node(network, node, onward[node])
            if shown & {*link.ends}]


def _from_node(network: Network, node: int, onward: list[list[int]]) -> list[Link]:
    """The links of a node: from its interface, from its router to others by ``onward``, to its interface."""
    drivers, configuration = links_of(network), network.configuration
    name, ejection = network.node_scope(node), len(network.router_outputs)
    found = []
    for port, driver in enumerate(drivers["injection"]):
        several = f"_{port}" if len(drivers["injection"]) > 1 else ""
        found.append(Link(f"inj:{node}:{port}", "injection", node, node, configuration.vcs,
                          f"injection_{name}{several}", driver, None, ejection + port))
    for output, target, into in onward:
        found.append(Link(f"link:{node}>{target}", "network", node, target, configuration.vcs,
                          f"link_{name}_to_{network.node_scope(target)}", drivers["network"][output], output, into))
    channels = configuration.consumption // len(drivers["consumption"])
    for number, driver in enumerate(drivers["consumption"]):
        several = f"_{number}" if len(drivers["consumption"]) > 1 else ""
        found.append(Link(f"cons:{node}#{number}", "consumption", node, node, channels, f"consumption_{name}{several}",
                          driver, ejection, None, number * channels))
    return found
