"""A network, seen from its hosts: every multicast arrives at each of its destinations once and whole."""

import cocotb

from tb_common import PATTERNS, all_pass, cross, faults, given, post
from wormcast_tb import TB


class NetworkTB(TB):
    """Routers and interfaces.

    What it is told: ``host_in``, ``host_out`` (prefixes of the hosts' links), ``queue`` and ``host_depth`` (flits of
    buffer of the interfaces for what hosts send, and of the hosts), ``faults``, ``worms`` to send.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        told = given()
        for prefix in told.host_in:
            self.driver(prefix, depth=told.queue)
        for prefix in told.host_out:
            self.sink(prefix, depth=told.host_depth, headers="none", cuts=not self.scoreboard.strict)


@cocotb.test()
@cross
async def every_multicast_arrives_once_and_whole(dut, idle, pressure):
    """Whatever the hosts' idling and back-pressure."""
    await all_pass(NetworkTB(dut), idle, pressure)


@cocotb.test()
@cocotb.parametrize(error=list(given().errors), pressure=["never", "mostly"])
async def bad_flits_of_a_host_disturb_nobody(dut, error, pressure):
    """They are found by the host's own interface or router; all other worms arrive.

    What it is told: ``errors``, by name the flits and, by output, cause and port of the fault.
    """
    told = given().errors[error]
    tb = NetworkTB(dut, strict=False)
    tb.wait_by(idle=PATTERNS["never"], pressure=PATTERNS[pressure])
    await tb.reset()
    tb.drivers[told["link"]].send(told["flits"])
    post(tb, given().worms)
    await tb.finish()
    assert {name: found[:2] for name, found in faults(dut).items()} == told["fault"]
    bad = {data for _, _, data in told["flits"]}
    assert all(bad.issuperset(worm.payload) for _, worm in tb.scoreboard.extra)
