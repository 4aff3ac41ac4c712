"""Kinds of switches: which switches are one piece of hardware, and which of their ports are built."""

import numpy as np
import pytest

from wormcast.algorithms import E_CUBE, HAMILTONIAN, SCHEMES, Topology, topology, without_classes
from wormcast.algorithms.routing import DESTINATION_TAGS, E_CUBE_EITHER, SHORTEST, UP_DOWN, UP_DOWN_ADAPTIVE
from wormcast.algorithms.token_groups import all_consumed
from wormcast.hw.decoders.grid import grid_kind
from wormcast.hw.router import Blueprint
from wormcast.hw.router_kind import switch_kinds
from wormcast.sim.build.configuration import Configuration


def joined(ports, links, injections, consumptions):
    """A network of switches with these port names, as plain lists."""
    nodes = len(injections)
    return Topology("own", "own", (nodes,), tuple(map(tuple, ports)), np.array(links, np.int32).reshape(-1, 4),
                    np.array(injections, np.int32), np.array(consumptions, np.int32),
                    np.arange(nodes, dtype=np.int32)[:, None])


@pytest.mark.parametrize("name", ["mesh:4x4", "mesh:1x6", "mesh:5x1", "mesh:3x3x3", "torus:4x5", "ring:6"])
def test_grids_have_one_kind_edges_included(name):
    grid = topology(name)
    [kind] = switch_kinds(grid)
    assert kind.members.tolist() == list(range(grid.nodes))
    assert kind.signature == grid_kind(grid.shape).signature
    assert kind.nodes_at(grid)[:, 0].tolist() == list(range(grid.nodes))


@pytest.mark.parametrize("wiring", ["baseline", "cube", "omega", "butterfly"])
def test_stages_of_a_multistage_network_differ_by_where_nodes_are(wiring):
    net = topology(f"min:b=2,stages=4,kind={wiring}")
    first, middle, last = switch_kinds(net)
    assert [len(kind.members) for kind in (first, middle, last)] == [8, 16, 8]
    both, none = (0, 1), ()
    assert [(kind.network_inputs, kind.injections) for kind in (first, middle, last)] == [
        (none, both), (both, none), (both, none)]
    assert [(kind.network_outputs, kind.ejections) for kind in (first, middle, last)] == [
        (both, none), (both, none), (none, both)]
    # ports of one number lead to different switches, and a node injects and consumes at different ones
    assert set(middle.back) == set(first.own) == {None}
    assert sorted(last.nodes_at(net).ravel().tolist()) == list(range(16))


def test_a_way_back_is_told_from_where_links_lead():
    """Output a of the first switch comes back by input b; parallel links come back by their own number first."""
    net = joined([["a", "b", "n"]] * 2, [[0, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]], [[0, 2], [1, 2]], [[0, 2], [1, 2]])
    [kind] = switch_kinds(net)
    assert kind.back == (0, 0)
    assert kind.own == (0,)
    there_and_back = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [1, 1, 0, 1]]
    [parallel] = switch_kinds(joined([["a", "b", "n"]] * 2, there_and_back, [[0, 2], [1, 2]], [[0, 2], [1, 2]]))
    assert parallel.back == (0, 1)


def test_a_ring_of_one_way_has_no_way_back():
    links = [[s, 0, (s + 1) % 3, 0] for s in range(3)]
    [kind] = switch_kinds(joined([["ring", "n"]] * 3, links, [[s, 1] for s in range(3)], [[s, 1] for s in range(3)]))
    assert kind.back == (None,)


def test_an_open_port_is_built_as_its_namesakes_are():
    """Port b is joined at the first switch alone, port c nowhere; the third switch has other names."""
    links = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 2, 0], [2, 0, 0, 1]]
    net = joined([["a", "b", "c", "n"], ["a", "b", "c", "n"], ["x", "y"]], links, [[0, 3], [1, 3]], [[0, 3], [1, 3]])
    two, one = switch_kinds(net)
    assert two.members.tolist() == [0, 1]
    assert two.network_inputs == two.network_outputs == (0, 1)
    assert two.injections == two.ejections == (3,)
    assert two.output_numbers.tolist() == [0, 1, -1, 2]
    assert (one.network_inputs, one.injections) == ((0,), ())


@pytest.mark.parametrize(("name", "signals"), [
    ("mesh:4x4", "west east north south local"), ("torus:4x4", "west east north south local"),
    ("mesh:2x2x2", "x_minus x_plus y_minus y_plus z_minus z_plus local"), ("ring:4", "d0_minus d0_plus local"),
    ("mesh:2x2x2x2", "d0_minus d0_plus d1_minus d1_plus d2_minus d2_plus d3_minus d3_plus local"),
    ("min:b=2,stages=2", "p0 p1"), ("irregular:switches=4,ports=4,nodes=4,seed=1", "p0 p1 p2 n0"),
])
def test_names_of_ports_of_this_package_s_networks_stay(name, signals):
    """Scripts rely on them."""
    [kind, *_] = switch_kinds(topology(name))
    assert sorted(kind.name(port) for port in range(len(kind.names))) == sorted(signals.split())


@pytest.mark.parametrize(("given", "signals"), [
    (["x+", "x-", "n"], ["x_plus", "x_minus", "n"]),
    (["d0+", "d0-", "d11+", "n"], ["d0_plus", "d0_minus", "d11_plus", "n"]),
    (["d0", "plus", "d0+"], ["d0", "portplus", "d0_plus"]),
    (["0", "n"], ["port0", "n"]),
    (["signature", "n"], ["portsignature", "n"]),  # no member of a bundle can have this name
    (["tables", "token", "strap", "allocator", "order"],
     ["porttables", "porttoken", "portstrap", "portallocator", "portorder"]),
    (["n", "n_0", "n_0_in"], ["n", "n0", "n0in"]),
    (["n_0", "n0"], ["n0x", "n0"]),
    (["a-b", "a_b", "ab", "abx"], ["abxx", "abxxx", "ab", "abx"]),
    (["x+", "x_plus", "xplus"], ["x_plus", "xplusx", "xplus"]),
    (["é", "_", "Nord-Süd"], ["port", "portx", "NordSd"]),
])
def test_names_are_those_of_signals(given, signals):
    """No two of them are one, whatever is appended: n_0 would be the first channel of n."""
    ends = [[0, 0], [0, 1]]
    [kind] = switch_kinds(joined([given], [], ends, ends))
    assert [kind.name(port) for port in range(len(given))] == signals


@pytest.mark.parametrize(("name", "relation"), [
    ("mesh:3x4", E_CUBE), ("mesh:3x4", HAMILTONIAN), ("mesh:2x3x2", HAMILTONIAN), ("mesh:3x3", SHORTEST),
    ("torus:4x3", E_CUBE), ("ring:2", E_CUBE), ("ring:5", without_classes(E_CUBE)), ("ring:4", E_CUBE_EITHER),
    ("min:b=2,stages=3", DESTINATION_TAGS), ("irregular:switches=8,ports=6,nodes=16,seed=3", UP_DOWN),
    ("irregular:switches=2,ports=4,nodes=2,connectivity=1.0,seed=1", UP_DOWN_ADAPTIVE),
])
def test_routers_have_the_turns_that_a_relation_names(name, relation):
    """Analyses refuse worms that need others."""
    network = topology(name)
    multicast = network.kind == "mesh" and relation is not SHORTEST
    scheme = SCHEMES["dual-path" if multicast else "individual"].routed_by(relation)
    built, turns = Blueprint(network, scheme, Configuration()), relation.turns(network)
    compared = 0
    for kind in built.kinds:
        decoder = built.decoder(kind)
        for link, (_, _, switch, port) in enumerate(network.links.tolist()):
            if switch not in kind.members:
                continue
            reached = decoder.reaches(kind.network_inputs.index(port))
            for output in np.flatnonzero(network.link_of_port[switch] >= 0).tolist():
                named = bool(turns[link, output])
                compared += 1
                if relation is HAMILTONIAN:  # which of them the labels allow is decided by straps
                    assert kind.network_outputs.index(output) in reached or not named
                else:
                    assert (kind.network_outputs.index(output) in reached) == named
    assert compared


@pytest.mark.parametrize("ejection", ["one", "all"])
@pytest.mark.parametrize("network", ["min:b=2,stages=2", "min:b=2,stages=3,kind=omega", "min:b=4,stages=2"])
def test_switches_and_groups_of_tokens_agree_on_what_is_consumed_at_once(network, ejection):
    """The hardware reports these copies at once, and the last stage then has no tokens."""
    built, found = topology(network), set()
    for vcs, channels in [(1, 1), (1, 2), (1, 4), (2, 1), (2, 4), (2, 8), (3, 5), (3, 6)]:
        options = {"vcs": vcs, "consumption": channels, "ejection": ejection, "buffer": 4, "flit_width": 65}
        blueprint = Blueprint(built, SCHEMES["atbm"], Configuration(**options, tokens="off"))
        enough = [router.enough(port) for router in blueprint.routers.values() if not router.ejection
                  for port in range(len(router.inputs))]
        assert set(enough) == {all_consumed(built, channels=channels, vcs=vcs, ejection=ejection)}
        found.update(enough)
    assert found == {True, False}


def test_titles_of_ports_are_those_of_the_topology():
    [kind] = switch_kinds(joined([["x+", "tokens", "n"]] * 2, [[0, 0, 1, 1], [1, 1, 0, 0]], [[0, 2], [1, 2]],
                                 [[0, 2], [1, 2]]))[:1]
    assert [kind.title(kind.name(port)) for port in range(3)] == ["x+", "tokens", "n"]
    assert kind.title(f"{kind.name(2)}_{kind.name(0)}") == "n_x+"
