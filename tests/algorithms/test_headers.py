import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import AddressList, Unicast, WormcastError


@st.composite
def formats_and_destinations(draw, most=12):
    """A format, destinations in visiting order, and a relation."""
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3).filter(lambda one: max(one) > 1)))
    relations = draw(st.integers(1, 5))
    least = AddressList.ideal_width(shape, 1, relations)
    header = AddressList(shape, draw(st.integers(least, least + 200)), relations)
    nodes = st.integers(0, header.nodes - 1)
    destinations = draw(st.lists(nodes, min_size=1, max_size=most, unique=True))
    return header, destinations, draw(st.integers(0, relations - 1))


def test_the_layout_by_hand():
    # 3+3 bits an address, 2 slots, 1 bit of selector, 1 that marks the last flit, 2 that are always 0
    header = AddressList((6, 6), flit_width=16, relations=2)
    assert (header.field_bits, header.address_bits, header.selector_bits, header.capacity) == (
        (3, 3),
        6,
        1,
        2,
    )
    assert header.address(20) == 0b011_010  # 3.2
    assert header.encode([20, 30, 4], relation=1) == [
        0b1_0_00_101_000_011_010,  # 5.0 above 3.2
        0b1_1_00_000_100_000_100,  # 0.4 twice
    ]
    assert header.flits(3) == 2


def test_strip_shifts_down_and_keeps_the_top_slot():
    header = AddressList((8, 8), flit_width=20)
    first = header.encode([1, 2, 3])[0]
    second = header.strip(first)
    third = header.strip(second)
    assert [second, third] == [header.encode([2, 3])[0], header.encode([3])[0]]
    assert header.strip(third) is None


def test_an_extent_of_1_takes_no_bits():
    header = AddressList((1, 8), 4)
    assert header.field_bits == (0, 3)
    assert header.encode([7, 0]) == [0b0_111, 0b1_000]
    assert header.decode(header.encode([7, 0])) == [7, 0]


def test_signs_stand_above_the_coordinates():
    # rows of 4, columns of 6: a sign each, of the row above; layers of 5 have none
    header = AddressList((4, 6, 5), flit_width=20, signed=(0, 1))
    assert (header.coordinate_bits, header.address_bits, header.capacity) == (8, 10, 1)
    assert header.address(3 * 30 + 5 * 5 + 4, 0b10) == 0b01_11_101_100
    assert header.encode([94], signs=[0b01]) == [1 << 19 | 0b10_11_000_100]
    assert [header.signs(header.address(94, signs)) for signs in range(4)] == [0, 1, 2, 3]
    assert header.node(0b11_11_101_100) == 119
    # repeated with its signs, and stripped by both
    header = AddressList((4,), flit_width=10, signed=(0,))
    [flit] = header.encode([2, 0], signs=[0, 1])
    assert flit == 0b1_100_100_010
    assert header.decode([flit]) == [2, 0]
    assert header.strip(header.strip(flit)) is None


@given(formats_and_destinations(), st.data())
@settings(deadline=None)  # the first example may compile
def test_encoders_agree_on_signs(drawn, data):
    plain, destinations, relation = drawn
    signed = tuple(d for d, extent in enumerate(plain.shape) if extent % 2 == 0)
    header = AddressList(plain.shape, plain.flit_width + len(signed), plain.relations, signed)
    signs = data.draw(st.lists(st.integers(0, 7), min_size=len(destinations), max_size=len(destinations)))
    flits = header.encode(destinations, relation, signs)
    assert header.decode(flits) == destinations
    _, batch = header.encode_batch(np.array([0, len(destinations)]), np.array(destinations, np.int32), relation,
                                   np.array(signs))
    assert batch.tolist() == [words(header, flit) for flit in flits]
    width = AddressList.ideal_width(header.shape, len(destinations), header.relations, signed)
    assert AddressList(header.shape, width, header.relations, signed).flits(len(destinations)) == 1


@pytest.mark.parametrize("signed", [(1,), (0, 1), (2, 0), (3,), (0, 0)])
def test_signs_are_of_even_dimensions_in_their_order(signed):
    with pytest.raises(WormcastError, match=r"signs of dimensions .* are not valid. Allowed: .* some of \(0, 2\)"):
        AddressList((4, 3, 2), 32, signed=signed)


@given(formats_and_destinations())
def test_the_last_flit_alone_is_marked(drawn):
    """The bit below the selector; it stays with the flit however many addresses are stripped."""
    header, destinations, relation = drawn
    place = header.flit_width - header.selector_bits - 1
    *before, flit = header.encode(destinations, relation)
    assert [one >> place & 1 for one in before] == [0] * len(before)
    rest = flit
    while rest is not None:
        assert rest >> place & 1
        rest = header.strip(rest)


@given(formats_and_destinations())
def test_what_is_encoded_is_decoded_in_the_same_order(drawn):
    header, destinations, relation = drawn
    flits = header.encode(destinations, relation)
    assert header.decode(flits) == destinations
    assert len(flits) == header.flits(len(destinations))
    assert all(0 <= flit < 1 << header.flit_width for flit in flits)
    assert {header.relation(flit) for flit in flits} == {relation}


@given(formats_and_destinations())
def test_stripping_at_each_destination_leaves_the_header_of_the_rest(drawn):
    header, destinations, relation = drawn
    flits = header.encode(destinations, relation)
    for visited in range(1, len(destinations)):
        rest = header.strip(flits[0])
        flits = flits[1:] if rest is None else [rest, *flits[1:]]
        assert header.decode(flits) == destinations[visited:]
        assert {header.relation(flit) for flit in flits} == {relation}
    assert len(flits) == 1
    assert header.strip(flits[0]) is None


def words(header, flit):
    return [flit >> 64 * part & (1 << 64) - 1 for part in range(-(-header.flit_width // 64))]


@given(formats_and_destinations(), st.data())
@settings(deadline=None)  # the first example may compile
def test_the_compiled_encoder_equals_the_plain_one(drawn, data):
    header, first, relation = drawn
    nodes = st.integers(0, header.nodes - 1)
    worms = [first, *data.draw(st.lists(st.lists(nodes, min_size=1, max_size=9, unique=True), max_size=4))]
    offsets = np.cumsum([0, *map(len, worms)])
    flit_offsets, flits = header.encode_batch(offsets, np.concatenate(worms).astype(np.int32), relation)
    assert flits.dtype == np.uint64
    for worm, destinations in enumerate(worms):
        encoded = flits[flit_offsets[worm] : flit_offsets[worm + 1]].tolist()
        assert encoded == [words(header, flit) for flit in header.encode(destinations, relation)]


def test_no_worms_have_no_flits():
    flit_offsets, flits = AddressList((8, 8), 32).encode_batch(np.zeros(1, np.int64), np.zeros(0, np.int32))
    assert flit_offsets.tolist() == [0]
    assert flits.shape == (0, 1)


def test_a_unicast_is_an_address_list_of_one_without_a_mark():
    unicast, listed = Unicast((8, 8), 32), AddressList((8, 8), 32)
    assert (unicast.capacity, listed.capacity) == (5, 5)
    assert [unicast.encode([42])[0] | 1 << 31] == listed.encode([42])
    assert (Unicast((8, 8), 30).capacity, AddressList((8, 8), 30).capacity) == (5, 4)
    assert unicast.flits() == unicast.flits(1) == 1
    offsets, destinations = np.arange(3), np.array([42, 7], np.int32)
    assert unicast.encode_batch(offsets, destinations)[1].tolist() == [
        unicast.encode([42]),
        unicast.encode([7]),
    ]


@given(formats_and_destinations())
def test_the_ideal_width_is_the_least_for_one_flit(drawn):
    header, destinations, _ = drawn
    width = AddressList.ideal_width(header.shape, len(destinations), header.relations)
    assert AddressList(header.shape, width, header.relations).flits(len(destinations)) == 1
    if len(destinations) > 1:
        assert AddressList(header.shape, width - 1, header.relations).flits(len(destinations)) == 2


def plain():
    return AddressList((6, 6), 32)


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (
            lambda: AddressList((6, 6), 6),
            r"flit_width: 6 is not valid: .* all bits .*\(6 for an address, 1 for .* of the last flit\). Allowed: 7 or",
        ),
        (lambda: AddressList((6, 6), 8, relations=3), r"6 for .*, 1 for .*, 2 for the relation\). Allowed: 9 or more"),
        (lambda: Unicast((6, 6), 7, relations=3), r"\(6 for an address, 2 for the relation\). Allowed: 8 or more"),
        (lambda: AddressList((1, 1), 8), r"header: shape \(1, 1\) is not valid: it has fewer than two nodes"),
        (lambda: AddressList((0, 8), 8), r"header: shape \(0, 8\) is not valid: it has fewer than two nodes"),
        (lambda: AddressList((), 8), r"header: shape \(\) is not valid: it has fewer than two nodes"),
        (lambda: AddressList((6, 6), 8, relations=0), r"header: relations: 0 is not valid. Allowed: 1 or more"),
        (lambda: plain().encode([]), r"header: destinations are missing. Needed: 1 or more"),
        (
            lambda: plain().encode([1, 2, 1]),
            r"header: \[1, 2, 1\] is not valid: a destination occurs twice. Allowed: once",
        ),
        (lambda: plain().encode([36]), r"header: node 36 has no address. Allowed: 0 to 35"),
        (lambda: plain().encode([-1]), r"header: node -1 has no address. Allowed: 0 to 35"),
        (lambda: plain().encode([1], relation=1), r"header: relation 1 is unknown. Allowed: 0 to 0"),
        (lambda: plain().node(0b110_000), r"header: address 0x30 has coordinate 6. Allowed: 0 to 5"),
        (lambda: batch(plain(), [0, 1], [36]), r"header: node 36 has no address. Allowed: 0 to 35"),
        (lambda: batch(plain(), [0, 1], [-1]), r"header: node -1 has no address. Allowed: 0 to 35"),
        (lambda: batch(plain(), [0, 1, 1], [3]), r"header: worm 1 has no destination. Needed: 1 or more"),
        (lambda: plain().encode_batch(np.arange(1), np.arange(0), 1), r"header: relation 1 is unknown"),
        (
            lambda: Unicast((6, 6), 32).encode([1, 2]),
            r"header: Unicast is not valid for a worm with 2 destinations",
        ),
        (lambda: Unicast((6, 6), 32).encode([]), r"header: destinations are missing"),
        (lambda: Unicast((6, 6), 32).flits(2), r"header: Unicast is not valid for a worm with 2 destinations"),
        (lambda: batch(Unicast((6, 6), 32), [0, 3], [1, 2, 3]), r"worm with 3 destinations"),
        (lambda: AddressList.ideal_width((6, 6), 0), r"header: 0 destinations are not valid. Allowed: 1 or more"),
        (lambda: AddressList.ideal_width((1, 1), 1), r"header: shape \(1, 1\) is not valid: it has fewer than"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(action, sentence):
    with pytest.raises(WormcastError, match=sentence):
        action()


def batch(header, offsets, destinations):
    return header.encode_batch(np.array(offsets), np.array(destinations, np.int32))
