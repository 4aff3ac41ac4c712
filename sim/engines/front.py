"""What worms hold and wait for in a network: registers of many fronts, and names of what they say."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.channels import Resource
from wormcast.hw.front import PathFront

from ..build.network import Network

__all__ = ["Channel", "Registers", "resource", "wanted"]

Values = npt.NDArray[np.int64]

Channel = tuple[int, int, int]
"""An input virtual channel: switch, number of the input, virtual channel."""


class Registers:
    """The registers of the worm at a front in many routers, by name, each read once; 0 where it is built without."""

    def __init__(self, front: PathFront, read: Callable[[str], Values]):
        self._front, self._read = front, read
        self._known: dict[str, Values] = {}

    def __call__(self, name: str) -> Values:
        """Values of a register."""
        if name not in self._known:
            register = self._front.register(name)
            self._known[name] = np.zeros_like(self("owns_link")) if register is None else self._read(register)
        return self._known[name]


def resource(network: Network, switch: int, output: int, vc: int) -> str:
    """Name of a virtual channel of an output, or of a consumption channel, as in JSON."""
    link = network.fabric.links[network.fabric.out_of[switch, output]]
    if link.node is not None:
        return str(Resource.cons(link.node, link.first + vc))
    return f"{link.name}:{vc}"


def wanted(network: Network, channel: Channel, code: int) -> list[list[tuple[int, int]]]:
    """What the worm at a front waits for, of a code that its `PathFront.waiting` gave; see `PathFront.wants`."""
    switch, port, vc = channel

    def mask(output: int, onward: int | None, ends_here: bool) -> int:
        return network.consumption_mask(switch, port, vc, onward, ends_here)

    return network.front(network.home(switch).kind, port, vc).wants(code, mask)
