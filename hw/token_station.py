"""Tokens: one at a time of a group of switches may copy a worm."""

from amaranth.hdl import C, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .logic import any_of

__all__ = ["TokenSignature", "TokenStation"]


class TokenSignature(wiring.Signature):
    """The control line from one switch of a group to the next, seen from the one that gives the token.

    Members
    -------
    token : Out(1)
        A pulse: the token goes over. It leaves a flip-flop, and is trusted.
    """

    def __init__(self):
        super().__init__({"token": Out(1)})


class TokenStation(wiring.Component):
    """Where a switch takes the token off its group's ring, and puts it back ([Varavithya], section 3.2).

    ::

        token_in ─▶ here ─┬─ nobody asks ─────────────────▶ register ─▶ token_out
                          └─ someone asks ─▶ held ─ ends ──────▲

    All switches of a group are in a ring, in which one token goes round; after reset the switch with ``strap_first``
    has it. A station gives the token to one of those that ask, and when that one ends the token goes on, whoever else
    asks here.

    *Latency*: from ``token_in`` to ``token_out`` a cycle if nobody asks, so a walk round P switches takes P cycles; who
    asks in the cycle in which the token comes holds it in the next one; it leaves in the cycle after it was ended.
    *Fairness*: those here take turns, and the token comes by each station once in a round: with P switches of b inputs
    of V virtual channels at most P*b*V - 1 others get it before one that asks. *Reset*: nobody holds it.

    Parameters
    ----------
    requesters : int

    Members
    -------
    token_in, token_out : In(TokenSignature), Out(TokenSignature)
        From the switch before this one in the ring, and to the one behind it; the same one in a group of one.
    strap_first : In(1)
        The token begins here.
    asks : In(requesters)
        From whom the token is wanted; until it is granted.
    ends : In(requesters)
        Who holds it gives it back; of others it says nothing.
    granted : Out(requesters)
        Who gets it with the next cycle.
    held, taken : Out(requesters), Out(1)
        Who holds it, and whether someone does.
    """

    def __init__(self, requesters: int):
        self.requesters = requesters
        super().__init__({
            "token_in": In(TokenSignature()),
            "token_out": Out(TokenSignature()),
            "strap_first": In(1),
            "asks": In(requesters),
            "ends": In(requesters),
            "granted": Out(requesters),
            "held": Out(requesters),
            "taken": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        count = self.requesters
        started = Signal()
        here = Signal()
        ended = Signal()
        last = Signal(range(count))
        chosen = Signal(count)
        m.d.comb += [
            here.eq(self.token_in.token | (self.strap_first & ~started)),
            ended.eq((self.held & self.ends).any()),
            self.granted.eq(Mux(here, chosen, 0)),
        ]
        m.d.sync += [
            started.eq(1),
            self.held.eq(self.granted | Mux(ended, 0, self.held)),
            self.taken.eq(self.granted.any() | (self.taken & ~ended)),
            self.token_out.token.eq((here & ~self.asks.any()) | ended),
        ]
        with m.Switch(last):
            for k in range(count):
                with m.Case(k):
                    order = [(k + 1 + step) % count for step in range(count)]
                    m.d.comb += chosen.eq(any_of([
                        Mux(self.asks[one] & ~any_of([self.asks[before] for before in order[:place]] or [C(0)]),
                            C(1 << one, count), 0) for place, one in enumerate(order)]))
        with m.If(self.granted.any()):
            m.d.sync += last.eq(any_of([Mux(self.granted[one], C(one, len(last)), 0) for one in range(count)]))
        return m
