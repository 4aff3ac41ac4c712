# amaranth: UnusedElaboratable=no
"""Switches that absorb: a worm ends at each of its destinations, and the rest of its header leaves with the payload."""

import pytest
from cases import some

from wormcast.algorithms import HAMILTONIAN, ConsumptionClasses, topology

from . import bench

MESH = topology("mesh:4x4")
HERE = 5  # 1.1
START = 10
# bits of a flit that hold one address, two, and five
WIDTHS = {5: 1, 9: 2, 24: 5}


def through(worms, *, cycles=120, credit_after=1, table=False, **options):
    """Send (destinations, payload) by the east input of node 1.1, one after the other; return the driver."""
    switch = bench.mesh_switch((4, 4), classes=ConsumptionClasses(), absorbs=True, table=table, **options)
    straps = bench.straps_of(switch, MESH, HAMILTONIAN, HERE) if table else (1, 1)
    driver = bench.Driver(switch, straps, credit_after=credit_after)
    for destinations, payload in worms:
        driver.send(START, "east", bench.worm(switch.decoder.header.encode(destinations), payload))
    return driver.run(cycles)


def rest(driver, destinations):
    """Header flits that are to leave of a worm that ends here: without the own address, which padding repeats."""
    header = driver.switch.decoder.header
    per_flit = [destinations[k:k + header.capacity] for k in range(0, len(destinations), header.capacity)]
    flits, encoded = [], header.encode(destinations)
    for k, nodes in enumerate(per_flit):
        if k or len(nodes) > 1:
            flits.append((nodes[1:] if k == 0 else nodes, encoded[k]))
    return flits


def addresses(header, flit):
    """Nodes that a header flit names, each once, in its order."""
    nodes = {header.address(node): node for node in range(16)}
    slots = [flit >> k * header.address_bits & (1 << header.address_bits) - 1 for k in range(header.capacity)]
    return list(dict.fromkeys(nodes[slot] for slot in slots))


@pytest.mark.parametrize("destinations", some([[HERE], [HERE, 4], [HERE, 4, 8], [HERE, 4, 8, 9, 10, 11], [4, 8], [4]],
                                              [HERE, 4, 8, 9, 10, 11]), ids=str)
@pytest.mark.parametrize("width", some(WIDTHS, 5, 24))
# one virtual channel each, and a buffer of one flit, are for make test-all: what they do to worms is tested elsewhere
@pytest.mark.parametrize("options", some([{}, {"readers": "independent"}, {"consumption": 1}, {"delays": "fast"},
                                          {"table": True}, {"depth": 1}], {}, {"readers": "independent"}), ids=str)
def test_worm_ends_at_its_destination_with_the_rest_of_its_list(destinations, width, options):
    """Worms in succession: no worm leaves by two outputs. A worm that ends here has the rest of its list before the
    payload."""
    driver = through([(destinations, 5), (destinations, 1), ([HERE], 2)], width=width, **options)
    header = driver.switch.decoder.header
    assert header.capacity == WIDTHS[width]
    assert driver.fault[0] == "NONE"
    mine = destinations[0] == HERE
    payloads = [5, 1, 2] if mine else [2]
    worms = driver.worms("local")
    assert sorted(sum(not head for head, *_ in worm) for worm in worms) == sorted(payloads)
    for worm in worms:
        heads = [data for head, _, data in worm if head]
        assert [flit[0] for flit in worm] == [1] * len(heads) + [0] * (len(worm) - len(heads))
        assert [data for head, _, data in worm if not head] == [
            (100 + k) & (1 << width) - 1 for k in range(len(worm) - len(heads))]
        wanted = [nodes for nodes, _ in rest(driver, destinations)] if len(worm) - len(heads) != 2 and mine else []
        assert [addresses(header, flit) for flit in heads] == wanted
    onward = [worm for port in ("east", "west", "south", "north") for worm in driver.worms(port)]
    assert len(onward) == (0 if mine else 2)


@pytest.mark.parametrize(("width", "first"), [(24, 4), (5, 4)])
def test_rest_takes_the_place_of_the_header(width, first):
    """Of a flit with further addresses the consumption channel comes first, one cycle more than a header's 3; a flit
    that is used up is stripped, and the next one is there in its stead in the same cycle."""
    driver = through([([HERE, 4, 8], 3)], width=width)
    seen = [(cycle - START, head) for cycle, out, _, head, *_ in driver.seen if out == "local"]
    heads = 1 if width == 24 else 2
    assert seen == [(first + k, int(k < heads)) for k in range(heads + 3)]


def test_consumption_channel_is_taken_while_its_buffer_is_empty():
    """Credits come back 20 cycles after each flit: the second worm, on the only channel, waits for the last of them."""
    driver = through([([HERE, 4], 1), ([HERE, 4], 1)], consumption=1, credit_after=20, width=24)
    heads = [cycle for cycle, out, _, head, *_ in driver.seen if out == "local" and head]
    tails = [cycle for cycle, out, _, _, tail, _ in driver.seen if out == "local" and tail]
    assert heads[1] - tails[0] > 20
    assert len(heads) == len(tails) == 2
