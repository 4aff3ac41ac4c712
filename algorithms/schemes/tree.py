"""A tree by reachability strings, in networks with up and down links."""

from ..errors import WormcastError
from ..routing import UP_DOWN_TREE, UP_DOWN_TREE_ANY
from ..topologies.base import Topology
from .one_tree import OneTree

__all__ = ["Tree"]


class Tree(OneTree):
    """One worm that goes up until links down lead to all destinations, then down, copied where its ways part.

    Each copy carries the destinations in the restricted string of its output alone, so that each is reached once
    (`reachability`). Switches hold whole worms, so that no copy waits for another one.

    Cost: one start-up, whatever the number of destinations.
    Source: [Sivaram98], section 5.3.
    """

    name = "tree"
    description = "a tree: one worm, up until links down lead to all destinations, then down by reachability strings"
    provenance = "Sivaram et al. 1998, 5.3 (links up, and the order inside a level: ours)"
    kinds = ()
    both_ways = True
    relation = UP_DOWN_TREE
    replication = "asynchronous"
    needs_whole_packet = True

    def check(self, topology: Topology) -> None:
        """Refuse a network with links that go one way, and relations that do not keep a worm whole while it goes up."""
        super().check(topology)
        if not self.relation.on(topology).together:
            raise WormcastError(f"scheme {self.name}: relation {self.relation.name} is given, its worms go by "
                                f"{UP_DOWN_TREE.name} or {UP_DOWN_TREE_ANY.name} alone")
