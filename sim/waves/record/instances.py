"""Selection of instances by name."""

from collections.abc import Iterable, Sequence

from wormcast.algorithms import WormcastError

from ...build.fabric import FabricLink
from ...build.network import Network

__all__ = ["find_instances", "instances_at", "links_at"]

ALL = "all"


def find_instances(network: Network, text: str, lane: int = 0) -> list[tuple[str, int]]:
    """Return kind and number of each instance that ``text`` names. Commas separate the names.

    A node (``3``, ``1.2`` or ``@4``) selects its routers and its interface. In an indirect network, ``s3`` selects
    the router of switch 3. ``router_1_2`` and ``interface_1_2``, the names in waveforms, select one instance; ``all``
    selects all. Names of nodes and switches select instances of lane ``lane``.
    """
    known = {name: (kind.name, index) for kind in network.kinds.values() for index, name in enumerate(kind.instances)}
    topology = network.topology
    switches = {} if topology.direct else {name: switch for switch, name in enumerate(topology.switch_names)}
    found: list[tuple[str, int]] = []
    for name in map(str.strip, text.split(",")):
        if name == ALL:
            found += known.values()
        elif name in known:
            found.append(known[name])
        elif name in switches:
            found += instances_at(network, [switches[name]], [], lane)
        elif name.split("_")[0] in ("router", "interface"):
            names = [one for one in known if one.split("_")[0] == name.split("_")[0]]
            raise WormcastError(f"instances: {name!r} is not valid: {topology.name} has no such instance. Allowed: "
                                f"{names[0]} to {names[-1]}.")
        else:
            try:
                node = topology.node(name, "instances")
            except WormcastError as error:
                ranges = ", ".join(f"{ends[0]} to {ends[-1]}" for what in ("router", "interface")
                                   if (ends := [one for one in known if one.startswith(f"{what}_")]))
                raise WormcastError(f"{str(error).removesuffix('.')}; {ALL}; {ranges}.") from error
            at = [ends[node, 0].item() for ends in (topology.injections, topology.consumptions)]
            found += instances_at(network, at, [node], lane)
    return list(dict.fromkeys(found))


def instances_at(network: Network, switches: Iterable[int], nodes: Iterable[int],
                 lane: int = 0) -> list[tuple[str, int]]:
    """Return the routers at some switches and the interfaces at some nodes, in one lane, without duplicates."""
    homes = [network.home(switch) for switch in switches]
    return list(dict.fromkeys([*((home.kind, lane * network.count(home.kind) + home.instance) for home in homes),
                               *(("interface", lane * network.nodes + node) for node in nodes)]))


def links_at(network: Network, instances: Sequence[tuple[str, int]], lane: int = 0) -> list[FabricLink]:
    """Return the links of a lane with at least one end at these instances, switch by switch."""
    shown = {(kind, number - lane * network.count(kind)) for kind, number in instances}
    return [link for link in network.fabric.around()
            if shown & {(end.kind, end.instance) for end in (link.near, link.far)}]
