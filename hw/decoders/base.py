"""What a switch asks of a header decoder."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value

from wormcast.algorithms.consumption import NO_CLASS, ConsumptionClasses
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.routing import Routes

from ..kinds import SwitchKind
from ..logic import any_of

__all__ = ["ANY_CHANNEL", "Arrival", "Decoded", "Decoder", "Request"]

ANY_CHANNEL = ConsumptionClasses()

INJECTION = ("one", "all")
EJECTION = ("one", "all")


@dataclass(frozen=True)
class Arrival:
    """A header flit as it arrives, as hardware values.

    Attributes
    ----------
    data : Value
    first : Value
        It is the first header flit of what is left of its worm: the one to be decoded.
    again : Value
        The flit before it was used up at this very switch.
    """

    data: Value
    first: Value
    again: Value


@dataclass(frozen=True)
class Decoded:
    """What a decoder makes of an arriving header flit, as hardware values.

    Attributes
    ----------
    code : Value
        The request, in the few bits that are stored with the flit.
    data : Value
        The flit as it is stored and sent on: without the own address.
    strip : Value
        The flit held nothing but the own address: it leaves the buffer with the reservation and goes nowhere;
        the flit behind it says how the worm goes on.
    ends_here : Value
        Likewise, but this is the worm's last destination.
    last : Value
        No header flit follows, whether this one is the first or not.
    outside, disorder : Value
        The next destination does not exist, or must not be next. The worm goes no further.
    """

    code: Value
    data: Value
    strip: Value
    ends_here: Value
    last: Value
    outside: Value
    disorder: Value


@dataclass(frozen=True)
class Request:
    """What a stored header flit asks of a switch, as hardware values.

    Attributes
    ----------
    all_of : Value
        Mask over the switch's outputs, the ejection port included: a copy goes to each of them. The ejection
        port's consumption channel is reserved before any other output is asked for.
    nothing : Value
        The flit asks for nothing: it is not the first of its worm's, or leads nowhere.
    """

    all_of: Value
    nothing: Value


class Decoder(ABC):
    """Turns header flits into requests, once, on the buffer's write side.

    One instance serves a whole switch. The request is stored in the buffer as a *code* of few bits beside each
    header flit (`code_width`), made by `decode` on arrival and turned back by `request` when read.

    Parameters
    ----------
    network : sequence of str
        Names of the ports to other switches.
    injection : "one" or "all"
        One injection port, or one for each port to another switch.
    consumption : ConsumptionClasses
        Which consumption channels a worm may reserve.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of the ports: those of the network, in both, and then the node's: injection, ejection.
    ejection : int
        The output that leads to the node.
    straps : dict of str to int
        Static inputs of the switch (coordinates, ids), and their widths in bits.
    """

    straps: dict[str, int]

    def __init__(self, network: Sequence[str], *, injection: str, consumption: ConsumptionClasses):
        if injection not in INJECTION:
            raise WormcastError(f"decoder.injection: {injection!r} is given, allowed are {', '.join(INJECTION)}")
        self.injection = injection
        self.consumption = consumption
        self.outputs = (*network, "local")
        self.inputs = (*network, *self.injection_ports)
        self.ejection = len(network)

    @property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of the inputs from the node; with ``all`` the k-th leads to the k-th output alone."""
        if self.injection == "one":
            return ("local",)
        return tuple(f"local_{name}" for name in self.outputs[:-1])

    def delivers(self, port: int) -> bool:
        """Whether a worm from input ``port`` can have this node among its destinations."""
        return port < self.ejection

    def reaches(self, port: int) -> list[int]:
        """Outputs other than the ejection port that a worm from input ``port`` may go on to."""
        if port >= self.ejection and self.injection == "all":
            return [port - self.ejection]
        return [o for o in range(self.ejection) if o != port and self.turns(port, o)]

    def turns(self, port: int, output: int) -> bool:
        """Whether some worm may go from input ``port`` to another switch's ``output``."""
        return True

    @abstractmethod
    def strap_values(self, routes: Routes, kind: SwitchKind) -> dict[str, list[int]]:
        """Values of the straps of a kind's members; refuses routes that the decoder is not built for."""

    @abstractmethod
    def decode(self, m: Module, port: int, straps: dict[str, Value], arrival: Arrival) -> Decoded:
        """Decode a header flit as it arrives; one that is not the first gets a code that asks for nothing."""

    def code_width(self, port: int) -> int:
        """Bits that are stored with a header flit of input ``port``: the output's index, and "here"."""
        return len(self.reaches(port)).bit_length() + self.delivers(port)

    def encode(self, m: Module, port: int, going: dict[int, Value], here: Value) -> Value:
        """Make the code of a request: ``going`` is one-hot over the outputs that the port reaches."""
        options = self.reaches(port)
        none = len(options)
        # one-hot to index, and `none` for none of them
        index = Signal(range(none + 1), name="direction_index")
        m.d.comb += index.eq(none ^ any_of([Mux(going[o], none ^ i, 0) for i, o in enumerate(options)]))
        return Cat(index, here) if self.delivers(port) else index

    def request(self, port: int, code: Value) -> Request:
        """Turn a stored code back into the request."""
        options = self.reaches(port)
        index = code[: len(options).bit_length()]
        going = {o: index == i for i, o in enumerate(options)}
        here = code[len(options).bit_length()] if self.delivers(port) else C(0)
        masks = [here if o == self.ejection else going.get(o, C(0)) for o in range(len(self.outputs))]
        return Request(all_of=Cat(masks), nothing=(index == len(options)) & ~here)

    @abstractmethod
    def hop_class(self, output: int, straps: dict[str, Value], *, into: bool) -> list[tuple[Value, int]]:
        """Class of a hop by a network port: alternatives (condition, class), ``NO_CLASS`` where it has none.

        ``into`` is False for the hop that leaves by the output, True for the one that came in by the input of
        the same number. The conditions hold one at a time.
        """

    def consumption_class(self, port: int, straps: dict[str, Value], links: Value) -> Value:
        """The class of the worm that came by input ``port`` and goes on to ``links`` (a bit for each that it reaches).

        Where none is defined, a number behind the classes: any channel will do.
        """
        free = len(self.consumption)
        if not self.delivers(port) or not free:
            return C(free, free.bit_length())
        last = self.hop_class(port, straps, into=True)
        cases = []
        if self.consumption.by == "next":
            for i, output in enumerate(self.reaches(port)):
                for condition, k in self.hop_class(output, straps, into=False):
                    leaves = links[i] & condition
                    cases += [(leaves & was, was_class if k == NO_CLASS else k) for was, was_class in last]
            cases += [(~links.any() & was, k) for was, k in last]
        else:
            cases = last
        named = {free if k == NO_CLASS else k for _, k in cases}
        bits = max(named).bit_length()
        if len(named) == 1:
            return C(named.pop(), bits)
        return any_of([Mux(condition, C(free if k == NO_CLASS else k, bits), 0) for condition, k in cases])
