"""The switch: worms of multicasts pass it, each copy leaves once and whole, and errors stay where they are."""

import cocotb

from tb_common import PATTERNS, all_pass, cross, faults, given, post
from wormcast_tb import TB, waits


class SwitchTB(TB):
    """A router.

    What it is told: ``inputs``, ``outputs`` (prefixes of its links, those to the node begin with ``local``), ``depth``
    of all buffers, ``straps`` (values of the static inputs), ``faults``, ``worms`` to send.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        told = given()
        for prefix in told.inputs:
            self.driver(prefix, depth=told.depth)
        for prefix in told.outputs:
            # a copy for the node begins with what is left of the header, if the worm goes on
            to_node = {"headers": "allowed", "end": "local_out"} if prefix.startswith("local") else {}
            self.sink(prefix, depth=told.depth, cuts=not self.scoreboard.strict, **to_node)
        for name, value in told.straps.items():
            getattr(dut, name).value = value


@cocotb.test()
@cross
async def every_copy_leaves_once_and_whole(dut, idle, pressure):
    """Whatever the senders' idling and the receivers' back-pressure."""
    await all_pass(SwitchTB(dut), idle, pressure)


@cocotb.test()
async def a_lone_worm_leaves_in_its_cycles(dut):
    """What it is told: ``alone``, a worm with one copy, and ``cycles`` from its first flit in to its first ones out."""
    tb = SwitchTB(dut)
    await tb.reset()
    post(tb, [{**given().alone, "at": 10}])
    await tb.finish()
    [worm] = [worm for sink in tb.sinks.values() for worm in sink.worms]
    cycles = given().alone["cycles"]
    assert [cycle - 10 for cycle in worm.cycles][:len(cycles)] == cycles


@cocotb.test()
@cocotb.parametrize(error=list(given().errors), pressure=["never", "mostly"])
async def bad_flits_disturb_nobody(dut, error, pressure):
    """Bad flits are found and reported; worms in front of them, behind them and beside them leave once and whole.

    What it is told: ``errors``, by name the flits, the fault, and a worm to be sent behind them on the same virtual
    channel. What comes of bad flits is theirs alone.
    """
    told = given().errors[error]
    tb = SwitchTB(dut, strict=False)
    tb.wait_by(idle=PATTERNS["never"], pressure=PATTERNS[pressure])
    await tb.reset()
    tb.drivers[told["link"]].send(told["flits"], told["vc"])
    post(tb, [told["behind"], *given().worms])
    await tb.finish()
    assert faults(dut) == {"fault": told["fault"]}
    bad = {data for _, _, data in told["flits"]}
    for end, worm in tb.scoreboard.extra:
        assert bad.issuperset(worm.payload), f"{end}: {worm}"


@cocotb.test(skip=not given().spoilt)
async def a_false_credit_stops_its_virtual_channel_alone(dut):
    """What it is told: ``spoilt``, an output's prefix and virtual channel, and the fault; nothing where it
    is the only one."""
    told = given().spoilt
    tb = SwitchTB(dut)
    await tb.reset()
    sink = tb.sinks[told["link"]]
    sink.spoil(told["vc"])
    await tb.cycles(5)
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": told["fault"]}
    assert any(worm.vc != told["vc"] for worm in sink.worms)
    assert all(worm.vc != told["vc"] for worm in sink.worms)


@cocotb.test()
async def a_flit_without_a_credit_is_dropped_and_reported(dut):
    """Worms behind it, and on other virtual channels, leave once and whole. Of its own worm flits are missing.

    What it is told: ``flood``, a worm longer than all buffers on its way, and the fault.
    """
    told = given().flood
    tb = SwitchTB(dut, strict=False)
    await tb.reset()
    for sink in tb.sinks.values():
        sink.pause = waits.always()
    driver = tb.drivers[told["link"]]
    driver.send(told["flits"][:-1], told["vc"], unpaid=True)
    await driver.wait()
    await tb.cycles(20)
    for sink in tb.sinks.values():
        sink.pause = waits.never()
    await tb.cycles(50)
    driver.send(told["flits"][-1:], told["vc"])
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": told["fault"]}
    [(_, worm)] = tb.scoreboard.extra
    assert {data for _, _, data in told["flits"]} > set(worm.payload)
