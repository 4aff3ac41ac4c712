"""A switch that copies worms to several outputs: copies leave once and whole, arrivals are reported, tokens go on."""

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from tb_common import CopyingTB, all_pass, cross, given
from wormcast_tb import waits


class Ring:
    """The rest of a group's ring: a token that comes goes back so many cycles later; its time here is counted."""

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
    """With a ring for its token.

    What it is told besides: ``walk`` (cycles of a token through the rest of the ring; 0 without tokens).
    """

    def __init__(self, dut):
        super().__init__(dut)
        self.ring = Ring(dut, given().walk) if given().walk else None


@cocotb.test()
@cross
async def every_copy_leaves_once_and_whole(dut, idle, pressure):
    """Whatever the senders' idling and the receivers' back-pressure; each worm that is to report does so once."""
    tb = TreeSwitchTB(dut)
    await all_pass(tb, idle, pressure, TreeSwitchTB.post)
    for prefix, driver in tb.drivers.items():
        due = sum(worm["flits"][0][2] & 1 for worm in given().worms if worm["link"] == prefix)
        assert driver.arrived == due * (driver.link.arrived is not None)
    if tb.ring:
        # one token: it is here, or on its way round
        assert 0 <= tb.ring.back - tb.ring.given <= 1


@cocotb.test()
async def a_copied_worm_waits_for_the_token(dut):
    """What it is told: ``alone``, a worm with one copy, and ``split``, one with several."""
    told = given()
    tb = TreeSwitchTB(dut)
    await tb.reset()
    tb.send({**told.alone, "at": 10})
    await tb.finish()
    [worm] = [worm for sink in tb.sinks.values() for worm in sink.worms]
    first = 10 + told.header_flits - 1 + 3
    assert worm.cycles[0] == first
    copies = tb.send({**told.split, "at": 100})
    await tb.finish()
    assert copies > 1
    begun = [sink.worms[-1].cycles[0] for sink in tb.sinks.values() if sink.worms and sink.worms[-1].cycles[0] > 100]
    least = 100 + told.header_flits - 1 + 3
    assert len(begun) == copies
    assert least <= min(begun) <= least + 1 + told.walk + 1


@cocotb.test(skip=not given().reports)
async def a_report_waits_for_those_of_all_copies(dut):
    """What it is told: ``split``; here it is to report, itself."""
    told = given()
    tb = TreeSwitchTB(dut)
    await tb.reset()
    [head, *rest] = told.split["flits"]
    for sink in tb.sinks.values():
        sink.pause = waits.always()
    assert tb.send({**told.split, "flits": [[head[0], head[1], head[2] | 1], *rest]}) == len(tb.sinks)
    driver = tb.drivers[told.split["link"]]
    for sink in tb.sinks.values():
        await tb.cycles(40)
        assert driver.arrived == 0
        sink.pause = waits.never()
    await tb.finish()
    assert driver.arrived == 1
