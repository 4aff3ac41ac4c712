"""Token station: in a group of switches, one worm at a time is replicated."""

from amaranth.hdl import C, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.typecheck import checked

from .logic import any_of

__all__ = ["TokenSignature", "TokenStation"]


class TokenSignature(wiring.Signature):
    """Token line from one switch of a group to the next, seen from the sender.

    Members
    -------
    token : Out(1)
        A pulse passes the token. ``token`` comes from a flip-flop. Wrong pulses of the token line are not detected.
    """

    def __init__(self):
        super().__init__({"token": Out(1)})


class TokenStation(wiring.Component):
    """Station on the token ring of a group: receives the token, grants it to a requester, and returns it to the ring
    ([Varavithya], section 3.2).

    ::

        token_in ─▶ here ─┬─ no request ──────────────▶ register ─▶ token_out
                          └─ request ─▶ held ─ releases ─────▲

    All switches of a group form a ring, in which one token circulates. After reset, the token is at the station with
    ``strap_first``. A station grants the token to one of its requesters. When the holder releases the token, the token
    goes to the next station, even if other requesters of this station request it.

    *Latency*: without requests, a cycle from ``token_in`` to ``token_out``, so a round of P switches takes P cycles. A
    requester that requests in the cycle in which the token arrives can hold the token in the next cycle. The token
    leaves the station in the cycle after its release. *Fairness*: the requesters of a station take turns, and the token
    visits each station once per round. With P switches of b inputs of V virtual channels, at most P*b*V - 1 grants to
    other requesters come before the grant to a given requester. *Reset*: no requester holds the token.

    Parameters
    ----------
    requesters : int

    Members
    -------
    token_in, token_out : In(TokenSignature), Out(TokenSignature)
        From the switch before this one in the ring, and to the next one. In a group of one switch, ``token_out`` is
        connected to ``token_in``.
    strap_first : In(1)
        The token is at this station after reset.
    requests : In(requesters)
        Requests for the token, until it is granted.
    releases : In(requesters)
        The holder releases the token. Ignored for other requesters.
    granted : Out(requesters)
        Requester that holds the token from the next cycle on, one-hot.
    holder : Out(requesters)
        Requester that holds the token, one-hot.
    in_use : Out(1)
        A requester holds the token.
    """

    @checked
    def __init__(self, requesters: int):
        self.requesters = requesters
        super().__init__({
            "token_in": In(TokenSignature()),
            "token_out": Out(TokenSignature()),
            "strap_first": In(1),
            "requests": In(requesters),
            "releases": In(requesters),
            "granted": Out(requesters),
            "holder": Out(requesters),
            "in_use": Out(1),
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
            ended.eq((self.holder & self.releases).any()),
            self.granted.eq(Mux(here, chosen, 0)),
        ]
        m.d.sync += [
            started.eq(1),
            self.holder.eq(self.granted | Mux(ended, 0, self.holder)),
            self.in_use.eq(self.granted.any() | (self.in_use & ~ended)),
            self.token_out.token.eq((here & ~self.requests.any()) | ended),
        ]
        with m.Switch(last):
            for k in range(count):
                with m.Case(k):
                    order = [(k + 1 + step) % count for step in range(count)]
                    m.d.comb += chosen.eq(any_of([
                        Mux(self.requests[one] & ~any_of([self.requests[before] for before in order[:place]] or [C(0)]),
                            C(1 << one, count), 0) for place, one in enumerate(order)]))
        with m.If(self.granted.any()):
            m.d.sync += last.eq(any_of([Mux(self.granted[one], C(one, len(last)), 0) for one in range(count)]))
        return m
