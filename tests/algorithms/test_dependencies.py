"""The deadlock analysis: against enumeration, against trial, and against [Boppana98]."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import E_CUBE, HAMILTONIAN, SCHEMES, ConsumptionClasses, Relation, WormcastError, topology
from wormcast.algorithms.deadlock.channel_use import find_channel_use
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.deadlock.classes import partitions
from wormcast.algorithms.deadlock.graph import DependencyGraph, dependency_graph
from wormcast.algorithms.routing import SHORTEST

from . import dependency_reference as reference
from . import reference as plain
from .listed import Listed

DUAL_PATH, INDIVIDUAL = SCHEMES["dual-path"], SCHEMES["individual"]
COLUMN_PATH, E_MCAST = SCHEMES["column-path"], SCHEMES["e-mcast"]
UNICAST_BY_R = (INDIVIDUAL, HAMILTONIAN)


PLAIN = {
    DUAL_PATH: (plain.dual_path, plain.hamiltonian_step),
    INDIVIDUAL: (plain.individual, plain.e_cube_step),
    COLUMN_PATH: (plain.column_path, plain.e_cube_step),
    E_MCAST: (plain.e_mcast, plain.e_cube_step),
}
EVERY = pytest.mark.parametrize("scheme", PLAIN, ids=lambda scheme: scheme.name)
SMALL = pytest.mark.parametrize("shape", [(2, 3), (3, 3), (1, 4), (4, 1)], ids="{0[0]}x{0[1]}".format)


def enumerated(scheme, shape):
    """List the requests of each worm of each multicast, in plain Python."""
    function, step = PLAIN[scheme]
    return [
        reference.requests(step, shape, (source, visits))
        for source, destinations in reference.all_multicasts(shape[0] * shape[1])
        for _, _, visits in function(shape, source, destinations)
    ]


def mesh(shape):
    return topology("mesh:{}x{}".format(*shape))


def mapping(shape, classes):
    return reference.direction_class(shape, classes.networks, classes.by) if len(classes) else None


def edges_of(graph, network):
    """The graph's edges in the words of the reference, those out of "any channel" apart."""
    links, nodes = network.links[:, [0, 2]].tolist(), network.nodes
    # with a port for each link: four at each node of a mesh, in the order of the switch's inputs, two on a line
    ports = list(range(nodes)) if graph.ejection == "one" else [None] * len({*network.links[:, 3].tolist()}) * nodes
    if graph.ejection == "all":
        for (start, end), place in zip(links, network.links[:, 3].tolist(), strict=True):
            ports[end * (len(ports) // nodes) + place] = start, end

    def name(resource):
        if resource < len(links):
            return tuple(links[resource])
        if resource < len(links) + len(ports) * graph.groups:
            port, group = divmod(int(resource) - len(links), graph.groups)
            return "cons", ports[port], group
        return "any", ports[int(resource) - len(links) - len(ports) * graph.groups]

    pairs = zip(map(name, graph.starts), map(name, graph.ends), strict=True)
    return {(start, end) for start, end in pairs if start[0] != "any"}


def as_one_channel(edges):
    """Replace "any channel" of each node by its only consumption channel."""
    return {(start, ("cons", end[1], 0) if end[0] == "any" else end) for start, end in edges}


class TestGraph:
    @EVERY
    @SMALL
    @pytest.mark.parametrize("channels", [1, 2, 4])
    @pytest.mark.parametrize("ejection", ["one", "all"])
    def test_has_the_edges_of_all_multicasts(self, scheme, shape, channels, ejection):
        network = mesh(shape)
        part = find_channel_use(scheme, network)
        graph = dependency_graph([part], channels, ejection=ejection)
        groups = min(channels, max(1, len(part.stated)))
        expected = reference.dependencies(enumerated(scheme, shape), groups, mapping(shape, part.stated),
                                          each_link=ejection == "all")
        assert graph.groups == groups
        assert edges_of(graph, network) == (as_one_channel(expected) if groups == 1 else expected)
        assert graph.free == (not reference.can_lock(expected, groups))

    @EVERY
    def test_each_edge_has_a_worm_that_makes_it(self, scheme):
        network = mesh((3, 3))
        part = find_channel_use(scheme, network)
        graph = dependency_graph([part], 4)
        function, step = PLAIN[scheme]
        for start, end, witness in zip(graph.starts, graph.ends, graph.witnesses.tolist(), strict=True):
            if witness[0] < 0:
                continue
            _, source, *stops = witness
            stops = [stop for stop in stops if stop >= 0]
            assert stops in [visits for _, _, visits in function((3, 3), source, stops)]
            asked = [reference.requests(step, (3, 3), (source, stops))]
            single = DependencyGraph(network, graph.groups, np.array([start]), np.array([end]), graph.witnesses)
            made = reference.dependencies(asked, graph.groups, mapping((3, 3), part.stated))
            assert edges_of(single, network) <= (as_one_channel(made) if graph.groups == 1 else made)

    @settings(max_examples=300, deadline=None)
    @given(st.data())
    def test_locks_where_every_choice_of_a_channel_leaves_a_cycle(self, data):
        """Edges at random on a line of three nodes, two groups each; all choices of a channel are tried."""
        network = topology("mesh:1x3")
        links, nodes, groups = len(network.links), 3, 2
        channel = st.integers(links, links + nodes * groups - 1)
        anywhere = st.integers(0, links + nodes * (groups + 1) - 1)
        pairs = data.draw(st.sets(st.tuples(st.integers(0, links - 1), anywhere) | st.tuples(channel, anywhere)))
        firsts = links + nodes * groups
        pairs |= {(firsts + node, links + node * groups + group) for node in range(nodes) for group in range(groups)}
        starts, ends = np.array(sorted(pairs), np.int32).T.copy()
        graph = DependencyGraph(network, groups, starts, ends, np.zeros((len(pairs), 4), np.int32))

        def has_cycle(chosen):
            left = {*pairs} - {(firsts + n, links + n * groups + g) for n in range(nodes) for g in range(groups)}
            left |= {(firsts + node, links + node * groups + group) for node, group in enumerate(chosen)}
            reach = {start: {end for first, end in left if first == start} for start, _ in left}
            for through in range(graph.resources):
                for one in reach.values():
                    if through in one:
                        one |= reach.get(through, set())
            return any(start in ends for start, ends in reach.items())

        expected = all(has_cycle(chosen) for chosen in itertools.product(range(groups), repeat=nodes))
        assert graph.locked().any() == expected
        cycle = graph.cycle()
        assert bool(cycle) == expected

    def test_worms_at_their_last_destination_wait_too(self):
        """In two rows no worm of column-path stops after a hop along its column: all wait at the end."""
        cycle = check(mesh((2, 3)), COLUMN_PATH, consumption=1).cycle
        assert [step.resource for step in cycle] == ["link:0>3:*", "cons:3:0", "link:3>0:*", "cons:0:0"]
        assert [len(step.stops) for step in cycle] == [1, 2, 1, 2]
        both = check(mesh((2, 3)), E_MCAST, classes=ConsumptionClasses.parse("1+/1-:last")).cycle
        assert [step.resource[:5] for step in both] == ["link:", "cons:"] * 2

    def test_cycle_is_closed_short_and_always_the_same(self):
        network = mesh((4, 4))
        graph = dependency_graph([find_channel_use(DUAL_PATH, network)], 1)
        resources = [resource for resource, _ in graph.cycle()]
        edges = set(zip(graph.starts.tolist(), graph.ends.tolist(), strict=True))
        assert {*zip(resources, resources[1:] + resources[:1], strict=True)} <= edges
        assert len(set(resources)) == len(resources) == 4
        assert resources == [resource for resource, _ in graph.cycle()]

    def test_a_longer_cycle_without_any_channel_comes_first(self):
        """On a line of three nodes: links 0 to 3, two channels of each node from 4 on, "any channel" from 10 on."""
        longer = [(0, 1), (1, 2), (2, 6), (6, 0)]
        shorter = [(3, 10), (4, 3), (5, 3), (10, 4), (10, 5)]
        for edges, resources in ((longer + shorter, [0, 1, 2, 6]), (shorter, [3, 4])):
            starts, ends = np.array(sorted(edges), np.int32).T.copy()
            graph = DependencyGraph(topology("mesh:1x3"), 2, starts, ends, np.zeros((len(edges), 4), np.int32))
            assert [resource for resource, _ in graph.cycle()] == resources


class TestTrial:
    """Worms that take what they ask for in random order: they lock where, and only where, it is not called free."""

    @pytest.mark.parametrize(
        ("scheme", "shape", "classes"),
        [
            (DUAL_PATH, (3, 3), None),
            (COLUMN_PATH, (3, 3), None),
            (COLUMN_PATH, (2, 3), None),
            (E_MCAST, (3, 3), None),
            (DUAL_PATH, (1, 3), "up,down"),
            (E_MCAST, (2, 3), "minimal"),
            (E_MCAST, (3, 3), "minimal"),
            (COLUMN_PATH, (3, 3), "1"),
            (COLUMN_PATH, (2, 3), "1"),  # only by worms at their last destinations
            (DUAL_PATH, (1, 4), "up,down"),
            (E_MCAST, (2, 3), "1+/1-:last"),
        ],
        ids=lambda value: getattr(value, "name", str(value)),
    )
    @pytest.mark.parametrize("vcs", [1, 2])
    def test_agrees(self, scheme, shape, classes, vcs):
        network = mesh(shape)
        chosen = find_channel_use(scheme, network).stated
        if classes == "minimal":
            chosen = check(network, scheme).dans
        elif classes == "1":
            chosen = ConsumptionClasses((("0+", "0-"),))
        elif classes:
            chosen = ConsumptionClasses.parse(classes)
        free = check(network, scheme, classes=chosen).free
        worms = [asked for asked in enumerated(scheme, shape) if any(one[0] == "stop" for one in asked)]
        locks = any(
            reference.tried(
                worms, random.Random(seed), vcs=vcs, channels=len(chosen), classes=len(chosen),
                class_of=mapping(shape, chosen), rounds=1500,
            )
            for seed in range(10)
        )
        assert locks == (not free)


def minimal(shape, scheme, **options):
    analysis = check(mesh(shape), scheme, **options)
    return analysis.classes_minimal, None if analysis.dans is None else str(analysis.dans)


class TestPaper002:
    def test_figure_4(self):
        """A chain of four nodes: each of two worms holds a channel that the other waits for."""
        cycle = check(topology("mesh:1x4"), DUAL_PATH, consumption=1).cycle
        assert {step.resource for step in cycle} == {"link:1>2:*", "cons:2:0", "link:2>1:*", "cons:1:0"}
        assert check(topology("mesh:1x4"), DUAL_PATH, consumption=1, vcs=1).cycle[0].resource == "link:1>2:0"
        assert check(topology("mesh:1x4"), DUAL_PATH).free

    def test_theorem_1_needs_two_orders(self):
        assert check(topology("mesh:1x3"), DUAL_PATH, consumption=1).free

    @pytest.mark.parametrize("size", [3, 4, 8])
    def test_corollaries_3_and_4(self, size):
        for scheme in (COLUMN_PATH, DUAL_PATH):
            assert not check(mesh((size, size)), scheme, consumption=1).free
            assert check(mesh((size, size)), scheme, consumption=2).free
        assert minimal((size, size), COLUMN_PATH) == (2, "0+/0-:next")
        assert minimal((size, size), DUAL_PATH) == (2, "up/down:next")

    @pytest.mark.parametrize("network", ["mesh:1x4", "mesh:5x5", "mesh:3x3x3"])
    def test_a_channel_for_each_link_suffices_without_classes(self, network):
        """Lemma 1 with an ejection port for each link; also Amnah's dual-path in three dimensions."""
        found = topology(network)
        for scheme in (DUAL_PATH,) if len(found.shape) > 2 else (DUAL_PATH, SCHEMES["multipath"], E_MCAST):
            assert not check(found, scheme, consumption=1).free
            assert check(found, scheme, consumption=len(find_channel_use(scheme, found).stated)).free
            for classes in (None, ConsumptionClasses()):
                analysis = check(found, scheme, consumption=1, classes=classes, ejection="all")
                assert analysis.free
                assert (analysis.classes_minimal, analysis.lemma1, analysis.corollary2) == (1, 1, 1)

    @pytest.mark.parametrize("size", [4, 8])
    def test_e_mcast_needs_three_classes_and_the_paper_says_four(self, size):
        analysis = check(mesh((size, size)), E_MCAST)
        assert analysis.free
        assert (analysis.classes_required, analysis.classes_minimal) == (4, 3)
        assert str(analysis.dans) == "1+,0+/1-/0-:last"
        part = find_channel_use(E_MCAST, mesh((size, size)))
        assert dependency_graph([part], 3, analysis.dans).free
        for networks, by in itertools.product(partitions(["1+", "1-", "0+", "0-"], 2), ("next", "last")):
            assert not dependency_graph([part], 2, ConsumptionClasses(networks, by)).free

    def test_individual_needs_one(self):
        assert minimal((8, 8), INDIVIDUAL) == (1, ":next")
        assert check(mesh((8, 8)), INDIVIDUAL, consumption=1).free
        assert check(topology("mesh:4x4x4"), INDIVIDUAL, consumption=1).free

    @pytest.mark.parametrize(
        ("scheme", "shape", "classes"),
        [
            (COLUMN_PATH, (1, 8), 1),
            (COLUMN_PATH, (8, 1), 2),
            (DUAL_PATH, (1, 8), 2),
            (DUAL_PATH, (8, 1), 2),
            (E_MCAST, (1, 8), 2),
            (E_MCAST, (8, 1), 2),
            (E_MCAST, (3, 3), 2),
            (DUAL_PATH, (3, 1), 1),
        ],
        ids=lambda value: getattr(value, "name", str(value)),
    )
    def test_lines_and_small_meshes_need_fewer(self, scheme, shape, classes):
        assert minimal(shape, scheme)[0] == classes

    def test_bounds_of_lemma_1_and_corollary_2(self):
        bounds = {
            scheme.name: (analysis.lemma1, analysis.corollary2)
            for scheme in PLAIN
            for analysis in [check(mesh((8, 8)), scheme)]
        }
        assert bounds == {"dual-path": (4, 4), "individual": (1, 1), "column-path": (3, 2), "e-mcast": (4, 4)}

    def test_corollary_2_does_not_hold_where_worms_end_at_the_edge_of_two_rows(self):
        analysis = check(mesh((2, 3)), COLUMN_PATH)
        assert (analysis.lemma1, analysis.corollary2, analysis.classes_minimal) == (2, 2, 2)

    @EVERY
    @SMALL
    def test_bounds_count_links_as_stated(self, scheme, shape):
        """Once more from the worms' requests; Corollary 2 lies between its formula and Lemma 1."""
        into, out = {}, {}
        for asked in enumerated(scheme, shape):
            if not any(request[0] == "stop" for request in asked):
                continue
            held = False
            for before, request in zip([None, *asked], asked, strict=False):
                if request[0] in ("stop", "end"):
                    last = request[2] if request[0] == "stop" else before
                    into.setdefault(last[1], set()).add(last)
                    held = True
                elif held:
                    out.setdefault(request[0], set()).add(request)
        v_in, v_out = (max(map(len, links.values()), default=0) for links in (into, out))
        analysis = check(mesh(shape), scheme)
        assert analysis.lemma1 == max(1, min(v_in, v_out + 1))
        assert max(1, min(v_in, v_out)) <= analysis.corollary2 <= analysis.lemma1
        assert analysis.classes_minimal <= analysis.lemma1


class TestMix:
    def test_e_cube_unicasts_and_dual_path_have_a_cycle(self):
        analysis = check(mesh((8, 8)), DUAL_PATH, others=[(INDIVIDUAL, None)])
        assert not analysis.free
        assert {step.scheme for step in analysis.cycle} == {"dual-path", "individual"}
        assert analysis.dans is None

    def test_unicasts_by_the_same_relation_are_free(self):
        assert check(mesh((8, 8)), DUAL_PATH, others=[UNICAST_BY_R]).free
        assert check(mesh((8, 8)), COLUMN_PATH, others=[(INDIVIDUAL, None)]).free
        assert check(mesh((4, 4)), E_MCAST, others=[(INDIVIDUAL, None), (COLUMN_PATH, None)]).classes_minimal == 3


class TestMinimum:
    @EVERY
    @SMALL
    @pytest.mark.parametrize("by", ["next", "last"])
    def test_agrees_with_every_map(self, scheme, shape, by):
        """All maps of directions to up to four classes, each tried in plain Python."""
        worms = enumerated(scheme, shape)
        sorts = [["up", "down"], ["1+", "1-", "0+", "0-"]]
        best = 1 if not reference.can_lock(reference.dependencies(worms, 1, lambda *_: 0), 1) else None
        for directions in sorts:
            for chosen in itertools.product(range(len(directions)), repeat=len(directions)):
                count = max(chosen) + 1
                if best is not None and count >= best:
                    continue
                networks = [[d for d, k in zip(directions, chosen, strict=True) if k == own] for own in range(count)]
                class_of = reference.direction_class(shape, networks, by)
                if not reference.can_lock(reference.dependencies(worms, count, class_of), count):
                    best = count
        network = mesh(shape)
        stated = Listed(scheme.name, PLAIN[scheme][0], f"{'up/down' if scheme is DUAL_PATH else '0+/0-/1+/1-'}:{by}",
                        scheme.relation)
        analysis = check(network, stated)
        assert analysis.classes_minimal == best
        assert check(network, stated, classes=analysis.dans).free

    def test_beyond_eight_directions_a_map_is_found_and_the_fewest_are_not_known(self):
        network = topology("mesh:2x2x2x2x2x2")
        analysis = check(network, E_MCAST)
        assert (analysis.free, analysis.classes_required, analysis.classes_minimal) == (True, 12, None)
        assert (analysis.lemma1, analysis.corollary2) == (6, 6)
        assert check(network, E_MCAST, classes=analysis.dans).free
        assert check(network, DUAL_PATH).classes_minimal == 2  # up and down are two

    def test_beyond_eight_directions_no_map_helps_where_the_relations_have_a_cycle(self):
        analysis = check(topology("mesh:2x2x2x2x2"), E_MCAST, others=[(DUAL_PATH, None)])
        assert (analysis.free, analysis.classes_minimal, analysis.dans, analysis.lemma1) == (False, None, None, None)

    @pytest.mark.parametrize(("nodes", "fewest"), [(3, 1), (4, None)])
    def test_directions_without_names_leave_one_class_or_none(self, nodes, fewest):
        line = mesh((1, nodes))

        class Along(Relation):
            name, description = "along", "for tests"

            def table(self, topology):
                return E_CUBE.table(line)

        scheme = Listed("nameless", plain.dual_path, relation=Along())
        scheme.kinds = ("line",)
        analysis = check(replace(line, name="line", kind="line", labels=None), scheme)
        assert (analysis.free, analysis.classes_minimal) == (fewest is not None, fewest)

    def test_partitions_are_all_and_each_once(self):
        """Stirling numbers of the second kind."""
        for things, counts in ((1, [0, 1]), (4, [0, 1, 7, 6, 1]), (6, [0, 1, 31, 90, 65, 15, 1])):
            for blocks, count in enumerate(counts):
                found = list(partitions("abcdef"[:things], blocks))
                assert len(found) == len({frozenset(map(frozenset, one)) for one in found}) == count


def reversed_column_path(shape, source, destinations):
    """VisitTriples of two destinations go down only, those of three go up."""
    return [(source, None, sorted(destinations, reverse=len(destinations) > 2))]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: check(topology("mesh:4x4"), DUAL_PATH, consumption=0), "consumption: 0 is not valid"),
        (lambda: check(topology("mesh:4x4"), DUAL_PATH, ejection="each"),
         "ejection: 'each' is not valid. Allowed: one, all"),
        (lambda: check(topology("mesh:4x4"), DUAL_PATH, ejection=1), "ejection: 1 is not valid. Allowed: text"),
        (lambda: check(topology("mesh:4x4"), DUAL_PATH, vcs=17), "vcs: 17 is not valid. Allowed: 1 to 16"),
        (lambda: check(topology("mesh:17x17"), DUAL_PATH),
         "^check: mesh:17x17 has 289 nodes, too many to enumerate all multicasts to two destinations"),
        (lambda: check(topology("mesh:4x4"), DUAL_PATH, classes=ConsumptionClasses((("up",),))),
         "classes: up is not valid: it has no class for a worm of dual-path"),
        (lambda: check(topology("mesh:4x1"), Listed("odd", reversed_column_path)),
         r"scheme odd: visit_triples\(topology\) is not complete: a worm comes from "),
    ],
)
def test_bad_input_is_a_sentence(call, sentence):
    with pytest.raises(WormcastError, match=sentence):
        call()


def test_two_nodes():
    for scheme in (DUAL_PATH, INDIVIDUAL):
        assert check(topology("mesh:1x2"), scheme, consumption=1).free


def test_relation_of_the_scheme_may_be_replaced():
    assert check(mesh((4, 4)), DUAL_PATH, relation=HAMILTONIAN).schemes == ("dual-path",)
    analysis = check(mesh((4, 4)), SCHEMES["e-mcast"], relation=SHORTEST)
    assert analysis.schemes == ("e-mcast by shortest",)
    assert analysis.free


@pytest.mark.slow  # smaller ones are above
def test_the_largest_mesh():
    assert check(topology("mesh:16x16"), DUAL_PATH).classes_minimal == 2
