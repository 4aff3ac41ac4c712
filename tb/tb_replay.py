"""A run of the simulator on the exported network: every flit of it in the same cycle."""

import cocotb

from tb_common import given, post
from tb_network import NetworkTB


@cocotb.test()
async def every_delivery_in_its_cycle(dut):
    """The exported hardware is the simulated hardware.

    What it is told besides: ``at`` of each worm, and ``deliveries``: host's link, data of the first flit, its cycle,
    and that of the last one.
    """
    tb = NetworkTB(dut)
    await tb.reset()
    post(tb, given().worms)
    await tb.finish()
    seen = sorted([name, worm.payload[0], worm.cycles[0], worm.cycles[-1]]
                  for name, sink in tb.sinks.items() for worm in sink.worms)
    assert seen == sorted(given().deliveries)
