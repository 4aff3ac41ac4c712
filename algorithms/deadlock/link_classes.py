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

    At a stop on its way, a worm takes the consumption class of the hop by which it arrives (``by="last"``) or of the
    hop by which it continues (``by="next"``). If the hop that `by` selects has no class, the worm takes the class of
    the hop on the other side of the stop. With ``by="last"`` the map is the one in the proof of [Boppana98], Lemma 2.

    Parameters
    ----------
    numbers : int8 array [links]
        Class of each link, or ``NO_CLASS``.
    count : int
        Number of classes. Only worms at their last destination use the consumption channels of a class to which no
        link belongs.
    by : "next" or "last"
        The hop that decides the class at a stop: the hop after the stop, or the hop before the stop.
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
