"""Adaptive routing with e-cube's virtual channels in the last dimension."""

from .adaptive import Adaptive

__all__ = ["E_CUBE_ADAPTIVE"]


class ECubeAdaptive(Adaptive):
    """As adaptive, but only e-cube's channels when one dimension is left, as it always is before a destination.

    Worms arrive at their stops by e-cube's channels. Worms of column-path and e-mcast have a choice only on their way
    to the first destination in a column. This way begins at the source, or at the last destination in the source's row.
    Source: [Boppana98], section 3.2.1.
    """

    name = "e-cube-adaptive"
    description = "as adaptive, but only e-cube's virtual channels when one dimension is left"
    stops_by_escape = True


E_CUBE_ADAPTIVE = ECubeAdaptive()
