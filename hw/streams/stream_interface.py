# amaranth: UnusedElaboratable=no
"""Network interface with streams in place of the links to the host."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..bundles import by_name
from ..interface import NetworkInterface
from .receiver import StreamReceiver
from .sender import StreamSender

__all__ = ["StreamInterface", "send_fault_layout"]

#: Static inputs of the component that computes headers.
STRAPS = ("strap_node", "strap_position")


def send_fault_layout() -> data.StructLayout:
    """Return the layout of the errors of a host: ``unknown_set``, ``too_long`` and ``bad_set``."""
    return data.StructLayout({"unknown_set": 1, "too_long": 1, "bad_set": 1})


class StreamInterface(wiring.Component):
    """Network interface whose host sends and receives messages as streams of payload.

    ::

        send      ─▶ StreamSender   ─▶ host_in_0  ──────┐
                        ▲ headers                       ├─ network interface ─ network_out_0, network_in_{c}
        sets ─▶ SetTable, or headers of masks           │
        receive_{c} ◀─ StreamReceiver ◀─ host_out_{c} ◀─┘

    *Latency*: 2 cycles more than the interface in either direction, and to the router also the cycles of the header.
    *Throughput*: as in `StreamSender`; to the host a beat per cycle, and the source's id takes a further cycle for each
    message. *Reset*: empty, and a table of sets has no set.

    Parameters
    ----------
    interface : NetworkInterface
        An interface with one injection port, which sends worms whole, not in packets.
    headers : SetTable, AddressHeaders or BitStringHeaders
        Component that makes the headers.
    nodes, message : int
        As in `StreamSender`.

    Members
    -------
    send : In(stream of message_beat)
        Messages of the host. ``to`` of a message's first beat is its destination set: the number of a set in the table,
        or a mask with bit n for node n.
    table : In(stream of set_beat)
        Destination sets of the host. ``data`` of the first beat is the number of the set, ``data`` of the other beats
        are header flits. ``ends`` marks the last header flit of a worm. ``ready`` is always 1. ``table`` exists
        only with a table of sets.
    receive_{c} : Out(stream of delivery_beat)
        Messages for the host, for each consumption link. ``channel`` is the consumption channel: beats of different
        channels interleave. ``source`` is the node that sent the message. ``damaged`` marks the last beat of a damaged
        message.
    network_out_0 : Out(LinkSignature)
        To the router.
    network_in_{c} : In(LinkSignature)
        From the router, for each consumption link.
    strap_node : In(range(nodes))
        Id of this node.
    strap_position : In(range(nodes))
        Position of this node on the path, from 0. ``strap_position`` exists only with lists of addresses.
    fault : Out(fault_layout)
        The first error on the wire, until reset.
    send_fault : Out(send_fault_layout)
        Errors of the host, until reset: a message to a set without worms was dropped, a message was cut, a set that
        does not exist or does not fit was written.
    """

    def __init__(self, interface: NetworkInterface, headers: Any, *, nodes: int, message: int):
        self.interface = interface
        self.headers = headers
        [injection] = interface.injections
        set_bits = len(headers.sets.payload)
        self.sender = StreamSender(width=injection.width, queue=injection.queue, message=message, nodes=nodes,
                                   set_bits=set_bits)
        self.receivers = [StreamReceiver(width=part.width, vcs=part.port.vcs, nodes=nodes, storage=part.storage)
                          for part in interface.consumptions]
        members = headers.signature.members
        self.links = {name: interface.links[name] for name in interface.links if name.startswith("network_")}
        super().__init__({
            "send": self.sender.signature.members["messages"],
            **({"table": members["table"]} if "table" in members else {}),
            **{f"receive_{c}": receiver.signature.members["messages"] for c, receiver in enumerate(self.receivers)},
            **{name: interface.signature.members[name] for name in self.links},
            "strap_node": In(range(nodes)),
            **({"strap_position": In(range(nodes))} if "strap_position" in members else {}),
            "fault": Out(interface.fault_layout),
            "send_fault": Out(send_fault_layout()),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.interface = interface = self.interface
        m.submodules.sender = sender = self.sender
        m.submodules.headers = headers = self.headers
        own, members = by_name(self), by_name(headers)
        wiring.connect(m, wiring.flipped(self.send), sender.messages)
        wiring.connect(m, sender.sets, headers.sets)
        wiring.connect(m, headers.headers, sender.headers)
        wiring.connect(m, sender.host, interface.links["host_in_0"])
        if "table" in headers.signature.members:
            wiring.connect(m, wiring.flipped(self.table), headers.table)
        for c, receiver in enumerate(self.receivers):
            m.submodules[f"receiver_{c}"] = receiver
            wiring.connect(m, interface.links[f"host_out_{c}"], receiver.host)
            wiring.connect(m, receiver.messages, wiring.flipped(own[f"receive_{c}"]))
        for name, link in self.links.items():
            wiring.connect(m, wiring.flipped(own[name]), link)
        m.d.comb += [self.fault.eq(interface.fault), sender.strap_node.eq(self.strap_node)]
        m.d.comb += [members[strap].eq(own[strap]) for strap in STRAPS if strap in members]
        errors = {"unknown_set": sender.unknown_set, "too_long": sender.too_long,
                  **({"bad_set": headers.table_error} if "table_error" in members else {})}
        for name, error in errors.items():
            with m.If(error):
                m.d.sync += self.send_fault[name].eq(1)
        return m
