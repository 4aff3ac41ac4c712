"""Multicast by path worms in networks with up and down links ([Sivaram98], section 5.2).

``chains`` are the lists of switches that one worm can visit. ``phases`` determines the sender and step of each worm.
``fewest`` searches all other chains and orders.
"""

from .chains import Descent, chains, descent, longest_chain, weights
from .fewest import all_covers, fewest_steps
from .phases import phased_worms

__all__ = ["Descent", "all_covers", "chains", "descent", "fewest_steps", "longest_chain", "phased_worms", "weights"]
