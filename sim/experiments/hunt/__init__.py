"""Hunt for deadlocks: simulate random messages in many networks side by side, then shrink the messages that deadlock.

``draw`` draws random lists of messages, ``cycle_candidates`` draws lists of messages around a cycle of dependencies.
``batch_runs`` simulates a batch of lists of messages side by side until one list deadlocks, ``search`` simulates batch
after batch. ``shrink`` reduces the number and the size of messages that deadlock. ``hunt`` combines these steps.
"""

from .hunt import Hunt, hunt, usual_lengths
from .search import SearchExtent
from .shrink import shrink

__all__ = ["Hunt", "SearchExtent", "hunt", "shrink", "usual_lengths"]
