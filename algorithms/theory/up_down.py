"""Statements of [Sivaram98], section 5: replicated worms in networks with up and down links."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..deadlock.channel_use import ChannelUse
from ..deadlock.graph import DependencyGraph, dependency_graph
from ..phrases import count
from ..routing import UP_DOWN_ADAPTIVE, goes_up, reachability
from ..topologies.coordinates import levels
from .statement import TheoremCheck

__all__ = ["BufferedDependencies", "buffered"]

SOURCE = "Sivaram98"


@dataclass(frozen=True, eq=False)
class BufferedDependencies:
    """Worms of one scheme that switches replicate from buffers, and their dependencies."""

    part: ChannelUse
    ejection: str

    @cached_property
    def whole(self) -> DependencyGraph:
        """Dependencies if the buffers of switches have room for whole worms."""
        return dependency_graph([self.part], 1, ejection=self.ejection, fits=True)

    @cached_property
    def partly(self) -> DependencyGraph:
        """Dependencies if the buffers of switches have room only for parts of worms."""
        return dependency_graph([self.part], 1, ejection=self.ejection)


def buffered(worms: BufferedDependencies) -> list[TheoremCheck]:
    """Decide whether Theorems 4 and 5 of [Sivaram98] hold for a scheme.

    For trees, decide instead of Theorem 4 whether down links lead from the root to all nodes, and whether each
    destination is reached once. If worms have no choice of channels, decide also whether Theorem 5 needs its condition,
    buffers for whole worms.
    """
    first = [_theorem_4(worms.part)] if worms.part.pairs is not None else [_covered(worms.part), _once(worms.part)]
    return [*first, _theorem_5(worms), *([_condition(worms)] if worms.part.routes.deterministic else [])]


def _theorem_4(part: ChannelUse) -> TheoremCheck:
    """Decide if all shortest legal paths between two switches of a chain use down links only."""
    topology, pairs = part.topology, part.pairs
    assert pairs is not None
    up, level = goes_up(topology), levels(topology)
    options = UP_DOWN_ADAPTIVE.on(topology).options[0]
    ways, upwards = 0, 0
    for v, w in pairs.tolist():
        front = {int(topology.consumptions[v, 0])}
        end = int(topology.consumptions[w, 0])
        while front != {end}:
            links = [int(topology.link_of_port[at, port]) for at in front for port in options[at, w] if port >= 0]
            ways += len(links)
            upwards += int(up[links].sum())
            front = {int(topology.links[link, 2]) for link in links}
    apart = int(np.abs(level[topology.links[:, 0]] - level[topology.links[:, 2]]).max(initial=0))
    return TheoremCheck(
        "Theorem 4", "section 5.2.4",
        f"{len(pairs)} pairs of switches can be consecutive in a chain. {_links(upwards)} up on the shortest legal "
        "paths between them. " + ("No link skips a level" if apart <= 1 else
                                  f"A link skips {count(apart - 1, 'level')}"), upwards == 0 and apart <= 1,
        found={"pairs": len(pairs), "links": ways, "up": upwards}, source=SOURCE)


def _links(number: int) -> str:
    return {0: "No link leads", 1: "1 link leads"}.get(number, f"{number} links lead")


def _covered(part: ChannelUse) -> TheoremCheck:
    """Decide if a worm that goes up comes to a switch from which down links lead to all destinations."""
    topology = part.topology
    roots = np.atleast_1d(topology.root)
    reached = int(reachability(topology).total[roots].sum(axis=1).min())
    which = "each root" if len(roots) > 1 else "the root"
    return TheoremCheck("Up", "section 5.3.3", f"down links lead from {which} to {reached} of {topology.nodes} nodes",
                     reached == topology.nodes, found={"reached": reached}, source=SOURCE)


def _once(part: ChannelUse) -> TheoremCheck:
    """Decide if, at each switch, every node below the switch is in the restricted reachability string of exactly one
    port."""
    strings = reachability(part.topology)
    ways = strings.restricted.sum(axis=1)
    once = bool((ways == strings.total).all())
    shared = int((ways > 1).sum())
    return TheoremCheck("Restricted strings", "section 5.3.2",
                     "at each switch, every node below it is in the string of exactly one port" if once else
                     f"{shared} nodes are in the strings of several ports of a switch", once,
                     found={"shared": shared}, source=SOURCE)


def _theorem_5(worms: BufferedDependencies) -> TheoremCheck:
    """Decide if there is no deadlock when switches store whole worms."""
    cycle, chained = len(worms.whole.cycle()), worms.part.pairs is not None
    found = (f"the dependencies have a cycle of {cycle} channels" if cycle else
             "the dependencies have no cycle, with unicasts by the same relation included")
    return TheoremCheck("Theorem 5" if chained else "Trees", f"section {'5.2.4' if chained else '5.3.3'}",
                     f"if switches store whole worms, {found}", not cycle, found={"cycle": cycle}, source=SOURCE)


def _condition(worms: BufferedDependencies) -> TheoremCheck:
    """Decide if the dependencies have a cycle when switches store only parts of worms, so that Theorem 5 needs buffers
    for whole worms."""
    cycle = len(worms.partly.cycle())
    return TheoremCheck("Whole worms", "section 3.4.2", "if switches store a part of a worm, the dependencies have " + (
        f"a cycle of {cycle} channels" if cycle else "no cycle"), bool(cycle),
        found={"cycle": cycle}, source=SOURCE)
