"""Trees of unicasts with at most k children per node, along which smart network interfaces forward packets.

``sizes`` computes the nodes covered in a number of steps, and the best k. ``tree`` builds the tree on a chain of nodes.
``orders`` sorts the nodes of a multicast into the chain for ``tree``. `wormcast.algorithms.packet_steps` schedules the
packets.
"""

from .sizes import MOST_CHILDREN, best_k, covered, first_steps, steps
from .tree import BEST, BINOMIAL, tree_worms

__all__ = ["BEST", "BINOMIAL", "MOST_CHILDREN", "best_k", "covered", "first_steps", "steps", "tree_worms"]
