# amaranth: UnusedElaboratable=no
"""A smart network interface, what comes to it over its links, and what is expected of it."""

import itertools

from wormcast.hw import PortSpec
from wormcast.hw.faults import Cause
from wormcast.hw.interface.smart import ForwardingInterface
from wormcast.hw.options import CONTROL, CONTROL_ANSWER, GRANTED, REFUSED, RELEASE, REQUEST, REQUEST_LEAF

from . import bench

WIDTH = 16


def smart(kind="fpfs", *, vcs=1, channels=1, **options):
    options = {"rows": 4, "places": 4, "packet": 4, "row_flits": 8, **options}
    return bench.built(ForwardingInterface, injection=PortSpec("network", vcs=vcs, depth=8), width=WIDTH, kind=kind,
                       consumption=PortSpec("consumption", vcs=channels, depth=4), **options)


def train(row, *children, packets=None):
    """The flits that write a row: each child is the list of its header flits; with ``packets``, how many there are."""
    flits = [[1, 0, row]]
    if packets is not None and children:
        flits.append([0, 0, packets - 1])
    for header in children:
        flits += [[0, int(k == len(header) - 1), data] for k, data in enumerate(header)]
    flits[-1][0] = flits[-1][1] = 1
    return [tuple(flit) for flit in flits]


def payload(row, numbers):
    """Payload flits of a message of this row: its number in the low bits, theirs above."""
    return [row | number << 8 for number in numbers]


def posted(row, count):
    """Flits of a posting: what the host sends to the interface to be forwarded."""
    data = payload(row, range(count))
    return [(1, 1, 0), *((0, int(k == count - 1), word) for k, word in enumerate(data))]


def packet(header, data):
    return [*((1, 0, word) for word in header), *((0, int(k == len(data) - 1), word) for k, word in enumerate(data))]


def pieces(word, bits, width):
    """Return the bits of a word in flits, low bits first."""
    return [word >> k & (1 << width) - 1 for k in range(0, bits, width)]


def control(kind, row, source, number, width):
    """Return the first fields of a control packet for an interface."""
    return [*pieces(CONTROL | row << 8 | kind << 14 | source << 16, 32, width), number]


def request(row, source, number, *, packets, label, header, children=(), width):
    """Return the payload of a request: its fields, then the answer's header, then the header of each child."""
    kind = REQUEST if children else REQUEST_LEAF
    lists = [flit for one in (header, *children) for flit in (len(one), *one)]
    return [*control(kind, row, source, number, width), packets - 1, *pieces(label, 16, width), *lists]


def release(row, source, number, width):
    """Return the payload of a release."""
    return control(RELEASE, row, source, number, width)


def answer(granted, row, label, header, width):
    """Return the flits of an answer."""
    return packet(header, pieces(CONTROL_ANSWER | row << 8 | (GRANTED if granted else REFUSED) << 14 | label << 16, 32,
                                 width))


PAUSE = [None]
"""A cycle in which the host sends nothing on a link."""


def drive(interface, *, table=(), host=(), network=(), cycles=300, blocked=range(0), fault=None):
    """Feed all three links as credits allow, the host's worms behind the table, the network from a list of (cycle,
    channel, flit); what is on the links to the network and the host, by cycle, and what is counted at the end.
    ``blocked``: cycles without credits from the network; ``fault``: cause, link and channel of the one that is latched.
    """
    out, up, counted, faults = [], [], {}, set()
    queues = {"table_in": list(table), "host_in_0": list(host)}
    room = {"table_in": 1, "host_in_0": interface.injections[0].queue}
    arriving, space = list(network), [interface.consumptions[0].port.depth] * interface.consumptions[0].port.vcs
    owed, owed_up = [], []

    def step(cycle, context):
        for name, queue in queues.items():
            link = getattr(interface, name)
            room[name] += context.get(link.credit)
            sends = bool(queue) and room[name] > 0 and not (name == "host_in_0" and queues["table_in"])
            if sends and queue[0] is None:
                sends = bool(queue.pop(0))
            context.set(link.valid, sends)
            if sends:
                room[name] -= 1
                head, tail, data = queue.pop(0)
                context.set(link.flit, {"head": head, "tail": tail, "data": data})
        credit = context.get(interface.network_in_0.credit)
        for vc in range(len(space)):
            space[vc] += credit >> vc & 1
        ready = [k for k, (at, vc, _) in enumerate(arriving) if at <= cycle and space[vc] > 0
                 and not any(other == vc for _, other, _ in arriving[:k])]
        context.set(interface.network_in_0.valid, bool(ready))
        if ready:
            _, vc, (head, tail, data) = arriving.pop(ready[0])
            space[vc] -= 1
            context.set(interface.network_in_0.vc, vc)
            context.set(interface.network_in_0.flit, {"head": head, "tail": tail, "data": data})
        for name, seen, waits in (("network_out_0", out, owed), ("host_out_0", up, owed_up)):
            link = getattr(interface, name)
            gives = bool(waits) and not (name == "network_out_0" and cycle in blocked)
            context.set(link.credit, 1 << waits.pop(0) if gives else 0)
            if context.get(link.valid):
                vc, flit = context.get(link.vc), context.get(link.flit)
                seen.append((cycle, flit.head, flit.tail, flit.data))
                waits.append(vc)
        found = context.get(interface.fault)
        if found.cause != Cause.NONE:
            faults.add((found.cause.name, interface.fault_ports(found.cause)[found.port], found.vc))
        for name in ("forwarded", "resident", "copied", "occupancy", "peak"):
            counted[name] = context.get(getattr(interface, name))

    bench.simulate(interface, cycles, step)
    assert faults == ({fault} if fault else set())
    return out, up, counted


def joined(pieces):
    return list(itertools.chain.from_iterable(pieces))


def sent(out):
    return [entry[1:] for entry in out]


def copies(children, data, size, kind):
    """The packets in the order in which they are to leave."""
    pieces = [data[k:k + size] for k in range(0, len(data), size)]
    pairs = itertools.product(children, pieces) if kind == "fcfs" else (
        (child, piece) for piece, child in itertools.product(pieces, children))
    return [flit for child, piece in pairs for flit in packet(child, piece)]
