# amaranth: UnusedElaboratable=no
"""Header decode on every kind of network: each decoder against the routes, for all switches, inputs and destinations.

Decoders that compare or take digits are run; tables are read as the hardware reads them, which the tests of switches
do with it.
"""

import importlib
import itertools

import numpy as np
import pytest
from amaranth.hdl import Cat, Signal
from cases import slow

from wormcast.algorithms import (
    E_CUBE,
    AddressList,
    ConsumptionClasses,
    PlainScheme,
    Unicast,
    WormcastError,
    topology,
)
from wormcast.algorithms.routing import (
    ADAPTIVE,
    DESTINATION_TAGS,
    RELATIONS,
    SHORTEST,
    UP_DOWN,
    UP_DOWN_ADAPTIVE,
    default_signs,
    without_classes,
)
from wormcast.algorithms.schemes.individual import Individual
from wormcast.hw.decoders import (
    ArrivingHeader,
    MeshDecoder,
    RouteDecoder,
    TableDecoder,
    TagDecoder,
    TorusDecoder,
    tag_digits,
)
from wormcast.hw.router import Blueprint
from wormcast.hw.router_kind import switch_kinds
from wormcast.sim import Configuration, Message, run
from wormcast.sim.build.network import Network

from . import bench
from .anywhere import Place, blueprint

IRREGULAR = [
    "irregular:switches=5,ports=8,nodes=20,connectivity=1.0,seed=1",
    "irregular:switches=8,ports=4,nodes=8,connectivity=0.7,seed=3",
    "irregular:switches=8,ports=6,nodes=13,connectivity=0.9,seed=4",
]


def places(built):
    """All switches of a network."""
    for kind in built.kinds:
        switch = built.router(kind)
        yield from (Place(number, kind, switch, built.routes) for number in kind.members.tolist())


def decode(decoder, port, cases):
    """Decode (straps, data) of first header flits at a port. Return the requested outputs, the ejection port or None,
    and the error."""
    def build(m):
        straps = {name: Signal(bits, name=name) for name, bits in decoder.straps.items()}
        data = Signal(decoder.header.flit_width)
        decoded = decoder.decode(m, port, straps, ArrivingHeader(data=data, first=1, after_strip=0))
        stored = Signal(decoder.code_width(port))
        request = decoder.request(port, stored)
        values = [Cat(request.targets), request.nothing, decoded.ends_here, decoded.ejection_port, decoded.outside,
                  decoded.wrong_order]
        outputs = [Signal(len(value)) for value in values]
        m.d.comb += [stored.eq(decoded.code), *(out.eq(value) for out, value in zip(outputs, values, strict=True))]
        return [*straps.values(), data], outputs

    for targets, nothing, ends, way_out, outside, wrong_order in bench.settle(build, cases):
        asked = [target for i, target in enumerate(decoder.targets(port)) if targets >> i & 1]
        assert nothing == (not asked)
        yield asked, decoder.ejection_ports(port)[way_out] if ends else None, outside, wrong_order


def expected(place, port, node):
    """Return the expected decode of a header flit to a node: targets, ejection port, and whether it is misrouted."""
    ways = place.ways(port, node)
    ends = [o for o, _ in ways if o >= place.switch.decoder.ejection]
    return ([] if ends else ways), (ends or [None])[0], 0, int(not ways)


def arrivals(built):
    """All (switch, its network input or the sending node, destination) of worms under the routes."""
    routes, net = built.routes, built.topology
    found = {(int(net.injections[source, 0]), -1 - source, node, int(routes.phase_of_node[source]))
             for source in range(net.nodes) for node in range(net.nodes) if node != source}
    ahead = list(found)
    while ahead:
        switch, _, node, phase = ahead.pop()
        for code in filter(lambda code: code >= 0, routes.options[phase, switch, node].tolist()):
            link = int(net.link_of_port[switch, code // len(routes.classes)])
            there = (*net.links[link, 2:].tolist(), node, int(routes.phase_of_link[link]))
            if link >= 0 and there not in found:
                found.add(there)
                ahead.append(there)
    return {arrival[:3] for arrival in found}


def arrives(place, port, node, worms):
    """Return whether `arrivals` has a worm to a node at an input."""
    decoder, net = place.switch.decoder, place.routes.topology
    if port < decoder.links_in:
        return (place.number, place.kind.network_inputs[port], node) in worms
    return any((place.number, -1 - int(net.node_of_input[place.number, place.kind.injections[n]]), node) in worms
               for n, ports in enumerate(decoder.injections) if port in ports)


def check(built, kind_of_decoder, worms=None):
    """Compare for all switches, inputs and destinations that the routes lead to from there; say how many ways were
    found. A digit leads somewhere in any case. ``worms``: `arrivals`, to which the comparison is limited."""
    found = 0
    for kind in built.kinds:
        switch = built.router(kind)
        decoder = switch.decoder
        assert type(decoder) is kind_of_decoder
        here = [Place(number, kind, switch, built.routes) for number in kind.members.tolist()]
        for port in range(len(decoder.inputs)):
            joined = [(place, node) for place in here if place.is_joined(port) for node in range(built.topology.nodes)
                      if built.routes.options[place.phase(port), place.number, node, 0] >= 0
                      and (worms is None or arrives(place, port, node, worms))]
            cases = [(*place.straps, decoder.header.encode([node])[0]) for place, node in joined]
            for (place, node), got in zip(joined, decode(decoder, port, cases), strict=True):
                assert got == expected(place, port, node), (place.number, decoder.inputs[port], node)
                found += not got[3]
    return found


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "any channel"])
@pytest.mark.parametrize("name", ["torus:4x4", "torus:5x5", "ring:6", "ring:2", "ring:3", "torus:2x3", "torus:3x1x4"])
def test_tori_compare_coordinates_as_the_routes_say(name, classes):
    built = blueprint(name, E_CUBE if classes else without_classes(E_CUBE))
    assert check(built, TorusDecoder) >= built.topology.nodes ** 2
    assert built.decoder().vc_classes == 1 + classes


WIRINGS = ["baseline", "cube", "omega", "butterfly"]


# switches of eight ports take longest: one wiring of them is enough
@pytest.mark.parametrize(("wiring", "size", "ports"), [
    *itertools.product(WIRINGS, ["b=2,stages=4", "b=4,stages=2", "b=2,stages=2"], ["one", "all"]),
    ("baseline", "b=8,stages=2", "one"), slow("baseline", "b=8,stages=2", "all"),
    *(slow(wiring, "b=8,stages=2", ports) for wiring in WIRINGS[1:] for ports in ("one", "all")),
])
def test_stages_take_digits_of_the_destination(wiring, size, ports):
    built = blueprint(f"min:{size},kind={wiring}", ports=ports, ejection=ports)
    assert check(built, TagDecoder)
    # where all switches of a kind take the same digit, none is told which
    assert {name for kind in built.kinds for name in built.decoder(kind).straps} <= {"digit"}
    assert [bool(built.decoder(kind).straps) for kind in (built.kinds[0], built.kinds[-1])] == [False, False]


def read(decoder, port, entry):
    """Decode a table entry as the hardware does: targets, and the ejection port or None."""
    targets, exits = decoder.targets(port), decoder.ejection_ports(port)
    if decoder.adaptive:
        way_out = entry >> len(targets)
        return [target for i, target in enumerate(targets) if entry >> i & 1], exits[way_out - 1] if way_out else None
    return targets[entry:entry + 1], exits[entry - len(targets)] if 0 <= entry - len(targets) < len(exits) else None


@pytest.mark.parametrize(("name", "relation"), [
    *((name, relation) for name in IRREGULAR for relation in (UP_DOWN, UP_DOWN_ADAPTIVE)),
    ("min:b=3,stages=3", DESTINATION_TAGS), ("torus:3x3", UP_DOWN), ("mesh:3x4", ADAPTIVE),
], ids=lambda one: getattr(one, "name", one))
@pytest.mark.parametrize("ports", ["one", "all"])
def test_tables_say_what_the_routes_say(name, relation, ports):
    built = blueprint(name, relation, ports=ports, ejection=ports)
    assert check_tables(built)


def check_tables(built):
    """Compare the tables in memories of all switches with the routes; say how many ways were found."""
    found = 0
    for kind in built.kinds:
        decoder = built.decoder(kind)
        assert type(decoder) is RouteDecoder
        assert decoder.adaptive == (not built.routes.deterministic)
        tables, switch = decoder.tables(built.routes, kind), built.router(kind)
        assert [tables[name].shape for name in decoder.inputs] == [
            (len(kind.members), 1 << decoder.header.address_bits)] * len(decoder.inputs)
        for number in kind.members.tolist():
            here = Place(number, kind, switch, built.routes)
            for port in filter(here.is_joined, range(len(decoder.inputs))):
                rows = tables[decoder.inputs[port]][here.member].tolist()
                assert max(rows) < 1 << decoder.entry_bits(port)
                for node in range(built.topology.nodes):
                    targets, way_out = read(decoder, port, rows[decoder.header.address(node)])
                    ways = expected(here, port, node)
                    assert (sorted(targets), way_out) == (sorted(ways[0]), ways[1]), (number, port, node)
                    found += bool(targets) or way_out is not None
                nodes = {decoder.header.address(node) for node in range(built.topology.nodes)}
                assert all(read(decoder, port, rows[a]) == ([], None) for a in range(len(rows)) if a not in nodes)
    return found


def admitted():
    """Small networks, each with all relations that are defined on it. Routers take the links of a relation ``in_turn``
    one after the other, which test_any_switch compares."""
    for name in ("mesh:2x3", "torus:3x3", "ring:4", "min:b=2,stages=2", "cmesh:2x2x2", "fat-tree:k=2,levels=2",
                 "dragonfly:p=1,a=2,h=1", IRREGULAR[1]):
        for relation in RELATIONS:
            try:
                routes = RELATIONS[relation].on(topology(name))
            except WormcastError:
                continue
            if not routes.in_turn:
                yield name, relation


@pytest.mark.parametrize(("name", "relation"), list(admitted()))
def test_each_relation_is_decoded_as_its_routes_say(name, relation):
    """A new relation, or a new decoder of unicasts, must pass this test for each network on which it is defined."""
    built = blueprint(name, RELATIONS[relation])
    try:
        decoder = built.decoder()
    except WormcastError:  # refused: no decoder supports the relation here
        return
    assert check_tables(built) if type(decoder) is RouteDecoder else check(built, type(decoder), arrivals(built))


def test_digits_are_found_by_the_routes_alone():
    """Irregular networks and rings have no digits."""
    for name in ("ring:4", IRREGULAR[1], "min:b=3,stages=2"):
        built = blueprint(name)
        assert [tag_digits(built.routes, kind) for kind in built.kinds] == [None] * len(built.kinds)


def test_several_classes_are_preferred_as_the_routes_do():
    """Adaptive channels come first, escape channels last, whatever their numbers are."""
    decoder = blueprint("mesh:3x3", ADAPTIVE).decoder()
    assert decoder.preferred == (1, 0)
    assert [k for _, k in decoder.targets(4)] == [1] * 4 + [0] * 4
    assert decoder.enters_empty


@pytest.mark.parametrize("multicast", [True, False])
def test_lists_of_addresses_are_decoded_on_tori(multicast):
    """At a destination on its way the next one decides, over the edge or not."""
    torus = topology("torus:1x5")
    header = (AddressList if multicast else Unicast)(torus.shape, 32)
    decoder = TorusDecoder(header, multicast=multicast)
    [east, west] = decoder.outputs[:2]
    assert (east, west) == ("east", "west")
    cases = [(3, header.encode([3, 0])[0])] if multicast else [(3, header.encode([0])[0])]
    [(asked, way_out, outside, wrong_order)] = decode(decoder, 1, cases)
    assert (asked, way_out, outside, wrong_order) == ([(0, 0)], None, 0, 0)  # up, over the edge


def around(extent, at, to, down):
    """The first step of the shorter way around a ring, of two that are as long by the sign; and its class."""
    up = (to - at) % extent
    step = -1 if down and 2 * up == extent else 1 if 2 * up <= extent else -1
    crosses = to < at if step > 0 else to > at
    return step, 0 if crosses else 1


@pytest.mark.parametrize("name", ["torus:4x4", "ring:6", "ring:2", "torus:3x4", "torus:4x3", "torus:2x1x4"])
def test_signs_say_which_way_a_tie_goes(name):
    """All signs, from each node to each node: only the sign of the next dimension counts."""
    built = blueprint(name, ties="signed")
    shape = built.topology.shape
    decoder, header = built.decoder(), built.header
    assert header.signed == tuple(d for d, extent in enumerate(shape) if extent % 2 == 0)
    places = list(np.ndindex(*shape))
    own = [[at[d] for d, extent in enumerate(shape) if extent > 1] for at in places]
    pairs = [(source, node, signs) for source in range(len(places)) for node in range(len(places)) if source != node
             for signs in range(1 << len(shape))]
    cases = [(*own[source], header.encode([node], signs=[signs])[0]) for source, node, signs in pairs]
    turned = 0
    for (source, node, signs), got in zip(pairs, decode(decoder, decoder.links_in, cases), strict=True):
        at, to = places[source], places[node]
        d = max(d for d in range(len(shape)) if at[d] != to[d])
        step, k = around(shape[d], at[d], to[d], signs >> d & 1)
        assert got == ([(decoder.steps.index((d, step)), k)], None, 0, 0), (at, to, signs)
        turned += step != around(shape[d], at[d], to[d], 0)[0]
    assert turned


def test_what_hosts_say_by_default_is_what_the_routes_say():
    """At each switch from which a worm sets out."""
    built = blueprint("torus:4x4", ties="signed")
    torus, decoder = built.topology, built.decoder()
    pairs = [(source, node) for source in range(16) for node in range(16) if source != node]
    sources, nodes = np.array(pairs).T
    worms = built.scheme.batch(torus, sources, np.arange(len(pairs) + 1), nodes)
    _, flits = built.header.encode_batch(worms.destination_offsets, worms.destinations,
                                         signs=default_signs(torus, worms))
    cases = np.hstack([torus.coordinates[sources], flits]).astype(int).tolist()
    for (source, node), (asked, *_) in zip(pairs, decode(decoder, decoder.links_in, cases), strict=True):
        assert [o * 2 + k for o, k in asked] == [built.routes.options[0, source, node, 0]]


def test_signs_of_a_list_are_those_of_each_address():
    """At a destination on its way the next one's count; that the own address is repeated is seen whatever its signs."""
    header = AddressList((4, 4), 32, signed=(0, 1))
    assert (header.address_bits, header.capacity) == (6, 5)
    decoder = TorusDecoder(header)
    here, beyond = (1, 1), 3 * 4 + 1
    for own, signs, way in ((0, 0, "south"), (3, 0, "south"), (0, 1, "north"), (3, 1, "north"), (3, 2, "south")):
        [data] = header.encode([5, beyond], signs=[own, signs])
        [(asked, way_out, outside, wrong_order)] = decode(decoder, 0, [(*here, data)])
        assert ([decoder.outputs[o] for o, _ in asked], way_out, outside, wrong_order) == ([way], None, 0, 0)
    for signs in range(4):
        [(asked, way_out, outside, wrong_order)] = decode(decoder, 0, [(*here, header.encode([5], signs=[signs])[0])])
        assert (asked, decoder.outputs[way_out], outside, wrong_order) == ([], "local", 0, 0)


LISTS, ONE = AddressList((4,), 32), Unicast((4,), 32)
RING = switch_kinds(topology("ring:4"))[0]
FIRST, LAST = switch_kinds(topology("min:b=2,stages=2"))


class InOrder(PlainScheme):
    """One worm, which visits its destinations in the order of their ids."""

    name, description, relation, kinds = "in-order", "one worm", SHORTEST, ()

    def classes_on(self, topology):
        return ConsumptionClasses()

    def visits(self, topology, source, destinations):
        return [sorted(destinations)]


def test_routing_tables_are_those_of_switches_with_different_numbers_of_links(tmp_path):
    """Two switches of a ring have a chord: the ports of the others have other numbers."""
    file = tmp_path / "ring.toml"
    file.write_text("switches = 6\nnodes = [0, 1, 2, 3, 4, 5]\n"
                    "links = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 3]]\n")
    network, scheme = topology(str(file)), InOrder()
    routers = Blueprint(network, scheme, Configuration()).routers
    assert [type(router.decoder) for router in routers.values()] == [TableDecoder] * 2
    messages = [Message(0, 0, (3, 4), 5), Message(0, 1, (2, 3), 5)]
    assert run(network, scheme, messages, Configuration()).outcome == "delivered"


@pytest.mark.parametrize(("build", "sentence"), [
    (lambda: TorusDecoder(AddressList((4,), 32, relations=2)), "TorusDecoder.header: a selector of 2 relations"),
    (lambda: RouteDecoder(LISTS, kind=RING), "RouteDecoder.header: an address list is not valid."),
    (lambda: RouteDecoder(Unicast((4,), 32, relations=2), kind=RING), "RouteDecoder.header: a selector of 2 relations"),
    (lambda: RouteDecoder(Unicast((5000,), 32), kind=RING), "RouteDecoder.header: addresses of 13 bits are not valid."),
    (lambda: TagDecoder(ONE, kind=RING), "TagDecoder.kind: a switch with 2 outputs to switches and 1 to nodes is not"),
    (lambda: TagDecoder(ONE, kind=FIRST, digit=2), "TagDecoder.digit: 2 is not valid. Allowed: 0 to 1, the digits of"),
    (lambda: TableDecoder(LISTS, kind=LAST), "TableDecoder.kind: a switch with 2 nodes is not valid. Allowed: 1 node."),
    (lambda: RouteDecoder(ONE, kind=RING, ejection="two"), "RouteDecoder.ejection: 'two' is not valid. Allowed: one"),
])
def test_what_a_decoder_is_not_built_for_is_refused(build, sentence):
    with pytest.raises(WormcastError, match=sentence):
        build()


def test_routes_that_a_decoder_is_not_built_for_are_refused():
    ring, baseline = blueprint("ring:4"), blueprint("min:b=2,stages=2")
    with pytest.raises(WormcastError, match=r"relation: e-cube is not valid: it has 2 classes of virtual channels\."):
        RouteDecoder(ring.header, kind=ring.kinds[0]).tables(ring.routes, ring.kinds[0])
    shifted = TagDecoder(baseline.header, kind=baseline.kinds[0], digit=0)
    with pytest.raises(WormcastError, match="destination-tags is not valid for the destination-tag routers of"):
        shifted.strap_values(baseline.routes, baseline.kinds[0])


def test_tables_know_phases():
    """A worm that has gone down does not go up again, so its route differs from that of a worm that has not."""
    built = blueprint(IRREGULAR[1], UP_DOWN)
    assert len(built.routes.options) == 2
    phases = {(place.number, port): place.phase(port) for place in places(built)
              for port in range(place.switch.decoder.links_in) if place.is_joined(port)}
    assert set(phases.values()) == {0, 1}
    assert any((np.array(built.routes.options[0, number]) != built.routes.options[1, number]).any()
               for number, _ in phases)


def test_two_files_add_a_header(tmp_path, monkeypatch):
    """The format names its decoder's module; on a mesh its worms are then routed by tables, not by coordinates."""
    (tmp_path / "toy_header.py").write_text(
        "from wormcast.algorithms import Unicast\n\n\nclass Toy(Unicast):\n    decoder = 'toy_decoder'\n")
    decoder = tmp_path / "toy_decoder.py"
    decoder.write_text(
        "from wormcast.hw.decoders import RouteDecoder\n\n\nclass ToyDecoder(RouteDecoder):\n    size = 1\n\n\n"
        "def decoder_of(place):\n    return ToyDecoder(place.header, kind=place.kind, **place.ports)\n")
    monkeypatch.syspath_prepend(tmp_path)

    class Toys(Individual):
        header = importlib.import_module("toy_header").Toy

    mesh = topology("mesh:2x2")
    assert isinstance(Blueprint(mesh, Individual(), Configuration()).decoder(), MeshDecoder)
    built = Blueprint(mesh, Toys(), Configuration())
    assert isinstance(built.decoder(), RouteDecoder)
    [before, _] = (kind.key for kind in Network(mesh, Toys(), Configuration()).kinds.values())
    assert run(mesh, Toys(), [Message(0, 0, (1,), 4), Message(0, 3, (0,), 4)], Configuration()).outcome == "delivered"
    decoder.write_text(decoder.read_text().replace("size = 1", "size = 2"))
    [after, _] = (kind.key for kind in Network(mesh, Toys(), Configuration()).kinds.values())
    assert after != before, "another file is other hardware"


@pytest.mark.parametrize(("module", "reason"), [
    ("no_such_module", "No module named 'no_such_module'"), ("wormcast.hw.decoders.mesh", "has no attribute"),
])
def test_a_header_without_decoder_is_refused(module, reason):
    class Lost(Unicast):
        decoder = module

    class Losing(Individual):
        header = Lost

    with pytest.raises(WormcastError, match=f"header: class Lost has decoder '{module}', .*{reason}"):
        Blueprint(topology("mesh:2x2"), Losing(), Configuration()).decoder()
