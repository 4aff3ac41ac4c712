"""Contents of a buffer, by the positions in its registers; this module needs no Amaranth."""

__all__ = ["fill_level"]


def fill_level(write_at: int, read_at: int, filled: int, depth: int) -> int:
    """Return the flits that a reader of a `ReplicationBuffer` has before it, of one virtual channel.

    Parameters
    ----------
    write_at, read_at : int or array of int
        The two positions; 0 where there is room for one flit and no register.
    filled : int or array of int
        The last change filled the buffer.
    depth : int
    """
    found = (write_at - read_at) % depth
    return found + (found == 0) * depth * filled
