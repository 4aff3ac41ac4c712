# amaranth: UnusedElaboratable=no
"""Lists of addresses under adaptive relations: the decoder against the relations' alternatives, everywhere."""

import itertools

import pytest
from amaranth.hdl import Cat, Signal
from cases import slow

from wormcast.algorithms import (
    E_CUBE,
    NO_CLASS,
    SCHEMES,
    AddressList,
    ConsumptionClasses,
    WormcastError,
    topology,
)
from wormcast.algorithms.routing import ADAPTIVE, E_CUBE_ADAPTIVE
from wormcast.hw.decoders import ArrivingHeader
from wormcast.hw.decoders.adaptive import AdaptiveDecoder
from wormcast.hw.router import Blueprint
from wormcast.sim import Configuration

from . import bench

RELATIONS = pytest.mark.parametrize("relation", [ADAPTIVE, E_CUBE_ADAPTIVE], ids=lambda relation: relation.name)


def header_of(mesh, slots):
    """Return the narrowest header format with this number of addresses per flit."""
    return AddressList(mesh.shape, slots * AddressList(mesh.shape, 32).address_bits + 1)


def straps(decoder, mesh, node):
    return [int(mesh.coordinates[node, int(name.rsplit("_", 1)[1])]) for name in decoder.straps]


def decode(decoder, port, cases):
    """Decode (straps, data) at a port: targets, onward, copy, ends, strip, outside, wrong_order."""
    def build(m):
        inputs = {name: Signal(bits, name=name) for name, bits in decoder.straps.items()}
        data, stored = Signal(decoder.header.flit_width), Signal(decoder.code_width(port))
        decoded = decoder.decode(m, port, inputs, ArrivingHeader(data=data, first=1, after_strip=0))
        request = decoder.request(port, stored)
        values = [Cat(request.targets), decoder.onward(port, request), request.all_of[-1], decoded.ends_here,
                  decoded.strip, decoded.outside, decoded.wrong_order]
        outputs = [Signal(len(value), name=f"out_{i}") for i, value in enumerate(values)]
        m.d.comb += [stored.eq(decoded.code), *(out.eq(value) for out, value in zip(outputs, values, strict=True))]
        return [*inputs.values(), data], outputs

    for targets, onward, *rest in bench.settle(build, cases):
        yield ({target for i, target in enumerate(decoder.targets(port)) if targets >> i & 1},
               [o for i, o in enumerate(decoder.reaches(port)) if onward >> i & 1], *rest)


@RELATIONS
@pytest.mark.parametrize("name", ["mesh:3x3", slow("mesh:3x4"), slow("mesh:2x3x2")])
def test_decides_as_the_relation_says(relation, name):
    """From every switch, by every input, to every next destination, at a stop and on the way. Where e-cube's hop leads
    back, the worm is dropped, even if other outputs exist."""
    mesh = topology(name)
    decoder = AdaptiveDecoder(header_of(mesh, 2), relation=relation)
    options, escapes = relation.on(mesh).options[0], E_CUBE.on(mesh).table
    for port in range(len(decoder.inputs)):
        from_node = port >= decoder.ejection
        nodes = [here for here in range(mesh.nodes) if from_node or mesh.neighbours[here, port] >= 0]
        asked = list(itertools.permutations(nodes if from_node else range(mesh.nodes), 2))
        asked = [(here, to, stop) for here, to in asked if here in nodes for stop in ((False,) if from_node else
                                                                                     (False, True))]
        cases = [(*straps(decoder, mesh, here), decoder.header.encode([here, to] if stop else [to])[0])
                 for here, to, stop in asked]
        for (here, to, stop), got in zip(asked, decode(decoder, port, cases), strict=True):
            targets, onward, copy, ends, strip, outside, wrong_order = got
            escape = int(escapes[here, to])
            back = not from_node and escape == port
            ways = {divmod(int(code), 2) for code in options[here, to] if code >= 0}
            assert targets == (set() if back else ways - {(port, 1)})
            assert onward == ([] if back else [escape])
            assert (copy, strip, outside) == (int(stop and not back), 0, 0)
            assert (ends, wrong_order) == (int(back and stop), int(back))


@RELATIONS
def test_the_last_destination_and_one_outside(relation):
    mesh = topology("mesh:3x5")
    header = header_of(mesh, 2)
    decoder = AdaptiveDecoder(header, relation=relation)
    own = straps(decoder, mesh, 7)
    outside = 0b11_111
    flits = [header.encode([7])[0], 1 << 10 | outside << 5 | outside]
    ended, away = decode(decoder, 0, [(*own, flit) for flit in flits])
    assert (ended[0], ended[3], ended[5:]) == (set(), 1, (0, 0))
    assert (away[0], away[3:]) == (set(), (0, 0, 1, 0))


@pytest.mark.parametrize("text", ["0+/0-:next", "1+,0+/1-/0-:last", "1+.0/1+.1/1-.0/1-.1/0+.0/0+.1/0-.0/0-.1:last",
                                  "1+.1,0-.0/0+:last", ":next"])
def test_class_is_that_of_the_escape_or_of_the_last_channel(text):
    mesh, rule = topology("mesh:3x3"), ConsumptionClasses.parse(text)
    decoder = AdaptiveDecoder(header_of(mesh, 2), relation=ADAPTIVE, consumption=rule)
    of_channel = rule.of_channels(mesh, 2).reshape(-1, 2)
    class_of = {(int(start), int(out)): of_channel[row].tolist() for row, (start, out, _, _) in enumerate(mesh.links)}
    for port, vc in itertools.product(range(decoder.ejection), range(2)):
        cases, expected = [], []
        for node, out in itertools.product(range(mesh.nodes), [None, *decoder.reaches(port)]):
            if mesh.neighbours[node, port] < 0 or (out is not None and mesh.neighbours[node, out] < 0):
                continue
            last = class_of[int(mesh.neighbours[node, port]), port ^ 1][vc]
            following = NO_CLASS if out is None or rule.by == "last" else class_of[node, out][0]
            wanted = last if following == NO_CLASS else following
            cases.append((*straps(decoder, mesh, node), 0 if out is None else 1 << decoder.reaches(port).index(out)))
            expected.append((len(rule) if wanted == NO_CLASS else wanted,))

        def build(m, port=port, vc=vc):
            inputs = [Signal(bits, name=name) for name, bits in decoder.straps.items()]
            links, kind = Signal(len(decoder.reaches(port))), Signal(range(len(rule) + 1))
            straps = dict(zip(decoder.straps, inputs, strict=True))
            m.d.comb += kind.eq(decoder.consumption_class(port, straps, links, vc))
            return [*inputs, links], [kind]

        assert bench.settle(build, cases) == expected


def test_other_relations_and_selectors_are_refused():
    mesh = topology("mesh:3x3")
    with pytest.raises(WormcastError, match=r"AdaptiveDecoder.relation: e-cube is not valid. Allowed: adaptive, e-"):
        AdaptiveDecoder(header_of(mesh, 2), relation=E_CUBE)
    with pytest.raises(WormcastError, match=r"AdaptiveDecoder.header: a selector of 2 relations is not valid."):
        AdaptiveDecoder(AddressList(mesh.shape, 32, relations=2), relation=ADAPTIVE)


@RELATIONS
def test_headers_take_only_links_whose_buffers_are_empty(relation):
    """The analysis of adaptive worms of several destinations assumes that no header waits behind another worm's
    flits."""
    decoder = AdaptiveDecoder(header_of(topology("mesh:3x3"), 2), relation=relation)
    assert decoder.enters_empty
    blueprint = Blueprint(topology("mesh:3x3"), SCHEMES["column-path"].routed_by(relation), Configuration(vcs=2))
    for router in map(blueprint.router, blueprint.kinds):
        built = router.elaborate(None)
        units = [getattr(built.submodules, f"{port.name}_output") for port in router.outputs]
        assert [unit.empty for unit in units[:router.ejection]] == [True] * router.ejection
        assert not any(unit.empty for unit in units[router.ejection:])
