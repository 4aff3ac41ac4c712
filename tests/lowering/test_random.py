"""Random components do in every instance and every cycle what they do in Amaranth's simulator."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering.agreement import agree
from lowering.random_designs import RandomExpressions, RandomMachine

from wormcast.sim.lowering import LoweringError, machine, operators

SETTINGS = {"derandomize": True, "deadline": None, "database": None}
seeds = st.integers(0, 2**32)
instances = st.sampled_from([1, 5, 67])
machine_affine = machine.affine


@settings(max_examples=80, **SETTINGS)
@given(seed=seeds, n=instances, depth=st.integers(1, 4), count=st.integers(1, 4))
def test_expressions(seed, n, depth, count):
    agree(lambda: RandomExpressions(random.Random(seed), depth=depth, count=count), n=n, seed=seed)


@settings(max_examples=40, **SETTINGS)
@given(seed=seeds, n=instances)
def test_machines(seed, n):
    agree(lambda: RandomMachine(random.Random(seed)), n=n, seed=seed, cycles=24)


@settings(max_examples=8, **SETTINGS)
@given(seed=seeds, width=st.sampled_from([16, 32]))
def test_machines_of_other_vector_widths(seed, width):
    agree(lambda: RandomMachine(random.Random(seed)), n=67, seed=seed, vector_width=width)


@settings(max_examples=8, **SETTINGS)
@given(seed=seeds, affine=st.booleans())
def test_expressions_in_bits(seed, affine):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "affine", lambda: affine and machine_affine())
        agree(lambda: RandomExpressions(random.Random(seed), depth=3, count=2), n=5, seed=seed, vector_width=512)


@settings(max_examples=8, **SETTINGS)
@given(seed=seeds)
def test_machines_in_bits(seed):
    """Those without deep memories, which are refused."""
    try:
        agree(lambda: RandomMachine(random.Random(seed)), n=600, seed=seed, vector_width=512)
    except LoweringError as error:
        if "rows cannot be lowered with a vector_width of 512" not in str(error):
            raise


@pytest.mark.parametrize(
    ("operator", "instead"),
    [("^", "|"), ("&", "|"), ("+", "-"), ("s<", "u<"), ("s>>", "u>>"), ("s//", "u//"), ("r^", "r|"), ("==", "!=")],
)
def test_a_wrong_operator_is_noticed(monkeypatch, operator, instead):
    monkeypatch.setitem(operators.OPERATORS, operator, operators.OPERATORS[instead])

    def compare_many():
        for seed in range(100):
            agree(lambda seed=seed: RandomExpressions(random.Random(seed)), n=1, seed=seed)

    with pytest.raises(AssertionError, match="cycle"):
        compare_many()
