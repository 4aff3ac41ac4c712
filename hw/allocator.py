"""Allocation: one least-recently-granted order for all outputs."""

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .logic import any_of, bit_at

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
        shown = [getattr(self, f"vc_{r}") for r in requesters]
        won = [getattr(self, f"won_{r}") for r in requesters]
        moves = [[Signal(name=f"moves_{r}_{v}") for v in range(self.vcs[r])] for r in requesters]
        for r in requesters:
            m.d.comb += [moves[r][v].eq(won[r] & (shown[r] == v)) for v in range(self.vcs[r])]

        # what concerns all rivals of a requester is one vector: a large allocator has far fewer expressions then
        rivals = [[s for s in requesters if s != r and self.reach[r] & self.reach[s]] for r in requesters]
        first: dict = {}  # first[r, s]: the presented channel of r comes before that of s
        for r in requesters:
            later = [s for s in rivals[r] if s > r]
            if not later:
                continue
            order = []
            for v in range(self.vcs[r]):
                cells = Signal(sum(self.vcs[s] for s in later), init=-1, name=f"order_{r}_{v}")
                # who moves goes behind the other; both or none keep their order: a majority of three
                a, b = (~moves[r][v]).replicate(len(cells)), Cat(moves[s] for s in later)
                m.d.sync += cells.eq((a & b) | (cells & (a | b)))
                order.append(cells)
            before, behind = (Signal(len(later), name=f"{name}_{r}") for name in ("before", "behind"))
            place = 0
            for k, s in enumerate(later):
                columns = [bit_at(cells[place:place + self.vcs[s]], shown[s]) for cells in order]
                m.d.comb += before[k].eq(bit_at(columns, shown[r]))
                place += self.vcs[s]
                first[r, s], first[s, r] = before[k], behind[k]
            m.d.comb += behind.eq(~before)
        for r in requesters:
            # not by way of the grants: the win is what most next states wait for
            clash = any_of([Cat(requests[s][o] if o in self.reach[s] else C(0, 1) for s in rivals[r])
                            & requests[r][o].replicate(len(rivals[r])) for o in sorted(self.reach[r])])
            beaten = clash & Cat(first[s, r] for s in rivals[r])
            m.d.comb += won[r].eq(getattr(self, f"complete_{r}") & ~beaten.any())
            for o in self.reach[r]:
                others = [s for s in rivals[r] if o in self.reach[s]]
                beaten = Cat(requests[s][o] for s in others) & Cat(first[s, r] for s in others)
                m.d.comb += getattr(self, f"grant_{r}")[o].eq(requests[r][o] & ~beaten.any())
        return m
