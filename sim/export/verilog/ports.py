"""Ports of a component with their names in Verilog."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from wormcast.hw.crossing import DOWNSTREAM, UPSTREAM, ClockCrossing

from .verilog_names import plain

__all__ = ["ComponentPort", "domains", "ports"]


@dataclass(frozen=True)
class ComponentPort:
    """A port of a component.

    Parameters
    ----------
    path : tuple of str
        Name of the member of the component's signature; for a link, also the name of the link's member.
    inward : bool
    shape : Any
        Shape of the member: a width, a layout, an enumeration.
    value : Value
    """

    path: tuple[str, ...]
    inward: bool
    shape: Any
    value: Value

    @property
    def name(self) -> str:
        """Name in Verilog: ``local_in_flit`` is the flit of link ``local_in``; a keyword has ``_`` at its end."""
        return plain("_".join(self.path))

    @property
    def bundle(self) -> str:
        """Name in Verilog of the bundle or link that the port belongs to, or else the port's own name."""
        return "_".join(self.path[:-1] or self.path)

    @property
    def width(self) -> int:
        """Width in bits."""
        return len(self.value)


def domains(component: wiring.Component) -> tuple[str, ...]:
    """Return the prefixes of the names of a component's clocks and resets, ``clk`` and ``rst``."""
    return (f"{UPSTREAM}_", f"{DOWNSTREAM}_") if isinstance(component, ClockCrossing) else ("",)


def ports(component: wiring.Component) -> Iterator[ComponentPort]:
    """Yield the ports in the order of the signature, except those without bits."""
    for path, member, value in component.signature.flatten(component):
        cast = Value.cast(value)
        if len(cast):
            yield ComponentPort(tuple(map(str, path)), member.flow is In, member.shape, cast)
