"""Bench of a ring of token stations: one station holds the token at a time, and requesters get it in turn."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

from tb_common import given


async def run(dut, cycles, share, hold, seed):
    """Request the token at random, hold it for some cycles, and check that at most one requester holds it.

    Return the longest wait of a requester, as a number of grants to others, and the cycles of all grants. The setup
    has the number of ``stations``, and the number of ``requesters`` of each station.
    """
    rng, setup = random.Random(seed), given()
    everyone = [(p, k) for p in range(setup.stations) for k in range(setup.requesters)]
    asks, waits, left, grants = set(), {}, {}, []
    dut.rst.value = 1
    for p in range(setup.stations):
        getattr(dut, f"requests_{p}").value = 0
        getattr(dut, f"releases_{p}").value = 0
    Clock(dut.clk, 10, unit="ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    most = 0
    for cycle in range(cycles):
        await FallingEdge(dut.clk)
        held = [one for one in everyone if int(getattr(dut, f"holder_{one[0]}").value) >> one[1] & 1]
        assert len(held) <= 1
        assert sum(int(getattr(dut, f"in_use_{p}").value) for p in range(setup.stations)) == len(held)
        granted = [one for one in everyone if int(getattr(dut, f"granted_{one[0]}").value) >> one[1] & 1]
        assert len(granted) <= 1
        assert set(granted) <= asks
        for one in granted:
            grants.append(cycle)
            most = max(most, waits.pop(one))
            waits = {other: count + 1 for other, count in waits.items()}
            left[one] = rng.randint(1, hold)
        await RisingEdge(dut.clk)
        asks -= set(granted)
        ends = {one for one in held if left.get(one, 1) <= 0}
        left = {one: count - 1 for one, count in left.items() if one not in ends}
        for one in everyone:
            if one not in asks and one not in left and rng.random() < share:
                asks.add(one)
                waits.setdefault(one, 0)
        for p in range(setup.stations):
            getattr(dut, f"requests_{p}").value = sum(1 << k for k in range(setup.requesters) if (p, k) in asks)
            getattr(dut, f"releases_{p}").value = sum(1 << k for k in range(setup.requesters) if (p, k) in ends)
    return most, grants


@cocotb.test()
@cocotb.parametrize(share=[0.01, 0.2, 1.0], hold=[1, 9])
async def one_at_a_time_and_each_in_its_turn(dut, share, hold):
    """While a requester waits, the number of grants to others is at most the number of other requesters."""
    everyone = given().stations * given().requesters
    most, grants = await run(dut, 1500, share, hold, seed=f"{share} {hold}")
    assert len(grants) > 10
    assert most <= everyone - 1
    assert share < 1 or most == everyone - 1
