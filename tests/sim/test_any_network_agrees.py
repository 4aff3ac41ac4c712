"""The two engines drive the same word on every link in every cycle: unicasts on networks of every kind."""

import numpy as np
import pytest
from cases import some

from wormcast.algorithms import topology

from .bench import send
from .test_engines_agree import Draw, compare

SMALL = {"vcs": 1, "buffer": 2, "consumption": 1, "flit_width": 12}
CLASSES = {**SMALL, "vcs": 2}  # lower and upper virtual channels on tori and rings

KINDS = ("baseline", "cube", "omega", "butterfly")
IRREGULAR = [f"irregular:switches=8,ports=4,nodes={5 + seed % 4},connectivity=0.7,seed={seed}" for seed in range(1, 11)]

#: Network, hardware, and the relation where it is not the usual one.
QUICK = {
    "ring": ("ring:6", CLASSES, None),
    "ring, signs": ("ring:4", {**CLASSES, "ties": "signed"}, None),
    "min of 2x2": ("min:b=2,stages=2", SMALL, None),
    **{name: (name, SMALL, None) for name in IRREGULAR[:1]},
    "several nodes, all ejection ports": ("irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=2",
                                          {**SMALL, "ejection": "all", "consumption": 2}, None),
    "concentrated mesh": ("cmesh:2x2x2", SMALL, None),
    "fat tree": ("fat-tree:k=2,levels=2", SMALL, None),
    "dragonfly": ("dragonfly:p=1,a=2,h=1", CLASSES, None),
    "adaptive up and down": ("irregular:switches=3,ports=4,nodes=3,connectivity=1.0,seed=1", CLASSES,
                             "up-down-adaptive"),
}
LARGE = {
    "min of three stages": ("min:b=2,stages=3", SMALL, None),
    "adaptive up and down, four switches": ("irregular:switches=4,ports=4,nodes=4,connectivity=1.0,seed=3", CLASSES,
                                            "up-down-adaptive"),
    "min of 2x2, one channel": ("min:b=2,stages=4", SMALL, None),
    "adaptive on a mesh": ("mesh:2x2", CLASSES, "adaptive"),
    **{f"min of 4x4, {kind}": (f"min:b=4,stages=2,kind={kind}", SMALL, None) for kind in KINDS},
    **{name: (name, SMALL, None) for name in IRREGULAR[1:]},
    "concentrated mesh of 3x3": ("cmesh:3x3x3", CLASSES, None),
    "fat tree of three levels": ("fat-tree:k=2,levels=3", SMALL, None),
    "fat tree, adaptive": ("fat-tree:k=2,levels=3", CLASSES, "up-down-adaptive"),
    "dragonfly of 12 nodes": ("dragonfly:p=2,a=2,h=1", {**CLASSES, "consumption": 2}, None),
    "shortest": ("irregular:switches=4,ports=4,nodes=4,connectivity=1.0,seed=3",
                 {**SMALL, "delays": "fast", "storage": "registers"}, "shortest"),
    "torus:3x3": ("torus:3x3", CLASSES, None),
    "torus:4x4": ("torus:4x4", CLASSES, None),
    "torus:4x4, signs": ("torus:4x4", {**CLASSES, "ties": "signed"}, None),
    "torus:5x5": ("torus:5x5", {**CLASSES, "buffer": 3, "consumption": 2}, None),
    "torus:2x3x3": ("torus:2x3x3", CLASSES, None),
    **{f"min of 2x2, {kind}": (f"min:b=2,stages=4,kind={kind}", {**SMALL, "vcs": 2}, None) for kind in KINDS},
    "mesh, all ejection ports": ("mesh:3x3", {**SMALL, "ejection": "all"}, None),
    "independent readers": ("min:b=3,stages=2", {**SMALL, "readers": "independent", "delays": "fast"}, None),
    "many nodes at a switch": ("irregular:switches=3,ports=8,nodes=12,connectivity=0.8,seed=7",
                               {**CLASSES, "consumption": 2, "consumption_links": "separate"}, "up-down-adaptive"),
}

#: A triangle, one of whose sides is two links; a switch without a node, one with two that consume elsewhere.
OWN = """
switches = ["left", "right", "top"]
ports = [["a", "b", "c", "n0", "n1"], ["a", "b", "c", "n0", "n1"], ["a", "b"]]
nodes = [["left", "n0"], ["left", "n1"], ["right", "n0"]]
consumptions = [["left", "n0"], ["right", "n0"], ["right", "n1"]]
links = [["left", "right"], ["left", "right"], ["right", "top"], ["top", "left"]]
"""


def uniform(nodes, count, random, longest=6, within=20):
    """Draw unicasts between random nodes at random times."""
    source = random.integers(0, nodes, count)
    other = (source + random.integers(1, nodes, count)) % nodes
    return [send(a, b, length=int(length), at=int(at)) for a, b, length, at in zip(
        source.tolist(), other.tolist(), random.integers(1, longest, count), random.integers(0, within, count),
        strict=True)]


def agree(name, options, relation, count=30, cycles=50, stall=0.2, seed=1):
    """Run both engines; how many words said on links that something is there."""
    messages = uniform(topology(name).nodes, count, np.random.default_rng(seed))
    seen = compare(Draw(name, "individual", options, messages, stall, seed, relation), cycles)
    return sum(word & 1 for cycle in seen for words in cycle.values() for word in words)


# signs for all rings; tables of alternatives, here and on a network of a file, for all tables
@pytest.mark.parametrize("case", some(QUICK, "min of 2x2", "adaptive up and down"))
def test_engines_agree_on_networks_of_every_kind(case):
    assert agree(*QUICK[case]) > 200


@pytest.mark.slow  # networks above; files of them: test_network_file
def test_engines_agree_on_a_network_of_a_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    assert agree(str(path), CLASSES, "up-down-adaptive") > 200


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_engines_agree_on_larger_networks(case):
    assert agree(*LARGE[case], count=60, cycles=80) > 500


@pytest.mark.slow
def test_engines_agree_in_200_draws_of_networks():
    """Any number of messages, from none that waits to nodes that seldom take a flit: 200 draws."""
    cases = [*QUICK.values(), *LARGE.values()]
    moved = 0
    for number in range(200):
        random = np.random.default_rng(number)
        moved += agree(*cases[number % len(cases)], count=int(random.integers(1, 80)), cycles=60,
                       stall=(0.0, 0.3, 0.9)[number % 3], seed=number)
    assert moved > 200 * 200
