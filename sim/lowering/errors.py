"""The one error of the lowering."""

from wormcast.algorithms.errors import WormcastError

__all__ = ["LoweringError"]


class LoweringError(WormcastError):
    """A component, or a request about a kernel, that the lowering refuses; the sentence says why."""
