"""What the registers of a router's input virtual channel say of the worm at its front: what it has and waits for.

They are handed over as a function from a register's name to its value, or to an array of its values over many routers
and cycles.
"""

from collections.abc import Callable
from typing import Any

from wormcast.hw.buffer import ReplicationBuffer

from ..build.network import Network

__all__ = ["Channel", "Of", "consumes", "output_of", "owns_link", "register_of", "resource", "unread", "wanted",
           "wants_link"]

Channel = tuple[int, int, int]
"""An input virtual channel: router, port, virtual channel."""

Of = Callable[[str], Any]

#: Registers of an input virtual channel whose worms may stop here; a node's own worms do not.
OF_STOPS = {"here", "ends_here", "wants_consumption", "consumption_vc", "done_0", "done_1"}


def register_of(network: Network, port: int, vc: int, name: str) -> str | None:
    """Name of a router's register that belongs to an input virtual channel; None if it is built without, and says 0."""
    configuration = network.configuration
    # one virtual channel needs no number, a single reader no mark of being through
    lacking = {"link_vc": configuration.vcs == 1, "consumption_vc": configuration.consumption == 1,
               "done_0": configuration.readers != "independent", "done_1": configuration.readers != "independent"}
    if lacking.get(name) or (port >= len(network.router_outputs) and name in OF_STOPS):
        return None
    return f"{network.router_inputs[port]}_input.channel_{vc}.{name}"


def unread(network: Network, port: int, vc: int, read: Callable[[str], Any]) -> list[Any]:
    """Flits stored that each reader of an input virtual channel's buffer has before it.

    Parameters
    ----------
    read : callable
        Name of a router's register -> its value, or an array of values.
    """
    depth, prefix = network.configuration.buffer, f"{network.router_inputs[port]}_input.buffer.vc{vc}_"
    readers = 2 if network.configuration.readers == "independent" and port < len(network.router_outputs) else 1

    def position(name: str) -> Any:
        return 0 if depth == 1 else read(prefix + name)  # with room for one flit there is no register of it

    return [ReplicationBuffer.stored(position("write_at"), position(f"read{r}_at"), read(f"{prefix}filled{r}"), depth)
            for r in range(readers)]


def consumes(of: Of) -> Any:
    """Whether the worm holds a consumption channel."""
    # of two readers the second one may be through with it before the worm is gone
    return (of("here") != 0) & (of("wants_consumption") == 0) & (of("done_1") == 0)


def owns_link(of: Of) -> Any:
    """Whether the worm owns a virtual channel of its link."""
    # and so may the first one with the link
    return (of("owns_link") != 0) & (of("done_0") == 0)


def wants_link(of: Of) -> Any:
    """Whether the worm waits for a virtual channel of its link; a consumption channel comes first."""
    return (of("links") != 0) & (of("owns_link") == 0) & (of("wants_consumption") == 0)


def output_of(network: Network, port: int, links: int) -> int | None:
    """The output to another router that the register ``links`` of an input says; None if it says none."""
    return next((output for bit, output in enumerate(network.reaches(port)) if links >> bit & 1), None)


def wanted(network: Network, channel: Channel, of: Of) -> tuple[int, list[int]] | None:
    """An output, and those of its virtual channels of which the worm waits for any; None if it waits for none.

    The output behind all those to other routers has the consumption channels.
    """
    router, port, _ = channel
    output = output_of(network, port, of("links"))
    if of("wants_consumption"):
        mask = network.consumption_mask(router, port, output, bool(of("ends_here")))
        channels = range(network.configuration.consumption)
        return len(network.router_outputs), [channel for channel in channels if mask >> channel & 1]
    if output is None or not wants_link(of):
        return None
    return output, list(range(network.configuration.vcs))


def resource(network: Network, router: int, output: int, vc: int) -> str:
    """Name of a virtual channel of an output, or of a consumption channel, as in JSON."""
    if output == len(network.router_outputs):
        return f"cons:{router}:{vc}"
    return f"link:{router}>{network.topology.neighbours[router, output]}:{vc}"
