"""Bench of the switch: each copy of a worm leaves once and complete, and errors do not spread."""

import cocotb

from tb_common import PATTERNS, all_pass, cross, faults, given, post
from wormcast_tb import TB, waits


class SwitchTB(TB):
    """Bench of a router.

    In the setup, ``inputs`` and ``outputs`` list the prefixes of the router's links; prefixes of links to the node
    begin with ``local``. ``depth`` is the depth of all buffers. ``straps`` has the values of the static inputs.
    ``faults`` has the bit widths of cause, port and virtual channel in each fault output. ``worms`` are the worms to
    send.
    """

    def __init__(self, dut, **options):
        super().__init__(dut, **options)
        setup = given()
        for prefix in setup.inputs:
            self.driver(prefix, depth=setup.depth)
        for prefix in setup.outputs:
            # if a worm goes on after this node, the node's copy begins with the remaining header flits
            to_node = {"headers": "allowed", "end": "local_out"} if prefix.startswith("local") else {}
            self.sink(prefix, depth=setup.depth, cuts=not self.scoreboard.strict, **to_node)
        for name, value in setup.straps.items():
            getattr(dut, name).value = value


@cocotb.test()
@cross
async def every_copy_leaves_once_and_whole(dut, idle, pressure):
    """All copies leave, with each pattern in which senders idle and receivers hold back credits (`cross`)."""
    await all_pass(SwitchTB(dut), idle, pressure)


@cocotb.test()
async def a_lone_worm_leaves_in_its_cycles(dut):
    """If only one worm is in the switch, the worm leaves in the expected cycles.

    In the setup, ``alone`` is a worm with one copy. ``cycles`` of this worm are the numbers of cycles from the worm's
    first flit on the input to each of the copy's first flits on the output.
    """
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
    """Bad flits are reported. Worms before, after and beside bad flits leave once and complete.

    If an unexpected worm leaves, all its payload is from the bad flits.

    In the setup, ``errors`` has, by name, bad flits, the fault that they cause, and a worm that is sent after them on
    the same virtual channel.
    """
    setup = given().errors[error]
    tb = SwitchTB(dut, strict=False)
    tb.wait_by(idle=PATTERNS["never"], pressure=PATTERNS[pressure])
    await tb.reset()
    tb.drivers[setup["link"]].send(setup["flits"], setup["vc"])
    post(tb, [setup["behind"], *given().worms])
    await tb.finish()
    assert faults(dut) == {"fault": setup["fault"]}
    bad = {data for _, _, data in setup["flits"]}
    for end, worm in tb.scoreboard.extra:
        assert bad.issuperset(worm.payload), f"{end}: {worm}"


@cocotb.test(skip=not given().spoilt)
async def a_false_credit_stops_its_virtual_channel_alone(dut):
    """After a false credit, the other virtual channels of the output still send.

    In the setup, ``spoilt`` has an output's prefix, a virtual channel of the output, and the fault. ``spoilt`` is empty
    if the output has only one virtual channel.
    """
    setup = given().spoilt
    tb = SwitchTB(dut)
    await tb.reset()
    sink = tb.sinks[setup["link"]]
    sink.spoil(setup["vc"])
    await tb.cycles(5)
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": setup["fault"]}
    assert any(worm.vc != setup["vc"] for worm in sink.worms)
    assert all(worm.vc != setup["vc"] for worm in sink.worms)


@cocotb.test()
async def a_flit_without_a_credit_is_dropped_and_reported(dut):
    """Worms after a flit without credit, and on other virtual channels, leave once and complete.

    Only the worm of the flit without credit loses flits.

    In the setup, ``flood`` has a worm longer than all buffers on its way, and the fault.
    """
    setup = given().flood
    tb = SwitchTB(dut, strict=False)
    await tb.reset()
    for sink in tb.sinks.values():
        sink.pause = waits.always()
    driver = tb.drivers[setup["link"]]
    driver.send(setup["flits"][:-1], setup["vc"], unpaid=True)
    await driver.wait()
    await tb.cycles(20)
    for sink in tb.sinks.values():
        sink.pause = waits.never()
    await tb.cycles(50)
    driver.send(setup["flits"][-1:], setup["vc"])
    post(tb, given().worms)
    await tb.finish()
    assert faults(dut) == {"fault": setup["fault"]}
    [(_, worm)] = tb.scoreboard.extra
    assert {data for _, _, data in setup["flits"]} > set(worm.payload)
