from dataclasses import replace

import numpy as np
import pytest

from wormcast.algorithms import (
    AT_ONCE,
    E_CUBE,
    HAMILTONIAN,
    NO_CLASS,
    ConsumptionClasses,
    Relation,
    Topology,
    WormcastError,
    Worms,
    topology,
)

MESH = topology("mesh:3x3")
COLUMNS = ConsumptionClasses((("0+",), ("0-",)))


def worms(*each):
    """Worms, each (source, destination, destination, ...)."""
    return Worms(
        message_offsets=np.arange(len(each) + 1),
        source=np.array([source for source, *_ in each], np.int32),
        rank=np.zeros(len(each), np.int32),
        after=np.full(len(each), AT_ONCE),
        destination_offsets=np.cumsum([0, *(len(visits) for _, *visits in each)]),
        destinations=np.array([node for _, *visits in each for node in visits], np.int32),
    )


@pytest.mark.parametrize(
    ("classes", "relation", "worm", "taken"),
    [
        # along row 1 to the middle column, then down it
        (COLUMNS, E_CUBE, (3, 4, 7), [0, NO_CLASS]),
        (COLUMNS, E_CUBE, (5, 4, 1), [1, NO_CLASS]),
        # the next hop alone counts: back along row 1 before it goes up
        (COLUMNS, E_CUBE, (0, 3, 1), [0, NO_CLASS]),
        # the next hop but not the last one, the last one but not the next, neither
        (ConsumptionClasses((("0+",), ("1+",))), E_CUBE, (3, 4, 7), [0, NO_CLASS]),
        (ConsumptionClasses((("0-",), ("1+",))), E_CUBE, (3, 4, 7), [1, NO_CLASS]),
        (ConsumptionClasses((("0-",), ("1-",))), E_CUBE, (3, 4, 7), [NO_CLASS, NO_CLASS]),
        (ConsumptionClasses((("0+",), ("1+",)), by="last"), E_CUBE, (3, 4, 7), [1, NO_CLASS]),
        (ConsumptionClasses((("0+",),), by="last"), E_CUBE, (3, 4, 7), [NO_CLASS, NO_CLASS]),
        (ConsumptionClasses((("up",), ("down",))), HAMILTONIAN, (0, 1, 2, 6), [0, 0, NO_CLASS]),
        (ConsumptionClasses((("up",), ("down",))), HAMILTONIAN, (6, 4, 5, 0), [1, 1, NO_CLASS]),
        (ConsumptionClasses(), HAMILTONIAN, (0, 1, 2, 6), [NO_CLASS] * 3),
        (ConsumptionClasses((("0+", "0-", "1+", "1-"),)), E_CUBE, (0, 1, 4), [0, NO_CLASS]),
    ],
)
def test_the_class_at_each_visit(classes, relation, worm, taken):
    assert classes.of_visits(relation.on(MESH), worms(worm)).tolist() == taken


def test_worms_do_not_see_each_other_s_hops():
    taken = COLUMNS.of_visits(E_CUBE.on(MESH), worms((3, 4, 7), (0, 1, 2), (8, 5, 2)))
    assert taken.tolist() == [0, NO_CLASS, NO_CLASS, NO_CLASS, 1, NO_CLASS]
    assert COLUMNS.of_visits(E_CUBE.on(MESH), worms()).tolist() == []


def test_destinations_at_one_switch_take_the_class_of_the_next_hop_from_there():
    """Nodes 1 and 2 share switch 1 of a line of three switches; links to the right have class 0."""
    line = Topology(
        name="line", kind="mesh", shape=(4,),
        ports=(("on", "back", "a", "b"),) * 3,
        links=np.array([[0, 0, 1, 1], [1, 0, 2, 1]], np.int32),
        injections=np.array([[0, 2], [1, 2], [1, 3], [2, 2]], np.int32),
        consumptions=np.array([[0, 2], [1, 2], [1, 3], [2, 2]], np.int32),
        coordinates=np.arange(4, dtype=np.int32).reshape(4, 1),
        labels=np.arange(4, dtype=np.int32),
    )  # fmt: skip

    class Onwards(Relation):
        name, description = "onwards", "for tests"

        def table(self, topology):
            return np.array([[2, 0, 0, 0], [-1, 2, 3, 0], [-1, -1, -1, 2]], np.int8)

    routes = Onwards().on(line)
    for by in ("next", "last"):
        classes = ConsumptionClasses((("0+",),), by=by)
        assert classes.of_visits(routes, worms((0, 1, 2, 3))).tolist() == [0, 0, NO_CLASS]
        assert classes.of_visits(routes, worms((1, 2, 3))).tolist() == [0 if by == "next" else NO_CLASS, NO_CLASS]


def test_routes_that_do_not_lead_there_are_refused():
    class Nowhere(Relation):
        name, description = "nowhere", "for tests"

        def table(self, topology):
            return np.full((2, 2), -1, np.int8)

    with pytest.raises(WormcastError, match="relation nowhere: it does not lead from switch 0 to node 1"):
        COLUMNS.of_visits(Nowhere().on(topology("mesh:1x2")), worms((0, 1)))


def test_the_links_of_each_direction():
    classes = ConsumptionClasses((("1+", "0-"), ("0+",)))
    named = {
        (int(start), int(end)): int(one)
        for (start, _, end, _), one in zip(MESH.links, classes.of_channels(MESH), strict=True)
    }
    assert [named[hop] for hop in ((0, 1), (1, 0), (0, 3), (3, 0))] == [0, NO_CLASS, 1, 0]
    up = ConsumptionClasses((("up",), ("down",))).of_channels(topology("mesh:2x3x2"))
    assert sorted(up.tolist()) == [0] * (len(up) // 2) + [1] * (len(up) // 2)


def test_the_virtual_channels_of_each_direction():
    """Worms that came on one class of virtual channels, on the other, or on any."""
    classes = ConsumptionClasses.parse("1+.0,0-.1/1+.1/0+:last")
    links = [(int(start), int(end)) for start, _, end, _ in MESH.links]
    named = dict(zip(links, classes.of_channels(MESH, 2).reshape(-1, 2).tolist(), strict=True))
    assert [named[hop] for hop in ((0, 1), (1, 0), (0, 3), (3, 0))] == [
        [0, 1], [NO_CLASS, NO_CLASS], [2, 2], [NO_CLASS, 0]]
    assert [classes.of_direction("1+", vc) for vc in (0, 1, None)] == [0, 1, NO_CLASS]
    assert (classes.by_vc, ConsumptionClasses.parse("0+/0-:last").by_vc) == (True, False)


def test_labels_will_do_where_there_are_no_dimensions():
    ring = replace(MESH, name="ring:9", kind="ring")
    up = ConsumptionClasses.parse("up/down")
    assert up.of_channels(ring).tolist() == up.of_channels(MESH).tolist()
    assert set(ConsumptionClasses().of_channels(ring).tolist()) == {NO_CLASS}


@pytest.mark.parametrize(
    ("by", "last", "following", "taken"),
    [
        ("next", 0, 1, 1),
        ("next", 0, NO_CLASS, 0),
        ("next", NO_CLASS, 1, 1),
        ("next", NO_CLASS, NO_CLASS, NO_CLASS),
        ("last", 0, 1, 0),
        ("last", NO_CLASS, 1, NO_CLASS),
    ],
)
def test_the_rule(by, last, following, taken):
    classes = ConsumptionClasses((("0+",), ("0-",)), by)
    assert classes.at_stop(last, following) == taken
    assert classes.at_stop(np.array([last, 0]), np.array([following, 0])).tolist() == [taken, 0]


@pytest.mark.parametrize("text", ["0+/0-:next", "1+,0+/1-/0-:last", "up/down:next", ":next", "1+.0/1+.11,0-:last"])
def test_what_is_written_is_read_again(text):
    assert str(ConsumptionClasses.parse(text)) == text


def test_of_a_direction_and_how_many():
    classes = ConsumptionClasses.parse("1+,0+/1-")
    assert [classes.of_direction(one) for one in ("0+", "1+", "1-", "0-")] == [0, 0, 1, NO_CLASS]
    assert (len(classes), classes.channels) == (2, 2)
    assert (len(ConsumptionClasses()), ConsumptionClasses().channels) == (0, 1)


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        *(
            (lambda one=one: ConsumptionClasses(((one,),)), f"classes: {one[:9]}.* is not a direction. Allowed: 0")
            for one in ("x", "", "²-", "00-", "-", "0", "9" * 5000 + "-")
        ),
        (lambda: ConsumptionClasses((("0+",), ("0+",))), r"direction 0\+ occurs twice. Allowed: each direction"),
        (lambda: ConsumptionClasses((("0+",), ())), "a class has no direction. Allowed: each direction"),
        *((lambda one=one: ConsumptionClasses.parse(f"{one}:last"), "is not a direction")
          for one in ("0+.", "0+.x", "0+.01")),
        (lambda: ConsumptionClasses.parse("0+.1/0+.1:last"), r"direction 0\+.1 occurs twice. Allowed: each direction"),
        (lambda: ConsumptionClasses.parse("0+.1/0+:last"), r"direction 0\+ occurs twice. Allowed: each direction"),
        (lambda: ConsumptionClasses.parse("0+.1/up.1:last"), "directions of labels .up, down. and of"),
        (lambda: ConsumptionClasses.parse("0+.1"),
         r"0[+].1 is not valid: the virtual channel of the next hop is not known in advance. Allowed: the"),
        (lambda: ConsumptionClasses.parse("0+.2:last").of_channels(MESH, 2),
         r"'0[+].2' is not valid: links .* have 2 classes of virtual channels. Allowed: 0[+], 0[+].0, 0[+].1.$"),
        (lambda: ConsumptionClasses.parse("0+:first"),
         r"classes: 0[+]:first is not valid: 'first' is not a hop. Allowed: next or last after the colon"),
        (
            lambda: ConsumptionClasses.parse("0-").of_channels(replace(MESH, name="mine:9", kind="mine")),
            'mine:9 has no directions of dimensions, which meshes, tori and rings have. Allowed: up, down, "".$',
        ),
        (
            lambda: ConsumptionClasses.parse("up").of_channels(replace(MESH, name="ring:9", kind="ring", labels=None)),
            "classes: 'up' is not valid: ring:9 has no Hamiltonian labels. Allowed: directions of dimensions",
        ),
        (
            lambda: ConsumptionClasses.parse("2+").of_channels(MESH),
            "classes: '2[+]' is not a direction of mesh:3x3. Allowed: 0[+], 0-, 1[+], 1-.$",
        ),
    ],
)
def test_bad_classes_are_refused_in_a_sentence(action, sentence):
    with pytest.raises(WormcastError, match=sentence):
        action()


def test_labels_and_dimensions_do_not_mix():
    with pytest.raises(WormcastError, match=r"classes: 0\+/up is not valid: directions of labels"):
        ConsumptionClasses.parse("0+/up:next")
