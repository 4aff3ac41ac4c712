"""Instances by the names that people give them."""

from wormcast.algorithms import WormcastError

from ...build.network import Network

__all__ = ["find_instances"]

ALL = "all"


def find_instances(network: Network, text: str, lane: int = 0) -> list[tuple[str, int]]:
    """Find the instances of a network that are named in ``text``, joined by commas; kind and number of each.

    A node (``3``, ``1.2`` or ``@4``) stands for its router and its interface; ``router_1_2`` and ``interface_1_2``,
    as in waveforms, for themselves; ``all`` for all there are. Nodes are those of one lane.

    Raises
    ------
    WormcastError
        A name of none.
    """
    known = {name: (kind.name, index) for kind in network.kinds.values() for index, name in enumerate(kind.instances)}
    found: list[tuple[str, int]] = []
    for name in map(str.strip, text.split(",")):
        if name == ALL:
            found += known.values()
        elif name in known:
            found.append(known[name])
        elif name.split("_")[0] in network.kinds:
            names = network.kinds[name.split("_")[0]].instances
            raise WormcastError(f"instances: {name!r} is given, {network.topology.name} has {names[0]} to {names[-1]}")
        else:
            try:
                node = network.topology.node(name)
            except WormcastError as error:
                raise WormcastError(f"instances: {error}") from error
            found += [(kind, lane * network.nodes + node) for kind in network.kinds]
    return list(dict.fromkeys(found))
