# amaranth: UnusedElaboratable=no
"""A link between two clocks without relation."""

import random

import pytest
from amaranth.hdl import ClockDomain, Module

from wormcast.algorithms import WormcastError
from wormcast.hw import PortSpec
from wormcast.hw.crossing import ClockCrossing
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.elaboration import make_simulator

WIDTH = 8


def cross(vcs, depth, periods, *, flits, phase=0.3, credit_after=0, accepts=lambda: True, cycles=400):
    """Send flits as credits allow; return those sent and those received, each with its time, and times of credits.

    ``periods`` are those of the clocks upstream and downstream, in ns. The receiver returns the credit of a flit so
    many cycles later, if it accepts.
    """
    crossing = ClockCrossing(PortSpec("link", vcs=vcs, depth=depth), width=WIDTH)
    quiet = int(12 * periods[1] / periods[0])  # both sides have left reset then
    m = Module()
    m.domains.upstream = up = ClockDomain()
    m.domains.downstream = down = ClockDomain()
    m.submodules.crossing = crossing
    sent, received, returned, back, queue = [], [], [], [], list(flits)
    room, held = [depth] * vcs, [[] for _ in range(vcs)]

    async def sender(context):
        context.set(up.rst, 1)
        for _ in range(8):
            await context.tick("upstream")
        context.set(up.rst, 0)
        for _ in range(quiet):
            await context.tick("upstream")
        for cycle in range(cycles):
            # time of the edge that begins this cycle: the first one is half a period after the start
            edge = (cycle + 7.5 + quiet) * periods[0]
            for vc in range(vcs):
                came = context.get(crossing.upstream.credit) >> vc & 1
                room[vc] += came
                back.extend([edge] * came)
            sends = bool(queue) and room[queue[0][0]] > 0
            context.set(crossing.upstream.valid, sends)
            if sends:
                vc, flit = queue.pop(0)
                room[vc] -= 1
                context.set(crossing.upstream.vc, vc)
                context.set(crossing.upstream.flit, {"head": flit & 1, "tail": flit >> 1 & 1, "data": flit >> 2})
                sent.append((edge, vc, flit))
            assert not context.get(crossing.overflow)
            await context.tick("upstream")

    async def receiver(context):
        context.set(down.rst, 1)
        for _ in range(8):
            await context.tick("downstream")
        context.set(down.rst, 0)
        cycle = 0
        while True:
            now = (cycle + 7 + phase) * periods[1]
            link = crossing.downstream
            if context.get(link.valid):
                flit = context.get(link.flit)
                vc = context.get(link.vc)
                received.append((now, vc, flit.head | flit.tail << 1 | flit.data << 2))
                held[vc].append(cycle + credit_after)
                assert len(held[vc]) <= depth, "a flit for a full buffer"
            mask = 0
            for vc, times in enumerate(held):
                if times and times[0] <= cycle and accepts():
                    del times[0]
                    mask |= 1 << vc
                    returned.append(now)
            context.set(link.credit, mask)
            cycle += 1
            await context.tick("downstream")

    simulator = make_simulator(m)
    simulator.add_clock(periods[0] * 1e-9, domain="upstream")
    simulator.add_clock(periods[1] * 1e-9, phase=phase * periods[1] * 1e-9, domain="downstream")
    simulator.add_testbench(sender)
    simulator.add_testbench(receiver, background=True)
    simulator.run()
    assert not queue
    assert room == [depth] * vcs, "credits that did not come back"
    return sent, received, returned, back


CLOCKS = [(10, 10), (10, 7.3), (7.3, 10), (10, 3.1), (3.1, 10), (10, 9.9)]


@pytest.mark.parametrize("periods", CLOCKS, ids=str)
@pytest.mark.parametrize(("vcs", "depth"), [(1, 1), (2, 4), (3, 3)])
def test_all_flits_and_credits_pass_in_order(periods, vcs, depth):
    rng = random.Random(f"{periods} {vcs}")
    flits = [(rng.randrange(vcs), rng.getrandbits(WIDTH + 2)) for _ in range(60)]
    sent, received, _, back = cross(vcs, depth, periods, flits=flits, phase=rng.random(), credit_after=rng.randrange(3),
                                 accepts=lambda: rng.random() < 0.6,
                                 cycles=(2600 if depth == 1 else 1200) if periods[1] > 3 * periods[0] else 1000)
    assert [entry[1:] for entry in sent] == flits
    assert [entry[1:] for entry in received] == flits
    assert len(back) == len(flits)


@pytest.mark.parametrize("periods", CLOCKS, ids=str)
def test_latency_of_flits_and_credits(periods):
    """A cycle of the sending side, and two to three of the other."""
    flits, credits = [], []
    for phase in (0.05, 0.3, 0.55, 0.8):
        sent, received, returned, back = cross(1, 1, periods, flits=[(0, k) for k in range(8)], phase=phase, cycles=500)
        flits += [came - went for (went, *_), (came, *_) in zip(sent, received, strict=True)]
        credits += [came - went for went, came in zip(returned, back, strict=True)]
    for found, here, there in ((flits, *periods), (credits, *periods[::-1])):
        assert here + 2 * there <= min(found)
        assert max(found) <= here + 3 * there


@pytest.mark.parametrize(("depth", "credit_after", "loop"), [(16, 0, 0), (8, 0, 0), (4, 0, 7), (4, 2, 9), (12, 2, 0)])
def test_throughput_is_the_buffer_over_the_credit_loop(depth, credit_after, loop):
    """Equal clocks: the crossing adds 6 to 8 cycles to the loop, 7 at this phase."""
    sent, *_ = cross(1, depth, (10, 10), flits=[(0, k) for k in range(100)], phase=0.3, credit_after=credit_after,
                     cycles=1200)
    times = [round(time / 10) for time, *_ in sent[40:]]
    gap = max(depth, loop)
    rounds = len(times) // depth - 1
    assert times[rounds * depth] - times[0] == pytest.approx(rounds * gap, abs=1)


def test_the_bulk_engine_refuses_two_clocks():
    said = r"ClockCrossing: clock domain '(up|down)stream' is not valid\. Allowed: sync\."
    with pytest.raises(WormcastError, match=said):
        netlist.read(ClockCrossing(PortSpec("link", vcs=1, depth=4), width=WIDTH))
