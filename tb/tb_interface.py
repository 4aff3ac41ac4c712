"""The network interface: worms go into the network, in packets where it makes them; payload comes to the host."""

import cocotb

from tb_common import all_pass, cross, faults, given, post
from wormcast_tb import TB, waits


class InterfaceTB(TB):
    """A network interface.

    What it is told: ``into``, ``out`` (its links: flits of buffer at the receiving end, by prefix), ``faults``,
    ``worms`` to send by host and by network.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        for prefix, depth in given().into.items():
            self.driver(prefix, depth=depth)
        for prefix, depth in given().out.items():
            self.sink(prefix, depth=depth, headers="none" if prefix.startswith("host") else "needed",
                      cuts=not self.scoreboard.strict)


@cocotb.test()
@cross
async def every_packet_passes_once_and_whole(dut, idle, pressure):
    """Whatever idling and back-pressure of host and network."""
    await all_pass(InterfaceTB(dut), idle, pressure)


@cocotb.test()
@cocotb.parametrize(link=list(given().spoilt))
async def a_false_credit_stops_its_virtual_channel_alone(dut, link):
    """What it is told: ``spoilt``, the fault by prefix. What the other links carry passes."""
    tb = InterfaceTB(dut)
    await tb.reset()
    told = given().spoilt[link]
    tb.sinks[link].spoil(told["fault"][2])
    await tb.cycles(5)
    post(tb, [worm for worm in given().worms if all(end != link for end, _ in worm["copies"])])
    await tb.finish()
    assert faults(dut) == {"fault": told["fault"]}


@cocotb.test()
@cocotb.parametrize(link=list(given().flood))
async def a_flit_without_a_credit_is_dropped_and_reported(dut, link):
    """What it is told: ``flood``, by prefix a worm longer than all buffers on its way, and the fault."""
    told = given().flood[link]
    tb = InterfaceTB(dut, strict=False)
    await tb.reset()
    for sink in tb.sinks.values():
        sink.pause = waits.always()
    tb.drivers[link].send(told["flits"][:-1], told["fault"][2], unpaid=True)
    await tb.drivers[link].wait()
    await tb.cycles(20)
    for sink in tb.sinks.values():
        sink.pause = waits.never()
    await tb.cycles(50)
    tb.drivers[link].send(told["flits"][-1:], told["fault"][2])
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": told["fault"]}
    assert all({data for _, _, data in told["flits"]} > set(worm.payload) for _, worm in tb.scoreboard.extra)


@cocotb.test()
@cocotb.parametrize(link=[link for link in given().into if link.startswith("host")])
async def a_worm_without_tail_is_cut_off_by_the_next(dut, link):
    """What it is told: ``untailed``, by prefix the flits and the fault."""
    told = given().untailed[link]
    tb = InterfaceTB(dut, strict=False)
    await tb.reset()
    tb.drivers[link].send(told["flits"])
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": told["fault"]}
    [(_, worm)] = tb.scoreboard.extra
    assert worm.cut
    assert [list(flit) for flit in worm.flits[:-1]] == told["flits"]
