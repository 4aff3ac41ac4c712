import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import (
    AT_ONCE,
    NO_CLASS,
    SCHEMES,
    AddressList,
    ConsumptionClasses,
    Relation,
    Scheme,
    Unicast,
    WormcastError,
    topology,
)
from wormcast.algorithms.registry import Registry

from . import reference

IN_TWO_DIMENSIONS_ONLY = {"multipath", "multipath-lmn"}


TWO = st.just(2)
UP_TO_FOUR = st.integers(2, 4)


def shapes(dimensions):
    """Shapes of meshes of up to 100 nodes, rows and columns of one node among them."""
    return dimensions.flatmap(
        lambda count: st.lists(st.integers(1, 9 if count == 2 else 4), min_size=count, max_size=count).map(tuple)
    ).filter(lambda shape: 2 <= math.prod(shape) <= 100)


@st.composite
def batches(draw, dimensions=UP_TO_FOUR):
    """A mesh and messages (source, destinations in any order)."""
    shape = draw(shapes(dimensions))
    nodes = math.prod(shape)
    messages = []
    for _ in range(draw(st.integers(0, 5))):
        order = draw(st.permutations(range(nodes)))
        messages.append((order[0], order[1 : 1 + draw(st.integers(1, nodes - 1))]))
    return shape, messages


def mesh(*shape):
    return topology(f"mesh:{'x'.join(map(str, shape))}")


def run_batch(scheme, network, messages):
    offsets = np.cumsum([0, *(len(destinations) for _, destinations in messages)])
    destinations = [node for _, nodes in messages for node in nodes]
    return scheme.batch(network, [source for source, _ in messages], offsets, destinations)


def test_every_scheme_has_a_reference():
    on_meshes = [name for name in SCHEMES if not SCHEMES[name].kinds or "mesh" in SCHEMES[name].kinds]
    assert on_meshes == sorted(reference.SCHEMES) == sorted(reference.CLASSES)


@pytest.mark.parametrize("name", reference.SCHEMES)
@given(data=st.data())
@settings(deadline=None)  # the first example may compile
def test_compiled_batches_equal_the_reference(name, data):
    shape, messages = data.draw(batches(TWO if name in IN_TWO_DIMENSIONS_ONLY else UP_TO_FOUR))
    order, step = reference.SCHEMES[name]
    scheme, network = SCHEMES[name], mesh(*shape)
    worms = run_batch(scheme, network, messages)
    routes = scheme.relation.on(network)
    hops = routes.hops(worms)
    classes = scheme.classes_on(network).of_visits(routes, worms)

    assert worms.messages == len(messages)
    assert len(worms) == worms.message_offsets[-1]
    assert worms.destination_offsets[-1] == len(worms.destinations)
    for message, (source, destinations) in enumerate(messages):
        first, end = worms.message_offsets[message : message + 2].tolist()
        expected = order(shape, source, destinations)
        assert [(worms.source[w], worms.visits(w).tolist()) for w in range(first, end)] == [
            (sender, visits) for sender, _, visits in expected
        ]
        assert worms.after[first:end].tolist() == [
            AT_ONCE if receipt is None else first + receipt for _, receipt, _ in expected
        ]
        senders = [sender for sender, _, _ in expected]
        assert worms.rank[first:end].tolist() == [senders[:w].count(sender) for w, sender in enumerate(senders)]
        for w, (sender, _, visits) in enumerate(expected, start=first):
            path = reference.path(step, shape, sender, visits)
            assert hops[w] == len(path) - 1
            taken = classes[worms.destination_offsets[w] : worms.destination_offsets[w + 1]].tolist()
            assert [None if one == NO_CLASS else one for one in taken] == reference.classes(name, shape, path, visits)


@pytest.fixture(scope="module")
def many():
    """10 000 messages on 8x8 with 1 to 19 destinations, as in [Boppana98], section 4.1."""
    random = np.random.default_rng(1)
    nodes = random.permuted(np.tile(np.arange(64), (10_000, 1)), axis=1)
    return [(row[0], row[1 : 1 + count]) for row, count in zip(nodes, random.integers(1, 20, 10_000), strict=True)]


@pytest.mark.parametrize(
    ("name", "mean", "copies"),
    [
        ("individual", 5.332, 10),  # the paper prints 5.35
        ("column-path", 3.749, None),  # 3.76
        ("column-path-literal", 3.843, 6.80),
        ("e-mcast", 3.70, 6.29),  # 3.72
        ("multipath", 2.795, None),  # 2.81
        ("multipath-lmn", 2.759, 2.67),
        ("dual-path", 3.007, 1.73),
    ],
)
def test_the_mean_hops_a_destination_and_copies_on_8x8(many, name, mean, copies):
    """Sum of hops over sum of destinations; [Boppana98], 4.1, where it prints one, is 0.3 to 0.6 % higher."""
    network = mesh(8, 8)
    worms = run_batch(SCHEMES[name], network, many)
    hops = SCHEMES[name].relation.on(network).hops(worms)
    assert hops.sum() / len(worms.destinations) == pytest.approx(mean, rel=0.015)
    if copies is not None:
        assert len(worms) / len(many) == pytest.approx(copies, rel=0.015)


@given(batch=batches())
@settings(deadline=None)
def test_a_column_takes_at_most_two_worms_and_e_mcast_never_more_or_longer_ones_than_column_path(batch):
    shape, messages = batch
    network = mesh(*shape)
    columns = math.prod(shape[1:])
    copies, hops = [], []
    for name in ("e-mcast", "column-path", "column-path-literal"):
        worms = run_batch(SCHEMES[name], network, messages)
        copies.append(np.diff(worms.message_offsets))
        each = SCHEMES[name].relation.on(network).hops(worms)
        hops.append(np.add.reduceat(each, worms.message_offsets[:-1]) if messages else each)
        if name == "e-mcast":
            continue
        for first, end in itertools.pairwise(worms.message_offsets):
            served = [set(worms.visits(w) % columns) for w in range(first, end)]
            assert all(len(one) == 1 for one in served)
            assert all(served.count(one) <= 2 for one in served)
    assert (np.diff(copies, axis=0) >= 0).all()
    assert (np.diff(hops, axis=0) >= 0).all()


@given(batch=batches(TWO))
@settings(deadline=None)
def test_multipath_sends_at_most_four_worms_and_its_split_leaves_no_path_longer(batch):
    """Straight by R a worm takes as many hops as through the neighbour that its part is named after."""
    shape, messages = batch
    network = mesh(*shape)
    routes = SCHEMES["multipath"].relation.on(network)
    for name in IN_TWO_DIMENSIONS_ONLY:
        assert (np.diff(run_batch(SCHEMES[name], network, messages).message_offsets) <= 4).all()
    worms = run_batch(SCHEMES["multipath-lmn"], network, messages)
    labels = network.labels
    for w in range(len(worms)):
        source, first = int(worms.source[w]), int(worms.visits(w)[0])
        row, column = divmod(source, shape[1])
        beside = {
            node
            for node in reference.neighbours(shape, source)
            if node // shape[1] == row and (labels[node] > labels[source]) == (labels[first] > labels[source])
        }
        for node in beside:
            if (first % shape[1] - column) * (node % shape[1] - column) > 0:
                assert len(routes.path(node, [first])) + 1 == len(routes.path(source, [first]))


def test_worms_of_multipath_lmn_share_their_first_link_in_a_quarter_of_multicasts():
    """The original's leave each by a neighbour of its own; the share is printed in the class's docstring."""
    network, scheme, random = mesh(8, 8), SCHEMES["multipath-lmn"], np.random.default_rng(0)
    nodes = random.permuted(np.tile(np.arange(64), (10_000, 1)), axis=1)[:, :11]
    worms = run_batch(scheme, network, [(row[0], row[1:]) for row in nodes])
    first_ports = scheme.relation.on(network).table[worms.source, worms.destinations[worms.destination_offsets[:-1]]]
    shared = [len(set(ports)) < len(ports) for ports in np.split(first_ports, worms.message_offsets[1:-1])]
    assert np.mean(shared) == pytest.approx(0.245, abs=0.015)


@given(batch=batches())
@settings(deadline=None)
def test_u_mesh_takes_the_fewest_steps_and_no_two_worms_of_a_step_share_a_link(batch):
    shape, messages = batch
    scheme, network = SCHEMES["u-mesh"], mesh(*shape)
    routes = scheme.relation.on(network)
    worms = run_batch(scheme, network, messages)
    step = np.zeros(len(worms), int)
    for message, (_, destinations) in enumerate(messages):
        links = {}
        for w in range(*worms.message_offsets[message : message + 2]):
            step[w] = (0 if worms.after[w] == AT_ONCE else step[worms.after[w]]) + 1 + worms.rank[w]
            path = itertools.pairwise(routes.path(int(worms.source[w]), worms.visits(w).tolist()))
            links.setdefault(step[w], []).extend(path)
        assert max(links) == math.ceil(math.log2(len(destinations) + 1))
        assert all(len(set(used)) == len(used) for used in links.values())


def test_dual_path_in_three_dimensions_is_the_two_phase_example_of_paper_003():
    """4x4x4 from label 25; 28 hops up and 23 down."""
    cube = mesh(4, 4, 4)
    up = [28, 31, 35, 38, 40, 42, 50, 54, 56, 59, 61]
    down = [23, 21, 19, 17, 15, 11, 9, 5, 3, 0]
    assert cube.node("@25") == cube.node("1.1.1")
    worms = run_batch(SCHEMES["dual-path"], cube, [(cube.node("@25"), cube.node_of_label[[*down, *up]])])
    assert [cube.labels[worms.visits(w)].tolist() for w in range(2)] == [up, down]
    assert SCHEMES["dual-path"].relation.on(cube).hops(worms).tolist() == [28, 23]


def test_every_scheme_states_what_it_is():
    for name, scheme in SCHEMES.items():
        assert scheme.name == name
        assert isinstance(scheme.relation, Relation)
        on_tori = "torus" in scheme.kinds
        network = topology("torus:4x4") if on_tori else mesh(6, 6)
        assert scheme.header is (Unicast if on_tori or name in {"individual", "u-mesh"} else AddressList)
        assert "\n" not in scheme.description + scheme.form(network)
        assert scheme.provenance.startswith(("Boppana et al. 1998, ", "Hou, Wang and Hsu 1998, ", "reconstructed"))
        assert on_tori or scheme.form(network).startswith("2-D, ")


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("individual", (6, 6), ":next"),
        ("u-mesh", (4, 4, 4), ":next"),
        ("dual-path", (4, 4, 4), "up/down:next"),
        ("multipath", (6, 6), "up/down:next"),
        ("multipath-lmn", (6, 6), "up/down:next"),
        ("column-path", (4, 4, 4), "0+/0-:next"),
        ("column-path-literal", (6, 6), "0+/0-:next"),
        ("e-mcast", (6, 6), "1+/1-/0+/0-:last"),
        ("e-mcast", (1, 6), "1+/1-:last"),
        ("e-mcast", (4, 4, 4), "2+/2-/1+/1-/0+/0-:last"),
    ],
)
def test_the_consumption_classes_of_each_scheme(name, shape, classes):
    on = SCHEMES[name].classes_on(mesh(*shape))
    assert str(on) == classes
    assert on == ConsumptionClasses.parse(classes)
    assert on.channels == max(1, len(on))


@pytest.mark.parametrize(
    ("name", "shape", "form"),
    [
        ("individual", (6, 6), "2-D, as printed"),
        ("column-path", (4, 4, 4), "3-D: columns are the lines along dimension 0, which e-cube routes last"),
        ("dual-path", (2, 2, 2, 2), "4-D: the same by the labels of the reflected path"),
    ],
)
def test_a_scheme_says_which_form_it_takes(name, shape, form):
    assert SCHEMES[name].form(mesh(*shape)).startswith(form)


SQUARE = topology("mesh:6x6")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 36], [0, 1, 2], [1, 2]), r"message 1: node 36 is outside mesh:6x6, ids go from 0 to 35"),
        (([0, -1], [0, 1, 2], [1, 2]), r"message 1: node -1 is outside mesh:6x6, ids go from 0 to 35"),
        (([0, 1], [0, 1, 2], [1, 99]), r"message 1: node 99 is outside mesh:6x6, ids go from 0 to 35"),
        (([0, 1], [0, 1, 1], [1]), r"message 1: no destination is given, a multicast has from one"),
        (([0, 20], [0, 1, 3], [1, 2, 20]), r"message 1: node 20 \(3\.2\) is the source and among the destin"),
        (([0, 0], [0, 1, 3], [20, 20, 20]), r"message 1: node 20 \(3\.2\) is twice among the destinations"),
        (
            ([0], [0, 1, 2], [1, 2]),
            r"batch: \[3\] destination offsets do not divide \[2\] destinations among \[1\]",
        ),
        (([0], [0, 1], [1, 2]), r"batch: \[2\] destination offsets do not divide"),
        (([0], [1, 1], [1]), r"batch: \[2\] destination offsets do not divide"),
        (([0, 1], [0, 2, 1], [3]), r"batch: \[3\] destination offsets do not divide"),
    ],
)
def test_a_batch_that_is_no_multicast_is_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(WormcastError, match=sentence):
        SCHEMES["dual-path"].batch(SQUARE, *arguments)


@pytest.mark.parametrize("name", sorted(IN_TWO_DIMENSIONS_ONLY))
def test_multipath_refuses_more_dimensions(name):
    with pytest.raises(
        WormcastError, match=f"scheme {name}: mesh:2x2x2 has 3 dimensions, it is defined on meshes of 2"
    ):
        SCHEMES[name].check(mesh(2, 2, 2))


def test_a_scheme_refuses_other_kinds_of_topology():
    class Elsewhere(type(SCHEMES["dual-path"])):
        name = "elsewhere"
        kinds = ("torus", "min")

    with pytest.raises(
        WormcastError, match="scheme elsewhere: it is not defined on mesh:6x6, allowed are torus, min"
    ):
        Elsewhere().check(SQUARE)


def test_an_unknown_scheme_is_refused_with_the_names_there_are():
    with pytest.raises(
        WormcastError, match=r"scheme: 'dualpath' is unknown, there are .*dual-path.*individual"
    ):
        SCHEMES["dualpath"]


class TestRegistry:
    """Names added here or announced by other packages."""

    def registry(self, monkeypatch, **announced):
        from importlib.metadata import EntryPoint

        points = [EntryPoint(name, value, "group") for name, value in announced.items()]
        monkeypatch.setattr("wormcast.algorithms.registry.entry_points", lambda group: points)
        return Registry("scheme", Scheme, "group")

    def test_an_entry_point_may_name_a_class(self, monkeypatch):
        registry = self.registry(monkeypatch, theirs="wormcast.algorithms.schemes.dual_path:DualPath")
        assert list(registry) == ["theirs"]
        assert len(registry) == 1
        assert "theirs" in registry
        assert registry["theirs"].name == "dual-path"
        assert registry["theirs"] is registry["theirs"]

    def test_a_broken_entry_point_is_refused_when_asked_for(self, monkeypatch):
        registry = self.registry(monkeypatch, broken="no.such.module:thing", other="builtins:dict")
        assert list(registry) == ["broken", "other"]
        with pytest.raises(
            WormcastError, match=r"scheme: 'broken' could not be loaded from no\.such\.module:thing"
        ):
            registry["broken"]
        with pytest.raises(WormcastError, match=r"scheme: builtins:dict gives a dict, it must give a Scheme"):
            registry["other"]

    def test_a_name_is_given_once(self, monkeypatch):
        registry = self.registry(monkeypatch)
        registry.add("mine", SCHEMES["dual-path"])
        with pytest.raises(
            WormcastError, match="scheme: 'mine' is there already, a new one needs another name"
        ):
            registry.add("mine", SCHEMES["dual-path"])


@pytest.mark.parametrize("name", reference.SCHEMES)
def test_worms_do_not_depend_on_the_order_of_destinations(name):
    """A checkpoint keeps the worms alone: what is planned again for their destinations must be the same."""
    network, random = mesh(6, 6), np.random.default_rng(1)
    nodes = [random.permutation(network.nodes)[:random.integers(2, 20)] for _ in range(300)]
    sources, sets = [some[0] for some in nodes], [some[1:] for some in nodes]
    offsets = np.cumsum([0, *map(len, sets)])
    worms = SCHEMES[name].batch(network, sources, offsets, np.concatenate(sets))
    again = SCHEMES[name].batch(network, worms.source[worms.message_offsets[:-1]], offsets, worms.destinations)
    for field in ("message_offsets", "source", "rank", "after", "destination_offsets", "destinations"):
        assert np.array_equal(getattr(worms, field), getattr(again, field))
