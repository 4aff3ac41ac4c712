"""Router 1.1 of a mesh of 3x3 nodes under cocotb, with no library besides cocotb.

    wormcast verilog router --topology mesh:3x3 --vcs 1 --consumption 1 --flit-width 16 --module router -o router.v
    python test_router.py             # with Verilator
    python test_router.py icarus      # with Icarus Verilog

Links are driven after the rising edge of the clock, and sampled at the falling edge.
"""

import sys

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

PORTS = ("east", "west", "south", "north", "local")
DEPTH = 4  # flits of buffer at each end of each link, so credits after reset
HEAD, TAIL = 1, 2  # marks: bits 0 and 1 of a flit, below 16 bits of data


def header(*addresses):
    """Return a header flit: 3 addresses of 4 bits (row, column) in visiting order; bit 15 marks the last header flit.

    Unused address fields repeat the last address.
    """
    fields = [*addresses, *[addresses[-1]] * (3 - len(addresses))]
    data = 1 << 15 | sum(address << 4 * place for place, address in enumerate(fields))
    return data << 2 | HEAD


def payload(*data):
    """Return payload flits, the last of them with the tail mark."""
    return [one << 2 for one in data[:-1]] + [data[-1] << 2 | TAIL]


async def start(dut):
    """Start the clock, and reset the router for a cycle with all links idle."""
    dut.strap_coordinate_0.value, dut.strap_coordinate_1.value = 1, 1
    for port in PORTS:
        for name in ("in_valid", "in_flit", "out_credit"):
            getattr(dut, f"{port}_{name}").value = 0
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    await ClockCycles(dut.clk, 2)
    dut.rst.value = 0


async def send(dut, link, flits):
    """Send flits as the router's credits allow."""
    valid, flit, credit = (getattr(dut, f"{link}_{name}") for name in ("valid", "flit", "credit"))
    credits, waiting = DEPTH, list(flits)
    while waiting:
        await RisingEdge(dut.clk)
        valid.value = credits > 0
        if credits:
            flit.value = waiting.pop(0)
            credits -= 1
        await FallingEdge(dut.clk)
        credits += int(credit.value)
    await RisingEdge(dut.clk)
    valid.value = 0


async def receive(dut, link, got, returns=True):
    """Append the flits of a link to ``got``. With ``returns``, return a credit in the cycle after each flit."""
    valid, flit, credit = (getattr(dut, f"{link}_{name}") for name in ("valid", "flit", "credit"))
    while True:
        await FallingEdge(dut.clk)
        there = int(valid.value)
        if there:
            got.append(int(flit.value))
        await RisingEdge(dut.clk)
        if returns:
            credit.value = there


@cocotb.test()
async def unicast(dut):
    """A unicast from the west to node 1.2 leaves in the east as it came."""
    await start(dut)
    east, local = [], []
    cocotb.start_soon(receive(dut, "east_out", east))
    cocotb.start_soon(receive(dut, "local_out", local))
    worm = [header(0b0110), *payload(0xA0, 0xA1, 0xA2)]
    await send(dut, "west_in", worm)
    await ClockCycles(dut.clk, 10)
    assert east == worm
    assert local == []


@cocotb.test()
async def multicast(dut):
    """A multicast from the west stops at node 1.1 and goes on to node 1.2."""
    await start(dut)
    east, local = [], []
    cocotb.start_soon(receive(dut, "east_out", east))
    cocotb.start_soon(receive(dut, "local_out", local))
    data = payload(0xB0, 0xB1, 0xB2)
    await send(dut, "west_in", [header(0b0101, 0b0110), *data])
    await ClockCycles(dut.clk, 15)
    assert east == [header(0b0110), *data]  # the header has lost the address of node 1.1
    assert local == [header(0b0110), *data]  # a stop on the way: the rest of the header, then the payload


@cocotb.test()
async def last_stop(dut):
    """A worm that ends at node 1.1 leaves at ``local_out`` without its header."""
    await start(dut)
    local = []
    cocotb.start_soon(receive(dut, "local_out", local))
    data = payload(0xC0, 0xC1, 0xC2)
    await send(dut, "west_in", [header(0b0101), *data])
    await ClockCycles(dut.clk, 10)
    assert local == data


@cocotb.test()
async def credits_by_hand(dut):
    """Without credits the router sends as many flits as the receiver's buffer holds; each pulse releases one more."""
    await start(dut)
    east = []
    cocotb.start_soon(receive(dut, "east_out", east, returns=False))
    worm = [header(0b0110), *payload(*range(6))]
    await send(dut, "west_in", worm)
    await ClockCycles(dut.clk, 20)
    assert east == worm[:DEPTH]
    for more in range(1, len(worm) - DEPTH + 1):
        await RisingEdge(dut.clk)
        dut.east_out_credit.value = 1
        await RisingEdge(dut.clk)
        dut.east_out_credit.value = 0
        await ClockCycles(dut.clk, 5)
        assert east == worm[:DEPTH + more]


if __name__ == "__main__":
    simulator = sys.argv[1] if sys.argv[1:] else "verilator"
    runner = get_runner(simulator)
    # for Verilator: one C++ file, compiled quickly; signals that cocotb can read are slower, which is no error
    extra = ["--output-split", "0", "-CFLAGS", "-O0", "-Wno-fatal"] if simulator == "verilator" else []
    runner.build(sources=["router.v"], hdl_toplevel="router", build_args=extra)
    tests, failed = get_results(runner.test(test_module="test_router", hdl_toplevel="router"))
    sys.exit(f"{failed} of {tests} tests failed" if failed or not tests else None)
