"""Names of what worms hold and wait for in a network, by the outputs and virtual channels of its switches."""

from wormcast.algorithms.channels import Resource

from ..build.network import Network

__all__ = ["Channel", "resource", "wanted"]

Channel = tuple[int, int, int]
"""An input virtual channel: switch, number of the input, virtual channel."""


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
        return network.consumption_mask(switch, port, onward, ends_here)

    return network.front(network.home(switch).kind, port, vc).wants(code, mask)
