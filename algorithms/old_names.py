"""Old names in users' code: of attributes of schemes, and of exports. Old names are refused; the message gives the new
name.
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["ATTRIBUTES", "EXPORTS"]

ATTRIBUTES: Mapping[str, str] = MappingProxyType({
    "buffered": "needs_whole_packet",
    "legs": "visit_triples",
    "pairs_tell_all": "pairs_are_complete",
    "spreads": "is_tree",
    "taken": "channels",
})
"""New name of each renamed attribute of a scheme."""

EXPORTS: Mapping[str, str] = MappingProxyType({
    "Statement": "TheoremCheck",
    "Survey": "PlanStatistics",
    "Worm": "PlannedWorm",
    "check": "wormcast.algorithms.deadlock.check.check",
    "plan": "wormcast.algorithms.multicast_plan.plan",
})
"""New name of each renamed class that `wormcast.algorithms` exports, and place of each function that
`wormcast.algorithms` exported earlier."""
