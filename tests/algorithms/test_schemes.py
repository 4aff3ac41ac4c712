import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.algorithms import SCHEMES, Relation, Scheme, WormcastError, topology
from wormcast.algorithms.registry import Registry

from . import reference


@st.composite
def batches(draw):
    """A mesh and messages (source, destinations in any order)."""
    rows, columns = draw(
        st.tuples(st.integers(1, 9), st.integers(1, 7)).filter(lambda shape: shape != (1, 1))
    )
    messages = []
    for _ in range(draw(st.integers(0, 5))):
        nodes = draw(st.permutations(range(rows * columns)))
        messages.append((nodes[0], nodes[1 : 1 + draw(st.integers(1, rows * columns - 1))]))
    return rows, columns, messages


def run_batch(scheme, network, messages):
    offsets = np.cumsum([0, *(len(destinations) for _, destinations in messages)])
    destinations = [node for _, nodes in messages for node in nodes]
    return scheme.batch(network, [source for source, _ in messages], offsets, destinations)


@pytest.mark.parametrize("name", reference.SCHEMES)
@given(batch=batches())
@settings(deadline=None)  # the first example may compile
def test_compiled_batches_equal_the_reference(name, batch):
    rows, columns, messages = batch
    order, step = reference.SCHEMES[name]
    network = topology(f"mesh:{rows}x{columns}")
    worms = run_batch(SCHEMES[name], network, messages)
    hops = SCHEMES[name].relation.on(network).hops(worms)

    assert worms.messages == len(messages)
    assert len(worms) == worms.message_offsets[-1]
    assert worms.destination_offsets[-1] == len(worms.destinations)
    for message, (source, destinations) in enumerate(messages):
        mine = range(worms.message_offsets[message], worms.message_offsets[message + 1])
        expected = order(rows, columns, source, destinations)
        assert [(worms.consumption_class[w], worms.visits(w).tolist()) for w in mine] == expected
        assert [worms.rank[w] for w in mine] == list(range(len(expected)))
        assert {int(worms.source[w]) for w in mine} == {source}
        paths = [reference.path(step, rows, columns, source, visits) for _, visits in expected]
        assert [hops[w] for w in mine] == [len(path) - 1 for path in paths]


@pytest.mark.parametrize(("name", "mean"), [("individual", 5.332), ("dual-path", 3.007)])
def test_the_mean_hops_a_destination_on_8x8(name, mean):
    """Sum of hops over sum of destinations, 1 to 19 of them; paper 002, 4.1 prints 5.35 for individual."""
    random = np.random.default_rng(1)
    network = topology("mesh:8x8")
    messages = []
    for _ in range(10_000):
        nodes = random.choice(64, size=1 + random.integers(1, 20), replace=False)
        messages.append((nodes[0], nodes[1:]))
    worms = run_batch(SCHEMES[name], network, messages)
    hops = SCHEMES[name].relation.on(network).hops(worms)
    assert hops.sum() / len(worms.destinations) == pytest.approx(mean, rel=0.015)


def test_every_scheme_states_what_it_is():
    for name, scheme in SCHEMES.items():
        assert scheme.name == name
        assert isinstance(scheme.relation, Relation)
        assert "\n" not in scheme.description
        assert scheme.provenance.startswith(("paper 00", "reconstructed"))
    assert SCHEMES["individual"].consumption_classes == 1
    assert SCHEMES["dual-path"].consumption_classes == 2


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


def test_dual_path_refuses_a_mesh_without_labels_and_individual_takes_it():
    cube = topology("mesh:2x2x2")
    with pytest.raises(WormcastError, match="mesh:2x2x2 has no Hamiltonian labels, two-dimensional meshes"):
        SCHEMES["dual-path"].check(cube)
    assert run_batch(SCHEMES["individual"], cube, [(0, [7, 1])]).destinations.tolist() == [1, 7]


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
