"""Bench of a switch that replicates worms: branches leave once and complete, arrivals are reported, tokens go on."""

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from tb_common import CopyingTB, all_pass, cross, given
from wormcast_tb import waits


class Ring:
    """The rest of a token ring: it returns the token after ``walk`` cycles, and counts the token's passes."""

    def __init__(self, dut, walk):
        self.dut, self.walk = dut, walk
        self.given, self.back = 0, 0
        dut.token_in_token.value = 0
        cocotb.start_soon(self._run())

    async def _run(self):
        on_the_way = [0] * self.walk
        while True:
            await FallingEdge(self.dut.clk)
            came = int(self.dut.rst.value == 0 and self.dut.token_out_token.value)
            self.back += came
            await RisingEdge(self.dut.clk)
            on_the_way.append(came)
            now = on_the_way.pop(0)
            self.given += now
            self.dut.token_in_token.value = now


class TreeSwitchTB(CopyingTB):
    """Bench of a tree switch, with a ring for its token.

    The setup is that of `CopyingTB`, with ``walk``, the cycles of the token through the rest of the ring. If ``walk``
    is 0, the switch has no token.
    """

    def __init__(self, dut):
        super().__init__(dut)
        self.ring = Ring(dut, given().walk) if given().walk else None


@cocotb.test()
@cross
async def every_copy_leaves_once_and_whole(dut, idle, pressure):
    """All copies leave, with each pattern of idle senders and held-back credits (`cross`).

    If the switch reports arrivals, each worm with the report bit causes one report.
    """
    tb = TreeSwitchTB(dut)
    await all_pass(tb, idle, pressure, TreeSwitchTB.post)
    for prefix, driver in tb.drivers.items():
        due = sum(worm["flits"][0][2] & 1 for worm in given().worms if worm["link"] == prefix)
        assert driver.arrived == due * (driver.link.arrived is not None)
    if tb.ring:
        # there is one token: in the switch, or on its way through the rest of the ring
        assert 0 <= tb.ring.back - tb.ring.given <= 1


@cocotb.test()
async def a_copied_worm_waits_for_the_token(dut):
    """A worm with one branch needs no token; a replicated worm waits for it.

    In the setup, ``alone`` is a worm with one branch, and ``split`` a worm with several branches.
    """
    setup = given()
    tb = TreeSwitchTB(dut)
    await tb.reset()
    tb.send({**setup.alone, "at": 10})
    await tb.finish()
    [worm] = [worm for sink in tb.sinks.values() for worm in sink.worms]
    first = 10 + setup.header_flits - 1 + 3
    assert worm.cycles[0] == first
    copies = tb.send({**setup.split, "at": 100})
    await tb.finish()
    assert copies > 1
    begun = [sink.worms[-1].cycles[0] for sink in tb.sinks.values() if sink.worms and sink.worms[-1].cycles[0] > 100]
    least = 100 + setup.header_flits - 1 + 3
    assert len(begun) == copies
    assert least <= min(begun) <= least + 1 + setup.walk + 1


@cocotb.test(skip=not given().reports)
async def a_report_waits_for_those_of_all_copies(dut):
    """A worm's arrival is reported after all its branches have reported.

    The test sets the report bit of the setup's worm ``split``.
    """
    setup = given()
    tb = TreeSwitchTB(dut)
    await tb.reset()
    [head, *rest] = setup.split["flits"]
    for sink in tb.sinks.values():
        sink.pause = waits.always()
    assert tb.send({**setup.split, "flits": [[head[0], head[1], head[2] | 1], *rest]}) == len(tb.sinks)
    driver = tb.drivers[setup.split["link"]]
    for sink in tb.sinks.values():
        await tb.cycles(40)
        assert driver.arrived == 0
        sink.pause = waits.never()
    await tb.finish()
    assert driver.arrived == 1
