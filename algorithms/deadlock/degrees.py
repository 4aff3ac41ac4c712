"""Definition 1 of [Boppana98], and the sufficient numbers of consumption channels by Lemma 1 and Corollary 2."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..topologies import Topology
from .channel_use import ChannelUse
from .link_classes import LinkClasses

__all__ = ["Degrees", "Reading", "channel_bounds", "degrees"]

Reading = Literal["held", "all"]

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Degrees:
    """Links into and out of each node that multicasts can use: IN_x and OUT_x with one virtual channel for each link.

    Source: [Boppana98], section 3.2, Definition 1, Lemma 1 and Corollary 2.

    Parameters
    ----------
    topology : Topology
        A network with one node at each switch.
    into, out : bool array [links]
        Links that are counted at the node where they end, and links that are counted at the node where they begin.
    met : bool
        The condition of Corollary 2 is met. At each node where a worm ends, the worm could go on by a link of `out`, or
        fewer links of `out` begin there than at some other node.
    """

    topology: Topology
    into: Flags
    out: Flags
    met: bool

    @property
    def incoming(self) -> Integers:
        """IN_x of each switch x: the number of links of `into` that end at x."""
        return np.bincount(self.topology.links[self.into, 2], minlength=self.topology.switches)

    @property
    def outgoing(self) -> Integers:
        """OUT_x of each switch x: the number of links of `out` that begin at x."""
        return np.bincount(self.topology.links[self.out, 0], minlength=self.topology.switches)

    @property
    def v_in(self) -> int:
        """The largest number of links of `into` that end at one node."""
        return int(self.incoming.max())

    @property
    def v_out(self) -> int:
        """The largest number of links of `out` that begin at one node."""
        return int(self.outgoing.max())

    @property
    def lemma1(self) -> int:
        """Number of consumption channels of a node that suffice by Lemma 1 of [Boppana98]; at least one."""
        return max(1, min(self.v_in, self.v_out + 1))

    @property
    def corollary2(self) -> int:
        """Number of consumption channels of a node that suffice by Corollary 2 of [Boppana98]; at least one.

        If the condition of Corollary 2 is not met, the value is the number of Lemma 1.
        """
        return max(1, min(self.v_in, self.v_out)) if self.met else self.lemma1

    def by_incoming(self) -> LinkClasses:
        """Associate v_in consumption channels of a node with the links into it, as the proof of Lemma 1 does."""
        return LinkClasses(_ranks(self.into, self.topology.links[:, 2]), max(1, self.v_in), "last")

    def by_outgoing(self, *, spare: bool) -> LinkClasses:
        """Associate `v_out` consumption channels of a node with the links of `out` that begin at it; `spare` adds a
        channel for worms that end."""
        return LinkClasses(_ranks(self.out, self.topology.links[:, 0]), max(1, self.v_out + spare), "next")


def degrees(parts: Sequence[ChannelUse], reading: Reading) -> Degrees:
    """Count the links by which worms with several destinations reach each node, and the links by which they leave it.

    - ``"held"`` counts out of a node the links used by worms that hold a consumption channel, as in section 3.2.1,
      which does not count the row links of column-path. With ``"held"``, the links into a node are those by which
      worms arrive at the node as a destination. Links into a node also count if their worms hold no consumption
      channel. Without these links, Lemma 1 would give one channel for dual-path on a line of four nodes, where two are
      needed.
    - ``"all"`` counts every link that worms with several destinations use; this is another reading of Definition 1.
    """
    topology = parts[0].topology
    if reading == "all":
        into = out = np.any([part.used for part in parts], axis=0)
    else:
        into = np.any([part.arrives for part in parts], axis=0)
        out = np.any([part.loaded for part in parts], axis=0)
    start, port, end, _ = topology.links.T
    count = np.bincount(start[out], minlength=topology.switches)
    onward = np.zeros(topology.neighbours.shape, bool)  # outputs that Corollary 2 associates with a consumption channel
    onward[start[out], port[out]] = True
    ends = np.any([part.ends for part in parts], axis=0)
    follows = np.any([part.follows for part in parts], axis=0)
    goes_on = (follows & onward[end]).any(axis=1)
    return Degrees(topology, into, out, bool((goes_on | (count[end] < count.max()))[ends].all()))


def channel_bounds(parts: Sequence[ChannelUse], ejection: str) -> tuple[int | None, int | None]:
    """Return the numbers of consumption channels of a node that suffice by Lemma 1 and by Corollary 2 of [Boppana98].

    The first number, by Lemma 1, is min(v_in, v_out + 1). The second number, by Corollary 2, is min(v_in, v_out). Both
    are at least 1. v_in and v_out are the largest numbers of counted links into and out of a node.

    - Relations without a choice: links are counted as by ``"held"`` of `degrees`, with one virtual channel each, as
      further virtual channels of a link change nothing. If the condition of Corollary 2 is not met (column-path on
      meshes of two rows), Lemma 1's number is returned for both. If each link has an ejection port, both numbers are 1:
      one consumption channel of each port suffices.
    - Worms with a choice that stop on their way: v_in counts the virtual channels by which worms arrive at
      destinations, one of each class (section 3.2.1). In the same way, v_out counts the virtual channels by which worms
      go on from stops. Only Lemma 1 applies: the second number is None. If each link has an ejection port, both numbers
      are None.
    - All other worms, for example of a relation without a choice but with several classes of virtual channels: both
      numbers are None.
    """
    topology, vc_classes = parts[0].topology, parts[0].vc_classes
    if all(part.stops_with_a_choice and part.vc_classes == vc_classes for part in parts):
        if ejection == "all":
            return None, None
        start, _, end, _ = np.repeat(topology.links, vc_classes, axis=0).T
        v_in, v_out = (int(np.bincount(at[np.any(used, axis=0)], minlength=1).max()) for at, used in (
            (end, [part.arrives for part in parts]), (start, [part.loaded for part in parts])))
        return max(1, min(v_in, v_out + 1)), None
    if not all(part.vc_classes == 1 and part.routes.deterministic for part in parts):
        return None, None
    if ejection == "all":
        return 1, 1
    found = degrees(parts, "held")
    return found.lemma1, found.corollary2


def _ranks(counted: Flags, node_of_link: npt.NDArray[np.int32]) -> npt.NDArray[np.int8]:
    """Number the counted links of each node from 0, int8 [links]. Other links have -1."""
    ranks = np.full(len(counted), -1, np.int8)
    seen: dict[int, int] = {}
    for link in np.flatnonzero(counted).tolist():
        node = int(node_of_link[link])
        ranks[link] = seen[node] = seen.get(node, -1) + 1
    return ranks
