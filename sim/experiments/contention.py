"""Who kept whom waiting in a run: other nodes' worms of the same message, the sender's own, other traffic."""

from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Scheme, WormcastError

from ..build.configuration import Configuration
from ..engines.packet_tracker import NOBODY, TURN
from ..host import Host

__all__ = ["CAUSES", "WAITS", "contention", "followed", "require_followed"]

#: Behind whom worms wait: worms of their message from other nodes, worms of their own sender, and those of other
#: messages; behind nobody, where a channel was free and another was served first.
CAUSES = {"other_nodes": "other nodes of the message", "own_sends": "its sender's own", "other_traffic":
          "other messages", "arbitration": "nobody: served later"}

#: What they wait for: a header for channels, any flit for its turn on a link.
WAITS = ("channel", "turn")


def require_followed(scheme: Scheme, configuration: Configuration) -> None:
    """Refuse worms and hardware of which this cannot be told.

    Raises
    ------
    WormcastError
        Worms are copied on their way, or cut in pieces by retransmission slots, or flits are sent by two readers.
    """
    if scheme.is_tree:
        raise WormcastError(f"contention: {scheme.name} is given, whose worms are copied where their ways part; who "
                            "waits behind whom is told of worms with one way")
    if configuration.slots:
        raise WormcastError(f"contention: --absorb {configuration.slots} is given, worms are not followed through "
                            "retransmission slots")
    if configuration.readers != "coupled":
        raise WormcastError(f"contention: --readers {configuration.readers} is given, flits' turns are told of coupled "
                            "readers alone")


def followed(scheme: Scheme, configuration: Configuration) -> bool:
    """Whether this can be told of some worms and hardware."""
    try:
        require_followed(scheme, configuration)
    except WormcastError:
        return False
    return True


def contention(host: Host, grants: npt.NDArray[np.void], nodes: int) -> list[dict[str, Any]]:
    """Say of each message in how many cycles its worms' flits waited, by what for and behind whom.

    Parameters
    ----------
    host : Host
        Of the whole run.
    grants : GRANT records
        With turns.
    nodes : int

    Returns
    -------
    list of dict
        For each message {cause: {wait: cycles}}, of `CAUSES` and `WAITS`. Cycles are added up over worms, and turns
        over flits and hops: they are no part of a latency.
    """
    worms = host.worms[grants["worm"]]
    message, sender = worms["message"], worms["source"] % nodes
    cause = np.where(grants["behind"] == NOBODY, 3, np.where(
        grants["sender"] == sender, 1, np.where(grants["behind"] == message, 0, 2)))
    table = np.zeros((int(host.worms["message"].max()) + 1, len(CAUSES), len(WAITS)), np.int64)
    np.add.at(table, (message, cause, (grants["kind"] == TURN).astype(int)), grants["wait"])
    return [{name: dict(zip(WAITS, cycles, strict=True)) for name, cycles in zip(CAUSES, of_message, strict=True)}
            for of_message in table.tolist()]
