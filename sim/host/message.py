"""Messages, and the host program that sends a list of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wormcast.algorithms import Worms

from ..build.network import Network
from .moving_program import MovingHost
from .program_layout import Host, lay_out

__all__ = ["Message", "make_host"]


@dataclass(frozen=True)
class Message:
    """Message to send: created in cycle ``at``, with ``length`` payload flits.

    ``after``: numbers of earlier messages; the message waits until its source has noted their receipts. With ``after``,
    a message is created when its source has noted the last of the awaited receipts, but not before cycle ``at``.
    """

    at: int
    source: int
    destinations: tuple[int, ...]
    length: int
    after: tuple[int, ...] = ()


def make_host(network: Network, messages: Sequence[Message], worms: Worms, *, stall: float = 0.0,
              seed: int = 0) -> Host:
    """Lay out the program that sends the worms of a list of messages; see `lay_out` and `MovingHost.wait_for`."""
    at = np.array([message.at for message in messages], np.int64)
    length = np.array([message.length for message in messages], np.int64)
    moving = MovingHost(lay_out(network, at, length, worms, stall=stall, seed=seed))
    waits = [(number, other) for number, message in enumerate(messages) for other in message.after]
    if waits:
        moving.wait_for(worms.message_offsets[:-1], *np.array(waits, np.int64).T)
    return moving.host
