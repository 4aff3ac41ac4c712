"""Unicasts, multi-drop worms and trees in one network, each with a header of its own format."""

from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..headers import Header, MixedHeader
from ..headers.multi_drop import IDS
from ..routing import Routes
from ..topologies.base import Topology
from ..topologies.parameters import MOST_NODES, whole_number
from ..worms import MessageBatch, Worms, select_entries
from .base import Scheme
from .batch_merge import merge_batches
from .multi_drop import MultiDropScheme, PathGreedy, PathLessGreedy, SsrGreedy, SsrLessGreedy
from .tree import Tree

__all__ = ["Mixed"]

NONE = "none"

FEW: dict[str, MultiDropScheme] = {
    one.name: one for one in (SsrGreedy(), SsrLessGreedy(), PathGreedy(), PathLessGreedy())}
"""Schemes of multi-drop worms, by name."""


class Mixed(Tree):
    """Unicasts by the id of a node, trees for large multicasts, and optionally multi-drop worms for small ones.

    The number of destinations of a message selects its worms. A message to one node is a unicast. A message to 2 to
    ``limit`` nodes has the worms of the scheme ``few``. A message to more nodes has one tree worm. A worm with
    one destination has the header of a unicast in each scheme. All worms are routed by the relation of `Tree`, so that
    switches need the ways of one relation only.

    Parameters
    ----------
    few : str
        ``ssr-g``, ``ssr-lg``, ``path-g``, ``path-lg``, or ``none``: all multicasts are trees.
    limit : int
        Largest number of destinations of a message with multi-drop worms. Default: 8.
    ids : str
        Ids in multi-drop headers: ``switch`` or ``node``, as in `MultiDrop`.
    """

    name = "mixed"
    description = "unicasts by id, trees, and with few=path-lg multi-drop worms for small multicasts, in one network"
    provenance = "[Sivaram98], sections 5.2.3, 5.3.2 and 5.3.3 (the mixture: ours)"
    header = MixedHeader
    parameters: ClassVar[Mapping[str, str]] = {"few": NONE, "limit": "8", "ids": "switch"}
    choices: ClassVar[Mapping[str, Collection[str]]] = {"few": (*FEW, NONE), "ids": IDS}
    few: MultiDropScheme | None = None
    limit = 1
    ids = "switch"

    def set_parameters(self, given: Mapping[str, str]) -> None:
        """Set the scheme of small multicasts, their largest number of destinations, and the ids in their headers."""
        few = given["few"]
        limit = whole_number(self.name, "limit", given["limit"], 2, MOST_NODES - 1, what="scheme")
        self.ids = given["ids"]
        self.few, self.limit = (None, 1) if few == NONE else (FEW[few], limit)

    def form(self, topology: Topology) -> str:
        """Describe the worms of small and large multicasts."""
        if self.few is None:
            return "unicasts, and a tree for each multicast"
        return f"unicasts; {self.few.name} for 2 to {self.limit} destinations; a tree for more"

    def header_on(self, topology: Topology, flit_width: int, relations: int = 1,
                  signed: tuple[int, ...] = ()) -> Header:
        return MixedHeader.on(topology, flit_width, relations, signed, self.limit, self.ids)

    def ideal_header_width(self, topology: Topology, destinations: int, relations: int = 1,
                           signed: tuple[int, ...] = ()) -> int:
        return MixedHeader.ideal_width_on(topology, destinations, relations, signed, self.limit, self.ids)

    def is_tree_to(self, destinations: int) -> bool:
        """Return whether a worm to this number of destinations is a tree. A unicast is a tree of one branch."""
        return not 1 < destinations <= self.limit

    def parts(self) -> tuple[Scheme, ...]:
        """Return the schemes of the network's worms. Unicasts use the channels of trees to one destination."""
        if self.few is None:
            return (self,)
        return Tree().routed_by(self.relation), self.few.routed_by(self.relation)

    def visit_triples(self, topology: Topology) -> npt.NDArray[np.int32]:
        """List the triples of multi-drop worms; trees have none."""
        return super().visit_triples(topology) if self.few is None else self.few.visit_triples(topology)

    def channels(self, routes: Routes, source: int, destinations: list[int]) -> list[int]:
        """List the channels of a tree, or of a path."""
        if self.is_tree_to(len(destinations)):
            return super().channels(routes, source, destinations)
        return routes.channels(source, destinations)

    def hops(self, routes: Routes, worms: Worms) -> npt.NDArray[np.int64]:
        """Count the links of each tree or path."""
        counts = np.diff(worms.destination_offsets)
        small = (counts > 1) & (counts <= self.limit)
        paths, trees = np.flatnonzero(small), np.flatnonzero(~small)
        found = np.empty(len(worms), np.int64)
        found[paths] = routes.hops(_rows(worms, paths))
        found[trees] = super().hops(routes, _rows(worms, trees))
        return found

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms of each message by the scheme that its number of destinations selects."""
        counts = np.diff(messages.destination_offsets)
        small = (counts > 1) & (counts <= self.limit)
        if self.few is None or not small.any():
            return super().worms(topology, messages)
        parts, numbers = [], []
        for few, worms in ((False, super().worms), (True, self.few.worms)):
            chosen = np.flatnonzero(small == few)
            if len(chosen):
                places, offsets = select_entries(chosen, messages.destination_offsets)
                numbers.append(chosen)
                parts.append(worms(topology, MessageBatch(messages.sources[chosen], offsets,
                                                          messages.destinations[places])))
        return merge_batches(parts, numbers)


def _rows(worms: Worms, rows: npt.NDArray[np.int64]) -> Worms:
    """Return some worms, each as a message of its own."""
    places, offsets = select_entries(rows, worms.destination_offsets)
    return Worms(np.arange(len(rows) + 1), worms.source[rows], worms.rank[rows], worms.after[rows], offsets,
                 worms.destinations[places])
