"""Networks that a user's Python file makes, and those that it does not."""

import itertools
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from wormcast.algorithms import Places, WormcastError, load_relation, to_toml, topology
from wormcast.algorithms import topologies as package
from wormcast.algorithms.topologies import TopologyKind

HYPERCUBE = Path(__file__).parents[3] / "examples" / "hypercube.py"

TRIANGLE = '''
import dataclasses
import sys
import numpy as np
from wormcast.algorithms import Places, Topology, WormcastError, topology

def _parts(**changed):
    ends = [[0, 2], [1, 2], [2, 2]]
    return {**dict(
        name="triangle", kind="triangle", shape=(3,), ports=(("a", "b", "local"),) * 3,
        links=[[0, 0, 1, 1], [1, 0, 2, 1], [2, 0, 0, 1]],
        injections=ends, consumptions=ends, coordinates=[[0], [1], [2]]), **changed}
'''


@pytest.fixture
def load(tmp_path):
    def load(text, name=None):
        path = tmp_path / "net.py"
        path.write_text(TRIANGLE + textwrap.dedent(text))
        return topology(f"{path}:{name}" if name else str(path))
    return load


def test_a_topology_or_a_function_that_gives_one(load, tmp_path):
    text = """
        one = Topology(**_parts())
        def make():
            return Topology(**_parts(name="made"))
    """
    assert load(text).name == "triangle"  # the only Topology
    made = load(text, "make")
    assert made.name == "made"
    assert made.origin == f"{tmp_path}/net.py:make"
    assert topology(made.origin).describe() == made.describe()
    assert made.links.dtype == np.int32
    assert isinstance(made.places, Places)


def test_a_single_function_needs_no_name(load):
    assert load("""
        def make(nodes=3):
            return Topology(**_parts())
        def helper(needed):
            return 3
    """).name == "triangle"


def test_a_network_that_the_file_imports_is_not_its_own(load, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "imported_net.py").write_text("from wormcast.algorithms import topology\nring = topology('ring:4')\n")
    assert load("from imported_net import ring\none = Topology(**_parts())").name == "triangle"


def test_a_kind_of_ours_that_is_just_that_may_be_given(load):
    assert load("mine = topology('torus:3x3')").name == "torus:3x3"


@pytest.mark.parametrize("dimensions", ["three", "four"])
def test_the_hypercube_of_the_examples(dimensions, tmp_path):
    cube = topology(f"{HYPERCUBE}:{dimensions}")
    joined = {(start, end) for start, _, end, _ in cube.links.tolist()}
    assert len(joined) == len(cube.links)
    assert joined == {pair for pair in itertools.permutations(range(cube.nodes), 2)
                      if (pair[0] ^ pair[1]).bit_count() == 1}
    routes = load_relation(str(HYPERCUBE)).on(cube)
    for start, end in itertools.product(range(cube.nodes), repeat=2):
        assert len(routes.path(start, [end])) == 1 + (start ^ end).bit_count()
    assert len(np.unique(cube.places.switches, axis=0)) == cube.nodes
    written = tmp_path / "cube.toml"
    written.write_text(to_toml(cube))
    assert topology(str(written)).describe() == cube.describe()
    assert len(HYPERCUBE.read_text().splitlines()) < 60


FINE = "one = Topology(**_parts({}))"


@pytest.mark.parametrize(("text", "name", "sentence"), [
    ("1 / 0", None, "net.py cannot be run (ZeroDivisionError: division by zero"),
    ("sys.exit(3)", None, "net.py cannot be run (SystemExit: 3"),
    ("x = 3", None, "net.py has no topology. Needed: a Topology, or a function without"),
    ("a = b = Topology(**_parts())", None, "net.py has more than one topology. Allowed: net.py:a, net.py:b."),
    ("x = 3", "y", "net.py has no 'y'. Needed: a Topology, or a function"),
    ("x = 3", "x", "net.py: x has type int. Allowed: Topology, or a function that returns one"),
    ("def f(): return {}", None, "net.py: function f returns a value of type dict. Needed: a Topology"),
    ("def f(n): ...", "f", "net.py: function f fails (TypeError: f() missing 1 required positional argument"),
    ("def f(): return 1 / 0", "f", "net.py: function f fails (ZeroDivisionError: division by zero, net.py:13)"),
    ("def f(): sys.exit('no')", "f", "net.py: function f fails (SystemExit: no, net.py:13)"),
    ("def f(): raise WormcastError('own words')", "f", "own words"),
    ("def f(): return topology('mesh:0x0')", "f", "topology: 'mesh:0x0' is not valid. Allowed: mesh:"),
    ("one = Topology(**_parts(links=[[0, 1], [1]]))", None, "net.py cannot be run (ValueError: "),
    (FINE.format("name=3"), "one", "one of net.py: name 3 is not valid. Allowed: text on one line"),
    (FINE.format("ports=()"), "one", "ports are not valid. Needed: a tuple that has a tuple"),
    (FINE.format("ports=[['a', 'b', 'local']] * 3"), "one", "ports are not valid. Needed: a tuple that has a tuple"),
    (FINE.format("ports=(('a', 'b', 'local'), ('a', 'b', 'local'), ())"), "one",
     "switch 2 has no ports, and so no links. Needed: 1 or more"),
    (FINE.format("ports=(('a', 'b'),) * 3"), "one", "a node is at port 2 of switch 0. Allowed: 0 to 1"),
    (FINE.format("links=[[0, 0, 1, 1], [1, 0, 3, 1]]"), "one", "a link is at switch 3. Allowed: 0 to 2"),
    (FINE.format("links=[[0, 0, 1, 1], [1, 0, -1, 1]]"), "one", "a link is at switch -1. Allowed: 0 to 2"),
    (FINE.format("links=[[0, 0, 1, 5]]"), "one", "a link is at port 5 of switch 1. Allowed: 0 to 2"),
    (FINE.format("links=[[0.5, 0, 1, 1]]"), "one", "links are float64 [1, 4]. Needed: whole numbers [links, 4]"),
    (FINE.format("links=[[0, 0, 2**40, 1]]"), "one", "links: 1099511627776 is not valid. Allowed: whole numbers of "),
    (FINE.format("links=[[0, 1]]"), "one", "links are int64 [1, 2]. Needed: whole numbers [links, 4]"),
    (FINE.format("links=[[0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 2, 1], [2, 1, 2, 0]]"), "one",
     "a link leads from switch 2 to itself"),
    (FINE.format("links=[[0, 0, 1, 1], [1, 0, 2, 1]]"), "one",
     "node 1 cannot reach node 0: no links lead from switch 1 to switch 0"),
    (FINE.format("consumptions=[[0, 0], [1, 2], [2, 2]]"), "one",
     "more than one link or node is at output a of switch 0: a link and node 0. Allowed: one"),
    (FINE.format("injections=[[0, 1], [1, 2], [2, 2]]"), "one",
     "more than one link or node is at input b of switch 0: a link and node 0. Allowed: one"),
    (FINE.format("shape=(2, 2)"), "one", "shape (2, 2) is not valid. Needed: a tuple of whole numbers from 1 whose"),
    (FINE.format("shape=3"), "one", "shape 3 is not valid. Needed: a tuple of whole numbers from 1 whose product"),
    (FINE.format("shape=(1, 3)"), "one", "coordinates are int64 [3, 1]. Needed: whole numbers [3, 2]"),
    (FINE.format("coordinates=[[2], [1], [0]]"), "one", "coordinates [2] of node 0 are not valid. Needed: [0], as "),
    (FINE.format("labels=[0, 2, 2]"), "one", "labels are not valid. Needed: the numbers from 0 to 2, each once"),
    (FINE.format("root=3"), "one", "root 3 is not valid. Allowed: switches from 0 to 2"),
    (FINE.format("root=True"), "one", "root True is not valid. Allowed: switches from 0 to 2"),
    (FINE.format("switch_names=('a', 'b')"), "one", "switch_names are not valid. Needed: a tuple of 3 names"),
    (FINE.format("switch_names=('a', 'b', 'a>b')"), "one", "name 'a>b' of switch 2 is not valid. Allowed: up to"),
    (FINE.format("places=3"), "one", "places have type int. Needed: Places"),
    (FINE.format("places=Places(np.zeros((3, 2)), np.zeros((2, 2)))"), "one",
     "places of nodes are not valid. Needed: 3 positions of two or three numbers each"),
    (FINE.format("places=Places(np.zeros((3, 2)), np.zeros((3, 3)))"), "one",
     "places of switches and nodes differ in dimensions"),
    ("m = topology('mesh:1x3')\none = dataclasses.replace(m, links=m.links[[0, 2, 3, 1]])", "one",
     "name in net.py:one: 'mesh:1x3' is not valid: it is for a built-in network"),
])
def test_what_gives_no_sound_network_is_refused_in_a_sentence(text, name, sentence, load):
    sentence = re.escape(sentence).replace(r"net\.py", ".*net.py")
    with pytest.raises(WormcastError, match=sentence) as refused:
        load(text, name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("given", "sentence"), [
    (3, "topology: 3 is not valid. Allowed: text"),
    (None, "topology: None is not valid. Allowed: text"),
    (b"mesh:8x8", "topology: b'mesh:8x8' is not valid. Allowed: text"),
    ("", "topology: '' is not valid. Allowed: cmesh:ROWSxCOLUMNSxNODES; "),
    ("star:4", "'star' is unknown. Allowed: cmesh, dragonfly, fat-tree, irregular, mesh, min, "),
    ("absent.py", "topology: absent.py cannot be read: No such file"),
    ("absent.py:cube", "topology: absent.py cannot be read: No such file"),
])
def test_other_names_are_refused_in_a_sentence(given, sentence):
    with pytest.raises(WormcastError, match=re.escape(sentence)):
        topology(given)


def test_another_packages_kind_is_checked(monkeypatch):
    def broken(parameters):
        return 1 / int(parameters)

    monkeypatch.setitem(package.TOPOLOGIES._announced, "star", None)
    monkeypatch.setitem(package.TOPOLOGIES._loaded, "star", TopologyKind("star:N", "", broken))
    for parameters, sentence in [("0", r"'star:0' cannot be built \(ZeroDivisionError: division by zero\)"),
                                 ("1", "'star:1' returns a value of type float. Needed: a Topology")]:
        with pytest.raises(WormcastError, match=sentence):
            topology(f"star:{parameters}")
