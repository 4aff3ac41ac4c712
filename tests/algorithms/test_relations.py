"""Relations on every kind of network, against plain Python."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wormcast.algorithms import (
    AT_ONCE,
    E_CUBE,
    HAMILTONIAN,
    SCHEMES,
    ChoiceRelation,
    Choices,
    Plan,
    WormcastError,
    Worms,
    find_scheme,
    load_relation,
    topology,
    without_classes,
)
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import (
    ADAPTIVE,
    DESTINATION_TAGS,
    E_CUBE_ADAPTIVE,
    E_CUBE_EITHER,
    SHORTEST,
    UP_DOWN,
    UP_DOWN_ADAPTIVE,
    default_signs,
    signed_dimensions,
    usual_relation,
    with_ties,
)
from wormcast.algorithms.topologies.min import stage_of_switch, stage_ports

from . import network_reference as reference
from .networks import Given, network

TORI = ["torus:4x4", "torus:5x5", "torus:3x6", "ring:6", "ring:5", "torus:2x3", "ring:2"]
MINS = [f"min:{size}{kind}" for size in ("b=2,stages=4", "b=4,stages=2", "b=3,stages=3")
        for kind in ("", ",kind=cube", ",kind=omega", ",kind=butterfly")]
IRREGULAR = [f"irregular:switches=8,nodes=16,ports=6,seed={seed}" for seed in range(1, 4)]


def channels(network, relation, source, node):
    """The way that a relation of the reference prefers."""
    at, came, taken = int(network.injections[source, 0]), None, []
    while at != network.consumptions[node, 0]:
        came, vc_class = relation(at, came, node)[0]
        taken.append((came, vc_class))
        at = int(network.links[came, 2])
    return taken


def pairs(network):
    return [(u, v) for u in range(network.nodes) for v in range(network.nodes) if u != v]


def unicasts(network):
    sources, destinations = np.array(pairs(network), np.int32).T
    count = len(sources)
    return Worms(np.arange(count + 1), sources.copy(), np.zeros(count, np.int32), np.full(count, AT_ONCE),
                 np.arange(count + 1), destinations.copy())


def check_all_ways(routes, relation):
    """Channels, paths and numbers of hops between all pairs of nodes."""
    network, count = routes.topology, len(routes.classes)
    expected = [channels(network, relation, *pair) for pair in pairs(network)]
    for (source, node), taken in zip(pairs(network), expected, strict=True):
        assert routes.channels(source, [node]) == [link * count + one for link, one in taken]
        switches = [int(network.injections[source, 0]), *(int(network.links[link, 2]) for link, _ in taken)]
        assert routes.path(source, [node]) == switches
        assert switches[-1] == network.consumptions[node, 0]
    assert routes.hops(unicasts(network)).tolist() == list(map(len, expected))


@pytest.mark.parametrize("name", TORI)
def test_e_cube_goes_the_shorter_way_around_each_ring_in_the_right_class(name):
    network = topology(name)
    routes = E_CUBE.on(network)
    assert (routes.classes, routes.deterministic, len(routes.options)) == (("p", "l/h"), True, 1)
    check_all_ways(routes, partial(reference.torus_hop, network))


@pytest.mark.parametrize("name", TORI)
def test_signed_ties_go_away_from_the_edge(name):
    """And nothing else changes; in odd rings, on meshes and under other relations nothing does."""
    network = topology(name)
    relation = with_ties(E_CUBE, network, "signed")
    even = tuple(d for d, extent in enumerate(network.shape) if extent % 2 == 0)
    assert signed_dimensions(relation, network) == signed_dimensions(without_classes(relation), network) == even
    assert (relation is E_CUBE) == (not even)
    assert with_ties(E_CUBE, network, "plus") is E_CUBE
    assert with_ties(E_CUBE_EITHER, network, "signed") is E_CUBE_EITHER
    assert with_ties(E_CUBE, topology("mesh:4x4"), "signed") is E_CUBE
    routes = relation.on(network)
    assert (routes.classes, routes.deterministic, len(routes.options)) == (("p", "l/h"), True, 1)
    check_all_ways(routes, partial(reference.torus_hop, network, ties="signed"))


def test_default_signs_are_of_the_way_from_the_stop_before():
    torus = topology("torus:4x6")
    nodes = [[torus.node(one) for one in way.split()] for way in ("0.0 2.3 0.1 2.1", "3.5 1.2")]
    worms = Worms(np.arange(3), np.array([way[0] for way in nodes], np.int32), np.zeros(2, np.int32),
                  np.full(2, AT_ONCE), np.array([0, 3, 4]), np.array([*nodes[0][1:], *nodes[1][1:]], np.int32))
    # bit 0 of the row, bit 1 of the column: set where it is lower than before
    assert default_signs(torus, worms).tolist() == [0b00, 0b11, 0b00, 0b11]


@pytest.mark.parametrize("extent", range(2, 12))
def test_which_classes_there_are_on_which_link_of_a_ring(extent):
    """As algorithms for p, l and h have it; the links over the edge have p alone."""
    ring = topology(f"ring:{extent}")
    routes = E_CUBE.on(ring)
    used = {}
    for source, node in pairs(ring):
        for channel in routes.channels(source, [node]):
            start, out, _, _ = ring.links[channel // 2].tolist()
            used.setdefault((start, ring.ports[start][out]), set()).add(channel % 2)
    places = range(extent)
    ceil, floor = -(-extent // 2), extent // 2
    for place in places:
        assert (place >= ceil) == (0 in used.get((place, "d0+"), ()))
        assert (0 in used.get((place, "d0-"), ())) == (place < (floor if extent % 2 else floor - 1))
        assert (1 in used.get((place, "d0+"), ())) == (place < extent - 1)
        assert (1 in used.get((place, "d0-"), ())) == (place > 0 and extent > 2)


def test_on_a_mesh_e_cube_has_one_class():
    routes = E_CUBE.on(topology("mesh:3x4"))
    assert (routes.classes, routes.options.shape) == (("",), (1, 12, 12, 1))
    assert (routes.table == routes.options[0, :, :, 0]).all()


def test_classes_may_be_taken_away():
    torus = topology("torus:4x4")
    plain = without_classes(E_CUBE)
    assert plain is without_classes(E_CUBE)
    routes = plain.on(torus)
    assert (plain.name, routes.classes) == ("e-cube without classes", ("",))
    assert (routes.table == E_CUBE.on(torus).table).all()
    merged = without_classes(ADAPTIVE).on(topology("mesh:3x3"))
    assert merged.options[0, 0, 8].tolist() == [0, 2, -1]  # east and south; e-cube's, east, is among them


@pytest.mark.parametrize("name", MINS)
def test_destination_tags_are_digits_of_the_destination(name):
    network = topology(name)
    routes = DESTINATION_TAGS.on(network)
    expected = stage_ports(network)[stage_of_switch(network)]
    assert ((routes.table == expected) | (routes.table < 0)).all()
    b, stages = len(network.ports[0]), int(stage_of_switch(network).max()) + 1
    reach = [network.nodes // b**stage for stage in stage_of_switch(network)]
    assert (routes.table >= 0).sum(axis=1).tolist() == reach
    for source in range(network.nodes):
        for node in range(network.nodes):
            assert len(routes.channels(source, [node])) == stages - 1
            assert routes.path(source, [node])[-1] == network.consumptions[node, 0]


@pytest.mark.parametrize("name", [*IRREGULAR, "mesh:3x3", "torus:3x3", "ring:6"])
def test_up_down_takes_a_shortest_legal_way(name):
    network = topology(name)
    expected = reference.up_down(network)
    rises = reference.up(network)
    adaptive, one = UP_DOWN_ADAPTIVE.on(network), UP_DOWN.on(network)
    assert adaptive.phase_of_link.tolist() == one.phase_of_link.tolist() == [0 if up else 1 for up in rises]
    assert one.deterministic
    for switch in range(network.switches):
        for came in [None, *np.flatnonzero(network.links[:, 2] == switch).tolist()]:
            phase = 0 if came is None else int(adaptive.phase_of_link[came])
            for node in range(0, network.nodes, 3):
                codes = [int(code) for code in adaptive.options[phase, switch, node] if code >= 0]
                assert one.options[phase, switch, node].tolist() == (codes or [-1])[:1]
                if switch == network.consumptions[node, 0]:
                    assert codes == [network.consumptions[node, 1]]
                else:
                    assert [int(network.link_of_port[switch, code]) for code in codes] == [
                        link for link, _ in expected(switch, came, node)]


def test_up_down_ways_rise_and_then_fall():
    network = topology(IRREGULAR[0])
    rises = reference.up(network)
    for source, node in pairs(network):
        legs = [rises[link] for link in UP_DOWN.on(network).channels(source, [node])]
        assert legs == sorted(legs, reverse=True)


def test_up_down_grows_from_the_root_of_the_topology():
    network = replace(topology("ring:5"), root=3)
    assert UP_DOWN.on(network).phase_of_link.tolist() == [0 if up else 1 for up in reference.up(network, 3)]


@pytest.mark.parametrize("name", [IRREGULAR[1], "torus:4x4", "min:b=2,stages=3"])
def test_shortest_paths_by_the_lowest_port(name):
    network = topology(name)
    check_all_ways(SHORTEST.on(network), reference.nearer(network, lambda *_: True))


@pytest.mark.parametrize("relation", [ADAPTIVE, E_CUBE_ADAPTIVE], ids=lambda relation: relation.name)
@pytest.mark.parametrize("name", ["mesh:3x4", "mesh:2x3x2", "mesh:1x5"])
def test_adaptive_hops_lead_nearer_and_the_last_is_e_cube_s(relation, name):
    """Under e-cube-adaptive there is nothing else where a single dimension is left."""
    mesh = topology(name)
    routes = relation.on(mesh)
    assert (routes.classes, routes.relation.enters_empty) == (("escape", "adaptive"), True)
    for here, there in pairs(mesh):
        codes = [int(code) for code in routes.options[0, here, there] if code >= 0]
        away = np.abs(mesh.coordinates[here] - mesh.coordinates[there])
        adapts = (away > 0).sum() > 1 or relation is ADAPTIVE
        assert len(set(codes)) == len(codes) == ((away > 0).sum() if adapts else 0) + 1
        assert codes[-1] == 2 * E_CUBE.on(mesh).table[here, there]
        for code in codes[:-1]:
            assert code % 2 == 1
            beside = int(mesh.neighbours[here, code // 2])
            assert np.abs(mesh.coordinates[beside] - mesh.coordinates[there]).sum() == away.sum() - 1


@pytest.mark.parametrize(
    ("relation", "name", "sentence"),
    [
        (E_CUBE, "min:b=2,stages=2", "e-cube: topology min:b=2,stages=2 is not valid. Allowed: meshes, conc"),
        (DESTINATION_TAGS, "mesh:2x2", "destination-tags: topology mesh:2x2 is not valid. Allowed: multistage"),
        (ADAPTIVE, "torus:3x3", "adaptive: topology torus:3x3 is not valid. Allowed: meshes"),
        (E_CUBE_ADAPTIVE, "ring:3", "e-cube-adaptive: topology ring:3 is not valid. Allowed: meshes"),
        (HAMILTONIAN, "torus:3x3", "relation hamiltonian: topology torus:3x3 is not valid: .* Hamiltonian labels"),
    ],
)
def test_elsewhere_they_are_refused(relation, name, sentence):
    with pytest.raises(WormcastError, match=sentence):
        relation.on(topology(name))


@pytest.mark.parametrize(
    ("relation", "name", "sentence"),
    [
        (UP_DOWN, "ring:4", "up-down: it has no table of one port per switch and node, as it has several phases"),
        (ADAPTIVE, "mesh:2x2", "adaptive: it has no table of one port per switch and node, as it has several candi"),
    ],
)
def test_a_table_is_for_one_way_alone(relation, name, sentence):
    with pytest.raises(WormcastError, match=sentence):
        relation.table(topology(name))


def test_the_usual_relation_of_unicasts():
    expected = {"mesh:2x2": E_CUBE, "torus:2x2": E_CUBE, "ring:3": E_CUBE, "min:b=2,stages=2": DESTINATION_TAGS,
                "irregular:seed=1": UP_DOWN}
    for name, relation in expected.items():
        network = topology(name)
        assert usual_relation(network.kind) is relation
        assert SCHEMES["individual"].relation_on(network) is relation
        assert find_scheme("individual", network).relation is relation
        assert find_scheme("individual", network, "shortest").relation is SHORTEST
    assert usual_relation("mine") is UP_DOWN
    assert load_relation("up-down-adaptive") is UP_DOWN_ADAPTIVE


class TestPlans:
    def test_on_every_kind(self):
        for name in ("torus:4x4", "min:b=2,stages=3", "irregular:seed=2", "ring:5"):
            network = topology(name)
            multicast = plan(network, "individual", 0, [1, 3, 2])
            assert multicast.copies == 3
            assert multicast.form == f"by {usual_relation(network.kind).name}"
            for worm in multicast.worms:
                assert [network.injections[0, 0], *(end for _, end in worm.links)][-1] == network.consumptions[
                    worm.destinations[0], 0]

    def test_from_one_switch_to_another_and_within_one(self):
        """Three nodes at switch 0, of which one consumes at switch 2; two links lead from 0 to 1."""
        line = network(3, [(0, 1), (0, 1), (1, 2), (1, 0), (2, 1)], nodes=[(0, 0), (0, 2), (0, 0)])
        multicast = plan(line, "individual", 0, [1, 2])
        assert [worm.links for worm in multicast.worms] == [((0, 1), (1, 2)), ()]
        assert (multicast.hops, multicast.channels) == (2, 2)

    def test_any_of_several_hops_is_allowed_and_no_other(self):
        mesh = topology("mesh:3x3")
        scheme = SCHEMES["individual"].routed_by(ADAPTIVE)
        good = plan(mesh, scheme, 0, [8])
        assert good.worms[0].links == ((0, 1), (1, 2), (2, 5), (5, 8))

        def other(*links):
            return Plan(mesh, scheme, 0, frozenset({8}), (replace(good.worms[0], links=links),))

        assert other((0, 3), (3, 4), (4, 5), (5, 8)).hops == 4
        with pytest.raises(WormcastError, match="goes from switch 3 to 0, which is not the next hop of adaptive"):
            other((0, 3), (3, 0), (0, 1))

    def test_what_is_legal_depends_on_where_a_worm_comes_from(self):
        """On a ring of 5 with root 0 the way from 2 over 3 to 4 goes down and then up."""
        ring = topology("ring:5")
        scheme = SCHEMES["individual"].routed_by(UP_DOWN)
        good = plan(ring, scheme, 2, [4])
        assert good.worms[0].links == ((2, 1), (1, 0), (0, 4))
        with pytest.raises(WormcastError, match="not the next hop of up-down"):
            Plan(ring, scheme, 2, frozenset({4}), (replace(good.worms[0], links=((2, 3), (3, 4))),))

    @pytest.mark.parametrize("name", ["torus:4x4", "min:b=2,stages=2", "irregular:seed=1"])
    def test_other_schemes_refuse_by_name(self, name):
        network = topology(name)
        for scheme in (name for name in SCHEMES if "mesh" in SCHEMES[name].kinds):
            with pytest.raises(WormcastError, match=f"scheme {scheme}: topology .* is not valid. Allowed: networks of"):
                find_scheme(scheme, network)


class Broken(ChoiceRelation):
    name = "broken"

    def __init__(self, made):
        self.made = made

    def choices(self, topology):
        return self.made


def changed(*changes, phases=(0, 0, 0, 0), dtype=np.int16, started=None):
    """The options of shortest paths on a line of three nodes (ports east 0, west 1, local 2) with some changed."""
    options = np.full((1, 3, 3, 2), -1, dtype)
    options[0, :, :, 0] = [[2, 0, 0], [1, 2, 0], [1, 1, 2]]
    for place, code in changes:
        options[place] = code
    return Choices(options, np.array(phases, np.int8), phase_of_node=started)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (None, "relation broken: its choices return a value of type NoneType. Needed: Choices"),
        (changed(dtype=np.int32), r"options for mesh:1x3 is int32 .* Needed: int16 \[phases, 3, 3, alternatives\]"),
        (changed(phases=(0, 0, 0)), r"phase_of_link is not valid on mesh:1x3. Needed: int8 \[4\] with phases"),
        (changed(phases=(0, 0, 1, 0)), r"phase_of_link is not valid on mesh:1x3. Needed: int8 \[4\] with phases"),
        (changed(started=np.ones(3, np.int8)), r"phase_of_node is not valid on mesh:1x3. Needed: int8 \[3\]"),
        (changed(started=np.zeros(2, np.int8)), r"phase_of_node is not valid on mesh:1x3. Needed: int8 \[3\]"),
        (changed(((0, 0, 1, 0), 3)), "its array of options for mesh:1x3 has values from -1 to 3. Allowed: -1 to 2"),
        (changed(((0, 0, 1, 0), 1)), "towards node 1 it leaves switch 0 of mesh:1x3 by port 1: this port has no link"),
        (changed(((0, 1, 1, 1), 0)), "towards node 1 it leaves switch 1 of mesh:1x3 by port 0: the node is at"),
        (changed(((0, 0, 0, 1), 1)), "switch 0 of mesh:1x3 by port 1: the node is at this switch. Allowed: the node's"),
        (changed(((0, 0, 1), [-1, 0])), "node 1 at switch 0 of mesh:1x3 are not valid: -1 precedes an option"),
    ],
)
def test_choices_that_lead_out_of_the_network_are_refused(made, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Broken(made).on(topology("mesh:1x3"))


def test_a_relation_by_the_link_by_which_a_worm_came():
    """Around a ring of four one way only, and never over switch 3 to 0: what comes there is sent back."""
    ring = topology("ring:4")
    rows = {(int(start), int(end)): row for row, (start, _, end, _) in enumerate(ring.links)}

    def hops(switch, came, node):
        if switch == node:
            return []
        back = switch == 3 or (came is not None and ring.links[came, 0] == switch + 1)
        return [(rows[switch, switch - 1 if back and switch else switch + 1], 0)]

    routes = Given(ring, hops).on(ring)
    assert routes.path(1, [0]) == [1, 2, 3, 2, 1, 0]
    assert routes.hops(unicasts(ring)).tolist()[3] == 5
    assert routes.path(0, [2, 1]) == [0, 1, 2, 3, 2, 1]  # the second leg goes on in the phase of the first
