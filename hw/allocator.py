"""Allocator with one least-recently-granted order for all outputs."""

from collections.abc import Mapping

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from wormcast.algorithms.typecheck import checked

from .bundles import RequestSignature, by_name, named
from .logic import any_of, bit_at

__all__ = ["Allocator"]


class Allocator(wiring.Component):
    """Allocator of outputs to requesters. A request for several outputs is granted as a whole, or not at all.

    A requester presents one of its *turns* at a time: a virtual channel, or a branch of the worm in a virtual channel.
    All outputs share *one* order of the requesters' turns (virtual channels or branches). The least recently granted
    turn comes first in the order. A complete request is granted if no turn that comes before it requests one of the
    same outputs. Because all outputs share one order, requests for several outputs cannot block each other for ever. A
    turn moves back in the order only when it is granted, so no virtual channel or branch starves. While a turn requests
    an output, each other turn is granted this output at most once before it.

    *Latency*: combinational. *Throughput*: a requested output is granted in each cycle, with one exception: the
    requester that is first in the order has an incomplete request, or does not get another output that it requests.
    *Reset*: the turns are in the order of their requesters in ``reach``. *Cost*: for each two requesters that can
    request the same output, a flip-flop for each pair of a turn of one and a turn of the other.

    Parameters
    ----------
    reach : mapping of str to set of int
        For each requester, by name, the outputs that it can request.
    turns : list of int
        For each requester, the number of turns (virtual channels or branches) that it can present.
    outputs : int

    Members
    -------
    requests_{requester} : In(RequestSignature)
        A requester's request.
    """

    @checked
    def __init__(self, *, reach: Mapping[str, set[int]], turns: list[int], outputs: int):
        self.reach = list(reach.values())
        self.turns = turns
        super().__init__({"requests": In(named({
            name: RequestSignature(outputs=outputs, turns=count) for name, count in zip(reach, turns, strict=True)
        }))})
        self.request = list(by_name(self.requests).values())  #: Requests of all requesters, in the order of ``reach``.

    def elaborate(self, platform):
        m = Module()
        requesters = range(len(self.reach))
        requests = [request.outputs for request in self.request]
        presented = [request.turn for request in self.request]
        granted = [request.granted for request in self.request]
        moves = [[Signal(name=f"moves_{r}_{v}") for v in range(self.turns[r])] for r in requesters]
        for r in requesters:
            m.d.comb += [moves[r][v].eq(granted[r] & (presented[r] == v)) for v in range(self.turns[r])]

        # one signal holds the order of a turn against all later requesters: far fewer expressions than one per pair
        rivals = [[s for s in requesters if s != r and self.reach[r] & self.reach[s]] for r in requesters]
        first: dict = {}  # first[r, s]: the turn that requester r presents comes before that of s
        for r in requesters:
            later = [s for s in rivals[r] if s > r]
            if not later:
                continue
            order = []
            for v in range(self.turns[r]):
                cells = Signal(sum(self.turns[s] for s in later), init=-1, name=f"order_{r}_{v}")
                # of two turns the granted one moves behind the other; if both or neither are granted, their order stays
                a, b = (~moves[r][v]).replicate(len(cells)), Cat(moves[s] for s in later)
                m.d.sync += cells.eq((a & b) | (cells & (a | b)))
                order.append(cells)
            before, behind = (Signal(len(later), name=f"{name}_{r}") for name in ("before", "behind"))
            place = 0
            for k, s in enumerate(later):
                columns = [bit_at(cells[place:place + self.turns[s]], presented[s]) for cells in order]
                m.d.comb += before[k].eq(bit_at(columns, presented[r]))
                place += self.turns[s]
                first[r, s], first[s, r] = before[k], behind[k]
            m.d.comb += behind.eq(~before)
        for r in requesters:
            # `granted` is not derived from `grant`, because `granted` is on the critical path of most registers
            clash = any_of([Cat(requests[s][o] if o in self.reach[s] else C(0, 1) for s in rivals[r])
                            & requests[r][o].replicate(len(rivals[r])) for o in sorted(self.reach[r])])
            beaten = clash & Cat(first[s, r] for s in rivals[r])
            m.d.comb += granted[r].eq(self.request[r].complete & ~beaten.any())
            for o in self.reach[r]:
                others = [s for s in rivals[r] if o in self.reach[s]]
                beaten = Cat(requests[s][o] for s in others) & Cat(first[s, r] for s in others)
                m.d.comb += self.request[r].grant[o].eq(requests[r][o] & ~beaten.any())
        return m
