# amaranth: UnusedElaboratable=no
"""Link between two clock domains."""

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import In, Out

from .link import LinkSignature
from .port import PortSpec

__all__ = ["DOWNSTREAM", "UPSTREAM", "ClockCrossing"]

UPSTREAM, DOWNSTREAM = "upstream", "downstream"


class ClockCrossing(wiring.Component):
    """Link from a sender in the clock domain ``upstream`` to a receiver in the clock domain ``downstream``.

    ::

        upstream link:  flits   ─▶ AsyncFIFO ─▶ register ─▶ downstream link
                        credits ◀─ register ◀─ AsyncFIFO ◀─

    Flits and credits pass unchanged and in order. The clocks need no relation. The sender's credits are those of the
    receiver's buffer, one for each flit of it, so that neither FIFO can be full.

    *Latency*: 1 cycle of the sending side and 2 to 3 cycles of the other side, for flits and for credits; the rest of
    a cycle depends on the phase of the clocks. *Throughput*: a flit per cycle of the slower clock, if the buffer covers
    the credit loop. With equal clocks, the crossing adds 6 to 8 cycles to the credit loop. *Reset*: both FIFOs are
    empty. Both domains must be reset together, and nothing may be sent before both have left reset.

    Parameters
    ----------
    port : PortSpec
        The receiver's input: virtual channels, and flits of buffer.
    width : int
        Data bits of a flit.

    Members
    -------
    upstream : In(LinkSignature)
        From the sender, in the clock domain ``upstream``.
    downstream : Out(LinkSignature)
        To the receiver, in the clock domain ``downstream``.
    overflow : Out(1)
        A flit is received while the FIFO for flits is full, and is dropped. Only a flit that was sent without a credit
        can find the FIFO full. ``overflow`` is in the clock domain ``upstream``.
    """

    def __init__(self, port: PortSpec, *, width: int):
        self.port = port
        self.width = width
        super().__init__({
            "upstream": In(LinkSignature(vcs=port.vcs, width=width)),
            "downstream": Out(LinkSignature(vcs=port.vcs, width=width)),
            "overflow": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        before, behind = self.upstream, self.downstream
        depth = max(self.port.vcs * self.port.depth, 2)
        flit = Value.cast(before.flit)
        m.submodules.flits = flits = AsyncFIFO(width=len(flit) + len(before.vc), depth=depth, w_domain=UPSTREAM,
                                               r_domain=DOWNSTREAM)
        m.submodules.credits = credits = AsyncFIFO(width=self.port.vcs, depth=depth, w_domain=DOWNSTREAM,
                                                   r_domain=UPSTREAM)
        m.d.comb += [
            flits.w_data[:len(flit)].eq(flit),
            flits.w_data[len(flit):].eq(before.vc),
            flits.w_en.eq(before.valid),
            flits.r_en.eq(1),
            self.overflow.eq(before.valid & ~flits.w_rdy),
            credits.w_data.eq(behind.credit),
            credits.w_en.eq(behind.credit.any()),
            credits.r_en.eq(1),
        ]
        m.d[DOWNSTREAM] += [
            behind.valid.eq(flits.r_rdy),
            Value.cast(behind.flit).eq(flits.r_data[:len(flit)]),
            behind.vc.eq(flits.r_data[len(flit):]),
        ]
        m.d[UPSTREAM] += before.credit.eq(credits.r_data & credits.r_rdy.replicate(self.port.vcs))
        return m
