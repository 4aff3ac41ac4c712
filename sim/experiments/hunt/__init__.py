"""Hunting deadlocks: random messages in many networks side by side, and the fewest of them that still deadlock.

``draw`` makes random lists of messages and ``stage`` lists around a cycle of dependencies, ``arena`` runs them side by
side until one deadlocks, ``search`` batch after batch, ``shrink`` makes fewer and smaller ones of those that deadlock,
``hunt`` does one after the other.
"""

from .hunt import Hunt, hunt, usual_lengths
from .search import Searched
from .shrink import shrink

__all__ = ["Hunt", "Searched", "hunt", "shrink", "usual_lengths"]
