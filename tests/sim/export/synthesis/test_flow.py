"""The tools on small components: cells, clocks, critical paths and blocks of both families."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.sim.export.synthesis import TARGETS, synthesise
from wormcast.sim.export.synthesis.breakdown import breakdown


class Product(wiring.Component):
    """Two registers and their product: 32 flip-flops, whoever maps them, and a longer path than the harness has."""

    def __init__(self):
        super().__init__({"a": In(8), "b": In(8), "product": Out(16)})

    def elaborate(self, platform):
        m = Module()
        left, right, total = Signal(8, name="left"), Signal(8, name="right"), Signal(16, name="total")
        m.d.sync += [left.eq(self.a), right.eq(self.b), total.eq(left * right)]
        m.d.comb += self.product.eq(total)
        return m


class Twice(wiring.Component):
    """Two of them, one behind the other."""

    def __init__(self):
        super().__init__({"a": In(8), "b": In(8), "c": In(8), "product": Out(16)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = Product()
        m.submodules.second = second = Product()
        m.d.comb += [first.a.eq(self.a), first.b.eq(self.b), second.a.eq(first.product[8:]), second.b.eq(self.c),
                     self.product.eq(second.product)]
        return m


class Large(wiring.Component):
    """More flip-flops than the largest iCE40 has."""

    def __init__(self):
        super().__init__({"i": In(100), "o": Out(100)})

    def elaborate(self, platform):
        m = Module()
        row = self.i
        for number in range(80):
            following = Signal(100, name=f"row_{number}")
            m.d.sync += following.eq(row)
            row = following
        m.d.comb += self.o.eq(row)
        return m


# slow: on a new machine nextpnr's WebAssembly is compiled for more than a minute
@pytest.mark.parametrize(("target", "storage"), [slow("ecp5", "lutram"), slow("ice40", "registers")])
def test_cells_clock_and_path_of_a_component(target, storage):
    steps = []
    found = synthesise(Product(), target=target, storage=storage, seeds=(1, 2), workers=2, progress=steps.append)
    assert found.area["FF"] == 32
    assert found.area["LUT4"] > 32
    assert list(found.area) == list(TARGETS[target].cells)
    assert found.fits
    assert len(found.mhz) == 2
    assert found.median_mhz == min(found.mhz)
    assert found.area["LUT4"] < found.packed < found.available
    assert found.critical.ns == pytest.approx(1000 / found.median_mhz, rel=0.02)
    assert found.critical.start.split("[")[0] in ("left", "right")
    assert found.critical.end.startswith("total[")
    assert [step for step in steps if "seed" in step] == [f"clock: place and route, seed {seed}" for seed in (1, 2)]


@pytest.mark.slow  # five syntheses
def test_runs_with_other_names_and_periods_differ_in_area():
    found = synthesise(Product(), seeds=(), runs=5, area_delay=4250, workers=2)
    assert (len(found.runs), found.area["FF"], found.ranges["FF"]) == (5, 32, (32, 32, 32))
    least, median, most = found.ranges["LUT4"]
    assert least < most
    assert median == found.area["LUT4"] == sorted(run["LUT4"] for run in found.runs)[2]


def test_blocks_add_up_where_nothing_is_shared():
    found = breakdown(Twice())
    assert [(".".join(block.name), block.kinds) for block in found.blocks] == [
        ("", ("Twice",)), ("first", ("Twice", "Product")), ("second", ("Twice", "Product"))]
    whole, products = found.groups()
    assert (whole.kinds, whole.instances, sum(whole.area.values())) == (("Twice",), 1, 0)
    assert (products.kinds, products.instances) == (("Twice", "Product"), 2)
    assert products.area == found.total == {name: 2 * number for name, number in found.blocks[1].area.items()}
    assert (products.least, products.most) == (found.blocks[1].area["LUT4"],) * 2
    assert found.total["FF"] == 64


@pytest.mark.slow
def test_a_component_that_does_not_fit_has_an_area_and_no_clock():
    found = synthesise(Large(), target="ice40", storage="registers", seeds=(1,))
    assert found.area["FF"] == 8000
    assert (found.fits, found.mhz, found.median_mhz, found.critical) == (False, (), None, None)
    assert found.packed > found.available == 7680


@pytest.mark.parametrize(("options", "sentence"), [
    ({"target": "spartan"}, "target: 'spartan' is not valid. Allowed: ecp5, ice40."),
    ({"target": "ice40", "storage": "lutram"},
     "storage: 'lutram' is not valid with target ice40 (HX8K). Allowed: registers."),
    ({"storage": "relays"},
     "storage: 'relays' is not valid with target ecp5 (LFE5U-85F, speed 6). Allowed: lutram, registers."),
])
def test_what_a_target_does_not_have_is_refused(options, sentence):
    for function in (synthesise, breakdown):
        with pytest.raises(WormcastError) as refused:
            function(Product(), **options)
        assert str(refused.value) == sentence
