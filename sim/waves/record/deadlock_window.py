"""Instances and cycles to record for a deadlock."""

from wormcast.algorithms.channels import Resource

from ...build.network import Network
from ...engines.deadlock import Deadlock

__all__ = ["around"]

#: Number of cycles to record before the last cycle in which a host sent or received a flit of the deadlocked worms.
BEFORE = 200
#: Largest number of cycles to record after the last cycle in which a host sent or received a flit of deadlocked worms.
AFTER = 500


def around(network: Network, deadlock: Deadlock, lane: int = 0) -> tuple[list[tuple[str, int]], int, int]:
    """Return the instances and cycles that show the formation of a deadlock.

    Parameters
    ----------
    lane : int
        Lane of the deadlock.

    Returns
    -------
    instances : list of (str, int)
        Kind and number of the routers and interfaces at the channels and slots of the deadlock's cycle.
    first, end : int
        First cycle to record, and the cycle after the last one to record. ``first`` is 200 cycles before the last
        cycle in which a host sent or received a flit of the deadlocked worms, but at least 0. ``end`` is 500 cycles
        after the last cycle in which a host sent or received a flit of the deadlocked worms, but at most the cycle in
        which the deadlock was proved.
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
