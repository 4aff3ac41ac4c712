"""Codes of buffered flits without a head mark."""

import enum

__all__ = ["Mark"]


class Mark(enum.Enum):
    """Code of a stored flit without a head mark."""

    PAYLOAD = 0
    TAIL = 1  #: the worm's last flit
    FINAL = 2  #: a header flit of a worm that ends here; coded as a mark, which saves a bit in the code of headers
    CUT = 3  #: the last flit of a worm that an error has cut off
