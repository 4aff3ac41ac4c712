"""Static deadlock analysis of schemes and routing relations on a topology.

    from wormcast.algorithms import SCHEMES, check, topology

    check(topology("mesh:8x8"), SCHEMES["dual-path"], consumption=1).cycle

- ``check``: the analysis; the other modules are its parts.
- ``channel_use``: for each channel that a worm may hold, the outputs and consumption channels that it requests next.
- ``graph``: resources, dependencies and cycles.
- ``adaptive_states``, ``knot_search``: worms with a choice of channels.
- ``branch_pairs``, ``multidrop_edges``, ``branch_dependencies``, ``whole_packet_edges``, ``token_cycles``: worms that
  switches replicate.
- ``interfaces``: smart interfaces that forward to each other.
- ``verdict``, ``witness``: the verdict and the worms of a cycle.
- ``classes``, ``link_classes``, ``degrees``: the fewest consumption classes, class maps by link, and sufficient numbers
  of consumption channels.
"""

from .check import Analysis, Dependency, HeldWorm, check

__all__ = ["Analysis", "Dependency", "HeldWorm", "check"]
