"""Bench of a deep switch: branches leave independently, once and complete; a credit stands for a chunk."""

import cocotb

from tb_common import CopyingTB, all_pass, cross, faults, given
from wormcast_tb import waits


@cocotb.test()
@cross
async def every_copy_leaves_once_and_whole(dut, idle, pressure):
    """All copies leave, with each pattern of idle senders and held-back credits (`cross`), and all credits return."""
    await all_pass(CopyingTB(dut), idle, pressure, CopyingTB.post)


@cocotb.test()
@cocotb.parametrize(which=["alone", "split"])
async def a_flit_takes_three_cycles(dut, which):
    """A flit takes three cycles from input to output, plus one for each header flit of its worm after the first.

    In the setup, ``alone`` is a worm with one branch, and ``split`` a worm with several branches.
    """
    setup = given()
    tb = CopyingTB(dut)
    await tb.reset()
    copies = tb.send({**getattr(setup, which), "at": 10})
    await tb.finish()
    worms = [worm for sink in tb.sinks.values() for worm in sink.worms]
    assert len(worms) == copies == (1 if which == "alone" else len(tb.sinks))
    first = 10 + setup.header_flits - 1 + 3
    for worm in worms:
        assert list(worm.cycles) == list(range(first, first + len(worm.flits)))


@cocotb.test()
async def a_blocked_branch_stops_no_other(dut):
    """A blocked branch delays no other branch of its worm.

    The credits of a worm with a blocked branch return only after the blocked branch has left. In the setup, ``blocked``
    is an output. ``before`` is a worm that takes all credits of the output ``blocked``. ``split`` is a worm with a
    branch to each output.
    """
    setup = given()
    tb = CopyingTB(dut)
    await tb.reset()
    blocked, driver = tb.sinks[setup.blocked], tb.drivers[setup.split["link"]]
    blocked.pause = waits.always()
    tb.send(setup.before)
    await tb.cycles(3 * setup.depth)
    assert blocked.credits == [0]
    assert driver.credits == [driver.most]
    assert tb.send(setup.split) == len(tb.sinks)
    await tb.cycles(3 * setup.depth)
    others = [sink for sink in tb.sinks.values() if sink is not blocked]
    assert [len(sink.worms) for sink in others] == [1] * len(others)
    assert len(blocked.worms) == 1
    assert driver.credits == [driver.most - -(-len(setup.split["flits"]) // setup.chunk)]
    blocked.pause = waits.never()
    await tb.finish()
    assert faults(dut) == {}
