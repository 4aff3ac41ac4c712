"""Header decode against the host's header formats and routing relations: each is the other's oracle."""

import pytest
from amaranth.hdl import Cat, Signal

from wormcast.algorithms import E_CUBE, HAMILTONIAN, WormcastError, topology
from wormcast.algorithms.headers import AddressList
from wormcast.hw.decoders import MeshDecoder

from . import bench


def decode(decoder, port, cases):
    """Decode (coordinates, data, first) at one port: outputs asked for, strip, rewritten data."""

    def build(m):
        straps = {name: Signal(bits, name=name) for name, bits in decoder.straps.items()}
        data, first = Signal(decoder.header.flit_width), Signal()
        code, rewritten, strip = decoder.decode(m, port, straps, data, first)
        stored = Signal(decoder.code_width(port))
        asked, stripped, passed, request_strip = (
            Signal(len(decoder.ports)), Signal(), Signal(decoder.header.flit_width), Signal())
        m.d.comb += [stored.eq(code), passed.eq(rewritten), stripped.eq(strip)]
        request = decoder.request(port, stored)
        m.d.comb += [asked.eq(Cat(request.all_of)), request_strip.eq(request.strip)]
        return [*straps.values(), data, first], [asked, stripped, request_strip, passed]

    return bench.settle(build, cases)


def strapped(decoder, mesh, node):
    return [int(mesh.coordinates[node][int(name.rsplit("_", 1)[1])]) for name in decoder.straps]


@pytest.mark.parametrize("relation", [E_CUBE, HAMILTONIAN], ids=lambda relation: relation.name)
@pytest.mark.parametrize("name", ["mesh:4x5", "mesh:1x6", "mesh:5x1", "mesh:3x3"])
@pytest.mark.parametrize("slots", [1, 2, 5])
def test_first_address_decides_as_the_relation_says(relation, name, slots):
    mesh = topology(name)
    bits = AddressList(mesh.shape, 32).address_bits
    header = AddressList(mesh.shape, slots * bits)
    decoder = MeshDecoder(header, relations=(relation.name,))
    routes = relation.on(mesh)
    for port in range(len(decoder.ports)):
        cases, expected = [], []
        for here in range(mesh.nodes):
            for node in range(mesh.nodes):
                for following in {node, (node + 1) % mesh.nodes}:
                    if node == here and port == decoder.ejection:
                        continue
                    visits = list(dict.fromkeys([node, following]))[: header.capacity]
                    [flit] = header.encode(visits)
                    rest = header.strip(flit) if node == here else flit
                    target = None if rest is None else visits[1] if node == here else node
                    # a turn back to where the worm came from is no request that a relation makes
                    out = None if target is None else int(routes.table[here, target])
                    if out == port:
                        continue
                    cases.append((*strapped(decoder, mesh, here), flit, 1))
                    asked = (0 if out is None else 1 << out) | (1 << decoder.ejection if node == here else 0)
                    expected.append((asked, rest is None, rest is None, flit if rest is None else rest))
        results = decode(decoder, port, cases)
        for case, (asked, strip, request_strip, passed), want in zip(cases, results, expected, strict=True):
            # what is left of a flit that is dropped does not matter
            assert (asked, strip, request_strip) == want[:3], (port, case)
            if not strip:
                assert passed == want[3], (port, case)


def test_header_flit_that_is_not_the_first_passes_untouched():
    mesh = topology("mesh:4x4")
    header = AddressList(mesh.shape, 12)
    decoder = MeshDecoder(header, relations=("hamiltonian",))
    cases = [(*strapped(decoder, mesh, node), header.encode([node, 15 - node])[0], 0) for node in range(16)]
    for case, result in zip(cases, decode(decoder, 0, cases), strict=True):
        assert result == (0, 0, 0, case[-2])


def test_selector_chooses_the_relation():
    mesh = topology("mesh:4x4")
    header = AddressList(mesh.shape, 9, relations=2)
    decoder = MeshDecoder(header, relations=("e-cube", "hamiltonian"))
    for number, relation in enumerate([E_CUBE, HAMILTONIAN]):
        table = relation.on(mesh).table
        pairs = [(here, node) for here in range(16) for node in range(16) if here != node]
        cases = [(*strapped(decoder, mesh, here), header.encode([node], number)[0], 1) for here, node in pairs]
        for (here, node), result in zip(pairs, decode(decoder, decoder.ejection, cases), strict=True):
            assert result[0] == 1 << table[here, node]


def test_unicast_decoder_delivers_at_the_address():
    mesh = topology("mesh:3x3")
    header = AddressList(mesh.shape, 32)
    decoder = MeshDecoder(header, relations=("e-cube",), multicast=False)
    cases = [(*strapped(decoder, mesh, 4), header.encode([4])[0], 1)]
    assert decode(decoder, 0, cases)[0][:2] == (1 << decoder.ejection, 1)
    assert decoder.classes == 1


def test_class_is_the_directed_network_of_the_last_hop():
    mesh = topology("mesh:4x4")
    decoder = MeshDecoder(AddressList(mesh.shape, 32), relations=("hamiltonian",))
    for start, _, end, into in mesh.links:
        expected = 0 if mesh.label(int(end)) > mesh.label(int(start)) else 1
        assert decoder.class_of(int(into), odd=bool(mesh.coordinates[end][0] % 2)) == expected


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
