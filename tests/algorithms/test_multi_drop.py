"""Headers of pairs of a switch and its ports."""

import re
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import BitString, MultiDrop, WormcastError, topology
from wormcast.algorithms.multicast_plan import plan

IRREGULAR = "irregular:switches=5,ports=8,nodes=17,connectivity=0.8,seed=3"


@st.composite
def formats_and_worms(draw):
    """A format, and destinations in visiting order, those at one switch together and ascending."""
    switches, ports = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    places = draw(st.lists(st.tuples(st.integers(0, switches - 1), st.integers(0, ports - 1)), min_size=1, max_size=20,
                           unique=True))
    places.sort(key=lambda place: place[1])  # so that at a switch ids ascend with ports
    header = MultiDrop(tuple(places), switches, ports, draw(st.integers(1, 200)))
    order = draw(st.permutations(range(switches)))
    chosen = draw(st.lists(st.integers(0, len(places) - 1), min_size=1, unique=True))
    return header, sorted(chosen, key=lambda node: (order.index(places[node][0]), node))


def expected(header, destinations):
    """The header by its drawing: pairs of text, the highest bit first."""
    found, homes = [], list(dict.fromkeys(header.places[node][0] for node in destinations))
    for switch in homes:
        here = [header.places[node][1] for node in destinations if header.places[node][0] == switch]
        ports = "".join("01"[port in here] for port in reversed(range(header.ports)))
        text = ports + "01"[switch == homes[-1]] + f"{switch:0{header.switch_bits}b}"
        width = header.flit_width
        padded = text.zfill(-(-len(text) // width) * width)
        found += [int(padded[at:at + width], 2) for at in reversed(range(0, len(padded), width))]
    return found


def test_the_layout_by_hand():
    # 3 bits of switch, 1 that marks the last pair, 4 ports
    header = MultiDrop(((0, 2), (0, 3), (6, 0)), switches=7, ports=4, flit_width=8)
    assert (header.switch_bits, header.pair_bits, header.pair_flits) == (3, 8, 1)
    assert header.encode([2, 0, 1]) == [0b0001_0_110, 0b1100_1_000]
    assert header.parts([2, 0, 1]) == ["6:1000", "0:0011"]
    narrow = MultiDrop(header.places, 7, 4, flit_width=3)
    assert narrow.encode([1, 2]) == [0b000, 0b000, 0b10, 0b110, 0b011, 0b00]
    assert (header.flits(1), header.flits(2), header.flits(3), narrow.flits(3)) == (1, 2, 2, 6)


@given(drawn=formats_and_worms())
@settings(deadline=None)
def test_encoding_by_the_drawing_and_back(drawn):
    header, destinations = drawn
    flits = header.encode(destinations)
    assert flits == expected(header, destinations)
    assert header.decode(flits) == destinations
    assert len(flits) <= header.flits(len(destinations))
    assert max(flits) < 1 << header.flit_width


@given(drawn=formats_and_worms())
@settings(deadline=None)
def test_a_switch_strips_its_own_pair(drawn):
    header, destinations = drawn
    flits, left = header.encode(destinations), destinations
    while True:
        home = header.places[left[0]][0]
        left = [node for node in left if header.places[node][0] != home]
        flits = header.strip(flits)
        if not left:
            assert flits is None
            return
        assert flits == header.encode(left)


@given(drawn=st.lists(formats_and_worms(), min_size=1, max_size=3))
@settings(deadline=None)
def test_many_are_as_one_by_one(drawn):
    header = drawn[0][0]
    worms = [drawn[0][1], *([node] for node in drawn[0][1])]
    nodes = np.array(list(chain.from_iterable(worms)), np.int32)
    offsets, flits = header.encode_batch(np.cumsum([0, *map(len, worms)]), nodes)
    whole = [sum(int(part) << 64 * place for place, part in enumerate(row)) for row in flits.tolist()]
    assert [whole[first:end] for first, end in pairwise(offsets)] == [
        header.encode(worm) for worm in worms]


def test_the_layout_with_node_ids():
    """Two bits of a node, at the switch with ports 2 and 3 the first one that the worm visits."""
    header = MultiDrop(((0, 2), (0, 3), (6, 0)), switches=7, ports=4, flit_width=8, ids="node")
    assert (header.id_bits, header.pair_bits) == (2, 7)
    assert header.encode([2, 0, 1]) == [0b0001_0_10, 0b1100_1_00]
    assert header.encode([1, 0]) == [0b1100_1_01]
    assert header.parts([2, 1, 0]) == ["2:1000", "1:0011"]
    assert header.decode(header.encode([2, 1, 0])) == [2, 0, 1]
    assert header.strip(header.encode([2, 0])) == header.encode([0])
    with pytest.raises(WormcastError, match=r"^header: node 3 is not valid. Allowed: 0 to 2.$"):
        header.decode([0b0001_1_11])
    with pytest.raises(WormcastError, match=r"^header: ids 'port' is not valid. Allowed: switch, node.$"):
        MultiDrop(header.places, 7, 4, 8, ids="port")


def test_on_a_network():
    network = topology(IRREGULAR)
    header = MultiDrop.on(network, 16)
    assert (header.switches, header.ports, header.nodes, header.pair_bits) == (5, 8, 17, 12)
    assert header.places == tuple(map(tuple, network.consumptions.tolist()))
    assert MultiDrop.ideal_width_on(network, 10) == 12
    assert header == MultiDrop.on(network, 16) != MultiDrop.on(network, 17)
    assert hash(header) == hash(MultiDrop.on(network, 16))
    for worm in plan(network, "path-lg", 3, "all").worms:
        assert header.decode(header.encode(worm.destinations)) == list(worm.destinations)
    assert BitString.on(network, 16) == BitString((17,), 16)
    assert BitString.ideal_width_on(network, 3) == 18


ONCE = "Allowed: each destination once, and destinations at one switch consecutive."

REFUSALS = {
    "a place": (lambda: MultiDrop(((0, 4),), 2, 4, 8),
                "header: port 4 of switch 0 is not valid. Allowed: ports 0 to 3 of switches 0 to 1."),
    "a width": (lambda: MultiDrop(((0, 3),), 2, 4, 0), "flit_width: 0 is not valid. Allowed: 1 or more."),
    "relations": (lambda: MultiDrop(((0, 3),), 2, 4, 8, 2),
                  ("relations: 2 relations are not valid: a multi-drop header cannot select a relation. "
                   "Allowed: one relation (option relation).")),
    "nobody": (lambda: MULTI.encode([]), "header: worm 0 has no destination. Needed: 1 or more."),
    "no node": (lambda: MULTI.encode([3]), "header: node 3 has no port. Allowed: 0 to 2."),
    "twice": (lambda: MULTI.encode([0, 0]), f"header: destinations [0, 0] are not valid. {ONCE}"),
    "apart": (lambda: MULTI.encode([0, 2, 1]), f"header: destinations [0, 2, 1] are not valid. {ONCE}"),
    "no port": (lambda: MULTI.decode([0b0001_1_001]),
                "header: port 0 of switch 1 is not valid: it has no node. Allowed: ports with a node."),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusals(what):
    make, sentence = REFUSALS[what]
    with pytest.raises(WormcastError, match=f"^{re.escape(sentence)}$"):
        make()


MULTI = MultiDrop(((0, 2), (0, 3), (6, 0)), switches=7, ports=4, flit_width=8)
