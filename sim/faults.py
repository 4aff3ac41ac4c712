"""Errors on the wire that the routers of a network have found."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wormcast.hw.faults import Cause

from .engines.bulk import BulkEngine

__all__ = ["Fault", "find_faults"]


@dataclass(frozen=True)
class Fault:
    """The first error that a router has found.

    Parameters
    ----------
    router : int
        The router's node.
    port : str
        The input where it was seen; for a credit the output.
    vc : int
    cause : str
        As in `Cause`, in words: "wrong order".
    """

    router: int
    port: str
    vc: int
    cause: str

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return asdict(self)


def find_faults(engine: BulkEngine) -> tuple[Fault, ...]:
    """Read what the routers have latched, in the order of their nodes."""
    network = engine.network
    inputs, outputs = network.router_inputs, (*network.router_outputs, "local")
    layout = network.fault_layout
    latched = engine.register("router", "first_fault")
    faults = []
    for router in np.flatnonzero(latched):
        fault = int(latched[router])
        cause, port, vc = (fault >> layout[name].offset & (1 << layout[name].width) - 1
                           for name in ("cause", "port", "vc"))
        names = outputs if Cause(cause) is Cause.CREDIT else inputs
        faults.append(Fault(int(router), names[port], vc, Cause(cause).name.lower().replace("_", " ")))
    return tuple(faults)
