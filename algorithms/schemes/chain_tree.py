"""Base of trees of unicasts on a chain of nodes."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from ..k_binomial import BEST, BINOMIAL, tree_worms
from ..k_binomial.orders import ORDERS, chains_of, require_order, usual_order
from ..topologies.base import Topology
from ..topologies.parameters import whole_number
from ..worms import MessageBatch, Worms
from .unicast import UnicastAnywhere

__all__ = ["ChainTree"]


class ChainTree(UnicastAnywhere):
    """A scheme that sorts source and destinations into a chain, and builds a k-binomial tree on it (`tree_worms`).

    Attributes
    ----------
    k : int
        Largest number of children of a node, or ``BEST`` or ``BINOMIAL``.
    order : str
        One of `ORDERS`. If `order` is empty, the network's default order is used.
    seed : int
        Seed of the order ``random``.
    """

    parameters: ClassVar[Mapping[str, str]] = {"order": "", "seed": "0"}
    choices: ClassVar[Mapping[str, Collection[str]]] = {"order": ORDERS}
    k = BEST
    order = ""
    seed = 0

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Set the order and its seed."""
        self.order, self.seed = given["order"], self._number(given, "seed", 0, 2**63 - 1)

    def _number(self, given: Mapping[str, str], name: str, least: int, most: int) -> int:
        return whole_number(self.name, name, given[name], least, most, what="scheme")

    def check(self, topology: Topology) -> None:
        """Refuse topologies as `Scheme.check` does, and an order that the network does not have."""
        super().check(topology)
        require_order(self.order_on(topology), topology, f"scheme {self.name}")

    def order_on(self, topology: Topology) -> str:
        """Return the name of the order of nodes in a chain, one of `ORDERS`."""
        return self.order or usual_order(topology)

    @property
    def children(self) -> str:
        """Description of k."""
        if self.k == BEST:
            return f"the best k for {self.packets} packet{'s' * (self.packets != 1)}"
        return "binomial" if self.k == BINOMIAL else f"k = {self.k}"

    def form(self, topology: Topology) -> str:
        """Describe k, the order and the relation. On a mesh, the description begins with the number of dimensions."""
        form = f"{self.children}, order {self.order_on(topology)}, by {self.relation_on(topology).name}"
        if topology.kind != "mesh":
            return form
        return f"{len(topology.shape)}-D{',' if len(topology.shape) == 2 else ':'} {form}"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms by `tree_worms`."""
        chain = chains_of(self.order_on(topology), topology, messages, seed=self.seed)
        return tree_worms(chain, messages.destination_offsets, k=self.k, packets=self.packets, forwarded=self.forwarded)
