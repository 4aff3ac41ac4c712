"""Circles of interfaces that forward to each other, and what `check` says of places for packets."""

import pytest

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.deadlock.interfaces import circle_of_interfaces


@pytest.mark.parametrize(("name", "scheme"), [
    ("mesh:2x2", "k-binomial:k=1"), ("mesh:8x8", "k-binomial"), ("min:b=2,stages=3", "k-binomial:k=3"),
    ("irregular:seed=1", "k-binomial"), ("irregular:seed=1", "path-lg:by=ni"),
])
def test_each_of_a_circle_forwards_to_the_next_which_forwards_too(name, scheme):
    network = topology(name)
    scheme = find_scheme(scheme, network)
    circle = circle_of_interfaces(network, scheme)
    assert len(circle) == 2
    for (node, following, source, destinations), (after, *_) in zip(circle, circle[1:] + circle[:1], strict=True):
        assert following == after
        worms = scheme.batch(network, [source], [0, len(destinations)], [*destinations])
        assert any(following in worms.visits(worm) for worm in range(len(worms)) if worms.source[worm] == node)
        assert following in worms.source.tolist()


def test_three_nodes_have_one_and_two_have_none():
    """Chains go on from the source in the order of the nodes, and from the last one to the first."""
    def found(name):
        return circle_of_interfaces(topology(name), find_scheme("k-binomial:k=1", topology(name)))

    assert [step[:2] for step in found("mesh:1x3")] == [(0, 1), (1, 2), (2, 0)]
    assert found("mesh:1x2") == ()


def test_check_tells_a_circle_assumes_none_or_needs_to_assume_nothing():
    mesh = topology("mesh:2x2")
    chain = find_scheme("k-binomial:k=1", mesh)
    few, enough, unknown = (check(mesh, chain, places=places) for places in (False, True, None))
    assert (few.verdict, few.assumes) == ("deadlock", "")
    first, second, *_ = few.cycle
    assert (first.resource, second.resource) == ("place:0:*", "cons:1:0")
    assert (enough.verdict, enough.assumes) == ("free", "")
    assert unknown.verdict == "free"
    assert unknown.assumes.startswith("smart interfaces have packet buffer entries for all packets")


def test_places_are_of_schemes_that_interfaces_forward():
    mesh = topology("mesh:2x2")
    with pytest.raises(WormcastError, match="places: off is not valid: no interface forwards worms of dual-path"):
        check(mesh, find_scheme("dual-path", mesh), places=False)
