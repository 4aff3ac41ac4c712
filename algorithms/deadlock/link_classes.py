"""Consumption classes that are stated link by link, as in proofs. Hardware derives classes from directions."""

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

    A worm that stops on its way takes the class of its last or of its next hop, as `by` states. If the hop that `by`
    states has no class, the worm takes the class of the other one of its last and next hop. With ``by="last"`` the map
    is the one in the proof of [Boppana98], Lemma 2.

    Parameters
    ----------
    numbers : int8 array [links]
        Class of each link, or ``NO_CLASS``.
    count : int
        Number of classes. Classes without a link are left to worms at their last destination.
    by : "next" or "last"
        The hop that decides the class of a stop: the hop after it, or the hop before it.
    """

    numbers: npt.NDArray[np.int8]
    count: int
    by: Literal["next", "last"]

    def __len__(self) -> int:
        return self.count

    def of_channels(self, topology: Topology, vc_classes: int = 1) -> npt.NDArray[np.int8]:
        """Return the consumption class of each channel: all virtual channels of a link have the class of the link."""
        return np.repeat(self.numbers, vc_classes)

    def at_stop(self, last: npt.ArrayLike, following: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the class of a worm at a destination on its way, from the classes of its last and its next hop."""
        first, second = (last, following) if self.by == "last" else (following, last)
        return np.where(np.equal(first, NO_CLASS), second, first).astype(np.int8)
