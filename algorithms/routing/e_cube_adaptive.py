"""Adaptive routing with e-cube's virtual channels in the last dimension."""

from .adaptive import Adaptive

__all__ = ["E_CUBE_ADAPTIVE"]


class ECubeAdaptive(Adaptive):
    """As adaptive, but only e-cube's channels when one dimension is left, as is so before each destination.

    Worms arrive at their stops by these channels. They are adaptive only where there are several paths: from the
    source, or the last destination in its row, to the first destination in a column.
    Source: [Boppana98], section 3.2.1.
    """

    name = "e-cube-adaptive"
    description = "as adaptive; in the last dimension left e-cube's virtual channels alone, so also into destinations"
    stops_by_escape = True


E_CUBE_ADAPTIVE = ECubeAdaptive()
