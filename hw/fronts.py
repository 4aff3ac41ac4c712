"""Which kind of front an input has."""

from .deep.front import DeepFront
from .deep.switch_spec import DeepSwitchSpec
from .front import Front, PathFront
from .switch_spec import SwitchSpec
from .tree.front import TreeFront

__all__ = ["front_of"]


def front_of(router: SwitchSpec, port: int, vc: int) -> Front:
    """The front of a virtual channel of an input of a router."""
    if isinstance(router, DeepSwitchSpec):
        return DeepFront(router, port, vc)
    return (TreeFront if router.copies else PathFront)(router, port, vc)
