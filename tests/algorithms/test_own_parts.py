"""A topology, a relation and a scheme of one's own, in an indirect network: two switches, two nodes each."""

from itertools import pairwise

import numpy as np
import pytest

from wormcast.algorithms import (
    AT_ONCE,
    AddressList,
    ConsumptionClasses,
    Relation,
    Scheme,
    Topology,
    WormcastError,
    Worms,
)
from wormcast.algorithms.multicast_plan import plan


def pair():
    """Nodes 0 and 1 at switch 0, nodes 2 and 3 at switch 1; one link each way."""
    return Topology(
        name="pair",
        kind="pair",
        shape=(4,),
        ports=(("across", "a", "b"), ("across", "a", "b")),
        links=np.array([[0, 0, 1, 0], [1, 0, 0, 0]], np.int32),
        injections=np.array([[0, 1], [0, 2], [1, 1], [1, 2]], np.int32),
        consumptions=np.array([[0, 1], [0, 2], [1, 1], [1, 2]], np.int32),
        coordinates=np.arange(4, dtype=np.int32).reshape(4, 1),
    )


class Across(Relation):
    """Relation that leads to the other switch, or to the node's own port."""

    name = "across"
    description = "for tests"

    def table(self, topology):
        return np.array([[1, 2, 0, 0], [0, 0, 1, 2]], np.int8)


class OneWorm(Scheme):
    """All destinations in one worm, in the order of their ids."""

    name = "one-worm"
    description = "for tests"
    provenance = "reconstructed from nothing"
    kinds = ("pair",)
    relation = Across()
    header = AddressList

    def classes_on(self, topology):
        return ConsumptionClasses()

    def worms(self, topology, messages):
        sources, destination_offsets, destinations = messages
        count = len(sources)
        ordered = [np.sort(destinations[start:end]) for start, end in pairwise(destination_offsets)]
        return Worms(
            message_offsets=np.arange(count + 1),
            source=sources,
            rank=np.zeros(count, np.int32),
            after=np.full(count, AT_ONCE),
            destination_offsets=destination_offsets,
            destinations=np.concatenate(ordered),
        )


@pytest.mark.parametrize(
    ("source", "destinations", "links"),
    [
        (0, [1], ()),
        (0, [3, 2], ((0, 1),)),
        (0, [3, 2, 1], ((0, 1),)),
        (2, [1, 0], ((1, 0),)),
    ],
)
def test_a_plan_goes_from_switch_to_switch(source, destinations, links):
    multicast = plan(pair(), OneWorm(), source, destinations)
    assert multicast.worms[0].destinations == tuple(sorted(destinations))
    assert multicast.worms[0].links == links
    assert multicast.worms[0].classes == (None,) * len(destinations)
    assert (multicast.hops, multicast.channels, multicast.copies) == (len(links), len(links), 1)
    assert multicast.form == "its only form"


@pytest.mark.parametrize(("source", "destinations"), [(2, [3, 1, 0]), (3, [2, 1, 0])])
def test_a_worm_that_goes_back_is_refused(source, destinations):
    with pytest.raises(WormcastError, match="a worm comes from s1 to s0, stops there, and continues to s1; routers "):
        plan(pair(), OneWorm(), source, destinations)


def test_its_nodes_have_ids_coordinates_and_addresses():
    network = pair()
    assert network.node("3") == 3
    assert network.node_name(3) == "3"
    assert [node["switch"] for node in network.describe()["nodes"]] == [0, 0, 1, 1]
    header = OneWorm.header(network.shape, flit_width=6)
    assert header.decode(header.encode([3, 0, 2, 1])) == [3, 0, 2, 1]
