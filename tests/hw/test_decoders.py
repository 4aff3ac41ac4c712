"""Header decode against the host's header formats and routing relations: each is the other's oracle."""

import itertools

import numpy as np
import pytest
from amaranth.hdl import Cat, Signal
from cases import slow

from wormcast.algorithms import (
    E_CUBE,
    HAMILTONIAN,
    NO_CLASS,
    AddressList,
    ConsumptionClasses,
    Relation,
    Unicast,
    WormcastError,
    topology,
)
from wormcast.algorithms.routing import ALONG_LABELS, HAMILTONIAN_ROW_FIRST
from wormcast.algorithms.topologies.mesh import mesh_directions
from wormcast.hw.decoders import ArrivingHeader, MeshDecoder, TableDecoder
from wormcast.hw.router_kind import switch_kinds

from . import bench


def decode(decoder, port, cases):
    """Decode (straps, data, first, after_strip) at one port: a dict of what comes of each."""
    names = ("asked", "nothing", "passed", "strip", "ends_here", "last", "outside", "wrong_order")

    def build(m):
        straps = {name: Signal(bits, name=name) for name, bits in decoder.straps.items()}
        data, first, after_strip = Signal(decoder.header.flit_width), Signal(), Signal()
        decoded = decoder.decode(m, port, straps, ArrivingHeader(data=data, first=first, after_strip=after_strip))
        stored = Signal(decoder.code_width(port))
        request = decoder.request(port, stored)
        values = [Cat(request.all_of), request.nothing, decoded.data, decoded.strip, decoded.ends_here, decoded.last,
                  decoded.outside, decoded.wrong_order]
        outputs = [Signal(len(value), name=name) for name, value in zip(names, values, strict=True)]
        m.d.comb += [stored.eq(decoded.code), *(out.eq(value) for out, value in zip(outputs, values, strict=True))]
        return [*straps.values(), data, first, after_strip], outputs

    return [dict(zip(names, result, strict=True)) for result in bench.settle(build, cases)]


def legal(relation, mesh, before, here, after):
    """Return whether the relation allows a worm to go from one node by a second to a third, from the definition."""
    if relation in ALONG_LABELS:
        return (mesh.label(here) > mesh.label(before)) == (mesh.label(after) > mesh.label(here)) and after != before
    dims = [int(np.flatnonzero(mesh.coordinates[u] != mesh.coordinates[v])[0])
            for u, v in ((before, here), (here, after))]
    return dims[1] <= dims[0] and after != before


def strapped(decoder, mesh, node):
    return [int(mesh.coordinates[node][int(name.rsplit("_", 1)[1])]) for name in decoder.straps]


def check_first_address(decoder, mesh, routes, may_go, straps):
    """Decode all headers of one and two addresses at all switches and ports, and compare with the relation's table.

    ``may_go`` gets (node before, here, node after); ``straps`` returns the straps of a switch.
    """
    header = decoder.header
    for port in range(len(decoder.inputs)):
        cases, expected = [], []
        injects = port >= decoder.ejection
        phase = 0 if injects else len(routes.options) - 1
        for here in range(mesh.nodes):
            before = -1 if injects else int(mesh.neighbours[here, port])
            if not injects and before < 0:
                continue
            for node, more, after_strip in itertools.product(range(mesh.nodes), (False, True), (False, not injects)):
                visits = [node, *([(node + 1) % mesh.nodes] if more else [])]
                flits = header.encode(visits)
                own = node == here and not injects and not after_strip
                rest = header.strip(flits[0]) if own else flits[0]
                target = None if rest is None else visits[1] if own else node
                out = None if target is None or target == here else int(routes.options[phase, here, target, 0])
                nowhere = out == -1
                if out is not None and injects and decoder.injection == "all" and out != port - decoder.ejection:
                    out = None
                if nowhere or (out is not None and not injects
                               and not may_go(before, here, routes.next_hop(here, target, phase))):
                    out = None
                last = len(flits) == 1
                strip = own and rest is None and not last
                ends_here = own and ((rest is None and last) or (rest is not None and out is None))
                copies = own and not ends_here
                astray = out is None and not (own and rest is None)
                cases.append((*straps(here), flits[0], 1, after_strip))
                expected.append({
                    "asked": (0 if out is None else 1 << out) | (copies << decoder.ejection),
                    "nothing": out is None and not copies, "strip": strip, "ends_here": ends_here, "last": last,
                    "outside": astray and nowhere, "wrong_order": astray and not nowhere,
                    "passed": rest,
                })
        for case, got, want in zip(cases, decode(decoder, port, cases), expected, strict=True):
            if want["passed"] is None or want["ends_here"]:
                want["passed"] = got["passed"]  # what is left of a flit that is dropped does not matter
            assert got == want, (port, case)


def combinations(routes, slots, *, quick=lambda *case: True):
    """Ways to route, numbers of addresses in a flit, kinds of injection: each with each of one other at every test,
    and all with all where there is time."""
    cases = []
    for number, (route, (place, count)) in enumerate(itertools.product(routes, enumerate(slots))):
        for other, injection in enumerate(["one", "all"]):
            chosen = (number + place + other) % 2 == 0 and quick(*route, count)
            cases.append((*route, count, injection) if chosen else slow(*route, count, injection))
    return cases


def name_of(value):
    return getattr(value, "name", value)


@pytest.mark.parametrize(("relation", "name", "slots", "injection"), combinations(
    list(itertools.product([E_CUBE, *ALONG_LABELS], ["mesh:1x6", "mesh:5x1", "mesh:3x3", "mesh:4x5"])), (1, 2, 5),
    quick=lambda relation, name, slots: name != "mesh:4x5"), ids=name_of)
def test_first_address_decides_as_the_relation_says(relation, name, slots, injection):
    mesh = topology(name)
    decoder = MeshDecoder(slots_of(mesh, slots), relations=(relation.name,), injection=injection)
    check_first_address(
        decoder, mesh, relation.on(mesh),
        lambda before, here, after: legal(relation, mesh, before, here, after),
        lambda here: strapped(decoder, mesh, here),
    )


@pytest.mark.parametrize(("name", "slots"), [
    slow("mesh:3x3x3", 1), ("mesh:4x1x3", 2), slow("mesh:2x3x4", 2), slow("mesh:1x4x3", 1),
    slow("mesh:2x3x2x2", 1), slow("mesh:5x4x3", 2),
])
def test_r_beyond_two_dimensions_decides_as_the_labels_say(name, slots):
    mesh = topology(name)
    decoder = MeshDecoder(slots_of(mesh, slots), relations=("hamiltonian",))
    check_first_address(
        decoder, mesh, HAMILTONIAN.on(mesh),
        lambda before, here, after: legal(HAMILTONIAN, mesh, before, here, after),
        lambda here: strapped(decoder, mesh, here),
    )


def slots_of(mesh, slots):
    """Return the narrowest header format with this number of addresses per flit."""
    return AddressList(mesh.shape, slots * AddressList(mesh.shape, 32).address_bits + 1)


@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (6, 4), (4, 6)])
@pytest.mark.parametrize("relation", [E_CUBE, HAMILTONIAN], ids=lambda relation: relation.name)
def test_address_outside_the_network_is_found(relation, rows, columns):
    """Extents that are odd, or even and no power of two; one that is a power of two has no address too many."""
    mesh = topology(f"mesh:{rows}x{columns}")
    low = (columns - 1).bit_length()
    bits = (rows - 1).bit_length() + low
    header = AddressList(mesh.shape, 2 * bits + 1)  # two addresses
    decoder = MeshDecoder(header, relations=(relation.name,))
    here = columns + 2
    straps, own, last, addresses = strapped(decoder, mesh, here), header.address(here), 1 << 2 * bits, range(1 << bits)
    first = decode(decoder, decoder.ejection, [(*straps, a << bits | a | last, 1, 0) for a in addresses])
    second = decode(decoder, 0, [(*straps, a << bits | own | last, 1, 0) for a in addresses])
    for address, got, behind in zip(addresses, first, second, strict=True):
        inside = address >> low < rows and (address & (1 << low) - 1) < columns
        assert got["outside"] == (not inside)
        assert got["nothing"] == (not inside or address == own)
        assert behind["outside"] == (not inside)
        assert inside or behind["ends_here"]  # the destination that was reached gets its message


@pytest.mark.parametrize("relation", ["e-cube", "hamiltonian"])
def test_own_address_again_is_out_of_order_whatever_stands_behind_it(relation):
    mesh = topology("mesh:3x5")
    header = AddressList(mesh.shape, 11)
    decoder = MeshDecoder(header, relations=(relation,))
    outside = 0b11_111
    flit = 1 << 10 | outside << 5 | header.address(7)
    [got] = decode(decoder, 0, [(*strapped(decoder, mesh, 7), flit, 1, 1)])
    assert (got["wrong_order"], got["outside"], got["nothing"], got["ends_here"]) == (1, 0, 1, 0)


def test_header_flit_that_is_not_the_first_passes_untouched():
    mesh = topology("mesh:4x4")
    header = AddressList(mesh.shape, 13)
    decoder = MeshDecoder(header, relations=("hamiltonian",))
    cases = [(*strapped(decoder, mesh, node), header.encode([node, 15 - node])[0], 0, 0) for node in range(16)]
    for case, result in zip(cases, decode(decoder, 0, cases), strict=True):
        assert result == {"asked": 0, "nothing": 1, "passed": case[-3], "strip": 0, "ends_here": 0, "last": 1,
                          "outside": 0, "wrong_order": 0}


@pytest.mark.parametrize(("name", "relations"), [
    ("mesh:4x4", (E_CUBE, HAMILTONIAN)), ("mesh:2x3x3", (E_CUBE, HAMILTONIAN)),
    ("mesh:4x4", (HAMILTONIAN_ROW_FIRST, E_CUBE)), ("mesh:3x4", (E_CUBE, HAMILTONIAN, HAMILTONIAN_ROW_FIRST)),
])
def test_selector_chooses_the_relation(name, relations):
    mesh = topology(name)
    header = AddressList(mesh.shape, 12, relations=len(relations))
    decoder = MeshDecoder(header, relations=tuple(relation.name for relation in relations))
    for number, relation in enumerate(relations):
        table = relation.on(mesh).options[0, ..., 0]
        pairs = list(itertools.permutations(range(mesh.nodes), 2))
        cases = [(*strapped(decoder, mesh, here), header.encode([node], number)[0], 1, 0) for here, node in pairs]
        for (here, node), result in zip(pairs, decode(decoder, decoder.ejection, cases), strict=True):
            assert result["asked"] == 1 << table[here, node]


def test_unicast_decoder_delivers_at_the_address():
    mesh = topology("mesh:3x3")
    header = Unicast(mesh.shape, 32)
    decoder = MeshDecoder(header, relations=("e-cube",), multicast=False)
    [got] = decode(decoder, 0, [(*strapped(decoder, mesh, 4), header.encode([4])[0], 1, 0)])
    assert (got["ends_here"], got["asked"], got["strip"], got["last"]) == (1, 0, 0, 1)


CLASSES = ["up/down:next", "up/down:last", "0+/0-:next", "1+,0+/1-/0-:last", "1-/0+,0-:next", ":next"]


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize(("name", "relation"), [("mesh:4x4", "e-cube"), ("mesh:4x4", "hamiltonian"),
                                                ("mesh:2x3x3", "hamiltonian")])
def test_class_is_that_of_the_next_hop_or_of_the_last(classes, name, relation):
    mesh = topology(name)
    decoder = MeshDecoder(AddressList(mesh.shape, 32), relations=(relation,),
                          consumption=ConsumptionClasses.parse(classes))
    check_classes(decoder, mesh, lambda node: strapped(decoder, mesh, node))


def check_classes(decoder, mesh, straps):
    """Compare the class of a worm, by every port and on to every link, with the rule's links."""
    rule = decoder.consumption
    class_of = {(int(u), int(o)): int(k) for (u, o, _, _), k in zip(mesh.links, rule.of_channels(mesh), strict=True)}
    for port in range(decoder.ejection):
        reaches = decoder.reaches(port)
        nodes = [node for node in range(mesh.nodes) if mesh.neighbours[node, port] >= 0]
        cases, expected = [], []
        for node, out in itertools.product(nodes, [None, *reaches]):
            if out is not None and mesh.neighbours[node, out] < 0:
                continue
            last = class_of[int(mesh.neighbours[node, port]), port ^ 1]
            following = NO_CLASS if out is None or rule.by == "last" else class_of[node, out]
            wanted = last if following == NO_CLASS else following
            cases.append((*straps(node), 0 if out is None else 1 << reaches.index(out)))
            expected.append((len(rule) if wanted == NO_CLASS else wanted,))

        def build(m, port=port, reaches=reaches):
            straps = {name: Signal(bits, name=name) for name, bits in decoder.straps.items()}
            links, kind = Signal(len(reaches)), Signal(range(len(rule) + 1))
            m.d.comb += kind.eq(decoder.consumption_class(port, straps, links))
            return [*straps.values(), links], [kind]

        assert bench.settle(build, cases) == expected


@pytest.mark.parametrize(
    ("shape", "relations", "count", "sentence"),
    [
        ((4, 4), ("x-y",), 1, "'x-y' is not valid. Allowed: e-cube, hamiltonian, hamiltonian-row-first."),
        ((4, 2, 4), ("hamiltonian-row-first",), 1, "is not valid in 3 dimensions. Allowed: 2 dimensions."),
        ((4, 4), (), 1, "Allowed: one relation or more, each once."),
        ((4, 4), ("e-cube", "e-cube"), 2, "Allowed: one relation or more, each once."),
        ((4, 4), ("e-cube",), 2, "Allowed: 2 relations, as many as the header format selects among."),
    ],
)
def test_bad_relations_are_refused(shape, relations, count, sentence):
    with pytest.raises(WormcastError, match=sentence):
        MeshDecoder(AddressList(shape, 32, relations=count), relations=relations)


# the decoder by a table ------------------------------------------------------------------------------------------


class ColumnsFirst(Relation):
    """Along the first dimension, then the others; and no way to the last node."""

    name, description = "columns-first", "for tests"

    def table(self, topology):
        table = np.full((topology.nodes, topology.nodes), topology.ports[0].index("local"), np.int8)
        for here, node in itertools.permutations(range(topology.nodes), 2):
            away = topology.coordinates[node] - topology.coordinates[here]
            dim = int(np.flatnonzero(away)[0])
            table[here, node] = mesh_directions(topology.shape).index((dim, int(np.sign(away[dim]))))
        table[:-1, -1] = -1
        return table


COLUMNS_FIRST = ColumnsFirst()


def table_straps(decoder, mesh, relation):
    """The straps of a switch, laid out from the description: own address, a row of output numbers, higher labels."""
    table = relation.on(mesh).table
    steps = mesh_directions(mesh.shape)
    bits = len(steps).bit_length()
    addresses = {decoder.header.address(node): node for node in range(mesh.nodes)}

    def of(here):
        route = 0
        for address in range(1 << decoder.header.address_bits):
            node = addresses.get(address)
            port = -1 if node in (None, here) else int(table[here, node])
            route |= (len(steps) if port < 0 else port) << bits * address
        rises = sum(1 << o for o in range(len(steps))
                    if mesh.neighbours[here, o] >= 0 and mesh.label(int(mesh.neighbours[here, o])) > mesh.label(here))
        return [decoder.header.address(here), route, *([rises] if "rises" in decoder.straps else [])]

    return of


TABLES = [
    *((relation, name) for relation in (E_CUBE, HAMILTONIAN) for name in ("mesh:1x6", "mesh:5x1", "mesh:3x3",
                                                                          "mesh:2x3x2", "mesh:3x1x3")),
    (COLUMNS_FIRST, "mesh:3x4"), (COLUMNS_FIRST, "mesh:2x2x3"),
]


# a table is one whatever the relation: each number of addresses with one of them on one mesh
@pytest.mark.parametrize(("relation", "name", "slots", "injection"), combinations(
    TABLES, (1, 2, 4), quick=lambda relation, name, slots: slots == (1, 2, 4)[TABLES.index((relation, name)) % 3]),
    ids=name_of)
def test_table_decides_as_the_relation_says(relation, name, slots, injection):
    """Own address, used up or last. Without an entry in the table: NO_SUCH_DESTINATION. A hop back is an error."""
    mesh = topology(name)
    decoder = TableDecoder(slots_of(mesh, slots), injection=injection)
    assert decoder.outputs == MeshDecoder(decoder.header, relations=("e-cube",)).outputs
    check_first_address(decoder, mesh, relation.on(mesh), lambda before, here, after: after != before,
                        table_straps(decoder, mesh, relation))


@pytest.mark.parametrize(("relation", "name"), TABLES, ids=name_of)
@pytest.mark.parametrize("classes", [":next", "up/down:next"])
def test_straps_of_a_table_are_the_relation_s(relation, name, classes):
    mesh = topology(name)
    decoder = TableDecoder(AddressList(mesh.shape, 32), consumption=ConsumptionClasses.parse(classes))
    values = decoder.strap_values(relation.on(mesh), switch_kinds(mesh)[0])
    assert list(values) == list(decoder.straps)
    of = table_straps(decoder, mesh, relation)
    assert [list(row) for row in zip(*values.values(), strict=True)] == [of(node) for node in range(mesh.nodes)]
    assert all(0 <= one < 1 << decoder.straps[strap] for strap, column in values.items() for one in column)


def test_table_finds_addresses_outside_the_network():
    """Also behind the own address: the destination that was reached gets its message."""
    mesh = topology("mesh:2x3x3")
    header = slots_of(mesh, 2)
    decoder = TableDecoder(header)
    straps, own, bits = table_straps(decoder, mesh, HAMILTONIAN)(7), header.address(7), header.address_bits
    inside = {header.address(node) for node in range(mesh.nodes)}
    assert len(inside) < 1 << bits
    addresses = range(1 << bits)
    last = 1 << header.flit_width - 1
    first = decode(decoder, decoder.ejection, [(*straps, a << bits | a | last, 1, 0) for a in addresses])
    behind = decode(decoder, 0, [(*straps, a << bits | own | last, 1, 0) for a in addresses])
    for address in addresses:
        outside = address not in inside
        assert first[address]["outside"] == behind[address]["outside"] == outside
        assert first[address]["nothing"] == (outside or address == own)
        assert behind[address]["ends_here"] or not outside
        assert not (outside and (first[address]["wrong_order"] or behind[address]["wrong_order"]))


def test_table_leaves_header_flits_that_are_not_the_first_alone():
    mesh = topology("mesh:2x2x3")
    header = slots_of(mesh, 3)
    decoder = TableDecoder(header)
    of = table_straps(decoder, mesh, HAMILTONIAN)
    cases = [(*of(node), header.encode([node, 11 - node])[0], 0, 0) for node in range(12)]
    for case, result in zip(cases, decode(decoder, 0, cases), strict=True):
        assert result == {"asked": 0, "nothing": 1, "passed": case[-3], "strip": 0, "ends_here": 0, "last": 1,
                          "outside": 0, "wrong_order": 0}


def test_table_for_unicasts_delivers_at_the_address():
    mesh = topology("mesh:2x3x2")
    header = Unicast(mesh.shape, 32)
    decoder = TableDecoder(header, multicast=False)
    of = table_straps(decoder, mesh, E_CUBE)
    pairs = list(itertools.product(range(12), range(12)))
    table = E_CUBE.on(mesh).table
    cases = [(*of(here), header.encode([node])[0], 1, 0) for here, node in pairs]
    for port in (0, 5):
        for (here, node), got in zip(pairs, decode(decoder, port, cases), strict=True):
            out = int(table[here, node])
            assert (got["ends_here"], got["strip"], got["last"]) == (here == node, 0, 1)
            assert got["asked"] == (0 if here == node or out == port else 1 << out)


IN_THREE = ["mesh:3x3x2", "mesh:2x1x4"]


@pytest.mark.parametrize(("classes", "name"), [
    *itertools.product(CLASSES, ["mesh:4x4", "mesh:1x5", *IN_THREE]),
    *itertools.product(["2+,0+/2-/1-:last"], IN_THREE),
])
def test_table_s_class_is_that_of_the_next_hop_or_of_the_last(classes, name):
    mesh = topology(name)
    decoder = TableDecoder(AddressList(mesh.shape, 32), consumption=ConsumptionClasses.parse(classes))
    check_classes(decoder, mesh, table_straps(decoder, mesh, HAMILTONIAN))


@pytest.mark.parametrize(("header", "sentence"), [
    (AddressList((3, 3, 3), 32, relations=2), "TableDecoder.header: a selector of 2 relations is not valid."),
    (AddressList((16, 17), 32), "addresses of 9 bits are not valid. Allowed: at most 8 bits."),
])
def test_what_a_table_is_not_built_for_is_refused(header, sentence):
    with pytest.raises(WormcastError, match=sentence):
        TableDecoder(header)


def test_injection_by_a_table_is_one_or_all():
    with pytest.raises(WormcastError, match=r"TableDecoder\.injection: 'two' is not valid\. Allowed: one, all\."):
        TableDecoder(AddressList((3, 3), 32), injection="two")
