"""Allocation: one least-recently-granted order for all outputs."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Allocator"]


class Allocator(wiring.Component):
    """Grants outputs to requesters; a requester that asks for several outputs wins all of them or none.

    All outputs share *one* order of the virtual channels behind the requesters: who was granted longest ago
    comes first. With one order, the first in it wins everything that it asks for, so requests for several
    outputs cannot block each other for ever (separate orders per output could), and nobody starves: a virtual
    channel moves back only when it wins, so at most all the others win before it does.

    *Latency*: combinational. *Throughput*: every output is granted in every cycle in which it is asked for, if
    its first requester wins. *Reset*: requesters in the order of their numbers.

    Parameters
    ----------
    reach : list of set of int
        For each requester the outputs that it may ask for.
    vcs : list of int
        Virtual channels behind each requester.
    outputs : int

    Members
    -------
    request_{r} : In(outputs)
        The outputs that requester r asks for in this cycle.
    vc_{r} : In(range(vcs[r]))
        On behalf of which virtual channel.
    won_{r} : Out(1)
        Everything asked for was granted (also when nothing was asked for).
    grant_{r} : Out(outputs)
        The outputs whose first requester is r, whether it wins or not: at most one requester per output.
    """

    def __init__(self, *, reach: list[set[int]], vcs: list[int], outputs: int):
        self.reach = reach
        self.vcs = vcs
        members = {}
        for r, count in enumerate(vcs):
            members |= {
                f"request_{r}": In(outputs),
                f"vc_{r}": In(range(count)),
                f"won_{r}": Out(1),
                f"grant_{r}": Out(outputs),
            }
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        requesters = range(len(self.reach))
        requests = [getattr(self, f"request_{r}") for r in requesters]
        grants = [getattr(self, f"grant_{r}") for r in requesters]
        moves = []
        for r in requesters:
            won, vc = getattr(self, f"won_{r}"), getattr(self, f"vc_{r}")
            wants = Signal(name=f"wants_{r}")
            m.d.comb += [
                wants.eq(requests[r].any()),
                won.eq(Cat(~requests[r][o] | grants[r][o] for o in self.reach[r]).all()),
            ]
            moves.append([Signal(name=f"moves_{r}_{v}") for v in range(self.vcs[r])])
            m.d.comb += [moves[r][v].eq(won & wants & (vc == v)) for v in range(self.vcs[r])]

        first = {}  # first[r, s]: the presented channel of r comes before that of s
        for r in requesters:
            for s in range(r + 1, len(self.reach)):
                if not self.reach[r] & self.reach[s]:
                    continue
                order = [[Signal(init=1, name=f"order_{r}_{v}_{s}_{w}") for w in range(self.vcs[s])]
                         for v in range(self.vcs[r])]
                for v in range(self.vcs[r]):
                    for w in range(self.vcs[s]):
                        a, b = moves[r][v], moves[s][w]
                        m.d.sync += order[v][w].eq(Mux(a ^ b, b, order[v][w]))
                first[r, s] = Signal(name=f"first_{r}_{s}")
                row = Array(Array(cells)[getattr(self, f"vc_{s}")] for cells in order)
                m.d.comb += first[r, s].eq(row[getattr(self, f"vc_{r}")])
                first[s, r] = ~first[r, s]
        for r in requesters:
            for o in self.reach[r]:
                beaten = [requests[s][o] & first[s, r] for s in requesters if s != r and o in self.reach[s]]
                m.d.comb += grants[r][o].eq(requests[r][o] & ~Cat(beaten).any())
        return m
