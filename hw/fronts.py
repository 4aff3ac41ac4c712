"""Choice of the class that decodes an input's registers."""

from .deep.front import DeepFront
from .deep.switch_spec import DeepSwitchSpec
from .front import Front, PathFront
from .switch_spec import SwitchSpec
from .tree.front import TreeFront

__all__ = ["front_of"]


def front_of(router: SwitchSpec, port: int, vc: int) -> Front:
    """Return the decoder of the registers of a virtual channel of a router's input."""
    if isinstance(router, DeepSwitchSpec):
        return DeepFront(router, port, vc)
    return (TreeFront if router.copies else PathFront)(router, port, vc)
