"""Adaptive routing with e-cube's virtual channels in the last dimension."""

from .adaptive import Adaptive

__all__ = ["E_CUBE_ADAPTIVE"]


class ECubeAdaptive(Adaptive):
    """The relation adaptive, but with only e-cube's virtual channels when one dimension is left.

    Before a destination one dimension is always left, so that worms arrive at their stops by e-cube's channels. Worms
    of column-path and e-mcast have a choice only on their way to the first destination in a column. The way to the
    first destination in a column begins at the source, or at the last destination in the source's row.
    Source: [Boppana98], section 3.2.1.
    """

    name = "e-cube-adaptive"
    description = "as adaptive, but only e-cube's virtual channels when one dimension is left"
    stops_by_escape = True


E_CUBE_ADAPTIVE = ECubeAdaptive()
