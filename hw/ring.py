"""Fill level of a buffer, computed from its registers. This module does not import Amaranth."""

__all__ = ["fill_level"]


def fill_level(write_at: int, read_at: int, filled: int, depth: int) -> int:
    """Return the number of flits in a virtual channel that a reader of a `ReplicationBuffer` has not taken.

    Parameters
    ----------
    write_at, read_at : int or array of int
        Write position, and read position of the reader; 0 for a buffer of one flit, which has no position registers.
    filled : int or array of int
        Register ``filled`` of the reader: if the positions are equal, 1 means a full channel, and 0 an empty one.
    depth : int
        Number of flits that the virtual channel's buffer holds.
    """
    found = (write_at - read_at) % depth
    return found + (found == 0) * depth * filled
