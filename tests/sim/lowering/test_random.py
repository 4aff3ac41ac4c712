"""Random components do in every instance and every cycle what they do in Amaranth's simulator."""

import random

import pytest
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from cases import slow
from hypothesis import given, settings
from hypothesis import strategies as st

from wormcast.sim.lowering import LoweringError, machine, operators

from .agreement import agree, component
from .random_designs import RandomExpressions, RandomMachine

SETTINGS = {"derandomize": True, "deadline": None, "database": None}
seeds = st.integers(0, 2**32)
instances = st.sampled_from([1, 5, 67])
machine_affine = machine.affine


def examples(few, many):
    """Number of random examples: ``few`` in every test run, ``many`` in slow ones."""
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])


def check(examples, function, **drawn):
    settings(max_examples=examples, **SETTINGS)(given(**drawn)(function))()


@examples(20, 80)
def test_expressions(examples):
    def same(seed, n, depth, count):
        agree(lambda: RandomExpressions(random.Random(seed), depth=depth, count=count), n=n, seed=seed)

    check(examples, same, seed=seeds, n=instances, depth=st.integers(1, 4), count=st.integers(1, 4))


@examples(6, 80)
def test_machines(examples):
    def same(seed, n):
        agree(lambda: RandomMachine(random.Random(seed)), n=n, seed=seed, cycles=24)

    check(examples, same, seed=seeds, n=instances)


@examples(4, 16)
def test_machines_of_other_vector_widths(examples):
    def same(seed, width):
        agree(lambda: RandomMachine(random.Random(seed)), n=67, seed=seed, vector_width=width)

    check(examples, same, seed=seeds, width=st.sampled_from([16, 32]))


@examples(3, 30)
def test_expressions_in_bits(examples):
    def same(seed, affine):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(machine, "affine", lambda: affine and machine_affine())
            agree(lambda: RandomExpressions(random.Random(seed), depth=2, count=3), n=5, seed=seed, vector_width=512)

    check(examples, same, seed=seeds, affine=st.booleans())


@examples(3, 30)
def test_machines_in_bits(examples):
    """Those without deep memories, which are refused."""
    def same(seed):
        try:
            agree(lambda: RandomMachine(random.Random(seed)), n=600, seed=seed, vector_width=512)
        except LoweringError as error:
            if "vector_width: 512 is not valid" not in str(error):
                raise

    check(examples, same, seed=seeds)


@pytest.mark.parametrize(
    ("operator", "instead"),
    # what is compared is the same for each
    [slow("^", "|"), slow("&", "|"), ("+", "-"), ("s<", "u<"), slow("s>>", "u>>"), slow("s//", "u//"),
     slow("r^", "r|"), slow("==", "!=")],
)
def test_a_wrong_operator_is_noticed(monkeypatch, operator, instead):
    monkeypatch.setitem(operators.OPERATORS, operator, operators.OPERATORS[instead])

    def compare_many():
        for seed in range(100):
            agree(lambda seed=seed: RandomExpressions(random.Random(seed)), n=1, seed=seed)

    with pytest.raises(AssertionError, match="cycle"):
        compare_many()


def test_a_row_that_is_read_is_written_to_another_deep_memory():
    def build(m, self):
        m.submodules.first = first = Memory(shape=8, depth=64, init=[(37 * row + 5) & 255 for row in range(64)])
        m.submodules.second = second = Memory(shape=8, depth=64, init=[])
        read, shown, write = first.read_port(), second.read_port(), second.write_port()
        m.d.comb += [port.addr.eq(self.address) for port in (read, shown, write)]
        m.d.comb += [read.en.eq(1), shown.en.eq(1), write.en.eq(self.enable), write.data.eq(read.data),
                     self.seen.eq(shown.data)]

    agree(component({"address": In(2), "enable": In(1), "seen": Out(8)}, build), cycles=100, vector_width=16)
