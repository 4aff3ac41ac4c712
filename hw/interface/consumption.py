"""One consumption link: payload from the consumption channels to the host."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..buffer import ReplicationBuffer
from ..link import LinkSignature, PortSpec, flit_layout
from ..logic import bit_at
from ..output_unit import OutputUnit

__all__ = ["HOST_DEPTH", "Consumption"]

HOST_DEPTH = 4
"""Flits of buffer that a host has for each consumption channel: covers the link's credit loop of 3 cycles."""


class Consumption(wiring.Component):
    """Takes packets from the consumption channels of one link and hands their payload to the host.

    ::

        network ─▶ buffer (all channels) ─▶ round robin ─┬─ payload ─▶ OutputUnit ─▶ host
                            ▲                            ├─ what is left of headers: dropped
                            └── a tail flit waits t_nr ◀─┘

    *Latency*: 2 cycles from link to link, a packet's tail flit ``t_nr`` more. *Throughput*: a flit per cycle over all
    channels; one channel gets min(1, depth / 4). Header flits wait for a credit of the host as all
    do, and take a cycle each, but leave the credit. The end of a worm that was cut off by an error is handed over as a
    tail flit is.
    *Waiting*: one tail flit at a time waits its t_nr cycles, from the cycle in which it could have been handed
    over; those of other channels wait behind it in turn, other flits pass. Seeing that a flit has to wait takes a
    cycle of the link. *Reset*: empty.

    Parameters
    ----------
    network : PortSpec
        The link from the router: one virtual channel for each consumption channel.
    width : int
        Data bits of a flit.
    storage : "lutram" or "registers"
    t_nr : int
        Cycles that a packet's tail flit is held back, 0 to 65535; 0: nothing is built for it.

    Members
    -------
    network : In(LinkSignature)
    host : Out(LinkSignature)
        The same channels; a host that holds back credits stalls its consumption.
    wrong, overflow : Out(vcs)
        As of `OutputUnit`; a flit came for a buffer that was full, and is dropped.

    Raises
    ------
    WormcastError
        ``t_nr`` is outside its range.
    """

    def __init__(self, network: PortSpec, *, width: int, storage: str = "lutram", t_nr: int = 0):
        if not 0 <= t_nr <= 65535:
            raise WormcastError(f"Consumption.t_nr: must be 0 to 65535, not {t_nr}")
        self.port = network
        self.width = width
        self.storage = storage
        self.t_nr = t_nr
        super().__init__({
            "network": In(LinkSignature(vcs=network.vcs, width=width)),
            "host": Out(LinkSignature(vcs=network.vcs, width=width)),
            "wrong": Out(network.vcs),
            "overflow": Out(network.vcs),
        })

    def elaborate(self, platform):
        m = Module()
        vcs, layout = self.port.vcs, flit_layout(self.width)
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=vcs, depth=self.port.depth, width=layout.size, storage=self.storage
        )
        m.submodules.output = output = OutputUnit(
            PortSpec("host", vcs=vcs, depth=HOST_DEPTH), width=self.width, classes=[(1 << vcs) - 1]
        )
        wiring.connect(m, output.link, wiring.flipped(self.host))
        m.d.comb += [
            buffer.write.eq(self.network.valid),
            buffer.write_vc.eq(self.network.vc),
            buffer.write_data.eq(self.network.flit),
            buffer.write_count.eq(1),
            self.wrong.eq(output.wrong),
            self.overflow.eq(Cat(self.network.valid & (self.network.vc == v) & buffer.full[v] for v in range(vcs))),
        ]
        m.d.sync += self.network.credit.eq(buffer.freed)

        eligible = Signal(vcs)
        sel = Signal(range(vcs))
        last = Signal(range(vcs))
        looks = Signal()
        take = Signal()
        flit = Signal(layout)
        waits = Signal(vcs)
        m.d.comb += [sel.eq(_next_of(m, eligible, last)), looks.eq(eligible.any())]
        m.d.comb += [
            take.eq(looks & ~self._holds(m, looks, sel, flit, waits)),
            buffer.vc_0.eq(sel),
            buffer.take_0.eq(take),
            flit.eq(buffer.data_0),
            output.flit.eq(flit),
            output.vc.eq(sel),
            output.send.eq(take & (~flit.head | flit.tail)),
            output.touch.eq(output.send),
            output.tail.eq(flit.tail),
        ]
        with m.If(looks):
            m.d.sync += last.eq(sel)
        for v in range(vcs):
            m.d.sync += eligible[v].eq(~waits[v] & Mux(
                take & (sel == v),
                (buffer.more_0[v] | buffer.arrives[v]) & Mux(output.send, output.ready_after[v], output.ready[v]),
                (buffer.has_0[v] | buffer.arrives[v]) & output.ready[v],
            ))
        return m

    def _holds(self, m, looks, sel, flit, waits):
        """Say that the presented flit stays: a tail flit that has not waited; ``waits``: not in the next cycle."""
        if not self.t_nr:
            return C(0)
        vcs = self.port.vcs
        waiting = Signal(vcs)  # its front is a tail flit that was seen and held
        waited = Signal(vcs)  # its front is a tail flit that may go
        holds = Signal()
        here = Signal(vcs)
        needs = Signal(vcs)
        busy = Signal()  # the counter runs, for channel `served`
        served = Signal(range(vcs))
        serves = Signal(range(vcs))
        left = Signal(range(self.t_nr + 1))
        now_left = Signal(range(self.t_nr + 1))  # cycles to go, this one among them
        through = Signal(vcs)
        ends = Signal()
        turn = _next_of(m, needs, served, name="turn")
        m.d.comb += [
            ends.eq(looks & flit.tail),
            here.eq(Cat(sel == v for v in range(vcs))),
            holds.eq(ends & ~bit_at(waited, sel)),
            needs.eq(waiting | Mux(holds, here, 0)),
            serves.eq(Mux(busy, served, turn)),
            now_left.eq(Mux(busy, left, self.t_nr)),
            waits.eq(needs & ~through),
        ]
        for v in range(vcs):
            m.d.comb += through[v].eq(needs[v] & (serves == v) & (now_left == 1))
        m.d.sync += [
            waiting.eq(waits),
            # who has waited is eligible until taken: of any other that is presented, there is nothing to clear
            waited.eq((waited & ~Mux(holds, 0, here)) | through),
            busy.eq(waits.any() & ~through.any()),
            left.eq(now_left - 1),
            served.eq(serves),
        ]
        return holds


def _next_of(m, candidates, last, name="next"):
    """The candidate that comes next after ``last``, which itself comes last; ``last`` if there is none."""
    count = len(candidates)
    chosen = Signal(range(count), name=name)
    m.d.comb += chosen.eq(last)
    with m.Switch(last):
        for v in range(count):
            with m.Case(v):
                for w in [v, *((v - k) % count for k in range(1, count))]:
                    with m.If(candidates[w]):
                        m.d.comb += chosen.eq(w)
    return chosen
