"""Replay of a simulator run on the exported network: every delivery begins and ends in the same cycles."""

import cocotb

from tb_common import given, post
from tb_network import NetworkTB


@cocotb.test()
async def every_delivery_in_its_cycle(dut):
    """The first and the last flit of every delivery arrive in the same cycles as in the simulated hardware.

    The setup is that of `NetworkTB`, with ``at`` for each worm, and with ``deliveries``. A delivery has the link to the
    host, the data of the first flit, the cycle of the first flit, and the cycle of the last flit.
    """
    tb = NetworkTB(dut)
    await tb.reset()
    post(tb, given().worms)
    await tb.finish()
    seen = sorted([name, worm.payload[0], worm.cycles[0], worm.cycles[-1]]
                  for name, sink in tb.sinks.items() for worm in sink.worms)
    assert seen == sorted(given().deliveries)
