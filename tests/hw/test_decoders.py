"""Header decode against the host's header formats and routing relations: each is the other's oracle."""

import itertools

import numpy as np
import pytest
from amaranth.hdl import Cat, Signal

from wormcast.algorithms import (
    E_CUBE,
    HAMILTONIAN,
    NO_CLASS,
    AddressList,
    ConsumptionClasses,
    Unicast,
    WormcastError,
    topology,
)
from wormcast.hw.decoders import Arrival, MeshDecoder

from . import bench


def decode(decoder, port, cases):
    """Decode (straps, data, first, again) at one port: a dict of what comes of each."""
    names = ("asked", "nothing", "passed", "strip", "final", "last", "outside", "disorder")

    def build(m):
        straps = {name: Signal(bits, name=name) for name, bits in decoder.straps.items()}
        data, first, again = Signal(decoder.header.flit_width), Signal(), Signal()
        decoded = decoder.decode(m, port, straps, Arrival(data=data, first=first, again=again))
        stored = Signal(decoder.code_width(port))
        request = decoder.request(port, stored)
        values = [Cat(request.all_of), request.nothing, decoded.data, decoded.strip, decoded.final, decoded.last,
                  decoded.outside, decoded.disorder]
        outputs = [Signal(len(value), name=name) for name, value in zip(names, values, strict=True)]
        m.d.comb += [stored.eq(decoded.code), *(out.eq(value) for out, value in zip(outputs, values, strict=True))]
        return [*straps.values(), data, first, again], outputs

    return [dict(zip(names, result, strict=True)) for result in bench.settle(build, cases)]


def legal(relation, mesh, before, here, after):
    """Whether a worm of the relation may go from a node over another to a third, from the definition."""
    if relation is HAMILTONIAN:
        return (mesh.label(here) > mesh.label(before)) == (mesh.label(after) > mesh.label(here)) and after != before
    dims = [int(np.flatnonzero(mesh.coordinates[u] != mesh.coordinates[v])[0])
            for u, v in ((before, here), (here, after))]
    return dims[1] <= dims[0] and after != before


def strapped(decoder, mesh, node):
    return [int(mesh.coordinates[node][int(name.rsplit("_", 1)[1])]) for name in decoder.straps]


@pytest.mark.parametrize("relation", [E_CUBE, HAMILTONIAN], ids=lambda relation: relation.name)
@pytest.mark.parametrize("name", ["mesh:4x5", "mesh:1x6", "mesh:5x1", "mesh:3x3"])
@pytest.mark.parametrize("slots", [1, 2, 5])
@pytest.mark.parametrize("injection", ["one", "all"])
def test_first_address_decides_as_the_relation_says(relation, name, slots, injection):
    mesh = topology(name)
    bits = AddressList(mesh.shape, 32).address_bits
    header = AddressList(mesh.shape, slots * bits + 1)
    decoder = MeshDecoder(header, relations=(relation.name,), injection=injection)
    routes = relation.on(mesh)
    for port in range(len(decoder.inputs)):
        cases, expected = [], []
        injects = port >= decoder.ejection
        for here in range(mesh.nodes):
            before = -1 if injects else int(mesh.neighbours[here, port])
            if not injects and before < 0:
                continue
            for node, more, again in itertools.product(range(mesh.nodes), (False, True), (False, not injects)):
                visits = [node, *([(node + 1) % mesh.nodes] if more else [])]
                flits = header.encode(visits)
                own = node == here and not injects and not again
                rest = header.strip(flits[0]) if own else flits[0]
                target = None if rest is None else visits[1] if own else node
                out = None if target is None or target == here else int(routes.table[here, target])
                if out is not None and injects and injection == "all" and out != port - decoder.ejection:
                    out = None
                following = -1 if out is None else routes.next_hop(here, target)
                if out is not None and not injects and not legal(relation, mesh, before, here, following):
                    out = None
                last = len(flits) == 1
                strip = own and rest is None and not last
                final = own and ((rest is None and last) or (rest is not None and out is None))
                copies = own and not final
                cases.append((*strapped(decoder, mesh, here), flits[0], 1, again))
                expected.append({
                    "asked": (0 if out is None else 1 << out) | (copies << decoder.ejection),
                    "nothing": out is None and not copies, "strip": strip, "final": final, "last": last,
                    "outside": 0, "disorder": out is None and not (own and rest is None),
                    "passed": rest,
                })
        for case, got, want in zip(cases, decode(decoder, port, cases), expected, strict=True):
            if want["passed"] is None or want["final"]:
                want["passed"] = got["passed"]  # what is left of a flit that is dropped does not matter
            assert got == want, (port, case)


@pytest.mark.parametrize("relation", [E_CUBE, HAMILTONIAN], ids=lambda relation: relation.name)
def test_address_outside_the_network_is_found(relation):
    mesh = topology("mesh:3x5")
    header = AddressList(mesh.shape, 11)  # two addresses of 2 + 3 bits
    decoder = MeshDecoder(header, relations=(relation.name,))
    last = 1 << 10
    for address in range(32):
        inside = address >> 3 < 3 and (address & 7) < 5
        case = (*strapped(decoder, mesh, 7), address << 5 | address | last, 1, 0)
        [got] = decode(decoder, decoder.ejection, [case])
        assert got["outside"] == (not inside)
        assert got["nothing"] == (not inside or address == header.address(7))
        [behind] = decode(decoder, 0, [(*strapped(decoder, mesh, 7), address << 5 | header.address(7) | last, 1, 0)])
        assert behind["outside"] == (not inside)
        assert inside or behind["final"]  # the destination that was reached gets its message


def test_header_flit_that_is_not_the_first_passes_untouched():
    mesh = topology("mesh:4x4")
    header = AddressList(mesh.shape, 13)
    decoder = MeshDecoder(header, relations=("hamiltonian",))
    cases = [(*strapped(decoder, mesh, node), header.encode([node, 15 - node])[0], 0, 0) for node in range(16)]
    for case, result in zip(cases, decode(decoder, 0, cases), strict=True):
        assert result == {"asked": 0, "nothing": 1, "passed": case[-3], "strip": 0, "final": 0, "last": 1, "outside": 0,
                          "disorder": 0}


def test_selector_chooses_the_relation():
    mesh = topology("mesh:4x4")
    header = AddressList(mesh.shape, 10, relations=2)
    decoder = MeshDecoder(header, relations=("e-cube", "hamiltonian"))
    for number, relation in enumerate([E_CUBE, HAMILTONIAN]):
        table = relation.on(mesh).table
        pairs = [(here, node) for here in range(16) for node in range(16) if here != node]
        cases = [(*strapped(decoder, mesh, here), header.encode([node], number)[0], 1, 0) for here, node in pairs]
        for (here, node), result in zip(pairs, decode(decoder, decoder.ejection, cases), strict=True):
            assert result["asked"] == 1 << table[here, node]


def test_unicast_decoder_delivers_at_the_address():
    mesh = topology("mesh:3x3")
    header = Unicast(mesh.shape, 32)
    decoder = MeshDecoder(header, relations=("e-cube",), multicast=False)
    [got] = decode(decoder, 0, [(*strapped(decoder, mesh, 4), header.encode([4])[0], 1, 0)])
    assert (got["final"], got["asked"], got["strip"], got["last"]) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    "classes", ["up/down:next", "up/down:last", "0+/0-:next", "1+,0+/1-/0-:last", "1-/0+,0-:next", ":next"]
)
@pytest.mark.parametrize("relation", ["e-cube", "hamiltonian"])
def test_class_is_that_of_the_next_hop_or_of_the_last(classes, relation):
    mesh = topology("mesh:4x4")
    rule = ConsumptionClasses.parse(classes)
    decoder = MeshDecoder(AddressList(mesh.shape, 32), relations=(relation,), consumption=rule)
    class_of = {(int(u), int(o)): int(k) for (u, o, _, _), k in zip(mesh.links, rule.of_links(mesh), strict=True)}
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
            cases.append((*strapped(decoder, mesh, node), 0 if out is None else 1 << reaches.index(out)))
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
        ((4, 4), ("x-y",), 1, "must be of e-cube, hamiltonian, not 'x-y'"),
        ((4, 4), (), 1, "must name relations once each"),
        ((4, 4), ("e-cube", "e-cube"), 2, "must name relations once each"),
        ((4, 4), ("e-cube",), 2, "1 given, but the header format selects among 2"),
        ((3, 3, 3), ("hamiltonian",), 1, "2-dimensional"),
    ],
)
def test_bad_relations_are_refused(shape, relations, count, sentence):
    with pytest.raises(WormcastError, match=sentence):
        MeshDecoder(AddressList(shape, 32, relations=count), relations=relations)
