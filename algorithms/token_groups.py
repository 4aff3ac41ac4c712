"""Groups of switches that share a token: one switch of a group at a time may replicate a worm ([Varavithya], section
3.2)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .consumption import MOST_CONSUMPTION
from .errors import WormcastError
from .topologies.base import Topology
from .topologies.min import stage_of_switch

__all__ = ["NO_TOKEN", "TokenGroups", "all_consumed", "require_one_or_all", "require_trees", "token_groups"]

NO_TOKEN = -1

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TokenGroups:
    """Groups of switches. The switches of a group share a token.

    Parameters
    ----------
    stage : int64 array [switches]
        Stage of each switch.
    group : int64 array [switches]
        Number of each switch's group in its stage, from 0, in the order of the groups' first switches. ``NO_TOKEN``:
        the switch replicates worms without a token.
    """

    stage: Integers
    group: Integers

    @cached_property
    def names(self) -> list[tuple[int, int]]:
        """Stage and group of each token, ascending."""
        return list(self.rings())

    @cached_property
    def numbers(self) -> Integers:
        """Index of each switch's token in `names`, int64 [switches], or ``NO_TOKEN``."""
        found = np.full(len(self.stage), NO_TOKEN, np.int64)
        for number, members in enumerate(self.rings().values()):
            found[members] = number
        return found

    def rings(self) -> dict[tuple[int, int], list[int]]:
        """Return a dictionary from (stage, group) to the group's switches in ascending order, in which the token
        circulates."""
        found: dict[tuple[int, int], list[int]] = {}
        for switch, (stage, group) in enumerate(zip(self.stage.tolist(), self.group.tolist(), strict=True)):
            if group != NO_TOKEN:
                found.setdefault((stage, group), []).append(switch)
        return dict(sorted(found.items()))


def require_trees(tokens: str | None, is_tree: bool, names: str) -> None:
    """Refuse tokens for schemes whose worms are not replicated from shallow buffers. ``names`` are these schemes."""
    if tokens == "on" and not is_tree:
        raise WormcastError(f"tokens: on is not valid: worms of {names} are not replicated from shallow buffers. "
                            "Allowed: off, or on with schemes such as atbm, on multistage networks.")


def require_one_or_all(topology: Topology, *, channels: int, vcs: int, ejection: str,
                       option: str = "consumption") -> None:
    """Refuse two or more consumption channels that do not suffice for all worms that may arrive at a time
    (`all_consumed`). Token groups are defined only for one channel, or for enough channels.

    ``option``: name of the refused option in the message.
    """
    _require_stages(topology)
    enough = _worms_at_a_node(topology, vcs, ejection)
    if 1 < channels < enough:
        place = "an ejection port" if ejection == "all" else "a node"
        all_of_them = f", {enough} to {MOST_CONSUMPTION}" if enough <= MOST_CONSUMPTION else ""
        beside, off = (" with tokens", ", or tokens off") if option == "consumption" else ("", "")
        raise WormcastError(f"{option}: {channels} is not valid{beside}: {enough} worms may arrive at {place} of "
                            f"{topology.name} at a time. Allowed: 1{all_of_them}{off}.")


def _require_stages(topology: Topology) -> None:
    if topology.kind != "min":
        raise WormcastError(f"topology: {topology.name} is not valid with tokens: it has no stages. Allowed: networks "
                            "of kind min.")


def _worms_at_a_node(topology: Topology, vcs: int, ejection: str) -> int:
    """Return the maximum number of worms that may arrive at an ejection port at a time."""
    ways = 1 if ejection == "all" else int(np.bincount(topology.links[:, 2]).max())
    return ways * vcs


def all_consumed(topology: Topology, *, channels: int, vcs: int, ejection: str) -> bool:
    """Return whether the consumption channels suffice for all worms that may arrive at a node at once.

    Over each virtual channel of a link, one worm can arrive at a time. With one ejection port per node, this port needs
    one consumption channel for each virtual channel of all inputs of its switch from other switches. With one ejection
    port per node and one virtual channel per input, the number of channels is b of [Varavithya]. With one ejection port
    per input, each port needs one consumption channel for each virtual channel of its input.

    Parameters
    ----------
    channels : int
        Consumption channels of each ejection port.
    vcs : int
        Virtual channels of each link.
    ejection : "one" or "all"
        As for `ejection_ports`.
    """
    return channels >= _worms_at_a_node(topology, vcs, ejection)


def token_groups(topology: Topology, *, consumed: bool) -> TokenGroups:
    """Group the switches of a multistage network.

    Two switches of a stage share a resource if worms that they replicate can request this resource later. Groups are
    the connected components of switches that share resources. Without ``consumed``, a node's consumption channels are a
    resource that all switches from which worms reach the node share. With ``consumed``, the shared resources are the
    buffers of later switches, and the last stage needs no token.

    On a baseline network of S stages of b x b switches, a group of stage j (from 0) has b**(S-1-j) switches, or
    b**(S-2-j) with ``consumed``, as in the paper.

    Parameters
    ----------
    consumed : bool
        The consumption channels suffice for all worms that may arrive, see `all_consumed`.

    Raises
    ------
    WormcastError
        The network has no stages.
    """
    _require_stages(topology)
    stage = stage_of_switch(topology).astype(np.int64)
    last = int(stage.max())
    shared = _buffers_behind(topology, stage) if consumed else _nodes_behind(topology, stage)
    group = np.full(topology.switches, NO_TOKEN, np.int64)
    for one in range(last if consumed else last + 1):
        members = np.flatnonzero(stage == one)
        group[members] = _components(shared[members])
    return TokenGroups(stage, group)


def _nodes_behind(topology: Topology, stage: Integers) -> npt.NDArray[np.bool_]:
    """Nodes that each switch reaches, bool [switches, nodes]."""
    reached = np.zeros((topology.switches, topology.nodes), bool)
    reached[topology.consumptions[:, 0], np.arange(topology.nodes)] = True
    return _gathered(topology, stage, reached)


def _buffers_behind(topology: Topology, stage: Integers) -> npt.NDArray[np.bool_]:
    """Buffers of later switches that worms from each switch can enter, bool [switches, links]."""
    links = len(topology.links)
    reached = np.zeros((topology.switches, links), bool)
    reached[topology.links[:, 0], np.arange(links)] = True
    return _gathered(topology, stage, reached)


def _gathered(topology: Topology, stage: Integers, reached: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Add to each switch's set the sets of the switches to which its links lead."""
    start, _, end, _ = topology.links.T
    for one in range(int(stage.max()) - 1, -1, -1):
        for link in np.flatnonzero(stage[start] == one):
            reached[start[link]] |= reached[end[link]]
    return reached


def _components(shared: npt.NDArray[np.bool_]) -> Integers:
    """Number the connected components of rows that share an entry."""
    numbers = np.full(len(shared), NO_TOKEN, np.int64)
    for first in range(len(shared)):
        if numbers[first] != NO_TOKEN:
            continue
        mine = shared[first].copy()
        members = np.zeros(len(shared), bool)
        members[first] = True
        while True:
            joined = (shared & mine).any(axis=1) & ~members
            if not joined.any():
                break
            members |= joined
            mine |= shared[joined].any(axis=0)
        numbers[members] = numbers.max() + 1
    return numbers
