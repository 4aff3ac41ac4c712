"""The lowering refuses unsupported constructs by a sentence that names them."""

import re

import pytest
from amaranth.hdl import (
    Assert,
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Instance,
    Module,
    Print,
    Signal,
)
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from wormcast.sim.lowering import LoweringError, elaboration
from wormcast.sim.lowering.lower import lower

from .agreement import component, lower_ports

PORTS = {"a": In(8), "o": Out(8)}


def output_from_input(m, self):
    m.d.comb += self.o[1:].eq(self.a + 1)


def assertion(m, self):
    m.d.sync += [self.o.eq(self.a), Assert(self.a == 0)]


def printing(m, self):
    m.d.sync += [self.o.eq(self.a), Print(self.a)]


def comb_assertion(m, self):
    m.d.comb += Assert(self.a == 0)
    m.d.sync += self.o.eq(self.a)


def instance(m, self):
    m.submodules.black = Instance("box", i_a=self.a, o_o=self.o)


def other_domain(m, self):
    m.d.fast += self.o.eq(self.a)


def own_domain(m, self):
    m.domains.slow = ClockDomain(local=True)
    m.d.comb += ClockSignal("slow").eq(self.a[0])
    m.d.slow += self.o.eq(self.a)


def falling_edge(m, self):
    m.domains.sync = ClockDomain(clk_edge="neg")
    m.d.sync += self.o.eq(self.a)


def clock_as_data(m, self):
    m.d.sync += self.o.eq(Cat(ClockSignal(), self.a))


def cycle(m, self):
    first, second = Signal(8), Signal(8)
    m.d.comb += [first.eq(second + self.a), second.eq(first)]
    m.d.sync += self.o.eq(second)


def wide_product(m, self):
    m.d.sync += self.o.eq((self.a.replicate(9) * self.a.replicate(9)) >> 100)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (output_from_input, "output 'o' is not valid: it depends on input 'a' in the same cycle"),
        (assertion, r"SyncProperty .*test_refusals.py:\d+"),
        (printing, r"SyncPrint .*a.*test_refusals.py:\d+"),
        (comb_assertion, r"AsyncProperty .*test_refusals.py:\d+"),
        (instance, r"Instance .*box.*black.*test_refusals.py:\d+"),
        (other_domain, "clock domain 'fast'"),
        (own_domain, r"clock other than that of domain 'sync' .*test_refusals.py:\d+"),
        (falling_edge, r"falling clock edge .*o.*test_refusals.py:\d+|clock other than"),
        (clock_as_data, "clock of domain 'sync' is used as data"),
        (cycle, r"(?s)combinational cycle.*signal (first|second)"),
        (wide_product, r"multiplication: an operand of 1\d\d bits .* up to 64 bits.*o.*test_refusals.py:\d+"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused(build, sentence):
    with pytest.raises(LoweringError, match=sentence):
        lower_ports(component(PORTS, build)())


def test_asynchronous_reset():
    def build(m, self):
        inner = Module()
        inner.domains.other = ClockDomain(async_reset=True, local=True)
        inner.d.other += self.o.eq(self.a)
        m.submodules.inner = DomainRenamer("sync")(inner)
        m.d.comb += Signal().eq(self.a[0])

    with pytest.raises(LoweringError, match=r"asynchronous reset|clock other than"):
        lower_ports(component(PORTS, build)())


def build_register(m, self):
    m.d.sync += self.o.eq(self.a)


FLIT = data.StructLayout({"data": 6, "head": 1})


@pytest.mark.parametrize(
    ("inputs", "outputs", "sentence"),
    [
        ({}, {"o": ["o"]}, "inputs: a, f is missing. Needed: every port in a word."),
        ({"a": ["a", "f"]}, {}, "outputs: o is missing. Needed: every port in a word."),
        ({"a": ["a", "b", "f"]}, {"o": ["o"]}, "inputs['a']: 'b' is not valid. Allowed: a, f."),
        ({"a": ["a", "f"], "b": ["a"]}, {"o": ["o"]}, "inputs['b']: 'a' is not valid: it is in 'a' already"),
        ({"a": ["a", "f.data"]}, {"o": ["o"]}, "inputs: f is missing. Needed: every port in a word."),
        ({"a": ["a", "f.data", "f"]}, {"o": ["o"]}, "inputs['a']: 'f' is not valid: it is in 'a' already"),
        ({"a": ["a", "f"], "e": []}, {"o": ["o"]}, "inputs['e']: [] is not valid: it has no bits."),
        ({"a": ["a", "o", "f"]}, {"o": ["o"]}, "inputs['a']: 'o' is not valid. Allowed: a, f."),
    ],
)
def test_words(inputs, outputs, sentence):
    made = component(PORTS | {"f": In(FLIT)}, build_register)()
    with pytest.raises(LoweringError, match=re.escape(sentence)):
        lower(made, inputs=inputs, outputs=outputs)


def test_no_signature():
    with pytest.raises(LoweringError, match="object: the component has no signature"):
        lower(object(), inputs={}, outputs={})


def test_vector_width():
    made = component(PORTS, build_register)()
    made._MustUse__silence = True
    with pytest.raises(LoweringError, match=r"vector_width: 7 is not valid\. Allowed: 16, 32, 64 or 512 instances\."):
        lower_ports(made, vector_width=7)


def test_amaranth_moves(monkeypatch):
    monkeypatch.delattr(elaboration._nir, "PriorityMatch")
    with pytest.raises(LoweringError, match=r"Amaranth: .* has no .*PriorityMatch, .* Needed: another version 0\.5\.x"):
        elaboration.check_amaranth()


def test_amaranth_is_another_version(monkeypatch):
    monkeypatch.setattr(elaboration, "version", lambda package: "0.6.1")
    with pytest.raises(LoweringError, match=r"Amaranth: version 0\.6\.1 is not valid, .* Needed: 0\.5\.x\."):
        elaboration.check_amaranth()


def test_this_amaranth_is_known():
    elaboration.check_amaranth()
