"""Codes of buffered flits that are no header flits."""

import enum

__all__ = ["Mark"]


class Mark(enum.Enum):
    """What the code of a row without a head mark says."""

    PAYLOAD = 0
    TAIL = 1  #: the worm's last flit
    FINAL = 2  #: a header flit that says no more than that the worm ends here; a header's code would need a bit for it
    CUT = 3  #: a tail that an error has made
