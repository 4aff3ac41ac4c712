"""What a switch asks of a header decoder."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from wormcast.algorithms.consumption import NO_CLASS, ConsumptionClasses
from wormcast.algorithms.ejection import EJECTION
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.routing import Routes

from ..kinds import SwitchKind
from ..logic import any_of

__all__ = ["ANY_CHANNEL", "Arrival", "Decoded", "Decoder", "Request"]

ANY_CHANNEL = ConsumptionClasses()

INJECTION = ("one", "all")


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
    exit: Value = field(default_factory=lambda: C(0, 0))


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
        `Decoder.targets`. Of an adaptive decoder's one will do, and ``all_of`` has all that are possible.
    nothing : Value
        The flit asks for nothing: it is not the first of its worm's, or leads nowhere.
    """

    all_of: Value
    targets: Value
    nothing: Value


class Decoder(ABC):
    """Turns header flits into requests, once, on the buffer's write side.

    One instance serves a whole switch. The request is stored in the buffer as a *code* of few bits beside each
    header flit (`code_width`), made by `decode` on arrival and turned back by `request` when read.

    Parameters
    ----------
    kind : SwitchKind
        The switch's ports.
    injection : "one" or "all"
        One injection port for each node, or one for each node and port to another switch.
    ejection : "one" or "all"
        One ejection port for each node, or one for each node and way in from which worms can end there: each input
        from another switch, and each other node of this one.
    consumption : ConsumptionClasses
        Which consumption channels a worm may reserve.
    vc_classes : int
        Classes of virtual channels of the outputs to other switches: class k of K has channels k*V/K to
        (k+1)*V/K - 1 of V.
    adaptive : bool
        A request is for any one of several outputs.
    preferred : tuple of int
        With a choice: the classes in the order in which they are taken, where several are free.
    enters_empty : bool
        A worm takes a virtual channel of a link only while the buffer there is empty.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of the ports: those from and to other switches first, then those from and to nodes.
    links_in, ejection : int
        How many of them are those of other switches, of the inputs and of the outputs.
    injections : tuple of tuple of int
        Inputs from each node, in the order of the kind's injections. With ``all`` the k-th leads to the k-th output
        alone, and to other nodes here.
    ejections : tuple of tuple of int
        Outputs to each node, in the order of the kind's ejections.
    straps : dict of str to int
        Static inputs of the switch (coordinates, ids), and their widths in bits.
    absorbs : bool
        A worm ends at the first of its destinations. What is left of its header leaves with the payload, by the
        consumption channel: the node's interface sends both on. A worm takes a consumption channel only while its
        buffer is empty.
    table_layout : StructLayout or None
        How an entry of an input's table is written, where the decoder has tables: then `decode` is given ``table``
        among the straps.
    """

    straps: dict[str, int]
    table_layout: data.StructLayout | None = None
    absorbs = False

    def __init__(self, kind: SwitchKind, *, injection: str = "one", ejection: str = "one",
                 consumption: ConsumptionClasses = ANY_CHANNEL, vc_classes: int = 1, adaptive: bool = False,
                 preferred: tuple[int, ...] = (), enters_empty: bool = False):
        for field_, value, allowed in (("injection", injection, INJECTION), ("ejection", ejection, EJECTION)):
            if value not in allowed:
                raise WormcastError(f"decoder.{field_}: {value!r} is given, allowed are {', '.join(allowed)}")
        self.kind = kind
        self.injection = injection
        self.consumption = consumption
        self.vc_classes = vc_classes
        self.adaptive = adaptive
        self.preferred = preferred or tuple(range(vc_classes))
        self.enters_empty = enters_empty
        inputs, outputs = ([kind.name(p) for p in ports] for ports in (kind.network_inputs, kind.network_outputs))
        self.links_in, self.ejection = len(inputs), len(outputs)
        self._port_each = injection == "all" and bool(outputs)
        injections = [[f"{kind.name(p)}_{name}" for name in outputs] if self._port_each else [kind.name(p)]
                      for p in kind.injections]
        self.injections = _numbered(self.links_in, injections)
        self.inputs = (*inputs, *(name for names in injections for name in names))
        ways_in = [*((name, (i,)) for i, name in enumerate(inputs)),
                   *((kind.name(p), ports) for p, ports in zip(kind.injections, self.injections, strict=True))]
        self._exits: list[list[int]] = [[] for _ in self.inputs]
        names, ejections = list(outputs), []
        for e, p in enumerate(kind.ejections):
            first = len(names)
            # all that a node sends is for others
            ends = [way for n, way in enumerate(ways_in, -self.links_in) if n < 0 or kind.own[n] != e]
            names += [f"{kind.name(p)}_{name}" for name, _ in ends] if ejection == "all" else [kind.name(p)]
            ejections.append(tuple(range(first, len(names))))
            for k, (_, ports) in enumerate(ends):
                for port in ports:
                    self._exits[port].append(first + (k if ejection == "all" else 0))
        self.ejections = tuple(ejections)
        self.outputs = tuple(names)

    @property
    def signature(self) -> str:
        """What it is built of, in words: two decoders with equal ones are the same hardware."""
        parts = {name: value for name, value in sorted(vars(self).items()) if name != "kind"}
        return f"{type(self).__name__} {self.kind.signature} {parts}"

    @property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of the inputs from nodes."""
        return self.inputs[self.links_in:]

    def exits(self, port: int) -> list[int]:
        """Ejection ports that a worm from input ``port`` can end at."""
        return self._exits[port]

    def delivers(self, port: int) -> bool:
        """Whether a worm from input ``port`` can have a node of this switch among its destinations."""
        return bool(self._exits[port])

    def reaches(self, port: int) -> list[int]:
        """Outputs to other switches that a worm from input ``port`` may go on to."""
        if port >= self.links_in:
            own = next(ports for ports in self.injections if port in ports)
            return [own.index(port)] if self._port_each else list(range(self.ejection))
        return [o for o in range(self.ejection) if o != self.kind.back[port] and self.turns(port, o)]

    def targets(self, port: int) -> list[tuple[int, int]]:
        """What a worm from input ``port`` may ask of the links, output and VC class, in the order of preference."""
        if self.adaptive:
            return [(o, k) for k in self.preferred for o in self.reaches(port)]
        return [(o, k) for o in self.reaches(port) for k in range(self.vc_classes)]

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
            code: Value = Cat(going.get(target, C(0)) for target in options)
        else:
            # one-hot to index, and `none` for none of them
            code = Signal(range(none + 1), name="direction_index")
            m.d.comb += code.eq(none ^ any_of([Mux(going[target], none ^ i, 0) for i, target in enumerate(options)
                                               if target in going]))
        return Cat(code, here) if self._here_bits(port) else code

    def request(self, port: int, code: Value) -> Request:
        """Turn a stored code back into the request."""
        options, bits = self.targets(port), self._target_bits(port)
        stored = code[:bits]
        asked = [stored[i] if self.adaptive else stored == i for i in range(len(options))]
        nowhere = ~stored.any() if self.adaptive else stored == len(options)
        here = code[bits] if self._here_bits(port) else C(0)
        exits = self._exits[port]
        masks = []
        for o in range(len(self.outputs)):
            ways = [asked[i] for i, (output, _) in enumerate(options) if output == o]
            if exits[:1] == [o]:
                masks.append(here)
            else:
                masks.append(ways[0] if len(ways) == 1 else any_of(ways))
        return Request(all_of=Cat(masks), targets=Cat(asked), nothing=nowhere & ~here)

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
            return Cat(request.all_of[o] for o in self.reaches(port))
        targets = self.targets(port)
        return Cat(request.targets[targets.index((o, self.preferred[-1]))] for o in self.reaches(port))

    def consumption_class(self, port: int, straps: dict[str, Value], links: Value,
                          vc_class: int | None = None) -> Value:
        """The class of the worm that came by input ``port`` and goes on to ``links`` (as `onward` has them).

        Where none is defined, a number behind the classes: any channel will do. ``vc_class`` is that of the virtual
        channel by which it came, where it matters.
        """
        free = len(self.consumption)
        if not self.delivers(port) or not free:
            return C(free, free.bit_length())
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
            return C(named.pop(), bits)
        return any_of([Mux(condition, C(free if k == NO_CLASS else k, bits), 0) for condition, k in cases])


def _numbered(first: int, groups: list[list[str]]) -> tuple[tuple[int, ...], ...]:
    """Count on from a number: those of each group's names."""
    found, at = [], first
    for names in groups:
        found.append(tuple(range(at, at + len(names))))
        at += len(names)
    return tuple(found)
