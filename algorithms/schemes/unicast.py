"""What the schemes of unicasts have in common."""

import numpy as np
import numpy.typing as npt

from ..consumption import ConsumptionClasses
from ..headers import Unicast
from ..routing import E_CUBE, Relation
from ..topologies.base import Topology
from .base import Scheme

__all__ = ["UnicastScheme"]


class UnicastScheme(Scheme):
    """A scheme whose worms have one destination each."""

    relation: Relation = E_CUBE
    header = Unicast

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """No class: a unicast stops nowhere on its way."""
        return ConsumptionClasses()

    def legs(self, topology: Topology) -> npt.NDArray[np.int32]:
        """No legs, for the same reason."""
        return np.empty((0, 3), np.int32)
