"""Number of packets of a message."""

from typing import Any

__all__ = ["packets_of"]


def packets_of(length: Any, packet: int) -> Any:
    """Return the number of packets of a message.

    Parameters
    ----------
    length : int or array of int
        Payload flits of the message, at least 1.
    packet : int
        Payload flits of a packet; 0: messages are sent whole.
    """
    return -(-length // (packet or length))
