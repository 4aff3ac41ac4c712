"""Allocation: one least-recently-granted order for all outputs."""

from amaranth.hdl import Array, Cat, Module, Signal
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
    its first requester wins. *Reset*: requesters in the order of their numbers. *Cost*: a
    flip-flop for each pair of virtual channels of different requesters, so it grows with the square of their count.

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
    complete_{r} : In(1)
        The request holds all that the worm needs: only such a one can win.
    vc_{r} : In(range(vcs[r]))
        On behalf of which virtual channel.
    won_{r} : Out(1)
        The request is complete, and all of it is granted.
    grant_{r} : Out(outputs)
        The outputs whose first requester is r, whether it wins or not: at most one requester per output.
        Known earlier than the win.
    """

    def __init__(self, *, reach: list[set[int]], vcs: list[int], outputs: int):
        self.reach = reach
        self.vcs = vcs
        members: dict = {}
        for r, count in enumerate(vcs):
            members |= {
                f"request_{r}": In(outputs),
                f"complete_{r}": In(1),
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
        won = [getattr(self, f"won_{r}") for r in requesters]
        moves = []
        for r in requesters:
            vc = getattr(self, f"vc_{r}")
            moves.append([Signal(name=f"moves_{r}_{v}") for v in range(self.vcs[r])])
            m.d.comb += [moves[r][v].eq(won[r] & (vc == v)) for v in range(self.vcs[r])]

        first: dict = {}  # first[r, s]: the presented channel of r comes before that of s
        clash: dict = {}  # clash[r, s]: both ask for some output
        for r in requesters:
            for s in range(r + 1, len(self.reach)):
                shared = self.reach[r] & self.reach[s]
                if not shared:
                    continue
                order = [[Signal(init=1, name=f"order_{r}_{v}_{s}_{w}") for w in range(self.vcs[s])]
                         for v in range(self.vcs[r])]
                for v in range(self.vcs[r]):
                    for w in range(self.vcs[s]):
                        # who moves goes behind the other; both or none keep their order: a majority of three
                        a, b, cell = ~moves[r][v], moves[s][w], order[v][w]
                        m.d.sync += cell.eq((a & b) | (cell & (a | b)))
                first[r, s] = Signal(name=f"first_{r}_{s}")
                row = Array(Array(cells)[getattr(self, f"vc_{s}")] for cells in order)
                m.d.comb += first[r, s].eq(row[getattr(self, f"vc_{r}")])
                first[s, r] = ~first[r, s]
                clash[r, s] = clash[s, r] = Signal(name=f"clash_{r}_{s}")
                m.d.comb += clash[r, s].eq(Cat(requests[r][o] & requests[s][o] for o in shared).any())
        for r in requesters:
            # not by way of the grants: the win is what most next states wait for
            beaten = [clash[r, s] & first[s, r] for s in requesters if (r, s) in clash]
            m.d.comb += won[r].eq(getattr(self, f"complete_{r}") & ~Cat(beaten).any())
            for o in self.reach[r]:
                beaten = [requests[s][o] & first[s, r] for s in requesters if s != r and o in self.reach[s]]
                m.d.comb += grants[r][o].eq(requests[r][o] & ~Cat(beaten).any())
        return m
