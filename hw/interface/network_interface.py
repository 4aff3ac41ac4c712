# amaranth: UnusedElaboratable=no
# (a run with stored kernels needs only the component's ports, and never elaborates it)
"""Network interface: injection ports, consumption links and, if it is smart, forwarding."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..bundles import by_name
from ..faults import Cause, fault_layout, first_fault
from ..link import LinkSignature
from ..port import PortSpec
from .consumption import Consumption
from .injection import Injection
from .smart import Forwarding

__all__ = ["NetworkInterface"]

#: Members of a smart interface that are counters.
COUNTERS = ("forwarded", "resident", "copied", "occupancy", "peak")


class NetworkInterface(wiring.Component):
    """Network interface, conventional or smart.

    ::

        host_in_{p}  ─▶ Injection p   ─▶ network_out_{p}
        host_out_{c} ◀─ Consumption c ◀─ network_in_{c}

    Links between host and interface are like those between routers. The host sends whole worms, header flits first. The
    host receives the payload flits of packets, and returns a credit for each flit. The host assembles the packets: it
    has the message's memory, and each payload flit names its worm and its place. Ports and links are independent: each
    has its own buffers and its own t_ns or t_nr counter.

    With slots, worms with further destinations that arrive on consumption link 0 are sent again by injection port 0,
    with the rest of their header ([Boppana98], section 3.1: absorb and retransmit). An interface with slots must have
    one port and one link::

        host_out_0 ◀─┬─ Consumption 0 ◀─ network_in_0
                     └─▶ Retransmission: absorb buffers, slots ─▶ Injection 0 ─▶ network_out_0

    From a worm's tail on ``network_in_0`` to its first flit on ``network_out_0`` absorbing and resending takes at least
    4 + t_nr + t_ns cycles.

    A smart interface forwards packets of multicasts to the node's children ([Sivaram98], section 4), whose headers the
    host has written into the child table. A smart interface must have one port and one link, and split worms into
    packets::

        host_out_0 ◀─┬─ Consumption 0 ◀─ network_in_0
        table_in ────┴─▶ Forwarding ─▶ Injection 0 ─▶ network_out_0

    The first flit of a packet's first copy is on ``network_out_0`` at the earliest 4 + t_nr + t_ns cycles after the
    packet's tail was on ``network_in_0``. The t_nr of one packet may pass during the t_ns of another. After a copy of n
    flits has begun, the next copy begins n + t_ns cycles later, with free resources. If t_ns is 0 and both copies take
    the same virtual channel, the next copy begins 1 cycle later still. The host posts a multicast once, after a flit
    with both marks.

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
    width, storage, queue, packet, header_flits, t_ns, t_nr, slots, slot_flits
        As in `Injection` and `Consumption`.
    kind : "conventional", "fcfs" or "fpfs"
        ``fcfs`` and ``fpfs`` are the forwarding orders of a smart interface.
    rows, places, row_flits
        ``rows``, ``places`` and ``flits`` of `Forwarding`. Smart interfaces only.

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
        The first error on the wire, until reset. Smart interfaces report ``LIST_TOO_LONG`` at ``network_in_0`` if
        `Forwarding` cuts a packet. At ``table_in`` smart interfaces report ``LIST_TOO_LONG`` for a train too long for
        its row, ``NO_SUCH_DESTINATION`` for a row that does not exist, and ``WRONG_ORDER`` for a row with stored
        packets.
    table_in : In(LinkSignature)
        From the host, to the child table. Smart interfaces only.
    forwarded, resident, copied, occupancy, peak : Out
        As in `Forwarding`. Smart interfaces only.
    """

    def __init__(self, *, injection: PortSpec, consumption: PortSpec, width: int, ports: int = 1, links: int = 1,
                 storage: str = "lutram", queue: int = 4, packet: int = 0, header_flits: int = 1, t_ns: int = 0,
                 t_nr: int = 0, slots: int = 0, slot_flits: int = 128, kind: str = "conventional", rows: int = 8,
                 places: int = 4, row_flits: int = 16):
        for field, value in (("ports", ports), ("links", links)):
            if value < 1:
                raise WormcastError(f"NetworkInterface.{field}: {value} is not valid. Allowed: 1 or more.")
            if slots and value > 1:
                raise WormcastError(f"NetworkInterface.{field}: {value} is not valid with slots. Allowed: 1.")
            if kind != "conventional" and value > 1:
                raise WormcastError(f"NetworkInterface.{field}: {value} is not valid with kind {kind}. Allowed: 1.")
        self.slots = slots
        self.forwarding = None
        if kind != "conventional":
            if not packet:
                raise WormcastError(f"NetworkInterface.packet: 0 is not valid with kind {kind}. Allowed: 1 or more.")
            self.forwarding = Forwarding(order=kind, rows=rows, places=places, packet=packet, flits=row_flits,
                                         channels=consumption.vcs, width=width)
        self.injections = [
            Injection(injection, width=width, storage=storage, queue=queue, packet=packet, header_flits=header_flits,
                      t_ns=t_ns, slots=slots, slot_flits=slot_flits, channels=consumption.vcs, smart=self.smart)
            for _ in range(ports)
        ]
        self.consumptions = [Consumption(consumption, width=width, storage=storage, t_nr=t_nr, slots=slots,
                                         rows=rows if self.smart else 0)
                             for _ in range(links)]
        signatures = {
            **{f"host_in_{p}": In(LinkSignature(vcs=1, width=width)) for p in range(ports)},
            **{f"network_out_{p}": Out(LinkSignature(vcs=injection.vcs, width=width)) for p in range(ports)},
            **{f"network_in_{c}": In(LinkSignature(vcs=consumption.vcs, width=width)) for c in range(links)},
            **{f"host_out_{c}": Out(LinkSignature(vcs=consumption.vcs, width=width)) for c in range(links)},
        }
        super().__init__({
            **signatures,
            "fault": Out(self.fault_layout),
            **({"table_in": In(LinkSignature(vcs=1, width=width)),
                **{name: Out(self.forwarding.signature.members[name].shape) for name in COUNTERS}}
               if self.forwarding else {}),
        })
        ports = by_name(self)
        self.links = {name: ports[name] for name in signatures}  #: by name

    @property
    def smart(self) -> bool:
        """The interface forwards packets."""
        return self.forwarding is not None

    @property
    def fault_layout(self):
        """Layout of ``fault``."""
        parts = [*self.injections, *self.consumptions]
        return fault_layout(len(parts) + self.smart, max(part.port.vcs for part in parts))

    def fault_port(self, cause: Cause, port: int) -> str:
        """Return the name of the link that a port number and a cause in ``fault`` refer to. The child table's link has
        the last number."""
        ports, credit = len(self.injections), cause is Cause.CREDIT
        if port == ports + len(self.consumptions):
            return "table_in"
        if port < ports:
            return f"network_out_{port}" if credit else f"host_in_{port}"
        return f"host_out_{port - ports}" if credit else f"network_in_{port - ports}"

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
        if self.slots:
            [injection], [consumption] = self.injections, self.consumptions
            m.d.comb += [
                injection.absorbed.eq(consumption.absorbed),
                injection.absorbed_vc.eq(consumption.absorbed_vc),
                injection.absorbed_flit.eq(consumption.absorbed_flit),
                injection.granted.eq(consumption.granted),
                injection.granted_vc.eq(consumption.granted_vc),
                consumption.freed.eq(injection.freed),
            ]
        if self.forwarding is not None:
            self._forward(m, self.forwarding)
        m.d.comb += self.fault.eq(first_fault(m, self.fault_layout, self._errors()))
        return m

    def _forward(self, m, forwarding):
        [injection], [consumption] = self.injections, self.consumptions
        m.submodules.forwarding = forwarding
        wiring.connect(m, wiring.flipped(self.table_in), forwarding.table)
        m.d.comb += [
            forwarding.brought.eq(consumption.brought),
            forwarding.brought_vc.eq(consumption.brought_vc),
            forwarding.brought_flit.eq(consumption.brought_flit),
            consumption.full.eq(forwarding.full),
            forwarding.posted.eq(injection.posted),
            forwarding.posted_flit.eq(injection.posted_flit),
            injection.stored.eq(forwarding.stored),
            injection.forwards.eq(forwarding.has),
            injection.forward.eq(forwarding.front),
            forwarding.take.eq(injection.forward_taken),
            self.forwarded.eq(forwarding.forwarded),
            self.resident.eq(forwarding.resident),
            self.copied.eq(forwarding.copied),
            self.occupancy.eq(forwarding.occupancy),
            self.peak.eq(forwarding.peak),
        ]

    def _errors(self):
        for k, part in enumerate((*self.injections, *self.consumptions)):
            for cause, found in ((Cause.CREDIT, part.wrong), (Cause.OVERFLOW, part.overflow)):
                for v, whether in enumerate(found):
                    yield whether, cause, k, v
        for p, injection in enumerate(self.injections):
            yield injection.unended, Cause.NO_TAIL, p, 0
        if self.forwarding is not None:
            children = self.forwarding.children
            yield self.forwarding.too_long, Cause.LIST_TOO_LONG, 1, self.forwarding.brought_vc
            for cause, found in ((Cause.LIST_TOO_LONG, children.too_long), (Cause.WRONG_ORDER, self.forwarding.early),
                                 (Cause.NO_SUCH_DESTINATION, children.outside)):
                yield found, cause, 2, 0
