"""How busy the links were, and how many worms waited: sums by slices of time."""

from itertools import pairwise

import numpy as np

from ...build.fabric import KINDS
from ...build.network import Network
from ...engines.meter import Measured

__all__ = ["LINKS", "MEASURED", "LinkTotals"]

#: Kinds of links of which results tell.
LINKS = ("network", "injection", "consumption")

#: Of one lane in a slice of time. Flits on all links of a kind; worms that went over ``network`` links (``hops``) and
#: over ``consumption`` links (``stops``); worms waiting and channels owned, the sums over so many ``samples``; payload
#: flits on the links to the hosts, where they are ``consumed``.
SAMPLED = ("link_waits", "consumption_waits", "links_owned", "consumption_owned", "token_waits", "tokens_held",
           "tokens_walk")
MEASURED = (*(f"{kind}_flits" for kind in LINKS), "hops", "stops", *SAMPLED, "samples", "consumed")


class LinkTotals:
    """Flits on each link by slices of time, all lanes together; nothing grows with the length of a run.

    Parameters
    ----------
    network : Network
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the last one ends.

    Attributes
    ----------
    table : unsigned array [slices, links]
        Links in the order of the network's `Fabric`.
    """

    def __init__(self, network: Network, edges: np.ndarray):
        self._starts = np.array([*(network.fabric.rows(kind).start for kind in KINDS), len(network.fabric.links)])
        self._lanes = network.lanes
        self.table = self._zeros(edges)

    def _zeros(self, edges: np.ndarray) -> np.ndarray:
        # a flit a cycle at most: the narrowest numbers will do, as there are many
        dtype = np.min_scalar_type(int(np.diff(edges).max()) * self._lanes)
        return np.zeros((len(edges) - 1, self._starts[-1]), dtype)

    def extend(self, edges: np.ndarray) -> None:
        """Add slices of time: their edges, from the last one that there is on."""
        self.table = np.concatenate([self.table, self._zeros(edges)])

    @property
    def flits(self) -> dict[str, np.ndarray]:
        """By kind of link: unsigned [slices, links]."""
        return {kind: self.table[:, first:end] for kind, (first, end) in self._rows.items() if kind in LINKS}

    @property
    def _rows(self) -> dict[str, tuple[int, int]]:
        """First and last row, exclusive, of each kind's links."""
        return dict(zip(KINDS, pairwise(self._starts.tolist()), strict=True))

    def add(self, at: int, measured: Measured, sums: np.ndarray) -> None:
        """Add what was counted in a slice; to ``sums`` too, `MEASURED` fields by lane."""
        self.table[at] += measured.flits.sum(axis=1).astype(self.table.dtype)
        flits, worms = ({kind: counts[first:end].sum(axis=0) for kind, (first, end) in self._rows.items()}
                        for counts in (measured.flits, measured.worms))
        sampled = measured.sampled.sum(axis=2)
        for field, counts in (
            *((f"{kind}_flits", flits[kind]) for kind in LINKS), ("consumed", flits["host"]),
            ("hops", worms["network"]), ("stops", worms["consumption"]), *zip(SAMPLED, sampled, strict=True),
            ("samples", measured.samples),
        ):
            sums[field] += counts
