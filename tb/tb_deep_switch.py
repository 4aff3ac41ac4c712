"""A switch that holds whole worms: copies leave once and whole, each at its own pace, and a credit is a chunk."""

import cocotb

from tb_common import CopyingTB, all_pass, cross, faults, given
from wormcast_tb import waits


@cocotb.test()
@cross
async def every_copy_leaves_once_and_whole(dut, idle, pressure):
    """Whatever the senders' idling and the receivers' back-pressure; all chunks are given back."""
    await all_pass(CopyingTB(dut), idle, pressure, CopyingTB.post)


@cocotb.test()
@cocotb.parametrize(which=["alone", "split"])
async def a_flit_takes_three_cycles(dut, which):
    """And one more for each further flit of the header, by all outputs alike.

    What it is told: ``alone``, a worm with one copy, and ``split``, one with several.
    """
    told = given()
    tb = CopyingTB(dut)
    await tb.reset()
    copies = tb.send({**getattr(told, which), "at": 10})
    await tb.finish()
    worms = [worm for sink in tb.sinks.values() for worm in sink.worms]
    assert len(worms) == copies == (1 if which == "alone" else len(tb.sinks))
    first = 10 + told.header_flits - 1 + 3
    for worm in worms:
        assert list(worm.cycles) == list(range(first, first + len(worm.flits)))


@cocotb.test()
async def a_blocked_branch_stops_no_other(dut):
    """What it is told: ``blocked``, an output, ``before``, a worm that takes all its credits, and ``split``, one with a
    copy there too. Its chunks are given back when that copy has left."""
    told = given()
    tb = CopyingTB(dut)
    await tb.reset()
    blocked, driver = tb.sinks[told.blocked], tb.drivers[told.split["link"]]
    blocked.pause = waits.always()
    tb.send(told.before)
    await tb.cycles(3 * told.depth)
    assert blocked.credits == [0]
    assert driver.credits == [driver.most]
    assert tb.send(told.split) == len(tb.sinks)
    await tb.cycles(3 * told.depth)
    others = [sink for sink in tb.sinks.values() if sink is not blocked]
    assert [len(sink.worms) for sink in others] == [1] * len(others)
    assert len(blocked.worms) == 1
    assert driver.credits == [driver.most - -(-len(told.split["flits"]) // told.chunk)]
    blocked.pause = waits.never()
    await tb.finish()
    assert faults(dut) == {}
