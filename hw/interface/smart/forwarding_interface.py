# amaranth: UnusedElaboratable=no
# (a run with stored kernels needs only the component's ports, and never elaborates it)
"""Smart network interface: it forwards the packets of multicasts to the node's children."""

from typing import Any

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ...events import Event
from ...faults import Cause
from ...link import LinkSignature
from ...options import FORWARD_ORDERS
from ..network_interface import NetworkInterface
from .forwarding import Forwarding
from .row_admission import RowAdmission

__all__ = ["ForwardingInterface"]

#: Members that are counters.
COUNTERS = ("forwarded", "resident", "copied", "occupancy", "peak")


class ForwardingInterface(NetworkInterface):
    """Smart network interface, which forwards packets of multicasts to the node's children ([Sivaram98], section 4).

    The host has written the children's headers into the child table. Worms must be split into packets::

        host_out_0 ◀─┬─ Consumption 0 ◀─ network_in_0
        table_in ────┴─▶ Forwarding ─▶ Injection 0 ─▶ network_out_0

    With sources, a `RowAdmission` is between ``table_in`` and the child table, and gets the control packets.

    The host posts the payload of a multicast once, after a flit with head mark and tail mark.

    *Latency*: as in `NetworkInterface`; the first flit of a packet's first copy is on ``network_out_0`` at the earliest
    4 + t_nr + t_ns cycles after the packet's tail was on ``network_in_0``. With a receive queue and P payload flits,
    the first copy's first flit is on ``network_out_0`` at the earliest P + 4 + max(t_nr, 1) + t_ns cycles after the
    tail. The t_nr of one packet may pass during the t_ns of another. *Throughput*: after a copy of n flits has begun,
    the next copy begins n + t_ns cycles later, with free resources. If t_ns is 0 and both copies take the same virtual
    channel, the next copy begins 1 cycle later still. *Reset*: as in `NetworkInterface`; the child table has no rows,
    and no packet is stored.

    Parameters
    ----------
    kind : "fcfs" or "fpfs"
        Forwarding order.
    rows, places, row_flits
        ``rows``, ``places`` and ``flits`` of `Forwarding`.
    sources : int
        Nodes that may request rows by control packets, as in `RowAdmission`. 0 adds no hardware: the hosts write rows
        without a request.
    **parameters
        Parameters of `NetworkInterface`, except ``ports`` and ``links``, which are 1.

    Members
    -------
    table_in : In(LinkSignature)
        From the host, to the child table.
    fault : Out(fault_layout)
        The first error on the wire, until reset. ``LIST_TOO_LONG`` at ``network_in_0``: a packet to be forwarded has
        more payload flits than a packet may have. At ``table_in``: ``LIST_TOO_LONG`` for more header flits than a row
        has room for, ``NO_SUCH_DESTINATION`` for a row that does not exist, and ``WRONG_ORDER`` for a row that is
        written while packets of it are stored.
    forwarded, resident, copied, occupancy, peak : Out
        As in `Forwarding`.
    """

    @checked
    def __init__(self, *, kind: str, rows: int = 8, places: int = 4, row_flits: int = 16, sources: int = 0,
                 **parameters: Any):
        if kind not in FORWARD_ORDERS:
            raise WormcastError(f"ForwardingInterface.kind: {kind!r} is not valid. "
                                f"Allowed: {', '.join(FORWARD_ORDERS)}.")
        if not parameters.get("packet"):
            raise WormcastError("ForwardingInterface.packet: 0 (the default) is not valid. Allowed: 1 or more.")
        self.forwarding = Forwarding(order=kind, rows=rows, places=places, packet=parameters["packet"], flits=row_flits,
                                     channels=parameters["consumption"].vcs, width=parameters["width"],
                                     reports=sources > 0)
        self.admission = RowAdmission(
            rows=rows, channels=parameters["consumption"].vcs, width=parameters["width"], sources=sources,
            header_flits=parameters.get("header_flits", 1), counts=FORWARD_ORDERS[kind]) if sources else None
        super().__init__(**parameters, ports=1, links=1)

    def _injection_options(self, channels: int) -> dict[str, Any]:
        return {"smart": True, "answers": self.admission is not None}

    def _consumption_options(self) -> dict[str, Any]:
        return {"rows": self.forwarding.rows, "control": self.admission is not None}

    def _members(self, width: int) -> dict[str, Any]:
        return {"table_in": In(LinkSignature(vcs=1, width=width)),
                **{name: Out(self.forwarding.signature.members[name].shape) for name in COUNTERS}}

    def fault_ports(self, cause: Cause) -> list[str]:
        return super().fault_ports(cause) + ["table_in"] * (cause is not Cause.CREDIT)

    def events(self) -> list[Event]:
        # payload of the packet buffer; the headers of copies come from the child table
        return [*super().events(), Event("interface_write", ("forwarding.arrives", "forwarding.keeps")),
                Event("interface_read", ("forwarding.pop", "forwarding.payload"))]

    def _join(self, m) -> None:
        [injection], [consumption] = self.injections, self.consumptions
        m.submodules.forwarding = forwarding = self.forwarding
        if self.admission is None:
            wiring.connect(m, wiring.flipped(self.table_in), forwarding.table)
        else:
            self._admit(m, self.admission, injection, consumption)
        m.d.comb += [
            forwarding.consumed.eq(consumption.consumed),
            forwarding.consumed_vc.eq(consumption.consumed_vc),
            forwarding.consumed_flit.eq(consumption.consumed_flit),
            consumption.full.eq(forwarding.full),
            forwarding.posted.eq(injection.posted),
            forwarding.posted_flit.eq(injection.posted_flit),
            injection.stored.eq(forwarding.stored),
            injection.forwards.eq(forwarding.has),
            injection.forward.eq(forwarding.front),
            forwarding.pop.eq(injection.forward_pop),
            self.forwarded.eq(forwarding.forwarded),
            self.resident.eq(forwarding.resident),
            self.copied.eq(forwarding.copied),
            self.occupancy.eq(forwarding.occupancy),
            self.peak.eq(forwarding.peak),
        ]

    def _admit(self, m, admission, injection, consumption) -> None:
        """Connect the admission: it writes the child table for the host and for control packets."""
        m.submodules.admission = admission
        forwarding = self.forwarding
        wiring.connect(m, wiring.flipped(self.table_in), admission.host)
        m.d.comb += [
            forwarding.table.valid.eq(admission.table),
            forwarding.table.flit.eq(admission.table_flit),
            admission.consumed.eq(consumption.consumed),
            admission.consumed_vc.eq(consumption.consumed_vc),
            admission.consumed_flit.eq(consumption.consumed_flit),
            admission.control.eq(consumption.of_control),
            consumption.closed.eq(admission.closed),
            admission.children.eq(forwarding.inner),
            admission.freed.eq(forwarding.freed),
            admission.freed_row.eq(forwarding.freed_row),
            injection.answers.eq(admission.has),
            injection.answer.eq(admission.front),
            admission.pop.eq(injection.answer_pop),
        ]

    def _errors(self):
        yield from super()._errors()
        children = self.forwarding.children
        yield self.forwarding.too_long, Cause.LIST_TOO_LONG, 1, self.forwarding.consumed_vc
        for cause, found in ((Cause.LIST_TOO_LONG, children.too_long), (Cause.WRONG_ORDER, self.forwarding.row_in_use),
                             (Cause.NO_SUCH_DESTINATION, children.outside)):
            yield found, cause, 2, 0
