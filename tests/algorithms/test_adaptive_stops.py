"""Worms of several destinations by adaptive relations: plans and verdicts against plain Python on small meshes.

A worm is (source, stops); where it may go is said here once more, by coordinates alone. Resources are ("link", start,
end, virtual channel) and ("cons", node, channel).
"""

from functools import cache
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, ConsumptionClasses, topology
from wormcast.algorithms.channels import Resource
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import ADAPTIVE, E_CUBE, E_CUBE_ADAPTIVE

from . import network_reference as reference

ESCAPE, ADAPTS = 0, 1
RELATIONS = pytest.mark.parametrize("relation", [ADAPTIVE, E_CUBE_ADAPTIVE], ids=lambda relation: relation.name)
INPUTS = "1+.0/1+.1/1-.0/1-.1/0+.0/0+.1/0-.0/0-.1:last"


def place(mesh, node):
    return tuple(mesh.coordinates[node].tolist())


@cache
def hops(mesh, relation, at, to):
    """Channels that a worm may take from one node towards another, the one to escape by last."""
    here, there = place(mesh, at), place(mesh, to)
    along = [d for d in range(len(here)) if here[d] != there[d]]

    def channel(d, vc):
        beside = list(here)
        beside[d] += 1 if there[d] > here[d] else -1
        return "link", at, mesh.node(".".join(map(str, beside))), vc

    adapts = along if len(along) > 1 or relation is ADAPTIVE else []
    return [*(channel(d, ADAPTS) for d in adapts), channel(along[-1], ESCAPE)]


def direction(mesh, channel):
    _, start, end, vc = channel
    ends = zip(place(mesh, start), place(mesh, end), strict=True)
    [(d, step)] = [(d, b - a) for d, (a, b) in enumerate(ends) if a != b]
    return f"{d}{'+' if step > 0 else '-'}", vc


def group(mesh, relation, classes, consumption, came, at, to):
    """The consumption channel that a worm reserves at a stop."""
    def of(channel):
        name, vc = direction(mesh, channel)
        found = [k for k, network in enumerate(classes.networks) if name in network or f"{name}.{vc}" in network]
        return found[0] if found else None

    following = of(hops(mesh, relation, at, to)[-1])
    chosen = of(came) if classes.by == "last" or following is None else following
    return "cons", at, chosen % consumption


@cache
def worms(mesh, scheme, most=3):
    """All worms of a scheme's multicasts to up to so many destinations."""
    found = set()
    for source in range(mesh.nodes):
        others = [node for node in range(mesh.nodes) if node != source]
        for count in range(1, most + 1):
            sets = np.array(list(combinations(others, count)))
            made = scheme.batch(mesh, np.full(len(sets), source), np.arange(len(sets) + 1) * count, sets.ravel())
            found |= {(int(made.source[row]), *made.visits(row).tolist()) for row in range(len(made))}
    return sorted(found)


def dependencies(mesh, relation, scheme, classes, consumption):
    """Return the dependencies: from a resource that a worm holds, or may have to wait for, to the next it may wait for.

    Resources are escape channels and consumption channels. Adaptive channels on the way are left out, as by Duato.
    """
    edges = set()
    for source, *stops in worms(mesh, scheme):
        waiting, seen = [(None, None, source, 0)], set()
        while waiting:
            last, came, at, goal = state = waiting.pop()
            if state in seen:
                continue
            seen.add(state)
            if at == stops[goal]:
                if goal + 1 == len(stops):
                    if last is not None:
                        edges.add((last, ("any", at)))
                    continue
                wanted = group(mesh, relation, classes, consumption, came, at, stops[goal + 1])
                if last is not None:
                    edges.add((last, wanted))
                waiting.append((wanted, came, at, goal + 1))
                continue
            for channel in hops(mesh, relation, at, stops[goal]):
                if channel[3] == ESCAPE and last is not None:
                    edges.add((last, channel))
                waiting.append((channel if channel[3] == ESCAPE else last, channel, channel[2], goal))
    return edges


def acyclic(edges, owned):
    """Return whether all channels are safe, so that no set of worms can wait for ever.

    A channel is safe if all channels requested after it are safe. ("any", node) stands for any consumption channel of
    the node, and is safe if one of the ``owned`` channels is. Channels that are open to all classes do not count: worms
    of any class may take them.
    """
    after = {}
    for start, end in edges:
        after.setdefault(start, set()).add(end)
    points = {point for edge in edges for point in edge} | {
        ("cons", end[1], k) for _, end in edges if end[0] == "any" for k in range(owned)}
    safe = set()
    while True:
        more = {point for point in points - safe if (
            any(("cons", point[1], k) in safe for k in range(owned)) if point[0] == "any"
            else after.get(point, set()) <= safe)}
        if not more:
            return safe == points
        safe |= more


CASES = [
    *(("column-path", mesh, None, consumption) for mesh in ("mesh:3x3", "mesh:4x2") for consumption in (1, 2)),
    *(("e-mcast", mesh, None, consumption) for mesh in ("mesh:3x3", "mesh:2x4") for consumption in (1, 2, 3, 4)),
    ("e-mcast", "mesh:3x3", "1+,0+/1-/0-:last", 3), ("e-mcast", "mesh:3x3", "1+,1-/0+,0-:last", 2),
    ("e-mcast", "mesh:3x3", "1+,1-,0+/0-:last", 2), ("column-path", "mesh:3x3", "0+,0-:next", 2),
    ("e-mcast", "mesh:3x3", INPUTS, 8), ("column-path", "mesh:3x3", INPUTS, 8), ("e-mcast", "mesh:3x3", INPUTS, 2),
    ("e-mcast", "mesh:3x3", "1+,1-,0+,0-:last", 1),
]


@RELATIONS
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case)))
def test_verdicts(relation, case):
    """Free where Duato's graph, drawn anew, has no cycle; else with worms that do hold all that they wait for."""
    scheme, name, text, consumption = case
    mesh, scheme = topology(name), SCHEMES[scheme]
    classes = scheme.classes_on(mesh) if text is None else ConsumptionClasses.parse(text)
    analysis = check(mesh, scheme, relation=relation, classes=classes, consumption=consumption)
    if acyclic(dependencies(mesh, relation, scheme, classes, consumption), min(consumption, len(classes))):
        assert (analysis.verdict, analysis.cycle) == ("free", ())
        # on so few nodes channels that lead to a choice alone may be in no cycle at all
        assumed = f"a header routed by {relation.name} enters a virtual channel only when its buffer is empty"
        assert analysis.assumes in ([assumed] if relation is ADAPTIVE else [assumed, ""])
    else:
        assert analysis.verdict == "deadlock"
        check_worms(mesh, relation, scheme, classes, consumption, analysis.worms)


@pytest.mark.parametrize(("scheme", "relation", "bound"), [
    ("column-path", ADAPTIVE, 5), ("column-path", E_CUBE_ADAPTIVE, 3), ("e-mcast", ADAPTIVE, 8),
    ("e-mcast", E_CUBE_ADAPTIVE, 4)])
def test_lemma_1_counts_the_virtual_channels_by_which_worms_come_to_stops_or_go_on(scheme, relation, bound):
    """All virtual channels, 2 * 4 in and 2 * 2 out along columns; or those to escape by alone. 4x4, as free as 8x8."""
    analysis = check(topology("mesh:4x4"), SCHEMES[scheme], relation=relation)
    assert (analysis.verdict, analysis.lemma1, analysis.corollary2) == ("free", bound, None)
    assert analysis.classes_minimal == (2 if scheme == "column-path" else 3)
    assert check(topology("mesh:4x4"), SCHEMES[scheme], relation=relation, ejection="all").lemma1 is None


class Careless(type(ADAPTIVE)):
    """Adaptive, but heads may enter a buffer behind the end of another worm."""

    name = "careless"
    enters_empty = False


def test_without_empty_buffers_it_is_undecided():
    analysis = check(topology("mesh:3x3"), SCHEMES["column-path"], relation=Careless())
    assert (analysis.verdict, analysis.assumes) == ("undecided", "")
    assert analysis.searched.startswith("worms can wait for each other only if heads are in buffers behind")


def test_beside_other_worms():
    """Other adaptive worms do no harm where classes go together; those of e-cube do, which may be in any channel."""
    mesh, columns, unicasts, rows = topology("mesh:4x4"), *map(SCHEMES.get, ("column-path", "individual", "e-mcast"))
    four = ConsumptionClasses.parse("1+/1-/0+/0-:last")
    for other, relation, classes, verdict in (
            (unicasts, ADAPTIVE, None, "free"), (unicasts, E_CUBE_ADAPTIVE, None, "free"),
            (unicasts, None, None, "deadlock"), (rows, ADAPTIVE, four, "free"), (rows, ADAPTIVE, None, "deadlock")):
        analysis = check(mesh, columns, relation=ADAPTIVE, others=[(other, relation)], classes=classes)
        assert (other.name, analysis.verdict) == (other.name, verdict)


def check_worms(mesh, relation, scheme, classes, consumption, held):
    """Worms of the scheme, on ways that they may take; no two hold the same, and all that any may take is held."""
    def read(text):
        one = Resource.parse(text)
        if one.kind == "cons":
            return "cons", int(one.where), int(one.number)
        return "link", *map(int, one.where.split(">")), int(one.number)

    holds = [[read(one) for one in worm.holds] for worm in held]
    taken = [one for worm in holds for one in worm]
    assert len(set(taken)) == len(taken) > 0
    known = {worm[start:] for worm in worms(mesh, scheme) for start in range(len(worm) - 1)}
    beginnings = {worm[:end] for worm in known for end in range(2, len(worm) + 1)}
    for worm, way in zip(held, holds, strict=True):
        stops, came = list(worm.stops), None
        assert (worm.source, *worm.stops) in beginnings
        at, first = way[0][1], True
        for one in way:
            if one[0] == "cons":
                assert at == stops.pop(0)
                assert one == group(mesh, relation, classes, consumption, came, at, stops[0])
            else:
                assert at == one[1]
                assert one in hops(mesh, relation, at, stops[0])
                if first:
                    assert sum(abs(a - b) for a, b in pairwise_coordinates(mesh, worm.source, at, stops[0])) == sum(
                        abs(a - b) for a, b in zip(place(mesh, worm.source), place(mesh, stops[0]), strict=True))
                came, at = one, one[2]
            first = False
        waits = {read(one) for one in worm.waits}
        assert waits <= set(taken) - set(way)
        if at != stops[0]:
            assert waits == set(hops(mesh, relation, at, stops[0]))
        elif len(stops) > 1:
            assert waits == {group(mesh, relation, classes, consumption, came, at, stops[1])}
        else:
            assert waits == {("cons", at, k) for k in range(min(consumption, len(classes)))}


def pairwise_coordinates(mesh, *nodes):
    """Coordinates side by side of one node and the next."""
    return [pair for one, other in pairwise(nodes) for pair in zip(place(mesh, one), place(mesh, other), strict=True)]


def test_what_the_reference_finds_by_e_cube_is_what_is_known():
    """Two classes for columns, three for e-mcast (on 3x3 two will do), not fewer: the reference itself."""
    mesh = topology("mesh:3x4")
    for name, consumption, text, expected in (
            ("column-path", 2, "0+/0-:next", True), ("column-path", 1, "0+/0-:next", False),
            ("e-mcast", 3, "1+,0+/1-/0-:last", True), ("e-mcast", 2, "1+,0+/1-,0-:last", False)):
        classes = ConsumptionClasses.parse(text)
        for relation in (E_CUBE, E_CUBE_ADAPTIVE):
            assert acyclic(dependencies(mesh, relation, SCHEMES[name], classes, consumption), consumption) is expected


@RELATIONS
def test_figure_3_takes_as_many_copies_in_the_same_order(relation):
    """Five and four; each goes on along shortest ways from stop to stop."""
    mesh = topology("mesh:6x6")
    for name, copies in (("column-path", 5), ("e-mcast", 4)):
        made = plan(mesh, SCHEMES[name].routed_by(relation), "3.2", "5.0,3.1,0.4,1.4,0.5,1.5,5.5")
        base = plan(mesh, SCHEMES[name], "3.2", "5.0,3.1,0.4,1.4,0.5,1.5,5.5")
        assert made.copies == copies
        assert [worm.destinations for worm in made.worms] == [worm.destinations for worm in base.worms]
        assert made.hops == base.hops


@RELATIONS
@pytest.mark.parametrize("scheme", ["column-path", "e-mcast"])
def test_only_on_the_way_to_a_column_is_there_a_choice(relation, scheme):
    """From the source, or the last destination in its row, to the first one in a column; elsewhere there is one link,
    and under e-cube-adaptive the channel to escape by alone, by which worms come to all their destinations."""
    mesh = topology("mesh:4x4")
    chose = set()
    for source, *stops in worms(mesh, SCHEMES[scheme], most=2):
        for leg, (start, to) in enumerate(pairwise([source, *stops])):
            waiting, seen = [start], set()
            while waiting:
                at = waiting.pop()
                if at == to or at in seen:
                    continue
                seen.add(at)
                options = hops(mesh, relation, at, to)
                waiting += [end for _, _, end, _ in options]
                if len({end for _, _, end, _ in options}) > 1:
                    row = place(mesh, source)[0]
                    assert place(mesh, start)[0] == row != place(mesh, to)[0]
                    assert all(place(mesh, stop)[0] == row for stop in stops[:leg])
                    chose.add(leg)
                elif relation is E_CUBE_ADAPTIVE:
                    assert {vc for *_, vc in options} == {ESCAPE}
    assert chose == ({0} if scheme == "column-path" else {0, 1})


def test_the_reference_s_hops_are_the_relation_s():
    for relation, name in product((ADAPTIVE, E_CUBE_ADAPTIVE), ("mesh:3x4", "mesh:2x2x3")):
        mesh = topology(name)
        routes = relation.on(mesh)
        for at, to in product(range(mesh.nodes), repeat=2):
            if at != to:
                codes = [int(code) for code in routes.options[0, at, to] if code >= 0]
                assert {("link", at, int(mesh.neighbours[at, code // 2]), code % 2) for code in codes} == set(
                    hops(mesh, relation, at, to))


def test_duato_s_graph_of_unicasts_is_the_other_reference_s():
    mesh = topology("mesh:3x3")
    edges = {edge for edge in dependencies(mesh, ADAPTIVE, SCHEMES["individual"], ConsumptionClasses(), 1)
             if edge[1][0] == "link"}
    assert not reference.has_cycle(edges)
    assert edges
