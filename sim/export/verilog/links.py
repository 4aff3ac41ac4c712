"""Links of a component: kinds of channels, and credits."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from amaranth.lib import wiring

from wormcast.algorithms import ConsumptionClasses
from wormcast.hw.crossing import DOWNSTREAM, UPSTREAM, ClockCrossing
from wormcast.hw.deep.input_unit import DeepInput
from wormcast.hw.input_unit import InputUnit
from wormcast.hw.interface import HOST_DEPTH, Consumption, Injection, NetworkInterface
from wormcast.hw.interface.smart import ChildTable, Forwarding, ForwardingInterface, RowAdmission
from wormcast.hw.output_unit import OutputUnit
from wormcast.hw.port import PortSpec
from wormcast.hw.streams import AxisInterface, StreamInterface, StreamReceiver, StreamSender
from wormcast.hw.switch import Switch
from wormcast.hw.tree import TreeInput

from ...common.text import count

__all__ = ["CONSUMPTION", "HEADERS", "ComponentLink", "channel_classes", "links"]

CONSUMPTION = "consumption channel"

HEADERS = ("none", "allowed", "needed", "posts", "any", "requests")
"""Header flits at the beginning of worms. ``allowed``: some or none. ``posts``: some, or a flit with both marks, which
begins a posting. ``any``: the link's flits do not form worms. ``requests``: the same, and a flit whose credit does not
come in the next cycle is refused and uses no credit."""


@dataclass(frozen=True)
class ComponentLink:
    """A link of a component.

    Parameters
    ----------
    depth : int
        Buffer at the receiver, in flits per channel.
    channel : str
        Kind of channels: ``virtual channel``, or ``consumption channel``.
    chunk : int
        Flits per credit.
    headers : str
        One of `HEADERS`.
    """

    depth: int
    channel: str = "virtual channel"
    chunk: int = 1
    headers: str = "needed"

    def credits(self, *, inward: bool, vcs: int) -> str:
        """Return a sentence about buffers and credits, which both ends of the link must agree on."""
        flits, credits = count(self.depth, "flit"), count(self.depth // self.chunk, "credit")
        per, each = (f" per {self.channel}", " for each") if vcs > 1 else ("", "")
        chunks = f", one for a chunk of {self.chunk} flits" if self.chunk > 1 else ""
        if inward:
            refused = (" A flit whose credit does not come in the next cycle is refused, and uses no credit."
                       if self.headers == "requests" else "")
            return f"{flits} of buffer{per} here: its sender starts with {credits}{each}{chunks}.{refused}"
        return f"The receiver must have {flits} of buffer{per}: this side starts with {credits}{each}{chunks}."


#: Link of a child table, which accepts a flit in every cycle.
TABLE = ComponentLink(HOST_DEPTH, headers="any")

#: The same with a `RowAdmission`, which refuses rows in use.
REQUESTS = ComponentLink(HOST_DEPTH, headers="requests")


def _of_port(port: PortSpec) -> ComponentLink:
    return ComponentLink(port.depth, chunk=port.chunk)


def links(component: wiring.Component) -> dict[str, ComponentLink]:
    """Return the links of a component by name."""
    return dict(_links(component))


def _links(component: wiring.Component) -> Iterator[tuple[str, ComponentLink]]:
    match component:
        case Switch():
            yield from ((f"{port.name}_in", _of_port(port)) for port in component.inputs)
            yield from ((f"{port.name}_out", _of_port(port))
                        for port in component.outputs[:component.ejection])
            to_node = ComponentLink(component.outputs[-1].depth, CONSUMPTION,
                                    headers="none" if component.ejected_header == "strip" else "allowed")
            yield from ((f"{name}_out", to_node) for name in component.consumption_ports)
        case InputUnit() | TreeInput() | DeepInput():
            yield "link", _of_port(component.spec)
        case ClockCrossing():
            yield from ((name, _of_port(component.port)) for name in (UPSTREAM, DOWNSTREAM))
        case OutputUnit():
            port = component.port
            link = ComponentLink(port.depth, CONSUMPTION, headers="allowed") if port.to_node else _of_port(port)
            yield from ((f"links_{k}", link) for k in range(len(component.links)))
        case Injection():
            yield "host", ComponentLink(component.queue, headers="posts" if component.smart else "needed")
            yield "network", _of_port(component.port)
        case Consumption():
            yield "network", ComponentLink(component.port.depth, CONSUMPTION, headers="allowed")
            yield "host", ComponentLink(HOST_DEPTH, CONSUMPTION, headers="none")
        case ChildTable():
            yield "link", TABLE
        case Forwarding():
            yield "table", TABLE
        case RowAdmission():
            yield "host", REQUESTS
        case StreamInterface() | AxisInterface():
            yield from ((name, link) for name, link in _links(component.interface) if name in component.links)
        case StreamSender():
            yield "host", ComponentLink(component.queue)
        case StreamReceiver():
            yield "host", ComponentLink(HOST_DEPTH, CONSUMPTION)
        case NetworkInterface():
            if isinstance(component, ForwardingInterface):
                yield "table_in", TABLE if component.admission is None else REQUESTS
            for p, injection in enumerate(component.injections):
                inner = links(injection)
                yield from ((f"host_in_{p}", inner["host"]), (f"network_out_{p}", inner["network"]))
            for c, part in enumerate(component.consumptions):
                inner = links(part)
                yield from ((f"network_in_{c}", inner["network"]), (f"host_out_{c}", inner["host"]))


def channel_classes(classes: ConsumptionClasses, channels: int) -> Iterator[str]:
    """Yield the directions that each consumption channel serves, as text; ``any`` for a channel without a class."""
    for channel in range(channels):
        yield ", ".join(chain(*classes.networks[channel::channels])) or "any"
