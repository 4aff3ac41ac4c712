"""Headers of several formats in one network, and the scheme whose worms have them."""

import re
from itertools import pairwise

import numpy as np
import pytest

from wormcast.algorithms import BitString, MixedHeader, MultiDrop, WormcastError, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.plan_statistics import survey

NETWORK = "irregular:switches=5,ports=8,nodes=17,connectivity=0.8,seed=3"
FEW = "mixed:few=path-lg,limit=4"
BY_NODE = f"{FEW},ids=node"


def header_of(scheme, width, network=NETWORK):
    built = topology(network)
    return find_scheme(scheme, built).header_on(built, width)


def in_flits(text, width):
    """Flits of bits that are written with the highest one first."""
    padded = text.replace(" ", "").zfill(-(-len(text.replace(" ", "")) // width) * width)
    return [int(padded[at:at + width], 2) for at in reversed(range(0, len(padded), width))]


def expected(scheme, destinations, width):
    """The header by its drawing: of 17 nodes, 5 switches, 8 ports."""
    built, few = topology(NETWORK), scheme != "mixed"
    form = "00" if few else "0"
    if len(destinations) == 1:
        return in_flits(f"{destinations[0]:05b} {form}", width)
    if not few or len(destinations) > 4:
        return in_flits("".join("01"[node in destinations] for node in reversed(range(17))) + "0" + form[1:] + "1",
                        width)
    places = built.consumptions.tolist()
    homes, found = list(dict.fromkeys(places[node][0] for node in destinations)), []
    for switch in homes:
        here = {places[node][1] for node in destinations if places[node][0] == switch}
        ports = "".join("01"[port in here] for port in reversed(range(8)))
        number = f"{switch:03b}" if scheme == FEW else f"{next(n for n in destinations if places[n][0] == switch):05b}"
        found += in_flits(f"{ports} {int(switch == homes[-1])} {number} 10", width)
    return found


@pytest.mark.parametrize("scheme", ["mixed", FEW, BY_NODE])
@pytest.mark.parametrize("width", [2, 3, 4, 5, 8, 14, 70, 200])
def test_encoding_by_the_drawing_and_back(scheme, width):
    if width == 2 and scheme != "mixed":
        return
    network, rng, header = topology(NETWORK), np.random.default_rng(width), header_of(scheme, width)
    assert header.form_bits == (1 if scheme == "mixed" else 2)
    sent = [rng.choice(17, size + 1, replace=False).tolist() for size in [*range(1, 17)] * 3]
    worms = [list(worm.destinations) for source, *to in sent
             for worm in plan(network, scheme, source, to).worms]
    assert {len(worm) for worm in worms} > {1, 2, 16}
    for worm in worms:
        flits = header.encode(worm)
        assert flits == expected(scheme, worm, width)
        assert header.decode(flits) == worm
        assert len(flits) <= header.flits(len(worm))
    offsets, flits = header.encode_batch(np.cumsum([0, *map(len, worms)]), np.concatenate(worms).astype(np.int32))
    whole = [sum(int(part) << 64 * place for place, part in enumerate(row)) for row in flits.tolist()]
    assert [whole[first:end] for first, end in pairwise(offsets)] == [*map(header.encode, worms)]


@pytest.mark.parametrize("scheme", ["atbm", "tree-synchronous", "tree-serial"])
@pytest.mark.parametrize("width", [2, 3, 8, 18, 70])
def test_routing_tags_beside_bit_strings_by_the_drawing_and_back(scheme, width):
    """Of 16 nodes; each digit of a tag is the number of an output, the highest digit that of the first stage."""
    network = "min:b=4,stages=2"
    header = header_of(f"{scheme}:unicasts=tag", width, network)
    assert (header.form_bits, header.drops, header_of(f"{scheme}:unicasts=string", width, network)) == (
        1, None, BitString((16,), width))
    for worm in ([0], [13], [0, 13], [*range(16)]):
        expected = f"{worm[0]:04b} 0" if len(worm) == 1 else (
            "".join("01"[node in worm] for node in reversed(range(16))) + "0 1")
        assert header.encode(worm) == in_flits(expected, width)
        assert header.decode(header.encode(worm)) == worm


@pytest.mark.parametrize(("network", "sizes"), [
    ("min:b=2,stages=4", {8: (1, 3), 16: (1, 2), 32: (1, 1)}),
    ("min:b=4,stages=3", {8: (1, 9), 16: (1, 5), 32: (1, 3)}),
    ("min:b=4,stages=4", {8: (2, 33), 16: (1, 17), 32: (1, 9)})])
def test_header_flits_of_tags_and_strings(network, sizes):
    found = {width: header_of("atbm:unicasts=tag", width, network) for width in sizes}
    assert {width: (one.unicast_flits, one.string.flits()) for width, one in found.items()} == sizes


def test_forms_have_bits_only_where_they_are_mixed():
    network = topology(NETWORK)
    assert (BitString.on(network, 8).bits, MultiDrop.on(network, 8).pair_bits) == (18, 12)
    assert (header_of("mixed", 8).string.bits, header_of("mixed", 8).drops) == (19, None)
    both = header_of(FEW, 8)
    assert (both.string.bits, both.drops.pair_bits) == (20, 14)
    assert [both.parts(worm) for worm in ([3], [0, 5], range(5))] == [
        ["3"], MultiDrop.on(network, 8).parts([0, 5]), ["11111000000000000"]]


@pytest.mark.parametrize("scheme", ["mixed", FEW])
def test_an_ideal_header_is_one_flit_or_one_for_each_pair(scheme):
    network = topology(NETWORK)
    header = header_of(scheme, find_scheme(scheme, network).ideal_header_width(network, 16))
    assert (header.unicast_flits, header.string.flits(), header.drops is None or header.drops.pair_flits == 1) == (
        1, 1, True)


@pytest.mark.parametrize(("scheme", "width", "message"), [
    ("mixed", 1, "1 is not valid: it cannot hold a header's form (1 bit) and mark. Allowed: 2 or more."),
    (FEW, 2, "2 is not valid: it cannot hold a header's form (2 bits) and mark. Allowed: 3 or more."),
])
def test_a_flit_holds_the_form_and_the_mark(scheme, width, message):
    with pytest.raises(WormcastError, match=f"^flit_width: {re.escape(message)}$"):
        header_of(scheme, width)


def test_headers_that_are_not_valid_are_refused():
    header = header_of(FEW, 8)
    with pytest.raises(WormcastError, match=r"^header: form 3 is unknown. Allowed: 0 to 2.$"):
        header.decode([3])
    with pytest.raises(WormcastError, match=r"^header: node 17 has no id. Allowed: 0 to 16.$"):
        header.encode([17])
    with pytest.raises(WormcastError, match="relations: 2 relations are not valid"):
        MixedHeader.on(topology(NETWORK), 8, relations=2)


@pytest.mark.parametrize(("scheme", "message"), [
    ("mixed:few=tp", "few 'tp' of 'mixed:few=tp' is not valid. Allowed: ssr-g, ssr-lg, path-g, path-lg, none."),
    ("mixed:few=ssr-g,ids=port", "ids 'port' of 'mixed:few=ssr-g,ids=port' is not valid. Allowed: switch, node."),
    ("atbm:unicasts=id", "unicasts 'id' of 'atbm:unicasts=id' is not valid. Allowed: string, tag."),
    ("path-g:ids=port", "ids 'port' of 'path-g:ids=port' is not valid. Allowed: switch, node."),
    ("mixed:few=ssr-g,limit=1", "limit '1' of 'mixed:few=ssr-g,limit=1' is not valid. Allowed: whole numbers from 2"),
])
def test_parameters_that_are_not_valid_are_refused(scheme, message):
    with pytest.raises(WormcastError, match=re.escape(message)):
        find_scheme(scheme, topology("min:b=2,stages=2" if scheme.startswith("atbm") else NETWORK))


def test_the_number_of_destinations_selects_the_worms():
    network = topology(NETWORK)
    by = "up-down-tree"

    def worms(scheme, to):
        scheme = find_scheme(scheme, network, by)
        return [(one.source, one.destinations, one.links, one.after) for one in plan(network, scheme, 0, to).worms]

    assert worms(FEW, [5]) == worms("individual", [5]) == worms("tree", [5])
    assert worms(FEW, [5, 9, 12, 16]) == worms("path-lg", [5, 9, 12, 16])
    assert worms(FEW, [5, 9, 11, 12, 16]) == worms("tree", [5, 9, 11, 12, 16])


@pytest.mark.parametrize("scheme", ["mixed", FEW])
def test_plans_are_checked_and_surveyed_by_the_form_of_each_worm(scheme):
    network, rng = topology(NETWORK), np.random.default_rng(5)
    sent = [rng.choice(17, size + 1, replace=False).tolist() for size in [1, 3, 4, 6, 16] * 8]
    plans = [plan(network, scheme, source, to) for source, *to in sent]
    for one in plans:
        one.check()
    found = survey(network, find_scheme(scheme, network), [source for source, *_ in sent],
                   np.cumsum([0, *(len(one) - 1 for one in sent)]), [node for _, *to in sent for node in to])
    for name in ("copies", "hops", "channels", "start_ups", "phases"):
        assert getattr(found, name) == pytest.approx(np.mean([getattr(one, name) for one in plans])), name


def test_check_analyses_the_worms_of_each_form_together():
    network = topology(NETWORK)
    found = check(network, find_scheme(FEW, network))
    assert (found.verdict, found.schemes) == ("free", ("tree", "path-lg"))
    assert check(network, find_scheme("mixed", network)).schemes == ("mixed",)
    long = check(network, find_scheme(FEW, network), fits=False)
    assert long.verdict == "deadlock"
