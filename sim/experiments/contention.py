"""Waiting cycles of each message of a run, by their cause (`CAUSES`) and by what the worm waited for (`WAITS`)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Scheme, WormcastError
from wormcast.algorithms.errors import flag_text

from ..build.configuration import Configuration
from ..engines.packet_tracker import NOBODY, TURN
from ..host import Host

__all__ = ["CAUSES", "WAITS", "contention", "followed", "require_followed"]

#: Causes of a worm's wait. ``own_sends``: the worm waited for another worm of its own sender.
#: ``other_nodes``: the worm waited for a worm of its message from another sender.
#: ``other_traffic``: the worm waited for a worm of another message from another sender.
#: ``arbitration``: no worm held the requested channel, and the router served another worm first.
CAUSES = {"other_nodes": "other nodes of the message", "own_sends": "the sender's other worms", "other_traffic":
          "other messages", "arbitration": "arbitration"}

#: Kinds of waiting, by what a worm waits for.
#: ``channel``: a worm's header waits for a channel, or to reach the front of a buffer.
#: ``turn``: a flit could move, and its link or its router input served another worm.
WAITS = ("channel", "turn")


def require_followed(scheme: Scheme, configuration: Configuration) -> None:
    """Refuse schemes and hardware for which the causes of waiting are not measured.

    Raises
    ------
    WormcastError
        Worms branch, or retransmission slots absorb them, or the two readers of a buffer are not coupled, or control
        packets request rows.
    """
    flag = flag_text("contention")
    if scheme.is_tree:
        raise WormcastError(f"{flag} is not valid with {scheme.name}, whose worms branch. Allowed: schemes whose "
                            "worms do not branch, such as individual.")
    if configuration.slots:
        raise WormcastError(f"{flag} is not valid with --absorb {configuration.slots}: worms are not followed through "
                            "retransmission slots. Allowed: --absorb off, --absorb host.")
    if configuration.readers != "coupled":
        raise WormcastError(f"{flag} is not valid with --readers {configuration.readers}: worms are not followed "
                            "through independent readers. Allowed: --readers coupled.")
    if configuration.requests_rows:
        raise WormcastError(f"{flag} is not valid with --admission messages: control packets are not followed. "
                            "Allowed: --admission oracle.")


def followed(scheme: Scheme, configuration: Configuration) -> bool:
    """Return whether the causes of waiting are measured for a scheme and hardware."""
    try:
        require_followed(scheme, configuration)
    except WormcastError:
        return False
    return True


def contention(host: Host, grants: npt.NDArray[np.void], nodes: int) -> list[dict[str, Any]]:
    """Return the waiting cycles of each message, by their cause (`CAUSES`) and by what the worm waited for (`WAITS`).

    Parameters
    ----------
    host : Host
        After the whole run.
    grants : GRANT records
        Log of the whole run. The log has a `TURN` entry for each cycle in which a flit could move and another worm was
        served.
    nodes : int

    Returns
    -------
    list of dict
        For each message {cause: {wait: cycles}}, with causes of `CAUSES` and waits of `WAITS`. Waits for channels are
        added up over a message's worms and hops, waits for turns also over flits. The sums may exceed the message's
        latency.
    """
    worms = host.worms[grants["worm"]]
    message, sender = worms["message"], worms["source"] % nodes
    cause = np.where(grants["behind"] == NOBODY, 3, np.where(
        grants["sender"] == sender, 1, np.where(grants["behind"] == message, 0, 2)))
    table = np.zeros((int(host.worms["message"].max()) + 1, len(CAUSES), len(WAITS)), np.int64)
    np.add.at(table, (message, cause, (grants["kind"] == TURN).astype(int)), grants["wait"])
    return [{name: dict(zip(WAITS, cycles, strict=True)) for name, cycles in zip(CAUSES, of_message, strict=True)}
            for of_message in table.tolist()]
