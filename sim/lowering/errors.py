"""Error of the lowering."""

from wormcast.algorithms.errors import WormcastError

__all__ = ["LoweringError"]


class LoweringError(WormcastError):
    """Component, or request about a kernel, that cannot be lowered. The message gives the reason."""
