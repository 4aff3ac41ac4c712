"""Worms of several destinations by adaptive relations: the two engines agree on every link in every cycle."""

import numpy as np
import pytest

from wormcast.algorithms import topology

from .bench import send
from .test_engines_agree import Draw, compare

INPUTS = "1+.0/1+.1/1-.0/1-.1/0+.0/0+.1/0-.0/0-.1:last"
SMALL = {"vcs": 2, "buffer": 2, "flit_width": 16}

#: Network, scheme, relation, hardware.
QUICK = {
    "columns": ("mesh:2x3", "column-path", "adaptive", {**SMALL, "consumption": 2}),
}
LARGE = {
    "rows and columns": ("mesh:3x3", "e-mcast", "e-cube-adaptive", {**SMALL, "consumption": 4}),
    "a channel for each input": ("mesh:3x3", "e-mcast", "adaptive",
                                 {**SMALL, "consumption": 8, "classes": INPUTS, "vcs": 4}),
    "copies apart": ("mesh:3x2", "column-path", "e-cube-adaptive",
                     {**SMALL, "consumption": 2, "readers": "independent", "delays": "fast", "buffer": 3}),
    "three dimensions": ("mesh:2x2x2", "e-mcast", "adaptive", {**SMALL, "consumption": 6, "ports": "all"}),
}


def multicasts(nodes, count, random):
    """So many multicasts of random sizes at random times."""
    drawn = []
    for _ in range(count):
        source, *others = random.permutation(nodes).tolist()
        drawn.append(send(source, *others[:random.integers(1, nodes)], length=int(random.integers(1, 9)),
                          at=int(random.integers(0, 20))))
    return drawn


def agree(mesh, scheme, relation, hardware, count=12, cycles=60, seed=1):
    messages = multicasts(topology(mesh).nodes, count, np.random.default_rng(seed))
    seen = compare(Draw(mesh, scheme, hardware, messages, 0.2, seed, relation), cycles)
    return sum(word & 1 for cycle in seen for words in cycle.values() for word in words)


@pytest.mark.parametrize("case", QUICK)
def test_engines_agree(case):
    assert agree(*QUICK[case]) > 200


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_engines_agree_on_larger_networks(case):
    assert agree(*LARGE[case], count=25, cycles=100) > 500
