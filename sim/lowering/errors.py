"""Error of the lowering."""

from wormcast.algorithms.errors import WormcastError

__all__ = ["LoweringError"]


class LoweringError(WormcastError):
    """A component cannot be lowered, or a kernel does not have what is requested. The message gives the reason."""
