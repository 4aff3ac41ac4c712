# amaranth: UnusedElaboratable=no
"""Solver on a counter: true properties, false properties, and refusals."""

import pytest
from amaranth.hdl import Elaboratable, Module, Signal

from wormcast.hw.allocator import Allocator

from . import solver
from .harness import Harness, Inside, Property
from .mutants import Mutant


class Counter(Elaboratable):
    """Counter to eight, with an input to count."""

    def __init__(self):
        self.go = Signal()
        self.count = Signal(4)

    def elaborate(self, platform):
        m = Module()
        with m.If(self.go & (self.count != 8)):
            m.d.sync += self.count.eq(self.count + 1)
        return m


class CounterHarness(Harness):
    """Counter that counts in each cycle."""

    component = "Counter"
    properties = (Property("claim", "What the test says.", Mutant("allocator.Allocator.elaborate", "", "")),)

    def __init__(self, *, claim, invariant=None, go=1):
        super().__init__()
        self.claimed, self.held, self.go = claim, invariant, go
        self.inductive = True

    def elaborate(self, platform):
        m = Module()
        counter = Counter()
        inside = Inside(counter)
        m.submodules.counter = inside.fragment
        self.leave_free(counter.go)
        self.assume(m, counter.go == self.go)
        self.claim(m, "claim", self.claimed(inside["count"]))
        if self.held:
            self.invariant(m, self.held(inside["count"]))
        return m


def test_violation_is_found_in_its_cycle_and_shown(tmp_path):
    found = solver.bounded(CounterHarness(claim=lambda count: count < 6), 10, tmp_path / "found.vcd")
    assert (found.holds, found.base, found.step) == (False, True, 6)
    assert "count" in found.waveform.read_text()
    assert solver.bounded(CounterHarness(claim=lambda count: count < 6), 6, tmp_path / "found.vcd").holds


def test_induction_says_whether_it_fails_from_reset_or_in_its_step(tmp_path):
    def prove(claim, **options):
        return solver.by_induction(CounterHarness(claim=claim, **options), 1, tmp_path / "found.vcd")

    assert prove(lambda count: count != 12, invariant=lambda count: count <= 8).holds
    # from 11 it goes to 12, and that 11 cannot be is not known
    step = prove(lambda count: count != 12)
    assert (step.holds, step.base, step.step) == (False, False, 1)
    # the cycle behind the first one is still the base's
    base = prove(lambda count: count != 1)
    assert (base.holds, base.base, base.step) == (False, True, 1)


def test_environment_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="Assumptions are unsatisfiable"):
        solver.bounded(CounterHarness(claim=lambda count: count < 6, go=2), 3, tmp_path / "found.vcd")


def test_name_that_a_component_does_not_have_is_refused():
    with pytest.raises(KeyError, match="limit is no signal of the component; there are count"):
        Inside(Counter())["limit"]


def test_mutant_lasts_as_long_as_it_is_applied():
    kept = Allocator.elaborate
    with Mutant("allocator.Allocator.elaborate", "~before", "before").applied():
        assert Allocator.elaborate is not kept
    assert Allocator.elaborate is kept


def test_mutant_of_an_expression_that_is_gone_is_refused():
    with (pytest.raises(ValueError, match=r"has 'not there' 0 times, a mutant needs it once"),
          Mutant("allocator.Allocator.elaborate", "not there", "").applied()):
        pass
