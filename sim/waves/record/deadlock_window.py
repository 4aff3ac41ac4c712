"""Where and when to look at a deadlock."""

from ...build.network import Network
from ...engines.deadlock import Deadlock
from ...host import Host

__all__ = ["around"]

#: Cycles before and after the last move that a host has seen.
BEFORE = 200
AFTER = 500


def around(network: Network, host: Host, deadlock: Deadlock, lane: int = 0) -> tuple[list[tuple[str, int]], int, int]:
    """Say which instances and cycles show how a deadlock came about.

    Parameters
    ----------
    host : Host
        As it was when the deadlock was found.
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
    routers: set[int] = set()
    interfaces: set[int] = set()
    for hold in deadlock.cycle:
        for resource in (*hold.holds, *hold.waits):
            kind, where = resource.split(":")[:2]
            nodes = where.split(">")
            routers.update(map(int, nodes))
            if kind != "link":
                interfaces.update(map(int, nodes))
    start = lane * network.nodes
    instances = [("router", start + node) for node in sorted(routers)]
    instances += [("interface", start + node) for node in sorted(interfaces)]
    moved = max(int(host.touched[hold.worm]) for hold in deadlock.cycle)
    return instances, max(0, moved - BEFORE), min(deadlock.at, moved + AFTER)
