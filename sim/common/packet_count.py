"""How many packets a message is sent in."""

from typing import Any

__all__ = ["packets_of"]


def packets_of(length: Any, packet: int) -> Any:
    """Count the packets of a message of so many payload flits, at least 1, or of each of an array.

    Parameters
    ----------
    packet : int
        Payload flits of a packet; 0: messages are sent whole.
    """
    return -(-length // (packet or length))
