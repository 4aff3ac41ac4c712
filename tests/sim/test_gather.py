"""Words are carried over the links: as one by one, however they are grouped."""

import random

import numpy as np
import pytest

from wormcast.sim.engines.bulk import GAP, _runs
from wormcast.sim.host.program import gather

EMPTY = np.zeros((4, 0), np.uint64)
NONE = np.zeros((2, 0), np.uint32)


def carried(pairs, outputs, size, words):
    """The input words behind `gather`; what nobody drives is 0 or as it was."""
    sizes = [2**k for k in range(4)]
    runs = tuple(_runs(pairs, size) if one == size else (EMPTY, np.zeros(1, f"u{one}"), NONE) for one in sizes)
    inputs = tuple(np.zeros(words if one == size else 1, f"u{one}") for one in sizes)
    gather(runs, inputs, tuple(outputs if one == size else np.zeros(1, f"u{one}") for one in sizes))
    return inputs[sizes.index(size)]


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_words_arrive_whatever_lies_between_them(size):
    """Groups of words side by side, with gaps, and with each other's words in their gaps."""
    for seed in range(200):
        rng = random.Random(seed)
        places = sorted(rng.sample(range(rng.choice([20, 60, 6 * GAP])), 18))
        if rng.random() < 0.5:
            rng.shuffle(places)
        # in their order, so that a group's sources follow each other as its places do
        groups = [sorted(places[k::3]) for k in range(3)]
        pairs = [(np.array(group), np.array(group) + 7 * k) for k, group in enumerate(groups)]
        outputs = np.arange(1, 6 * GAP + 20, dtype=f"u{size}")
        found = carried(pairs, outputs, size, 6 * GAP)
        for to, source in pairs:
            assert np.array_equal(found[to], outputs[source]), seed


def test_gaps_within_a_run_are_left_out():
    """Words that are not connected between two that are do not make two runs of them; other people's do."""
    one = np.array([0, 1, 4]), np.array([10, 11, 14])
    runs, _, single = _runs([one], 1)
    assert (runs.shape[1], single.shape[1]) == (1, 0)
    runs, _, single = _runs([one, (np.array([2]), np.array([0]))], 1)
    assert runs.T[:, :3].tolist() == [[0, 10, 2]]
    assert single.T.tolist() == [[2, 0], [4, 14]]
