"""Bench of the smart network interface: the packets of a message go to each child of the node, and to the host."""

import cocotb

from tb_common import PATTERNS, cross, faults, given, post
from wormcast_tb import TB, waits


class SmartInterfaceTB(TB):
    """Bench of a network interface that forwards packets.

    In the setup, ``into`` and ``out`` have the flits of the receiver's buffer for each link, by the link's prefix.
    ``tables`` are the flits that the host writes into the child table, row by row. ``places`` is the number of packet
    buffer entries of a row. ``faults`` has the bit widths of cause, port and virtual channel in each fault output.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        for prefix, depth in given().into.items():
            self.driver(prefix, depth=depth)
        for prefix, depth in given().out.items():
            self.sink(prefix, depth=depth, headers="none" if prefix.startswith("host") else "needed",
                      cuts=not self.scoreboard.strict)

    async def write(self, table):
        """Write rows of the child table. The rows are valid when this method returns."""
        self.drivers["table_in"].send(table)
        await self.drivers["table_in"].wait()
        await self.cycles(2)

    def counted(self, *names):
        """Return the values of the interface's counters with these names."""
        return [int(getattr(self.dut, name).value) for name in names]


@cocotb.test()
@cross
async def each_packet_goes_once_to_each_child(dut, idle, pressure):
    """Packets from network and host are forwarded, beside worms that are not forwarded.

    The packets are forwarded with each pattern in which host and network idle and hold back credits (`cross`).

    In the setup, ``worms`` are sent from host and network, and ``forwarded`` is the number of packets to be forwarded.
    """
    setup, tb = given(), SmartInterfaceTB(dut)
    tb.wait_by(idle=PATTERNS[idle], pressure=PATTERNS[pressure])
    await tb.reset()
    await tb.write(setup.tables)
    post(tb, setup.worms)
    await tb.finish()
    assert faults(dut) == {}
    assert tb.counted("forwarded", "occupancy") == [setup.forwarded, 0]


@cocotb.test()
async def copies_leave_in_order_and_in_their_cycles(dut):
    """Copies leave in the order for which the interface is built (fpfs or fcfs), and in the expected cycles.

    In the setup, ``timed`` has the packets of a message from the network, the first flits of their copies in order, and
    the cycles in which these flits leave. Cycles are counted from the first cycle in which the packets may be sent.
    """
    setup, tb = given(), SmartInterfaceTB(dut)
    await tb.reset()
    await tb.write(setup.timed["table"])
    start = tb.drivers["network_in_0"].cycle + 10
    post(tb, [{**worm, "at": start} for worm in setup.timed["worms"]])
    await tb.finish()
    copies = tb.sinks["network_out_0"].worms
    assert [list(copy.flits[0]) for copy in copies] == setup.timed["heads"]
    assert [copy.cycles[0] - start for copy in copies] == setup.timed["cycles"]


@cocotb.test()
@cocotb.parametrize(which=range(len(given().crowds)))
async def who_finds_no_place_waits(dut, which):
    """Packets wait for a free packet buffer entry, and no packet is lost.

    In the setup, each item of ``crowds`` has a message from network or host with more packets than a child table row
    has packet buffer entries.
    """
    setup, tb = given(), SmartInterfaceTB(dut)
    crowd = setup.crowds[which]
    await tb.reset()
    await tb.write(crowd["table"])
    out, driver = tb.sinks["network_out_0"], tb.drivers[crowd["link"]]
    out.pause = waits.always()
    post(tb, crowd["worms"])
    await tb.cycles(500)
    assert tb.counted("occupancy", "peak") == [setup.places] * 2
    assert driver.waiting
    out.pause = waits.never()
    await tb.finish()
    assert tb.counted("occupancy", "peak") == [0, setup.places]
    assert faults(dut) == {}


@cocotb.test()
@cocotb.parametrize(name=list(given().errors))
async def an_error_is_reported(dut, name):
    """The interface reports an error, and later worms pass.

    In the setup, ``errors`` has, by name, bad flits with their links, and the fault. ``apart`` are worms sent later.
    """
    setup, tb = given(), SmartInterfaceTB(dut, strict=False)
    error = setup.errors[name]
    await tb.reset()
    await tb.write(setup.tables)
    for link, flits in error["flits"]:
        tb.drivers[link].send(flits)
        await tb.drivers[link].wait()
        await tb.cycles(2)
    assert faults(dut) == {"fault": error["fault"]}
    post(tb, setup.apart)
    await tb.finish()
