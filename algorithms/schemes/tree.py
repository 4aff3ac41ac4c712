"""Tree worms by reachability strings, in networks with up and down links."""

from ..errors import WormcastError
from ..routing import UP_DOWN_TREE, UP_DOWN_TREE_ADAPTIVE, UP_DOWN_TREE_ANY
from ..topologies.base import Topology
from .one_tree import OneTree

__all__ = ["Tree"]


class Tree(OneTree):
    """One worm that goes up until links down lead to all destinations, then down, and replicates where its paths part.

    The header of each branch keeps the destinations in the restricted string of its output, so that each destination is
    reached once (`reachability`). Switches store whole worms, so that no branch waits for another.

    Cost: one start-up for any number of destinations.
    Source: [Sivaram98], section 5.3.
    """

    name = "tree"
    description = "a tree: one worm, up until links down lead to all destinations, then down by reachability strings"
    provenance = "[Sivaram98], section 5.3 (links up, and the order inside a level: ours)"
    kinds = ()
    both_ways = True
    relation = UP_DOWN_TREE
    replication = "asynchronous"
    needs_whole_packet = True

    def check(self, topology: Topology) -> None:
        """Refuse networks with one-way links, and relations that replicate a worm on its way up."""
        super().check(topology)
        if not self.relation.on(topology).together:
            raise WormcastError(f"scheme {self.name}: relation {self.relation.name} is not valid. Allowed: "
                                f"{UP_DOWN_TREE.name}, {UP_DOWN_TREE_ANY.name}, {UP_DOWN_TREE_ADAPTIVE.name}.")
