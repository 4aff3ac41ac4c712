"""What the trees of unicasts on a chain of nodes have in common, whoever sends the message on."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..k_binomial import BEST, BINOMIAL, tree_worms
from ..k_binomial.orders import ORDERS, chains_of, require_order, usual_order
from ..topologies.base import Topology
from ..topologies.parameters import whole_number
from ..worms import Worms
from .unicast import UnicastAnywhere

__all__ = ["ChainTree"]


class ChainTree(UnicastAnywhere):
    """A scheme that lays source and destinations in a chain, and builds a k-binomial tree on it (`tree_worms`).

    Attributes
    ----------
    k : int
        Children of a node at most, or ``BEST``.
    order : str
        One of `ORDERS`; empty: the network's usual one.
    seed : int
        Of the order ``random``.
    """

    parameters: ClassVar[Mapping[str, str]] = {"order": "", "seed": "0"}
    k = BEST
    order = ""
    seed = 0

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Take the order and its seed."""
        self.order, self.seed = given["order"], self._number(given, "seed", 0, 2**63 - 1)
        if self.order not in ("", *ORDERS):
            raise WormcastError(f"scheme: order of '{self.name}' is {self.order!r}, allowed are {', '.join(ORDERS)}")

    def _number(self, given: Mapping[str, str], name: str, least: int, most: int) -> int:
        return whole_number(self.name, name, given[name], least, most, what="scheme")

    def check(self, topology: Topology) -> None:
        """Refuse also an order that the network does not have."""
        super().check(topology)
        require_order(self.order_on(topology), topology, f"scheme {self.name}")

    def order_on(self, topology: Topology) -> str:
        """Say in which order the nodes are laid in a chain."""
        return self.order or usual_order(topology)

    @property
    def children(self) -> str:
        """Say which k, in words."""
        if self.k == BEST:
            return f"the best k for {self.packets} packet{'s' * (self.packets != 1)}"
        return "binomial" if self.k == BINOMIAL else f"k = {self.k}"

    def form(self, topology: Topology) -> str:
        """Say which k, in which order, and by which relation; on a mesh behind its dimensions."""
        told = f"{self.children}, order {self.order_on(topology)}, by {self.relation_on(topology).name}"
        if topology.kind != "mesh":
            return told
        return f"{len(topology.shape)}-D{',' if len(topology.shape) == 2 else ':'} {told}"

    def worms(
        self,
        topology: Topology,
        sources: npt.NDArray[np.int32],
        destination_offsets: npt.NDArray[np.int64],
        destinations: npt.NDArray[np.int32],
    ) -> Worms:
        """Compute the worms, as `tree_worms`."""
        chain = chains_of(self.order_on(topology), topology, sources, destination_offsets, destinations,
                          seed=self.seed)
        return tree_worms(chain, destination_offsets, k=self.k, packets=self.packets, forwarded=self.forwarded)
