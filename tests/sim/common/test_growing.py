"""Rows come and go; those that stay are the same, and are seldom moved."""

import numpy as np
import pytest

from wormcast.sim.common.growable import BLOCK, Growing


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("large", [1, BLOCK // 3])
def test_rows_are_those_that_came_without_those_that_went(shape, large):
    random = np.random.default_rng(1)
    rows = np.arange(5 * int(np.prod(shape))).reshape(5, *shape)
    growing, expected = Growing(rows.copy()), rows
    for step in range(60):
        more = random.integers(0, 100, (int(random.integers(0, 20 * large)), *shape))
        growing.extend(more)
        expected = np.concatenate([expected, more])
        first = int(random.integers(0, len(expected) + 1)) // (1 + step % 7)
        growing.forget(first)
        expected = expected[first:]
        assert np.array_equal(growing.rows, expected)
    other = Growing(rows)
    other.state = growing.state
    assert np.array_equal(other.rows, expected)
    assert growing.state.nbytes == expected.nbytes


def test_rows_that_come_one_by_one_move_a_few_times():
    growing, moves = Growing(np.zeros(1)), 0
    for _ in range(10_000):
        before = growing.rows
        growing.extend(np.ones(1))
        moves += not np.shares_memory(before, growing.rows)
    assert len(growing.rows) == 10_001
    assert moves < 10
