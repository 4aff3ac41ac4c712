"""What a component's links carry: which channels, and how many credits for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from amaranth.lib import wiring

from wormcast.algorithms import ConsumptionClasses
from wormcast.hw.deep.input_unit import DeepInput
from wormcast.hw.input_unit import InputUnit
from wormcast.hw.interface import HOST_DEPTH, Consumption, Injection, NetworkInterface
from wormcast.hw.interface.smart import ChildTable, Forwarding
from wormcast.hw.output_unit import OutputUnit
from wormcast.hw.port import PortSpec
from wormcast.hw.switch import Switch
from wormcast.hw.tree import TreeInput

from ...common.text import count

__all__ = ["CONSUMPTION", "ComponentLink", "channel_classes", "links"]

CONSUMPTION = "consumption channel"


@dataclass(frozen=True)
class ComponentLink:
    """One link of a component.

    Parameters
    ----------
    depth : int
        Flits of buffer for each channel at the receiving end.
    channel : str
        What its channels are: virtual channels, or the node's consumption channels.
    chunk : int
        Flits that a credit stands for.
    """

    depth: int
    channel: str = "virtual channel"
    chunk: int = 1

    def credits(self, *, inward: bool, vcs: int) -> str:
        """Say what both ends must agree on, of a link with so many channels."""
        flits, credits = count(self.depth, "flit"), count(self.depth // self.chunk, "credit")
        per, each = (f" per {self.channel}", " for each") if vcs > 1 else ("", "")
        chunks = f", one for a chunk of {self.chunk} flits" if self.chunk > 1 else ""
        if inward:
            return f"{flits} of buffer{per} here: its sender starts with {credits}{each}{chunks}."
        return f"The receiver must have {flits} of buffer{per}: this side starts with {credits}{each}{chunks}."


#: A child table takes a flit in every cycle.
TABLE = ComponentLink(HOST_DEPTH)


def _of_port(port: PortSpec) -> ComponentLink:
    return ComponentLink(port.depth, chunk=port.chunk)


def links(component: wiring.Component) -> dict[str, ComponentLink]:
    """Links of a component by their names; none for a component without."""
    return dict(_links(component))


def _links(component: wiring.Component) -> Iterator[tuple[str, ComponentLink]]:
    match component:
        case Switch():
            yield from ((f"{port.name}_in", _of_port(port)) for port in component.inputs)
            yield from ((f"{port.name}_out", _of_port(port))
                        for port in component.outputs[:component.ejection])
            to_node = ComponentLink(component.outputs[-1].depth, CONSUMPTION)
            yield from ((f"{name}_out", to_node) for name in component.consumption_ports)
        case InputUnit() | TreeInput() | DeepInput():
            yield "link", _of_port(component.spec)
        case OutputUnit():
            port = component.port
            link = ComponentLink(port.depth, CONSUMPTION) if port.to_node else _of_port(port)
            yield from ((component.member("link", k), link) for k in range(port.vcs if component.separate else 1))
        case Injection():
            yield "host", ComponentLink(component.queue)
            yield "network", _of_port(component.port)
        case Consumption():
            yield "network", ComponentLink(component.port.depth, CONSUMPTION)
            yield "host", ComponentLink(HOST_DEPTH, CONSUMPTION)
        case ChildTable():
            yield "link", TABLE
        case Forwarding():
            yield "table", TABLE
        case NetworkInterface():
            if component.smart:
                yield "table_in", TABLE
            for p, injection in enumerate(component.injections):
                inner = links(injection)
                yield from ((f"host_in_{p}", inner["host"]), (f"network_out_{p}", inner["network"]))
            for c, part in enumerate(component.consumptions):
                inner = links(part)
                yield from ((f"network_in_{c}", inner["network"]), (f"host_out_{c}", inner["host"]))


def channel_classes(classes: ConsumptionClasses, channels: int) -> Iterator[str]:
    """Directions that each consumption channel serves, as in `Switch.consumption_masks`; ``any`` beyond the classes."""
    for channel in range(channels):
        yield ", ".join(chain(*classes.networks[channel::channels])) or "any"
