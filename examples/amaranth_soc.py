"""Design in Amaranth with a row of three routers: the node in the west sends a multicast to the two others.

    python amaranth_soc.py          # simulate it, and print what the nodes receive
    python amaranth_soc.py soc.v    # write it as Verilog
"""

import sys
from itertools import pairwise
from pathlib import Path

from amaranth.back import verilog
from amaranth.hdl import Array, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped
from amaranth.sim import Simulator

from wormcast.algorithms import SCHEMES, topology
from wormcast.hw import LinkSignature
from wormcast.hw.router import Blueprint
from wormcast.sim import hardware

MESH, SCHEME = topology("mesh:1x3"), SCHEMES["dual-path"]
BLUEPRINT = Blueprint(MESH, SCHEME, hardware(MESH, SCHEME, {"flit_width": 16, "vcs": 1, "consumption": 1}))


class Sender(wiring.Component):
    """Logic of our own at a router: it sends one worm, a flit in each cycle in which it has a credit.

    ``worm`` has a tuple of head mark, tail mark and data for each flit.
    """

    def __init__(self, worm):
        self.worm = worm
        super().__init__({"link": Out(LinkSignature(vcs=1, width=16))})

    def elaborate(self, platform):
        m = Module()
        credits, sent = Signal(range(5), init=4), Signal(range(len(self.worm) + 1))  # the router has 4 flits of buffer
        flits = Array(Const(data << 2 | tail << 1 | head, 18) for head, tail, data in self.worm)
        sends = (credits != 0) & (sent != len(self.worm))
        m.d.comb += [self.link.valid.eq(sends), self.link.flit.eq(flits[sent])]
        m.d.sync += [sent.eq(sent + sends), credits.eq(credits - sends + self.link.credit)]
        return m


class Soc(wiring.Component):
    """Three routers in a row, with a `Sender` in the west; the two others have ports for their nodes."""

    middle: Out(LinkSignature(vcs=1, width=16))
    east: Out(LinkSignature(vcs=1, width=16))

    def elaborate(self, platform):
        m = Module()
        header = BLUEPRINT.header.encode([1, 2])  # nodes, in visiting order
        worm = [*((1, 0, data) for data in header), (0, 0, 0xA0), (0, 0, 0xA1), (0, 1, 0xA2)]
        m.submodules.sender = sender = Sender(worm)
        routers = [BLUEPRINT.router() for _ in range(3)]
        for column, router in enumerate(routers):
            m.submodules[f"router_{column}"] = router
            m.d.comb += router.strap_coordinate_1.eq(column)  # there is one row, so rows have no coordinate
        for west, east in pairwise(routers):
            connect(m, west.east_out, east.west_in)
            connect(m, east.west_out, west.east_in)
        connect(m, sender.link, routers[0].local_in)
        connect(m, routers[1].local_out, flipped(self.middle))
        connect(m, routers[2].local_out, flipped(self.east))
        return m


def simulate():
    """Print the flits at both nodes, which never wait: they return a credit in the flit's own cycle."""
    soc = Soc()

    async def testbench(ctx):
        for cycle in range(30):
            for name in ("middle", "east"):
                link = getattr(soc, name)
                valid, flit = ctx.get(link.valid), ctx.get(link.flit)
                ctx.set(link.credit, valid)
                if valid:
                    marks = "".join(mark for mark, bit in (("H", flit.head), ("T", flit.tail)) if bit)
                    print(f"cycle {cycle:2}: {name:6} {flit.data:04x} {marks}".rstrip())
            await ctx.tick()

    simulator = Simulator(soc)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


if __name__ == "__main__":
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(verilog.convert(Soc(), name="soc"))
    else:
        simulate()
