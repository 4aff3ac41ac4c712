"""Static deadlock analysis: can worms of these schemes, by these relations, wait for each other in a circle?

    from wormcast.algorithms import SCHEMES, check, topology

    check(topology("mesh:8x8"), SCHEMES["dual-path"], consumption=1).cycle

``ways`` (which link or stop follows which, with a worm for each), ``graph`` (resources, dependencies, cycles),
``alternatives`` (worms that have a choice), ``interfaces`` (those that forward to each other), ``verdict`` (what
follows), ``classes`` (how few consumption classes will do), ``degrees`` (channels that suffice without them),
``link_classes`` (maps that go by single links), ``check`` (all of it).
"""

from .check import Analysis, Dependency, HeldWorm, check

__all__ = ["Analysis", "Dependency", "HeldWorm", "check"]
