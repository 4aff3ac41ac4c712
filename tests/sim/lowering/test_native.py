"""Functions that are compiled once, and called without Numba."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from wormcast.algorithms.compiled import compiled, inlined
from wormcast.sim.lowering import native

MORE = LESS = True
ROW = np.dtype([("count", np.int32), ("total", np.int64)])


class Arrays(NamedTuple):
    rows: np.ndarray
    numbers: tuple[np.ndarray, ...]


@inlined
def _add(row, number):
    row.total += number
    row.count += 1


@compiled
def _at(numbers, place):
    return min(numbers[place], 1000)


@native("MORE", "LESS")
def total(factor, negative, arrays, matrix):
    for place in range(len(arrays.numbers[0])):
        number = factor * _at(arrays.numbers[0], place)
        if MORE:
            number += arrays.numbers[1][place]
        if LESS:
            number -= 1
        _add(arrays.rows[place], -number if negative else number)
    matrix[1, 2] = factor


@native()
def divide(numbers, by):
    numbers[0] //= by


def made(first=np.uint16, second=np.int64):
    numbers = np.arange(1, 5).astype(first), np.arange(10, 50, 10).astype(second)
    return Arrays(np.zeros(4, ROW), numbers), np.zeros((3, 4), np.int8)


@pytest.mark.parametrize("first", [np.uint8, np.uint16, np.int64])
@pytest.mark.parametrize(("more", "less"), [(True, True), (True, False), (False, False)])
def test_arguments_of_any_types_go_in_and_switches_cut_code_off(first, more, less):
    arrays, matrix = made(first)
    for factor, negative in [(3, False), (-2, True)]:
        arrays.rows[:] = 0
        total(factor, negative, arrays, matrix, MORE=more, LESS=less)
        sign = -1 if negative else 1
        assert arrays.rows["total"].tolist() == [
            sign * (factor * k + more * 10 * k - less) for k in range(1, 5)]
        assert arrays.rows["count"].tolist() == [1] * 4
        assert matrix[1, 2] == factor
        assert np.count_nonzero(matrix) == 1


def test_a_prepared_call_sees_new_contents_and_first_numbers():
    arrays, matrix = made()
    call = total.prepared(1, False, arrays, matrix, MORE=False, LESS=False)
    call()
    arrays.numbers[0][:] = 7
    call(10)
    assert arrays.rows["total"].tolist() == [71, 72, 73, 74]
    call(100, True)
    assert arrays.rows["total"].tolist() == [71 - 700, 72 - 700, 73 - 700, 74 - 700]


def test_arrays_that_do_not_lie_in_a_row_are_told_apart():
    numbers = np.arange(8)
    divide(numbers[6::-3], 2)
    assert numbers.tolist() == [0, 1, 2, 3, 4, 5, 3, 7]
    divide(numbers, 1)
    divide(numbers[1:], 1)


def test_an_error_is_raised():
    with pytest.raises(RuntimeError, match="the compiled function has failed"):
        divide(np.ones(1, np.int64), 0)


LATER = """
import sys
from test_native import made, total
arrays, matrix = made()
total(3, False, arrays, matrix)
print(arrays.rows["total"].tolist(), "numba" in sys.modules)
"""


def test_a_later_process_needs_no_numba(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path),
                                "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    told = [subprocess.run([sys.executable, "-c", LATER], env=environment, text=True, capture_output=True,
                           check=True).stdout for _ in range(2)]
    assert told == ["[12, 25, 38, 51] True\n", "[12, 25, 38, 51] False\n"]
