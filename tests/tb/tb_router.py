"""The exported router of a node, driven by hand: a worm that is copied on its way."""

import cocotb

from wormcast_tb import TB, make_worm

DIRECTIONS = ("east", "west", "south", "north")


@cocotb.test()
async def a_worm_is_copied(dut):
    """Copy a worm at node 0.1 of 2x2: buffers of 2 flits, 8-bit flits with three addresses and a last bit."""
    tb = TB(dut)
    for name in (*DIRECTIONS, "local"):
        tb.driver(f"{name}_in", depth=2)
    for name in DIRECTIONS:
        tb.sink(f"{name}_out", depth=2)
    tb.sink("local_out", depth=2, headers="allowed")
    dut.strap_coordinate_0.value, dut.strap_coordinate_1.value = 0, 1
    await tb.reset()
    payload = range(5)
    # from 1.1 to 0.1 and 0.0: here the first address is taken away
    tb.drivers["south_in"].send(make_worm([0b1_0_00_00_01], payload))
    for end in ("local_out", "west_out"):
        tb.scoreboard.expect(end, make_worm([0b1_0_00_00_00], payload))
    await tb.finish()
