"""Hunting deadlocks: random messages in many networks side by side, and the fewest of them that still deadlock.

``arena`` runs lists of messages side by side until one deadlocks, ``search`` draws them, ``shrink`` makes fewer and
smaller ones of them, ``hunt`` does one after the other.
"""

from .hunt import CYCLES, LENGTHS, Hunt, hunt
from .search import Searched
from .shrink import shrink

__all__ = ["CYCLES", "LENGTHS", "Hunt", "Searched", "hunt", "shrink"]
