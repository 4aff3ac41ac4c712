# amaranth: UnusedElaboratable=no
"""Set-ups of the benches: of a design its links, the worms to send, errors and what must come of them."""

import random

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms import SCHEMES, find_scheme, topology
from wormcast.algorithms.headers import Unicast
from wormcast.hw.faults import Cause
from wormcast.hw.interface.consumption import HOST_DEPTH
from wormcast.hw.router import Blueprint
from wormcast.hw.token_station import TokenStation
from wormcast.sim import Network, hardware
from wormcast.sim.export.verilog.network import outside, table_words
from wormcast_tb import Flit, make_worm

from ..hw.smart import copies, payload, posted, smart, train
from . import traffic

#: Router with all four neighbours, in a network of 3x3 nodes, and two of the neighbours.
HERE, EAST, WEST = 4, 5, 3
OUTSIDE = 0b11_00

#: Numbers of worms that no random one has.
BAD, ALONE, BEHIND = 61, 62, 63


def fault_widths(component):
    """Bits of a fault's cause, port and virtual channel."""
    return [component.fault_layout[name].width for name in ("cause", "port", "vc")]


def of_switch(scheme, options, worms=60):
    """The router in the middle of 3x3 nodes, and its bench's set-up."""
    mesh, found = topology("mesh:3x3"), SCHEMES[scheme]
    configuration = hardware(mesh, found, options)
    blueprint = Blueprint(mesh, found, configuration)
    router = blueprint.router()
    form, straps = router.decoder.header, router.decoder.strap_values(blueprint.routes, blueprint.kinds[0])
    through = make_worm(form.encode([WEST]), traffic.payload(ALONE, 4))
    first = 3 + (configuration.delays == "fast")
    east, west = router.decoder.inputs.index("east"), router.decoder.outputs.index("west")
    behind = make_worm(form.encode([WEST]), traffic.payload(BEHIND, 3))
    return router, {
        "inputs": [f"{name}_in" for name in router.decoder.inputs],
        "outputs": [f"{name}_out" for name in (*router.decoder.outputs[:-1], *router.consumption_ports)],
        "depth": configuration.buffer,
        "straps": {f"strap_{name}": values[HERE] for name, values in straps.items()},
        "faults": {"fault": fault_widths(router)},
        "worms": traffic.through_a_router(mesh, found, configuration, HERE, random.Random(str(options)), worms),
        "alone": {"link": "east_in", "vc": 0, "flits": through, "copies": [("west_out", through)],
                  # with less buffer the flits behind the first wait for credits
                  "cycles": [first + k for k in range(len(through) if configuration.buffer >= 4 else 1)]},
        "errors": {
            cause.name: {"link": "east_in", "vc": 0, "flits": flits, "fault": [cause.value, east, 0],
                         "behind": {"link": "east_in", "vc": 0, "flits": behind, "copies": [("west_out", behind)]}}
            for cause, flits in spoilt_worms(form).items()},
        "spoilt": {} if configuration.vcs == 1 else {
            "link": "west_out", "vc": 0, "fault": [Cause.CREDIT.value, west, 0]},
        "flood": {"link": "east_in", "vc": 0, "fault": [Cause.OVERFLOW.value, east, 0], "flits": make_worm(
            form.encode([WEST]), traffic.payload(BAD, 2 * configuration.buffer + 10))},
    }


def spoilt_worms(form):
    """Flits from the east that must not be, by what is wrong with them."""
    def header(address, last=1):
        slots = sum(address << k * form.address_bits for k in range(form.capacity))
        return Flit(1, 0, slots | (last << form.flit_width - 1 if form.last_bits else 0))

    west, body = form.address(WEST), make_worm([], traffic.payload(BAD, 3))
    found = {
        Cause.NO_HEADER: body,
        Cause.NO_TAIL: [header(west), *body[:-1]],
        Cause.NO_SUCH_DESTINATION: [header(OUTSIDE), *body],
        Cause.WRONG_ORDER: [header(form.address(EAST)), *body],
    }
    if not isinstance(form, Unicast):
        found |= {Cause.LIST_CUT: [header(west, last=0), *body], Cause.LIST_TOO_LONG: [header(west)] * 2 + [*body]}
    return found


class TokenRing(wiring.Component):
    """Token stations in a ring, the first of which has the token."""

    def __init__(self, stations, requesters):
        self.stations, self.requesters = stations, requesters
        sides = {"requests": In, "releases": In, "granted": Out, "holder": Out}
        super().__init__({**{f"{name}_{p}": side(requesters) for p in range(stations) for name, side in sides.items()},
                          **{f"in_use_{p}": Out(1) for p in range(stations)}})

    def elaborate(self, platform):
        m = Module()
        ring = [TokenStation(self.requesters) for _ in range(self.stations)]
        for p, station in enumerate(ring):
            m.submodules[f"station_{p}"] = station
            wiring.connect(m, ring[p - 1].token_out, station.token_in)
            m.d.comb += station.strap_first.eq(p == 0)
            for name in ("requests", "releases"):
                m.d.comb += getattr(station, name).eq(getattr(self, f"{name}_{p}"))
            for name in ("granted", "holder", "in_use"):
                m.d.comb += getattr(self, f"{name}_{p}").eq(getattr(station, name))
        return m


def of_tree_switch(scheme, options, worms=40):
    """A switch in the middle of eight nodes whose worms are copied, and its bench's set-up."""
    network, found = topology("min:b=2,stages=3"), SCHEMES[scheme]
    blueprint = Blueprint(network, found, hardware(network, found, options))
    kind = blueprint.named_kinds["router_1"]
    router, rng, form = blueprint.router(kind), random.Random(str(options)), blueprint.header
    [digit] = router.decoder.deciding
    masks = {f"{name}_out": form.encode([node for node in range(network.nodes) if node >> digit & 1 == value])
             for value, name in enumerate(router.decoder.outputs)}
    links = [f"{name}_in" for name in router.decoder.inputs]

    def worm(number, nodes, report, link, vc, length):
        first, *others = form.encode(nodes)
        return {"link": link, "vc": vc,
                "flits": make_worm([first | report, *others], traffic.payload(number, length))}

    tokens = router.has_tokens
    sent = [worm(k, rng.sample(range(network.nodes), rng.randint(1, 5)), tokens and rng.randint(0, 1),
                 rng.choice(links), rng.randrange(blueprint.configuration.vcs), rng.randint(1, 12))
            for k in range(worms)]
    return router, {
        "inputs": links, "outputs": list(masks), "masks": masks, "depth": blueprint.configuration.buffer, "chunk": 1,
        "straps": {"strap_first": 1} if tokens else {}, "walk": 3 if tokens else 0, "reports": tokens,
        "faults": {"fault": fault_widths(router)}, "worms": sent, "header_flits": form.flits(),
        "alone": worm(ALONE, [5], 0, links[0], 0, 3), "split": worm(ALONE, range(8), 0, links[1], 0, 3),
    }


def of_deep_switch(options):
    """The same switch with buffers that hold whole worms, and its bench's set-up."""
    router, setup = of_tree_switch("atbm", {"buffer_kind": "deep", "vcs": 1, "consumption": 1, **options})
    form, depth, link = router.decoder.header, setup["depth"], setup["inputs"][1]

    def to(nodes, length, number):
        return {"link": link, "vc": 0, "flits": make_worm(form.encode(nodes), traffic.payload(number, length))}

    [name] = [end for end, mask in setup["masks"].items() if mask == form.encode([5]) or mask[0] & form.encode([5])[0]]
    most = depth - setup["header_flits"]
    return router, setup | {"chunk": router.chunk, "blocked": name, "before": to([5], most, ALONE),
                            "split": to(range(8), most, BEHIND)}


def of_interface(options, *, ports=1, links=1, worms=12):
    """A network interface, and its bench's set-up."""
    mesh, scheme, rng = topology("mesh:3x3"), SCHEMES["dual-path"], random.Random(str(options))
    configuration = hardware(mesh, scheme, options)
    blueprint = Blueprint(mesh, scheme, configuration)
    vcs, packet = configuration.consumption // links, configuration.packet
    interface = blueprint.interface(ports=ports, links=links, channels=vcs)
    most_headers = blueprint.header_flits

    def worm(header_flits, length):
        number = len(sent) + 1
        return [number << 4 | 15 - k for k in range(header_flits)], traffic.payload(number, length)

    sent = []
    for p in range(ports):
        for _ in range(worms):
            header, data = worm(rng.randint(1, most_headers), rng.randint(1, 12))
            packets = [data[at:at + (packet or len(data))] for at in range(0, len(data), packet or len(data))]
            sent.append({"link": f"host_in_{p}", "vc": 0, "flits": make_worm(header, data),
                         "copies": [(f"network_out_{p}", make_worm(header, part)) for part in packets]})
    for c in range(links):
        for _ in range(worms):
            # a place of a receive queue holds one packet
            header, data = worm(rng.randint(1, 3), rng.randint(1, packet if configuration.receive_queue else 12))
            sent.append({"link": f"network_in_{c}", "vc": rng.randrange(vcs), "flits": make_worm(header, data),
                         "copies": [(f"host_out_{c}", make_worm([], data))]})
    hosts, networks = [f"host_in_{p}" for p in range(ports)], [f"network_in_{c}" for c in range(links)]
    outward, inward = [f"network_out_{p}" for p in range(ports)], [f"host_out_{c}" for c in range(links)]
    # more than fits in, be it in packets on all virtual channels or in queues of packets
    room = configuration.queue + configuration.vcs * 2 * configuration.buffer + packet * (
        configuration.send_queue + configuration.receive_queue)
    flood = make_worm([1], traffic.payload(BAD, 2 * room))
    return interface, {
        "buses": buses_of(configuration, sent, hosts, inward) if configuration.bus_rate[0] else {},
        "into": {**dict.fromkeys(hosts, configuration.queue), **dict.fromkeys(networks, configuration.buffer)},
        "out": {**dict.fromkeys(outward, configuration.buffer), **dict.fromkeys(inward, HOST_DEPTH)},
        "faults": {"fault": fault_widths(interface)},
        "worms": sent,
        "spoilt": {link: {"fault": [Cause.CREDIT.value, k, 0]} for k, link in enumerate([*outward, *inward])},
        "flood": {link: {"fault": [Cause.OVERFLOW.value, k, 0], "flits": flood}
                  # a receive queue drops what its place has no room for, and reports nothing
                  for k, link in enumerate(hosts if configuration.receive_queue else [*hosts, *networks])},
        "untailed": {link: {"fault": [Cause.NO_TAIL.value, k, 0],
                            "flits": make_worm([1], traffic.payload(BAD, 3))[:-1]} for k, link in enumerate(hosts)},
    }


def buses_of(configuration, worms, hosts, inward):
    """The I/O buses of an interface: the signals that count their flits, and how many flits of the worms cross each."""
    ways = {
        "from": ([f"{link}_credit" for link in hosts],
                 sum(len(worm["flits"]) for worm in worms if worm["link"] in hosts)),
        "to": ([f"{link}_valid" for link in inward],
               sum(len(flits) for worm in worms for end, flits in worm["copies"] if end in inward)),
    }
    if configuration.dma_buckets == "shared":
        ways = {"both": tuple(of_from + of_to for of_from, of_to in zip(*ways.values(), strict=True))}
    return {way: {"signals": signals, "flits": flits, "rate": configuration.bus_rate}
            for way, (signals, flits) in ways.items()}


def of_smart_interface(kind, *, packet=4, places=4, t_ns=0, t_nr=0, **options):
    """A network interface that forwards in this order, and its bench's set-up."""
    interface = smart(kind, packet=packet, places=places, t_ns=t_ns, t_nr=t_nr, **options)
    channels = interface.consumptions[0].port.vcs
    children = {0: [[21], [22, 122], [23]], 1: [[31]], 2: [[41, 141], [42]]}
    counts = {0: 2 * packet + 1, 1: packet, 2: 3 * packet, 3: 2}  # payload flits of a message

    def written(row, headers, count):
        return train(row, *headers, packets=-(-count // packet) if kind == "fcfs" else None)

    def brought(row, count, vc=0):
        """Packets from the network, what the host gets of them and what goes to the children."""
        data = payload(row, range(count))
        parts = [data[at:at + packet] for at in range(0, count, packet)]
        return [{"link": "network_in_0", "vc": vc, "flits": make_worm([7], part), "copies": [
            ("host_out_0", make_worm([], part)),
            *(("network_out_0", make_worm(header, part)) for header in children.get(row, ()))]} for part in parts]

    def post(row, count):
        """A message that the host multicasts, and what goes to the children."""
        data = payload(row, range(count))
        return {"link": "host_in_0", "vc": 0, "flits": posted(row, count), "copies": [
            ("network_out_0", make_worm(header, data[at:at + packet]))
            for header in children[row] for at in range(0, count, packet)]}

    own = [{"link": "host_in_0", "vc": 0, "flits": make_worm([90 + k], payload(9, range(packet))),
            "copies": [("network_out_0", make_worm([90 + k], payload(9, range(packet))))]} for k in range(3)]
    leaf = [worm for k in range(2) for worm in brought(3, counts[3], k % channels)]  # a row without children
    worms = [*own[:1], *brought(0, counts[0]), post(2, counts[2]), *leaf, *brought(1, counts[1], channels - 1),
             *own[1:], *brought(9, packet, channels - 1)]
    tables = [flit for row in range(4) for flit in written(row, children.get(row, []), counts[row])]
    at_once = packet * min(places, 2)  # of a message whose packets wait for no place
    starts = [flit for flit in copies(children[0], payload(0, range(at_once)), packet, kind) if flit[0]]
    heads = [flit for flit in starts if flit[2] != children[0][1][1]]  # the first flit of each header
    sizes = [packet + (2 if head[2] == children[0][1][0] else 1) for head in heads]
    first = packet + 4 + t_nr + t_ns
    gap = max(t_ns, interface.injections[0].port.vcs == 1)
    cycles = [first + sum(sizes[:k]) + k * gap for k in range(len(sizes))]
    return interface, {
        "into": {"table_in": 1, "host_in_0": interface.injections[0].queue,
                 "network_in_0": interface.consumptions[0].port.depth},
        "out": {"network_out_0": interface.injections[0].port.depth, "host_out_0": HOST_DEPTH},
        "faults": {"fault": fault_widths(interface)},
        "places": places, "tables": tables, "worms": worms,
        "forwarded": sum(-(-counts[row] // packet) for row in children),
        "timed": {"table": written(0, children[0], at_once), "worms": brought(0, at_once), "heads": heads,
                  "cycles": cycles},
        # first child first has a place for each packet of a message
        "crowds": [] if kind == "fcfs" else [
            {"link": worms[0]["link"], "table": written(1, children[1], 0), "worms": worms}
            for worms in (brought(1, packet * (places + 9)), [post(1, packet * (places + 9))])],
        "apart": own,
        "errors": {
            "a row that is not there": {
                "flits": [("table_in", train(9, [21]))], "fault": [Cause.NO_SUCH_DESTINATION.value, 2, 0]},
            "more header flits than a row has room for": {
                "flits": [("table_in", written(3, [[k] for k in range(1, 10)], 1))],
                "fault": [Cause.LIST_TOO_LONG.value, 2, 0]},
            "a packet longer than its place": {
                "flits": [("network_in_0", make_worm([7], payload(1, range(packet + 1))))],
                "fault": [Cause.LIST_TOO_LONG.value, 1, 0]},
            "a row that is written while its packets are there": {
                "flits": [("network_in_0", make_worm([7], payload(1, range(packet)))[:-1]),
                          ("table_in", written(1, children[1], packet)),
                          ("network_in_0", make_worm([7], payload(1, range(packet)))[-1:])],
                "fault": [Cause.WRONG_ORDER.value, 2, 0]},
        },
    }


def of_network(name, scheme, options):
    """A network with one link each way between host and interface, and its bench's set-up but for worms.

    Of networks with several kinds of routers, ``errors`` has only those that interfaces detect.
    """
    built = topology(name)
    found = find_scheme(scheme, built)
    network = Network(built, found, hardware(built, found, options))
    nodes = [f"node_{built.node_name(node).replace('.', '_')}" for node in range(built.nodes)]
    return network, {
        "host_in": [f"{node}_host_in_0" for node in nodes],
        "host_out": [f"{node}_host_out_0" for node in nodes],
        "queue": network.configuration.queue,
        "host_depth": HOST_DEPTH,
        "tables": table_words(network),
        "faults": {port.name: fault_widths(network.components[port.kind]) for port in outside(network)
                   if port.port.path == ("fault",)},
        "errors": {cause.name: {"link": f"{nodes[0]}_host_in_0", "flits": flits, "fault": {
            f"{nodes[0]}_{kind}_fault": [
                cause.value, network.routers["router"].decoder.inputs.index("local") if kind == "router" else 0]}}
            for cause, kind, flits in spoilt_by_the_host(network.header) if kind in network.components},
    }


def spoilt_by_the_host(form):
    """Cause, who finds it, and the flits that node 0 should not have sent."""
    body = make_worm([], traffic.payload(BAD, 3))
    yield Cause.NO_HEADER, "router", body
    yield Cause.WRONG_ORDER, "router", make_worm(form.encode([0]), traffic.payload(BAD, 3))
    yield Cause.NO_TAIL, "interface", make_worm(form.encode([1]), traffic.payload(BAD, 3))[:-1]
