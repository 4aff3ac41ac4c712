"""Deadlock on any network: against plain Python, by hand-made networks, and by closed forms."""

from dataclasses import replace
from functools import lru_cache, partial

import pytest

from wormcast.algorithms import (
    E_CUBE,
    HAMILTONIAN,
    SCHEMES,
    ConsumptionClasses,
    PlainScheme,
    Relation,
    WormcastError,
    topology,
    without_classes,
)
from wormcast.algorithms.channels import Resource, link_names
from wormcast.algorithms.deadlock.channel_use import find_channel_use
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.deadlock.graph import dependency_graph
from wormcast.algorithms.routing import (
    ADAPTIVE,
    DESTINATION_TAGS,
    E_CUBE_EITHER,
    SHORTEST,
    UP_DOWN,
    UP_DOWN_ADAPTIVE,
    Adaptive,
    with_ties,
)

from . import network_reference as reference
from .networks import Given, at_random, network

INDIVIDUAL = SCHEMES["individual"]
IRREGULAR = [f"irregular:switches=8,ports=6,nodes=16,seed={seed}" for seed in range(1, 11)]
MINS = [f"min:{size}{kind}" for size in ("b=2,stages=4", "b=4,stages=2")
        for kind in ("", ",kind=cube", ",kind=omega", ",kind=butterfly")]


def of_routes(routes):
    """A bound relation as the reference has relations."""
    count = len(routes.classes)

    def relation(switch, came, node):
        if switch == routes.topology.consumptions[node, 0]:
            return []
        phase = 0 if came is None else int(routes.phase_of_link[came])
        codes = [int(code) for code in routes.options[phase, switch, node] if code >= 0]
        return [(int(routes.topology.link_of_port[switch, code // count]), code % count) for code in codes]

    return relation


def edges_of(graph):
    """The edges of a graph of unicasts, channels as (link, class), the one channel of a node as ("any", node)."""

    def name(resource):
        if resource < graph.channels:
            return divmod(int(resource), graph.vc_classes)
        return "any", int(resource) - graph.channels

    return {(name(start), name(end)) for start, end in zip(graph.starts, graph.ends, strict=True)}


def compare(found, relation, expected):
    """The dependency graph against that of a relation of the reference; gives the graph."""
    part = find_channel_use(INDIVIDUAL, found, relation)
    graph = dependency_graph([part], 1)
    walked = reference.walked(found, expected)
    assert edges_of(graph) == set(walked)
    assert graph.free == (not reference.has_cycle(walked))
    for edge, (_, source, node, _) in enumerate(graph.witnesses.tolist()):
        single = replace(graph, starts=graph.starts[edge : edge + 1], ends=graph.ends[edge : edge + 1])
        assert (source, node) == min(walked[edges_of(single).pop()])
    return graph


class TestGraph:
    @pytest.mark.parametrize("name", ["torus:4x4", "torus:5x5", "ring:6", "torus:2x3", "torus:3x4"])
    def test_of_tori(self, name):
        found = topology(name)
        expected = partial(reference.torus_hop, found)
        assert compare(found, None, expected).free
        merged = compare(found, without_classes(E_CUBE), lambda *state: [(link, 0) for link, _ in expected(*state)])
        assert merged.free == (max(found.shape) < 4)

    @pytest.mark.parametrize("name", MINS)
    def test_of_multistage_networks(self, name):
        found = topology(name)
        assert compare(found, DESTINATION_TAGS, of_routes(DESTINATION_TAGS.on(found))).free

    @pytest.mark.parametrize("name", IRREGULAR[:3])
    def test_of_irregular_networks(self, name):
        found = topology(name)
        legal = reference.up_down(found)
        legal = lru_cache(maxsize=None)(legal)
        assert compare(found, UP_DOWN_ADAPTIVE, legal).free
        assert compare(found, UP_DOWN, lambda *state: legal(*state)[:1]).free
        nearer = lru_cache(maxsize=None)(reference.nearer(found, lambda *_: True))
        compare(found, SHORTEST, lambda *state: nearer(*state)[:1])

    def test_of_nodes_that_inject_and_consume_apart(self):
        """A circle of three switches, two links from 1 to 2; nodes 0, 1 and 4 do not consume where they inject."""
        found = network(3, [(0, 1), (1, 2), (1, 2), (2, 0)], nodes=[(0, 1), (0, 2), (1, 0), (2, 2), (1, 0)])
        graph = compare(found, SHORTEST, lambda *state: reference.nearer(found, lambda *_: True)(*state)[:1])
        assert not graph.free
        cycle = check(found, INDIVIDUAL, relation=SHORTEST).cycle
        assert [step.resource for step in cycle] == ["link:s0>s1:*", "link:s1>s2#0:*", "link:s2>s0:*"]

    def test_of_a_relation_by_the_link_by_which_a_worm_came(self):
        """Worms go up from even nodes of a ring and down from odd ones, and on as they came."""
        ring = topology("ring:6")
        rows = {(int(start), int(end)): row for row, (start, _, end, _) in enumerate(ring.links)}

        def hops(switch, came, node):
            if switch == node:
                return []
            step = (1, -1)[switch % 2] if came is None else switch - int(ring.links[came, 0])
            return [(rows[switch, (switch + step) % 6], 0)]

        given = Given(ring, hops)
        with pytest.raises(AssertionError, match="a worm goes nowhere"):
            reference.walked(ring, lambda switch, came, node: hops(switch, came, node) if switch != 2 else [])
        found = edges_of(compare(ring, given, hops))
        assert ((rows[1, 2], 0), (rows[2, 3], 0)) in found
        assert ((rows[3, 2], 0), (rows[2, 1], 0)) in found

    def test_turns_that_routers_do_not_have_are_refused(self):
        """Counting on them would call networks free of deadlock in which worms are lost, or wait for each other."""
        line = topology("mesh:1x4")
        rows = {(int(start), int(end)): row for row, (start, _, end, _) in enumerate(line.links)}

        def back(switch, came, node):
            if came is None and switch:
                return [(rows[switch, switch - 1], 0)]
            return [] if switch == node else [(rows[switch, switch + (1 if came is None or node > switch else -1)], 0)]

        with pytest.raises(WormcastError, match=r"by given: a worm comes from (\d+ \S+) to \d+ \S+, continues to \1; "):
            check(line, INDIVIDUAL, relation=Built(line, back))
        for scheme, relation in (("dual-path", E_CUBE), ("dual-path", SHORTEST), ("multipath", E_CUBE),
                                 ("e-mcast", HAMILTONIAN), ("column-path", HAMILTONIAN), ("dual-path", ADAPTIVE)):
            with pytest.raises(WormcastError, match=r"stops there, and continues to .* do not have this turn"):
                check(topology("mesh:2x4"), SCHEMES[scheme], relation=relation)


class Built(Given):
    """For routers as they are."""

    def turns(self, topology):
        return Relation.turns(self, topology)


class TestEjection:
    def test_worms_with_a_choice_beside_worms_that_stop(self):
        """Figure 4's deadlock of worms that stop goes with a port for each link, also where others have a choice."""
        found = topology("mesh:2x3")
        for ejection, verdict in (("one", "deadlock"), ("all", "free")):
            analysis = check(found, INDIVIDUAL, relation=ADAPTIVE, others=[(SCHEMES["dual-path"], None)],
                             consumption=1, ejection=ejection)
            assert analysis.verdict == verdict

    def test_signs_are_assumed_of_worms_that_stop(self):
        """Up and down a ring of four, a worm each: by default signs none of them turns back."""
        ring = topology("ring:4")
        analysis = check(ring, Cut(), relation=with_ties(E_CUBE, ring, "signed"), consumption=1, ejection="all")
        assert analysis.verdict == "free"
        assert analysis.assumes.startswith("hosts choose the default signs of ties")


class Cut(PlainScheme):
    """A worm up a ring, and one down it, never over its edge; for legs of more than half of it one of their own."""

    name, description, provenance, relation = "cut", "for tests", "tests", E_CUBE
    kinds = ()

    def classes_on(self, topology):
        return ConsumptionClasses()

    def visits(self, topology, source, destinations):
        worms = []
        for half in (sorted(node for node in destinations if node > source),
                     sorted((node for node in destinations if node < source), reverse=True)):
            at, worm = source, []
            for node in half:
                if abs(node - at) > topology.nodes // 2:
                    worms += [worm] if worm else []
                    worm, at = [], source
                    worms.append([node])
                else:
                    worm.append(node)
                    at = node
            worms += [worm] if worm else []
        return worms


class TestTori:
    @pytest.mark.parametrize("extent", range(2, 12))
    def test_a_ring_is_free_with_classes_and_locks_without(self, extent):
        ring = topology(f"ring:{extent}")
        assert check(ring, INDIVIDUAL).verdict == "free"
        analysis = check(ring, INDIVIDUAL, relation=without_classes(E_CUBE))
        assert analysis.verdict == ("free" if extent < 4 else "deadlock")
        if extent >= 4:
            assert [step.resource for step in analysis.cycle] == [
                f"link:{place}>{(place + 1) % extent}:*" for place in range(extent)]

    @pytest.mark.parametrize("extent", [4, 5, 8])
    def test_so_does_a_torus(self, extent):
        torus = topology(f"torus:{extent}x{extent}")
        assert check(torus, INDIVIDUAL).verdict == "free"
        assert check(torus, INDIVIDUAL, relation=without_classes(E_CUBE)).verdict == "deadlock"
        assert check(topology("torus:3x4x5"), INDIVIDUAL).free

    @pytest.mark.parametrize("name", ["ring:2", "ring:4", "ring:5", "ring:8", "torus:4x4", "torus:2x6"])
    def test_ties_may_go_either_way(self, name):
        found = topology(name)

        def hops(switch, came, node):
            """Ties upwards, and ties downwards."""
            hop = reference.torus_hop(found, switch, came, node)
            other = reference.torus_hop(found, switch, came, node, ties=-1)
            return hop + [one for one in other if one not in hop]

        assert compare(found, E_CUBE_EITHER, hops).free
        analysis = check(found, INDIVIDUAL, relation=E_CUBE_EITHER)
        assert (analysis.verdict, analysis.assumes) == ("free", "")
        assert E_CUBE_EITHER.on(found).deterministic == (name == "ring:5")

    @pytest.mark.parametrize("name", ["ring:2", "ring:4", "ring:6", "torus:4x4", "torus:2x6", "torus:3x4"])
    def test_ties_by_signs(self, name):
        """Free by default signs and by any; without classes what is free by default may need just these signs."""
        found = topology(name)
        signed = with_ties(E_CUBE, found, "signed")
        assert compare(found, signed, partial(reference.torus_hop, found, ties="signed")).free
        analysis = check(found, INDIVIDUAL, relation=signed)
        assert (analysis.verdict, analysis.assumes) == ("free", "")
        analysis = check(found, INDIVIDUAL, relation=without_classes(signed))
        edge = max(found.shape)
        assert analysis.verdict == ("free" if edge < 6 else "deadlock")
        assert analysis.assumes == (
            "hosts choose the default signs of ties, which lead away from the ring's edge" if edge == 4 else "")

    def test_virtual_channels_are_divided_among_the_classes(self):
        ring = topology("ring:4")

        class Backwards(Relation):
            """E-cube with the classes the wrong way round: the one that crosses the edge comes last."""

            name = "backwards"

            def table(self, topology):
                return E_CUBE.on(topology).table

            def choices(self, topology):
                made = E_CUBE.choices(topology)
                options = made.options.copy()
                inside = (options >= 0) & (options < 4)
                options[inside] = 2 * (options[inside] // 2)  # every channel of class p
                return replace(made, options=options)

        for vcs, named in ((2, "0"), (4, "0-1"), (8, "0-3")):
            cycle = check(ring, INDIVIDUAL, relation=Backwards(), vcs=vcs).cycle
            assert [step.resource for step in cycle] == [f"link:{k}>{(k + 1) % 4}:{named}" for k in range(4)]
        for vcs in (1, 3):
            with pytest.raises(WormcastError, match=f"vcs: {vcs} is not valid: e-cube has 2 classes of virtual "
                                                    "channels on ring:4. Allowed: multiples of 2 with"):
                check(ring, INDIVIDUAL, vcs=vcs)

    def test_worms_of_any_channel_spoil_the_classes(self):
        """Unicasts with classes and unicasts without in one ring: those without may hold what the others need."""
        ring = topology("ring:6")
        mixed = check(ring, INDIVIDUAL, others=[(INDIVIDUAL, without_classes(E_CUBE))])
        assert mixed.verdict == "deadlock"
        assert {step.scheme for step in mixed.cycle} <= {"individual", "individual by e-cube without classes"}
        assert {Resource.parse(step.resource).number for step in mixed.cycle} <= {"0", "1"}
        line = check(topology("mesh:1x5"), INDIVIDUAL, others=[(INDIVIDUAL, ADAPTIVE)])
        assert (line.verdict, line.vc_classes) == ("free", 2)


class TestIrregular:
    @pytest.mark.parametrize("name", IRREGULAR)
    @pytest.mark.parametrize("relation", [UP_DOWN, UP_DOWN_ADAPTIVE], ids=lambda relation: relation.name)
    def test_up_down_is_free(self, name, relation):
        analysis = check(topology(name), INDIVIDUAL, relation=relation)
        assert (analysis.verdict, analysis.assumes, analysis.classes_minimal) == ("free", "", 1)

    def test_shortest_paths_lock_where_links_form_a_ring(self):
        names = [name for name in IRREGULAR if check(topology(name), INDIVIDUAL, relation=SHORTEST).verdict != "free"]
        assert names
        found = topology(names[0])
        cycle = check(found, INDIVIDUAL, relation=SHORTEST).cycle
        links = [Resource.parse(step.resource).where for step in cycle]
        rows = [link_names(found).index(link) for link in links]
        ends = [(int(found.links[row, 0]), int(found.links[row, 2])) for row in rows]
        assert [end for _, end in ends] == [start for start, _ in ends[1:] + ends[:1]]

    def test_a_way_that_is_missing_is_named(self):
        one_way = network(3, [(0, 1), (1, 2), (2, 1)])
        with pytest.raises(WormcastError, match="shortest: it does not lead from switch 1 to node 0 in "):
            check(one_way, INDIVIDUAL, relation=SHORTEST)

    def test_worms_that_stop_need_a_node_at_each_switch_and_one_way(self):
        from .listed import Listed
        from .reference import dual_path

        scheme = Listed("nameless", dual_path, relation=SHORTEST)
        scheme.kinds = ()
        shared = replace(network(2, [(0, 1), (1, 0)], nodes=[(0, 0), (0, 0), (1, 1), (1, 1)]), shape=(2, 2))
        with pytest.raises(WormcastError, match="switch s0 has 2 nodes, and worms of nameless stop on"):
            check(shared, scheme)
        mesh = topology("mesh:3x3")
        with pytest.raises(WormcastError, match="check: relation up-down is not valid: its candidates depend on"):
            check(mesh, SCHEMES["dual-path"], relation=UP_DOWN)


class Careless(Adaptive):
    """Adaptive with channels to escape by, but heads may enter a buffer behind the end of another worm."""

    name = "careless"
    enters_empty = False


def both_ways(topology):
    """Around a ring upwards, on either of two classes."""
    def relation(switch, came, node):
        if switch == node:
            return []
        row = next(row for row, (start, out, _, _) in enumerate(topology.links.tolist()) if (start, out) == (switch, 0))
        return [(row, 1), (row, 0)]

    return relation


class TestChoices:
    def test_a_cycle_of_worms_that_may_all_escape_is_none(self):
        for name in ("mesh:3x3", "mesh:2x2x2", "mesh:8x8"):
            mesh = topology(name)
            assert not dependency_graph([find_channel_use(INDIVIDUAL, mesh, ADAPTIVE)], 1).free
            analysis = check(mesh, INDIVIDUAL, relation=ADAPTIVE)
            assert (analysis.verdict, analysis.cycle, analysis.classes_minimal) == ("free", (), 1)
            assert analysis.assumes == (
                "a header routed by adaptive enters a virtual channel only when its buffer is empty")
        mesh = topology("mesh:3x3")
        assert reference.duato_is_acyclic(mesh, of_routes(ADAPTIVE.on(mesh)))

    def test_without_what_that_assumes_it_is_undecided(self):
        analysis = check(topology("mesh:3x3"), INDIVIDUAL, relation=Careless())
        assert (analysis.verdict, analysis.free, analysis.assumes) == ("undecided", False, "")
        assert analysis.searched.startswith("worms can wait for each other only if heads are in buffers behind")
        assert len(analysis.cycle) == 4

    def test_alternatives_that_are_all_held(self):
        """Two classes around a ring of four: every worm has a choice, and none will do."""
        ring = topology("ring:4")
        hops = both_ways(ring)
        analysis = check(ring, INDIVIDUAL, relation=Given(ring, hops, classes=("escape", "adaptive")))
        assert not reference.duato_is_acyclic(ring, hops)
        assert (analysis.verdict, analysis.assumes, analysis.searched) == ("deadlock", "", "")
        assert [(worm.holds, worm.waits) for worm in analysis.worms] == [
            ((f"link:{k}>{(k + 1) % 4}:{vc}",), tuple(f"link:{(k + 1) % 4}>{(k + 2) % 4}:{one}" for one in (1, 0)))
            for k in range(4) for vc in (0, 1)]
        assert len(analysis.cycle) == 4

    def test_relations_of_different_classes_wait_behind_each_other(self):
        """A worm that tells no classes apart may stand in either channel behind one that goes on by the other."""
        torus = topology("torus:4x4")
        mixed = check(torus, INDIVIDUAL, others=[(INDIVIDUAL, UP_DOWN)])
        assert mixed.verdict == "deadlock"
        assert {check(torus, INDIVIDUAL, relation=one).verdict for one in (None, UP_DOWN)} == {"free"}

    def test_a_scheme_with_stops_beside_one_with_choices(self):
        mesh = topology("mesh:4x4")
        # heads of column-path enter any channel, behind the ends of adaptive worms too, which then wait to turn back
        found = check(mesh, INDIVIDUAL, relation=ADAPTIVE, others=[(SCHEMES["column-path"], None)])
        assert (found.verdict, found.consumption, found.classes_minimal) == ("deadlock", 2, None)
        assert check(mesh, INDIVIDUAL, relation=ADAPTIVE, others=[(SCHEMES["column-path"], None)],
                     consumption=1).verdict == "deadlock"
        crossed = check(mesh, INDIVIDUAL, relation=ADAPTIVE, others=[(SCHEMES["dual-path"], None)])
        assert (crossed.verdict, crossed.classes_minimal) == ("deadlock", None)
        assert check(mesh, INDIVIDUAL, relation=ADAPTIVE, others=[(SCHEMES["column-path"], None)],
                     classes=ConsumptionClasses.parse("0+,0-")).verdict == "deadlock"

    @pytest.mark.parametrize("block", range(4))
    def test_small_networks_at_random(self, block):
        """Against every set of worms that hold and wait: deadlocks that are found are some, and all are found."""
        seen = set()
        for seed in range(block * 1500, block * 1500 + 1500):
            found, hops = at_random(seed)
            if hops is None:
                continue
            relation = Given(found, hops)
            routes = relation.on(found)
            if routes.deterministic:
                continue
            analysis = check(found, INDIVIDUAL, relation=relation)
            lock = reference.deadlock(found, hops)
            assert (lock is not None) == (analysis.verdict == "deadlock")
            seen.add((analysis.verdict, max((len(worm.holds) for worm in analysis.worms), default=0)))
            if lock:
                self.check_worms(found, hops, analysis.worms)
                assert analysis.cycle
        assert {("free", 0), ("deadlock", 1), ("deadlock", 2)} <= seen

    def test_what_duato_proves_is_free(self):
        """Random hops on one class, and shortest paths, one for each destination, to escape by on the other."""
        proved = []
        for seed in range(2000):
            found, hops = at_random(seed)
            if hops is None:
                continue
            nearer = lru_cache(maxsize=None)(reference.nearer(found, lambda *_: True))

            def both(switch, came, node, hops=hops, nearer=nearer):
                escape = [(link, 0) for link, _ in nearer(switch, None, node)[:1]]
                return [(link, 1) for link, _ in hops(switch, came, node)] + escape if escape else []

            acyclic = reference.duato_is_acyclic(found, both)
            analysis = check(found, INDIVIDUAL, relation=Given(found, both, classes=("escape", "adaptive")))
            assert analysis.verdict == "free" or not acyclic
            if acyclic and analysis.assumes:
                proved.append(seed)
        assert len(proved) > 3

    def test_one_that_is_not_decided(self):
        """Resources could be held for ever, but no worms can hold them all: each needs a channel that another has."""
        found, hops = at_random(UNDECIDED)
        analysis = check(found, INDIVIDUAL, relation=Given(found, hops))
        assert analysis.verdict == "undecided"
        assert analysis.searched.endswith(
            "steps found no worms that hold all channels for which they wait")
        assert reference.deadlock(found, hops) is None

    def check_worms(self, found, hops, worms):
        """Each holds channels in a row on a legal way, no two the same, and all that any may take is held."""
        held = [one for worm in worms for one in worm.holds]
        assert len(set(held)) == len(held)
        legal = {(node, way): asked for node, way, asked in reference.placements(found, hops)}
        names = link_names(found)
        for worm in worms:
            way = tuple((names.index(Resource.parse(one).where), 0) for one in worm.holds)
            assert {names.index(Resource.parse(one).where) for one in worm.waits} == {
                link for link, _ in legal[worm.stops[0], way]}
            assert set(worm.waits) <= set(held)


UNDECIDED = 16840
