"""Bench of the replication buffer: each flit is read exactly once by each of its readers, in order."""

import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from tb_common import cross, given
from wormcast_tb import TB

WAITS = {"never": 0.0, "half": 0.5, "mostly": 0.85, "bursts": 0.3}


class Readers:
    """Writer of random worms, each to a random set of readers, and the flits that each reader must read.

    A worm is read after all readers of the previous worm on the same virtual channel have read the previous worm.

    The setup has the parameters ``vcs``, ``depth``, ``width`` and ``readers`` of the buffer.
    """

    def __init__(self, dut, rng, idle, busy):
        self.dut, self.rng, self.idle, self.busy = dut, rng, idle, busy
        self.vcs, self.depth, self.readers, self.width = (
            getattr(given(), name) for name in ("vcs", "depth", "readers", "width"))
        # flits stored in each virtual channel: value, readers that have not read it, all its readers, worm's number
        self.stored = [[] for _ in range(self.vcs)]
        self.left, self.worm = [0] * self.vcs, [None] * self.vcs
        self.worms = self.through = 0

    def put(self, name, value):
        """Drive a port if the Verilog has it. The Verilog has no ports of zero bits."""
        if hasattr(self.dut, name):
            getattr(self.dut, name).value = value

    def drive(self):
        """Choose the reads and the write of this cycle."""
        self.pops = []
        for r in range(self.readers):
            vc = self.rng.randrange(self.vcs)
            flits = self.stored[vc]
            due = next((entry for entry in flits if r in entry[1] and entry[3] == flits[0][3]), None)
            pop = due is not None and self.rng.random() >= self.busy
            self.put(f"readers_{r}_vc", vc)
            self.put(f"readers_{r}_pop", pop)
            self.put(f"readers_{r}_follow", sum(
                1 << v for v, stored in enumerate(self.stored) if stored and r not in stored[0][2]))
            if pop:
                self.pops.append((r, vc, due))
        vc = self.rng.randrange(self.vcs)
        self.written = None
        if len(self.stored[vc]) < self.depth and self.rng.random() >= self.idle:
            if not self.left[vc]:
                self.left[vc], self.worms = self.rng.randint(1, 2 * self.depth), self.worms + 1
                self.worm[vc] = self.worms, self.rng.sample(range(self.readers), self.rng.randint(1, self.readers))
            self.left[vc] -= 1
            number, readers = self.worm[vc]
            self.written = vc, [self.rng.getrandbits(self.width), set(readers), set(readers), number]
        self.put("write", self.written is not None)
        if self.written:
            self.put("write_vc", vc)
            self.put("write_data", self.written[1][0])
            self.put("write_count", len(self.written[1][1]))

    def sample(self):
        """Check the data that readers get, the freed entries, and the virtual channels reported as full."""
        dut = self.dut
        full = int(dut.full.value)
        assert [full >> vc & 1 for vc in range(self.vcs)] == [len(flits) == self.depth for flits in self.stored]
        for r, vc, due in self.pops:
            assert int(getattr(dut, f"readers_{r}_has").value) >> vc & 1
            assert int(getattr(dut, f"readers_{r}_data").value) == due[0], f"reader {r}, virtual channel {vc}"
            due[1].discard(r)
        freed = int(dut.freed.value)
        for vc, flits in enumerate(self.stored):
            gone = bool(flits) and not flits[0][1]
            assert freed >> vc & 1 == gone, f"virtual channel {vc} frees {freed >> vc & 1}, not {int(gone)}"
            if gone:
                flits.pop(0)
                self.through += 1
        if self.written:
            self.stored[self.written[0]].append(self.written[1])


@cocotb.test()
@cross
async def every_flit_is_read_once_by_each_reader(dut, idle, pressure):
    """In each cycle the writer idles, and each reader waits, with the probabilities in `WAITS`."""
    tb = TB(dut)
    readers = Readers(dut, random.Random(f"{idle} {pressure}"), WAITS[idle], WAITS[pressure])
    for r in range(readers.readers):
        readers.put(f"readers_{r}_pop", 0)
        readers.put(f"readers_{r}_follow", 0)
    readers.put("skip", 0)
    readers.put("write", 0)
    await tb.reset()
    for _ in range(600):
        await RisingEdge(dut.clk)
        readers.drive()
        await FallingEdge(dut.clk)
        readers.sample()
    assert readers.through > 50
