"""Trees of unicasts whose nodes have k children at most: what smart network interfaces forward packets along.

``sizes`` says how many nodes such a tree covers in how many steps, and which k is best; ``tree`` builds it on a chain
of nodes; ``orders`` lays the nodes of a multicast in such a chain. Which packet is sent when is for
`wormcast.algorithms.packet_steps` to say.
"""

from .sizes import MOST_CHILDREN, best_k, covered, first_steps, steps
from .tree import BEST, BINOMIAL, tree_worms

__all__ = ["BEST", "BINOMIAL", "MOST_CHILDREN", "best_k", "covered", "first_steps", "steps", "tree_worms"]
