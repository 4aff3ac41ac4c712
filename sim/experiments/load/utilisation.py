"""Utilisation of links, and waiting worms, summed by time slice."""

from itertools import pairwise

import numpy as np

from ...build.fabric import KINDS
from ...build.network import Network
from ...engines.meter import MeterResults

__all__ = ["LINKS", "MEASURED", "LinkTotals"]

#: Kinds of links in results.
LINKS = ("network", "injection", "consumption")

#: Measurements of a lane in a time slice. Fields whose names end in ``_flits``: flits on all links of a kind.
#: ``hops``, ``stops``: how often worms crossed ``network`` links, and ``consumption`` links.
#: `SAMPLED`: waiting worms, owned channels and tokens, each a sum over ``samples`` sampled cycles.
#: ``consumed``: payload flits on the links to the hosts.
SAMPLED = ("link_waits", "consumption_waits", "links_owned", "consumption_owned", "token_waits", "tokens_held",
           "tokens_walk")
MEASURED = (*(f"{kind}_flits" for kind in LINKS), "hops", "stops", *SAMPLED, "samples", "consumed")


class LinkTotals:
    """Flits on each link by time slice, over all lanes. Longer slices may need wider integers, but no more of them.

    Parameters
    ----------
    network : Network
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the end of the last one.

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
        # a link carries at most one flit per cycle in a lane, so this is the narrowest type for the sum of a slice
        dtype = np.min_scalar_type(int(np.diff(edges).max()) * self._lanes)
        return np.zeros((len(edges) - 1, self._starts[-1]), dtype)

    def extend(self, edges: np.ndarray) -> None:
        """Append time slices. ``edges`` begins with the last edge of the present slices."""
        self.table = np.concatenate([self.table, self._zeros(edges)])

    @property
    def flits(self) -> dict[str, np.ndarray]:
        """Flits by kind of link: unsigned [slices, links]."""
        return {kind: self.table[:, first:end] for kind, (first, end) in self._rows.items() if kind in LINKS}

    @property
    def _rows(self) -> dict[str, tuple[int, int]]:
        """First column of each kind's links, and the column after the last one."""
        return dict(zip(KINDS, pairwise(self._starts.tolist()), strict=True))

    def add(self, at: int, measured: MeterResults, sums: np.ndarray) -> None:
        """Add measurements to a time slice, and to the `MEASURED` fields of ``sums`` by lane."""
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
