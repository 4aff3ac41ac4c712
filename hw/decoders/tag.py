"""Decoder of unicast headers in multistage networks: each stage reads one digit of the destination."""

import numpy as np

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.routing import Routes

from .. import hdl
from ..router_kind import SwitchKind
from .unicast import UnicastDecoder

__all__ = ["TagDecoder", "require_digits", "tag_digits"]


class TagDecoder(UnicastDecoder):
    """Decoder that takes a digit of the address as the number of the output.

    ::

        digits of the address: S-1, …, 1, 0 ─▶ mux ─▶ output
                              strap `digit` ────▲

    A switch has one output for each value of a digit; the number of outputs is a power of two. Either all outputs of a
    switch lead to other switches, or all lead to nodes. If the deciding digit differs between switches of the kind, a
    strap selects the digit.

    Parameters
    ----------
    header : Unicast
    kind : SwitchKind
    digit : int, optional
        The deciding digit, counted from the least significant; None if a strap selects it.
    injection, ejection : "one" or "all"
        As in `Decoder`.

    Straps
    ------
    digit
        The deciding digit of the address, counted from the least significant.
    """

    def __init__(self, header: AddressList, *, kind: SwitchKind, digit: int | None = None, injection: str = "one",
                 ejection: str = "one"):
        self.digit_bits, self.digits = require_digits("TagDecoder", kind, header.nodes, digit)
        super().__init__(header, kind=kind, injection=injection, ejection=ejection)
        self.digit = digit
        self.straps = {} if digit is not None else {"digit": (self.digits - 1).bit_length()}

    def strap_values(self, routes, kind):
        digits = tag_digits(routes, kind)
        if digits is None or (self.digit is not None and set(digits) != {self.digit}):
            raise WormcastError(f"relation: {routes.relation.name} is not valid for the destination-tag routers of "
                                f"{routes.topology.name}: its outputs are not the digits of the destination that the "
                                "routers read. Allowed: destination-tags on multistage networks.")
        return dict.fromkeys(self.straps, digits)

    def way(self, m, port, straps, address):
        digit = hdl.Signal(self.digit_bits, name="digit")
        which = straps["digit"] if self.digit is None else self.digit
        m.d.comb += digit.eq(address.word_select(which, self.digit_bits))
        ejection_ports = [digit == next(e for e, outputs in enumerate(self.ejections) if o in outputs)
                          for o in self.ejection_ports(port)]
        return {(o, 0): digit == o for o in self.reaches(port)}, ejection_ports


def require_digits(who: str, kind: SwitchKind, nodes: int, digit: int | None) -> tuple[int, int]:
    """Return the width of a digit that selects an output of these switches, and the number of digits of a node's id."""
    outputs = max(len(kind.network_outputs), len(kind.ejections))
    if min(len(kind.network_outputs), len(kind.ejections)) or outputs < 2 or outputs.bit_count() > 1:
        raise WormcastError(f"{who}.kind: a switch with {len(kind.network_outputs)} outputs to switches and "
                            f"{len(kind.ejections)} to nodes is not valid. Allowed: a power of two from 2, all to "
                            "switches or all to nodes.")
    bits = (outputs - 1).bit_length()
    digits = (nodes - 1).bit_length() // bits
    if digit is not None and not 0 <= digit < digits:
        raise WormcastError(f"{who}.digit: {digit} is not valid. Allowed: 0 to {digits - 1}, the digits of an address "
                            f"of base {outputs}.")
    return bits, digits


def tag_digits(routes: Routes, kind: SwitchKind) -> list[int] | None:
    """Return for each switch of a kind which digit of a destination's id is the number of the output, 0 for the lowest
    digit. The result is None if some switch has no such digit, or if its outputs cannot be digits (see
    `require_digits`). Routes with phases or alternatives also give None.
    """
    outputs = len(kind.network_outputs) + len(kind.ejections)
    mixed = bool(kind.network_outputs) and bool(kind.ejections)
    if mixed or outputs < 2 or outputs.bit_count() > 1 or len(routes.options) > 1 or not routes.deterministic:
        return None
    bits = (outputs - 1).bit_length()
    codes = routes.options[0, kind.members, :, 0]
    taken = np.where(codes < 0, -1, kind.output_numbers[codes // len(routes.classes)])
    nodes = np.arange(routes.topology.nodes)
    digits = range((routes.topology.nodes - 1).bit_length() // bits)
    fits = np.array([((taken == nodes >> d * bits & outputs - 1) | (taken < 0)).all(axis=1) for d in digits])
    return fits.argmax(axis=0).tolist() if len(fits) and fits.any(axis=0).all() else None
