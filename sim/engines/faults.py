"""Errors on the wire that the components of a network have found."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wormcast.hw.faults import Cause

from .bulk import BulkEngine

__all__ = ["Fault", "find_faults"]


@dataclass(frozen=True)
class Fault:
    """The first error that a router or a network interface has found.

    Parameters
    ----------
    component : str
        "router" or "interface".
    node : int
    port : str
        The link where it was seen: an input's, for a credit an output's.
    vc : int
    cause : str
        As in `Cause`, in words: "wrong order".
    """

    component: str
    node: int
    port: str
    vc: int
    cause: str

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return asdict(self)


def find_faults(engine: BulkEngine) -> tuple[Fault, ...]:
    """Read what has been latched: first the routers', then the interfaces', each in the order of their nodes."""
    faults = []
    for kind, block in engine.blocks.items():
        latched = block.output("fault")[:block.n]
        if not latched.any():
            continue
        component = engine.network.components[kind]
        layout = component.fault_layout
        for node in np.flatnonzero(latched):
            fault = int(latched[node])
            number, port, vc = (fault >> layout[name].offset & (1 << layout[name].width) - 1
                                for name in ("cause", "port", "vc"))
            cause = Cause(number)
            faults.append(Fault(kind, int(node), component.fault_port(cause, port), vc,
                                cause.name.lower().replace("_", " ")))
    return tuple(faults)
