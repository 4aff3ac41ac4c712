"""Static deadlock analysis of schemes and routing relations on a topology.

    from wormcast.algorithms import SCHEMES, topology
    from wormcast.algorithms.deadlock import check

    check(topology("mesh:8x8"), SCHEMES["dual-path"], consumption=1).cycle

- ``check``: the deadlock analysis, which uses all other modules of this package.
- ``channel_use``: for each channel that a worm may hold, the outputs and consumption channels that it requests next.
- ``graph``: the dependency graph, and the search for cycles in it.
- ``adaptive_states``, ``knot_search``: the analysis of worms with a choice of channels.
- ``branch_pairs``, ``multidrop_edges``, ``branch_dependencies``, ``deep_turns``, ``token_cycles``: the analysis
  of worms that switches replicate.
- ``interfaces``: cycles of smart interfaces that forward packets to each other.
- ``verdict``, ``witness``: the verdict of the analysis, and the worms that realise a cycle of dependencies.
- ``classes``, ``link_classes``, ``degrees``: the fewest consumption classes, class maps by link, and sufficient numbers
  of consumption channels.
"""

from .check import Analysis, Dependency, HeldWorm, check

__all__ = ["Analysis", "Dependency", "HeldWorm", "check"]
