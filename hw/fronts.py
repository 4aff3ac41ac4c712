"""Which kind of front an input has."""

from .deep import DeepSwitch
from .deep.front import DeepFront
from .front import Front, PathFront
from .switch import Switch
from .tree.front import TreeFront

__all__ = ["front_of"]


def front_of(router: Switch, port: int, vc: int) -> Front:
    """The front of a virtual channel of an input of a router."""
    if isinstance(router, DeepSwitch):
        return DeepFront(router, port, vc)
    return (TreeFront if router.copies else PathFront)(router, port, vc)
