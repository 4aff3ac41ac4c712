"""Deterministic routing on fat trees by digits of the destination."""

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..topologies.base import Topology
from ..topologies.fat_tree import digits_of, read_fat_tree
from .base import Relation

__all__ = ["D_MOD_K", "DModK"]


class DModK(Relation):
    """D-mod-k routing: up to a least common ancestor of source and destination, then down.

    A switch of level l sends a worm down by port ``d{i}`` if the destination is in its subtree, else up by port
    ``u{i}``. In both cases i is the base-k digit of the destination's id with weight k**l. So all worms that reach the
    highest level on their way to a node come down from one root. A worm uses links up only before links down, so that
    worms do not wait in a cycle.

    Source: [Zahavi10], the name and the choice of the port up; [Dally04] for the least common ancestor.
    """

    name = "d-mod-k"
    description = "fat trees: up to a least common ancestor, then down, each hop by a digit of the destination"

    def table(self, topology: Topology) -> npt.NDArray[np.int8]:
        """Compute the table of output ports. The relation is defined on fat trees only."""
        if topology.kind != "fat-tree":
            raise WormcastError(f"relation {self.name}: topology {topology.name} is not valid. Allowed: fat trees.")
        k, levels = read_fat_tree(topology.name.partition(":")[2])
        level, w = np.divmod(np.arange(topology.switches), k ** (levels - 1))
        of_switch, of_node = digits_of(w, k, levels - 1), digits_of(np.arange(topology.nodes), k, levels)
        table = np.empty((topology.switches, topology.nodes), np.int8)
        for one in range(levels):
            here = np.flatnonzero(level == one)
            fixed = levels - 1 - one
            inside = (of_switch[here, None, :fixed] == of_node[None, :, :fixed]).all(axis=2)
            table[here] = of_node[:, fixed] + np.where(inside, 0, k)
        return table


D_MOD_K = DModK()
