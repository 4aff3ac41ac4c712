# amaranth: UnusedElaboratable=no
"""Names of AXI4-Stream for the streams of a host."""


from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..bundles import by_name
from .stream_interface import StreamInterface

__all__ = ["AxisInterface", "AxisSignature"]


class AxisSignature(wiring.Signature):
    """AXI4-Stream, seen from the sender. All bytes of ``tdata`` are valid: there is no TKEEP.

    Members
    -------
    tvalid : Out(1)
        A beat is offered. The beat stays unchanged until the receiver accepts it.
    tready : In(1)
        The receiver accepts the beat in this cycle.
    tdata : Out(width)
        Payload.
    tlast : Out(1)
        The beat is the last one of its message, or of its set.
    tid, tdest, tuser : Out
        Meanings differ from stream to stream. A member with 0 bits does not exist.

    Parameters
    ----------
    width : int
        Bits of ``tdata``, a multiple of 8.
    id, dest, user : int
        Bits of ``tid``, ``tdest`` and ``tuser``; 0: the member does not exist.
    """

    def __init__(self, *, width: int, id: int = 0, dest: int = 0, user: int = 0):
        if width % 8:
            raise WormcastError(f"AxisSignature.width: {width} is not valid: AXI4-Stream has whole bytes. Allowed: "
                                "multiples of 8.")
        optional = {"tid": id, "tdest": dest, "tuser": user}
        super().__init__({
            "tvalid": Out(1),
            "tready": In(1),
            "tdata": Out(width),
            "tlast": Out(1),
            **{name: Out(bits) for name, bits in optional.items() if bits},
        })


class AxisInterface(wiring.Component):
    """Network interface whose host sends and receives messages by AXI4-Stream.

    The component is a `StreamInterface` with other names of its ports, and adds no logic.

    *Latency*: as in `StreamInterface`. *Throughput*: as in `StreamInterface`. *Reset*: as in `StreamInterface`.

    Parameters
    ----------
    inner : StreamInterface

    Members
    -------
    s_axis : In(AxisSignature)
        Messages of the host. ``tdest`` of a message's first beat is the number of its destination set; with masks
        ``tuser`` of the first beat is the mask of its destinations, bit n for node n.
    s_axis_table : In(AxisSignature)
        Destination sets of the host. ``tdata`` of the first beat is the number of the set, ``tdata`` of the other beats
        are header flits. ``tuser`` marks the last header flit of a worm. ``tready`` is always 1. ``s_axis_table``
        exists only with a table of sets.
    m_axis_{c} : Out(AxisSignature)
        Messages for the host, for each consumption link. ``tid`` is the consumption channel: beats of different
        channels interleave. The top bit of ``tuser`` marks the last beat of a damaged message; the other bits are the
        id of the node that sent the message.
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

    def __init__(self, inner: StreamInterface):
        self.inner = inner
        self.interface = inner.interface
        self.links = inner.links
        inside = by_name(inner)
        sent = inside["send"].payload
        set_bits = len(sent.to)
        # a mask does not fit into TDEST, which has at most 8 bits
        carried = "dest" if "table" in inside else "user"
        streams = {"s_axis": In(AxisSignature(width=len(sent.data), **{carried: set_bits}))}
        # for each AXI4-Stream: the inner stream, and for each member besides TDATA and TLAST the fields that it carries
        self._fields: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
            "s_axis": ("send", {f"t{carried}": ("to",)})}
        if "table" in inside:
            streams["s_axis_table"] = In(AxisSignature(width=len(sent.data), user=1))
            self._fields["s_axis_table"] = ("table", {"tuser": ("ends",)})
        for c in range(len(inner.receivers)):
            beat = inside[f"receive_{c}"].payload
            streams[f"m_axis_{c}"] = Out(AxisSignature(width=len(beat.data), id=len(beat.channel),
                                                       user=len(beat.source) + 1))
            self._fields[f"m_axis_{c}"] = (f"receive_{c}", {"tid": ("channel",), "tuser": ("source", "damaged")})
        kept = {name: member for name, member in inner.signature.members.items()
                if name not in {stream for stream, _ in self._fields.values()}}
        super().__init__({**streams, **kept})

    def elaborate(self, platform):
        m = Module()
        m.submodules.streams = self.inner
        inside, outside = by_name(self.inner), by_name(self)
        for name, (stream, renamed) in self._fields.items():
            outer, inner = outside[name], inside[stream]
            fields = {"tdata": ("data",), "tlast": ("last",), **renamed}
            members = by_name(outer)
            pairs = [(members[member], Cat(inner.payload[field] for field in found))
                     for member, found in fields.items() if member in members]
            pairs.append((outer.tvalid, inner.valid))
            inward = self.signature.members[name].flow is In
            m.d.comb += [inner_side.eq(outer_side) if inward else outer_side.eq(inner_side)
                         for outer_side, inner_side in pairs]
            m.d.comb += outer.tready.eq(inner.ready) if inward else inner.ready.eq(outer.tready)
        for name, member in self.signature.members.items():
            if name in self._fields:
                continue
            if member.is_signature:
                wiring.connect(m, wiring.flipped(outside[name]), inside[name])
            elif member.flow is In:
                m.d.comb += inside[name].eq(outside[name])
            else:
                m.d.comb += outside[name].eq(inside[name])
        return m
