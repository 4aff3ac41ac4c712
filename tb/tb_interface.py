"""Bench of the network interface: worms or packets go into the network, payload comes to the host."""

import itertools

import cocotb
from cocotb.triggers import FallingEdge

from tb_common import all_pass, cross, faults, given, post
from wormcast_tb import TB, waits


class InterfaceTB(TB):
    """Bench of a network interface.

    In the setup, ``into`` and ``out`` have the flits of buffer at the receiving ends of the links into and out of the
    interface, by the link's prefix. ``worms`` are sent from host and network. ``faults`` has the bit widths of cause,
    port and virtual channel in each fault output.
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
    """All packets pass, with each pattern in which host and network idle and hold back credits (`cross`)."""
    await all_pass(InterfaceTB(dut), idle, pressure)


@cocotb.test()
@cocotb.parametrize(bus=list(given().buses))
async def flits_cross_the_bus_at_its_rate(dut, bus):
    """Each flit crosses the I/O bus once, and in T successive cycles fewer than T N / M + 2 L + 1 flits cross.

    A flit from the host crosses in the cycle before its credit is on the link, and a flit to the host in the cycle
    before the flit is on the link.

    In the setup, ``buses`` has the names of the signals that count the flits of the L links of each bus, its rate of N
    flits in M cycles, and the number of flits of all worms that cross it.
    """
    setup = given().buses[bus]
    signals, (flits, cycles) = [getattr(dut, name) for name in setup["signals"]], setup["rate"]
    tb = InterfaceTB(dut)
    await tb.reset()
    post(tb, given().worms)
    crossed = []

    async def count():
        while True:
            await FallingEdge(dut.clk)
            crossed.append(sum(int(signal.value) for signal in signals))

    cocotb.start_soon(count())
    await tb.finish()
    assert sum(crossed) == setup["flits"]
    # flits ahead of the rate since the first cycle, in parts of 1 / M
    ahead = list(itertools.accumulate((count * cycles - flits for count in crossed), initial=0))
    least = itertools.accumulate(ahead, min)
    assert max(now - then for now, then in zip(ahead, least, strict=True)) < (2 * len(signals) + 1) * cycles


@cocotb.test()
@cocotb.parametrize(link=list(given().spoilt))
async def a_false_credit_stops_its_virtual_channel_alone(dut, link):
    """After a false credit on one link, worms to the other links pass.

    In the setup, ``spoilt`` has the fault that a false credit on each link causes, by the link's prefix.
    """
    tb = InterfaceTB(dut)
    await tb.reset()
    setup = given().spoilt[link]
    tb.sinks[link].spoil(setup["fault"][2])
    await tb.cycles(5)
    post(tb, [worm for worm in given().worms if all(end != link for end, _ in worm["copies"])])
    await tb.finish()
    assert faults(dut) == {"fault": setup["fault"]}


@cocotb.test()
@cocotb.parametrize(link=list(given().flood))
async def a_flit_without_a_credit_is_dropped_and_reported(dut, link):
    """The bench sends the flits of one worm without credits; the interface drops some of them; all other worms pass.

    A buffer overflows, because the worm without credits is longer than all buffers on its way. The interface drops the
    flits that find no free entry in the buffer, and reports the overflow.

    In the setup, ``flood`` has, by the link's prefix, a worm longer than all buffers on its way, and the fault.
    """
    setup = given().flood[link]
    tb = InterfaceTB(dut, strict=False)
    await tb.reset()
    for sink in tb.sinks.values():
        sink.pause = waits.always()
    tb.drivers[link].send(setup["flits"][:-1], setup["fault"][2], unpaid=True)
    await tb.drivers[link].wait()
    await tb.cycles(20)
    for sink in tb.sinks.values():
        sink.pause = waits.never()
    await tb.cycles(50)
    tb.drivers[link].send(setup["flits"][-1:], setup["fault"][2])
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": setup["fault"]}
    assert all({data for _, _, data in setup["flits"]} > set(worm.payload) for _, worm in tb.scoreboard.extra)


@cocotb.test()
@cocotb.parametrize(link=[link for link in given().into if link.startswith("host")])
async def a_worm_without_tail_is_cut_off_by_the_next(dut, link):
    """If a worm from the host has no tail, the interface terminates it when the next worm begins.

    In the setup, ``untailed`` has, by the link's prefix, the flits of a worm without tail, and the reported fault.
    """
    setup = given().untailed[link]
    tb = InterfaceTB(dut, strict=False)
    await tb.reset()
    tb.drivers[link].send(setup["flits"])
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": setup["fault"]}
    [(_, worm)] = tb.scoreboard.extra
    assert worm.cut
    assert [list(flit) for flit in worm.flits[:-1]] == setup["flits"]
