"""A bench that asks for what ``pipe.v`` cannot carry: two virtual channels, sixteen bits of data."""

import re

import cocotb
import pytest

from wormcast_tb import TB, make_worm

#: Wrong flits, their virtual channel, and the sentence of their refusal.
SENT = {
    "channel": (make_worm([1], [2]), 7, "link in: virtual channel 7 is not valid. Allowed: 0 to 1."),
    "channel_below": (make_worm([1], [2]), -1, "link in: virtual channel -1 is not valid. Allowed: 0 to 1."),
    "data": (make_worm([1], [2, 0x10000]), 1,
             "link in: a flit with data 0x10000 is not valid. Allowed: 0 to 0xffff, 16 bits."),
    "data_below": (make_worm([1], [-2]), 0,
                   "link in: a flit with data -0x2 is not valid. Allowed: 0 to 0xffff, 16 bits."),
    "mark": ([(2, 0, 1)], 0,
             "link in: a flit with head mark 2 and tail mark 0 is not valid. Allowed for each mark: 0, 1."),
}


@cocotb.test()
@cocotb.parametrize(what=list(SENT))
async def is_not_queued(dut, what):
    flits, vc, sentence = SENT[what]
    tb = TB(dut)
    source, sink = tb.driver("in", depth=4), tb.sink("out", depth=4)
    await tb.reset()
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        source.send(flits, vc=vc)
    assert source.waiting == 0
    await tb.finish()
    assert sink.worms == []


@cocotb.test()
@cocotb.parametrize(vc=[2, -1])
async def is_not_spoilt(dut, vc):
    tb = TB(dut)
    sink = tb.sink("out", depth=4)
    tb.driver("in", depth=4)
    await tb.reset()
    with pytest.raises(ValueError, match=rf"^link out: virtual channel {vc} is not valid\. Allowed: 0 to 1\.$"):
        sink.spoil(vc)
    await tb.finish()


@cocotb.test()
async def reset_begins_anew(dut):
    tb = TB(dut)
    source, sink = tb.driver("in", depth=4), tb.sink("out", depth=4)
    await tb.reset()
    lost, worm = make_worm(header=[1], payload=range(9)), make_worm(header=[2], payload=range(5))
    source.send(lost)
    tb.scoreboard.expect("out", lost)
    await tb.cycles(6)
    await tb.reset()
    source.send(worm)
    tb.scoreboard.expect("out", worm)
    await tb.finish()
    assert [found.header for found in sink.worms] == [(2,)]


@cocotb.test()
@cocotb.parametrize(early=["sent", "expected"])
async def nothing_before_the_first_reset(dut, early):
    tb = TB(dut)
    source, _ = tb.driver("in", depth=4), tb.sink("out", depth=4)
    worm = make_worm(header=[1], payload=[2])
    if early == "sent":
        source.send(worm)
    else:
        tb.scoreboard.expect("out", worm)
    with pytest.raises(ValueError, match="reset: worms were sent or expected before the first reset"):
        await tb.reset()
