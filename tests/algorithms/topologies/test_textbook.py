"""Concentrated meshes, fat trees and dragonflies: wiring, and routing over all pairs, against plain Python."""

import re
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from wormcast.algorithms import (
    SCHEMES,
    ConsumptionClasses,
    PlainScheme,
    Unicast,
    WormcastError,
    find_scheme,
    topology,
)
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import (
    D_MOD_K,
    DRAGONFLY_MINIMAL,
    E_CUBE,
    UP_DOWN_ADAPTIVE,
    goes_up,
    reachability,
    usual_relation,
    without_classes,
)
from wormcast.algorithms.theory.contention import contention
from wormcast.algorithms.topologies import to_toml
from wormcast.algorithms.topologies.coordinates import levels
from wormcast.algorithms.topologies.network_file import read_toml
from wormcast.algorithms.topologies.validation import validate_topology

CMESHES = ["cmesh:2x2x2", "cmesh:3x4x4", "cmesh:1x3x5"]
FAT_TREES = [(2, 2), (2, 3), (2, 5), (3, 3), (4, 2), (5, 2)]
DRAGONFLIES = [(1, 2, 1), (2, 2, 1), (2, 4, 2), (3, 2, 3), (1, 3, 2)]


def fat_tree(k, count):
    return topology(f"fat-tree:k={k},levels={count}")


def dragonfly(p, a, h):
    return topology(f"dragonfly:p={p},a={a},h={h}")


ALL = [*CMESHES, *(fat_tree(*one).name for one in FAT_TREES), *(dragonfly(*one).name for one in DRAGONFLIES)]


def pairs(network):
    return [(u, v) for u in range(network.nodes) for v in range(network.nodes) if u != v]


def taken(network, relation, source, node):
    """Links and classes of a unicast."""
    routes = relation.on(network)
    return [divmod(one, len(routes.classes)) for one in routes.channels(source, [node])]


@pytest.mark.parametrize("name", ALL)
def test_the_network_is_sound_and_its_name_and_its_file_build_it_again(name, tmp_path):
    network = topology(name)
    assert network.name == name
    validate_topology(network, name)
    path = tmp_path / "network.toml"
    path.write_text(to_toml(network))
    read = read_toml(str(path))
    assert read.describe() == network.describe()
    assert read.root == network.root
    both = {(start, out, end, into) for start, out, end, into in network.links.tolist()}
    assert {(end, into, start, out) for start, out, end, into in both} == both


@pytest.mark.parametrize("name", CMESHES)
def test_a_concentrated_mesh_is_a_mesh_of_routers_with_several_nodes(name):
    network = topology(name)
    rows, columns, nodes = network.shape
    mesh = topology(f"mesh:{rows}x{columns}")
    assert network.links.tolist() == mesh.links.tolist()
    for node in range(network.nodes):
        row, column, number = network.coordinates[node].tolist()
        router = row * columns + column
        assert network.injections[node].tolist() == network.consumptions[node].tolist()
        assert network.injections[node, 0] == router == node // nodes
        assert network.ports[router][network.injections[node, 1]] == f"n{number}"
    for source, node in pairs(network):
        start, end = source // nodes, node // nodes
        expected = E_CUBE.on(mesh).channels(start, [end]) if start != end else []
        assert E_CUBE.on(network).channels(source, [node]) == expected


@pytest.mark.parametrize(("k", "count"), FAT_TREES)
def test_subtrees_of_a_fat_tree_have_as_many_links_up_as_nodes(k, count):
    network = fat_tree(k, count)
    width = k ** (count - 1)
    assert (network.nodes, network.switches) == (k**count, count * width)
    level = np.arange(network.switches) // width
    assert levels(network).tolist() == (count - 1 - level).tolist()
    start, _, end, _ = network.links.T
    assert (np.abs(level[start] - level[end]) == 1).all()
    assert goes_up(network).tolist() == (level[end] > level[start]).tolist()
    below = reachability(network).total
    for switch in range(network.switches):
        nodes = np.flatnonzero(below[switch])
        size = k ** (level[switch] + 1)
        assert nodes.tolist() == list(range(nodes[0], nodes[0] + size))  # a subtree: successive nodes
        assert nodes[0] % size == 0
        same = [one for one in np.flatnonzero(level == level[switch]) if (below[one] == below[switch]).all()]
        ups = sum(int(s) in same and level[e] > level[s] for s, e in zip(start, end, strict=True))
        assert ups == (size if level[switch] < count - 1 else 0)


@pytest.mark.parametrize(("k", "count"), FAT_TREES)
def test_d_mod_k_turns_at_a_least_common_ancestor_and_has_one_root_per_destination(k, count):
    network = fat_tree(k, count)
    width = k ** (count - 1)
    roots = {}
    for source, node in pairs(network):
        way = [network.links[link] for link, _ in taken(network, D_MOD_K, source, node)]
        apart = next(one for one in range(count) if source // k ** (one + 1) == node // k ** (one + 1))
        assert [int(row[2]) // width for row in way] == [*range(1, apart + 1), *reversed(range(apart))]
        for at, row in enumerate(way[:apart]):
            assert network.ports[row[0]][row[1]] == f"u{node // k**at % k}"  # D mod k, the next digit, and so on
        if apart == count - 1:
            roots.setdefault(node, set()).add(int(way[apart - 1][2]) if way else 0)
    assert all(len(found) == 1 for found in roots.values())
    # each root serves as many nodes as it has links down
    assert sorted(np.unique([one for found in roots.values() for one in found], return_counts=True)[1]) == [k] * width


@pytest.mark.parametrize(("p", "a", "h"), DRAGONFLIES)
def test_a_dragonfly_has_one_link_between_any_two_groups_and_any_two_routers_of_a_group(p, a, h):
    network = dragonfly(p, a, h)
    groups = a * h + 1
    assert network.shape == (groups, a, p)
    ends = [(int(start), int(end)) for start, _, end, _ in network.links if start < end]
    local = [(one, other) for one, other in ends if one // a == other // a]
    assert sorted(local) == [pair for group in range(groups)
                             for pair in combinations(range(group * a, group * a + a), 2)]
    between = sorted(tuple(sorted((one // a, other // a))) for one, other in ends if one // a != other // a)
    assert between == list(combinations(range(groups), 2))
    for start, out, end, _ in network.links.tolist():
        assert network.ports[start][out][0] == ("l" if start // a == end // a else "g")


@pytest.mark.parametrize(("p", "a", "h"), DRAGONFLIES)
def test_worms_take_a_local_a_global_and_a_local_link_and_change_class_behind_the_global_one(p, a, h):
    network = dragonfly(p, a, h)
    for source, node in pairs(network):
        way = [(network.ports[network.links[link, 0]][network.links[link, 1]][0], one)
               for link, one in taken(network, DRAGONFLY_MINIMAL, source, node)]
        full = [("l", 0), ("g", 0), ("l", 1)]
        if source // p // a == node // p // a:
            assert way == ([] if source // p == node // p else [("l", 1)])
        else:
            assert [one for one in full if one in way] == way
            assert ("g", 0) in way


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("scheme", ["individual", "binomial"])
def test_textbook_routing_is_free_of_deadlock(name, scheme):
    network = topology(name)
    assert find_scheme(scheme, network).relation_on(network) is usual_relation(network.kind)
    vcs = len(usual_relation(network.kind).on(network).classes)
    assert check(network, find_scheme(scheme, network), vcs=vcs).verdict == "free"


@pytest.mark.parametrize("name", [dragonfly(*one).name for one in DRAGONFLIES])
def test_a_dragonfly_without_classes_can_deadlock(name):
    network = topology(name)
    mutant = find_scheme("individual", network).routed_by(without_classes(DRAGONFLY_MINIMAL))
    assert check(network, mutant, vcs=2).verdict == "deadlock"


def test_adaptive_routing_goes_up_by_any_link_of_a_fat_tree():
    network = fat_tree(3, 3)
    options = UP_DOWN_ADAPTIVE.on(network).options[0]
    assert (options[0, 26] >= 0).sum() == 3  # from a leaf to the other end
    assert (options[0, 5] >= 0).sum() == 3
    assert (options[0, 1] >= 0).sum() == 1
    assert check(network, find_scheme("individual", network, "up-down-adaptive")).verdict == "free"


@pytest.mark.parametrize("name", [*CMESHES, "fat-tree:k=2,levels=4", "fat-tree:k=4,levels=2"])
def test_worms_of_one_step_of_a_binomial_tree_share_no_link(name):
    """Chains in dimension order, as those of U-mesh. Another order has worms that share links."""
    network, random = topology(name), np.random.default_rng(1)
    shared = {"dimension": 0, "random": 0}
    for _ in range(60):
        source, *destinations = random.permutation(network.nodes)[:random.integers(2, network.nodes + 1)].tolist()
        for order in shared:
            scheme = find_scheme(f"binomial:order={order}", network)
            shared[order] += len(contention(plan(network, scheme, source, destinations)).stepwise)
    assert shared["dimension"] == 0
    assert shared["random"] > 0
    assert find_scheme("binomial", network).form(network).startswith("binomial, order dimension, by ")


def test_a_chain_on_a_dragonfly_goes_group_by_group():
    network = dragonfly(2, 4, 2)
    worms = plan(network, find_scheme("binomial", network), 3, [1, 71, 40, 8, 12, 9]).worms
    assert [(worm.source, *worm.destinations) for worm in worms if worm.source == 3] == [(3, 12), (3, 8)]


REFUSED = [
    ("cmesh:4x4", "'cmesh:4x4' is not valid. Allowed: cmesh:ROWSxCOLUMNSxNODES, with whole numbers from 1."),
    ("cmesh:4x4x0", "'cmesh:4x4x0' is not valid. Allowed: cmesh:ROWSxCOLUMNSxNODES, with whole numbers from 1."),
    ("cmesh:1x1x4", "'cmesh:1x1x4' has 1 router. Allowed: 2 to 1024 routers."),
    ("cmesh:40x40x2", "'cmesh:40x40x2' has 1600 routers. Allowed: 2 to 1024 routers."),
    ("cmesh:4x4x1", "'cmesh:4x4x1' has 1 node at each router. Allowed: 2 to 28 nodes."),
    ("cmesh:1x4x31", "'cmesh:1x4x31' has 31 nodes at each router. Allowed: 2 to 30 nodes."),
    ("cmesh:32x32x8", "'cmesh:32x32x8' has 8192 nodes. Allowed: 2 to 4096 nodes."),
    ("fat-tree:k=4", "'fat-tree:k=4' is not valid: levels is missing. Needed: fat-tree:k=K,levels=LEVELS"),
    ("fat-tree:k=17,levels=2", "k '17' of 'fat-tree:k=17,levels=2' is not valid. Allowed: whole numbers from 2 to 16"),
    ("fat-tree:k=4,levels=6", "levels '6' of 'fat-tree:k=4,levels=6' is not valid. Allowed: whole numbers from 2 to 4"),
    ("dragonfly:p=2,a=4", "h is missing. Needed: dragonfly:p=P,a=A,h=H"),
    ("dragonfly:p=2,a=1,h=2", "a '1' of 'dragonfly:p=2,a=1,h=2' is not valid. Allowed: whole numbers from 2 to 30"),
    ("dragonfly:p=0,a=2,h=2", "p '0' of 'dragonfly:p=0,a=2,h=2' is not valid. Allowed: whole numbers from 1 to 30"),
    ("dragonfly:p=2,a=4,h=28", "Allowed: whole numbers from 1 to 27 (with p=2 and a=4: up to 32 ports at a"),
    ("dragonfly:p=8,a=16,h=8", "h '8' of 'dragonfly:p=8,a=16,h=8' is not valid. Allowed: 1 (with p=8"),
]


@pytest.mark.parametrize(("name", "words"), REFUSED)
def test_wrong_numbers_are_refused(name, words):
    with pytest.raises(WormcastError) as refusal:
        topology(name)
    assert words in str(refusal.value)


@pytest.mark.parametrize(("relation", "name", "words"), [
    (D_MOD_K, "mesh:2x2", "relation d-mod-k: topology mesh:2x2 is not valid. Allowed: fat trees."),
    (DRAGONFLY_MINIMAL, "mesh:2x2", "dragonfly-minimal: topology mesh:2x2 is not valid. Allowed: dragonflies."),
    (E_CUBE, "fat-tree:k=2,levels=2", "Allowed: meshes, concentrated meshes, tori, rings."),
])
def test_relations_name_their_networks(relation, name, words):
    with pytest.raises(WormcastError) as refusal:
        relation.on(topology(name))
    assert words in str(refusal.value)


@pytest.mark.parametrize("name", ["cmesh:2x2x2", "fat-tree:k=2,levels=3", "dragonfly:p=1,a=2,h=1"])
def test_the_schemes_that_the_page_on_links_lists(name):
    network, found = topology(name), set()
    for scheme in SCHEMES:
        with suppress(WormcastError):
            SCHEMES[scheme].check(network)
            found.add(scheme)
    page = (Path(__file__).parents[3] / "docs" / "links.md").read_text()
    table = page.partition("in the next table run on concentrated meshes, fat trees and dragonflies:")[2]
    listed = [row.split("|")[1] for row in table.partition("```")[0].splitlines() if row.startswith("| `")]
    assert found == set(re.findall(r"`([a-z-]+)`", " ".join(listed)))


class Nearest(PlainScheme):
    """Unicasts, those to similar ids first."""

    name = "nearest"
    kinds = ()
    relation = UP_DOWN_ADAPTIVE
    header = Unicast
    pairs_are_complete = True

    def classes_on(self, topology):
        return ConsumptionClasses()

    def visits(self, topology, source, destinations):
        return [[node] for node in sorted(destinations, key=lambda node: node ^ source)]


@pytest.mark.parametrize("name", ["fat-tree:k=2,levels=3", "irregular:seed=1", "cmesh:2x2x2", "mesh:2x3"])
def test_a_plain_scheme_of_unicasts_is_defined_without_coordinates(name):
    network = topology(name)
    found = plan(network, Nearest(), 3, [0, 1, 2])
    assert [list(worm.destinations) for worm in found.worms] == [[2], [1], [0]]
    assert found.form == "2-D, " * (network.kind == "mesh") + "by its Python code"
    assert check(network, Nearest()).verdict == "free"
