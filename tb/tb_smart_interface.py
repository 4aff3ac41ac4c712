"""The smart network interface: the packets of a message go to each child of the node, and to the host."""

import cocotb

from tb_common import PATTERNS, cross, faults, given, post
from wormcast_tb import TB, waits


class SmartInterfaceTB(TB):
    """A network interface that forwards.

    What it is told: ``into``, ``out`` (its links: flits of buffer at the receiving end, by prefix), ``faults``,
    ``tables`` (what the host writes into the child table, row behind row), ``places`` of a row.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        for prefix, depth in given().into.items():
            self.driver(prefix, depth=depth)
        for prefix, depth in given().out.items():
            self.sink(prefix, depth=depth, headers="none" if prefix.startswith("host") else "needed",
                      cuts=not self.scoreboard.strict)

    async def write(self, table):
        """Write rows of the child table; their children are there when this ends."""
        self.drivers["table_in"].send(table)
        await self.drivers["table_in"].wait()
        await self.cycles(2)

    def counted(self, *names):
        """What the interface has counted."""
        return [int(getattr(self.dut, name).value) for name in names]


@cocotb.test()
@cross
async def each_packet_goes_once_to_each_child(dut, idle, pressure):
    """Packets from the network and those that the host posts, beside worms that nobody forwards, whatever idling and
    back-pressure of host and network.

    What it is told: ``worms`` to send by host and by network, and how many packets of them are ``forwarded``.
    """
    told, tb = given(), SmartInterfaceTB(dut)
    tb.wait_by(idle=PATTERNS[idle], pressure=PATTERNS[pressure])
    await tb.reset()
    await tb.write(told.tables)
    post(tb, told.worms)
    await tb.finish()
    assert faults(dut) == {}
    assert tb.counted("forwarded", "occupancy") == [told.forwarded, 0]


@cocotb.test()
async def copies_leave_in_order_and_in_their_cycles(dut):
    """What it is told: ``timed``, a message's packets from the network, the first flits of their copies in the order of
    the build, and the cycles in which these leave."""
    told, tb = given(), SmartInterfaceTB(dut)
    await tb.reset()
    await tb.write(told.timed["table"])
    start = tb.drivers["network_in_0"].cycle + 10
    post(tb, [{**worm, "at": start} for worm in told.timed["worms"]])
    await tb.finish()
    copies = tb.sinks["network_out_0"].worms
    assert [list(copy.flits[0]) for copy in copies] == told.timed["heads"]
    assert [copy.cycles[0] - start for copy in copies] == told.timed["cycles"]


@cocotb.test()
@cocotb.parametrize(which=range(len(given().crowds)))
async def who_finds_no_place_waits(dut, which):
    """What it is told: ``crowds``, more packets of a message than a row has places, from network or host. None is lost.
    """
    told, tb = given(), SmartInterfaceTB(dut)
    crowd = told.crowds[which]
    await tb.reset()
    await tb.write(crowd["table"])
    out, driver = tb.sinks["network_out_0"], tb.drivers[crowd["link"]]
    out.pause = waits.always()
    post(tb, crowd["worms"])
    await tb.cycles(500)
    assert tb.counted("occupancy", "peak") == [told.places] * 2
    assert driver.waiting
    out.pause = waits.never()
    await tb.finish()
    assert tb.counted("occupancy", "peak") == [0, told.places]
    assert faults(dut) == {}


@cocotb.test()
@cocotb.parametrize(name=list(given().errors))
async def an_error_is_reported(dut, name):
    """What it is told: ``errors``, by name what comes by which link, and the fault. What is sent behind it passes."""
    told, tb = given(), SmartInterfaceTB(dut, strict=False)
    error = told.errors[name]
    await tb.reset()
    await tb.write(told.tables)
    for link, flits in error["flits"]:
        tb.drivers[link].send(flits)
        await tb.drivers[link].wait()
        await tb.cycles(2)
    assert faults(dut) == {"fault": error["fault"]}
    post(tb, told.apart)
    await tb.finish()
