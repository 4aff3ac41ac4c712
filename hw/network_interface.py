"""The node's side of the network: a conventional network interface with one injection port."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .buffer import ReplicationBuffer
from .link import LinkSignature, PortSpec, flit_layout
from .output_unit import OutputUnit

__all__ = ["HOST_DEPTH", "Consumption", "Injection", "NetworkInterface"]

HOST_DEPTH = 4
"""Flits of buffer at either end of a link between host and interface: covers its credit loop of 3 cycles."""


class Injection(wiring.Component):
    """Sends the host's worms, one after the other, each on a virtual channel that is free.

    ::

        host ─▶ buffer (4 flits) ─▶ flit ─▶ OutputUnit: free VC, credits ─▶ network

    *Latency*: 2 cycles from link to link, header and data alike. *Throughput*: a flit per cycle on the host's
    side; on the network's, one worm gets min(1, depth / 4). *Reset*: empty.

    Members
    -------
    host : In(LinkSignature)
        One virtual channel.
    network : Out(LinkSignature)
    """

    def __init__(self, network: PortSpec, *, width: int, storage: str = "lutram"):
        self.port = network
        self.width = width
        self.storage = storage
        super().__init__({
            "host": In(LinkSignature(vcs=1, width=width)),
            "network": Out(LinkSignature(vcs=network.vcs, width=width)),
        })

    def elaborate(self, platform):
        m = Module()
        layout = flit_layout(self.width)
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=1, depth=HOST_DEPTH, width=layout.size, storage=self.storage
        )
        m.submodules.output = output = OutputUnit(self.port, width=self.width, classes=[(1 << self.port.vcs) - 1])
        wiring.connect(m, output.link, wiring.flipped(self.network))
        m.d.comb += [
            buffer.write.eq(self.host.valid),
            buffer.write_data.eq(self.host.flit),
            buffer.write_count.eq(1),
        ]
        m.d.sync += self.host.credit.eq(buffer.freed)

        flit = Signal(layout)
        owns = Signal()
        vc = Signal(range(self.port.vcs))
        credit = Signal()
        send = Signal()
        take = Signal()
        m.d.comb += [
            flit.eq(buffer.data_0),
            send.eq(buffer.has_0 & Mux(owns, credit, output.free)),
            take.eq(send & ~owns),
            buffer.take_0.eq(send),
            output.flit.eq(flit),
            output.touch.eq(send),
            output.send.eq(send),
            output.tail.eq(flit.tail),
            output.take.eq(take),
            output.vc.eq(Mux(owns, vc, output.pick_0)),
        ]
        ready, after = (Array(bits)[output.vc] for bits in (output.ready, output.ready_after))
        m.d.sync += credit.eq(Mux(send, after, ready))
        with m.If(take):
            m.d.sync += vc.eq(output.pick_0)
        with m.If(send):
            m.d.sync += owns.eq(~flit.tail)
        return m


class Consumption(wiring.Component):
    """Takes worms from the consumption channels and hands their payload to the host.

    ::

        network ─▶ buffer (all consumption channels) ─▶ round robin ─┬─ payload ─▶ OutputUnit ─▶ host
                                                                     └─ what is left of headers: dropped

    *Latency*: 2 cycles from link to link. *Throughput*: a flit per cycle over all channels; one channel gets
    min(1, depth / 4). Header flits take a cycle each, but no credit of the host. *Reset*: empty.

    Members
    -------
    network : In(LinkSignature)
        One virtual channel for each consumption channel.
    host : Out(LinkSignature)
        The same channels; a host that holds back credits stalls its consumption.
    """

    def __init__(self, network: PortSpec, *, width: int, storage: str = "lutram"):
        self.port = network
        self.width = width
        self.storage = storage
        super().__init__({
            "network": In(LinkSignature(vcs=network.vcs, width=width)),
            "host": Out(LinkSignature(vcs=network.vcs, width=width)),
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
        ]
        m.d.sync += self.network.credit.eq(buffer.freed)

        eligible = Signal(vcs)
        sel = Signal(range(vcs))
        last = Signal(range(vcs))
        take = Signal()
        flit = Signal(layout)
        m.d.comb += sel.eq(last)
        with m.Switch(last):
            for v in range(vcs):
                with m.Case(v):
                    for w in [v, *((v - k) % vcs for k in range(1, vcs))]:
                        with m.If(eligible[w]):
                            m.d.comb += sel.eq(w)
        m.d.comb += [
            take.eq(eligible.any()),
            buffer.vc_0.eq(sel),
            buffer.take_0.eq(take),
            flit.eq(buffer.data_0),
            output.flit.eq(flit),
            output.vc.eq(sel),
            output.send.eq(take & ~flit.head),
            output.touch.eq(output.send),
            output.tail.eq(flit.tail),
        ]
        with m.If(take):
            m.d.sync += last.eq(sel)
        for v in range(vcs):
            arrives = self.network.valid & (self.network.vc == v)
            m.d.sync += eligible[v].eq(Mux(
                take & (sel == v),
                (buffer.more_0[v] | arrives) & Mux(flit.head, output.ready[v], output.ready_after[v]),
                (buffer.has_0[v] | arrives) & output.ready[v],
            ))
        return m


class NetworkInterface(wiring.Component):
    """A conventional network interface: `Injection` and `Consumption` side by side.

    Host and interface exchange flits over the same links as routers do: the host posts whole worms, header
    flits first; it gets back payload, and gives a credit for each flit that it takes.

    Members
    -------
    host_in : In(LinkSignature), host_out : Out(LinkSignature)
        One virtual channel in, one per consumption channel out.
    network_in : In(LinkSignature), network_out : Out(LinkSignature)
    """

    def __init__(self, *, injection: PortSpec, consumption: PortSpec, width: int, storage: str = "lutram"):
        self.injection = injection
        self.consumption = consumption
        self.width = width
        self.storage = storage
        super().__init__({
            "host_in": In(LinkSignature(vcs=1, width=width)),
            "network_out": Out(LinkSignature(vcs=injection.vcs, width=width)),
            "network_in": In(LinkSignature(vcs=consumption.vcs, width=width)),
            "host_out": Out(LinkSignature(vcs=consumption.vcs, width=width)),
        })

    def elaborate(self, platform):
        m = Module()
        injection = Injection(self.injection, width=self.width, storage=self.storage)
        consumption = Consumption(self.consumption, width=self.width, storage=self.storage)
        m.submodules.injection = injection
        m.submodules.consumption = consumption
        wiring.connect(m, wiring.flipped(self.host_in), injection.host)
        wiring.connect(m, injection.network, wiring.flipped(self.network_out))
        wiring.connect(m, wiring.flipped(self.network_in), consumption.network)
        wiring.connect(m, consumption.host, wiring.flipped(self.host_out))
        return m
