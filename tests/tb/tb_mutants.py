"""Worms through a pipe that does one thing wrong: each mutant must be found."""

import cocotb

from tb_common import given
from wormcast_tb import TB, make_worm, waits


@cocotb.test()
@cocotb.parametrize(mutant=list(given().mutants))
async def worms_pass(dut, mutant):
    """The bench must fail for each mutant. ``given().mutants`` has their numbers by name."""
    dut.mutant.value = given().mutants[mutant]
    tb = TB(dut)
    source, sink = tb.driver("in", depth=4), tb.sink("out", depth=4)
    tb.monitor("in", depth=4)
    source.idle, sink.pause = waits.in_turns(9, 2), waits.sometimes(0.3)
    await tb.reset()
    for number in range(30):
        worm = make_worm([number], range(100 * number, 100 * number + 4))
        source.send(worm, vc=number % 3)
        tb.scoreboard.expect("out", worm)
    await tb.finish(limit=600)
