# amaranth: UnusedElaboratable=no
"""An output unit whose worms report their arrival."""

from amaranth.hdl import Cat, Module, Mux, Signal

from wormcast.hw import PortSpec
from wormcast.hw.output_unit import OutputUnit

from .harness import Harness, Inside, Property, implies
from .link import Crossbar
from .mutants import Mutant
from .sender import Sender

__all__ = ["ReportHarness"]


class ReportHarness(Harness):
    """An output unit with reports, and a sender that keeps to the unit's signals.

    Reports are arbitrary. Credits are arbitrary, but no credit arrives for a flit that was not sent. The flit that
    takes a virtual channel states whether its worm reports.
    """

    component = "OutputUnit, reports"
    properties = (
        Property("awaits", "A virtual channel is offered to headers only while no worm owns it, and after its last "
                           "worm has reported, if that worm reports.",
                 Mutant("output_unit.OutputUnit._channel", "~now_busy & ~awaits", "~now_busy")),
        Property("returns", "If a virtual channel has no owner, no report to wait for, and a credit, and no header "
                            "takes a channel, then a channel is offered in the next cycle.",
                 Mutant("output_unit.OutputUnit._awaits", " & ~link.arrived[v]", "")),
    )

    def __init__(self, *, vcs: int, depth: int, delays: str = "paper"):
        super().__init__()
        self.unit = OutputUnit(PortSpec("east", vcs=vcs, depth=depth), width=2, classes=[(1 << vcs) - 1],
                               extra_stage=delays == "fast", reports=True)

    def elaborate(self, platform):
        m = Module()
        unit, inside = self.unit, Inside(self.unit)
        m.submodules.unit = inside.fragment
        crossbar = Crossbar(m, self, unit)
        [send], [link] = unit.sends, unit.links
        self.leave_free(send.reports, link.credit, link.arrived)
        self.assume(m, implies(send.reports, unit.vc_allocate))
        idle = []
        for v in range(unit.port.vcs):
            end, waits = Sender(inside, v), Signal(name=f"waits_{v}")
            takes = unit.vc_allocate & (send.vc == v)
            m.d.sync += waits.eq(Mux(takes, send.reports, waits & ~link.arrived[v]))
            self.claim(m, "awaits", implies(end.offered(0), ~crossbar.owned[v] & ~waits))
            idle.append(~crossbar.owned[v] & ~waits & ~end.stopped & (end.credits > end.sent))
            self.assume(m, ~end.stopped)
            if self.inductive:
                end.invariants(m, self)
                self.invariant(m, crossbar.owned[v] == end.busy)
                self.invariant(m, implies(crossbar.may[v], end.another))
                under_way = inside["active"] & (inside["sent_vc"] == v) & inside[f"vc{v}_reported"]
                self.invariant(m, waits == (inside[f"vc{v}_awaits"] | under_way))
        was_idle = Signal()
        m.d.sync += was_idle.eq(Cat(idle).any() & ~unit.vc_allocate)
        self.claim(m, "returns", implies(was_idle, unit.offer.free[0]))
        return m
