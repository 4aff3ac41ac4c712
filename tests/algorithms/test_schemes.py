import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import (
    AT_ONCE,
    HAMILTONIAN,
    NO_CLASS,
    SCHEMES,
    AddressList,
    BitString,
    ConsumptionClasses,
    MixedHeader,
    MultiDrop,
    Relation,
    Scheme,
    Unicast,
    WormcastError,
    topology,
)
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.registry import Registry
from wormcast.algorithms.schemes.grouping import destination_key, grouped_worms
from wormcast.algorithms.worms import MessageBatch

from . import reference

IN_TWO_DIMENSIONS_ONLY = {"multipath", "multipath-lmn"}
IN_THREE_DIMENSIONS_ONLY = {"sp", "gtdmpm"}


TWO = st.just(2)
THREE = st.just(3)
UP_TO_FOUR = st.integers(2, 4)
DIMENSIONS = dict.fromkeys(IN_TWO_DIMENSIONS_ONLY, TWO) | dict.fromkeys(IN_THREE_DIMENSIONS_ONLY, THREE)


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


def test_worms_are_made_of_groups_and_places():
    """Groups and places have gaps; the destinations of each message are in any order."""
    parts = [(4, 8, 5), (0, 3, 7), (4, 0, 8), (1, 2, 3), (0, 1, 2)]  # group, place and node of each destination
    messages = MessageBatch(np.array([0, 1], np.int32), np.array([0, 3, 5]), np.array([5, 7, 8, 3, 2], np.int32))
    keys = np.array([destination_key(group, place, node, 9) for group, place, node in parts])
    worms = grouped_worms(messages, keys, 9)
    assert [worms.visits(k).tolist() for k in range(4)] == [[7], [8, 5], [2], [3]]
    assert (worms.source.tolist(), worms.rank.tolist()) == ([0, 0, 1, 1], [0, 1, 0, 1])


def test_every_scheme_has_a_reference():
    on_meshes = [name for name in SCHEMES if not SCHEMES[name].needs_whole_packet
                 and (not SCHEMES[name].kinds or "mesh" in SCHEMES[name].kinds)]
    assert on_meshes == sorted(reference.SCHEMES) == sorted(reference.CLASSES)


@pytest.mark.parametrize("name", reference.SCHEMES)
@given(data=st.data())
@settings(deadline=None)  # the first example may compile
def test_compiled_batches_equal_the_reference(name, data):
    shape, messages = data.draw(batches(DIMENSIONS.get(name, UP_TO_FOUR)))
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
            path = reference.path(step, shape, sender, visits, reference.FIRST_HOPS.get(name))
            assert routes.path(sender, visits) == path
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
def test_worms_of_multipath_lmn_share_no_link_rise_or_fall_and_are_shortest(batch):
    """Each destination is visited once, by at most four worms. Multipath's two worms on a side may share links."""
    shape, messages = batch
    network = mesh(*shape)
    scheme = SCHEMES["multipath-lmn"]
    routes, by_r = scheme.relation.on(network), HAMILTONIAN.on(network)
    labels, links = network.labels, network.links
    worms = run_batch(scheme, network, messages)
    assert (np.diff(run_batch(SCHEMES["multipath"], network, messages).message_offsets) <= 4).all()
    assert routes.hops(worms).tolist() == by_r.hops(worms).tolist()
    for message, (_, destinations) in enumerate(messages):
        rows = range(*worms.message_offsets[message : message + 2])
        visits = [worms.visits(w).tolist() for w in rows]
        taken = [routes.channels(int(worms.source[w]), one) for w, one in zip(rows, visits, strict=True)]
        assert len(rows) <= 4
        assert sorted(node for one in visits for node in one) == sorted(destinations)
        assert len({link for one in taken for link in one}) == sum(map(len, taken))
        for one in taken:
            rises = labels[links[one, 2]] > labels[links[one, 0]]
            assert rises.all() or not rises.any()


def test_worms_of_multipath_lmn_straight_by_r_share_their_first_link_in_a_quarter_of_multicasts():
    """By its own relation none do; the share is printed in the class's docstring."""
    network, scheme, random = mesh(8, 8), SCHEMES["multipath-lmn"], np.random.default_rng(0)
    nodes = random.permuted(np.tile(np.arange(64), (10_000, 1)), axis=1)[:, :11]
    worms = run_batch(scheme, network, [(row[0], row[1:]) for row in nodes])
    first = worms.destinations[worms.destination_offsets[:-1]]
    for relation, share in ((HAMILTONIAN, 0.245), (scheme.relation, 0)):
        first_ports = relation.on(network).options[0, worms.source, first, 0]
        shared = [len(set(ports)) < len(ports) for ports in np.split(first_ports, worms.message_offsets[1:-1])]
        assert np.mean(shared) == pytest.approx(share, abs=0.015 * (share > 0))


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


# [Amnah], the example of Figures 3 and 4: 4x4x4 from label 25 to 21 nodes; lists of labels.
UP = [28, 31, 35, 38, 40, 42, 50, 54, 56, 59, 61]
DOWN = [23, 21, 19, 17, 15, 11, 9, 5, 3, 0]
PAPER_003 = {
    "tp": ([UP, DOWN], [
        [*range(25, 43), 45, 50, 53, *range(54, 62)],
        [*range(25, 8, -1), 6, 5, 4, 3, 2, 1, 0],
    ]),
    "sp": ([[28, 35, 42, 50, 59, 61], [21, 19, 11, 5, 3], [31, 40, 56], [23, 15, 0], [38, 54], [17, 9]], [
        [25, 26, 27, 28, 35, 36, 37, 42, 45, 50, 53, 58, 59, 60, 61],
        [25, 22, 21, 20, 19, 12, 11, 10, 5, 4, 3],
        [25, 30, 31, 32, 39, 40, 55, 56],
        [25, 24, 23, 16, 15, 8, 7, 0],
        [25, 38, 41, 54],
        [25, 22, 17, 14, 9],
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", PAPER_003)
def test_the_example_of_paper_003(name):
    """The lists that it prints (but for the misprinted D_L2, which must have 0), and the ways of Figure 4."""
    lists, ways = PAPER_003[name]
    cube = mesh(4, 4, 4)
    assert cube.node("@25") == cube.node("1.1.1")
    found = plan(cube, name, "@25", cube.node_of_label[[*UP, *DOWN]].tolist())
    assert [cube.labels[list(worm.destinations)].tolist() for worm in found.worms] == lists
    assert [cube.labels[[worm.source, *(end for _, end in worm.links)]].tolist() for worm in found.worms] == ways


def test_the_sums_of_the_example_of_paper_003():
    """TP: 28 + 23 hops. SP: 24 + 21, the longest 14, on 44 links: two worms share the first. GTDMPM: 18 worms."""
    cube = mesh(4, 4, 4)
    tp, sp, gtdmpm = (plan(cube, name, "@25", cube.node_of_label[[*UP, *DOWN]].tolist())
                      for name in ("tp", "sp", "gtdmpm"))
    hops = [len(worm.links) for worm in tp.worms]
    assert (hops, tp.hops, tp.channels) == ([28, 23], 51, 51)
    hops = [len(worm.links) for worm in sp.worms]
    assert (sum(hops[0::2]), sum(hops[1::2]), max(hops), sp.hops, sp.channels) == (24, 21, 14, 45, 44)
    assert sp.worms[1].links[0] == sp.worms[5].links[0] == tuple(cube.node_of_label[[25, 22]])
    assert (gtdmpm.copies, gtdmpm.hops) == (18, 64)
    firsts = [worm.links[0] for worm in gtdmpm.worms]
    assert max(firsts.count(link) for link in firsts) == 7, "batches"


@pytest.mark.parametrize(("shape", "longer", "pairs"), [((4, 4, 4), 432, 4032), ((5, 5, 5), 2000, 15500)])
def test_r_is_not_shortest_in_three_dimensions(shape, longer, pairs):
    cube = mesh(*shape)
    routes, places = SCHEMES["tp"].relation.on(cube), cube.coordinates
    every = [(a, b) for a in range(cube.nodes) for b in range(cube.nodes) if a != b]
    apart = [abs(places[a] - places[b]).sum() for a, b in every]
    hops = [len(routes.path(a, [b])) - 1 for a, b in every]
    assert len(every) == pairs
    assert sum(hop > least for hop, least in zip(hops, apart, strict=True)) == longer
    assert all(hop >= least for hop, least in zip(hops, apart, strict=True))


@given(batch=batches(THREE))
@settings(deadline=None)
def test_a_batch_of_gtdmpm_has_at_most_one_worm_for_each_link_of_the_source(batch):
    """Worms by one link are as many batches; a batch is over where a link comes again."""
    shape, messages = batch
    network = mesh(*shape)
    worms = run_batch(SCHEMES["gtdmpm"], network, messages)
    table = SCHEMES["gtdmpm"].relation.on(network).table
    for first, end in itertools.pairwise(worms.message_offsets):
        ports = [table[worms.source[w], worms.visits(w)[0]] for w in range(first, end)]
        numbers = [ports[:place].count(port) for place, port in enumerate(ports)]
        assert numbers == sorted(numbers)


def test_every_scheme_states_what_it_is():
    for name, scheme in SCHEMES.items():
        assert scheme.name == name
        assert isinstance(scheme.relation, Relation)
        elsewhere = {"torus": "torus:4x4", "min": "min:b=2,stages=3"}.get(next(iter(scheme.kinds), "mesh"))
        network = mesh(3, 3, 3) if name in IN_THREE_DIMENSIONS_ONLY else mesh(6, 6)
        network = topology(elsewhere) if elsewhere else network
        one_destination = elsewhere or name in {"individual", "u-mesh", "binomial", "k-binomial"}
        assert scheme.header is (MixedHeader if name == "mixed" else BitString if scheme.is_tree
                                 else MultiDrop if scheme.needs_whole_packet else Unicast if one_destination
                                 else AddressList)
        assert "\n" not in scheme.description + scheme.form(network)
        assert scheme.provenance.startswith(("[Boppana98], ", "[Amnah], ", "[Hou], ", "[Sivaram98], ", "[Varavithya], ",
                                             "reconstructed"))
        assert elsewhere or scheme.both_ways or scheme.form(network).startswith(
            ("2-D, ", "3-D, as printed", "3-D: reconstructed"))


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("individual", (6, 6), ":next"),
        ("u-mesh", (4, 4, 4), ":next"),
        ("dual-path", (4, 4, 4), "up/down:next"),
        ("multipath", (6, 6), "up/down:next"),
        ("multipath-lmn", (6, 6), "up/down:next"),
        ("tp", (4, 4, 4), "up/down:next"),
        ("sp", (4, 4, 4), "up/down:next"),
        ("gtdmpm", (4, 4, 4), "up/down:next"),
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
        ("tp", (6, 6), "2-D, dual-path"),
        ("tp", (4, 4, 4), "3-D, as printed"),
        ("sp", (4, 4, 4), "3-D, as printed"),
        ("gtdmpm", (4, 4, 4), "3-D: reconstructed"),
        ("tp", (2, 2, 2, 2), "4-D: the same by the labels of the reflected path"),
        ("dual-path", (2, 2, 2, 2), "4-D: the same by the labels of the reflected path"),
    ],
)
def test_a_scheme_says_which_form_it_takes(name, shape, form):
    assert SCHEMES[name].form(mesh(*shape)).startswith(form)


SQUARE = topology("mesh:6x6")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 36], [0, 1, 2], [1, 2]), r"source in message 1: node 36 is not in mesh:6x6. Allowed: 0 to 35"),
        (([0, -1], [0, 1, 2], [1, 2]), r"source in message 1: node -1 is not in mesh:6x6. Allowed: 0 to 35"),
        (([0, 1], [0, 1, 2], [1, 99]), r"destinations in message 1: node 99 is not in mesh:6x6. Allowed: 0 to 35"),
        (([0, 1], [0, 1, 1], [1]), r"destinations in message 1: a multicast has no destinations. Needed: 1 or more"),
        (([0, 20], [0, 1, 3], [1, 2, 20]), r"destinations in message 1: node 20 \(3\.2\) is not valid: it is the"),
        (([0, 0], [0, 1, 3], [20, 20, 20]), r"destinations in message 1: node 20 \(3\.2\) is not valid: it occurs"),
        (
            ([0], [0, 1, 2], [1, 2]),
            r"batch: \[3\] destination offsets are not valid for \[2\] destinations and \[1\]",
        ),
        (([0], [0, 1], [1, 2]), r"batch: \[2\] destination offsets are not valid for"),
        (([0], [1, 1], [1]), r"batch: \[2\] destination offsets are not valid for"),
        (([0, 1], [0, 2, 1], [3]), r"batch: \[3\] destination offsets are not valid for"),
    ],
)
def test_a_batch_that_is_no_multicast_is_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(WormcastError, match=sentence):
        SCHEMES["dual-path"].batch(SQUARE, *arguments)


@pytest.mark.parametrize("name", sorted(IN_TWO_DIMENSIONS_ONLY))
def test_multipath_refuses_more_dimensions(name):
    with pytest.raises(
        WormcastError, match=f"scheme {name}: mesh:2x2x2 has 3 dimensions. Allowed: 2 dimensions"
    ):
        SCHEMES[name].check(mesh(2, 2, 2))


@pytest.mark.parametrize("name", sorted(IN_THREE_DIMENSIONS_ONLY))
@pytest.mark.parametrize("shape", [(8, 8), (2, 2, 2, 2)])
def test_others_refuse_what_is_not_of_three(name, shape):
    refused = f"scheme {name}: .* has {len(shape)} dimensions. Allowed: 3 dimensions"
    with pytest.raises(WormcastError, match=refused):
        SCHEMES[name].check(mesh(*shape))


def test_a_scheme_refuses_other_kinds_of_topology():
    class Elsewhere(type(SCHEMES["dual-path"])):
        name = "elsewhere"
        kinds = ("torus", "min")

    with pytest.raises(
        WormcastError, match=r"scheme elsewhere: topology mesh:6x6 is not valid. Allowed: networks of kind torus, min"
    ):
        Elsewhere().check(SQUARE)


def test_an_unknown_scheme_is_refused_with_the_nearest_name():
    for name in ("dualpath", "dual-paht", "dual_path"):
        with pytest.raises(WormcastError) as refused:
            SCHEMES[name]
        assert str(refused.value) == (f"scheme: {name!r} is unknown. Nearest: dual-path. Allowed: names of wormcast "
                                      "list schemes, FILE.py, FILE.py:NAME.")


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
            WormcastError, match=r"scheme: 'broken' cannot be loaded from no\.such\.module:thing"
        ):
            registry["broken"]
        with pytest.raises(WormcastError, match=r"builtins:dict returns a value of type dict. Needed: a Scheme"):
            registry["other"]

    def test_a_name_is_given_once(self, monkeypatch):
        registry = self.registry(monkeypatch)
        registry.add("mine", SCHEMES["dual-path"])
        with pytest.raises(
            WormcastError, match="scheme: 'mine' is not valid: it exists already"
        ):
            registry.add("mine", SCHEMES["dual-path"])


@pytest.mark.parametrize("name", reference.SCHEMES)
def test_worms_do_not_depend_on_the_order_of_destinations(name):
    """A checkpoint keeps the worms alone: what is planned again for their destinations must be the same."""
    network = mesh(3, 4, 3) if name in IN_THREE_DIMENSIONS_ONLY else mesh(6, 6)
    random = np.random.default_rng(1)
    nodes = [random.permutation(network.nodes)[:random.integers(2, 20)] for _ in range(300)]
    sources, sets = [some[0] for some in nodes], [some[1:] for some in nodes]
    offsets = np.cumsum([0, *map(len, sets)])
    worms = SCHEMES[name].batch(network, sources, offsets, np.concatenate(sets))
    again = SCHEMES[name].batch(network, worms.source[worms.message_offsets[:-1]], offsets, worms.destinations)
    for field in ("message_offsets", "source", "rank", "after", "destination_offsets", "destinations"):
        assert np.array_equal(getattr(worms, field), getattr(again, field))
