"""Adaptive where there are several ways, and by e-cube's virtual channels to each destination."""

from .adaptive import Adaptive

__all__ = ["E_CUBE_ADAPTIVE"]


class ECubeAdaptive(Adaptive):
    """As adaptive; where a single dimension is left, which is so before each destination, e-cube's channels alone.

    Worms come to their stops by these channels, and are adaptive only where there are ways to choose from: from the
    source, or the last destination in its row, to the first one in a column. Source: [Boppana98], section 3.2.1.
    """

    name = "e-cube-adaptive"
    description = "as adaptive; in the last dimension left e-cube's virtual channels alone, so also into destinations"
    stops_by_escape = True


E_CUBE_ADAPTIVE = ECubeAdaptive()
