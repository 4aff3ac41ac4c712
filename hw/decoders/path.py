"""Decoders of worms that take one way: a header flit becomes a request for one link, a consumption channel, or both."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wormcast.algorithms.consumption import NO_CLASS, ConsumptionClasses

from .. import hdl
from ..logic import any_of
from ..router_kind import SwitchKind
from .base import ANY_CHANNEL, Decoder

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value

__all__ = ["Arrival", "Decoded", "PathDecoder", "Request"]


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
    taken : Value
        It is the first one, and is stored: the next one is of another worm.
    """

    data: Value
    first: Value
    again: Value
    taken: Value = field(default_factory=lambda: hdl.C(0))


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
    exit : Value
        With ``ends_here``: by which of the port's exits, in their order; of no bits where there is but one.
    """

    code: Value
    data: Value
    strip: Value
    ends_here: Value
    last: Value
    outside: Value
    disorder: Value
    exit: Value = field(default_factory=lambda: hdl.C(0, 0))


@dataclass(frozen=True)
class Request:
    """What a stored header flit asks of a switch, as hardware values.

    Attributes
    ----------
    all_of : Value
        Mask over the switch's outputs, the port's exit included: a copy goes to each of them. The exit's consumption
        channel is reserved before any other output is asked for.
    targets : Value
        The same of the outputs to other switches, with the class of virtual channels: a mask over
        `PathDecoder.targets`. Of an adaptive decoder's one will do, and ``all_of`` has all that are possible.
    nothing : Value
        The flit asks for nothing: it is not the first of its worm's, or leads nowhere.
    """

    all_of: Value
    targets: Value
    nothing: Value


class PathDecoder(Decoder):
    """Turns header flits into requests, once, on the buffer's write side.

    The request is stored in the buffer as a *code* of few bits beside each header flit (`code_width`), made by `decode`
    on arrival and turned back by `request` when read.

    Parameters
    ----------
    kind, injection, ejection, consumption, vc_classes
        As of `Decoder`.
    adaptive : bool
        A request is for any one of several outputs.
    preferred : tuple of int
        With a choice: the classes in the order in which they are taken, where several are free.
    enters_empty : bool
        As `Decoder` has it.
    """

    def __init__(self, kind: SwitchKind, *, injection: str = "one", ejection: str = "one",
                 consumption: ConsumptionClasses = ANY_CHANNEL, vc_classes: int = 1, adaptive: bool = False,
                 preferred: tuple[int, ...] = (), enters_empty: bool = False):
        super().__init__(kind, injection=injection, ejection=ejection, consumption=consumption, vc_classes=vc_classes)
        self.adaptive = adaptive
        self.preferred = preferred or tuple(range(vc_classes))
        self.enters_empty = enters_empty

    def targets(self, port: int) -> list[tuple[int, int]]:
        """What a worm from input ``port`` may ask of the links, output and VC class, in the order of preference."""
        if self.adaptive:
            return [(o, k) for k in self.preferred for o in self.reaches(port)]
        return [(o, k) for o in self.reaches(port) for k in range(self.vc_classes)]

    @abstractmethod
    def decode(self, m: Module, port: int, straps: dict[str, Value], arrival: Arrival) -> Decoded:
        """Decode a header flit as it arrives; one that is not the first gets a code that asks for nothing."""

    def code_width(self, port: int) -> int:
        """Bits that are stored with a header flit of input ``port``: what `encode` and `request` say to each other."""
        return self._target_bits(port) + self._here_bits(port)

    def _target_bits(self, port: int) -> int:
        """The target's index; with a choice a bit for each."""
        targets = len(self.targets(port))
        return targets if self.adaptive else targets.bit_length()

    def _here_bits(self, port: int) -> int:
        """A bit for a copy to the only exit. Where there are several, a worm that takes one ends there."""
        return int(len(self._exits[port]) == 1)

    def encode(self, m: Module, port: int, going: dict[tuple[int, int], Value], here: Value) -> Value:
        """Make the code of a request.

        Parameters
        ----------
        going : dict of (output, class) to Value
            The port's targets, those that are missing are not asked for: one, or with a choice any number.
        here : Value
            A copy stays, and the worm goes on.
        """
        options = self.targets(port)
        none = len(options)
        if self.adaptive:
            code: Value = hdl.Cat(going.get(target, hdl.C(0)) for target in options)
        else:
            # one-hot to index, and `none` for none of them
            code = hdl.Signal(range(none + 1), name="direction_index")
            m.d.comb += code.eq(none ^ any_of([hdl.Mux(going[target], none ^ i, 0) for i, target in enumerate(options)
                                               if target in going]))
        return hdl.Cat(code, here) if self._here_bits(port) else code

    def request(self, port: int, code: Value) -> Request:
        """Turn a stored code back into the request."""
        options, bits = self.targets(port), self._target_bits(port)
        stored = code[:bits]
        asked = [stored[i] if self.adaptive else stored == i for i in range(len(options))]
        nowhere = ~stored.any() if self.adaptive else stored == len(options)
        here = code[bits] if self._here_bits(port) else hdl.C(0)
        exits = self._exits[port]
        masks = []
        for o in range(len(self.outputs)):
            ways = [asked[i] for i, (output, _) in enumerate(options) if output == o]
            if exits[:1] == [o]:
                masks.append(here)
            else:
                masks.append(ways[0] if len(ways) == 1 else any_of(ways))
        return Request(all_of=hdl.Cat(masks), targets=hdl.Cat(asked), nothing=nowhere & ~here)

    @abstractmethod
    def hop_class(self, output: int, straps: dict[str, Value], *, into: bool,
                  vc_class: int | None = None) -> list[tuple[Value, int]]:
        """Class of a hop by a network port: alternatives (condition, class), ``NO_CLASS`` where it has none.

        ``into`` is False for the hop that leaves by the output, True for the one that came in by the input of
        the same number, where these lead to one neighbour. The conditions hold one at a time. Of virtual channels of
        the class ``vc_class``; None where the classes of consumption channels tell none apart.
        """

    def onward(self, port: int, request: Request) -> Value:
        """The hop that decides a class: a bit for each output that input ``port`` reaches, at most one of them set.

        With a choice that of the class of virtual channels that is taken last.
        """
        if not self.adaptive:
            return hdl.Cat(request.all_of[o] for o in self.reaches(port))
        targets = self.targets(port)
        return hdl.Cat(request.targets[targets.index((o, self.preferred[-1]))] for o in self.reaches(port))

    def consumption_class(self, port: int, straps: dict[str, Value], links: Value,
                          vc_class: int | None = None) -> Value:
        """The class of the worm that came by input ``port`` and goes on to ``links`` (as `onward` has them).

        Where none is defined, a number behind the classes: any channel will do. ``vc_class`` is that of the virtual
        channel by which it came, where it matters.
        """
        free = len(self.consumption)
        if not self.delivers(port) or not free:
            return hdl.C(free, free.bit_length())
        last = self.hop_class(port, straps, into=True, vc_class=vc_class)
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
            return hdl.C(named.pop(), bits)
        return any_of([hdl.Mux(condition, hdl.C(free if k == NO_CLASS else k, bits), 0) for condition, k in cases])
