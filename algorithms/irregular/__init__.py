"""Multicast by path worms in networks with up and down links ([Sivaram98], section 5.2).

``chains`` divides switches into lists; one worm can visit all switches of a list. ``phases`` determines the sender and
step of each worm. ``exhaustive_search`` searches all chains and sending orders for the best ones.
"""

from .chains import DownLinks, chains, descent, longest_chain, weights
from .exhaustive_search import all_covers, fewest_steps
from .phases import phased_worms

__all__ = ["DownLinks", "all_covers", "chains", "descent", "fewest_steps", "longest_chain", "phased_worms", "weights"]
