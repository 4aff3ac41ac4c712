# amaranth: UnusedElaboratable=no
# (a run with stored kernels needs only the component's ports, and never elaborates it)
"""Network interface: injection ports and consumption links. One variant absorbs worms, another forwards packets."""

from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ..bundles import by_name
from ..events import Event, buffer_events, leaving
from ..faults import Cause, fault_layout, first_fault
from ..link import LinkSignature
from ..options import DMA_BUCKETS, PROCESSORS
from ..port import PortSpec
from .communication_processor import CommunicationProcessor
from .consumption import Consumption
from .dma_engine import DmaEngine
from .injection import Injection

__all__ = ["NetworkInterface"]


class NetworkInterface(wiring.Component):
    """Network interface of a node. A conventional interface only sends and receives the worms of its host.

    ::

        host_in_{p}  ─▶ Injection p   ─▶ network_out_{p}
        host_out_{c} ◀─ Consumption c ◀─ network_in_{c}

    Links between host and interface are like those between routers. The host sends whole worms, header flits first. The
    host receives the payload flits of packets, and returns a credit for each flit. The host assembles the packets: it
    has the message's memory, and each payload flit names its worm and its place. Injection ports and consumption links
    are independent: each has its own buffers and, without a common processor, its own t_ns or t_nr counter.

    *Latency*: 2 cycles from link to link either way; a packet's first flit to the network ``t_ns`` more, its tail flit
    to the host ``t_nr`` more. *Throughput*: an injection port takes min(1, queue / 3) flits per cycle from the host. If
    only one worm is sent at a time, the port sends min(1, depth / 4) flits per cycle. A consumption link takes a flit
    per cycle, or min(1, depth / 4) flits per cycle if all are from one channel. *Reset*: all buffers are empty, and the
    interface has all credits of its outgoing links.

    Parameters
    ----------
    injection : PortSpec
        Link of each injection port.
    consumption : PortSpec
        Each consumption link, with the channels that share it.
    ports, links : int
        Number of injection ports, and of consumption links.
    width, storage, queue, packet, header_flits, t_ns, t_nr
        As in `Injection` and `Consumption`.
    receive_queue : int
        Packets that each consumption channel can store, ``queue`` of `Consumption`. A variant that forwards packets
        gets them when they leave the queue.
    send_queue : int
        Packets that each injection port can store, as in `Injection`.
    processors : "two" or "one"
        two: each injection port spends t_ns, and each consumption link t_nr, by hardware of its own. one: a
        `CommunicationProcessor` serves the packets of all queues. Only with both queues.
    order : "arrival", "receive-first" or "send-first"
        Order in which one processor serves packets, as in `CommunicationProcessor`.
    bus_flits, bus_cycles : int
        Rate of the I/O bus to the host, as in `DmaEngine`: ``flits`` and ``cycles``. Flits from and to the host then
        need grants of a `DmaEngine`. 0 flits: there is no limit, and no hardware for it.
    bus_buckets : "shared" or "separate"
        shared: one `DmaEngine` for all links from and to the host. separate: one for the links from the host, and one
        for those to the host, each with the whole rate.

    Members
    -------
    host_in_{p} : In(LinkSignature)
        From the host, for each injection port; one virtual channel.
    network_out_{p} : Out(LinkSignature)
        To the router, for each injection port.
    network_in_{c} : In(LinkSignature)
        From the router, for each consumption link.
    host_out_{c} : Out(LinkSignature)
        To the host, for each consumption link.
    fault : Out(fault_layout)
        The first error on the wire, until reset.
    """

    @checked
    def __init__(self, *, injection: PortSpec, consumption: PortSpec, width: int, ports: int = 1, links: int = 1,
                 storage: str = "lutram", queue: int = 4, packet: int = 0, header_flits: int = 1, t_ns: int = 0,
                 t_nr: int = 0, receive_queue: int = 0, send_queue: int = 0, processors: str = "two",
                 order: str = "arrival", bus_flits: int = 0, bus_cycles: int = 1, bus_buckets: str = "shared"):
        for field, value in (("ports", ports), ("links", links)):
            if value < 1:
                raise WormcastError(f"NetworkInterface.{field}: {value} is not valid. Allowed: 1 or more.")
        for field, word, allowed in (("processors", processors, PROCESSORS), ("bus_buckets", bus_buckets, DMA_BUCKETS)):
            if word not in allowed:
                raise WormcastError(f"NetworkInterface.{field}: {word!r} is not valid. Allowed: {', '.join(allowed)}.")
        bus = bus_flits != 0
        served = processors == "one"
        self.injections = [
            Injection(injection, width=width, storage=storage, queue=queue, packet=packet, header_flits=header_flits,
                      t_ns=t_ns, send_queue=send_queue, served=served, bus=bus,
                      **self._injection_options(consumption.vcs))
            for _ in range(ports)
        ]
        self.consumptions = [Consumption(consumption, width=width, storage=storage, t_nr=t_nr, queue=receive_queue,
                                         packet=packet, served=served, bus=bus, **self._consumption_options())
                             for _ in range(links)]
        self.processor = CommunicationProcessor(
            receive=links, send=ports, packets=links * consumption.vcs * receive_queue + ports * send_queue, t_nr=t_nr,
            t_ns=t_ns, order=order) if served else None
        sides: list[list[Any]] = [[*self.consumptions], [*self.injections]]
        if bus_buckets == "shared":
            sides = [[*self.consumptions, *self.injections]]
        #: DMA engines, each with the parts of the interface whose links share its bus
        self.engines = [(DmaEngine(links=len(parts), flits=bus_flits, cycles=bus_cycles), parts)
                        for parts in sides] if bus else []
        signatures = {
            **{f"host_in_{p}": In(LinkSignature(vcs=1, width=width)) for p in range(ports)},
            **{f"network_out_{p}": Out(LinkSignature(vcs=injection.vcs, width=width)) for p in range(ports)},
            **{f"network_in_{c}": In(LinkSignature(vcs=consumption.vcs, width=width)) for c in range(links)},
            **{f"host_out_{c}": Out(LinkSignature(vcs=consumption.vcs, width=width)) for c in range(links)},
        }
        super().__init__({**signatures, "fault": Out(self.fault_layout), **self._members(width)})
        ports = by_name(self)
        self.links = {name: ports[name] for name in signatures}  #: Members that are links, by name.

    def _injection_options(self, channels: int) -> dict[str, Any]:
        """Return the parameters of `Injection` that a variant adds, for a number of consumption channels."""
        return {}

    def _consumption_options(self) -> dict[str, Any]:
        """Return the parameters of `Consumption` that a variant adds."""
        return {}

    def _members(self, width: int) -> dict[str, Any]:
        """Return the members that a variant adds, for a flit width in bits."""
        return {}

    @property
    def fault_layout(self):
        """Layout of ``fault``."""
        parts = [*self.injections, *self.consumptions]
        return fault_layout(len(self.fault_ports(Cause.OVERFLOW)), max(part.port.vcs for part in parts))

    def fault_ports(self, cause: Cause) -> list[str]:
        """Return the names of the links that the port numbers in ``fault`` stand for, from 0 on, for a cause."""
        sent, received = ("network_out", "host_out") if cause is Cause.CREDIT else ("host_in", "network_in")
        return [*(f"{sent}_{p}" for p in range(len(self.injections))),
                *(f"{received}_{c}" for c in range(len(self.consumptions)))]

    def events(self) -> list[Event]:
        """Return the signals that show the events of an interface."""
        found: list[Event] = []
        for p in range(len(self.injections)):
            found += [*leaving(f"network_out_{p}", "injection"), *self._buffer(f"injection_{p}")]
            if self.injections[p].store:
                found += [Event("interface_write", (f"injection_{p}.packets.write",)),
                          Event("interface_read", (f"injection_{p}.packets.pop",))]
        for c, consumption in enumerate(self.consumptions):
            found += self._buffer(f"consumption_{c}")
            if consumption.queue:
                found += [Event("interface_write", (f"consumption_{c}.queue.write",)),
                          Event("interface_read", (f"consumption_{c}.queue.pop",))]
        return found

    @staticmethod
    def _buffer(part: str) -> list[Event]:
        return buffer_events(f"{part}.buffer", "interface_write", "interface_read", readers=1, vcs=0)

    def elaborate(self, platform):
        m = Module()
        for p, injection in enumerate(self.injections):
            m.submodules[f"injection_{p}"] = injection
            wiring.connect(m, wiring.flipped(self.links[f"host_in_{p}"]), injection.host)
            wiring.connect(m, injection.network, wiring.flipped(self.links[f"network_out_{p}"]))
        for c, consumption in enumerate(self.consumptions):
            m.submodules[f"consumption_{c}"] = consumption
            wiring.connect(m, wiring.flipped(self.links[f"network_in_{c}"]), consumption.network)
            wiring.connect(m, consumption.host, wiring.flipped(self.links[f"host_out_{c}"]))
        if self.processor is not None:
            m.submodules.processor = self.processor
            for k, part in enumerate((*self.consumptions, *self.injections)):
                m.d.comb += [self.processor.arrives[k].eq(part.arrives), self.processor.waits[k].eq(part.waits),
                             part.done.eq(self.processor.done[k])]
        for k, (engine, parts) in enumerate(self.engines):
            m.submodules[f"dma_{k}"] = engine
            m.d.comb += [engine.crosses.eq(Cat(part.crosses for part in parts)),
                         *(part.may_cross.eq(engine.may_cross[j]) for j, part in enumerate(parts))]
        self._join(m)
        m.d.comb += self.fault.eq(first_fault(m, self.fault_layout, self._errors()))
        return m

    def _join(self, m) -> None:
        """Connect what a variant adds."""

    def _errors(self):
        for k, part in enumerate((*self.injections, *self.consumptions)):
            for cause, found in ((Cause.CREDIT, part.credit_error), (Cause.OVERFLOW, part.overflow)):
                for v, whether in enumerate(found):
                    yield whether, cause, k, v
        for p, injection in enumerate(self.injections):
            yield injection.no_tail, Cause.NO_TAIL, p, 0
