"""Statements of [Boppana98], section 3: against enumeration, closed forms, and the paper's numbers."""

from functools import cache

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import E_CUBE, SCHEMES, ConsumptionClasses, PlainScheme, explain, topology
from wormcast.algorithms.channels import Resource, link_names
from wormcast.algorithms.deadlock.channel_use import find_channel_use
from wormcast.algorithms.deadlock.degrees import degrees
from wormcast.algorithms.routing import ADAPTIVE
from wormcast.algorithms.theory.acyclic_partitions import own_dans
from wormcast.algorithms.theory.minimal import minimal_by_directions
from wormcast.algorithms.theory.problem import Problem
from wormcast.algorithms.theory.ranking import Ranking

from . import dependency_reference
from . import reference as plain
from . import theory_reference as reference
from .listed import Listed

PLAIN = {
    "dual-path": (plain.dual_path, plain.hamiltonian_step),
    "column-path": (plain.column_path, plain.e_cube_step),
    "e-mcast": (plain.e_mcast, plain.e_cube_step),
}
SCHEME = pytest.mark.parametrize("scheme", PLAIN)
SHAPES = [(2, 2), (2, 3), (3, 3), (1, 4), (4, 1), (4, 4)]
SHAPE = pytest.mark.parametrize("shape", SHAPES, ids="{0[0]}x{0[1]}".format)
ALL = 8
"""Destinations of the largest multicasts on up to nine nodes: all."""


@cache
def worms(scheme, shape):
    """All worms of several destinations; on 4x4 those of up to three."""
    return reference.worms_of(PLAIN[scheme][0], shape, ALL if shape != (4, 4) else 3)


def mesh(shape):
    return topology("mesh:" + "x".join(map(str, shape)))


@cache
def subject(scheme, shape):
    network = mesh(shape)
    return Problem([SCHEMES[scheme]], [find_channel_use(SCHEMES[scheme], network)], 2, "one")


@cache
def statements(scheme, shape):
    """All statements, by name and place."""
    return {(one.statement, one.place.rpartition(" ")[2]): one for one in explain(mesh(shape), SCHEMES[scheme])}


def found(scheme, shape, name, place="3.2"):
    return statements(scheme, shape)[name, place]


class TestTheorem1:
    @SCHEME
    @SHAPE
    def test_nodes_visited_in_both_orders_are_those_of_all_multicasts(self, scheme, shape):
        pairs = reference.both_orders(worms(scheme, shape))
        one = found(scheme, shape, "Theorem 1", "3.1")
        assert one.found["hypothesis_1"] == bool(worms(scheme, shape))
        assert one.found["hypothesis_2"] == bool(pairs)
        assert one.holds == bool(pairs)
        assert one.found.get("pairs", 0) == len(pairs)
        if pairs:
            (_, *there), (_, *back) = ((worm["source"], *worm["destinations"]) for worm in one.witness)
            assert tuple(sorted(there)) in pairs
            assert there == back[::-1]

    @SCHEME
    @SHAPE
    def test_the_two_worms_are_in_the_scheme_and_do_not_meet_on_links(self, scheme, shape):
        one = found(scheme, shape, "Theorem 1", "3.1")
        function, step = PLAIN[scheme]
        used = []
        for worm in one.witness or ():
            made = [visits for _, _, visits in function(shape, worm["source"], sorted(worm["destinations"]))]
            assert made == [worm["destinations"]]
            used.append(reference.hops(step, shape, (worm["source"], *worm["destinations"])))
            assert worm["length"] == 64 * sum(held for _, held in used[-1])
        if used:
            one_way, back = used
            assert one.found["meet"]
            assert not {link for link, _ in one_way} & {link for link, _ in back}
            assert [held for _, held in one_way].index(True) == [held for _, held in back].index(True)

    def test_figure_4(self):
        """A chain of four nodes."""
        one = found("dual-path", (1, 4), "Theorem 1", "3.1")
        assert [(worm["source"], worm["destinations"]) for worm in one.witness] == [(0, [1, 2]), (3, [2, 1])]
        assert one.certificate["cycle"] == ["link:1>2:*", "cons:2:0", "link:2>1:*", "cons:1:0"]

    @pytest.mark.parametrize(("scheme", "meets"), [
        ("individual", False), ("dual-path", True), ("multipath", True), ("column-path", True),
        ("column-path-literal", True), ("e-mcast", True),
    ])
    @pytest.mark.parametrize("shape", [(4, 4), (8, 8)])
    def test_all_but_individual_meet_its_hypotheses(self, scheme, meets, shape):
        one = found(scheme, shape, "Theorem 1", "3.1")
        assert (one.holds, one.agrees, one.found["hypothesis_1"]) == (meets, True, meets)

    @pytest.mark.parametrize(("line", "crossed", "meet"), [(5, [1, 3], True), (6, [2, 3], False)])
    def test_nodes_need_not_be_neighbours(self, line, crossed, meet):
        """Two worms alone go on to another destination, on a line; the second two are not as far from their first."""
        def two(shape, source, destinations):
            if sorted(destinations) == crossed and source in (0, 4):
                return [(source, None, sorted(destinations, reverse=source == 4))]
            return [(source, None, [one]) for one in destinations]

        (_, _, one, *_) = explain(mesh((1, line)), Listed("two", two))
        assert (one.holds, one.found["pairs"], one.found["meet"]) == (True, 1, meet)
        assert [worm["destinations"] for worm in one.witness] == [crossed, crossed[::-1]]
        assert {worm["length"] for worm in one.witness} == {64 * (crossed[1] - crossed[0])}

    def test_two_destinations_need_not_tell_all(self):
        class Far(PlainScheme):
            name, kinds, relation = "far", ("mesh",), E_CUBE

            def classes_on(self, topology):
                return ConsumptionClasses()

            def visits(self, topology, source, destinations):
                return [[node] for node in destinations]

        (_, _, one, *rest) = explain(mesh((1, 3)), Far())
        assert (one.holds, one.found) == (None, {"hypothesis_1": None, "hypothesis_2": None})
        assert one.sentence.startswith("not decided. Multicasts to two destinations do not meet both hypotheses")
        assert {each.holds for each in rest} == {None}
        assert all(each.sentence.startswith("for multicasts to two destinations only: ") for each in rest)

    def test_legs_without_worms_to_two_destinations(self):
        """Only broadcasts from the ends of a line go both ways through its inner nodes."""
        class Both(Listed):
            def visit_triples(self, topology):
                return np.array([[0, 1, 2], [1, 2, 3], [3, 2, 1], [2, 1, 0]], np.int32)

        def many(shape, source, destinations):
            if len(destinations) < 3 or source in (1, 2):
                return [(source, None, [one]) for one in destinations]
            return [(source, None, sorted(destinations, reverse=source == 3))]

        (_, _, one, *_) = explain(mesh((1, 4)), Both("both", many))
        assert (one.holds, one.found) == (None, {"hypothesis_1": True, "hypothesis_2": None})
        assert "Hypothesis 2 is not decided. The scheme visits 1 pair of nodes in both orders" in one.sentence

    def test_a_channel_for_each_link_is_not_what_it_is_about(self):
        (_, _, one, *_) = explain(mesh((1, 4)), SCHEMES["dual-path"], ejection="all")
        assert (one.holds, one.found["hypothesis_2"], one.certificate) == (None, True, None)
        assert one.sentence.endswith("no node has a single consumption channel: with --ejection all, each link into a "
                                     "node has an ejection port of its own")


class TestBounds:
    @SCHEME
    @SHAPE
    def test_definition_1_in_both_readings(self, scheme, shape):
        used, arrives, held = reference.link_sets(PLAIN[scheme][1], shape, worms(scheme, shape))
        one = found(scheme, shape, "Definition 1").found if not worms(scheme, shape) else (
            found(scheme, shape, "Definition 1", "3.2.1").found)
        for reading, (into, out) in {"held": (arrives, held), "all": (used, used)}.items():
            assert (one[reading]["v_in"], one[reading]["v_out"]) == (
                reference.most_at_a_node(into, 1), reference.most_at_a_node(out, 0))
            if worms(scheme, shape):
                at = one[reading]
                assert sum(link[1] == at["v_in_node"] for link in into) == at["v_in"]
                assert sum(link[0] == at["v_out_node"] for link in out) == at["v_out"]
                assert (at["v_in_vcs"], at["v_out_vcs"]) == (2 * at["v_in"], 2 * at["v_out"])

    @SCHEME
    @SHAPE
    def test_both_constructions_against_plain_python(self, scheme, shape):
        """Lemma 1 by the links into a node, by those out of it and one more, and Corollary 2 without that one."""
        network, many = mesh(shape), worms(scheme, shape)
        if not many:
            assert found(scheme, shape, "Lemma 1").found == {"channels": 1}
            return
        step = PLAIN[scheme][1]
        requests = [dependency_reference.requests(step, shape, (worm[0], worm[1:])) for worm in many]
        requests += [dependency_reference.requests(step, shape, (u, [v]))
                     for u in range(network.nodes) for v in range(network.nodes) if u != v]
        counted = degrees(subject(scheme, shape).parts, "held")
        links = network.links[:, [0, 2]].tolist()
        lemma, corollary = (found(scheme, shape, name).found for name in ("Lemma 1", "Corollary 2"))
        assert lemma["channels"] == max(1, min(counted.v_in, counted.v_out + 1))
        for classes, end, free, count in (
            (counted.by_incoming(), 1, lemma["by_incoming"]["free"], counted.v_in),
            (counted.by_outgoing(spare=True), 0, lemma["by_outgoing"]["free"], counted.v_out + 1),
            (counted.by_outgoing(spare=False), 0, corollary.get("by_outgoing", {}).get("free"), counted.v_out),
        ):
            number = {tuple(link): int(one) for link, one in zip(links, classes.numbers, strict=True)}
            assert len(classes) == count
            for node in range(network.nodes):
                own = [one for link, one in number.items() if link[end] == node and one >= 0]
                assert sorted(own) == list(range(len(own)))
            if free is not None:
                by = (lambda last, _, number=number: number[last]) if end else (
                    lambda _, following, number=number: number[following])
                edges = dependency_reference.dependencies(requests, count, by)
                assert free == (not dependency_reference.can_lock(edges, count))
        assert lemma["by_incoming"]["free"]
        assert lemma["by_outgoing"]["free"]

    @pytest.mark.parametrize(("scheme", "held", "every", "lemma", "corollary"), [
        ("column-path", (4, 2), (4, 4), (3, 4), (2, 4)),
        ("dual-path", (4, 4), (4, 4), (4, 4), (4, 4)),
        ("multipath", (4, 4), (4, 4), (4, 4), (4, 4)),
        ("e-mcast", (4, 4), (4, 4), (4, 4), (4, 4)),
    ])
    def test_on_8x8(self, scheme, held, every, lemma, corollary):
        one = found(scheme, (8, 8), "Definition 1", "3.2.1").found
        assert [(one[reading]["v_in"], one[reading]["v_out"]) for reading in ("held", "all")] == [held, every]
        for name, expected in (("Lemma 1", lemma), ("Corollary 2", corollary)):
            stated = found(scheme, (8, 8), name)
            assert stated.holds is True
            assert (stated.found["channels"], stated.found["channels_of_all_links"]) == expected
        assert found(scheme, (8, 8), "Corollary 2").agrees is True

    @pytest.mark.parametrize(("vcs", "outgoing"), [(1, 2), (2, 4), (4, 8)])
    def test_virtual_channels_of_column_path(self, vcs, outgoing):
        """With two there are four outgoing ones, and the same two classes (section 3.2.1)."""
        made = {one.statement: one for one in explain(mesh((4, 4)), SCHEMES["column-path"], vcs=vcs)}
        assert made["Definition 1"].found["held"]["v_out_vcs"] == outgoing
        assert made["Definition 1"].agrees is True
        assert (made["Lemma 1"].found["channels"], made["Corollary 3"].holds) == (3, True)
        assert ("so no more classes are needed" in made["Lemma 1"].sentence) == (vcs > 1)

    def test_corollary_2_does_not_apply_to_two_rows(self):
        one = found("column-path", (2, 3), "Corollary 2")
        assert (one.holds, one.agrees, one.found["met"]) == (None, False, False)


def directions(shape):
    """Words for links, in both vocabularies."""
    def step(link):
        (row, column), (to_row, to_column) = (divmod(node, shape[1]) for node in link)
        return f"1{'+' if to_column > column else '-'}" if row == to_row else f"0{'+' if to_row > row else '-'}"

    def label(link):
        return "up" if plain.label(shape, link[1]) > plain.label(shape, link[0]) else "down"

    return [step, label]


def sequences(scheme, shape):
    return {tuple(link for link, _ in reference.hops(PLAIN[scheme][1], shape, worm)) for worm in worms(scheme, shape)}


class TestDans:
    @SCHEME
    @SHAPE
    def test_definition_3_against_every_set_of_directions(self, scheme, shape):
        """All divisions of the directions that worms need; sets that have the same links are one."""
        links = [tuple(link) for link in mesh(shape).links[:, [0, 2]].tolist()]
        _, _, held = reference.link_sets(PLAIN[scheme][1], shape, worms(scheme, shape))
        if not held:
            assert found(scheme, shape, "Definition 3").found == {"dans": 0}
            return
        paths, smaller = sequences(scheme, shape), 0
        for count in range(1, 5):
            sets, tried = set(), 0
            for word in directions(shape):
                needed = sorted({word(link) for link in held})
                for chosen in reference.divisions(needed, count):
                    tried += 1
                    dan_of = {link: chosen[needed.index(word(link))] for link in links if word(link) in needed}
                    if reference.is_valid(dan_of, paths, held):
                        sets.add(frozenset(frozenset(link for link in dan_of if dan_of[link] == one)
                                           for one in range(count)))
            if sets:
                break
            smaller += tried
        one = found(scheme, shape, "Definition 3")
        made = minimal_by_directions(subject(scheme, shape))
        assert {frozenset(frozenset(links[row] for row in np.flatnonzero(each.numbers == dan)) for dan in range(count))
                for each in made.sets} == sets
        assert (one.found["dans"], len(one.found["sets"]), one.found["smaller"]) == (count, len(sets), smaller)
        assert len(made.refused) == smaller
        assert all(len(each) < count and each.why_not for each in made.refused)

    @pytest.mark.parametrize(("scheme", "dans", "sets", "smaller", "own"), [
        ("column-path", 2, ["0+/0-"], 2, True),
        ("dual-path", 2, ["up/down"], 2, True),
        ("multipath", 2, ["up/down"], 2, True),
        ("e-mcast", 3, ["1+,0+/1-/0-", "1+/1-,0+/0-", "1+,0-/1-/0+", "1+/1-,0-/0+"], 10, False),
    ])
    @pytest.mark.parametrize("shape", [(4, 4), (8, 8)])
    def test_the_minimal_sets(self, scheme, dans, sets, smaller, own, shape):
        one = found(scheme, shape, "Definition 3")
        assert one.found == {"dans": dans, "sets": sets, "smaller": smaller}
        assert one.holds is own
        assert one.agrees is (True if scheme == "column-path" else None)

    @pytest.mark.parametrize(("shape", "dans", "sets"), [
        ((1, 6), 2, 1), ((4, 4), 3, 4), ((3, 3, 3), 4, 8), slow((3, 3, 3, 3), 5, 16)])
    def test_e_mcast_needs_one_dan_more_than_dimensions(self, shape, dans, sets):
        one = found("e-mcast", shape, "Definition 3")
        assert (one.found["dans"], len(one.found["sets"])) == (dans, sets)

    @pytest.mark.parametrize(("scheme", "number", "order"), [
        ("column-path", 2, []),
        ("dual-path", 2, []),
        ("e-mcast", 4, [(0, 2), (0, 3), (1, 2), (1, 3)]),
    ])
    def test_the_schemes_own_sets(self, scheme, number, order):
        one = found(scheme, (8, 8), "Definition 2")
        assert (one.holds, one.agrees) == (True, True)
        assert [(step["first"], step["then"]) for step in one.found["steps"]] == order
        lemma = found(scheme, (8, 8), "Lemma 2")
        assert (lemma.holds, lemma.found["channels"], lemma.found["free_by_rule"]) == (True, number, True)

    @pytest.mark.parametrize(("scheme", "classes", "why"), [
        ("e-mcast", "1+,0+/1-,0-:last", "worms use the DANs in no partial order: {1+,0+} before {1-,0-} (a worm from "),
        ("e-mcast", "1+,1-/0+/0-:last", "a DAN is not acyclic: 0.0 > 0.1 > 0.0"),
        ("e-mcast", "1+/1-/0+:last", "worms that hold a consumption channel use the link from 1.0 to 0.0, which is "),
        ("column-path", "0+,0-", "a DAN is not acyclic: 0.0 > 1.0 > 0.0"),
        ("column-path", "up/down", "worms use the DANs in no partial order: {up} before {down} (a worm from "),
    ])
    def test_sets_that_are_not_valid(self, scheme, classes, why):
        made = own_dans(subject(scheme, (4, 4)), ConsumptionClasses.parse(classes))
        assert not made.valid
        assert made.why_not.startswith(why)

    def test_a_set_of_three_for_e_mcast(self):
        made = {one.statement: one for one in explain(
            mesh((4, 4)), SCHEMES["e-mcast"], classes=ConsumptionClasses.parse("1+,0+/1-/0-:last"))}
        assert made["Definition 2"].holds is True
        assert made["Definition 2"].found["order"] == ["{1-}", "{1+,0+}", "{0-}"]
        assert (made["Lemma 2"].holds, made["Lemma 2"].found["channels"]) == (True, 3)
        assert made["Definition 3"].holds is True

    @pytest.mark.parametrize(("scheme", "shape"), [
        ("column-path", (2, 2)), ("column-path", (2, 3)), ("column-path", (3, 3)), ("dual-path", (2, 2)),
        ("dual-path", (2, 3)), ("e-mcast", (2, 3)),
    ])
    def test_links_divided_in_every_way(self, scheme, shape):
        """The number of sets of single links, and Lemma 2 for each of them, in plain Python."""
        step, paths = PLAIN[scheme][1], sequences(scheme, shape)
        _, _, held = reference.link_sets(step, shape, worms(scheme, shape))
        held = sorted(held)
        requests = [dependency_reference.requests(step, shape, (worm[0], worm[1:])) for worm in worms(scheme, shape)]
        for count in range(1, 4):
            valid = [dict(zip(held, chosen, strict=True)) for chosen in reference.divisions(held, count)]
            valid = [dan_of for dan_of in valid if reference.is_valid(dan_of, paths, held)]
            if valid:
                break
        one = found(scheme, shape, "Definition 3, by links")
        assert one.found == {"links": len(held), "dans": count, "sets": len(valid), "sets_found": len(valid)}
        assert not any(reference.can_lock(dan_of, requests, count) for dan_of in valid)

    @pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2), (3, 3), (4, 3), (4, 4)])
    def test_links_of_columns_by_a_closed_form(self, rows, columns):
        """A worm down a column goes from the first DAN to the second once, at any row or never, and so up again.

        With both orders of the two, and the columns that each DAN has to itself counted once, that is
        (2 rows^columns - 2^columns) / 2 ways: the set of the paper is not the only one.
        """
        one = found("column-path", (rows, columns), "Definition 3, by links")
        assert (one.found["dans"], one.found["sets"]) == (2, rows**columns - 2 ** (columns - 1))
        assert one.agrees is False

    def test_links_of_e_mcast(self):
        """Three rows and columns have no row link that is needed both ways, so two DANs do; four by four need three."""
        assert found("e-mcast", (3, 3), "Definition 3, by links").found["dans"] == 2
        one = found("e-mcast", (4, 4), "Definition 3, by links")
        assert (one.found["dans"], one.found["sets"]) == (3, None)
        assert [each["complete"] for each in one.certificate["refused"]] == [True, True]
        assert "not searched: worms use 208 links while they hold a consumption channel" in (
            found("e-mcast", (8, 8), "Definition 3, by links").sentence)


def rises(order, scheme, shape, classes):
    """Return whether the requests of all worms of all multicasts rise in an order of channels."""
    place = {name: number for number, name in enumerate(order)}
    assert len(place) == len(order)
    step = PLAIN[scheme][1]
    names = dict(zip((tuple(link) for link in mesh(shape).links[:, [0, 2]].tolist()), link_names(mesh(shape)),
                     strict=True))
    channels = [Resource.parse(name) for name in order]

    def of(request):
        return place[f"link:{names[request]}:*"]

    for source, destinations in reference.multicasts(shape[0] * shape[1], ALL):
        for _, _, visits in PLAIN[scheme][0](shape, source, destinations):
            at = -1
            for request in dependency_reference.requests(step, shape, (source, visits)):
                if request[0] == "stop":
                    following = place[f"cons:{request[1]}:{classes(*request[2:])}"]
                elif request[0] == "end":
                    following = max(number for number, one in enumerate(channels)
                                    if one.kind == "cons" and one.where == str(request[1]))
                else:
                    following = of(request)
                if following <= at:
                    return False
                at = following
    return True


class TestCertificates:
    @SCHEME
    @pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
    def test_orders_rise_along_every_worm(self, scheme, shape):
        """Against all multicasts in plain Python: Lemma 2, Definition 3 in both forms, and the fewest classes."""
        words = directions(shape)

        def by_set(text):
            blocks = [block.split(",") for block in text.split("/")]

            def of(link):
                return next((k for k, block in enumerate(blocks) if {word(link) for word in words} & {*block}), None)

            return lambda last, following: of(following) if of(last) is None else of(last)

        def by_links(text):
            blocks = [block.split(",") for block in text.split("/")]

            def of(link):
                return next((k for k, block in enumerate(blocks) if f"{link[0]}>{link[1]}" in block), None)

            return lambda last, following: of(following) if of(last) is None else of(last)

        lemma, third, links, need = (found(scheme, shape, name) for name in (
            "Lemma 2", "Definition 3", "Definition 3, by links", "Classes needed"))
        least = ConsumptionClasses.parse(need.found["maps"][0])
        for proof, classes in (
            (lemma.certificate, by_set(found(scheme, shape, "Definition 2").found["dans"])),
            (third.certificate["channels"], by_set(third.found["sets"][0])),
            (links.certificate["channels"], by_links(links.certificate["set"]["dans"])),
            (need.certificate["channels"], dependency_reference.direction_class(shape, least.networks, least.by)),
        ):
            assert proof["falls"] == []
            assert rises(proof["order"], scheme, shape, classes)
            assert not rises(proof["order"][::-1], scheme, shape, classes)

    @SCHEME
    def test_the_steps_are_all_dependencies(self, scheme):
        """And where all links have one rank below that of all channels, those to a link fall."""
        one = subject(scheme, (3, 3))
        classes = dependency_reference.direction_class((3, 3), one.maps[0].networks, one.maps[0].by)
        step = PLAIN[scheme][1]
        requests = [dependency_reference.requests(step, (3, 3), (worm[0], worm[1:])) for worm in worms(scheme, (3, 3))]
        requests += [dependency_reference.requests(step, (3, 3), (u, [v]))
                     for u in range(9) for v in range(9) if u != v]
        edges = dependency_reference.dependencies(requests, len(one.maps[0]), classes)
        ranks = Ranking(np.zeros(24, int), np.ones((9, len(one.maps[0])), int))
        steps, falls = ranks.check(one.parts, one.maps[0])
        assert (steps, len(falls)) == (len(edges), sum(isinstance(end[0], int) for _, end in edges))

    def test_cycles_of_what_is_refused(self):
        one = found("e-mcast", (4, 4), "Classes needed")
        assert (len(one.found["maps"]), len(one.certificate["refused"])) == (4, 8)
        assert all(each["cycle"] for each in one.certificate["refused"])
        (only,) = found("column-path", (4, 4), "Classes needed").certificate["refused"]
        assert len(only["cycle"]) == 4


class TestNeed:
    @pytest.mark.parametrize("shape", [(3, 3), (4, 4), (8, 8)])
    @pytest.mark.parametrize(("scheme", "named"), [
        ("column-path", "Corollary 3"), ("dual-path", "Corollary 4"), ("multipath", "Corollary 4")])
    def test_corollaries_1_3_and_4(self, scheme, named, shape):
        one = found(scheme, shape, named)
        assert (one.holds, one.agrees, one.found) == (True, True, {"enough": {"1": False, "2": True}})
        assert found(scheme, shape, "Corollary 1", "3.1").found == {"enough": {"1": False}}
        assert found(scheme, shape, "Classes needed").found["fewest"] == 2

    @pytest.mark.parametrize(("shape", "fewest"), [((3, 3), 2), ((4, 4), 3), ((8, 8), 3)])
    def test_e_mcast_does_not_require_four(self, shape, fewest):
        assert found("e-mcast", shape, "e-mcast").holds is True
        required = found("e-mcast", shape, "e-mcast", "4")
        assert (required.holds, required.agrees, required.found) == (False, False, {"enough": {"3": True}})
        needed = found("e-mcast", shape, "Classes needed").found
        assert (needed["stated"], needed["free"], needed["fewest"]) == (4, True, fewest)

    def test_individual_takes_one(self):
        one = found("individual", (8, 8), "individual", "4")
        assert (one.holds, one.agrees, one.sentence) == (True, True, "1 channel suffices")

    def test_lines_differ_from_what_is_said_of_meshes(self):
        one = found("column-path", (1, 8), "Corollary 3")
        assert (one.holds, one.agrees, one.sentence) == (False, False, "1 channel suffices. 2 channels suffice")


class TestWhatDoesNotApply:
    @pytest.mark.parametrize("name", ["torus:4x4", "min:b=2,stages=3", "irregular:seed=7"])
    def test_unicasts_on_any_network(self, name):
        made = explain(topology(name), SCHEMES["individual"])
        assert [one.holds for one in made if one.statement in ("Theorem 1", "Lemma 1", "Lemma 2")] == [
            False, True, True]
        assert made[-1].sentence == "1 class suffices"
        assert not any(one.paper for one in made)

    def test_links_with_a_cycle(self):
        made = {one.statement: one for one in explain(
            mesh((4, 4)), SCHEMES["dual-path"], others=[(SCHEMES["individual"], None)])}
        assert made["Theorem 1"].holds is True
        for name in ("Lemma 1", "Corollary 2", "Definition 2", "Lemma 2", "Definition 3", "Definition 3, by links"):
            assert made[name].holds is None
            assert "section 3.2 assumes that the links alone cause no deadlock" in made[name].sentence
        assert made["Classes needed"].sentence.startswith(
            "no number of classes suffices if classes consist of directions. The map in use has 2 classes and a cycle")

    def test_worms_with_a_choice(self):
        made = {one.statement: one for one in explain(
            mesh((3, 3)), SCHEMES["individual"], relation=ADAPTIVE, others=[(SCHEMES["dual-path"], None)])}
        assert made["Classes needed"].sentence.startswith("not decided: worms choose between channels")
        alone = explain(mesh((3, 3)), SCHEMES["individual"], relation=ADAPTIVE)
        assert alone[-1].sentence == "1 class suffices"

    def test_schemes_with_maps_of_their_own(self):
        made = {one.statement: one for one in explain(
            mesh((4, 4)), SCHEMES["e-mcast"], others=[(SCHEMES["column-path"], None)])}
        assert made["Lemma 2"].sentence == "does not apply: each scheme has its own map of classes"
        assert made["Definition 3"].found["dans"] == 3
        assert made["Classes needed"].found["fewest"] == 3

    def test_any_channel_for_every_worm(self):
        made = {one.statement: one for one in explain(mesh((3, 3)), SCHEMES["dual-path"], classes=ConsumptionClasses())}
        assert made["Definition 2"].holds is False
        assert made["Classes needed"].sentence == (
            "1 class does not suffice. 2 classes suffice (up/down:next). 1 class does not suffice (a cycle of 4)")
