# amaranth: UnusedElaboratable=no
"""The allocator against one order of all virtual channels: the turn that was granted longest ago comes first."""

from amaranth.hdl import Cat, Module, Mux, Signal

from wormcast.hw.allocator import Allocator

from .harness import Harness, Inside, Property, implies, total
from .mutants import Mutant

__all__ = ["AllocatorHarness"]


class AllocatorHarness(Harness):
    """The allocator, with arbitrary requests. A requester wins if its whole request is granted.

    The bound on losses does not count cycles in which some request is not complete. An incomplete request is not
    granted. A request that comes later in the order and needs one of the same outputs is not granted either, and does
    not move forward in the order. The requesters must ensure that requests do not stay incomplete.

    Parameters
    ----------
    requesters, vcs : int
        Each requester has as many virtual channels, and asks for any outputs but the one of its own number.
    """

    component = "Allocator"
    properties = (
        Property("exclusive", "An output is granted to at most one requester.",
                 Mutant("allocator.Allocator.elaborate", "~before", "before")),
        Property("whole", "A requester wins if and only if its request is complete and each requested output is "
                          "granted to it.",
                 Mutant("allocator.Allocator.elaborate", 'self.request[r].complete & ~beaten', "~beaten")),
        Property("progress", "If there is a request, and all requests are complete, a requester wins in the same "
                             "cycle.",
                 Mutant("allocator.Allocator.elaborate", "Cat(moves[s] for s in later)",
                        "Cat(moves[s][:1] * self.turns[s] for s in later)")),
        Property("bound", "Between two grants, a virtual channel's request is refused at most R times, where R is the "
                          "number of virtual channels of all other requesters. Cycles in which some request is "
                          "incomplete do not count.",
                 Mutant("allocator.Allocator.elaborate", "(a & b) | (cells & (a | b))", "cells")),
    )

    def __init__(self, *, requesters: int, vcs: int):
        super().__init__()
        reach = {f"r{r}": set(range(requesters)) - {r} for r in range(requesters)}
        self.allocator = Allocator(reach=reach, turns=[vcs] * requesters, outputs=requesters)

    def elaborate(self, platform):
        m = Module()
        dut = self.allocator
        requesters = range(len(dut.reach))
        inside = Inside(dut)
        m.submodules.allocator = inside.fragment
        requests, complete, turns, granted, grants = zip(*(
            (request.outputs, request.complete, request.turn, request.granted, request.grant) for request in dut.request
        ), strict=True)
        for r in requesters:
            self.leave_free(requests[r], complete[r], turns[r])
            self.assume(m, turns[r] < dut.turns[r])
            for o in set(requesters) - dut.reach[r]:
                self.assume(m, ~requests[r][o])
            self.claim(m, "whole", granted[r] == (complete[r] & ((requests[r] & ~grants[r]) == 0)))
        for o in requesters:
            self.claim(m, "exclusive", total(grants[r][o] for r in requesters) <= 1)
            self.claim(m, "exclusive", total(granted[r] & requests[r][o] for r in requesters) <= 1)
        asks = [request.any() for request in requests]
        all_complete = Cat(~asks[r] | complete[r] for r in requesters).all()
        wins = [granted[r] & asks[r] for r in requesters]
        self.claim(m, "progress", implies(all_complete & Cat(asks).any(), Cat(wins).any()))

        channels = [(r, v) for r in requesters for v in range(dut.turns[r])]
        place = {c: Signal(range(len(channels)), init=i, name=f"place_{c[0]}_{c[1]}") for i, c in enumerate(channels)}
        moves = {(r, v): granted[r] & (turns[r] == v) for r, v in channels}
        for c in channels:
            before = [(moves[d], place[d] < place[c]) for d in channels if d != c]
            stay, stay_ahead = (total(~moved for moved, _ in before), total(~moved & ahead for moved, ahead in before))
            move_ahead = total(moved & ahead for moved, ahead in before)
            m.d.sync += place[c].eq(Mux(moves[c], stay + move_ahead, stay_ahead))
        for r, v in channels:
            rivals = [c for c in channels if c[0] != r]
            lost = Signal(range(len(rivals) + 2), name=f"lost_{r}_{v}")
            loses = asks[r] & (turns[r] == v) & ~granted[r] & all_complete
            m.d.sync += lost.eq(Mux(moves[r, v], 0, lost + loses))
            self.claim(m, "bound", lost <= len(rivals))
            self.invariant(m, lost + total(place[c] < place[r, v] for c in rivals) <= len(rivals))
        if self.inductive:
            self.invariants(m, channels, place, inside)
        return m

    def invariants(self, m, channels, place, inside):
        """Assert that the allocator's cells agree with the order of each two virtual channels."""
        for c in channels:
            self.invariant(m, place[c] < len(channels))
            column = 0
            for d in channels:
                if c < d:
                    self.invariant(m, place[c] != place[d])
                if c[0] < d[0] and self.allocator.reach[c[0]] & self.allocator.reach[d[0]]:
                    cells = inside[f"order_{c[0]}_{c[1]}"]
                    self.invariant(m, cells[column] == (place[c] < place[d]))
                    column += 1
