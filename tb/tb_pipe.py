"""Smallest bench: it sends worms through the design ``pipe.v``."""

import cocotb

from wormcast_tb import TB, make_worm, waits


@cocotb.test()
@cocotb.parametrize(idle=[0, 0.5], pressure=[0, 0.7])
async def worms_pass(dut, idle, pressure):
    tb = TB(dut)
    source, sink = tb.driver("in", depth=4), tb.sink("out", depth=4)
    source.idle = waits.sometimes(idle)
    sink.pause = waits.sometimes(pressure)
    await tb.reset()
    for number in range(20):
        worm = make_worm(header=[number], payload=range(100 * number, 100 * number + 5))
        source.send(worm, vc=number % 2)
        tb.scoreboard.expect("out", worm)
    await tb.finish()
