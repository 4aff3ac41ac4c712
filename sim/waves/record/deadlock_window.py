"""Where and when to look at a deadlock."""

from wormcast.algorithms.channels import Resource

from ...build.network import Network
from ...engines.deadlock import Deadlock

__all__ = ["around"]

#: Cycles before and after the last move that a host has seen.
BEFORE = 200
AFTER = 500


def around(network: Network, deadlock: Deadlock, lane: int = 0) -> tuple[list[tuple[str, int]], int, int]:
    """Say which instances and cycles show how a deadlock came about.

    Parameters
    ----------
    lane : int
        The network's lane that it is in.

    Returns
    -------
    instances : list of (str, int)
        Kind and number of the routers whose links or consumption channels are in its cycle, and of the interfaces
        of nodes whose channels are.
    first, end : int
        From 200 cycles before a flit of the worms in the cycle was last sent or received by a host, up to 500
        cycles after that, or to the cycle in which the deadlock was proved.
    """
    links = {link.name: link for link in network.fabric.links}
    routers: set[tuple[str, int]] = set()
    interfaces: set[int] = set()
    for hold in deadlock.cycle:
        for resource in map(Resource.parse, (*hold.holds, *hold.waits)):
            if resource.kind == "link":
                link = links[f"link:{resource.where}"]
                routers.update((end.kind, end.instance) for end in (link.near, link.far))
            else:
                ends = network.topology.consumptions if resource.kind == "cons" else network.topology.injections
                home = network.home(int(ends[int(resource.where), 0]))
                routers.add((home.kind, home.instance))
                interfaces.add(int(resource.where))
    instances = [(kind, lane * network.count(kind) + number) for kind, number in sorted(routers)]
    instances += [("interface", lane * network.nodes + node) for node in sorted(interfaces)]
    return instances, max(0, deadlock.moved - BEFORE), min(deadlock.at, deadlock.moved + AFTER)
