"""Base class of the decoders of path worms: each header flit requests a link, a consumption channel, or both."""

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

__all__ = ["ArrivingHeader", "DecodedHeader", "HeaderRequest", "PathDecoder"]


@dataclass(frozen=True)
class ArrivingHeader:
    """A header flit as it arrives, as hardware values.

    Attributes
    ----------
    data : Value
    first : Value
        The flit is the first of the worm's remaining header flits, which is decoded.
    after_strip : Value
        The worm's previous header flit was used up at this switch.
    commit : Value
        The flit has ``first`` set and is stored. With ``commit``, a decoder that takes outputs in turn changes to the
        next output.
    """

    data: Value
    first: Value
    after_strip: Value
    commit: Value = field(default_factory=lambda: hdl.C(0))


@dataclass(frozen=True)
class DecodedHeader:
    """A decoded header flit, as hardware values.

    Attributes
    ----------
    code : Value
        The request, in the few bits that are stored with the flit.
    data : Value
        The flit as it is stored and forwarded, without the own address.
    strip : Value
        The flit held only the own address, and another header flit of the worm follows. ``strip`` is always 0 for
        unicast headers, and if the decoder absorbs worms. A stripped flit leaves the buffer when the consumption
        channel is reserved, and is not forwarded. The flit after a stripped one has the worm's next destination.
    ends_here : Value
        The worm ends at this switch: its last destination is here, or it cannot go on. A flit with ``ends_here`` is
        dropped when the worm has its consumption channel.
    last : Value
        No further header flit of the worm follows. ``last`` is valid for all header flits, first or not.
    outside : Value
        The network has no node with the next address. A worm with ``outside`` goes no further.
    wrong_order : Value
        The relation does not allow the node with the next address as the next destination. A worm with ``wrong_order``
        goes no further.
    ejection_port : Value
        With ``ends_here``: the ejection port at which the worm ends, an index into `Decoder.ejection_ports`.
        ``ejection_port`` has no bits if worms from this input can end at one ejection port only.
    """

    code: Value
    data: Value
    strip: Value
    ends_here: Value
    last: Value
    outside: Value
    wrong_order: Value
    ejection_port: Value = field(default_factory=lambda: hdl.C(0, 0))


@dataclass(frozen=True)
class HeaderRequest:
    """Request of a stored header flit, as hardware values.

    Attributes
    ----------
    all_of : Value
        Mask over the switch's outputs, ejection port included: a copy goes to each of them. The ejection port's
        consumption channel is reserved before any other output is requested.
    targets : Value
        The requested outputs to other switches with the class of virtual channels: a mask over `PathDecoder.targets`.
        With an adaptive decoder any one of the targets suffices, and ``all_of`` has all candidates.
    nothing : Value
        The flit requests nothing: it is not the first header flit of its worm, or has no output.
    """

    all_of: Value
    targets: Value
    nothing: Value


class PathDecoder(Decoder):
    """Decoder that turns a header flit into a request once, on the buffer's write side.

    The buffer stores the request as a *code* of few bits beside each header flit (`code_width`). `decode` makes the
    code when a flit arrives, and `request` turns the code back into the request when the flit is read.

    Parameters
    ----------
    kind, injection, ejection, consumption, vc_classes
        As in `Decoder`.
    adaptive : bool
        A request is for any one of several outputs.
    preferred : tuple of int
        Classes of virtual channels in the order in which an adaptive request prefers them, if several are free.
    enters_empty : bool
        As in `Decoder`.
    """

    def __init__(self, kind: SwitchKind, *, injection: str = "one", ejection: str = "one",
                 consumption: ConsumptionClasses = ANY_CHANNEL, vc_classes: int = 1, adaptive: bool = False,
                 preferred: tuple[int, ...] = (), enters_empty: bool = False):
        super().__init__(kind, injection=injection, ejection=ejection, consumption=consumption, vc_classes=vc_classes)
        self.adaptive = adaptive
        self.preferred = preferred or tuple(range(vc_classes))
        self.enters_empty = enters_empty

    def targets(self, port: int) -> list[tuple[int, int]]:
        """Return the link targets of a worm from input ``port``: (output, VC class), in the order of preference."""
        if self.adaptive:
            return [(o, k) for k in self.preferred for o in self.reaches(port)]
        return [(o, k) for o in self.reaches(port) for k in range(self.vc_classes)]

    @abstractmethod
    def decode(self, m: Module, port: int, straps: dict[str, Value], arrival: ArrivingHeader) -> DecodedHeader:
        """Decode a header flit as it arrives. A header flit without ``first`` gets a code that requests nothing."""

    def code_width(self, port: int) -> int:
        """Return the width of the code that is stored with a header flit of input ``port``."""
        return self._target_bits(port) + self._here_bits(port)

    def _target_bits(self, port: int) -> int:
        """Return the width of the target in a code: an index; with an adaptive decoder a mask with one bit for each
        target."""
        targets = len(self.targets(port))
        return targets if self.adaptive else targets.bit_length()

    def _here_bits(self, port: int) -> int:
        """Return the width of the bit "a copy goes to the node": 1 if the input leads to one ejection port, else 0.

        If an input leads to several ejection ports (of several nodes), its worms end at the ejection port that they
        take, and need no such bit.
        """
        return int(len(self._ejection_ports[port]) == 1)

    def encode(self, m: Module, port: int, going: dict[tuple[int, int], Value], here: Value) -> Value:
        """Make the code of a request.

        Parameters
        ----------
        going : dict of (output, class) to Value
            The requested targets of the port: at most one, or with an adaptive decoder any number. Targets that are
            missing in ``going`` are not requested.
        here : Value
            A copy is delivered here, and the worm goes on.
        """
        options = self.targets(port)
        none = len(options)
        if self.adaptive:
            code: Value = hdl.Cat(going.get(target, hdl.C(0)) for target in options)
        else:
            # the index of the bit that is set in `going`; `none` if no bit is set
            code = hdl.Signal(range(none + 1), name="direction_index")
            m.d.comb += code.eq(none ^ any_of([hdl.Mux(going[target], none ^ i, 0) for i, target in enumerate(options)
                                               if target in going]))
        return hdl.Cat(code, here) if self._here_bits(port) else code

    def request(self, port: int, code: Value) -> HeaderRequest:
        """Turn a stored code back into the request."""
        options, bits = self.targets(port), self._target_bits(port)
        stored = code[:bits]
        asked = [stored[i] if self.adaptive else stored == i for i in range(len(options))]
        nowhere = ~stored.any() if self.adaptive else stored == len(options)
        here = code[bits] if self._here_bits(port) else hdl.C(0)
        ejection_ports = self._ejection_ports[port]
        masks = []
        for o in range(len(self.outputs)):
            ways = [asked[i] for i, (output, _) in enumerate(options) if output == o]
            if ejection_ports[:1] == [o]:
                masks.append(here)
            else:
                masks.append(ways[0] if len(ways) == 1 else any_of(ways))
        return HeaderRequest(all_of=hdl.Cat(masks), targets=hdl.Cat(asked), nothing=nowhere & ~here)

    @abstractmethod
    def hop_class(self, output: int, straps: dict[str, Value], *, into: bool,
                  vc_class: int | None = None) -> list[tuple[Value, int]]:
        """Return the consumption class of a hop through a network port of this switch: pairs (condition, class); the
        class may be ``NO_CLASS``.

        With ``into`` False, the hop is the link that leaves this switch by network port ``output``. With ``into`` True,
        the hop is the link that ends at network port ``output``. Exactly one of the conditions is true at a time.
        ``vc_class`` is the class of the hop's virtual channel, or None if consumption classes do not depend on it.
        """

    def onward(self, port: int, request: HeaderRequest) -> Value:
        """Return the next hop: a bit for each output that input ``port`` reaches, at most one set.

        With an adaptive decoder this is the hop on the least preferred class of virtual channels.
        """
        if not self.adaptive:
            return hdl.Cat(request.all_of[o] for o in self.reaches(port))
        targets = self.targets(port)
        return hdl.Cat(request.targets[targets.index((o, self.preferred[-1]))] for o in self.reaches(port))

    def consumption_class(self, port: int, straps: dict[str, Value], links: Value,
                          vc_class: int | None = None) -> Value:
        """Return the consumption class of a worm that came by input ``port`` and goes on to ``links`` (as in `onward`).

        If the hop has no consumption class, the result is the number of classes: any consumption channel suffices.
        ``vc_class`` is the class of the virtual channel by which the worm came; None if no class depends on it.
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
