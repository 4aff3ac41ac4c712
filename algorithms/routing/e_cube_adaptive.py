"""Adaptive routing with e-cube's virtual channels in the last dimension."""

from .adaptive import Adaptive

__all__ = ["E_CUBE_ADAPTIVE"]


class ECubeAdaptive(Adaptive):
    """As adaptive, but only e-cube's channels when one dimension is left, which is always the case before a
    destination.

    Worms arrive at their stops by e-cube's channels. Worms of column-path and e-mcast have a choice only on the way
    from the source, or from the last destination in its row, to the first destination in a column.
    Source: [Boppana98], section 3.2.1.
    """

    name = "e-cube-adaptive"
    description = "as adaptive, but only e-cube's virtual channels when one dimension is left"
    stops_by_escape = True


E_CUBE_ADAPTIVE = ECubeAdaptive()
