"""What a switch asks of a header decoder."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from amaranth.hdl import Module, Value

__all__ = ["Decoder", "Request"]


@dataclass(frozen=True)
class Request:
    """What the first header flit of a worm asks of a switch, as hardware values.

    Attributes
    ----------
    all_of : Value
        Mask over the switch's outputs, the ejection port included: a copy goes to each of them. The ejection
        port's consumption channel is reserved before any other output is asked for.
    strip : Value
        The flit held nothing but the own address: it leaves the buffer with the reservation and goes nowhere;
        the flit behind it says how the worm goes on.
    """

    all_of: Value
    strip: Value


class Decoder(ABC):
    """Turns header flits into requests, once, on the buffer's write side.

    One instance serves a whole switch. The request is stored in the buffer as a *code* of few bits beside each
    header flit (`code_width`), made by `decode` on arrival and turned back by `request` when read.

    Attributes
    ----------
    ports : tuple of str
        Names of the switch's ports, inputs and outputs alike.
    ejection : int
        The port whose output leads to the node.
    straps : dict of str to int
        Static inputs of the switch (coordinates, ids), and their widths in bits.
    classes : int
        Consumption classes; 1 where every worm may take any consumption channel.
    """

    ports: tuple[str, ...]
    ejection: int
    straps: dict[str, int]
    classes: int

    @abstractmethod
    def reaches(self, port: int) -> list[int]:
        """Outputs other than the ejection port that a worm from input ``port`` may go on to."""

    @abstractmethod
    def delivers(self, port: int) -> bool:
        """Whether a worm from input ``port`` can have this node among its destinations."""

    @abstractmethod
    def code_width(self, port: int) -> int:
        """Bits that `decode` stores with a header flit of input ``port``."""

    @abstractmethod
    def decode(self, m: Module, port: int, straps: dict[str, Value], data: Value, first: Value):
        """Decode a header flit as it arrives.

        ``data`` is the flit's data, ``first`` says that it is the first of what is left of its worm. Returns
        ``(code, rewritten data, strip)``; a header flit that is not the first gets a code that asks for nothing.
        """

    @abstractmethod
    def request(self, port: int, code: Value) -> Request:
        """Turn a stored code back into the request."""

    @abstractmethod
    def consumption_class(self, port: int, straps: dict[str, Value]) -> Value:
        """The consumption class of a worm that arrives by input ``port``."""
