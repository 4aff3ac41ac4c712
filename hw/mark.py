"""Codes of buffered flits without a head mark."""

import enum

__all__ = ["Mark"]


class Mark(enum.Enum):
    """Code of a stored flit without a head mark."""

    PAYLOAD = 0
    TAIL = 1  #: the worm's last flit
    FINAL = 2  #: header flit of a worm that goes to no further router; as a mark, it saves a bit in headers' codes
    CUT = 3  #: the last flit of a worm that an error has cut off
