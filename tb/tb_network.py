"""Bench of a network with hosts: every multicast arrives at each of its destinations once and complete."""

import cocotb

from tb_common import PATTERNS, all_pass, cross, faults, given, post
from wormcast_tb import TB


class NetworkTB(TB):
    """Bench of routers and interfaces.

    In the setup, ``host_in`` lists the prefixes of the links from the hosts, and ``host_out`` those to the hosts.
    ``queue`` is the interfaces' buffer for flits from the hosts, and ``host_depth`` the hosts' buffer, in flits.
    ``faults`` has the bit widths of cause, port and virtual channel in each fault output. ``worms`` are the worms to
    send. ``tables`` are the words of the routers' tables, empty for routers without tables.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        setup = given()
        for prefix in setup.host_in:
            self.driver(prefix, depth=setup.queue)
        for prefix in setup.host_out:
            self.sink(prefix, depth=setup.host_depth, headers="none", cuts=not self.scoreboard.strict)

    async def reset(self, cycles=2):
        """Write the tables of the routers between two resets: a reset clears the bus that writes them."""
        await super().reset(cycles)
        if given().tables:
            for word in given().tables:
                self.dut.tables_in.value = word
                await self.cycles(1)
            await super().reset(cycles)


@cocotb.test()
@cross
async def every_multicast_arrives_once_and_whole(dut, idle, pressure):
    """All multicasts arrive, for two patterns of idle hosts, each with three patterns of held-back credits."""
    await all_pass(NetworkTB(dut), idle, pressure)


@cocotb.test()
@cocotb.parametrize(error=list(given().errors), pressure=["never", "mostly"])
async def bad_flits_of_a_host_disturb_nobody(dut, error, pressure):
    """The interface or router of the host that sends bad flits reports them. All other worms arrive.

    In the setup, ``errors`` has bad flits by name, with cause and port of the fault on each fault output.
    """
    setup = given().errors[error]
    tb = NetworkTB(dut, strict=False)
    tb.wait_by(idle=PATTERNS["never"], pressure=PATTERNS[pressure])
    await tb.reset()
    tb.drivers[setup["link"]].send(setup["flits"])
    post(tb, given().worms)
    await tb.finish()
    assert {name: found[:2] for name, found in faults(dut).items()} == setup["fault"]
    bad = {data for _, _, data in setup["flits"]}
    assert all(bad.issuperset(worm.payload) for _, worm in tb.scoreboard.extra)
