"""Resources that worms hold and wait for: registers of probes, and names of resources."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.channels import Resource
from wormcast.hw.input_probe import TOKEN, InputProbe

from ..build.network import Network

__all__ = ["Channel", "Registers", "resource", "wanted"]

Values = npt.NDArray[np.int64]

Channel = tuple[int, int, int]
"""Input virtual channel: switch, number of the input, virtual channel."""


class Registers:
    """Registers of all routers of a kind, by name, for a probe: each read once, and 0 if the routers lack it."""

    def __init__(self, probe: InputProbe, read: Callable[[str], Values]):
        self._probe, self._read = probe, read
        self._known: dict[str, Values] = {}

    def __call__(self, name: str) -> Values:
        """Return the values of a register."""
        if name not in self._known:
            register = self._probe.register(name)
            # a missing register gets zeros in the shape of the register ``frame``
            found = self._read(register or self._probe.frame)
            self._known[name] = found if register else np.zeros_like(found)
        return self._known[name]


def resource(network: Network, switch: int, output: int, vc: int) -> str:
    """Return the name, as in JSON, of a virtual channel of an output, or of the token of the switch's group."""
    if (output, vc) == TOKEN:
        return str(Resource.token(*network.ring_of(switch)))
    link = network.fabric.links[network.fabric.out_of[switch, output]]
    if link.node is not None:
        return str(Resource.cons(link.node, link.first + vc))
    return f"{link.name}:{vc}"


def wanted(network: Network, channel: Channel, code: int) -> list[list[tuple[int, int]]]:
    """Return the waits of the worm at a front, decoded by `InputProbe.wants` from a code of `InputProbe.waiting`."""
    switch, port, vc = channel

    def mask(output: int, onward: int | None, ends_here: bool) -> int:
        return network.consumption_mask(switch, port, vc, onward, ends_here)

    return network.probe(network.home(switch).kind, port, vc).wants(code, mask)
