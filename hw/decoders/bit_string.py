"""Bit strings in multistage networks: each stage looks at one digit of every destination."""

from amaranth.hdl import Array, C, Value

from wormcast.algorithms.headers import BitString

from ..kinds import SwitchKind
from .base import Decoder
from .tag import require_digits, tag_digits

__all__ = ["BitStringDecoder"]


class BitStringDecoder(Decoder):
    """Finds the outputs to which a bit string leads, and what of it goes with the copy for each.

    ::

        header flit ─▶ AND with the bits of output o ─┬─ any set: a copy goes by o
                                                      └─ these bits, and the report bit, are what that copy carries

    The bits of an output are those of the nodes whose digit is its number: of those that the switch reaches, the ones
    that this output reaches. There are as many outputs as a digit has values, a power of two, and all of them lead to
    other switches, or all to nodes. Which digit decides is the same for all switches of the kind, and then there is no
    strap; or the strap says which.

    *Latency*: combinational.

    Parameters
    ----------
    header : BitString
    kind : SwitchKind
    digit : int, optional
        The one that decides, counted from the least significant; None: the strap says it.
    injection, ejection : "one" or "all"

    Straps
    ------
    digit
        Which digit of the destinations decides, counted from the least significant.
    """

    def __init__(self, header: BitString, *, kind: SwitchKind, digit: int | None = None, injection: str = "one",
                 ejection: str = "one"):
        self.digit_bits, self.digits = require_digits("BitStringDecoder", kind, header.nodes, digit)
        super().__init__(kind, injection=injection, ejection=ejection)
        self.header = header
        self.digit = digit
        self.straps = {} if digit is not None else {"digit": (self.digits - 1).bit_length()}

    def strap_values(self, routes, kind):
        return dict.fromkeys(self.straps, tag_digits(routes, kind))

    @property
    def flits(self) -> int:
        """Header flits of a worm."""
        return self.header.flits()

    def leads(self, port: int) -> list[int]:
        """Outputs, to other switches and to nodes, by which a worm from input ``port`` can be copied."""
        return self.reaches(port) + self.exits(port)

    def wanted(self, output: int, straps: dict[str, Value], place: Value) -> Value:
        """Bits of header flit number ``place`` that are those of the nodes behind an output."""
        places = Array(self._wanted(output, straps, flit) for flit in range(self.flits))
        return places[place] if self.flits > 1 else places[0]

    def carried(self, output: int, straps: dict[str, Value], place: Value) -> Value:
        """Bits of header flit number ``place`` that the copy by an output keeps: the same, and the report bit."""
        return self.wanted(output, straps, place) | (place == 0)

    def _wanted(self, output: int, straps: dict[str, Value], flit: int) -> Value:
        digits = range(self.digits) if self.digit is None else (self.digit,)
        masks = Array(C(self._mask(output, flit, digit), self.header.flit_width) for digit in digits)
        return masks[straps["digit"]] if self.digit is None else masks[0]

    def _mask(self, output: int, flit: int, digit: int) -> int:
        value = output
        if output >= self.ejection:
            value = next(e for e, outputs in enumerate(self.ejections) if output in outputs)
        places = [self.header.place(node) for node in range(self.header.nodes)
                  if node >> digit * self.digit_bits & (1 << self.digit_bits) - 1 == value]
        return sum(1 << bit for at, bit in places if at == flit)
