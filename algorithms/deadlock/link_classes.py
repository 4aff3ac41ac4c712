"""Consumption classes that go by single links, as proofs have them; those of hardware go by directions."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..consumption import NO_CLASS
from ..topologies import Topology

__all__ = ["LinkClasses"]


@dataclass(frozen=True, eq=False)
class LinkClasses:
    """A map from links to classes of consumption channels.

    A worm that stops on its way takes the class of its last hop or of its next one, of the other hop where that has
    none: so the proof of [Boppana98], Lemma 2, with ``by="last"``.

    Parameters
    ----------
    numbers : int8 array [links]
        Class of each link, ``NO_CLASS`` where it has none.
    count : int
        Number of classes; those that no link has are left to worms at their last destination.
    by : "next" or "last"
        Which hop is asked first.
    """

    numbers: npt.NDArray[np.int8]
    count: int
    by: Literal["next", "last"]

    def __len__(self) -> int:
        return self.count

    def of_channels(self, topology: Topology, vc_classes: int = 1) -> npt.NDArray[np.int8]:
        """Class of each hop; all classes of virtual channels of a link have the same one."""
        return np.repeat(self.numbers, vc_classes)

    def at_stop(self, last: npt.ArrayLike, following: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Class that a worm takes at a destination on its way, by the classes of its last and its next hop."""
        first, second = (last, following) if self.by == "last" else (following, last)
        return np.where(np.equal(first, NO_CLASS), second, first).astype(np.int8)
