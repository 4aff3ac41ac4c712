# amaranth: UnusedElaboratable=no
"""The replication buffer: every flit written is read exactly once by each of its readers, in order."""

import random

import pytest
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.hw.buffer import ReplicationBuffer

from . import bench


class Traffic:
    """Random worms of one flit or more through a buffer, and a scoreboard of the flits that each reader must get.

    A worm goes to a random set of readers; all readers finish it before the next one of its virtual channel.
    """

    def __init__(self, buffer, seed, idle, busy):
        self.buffer, self.random = buffer, random.Random(seed)
        self.idle, self.busy = idle, busy
        self.space = [buffer.depth] * buffer.vcs
        self.stored = [[] for _ in range(buffer.vcs)]  # entries: value, readers to come, worm, its readers
        self.targets = [None] * buffer.vcs
        self.left = [0] * buffer.vcs
        self.freed = 0

    def step(self, cycle, context):
        buffer, rng = self.buffer, self.random
        several = len(buffer.readers) > 1
        for reader, port in enumerate(buffer.readers if several else []):
            follows = [bool(flits) and reader not in flits[0][3] for flits in self.stored]
            context.set(port.follow, sum(bit << vc for vc, bit in enumerate(follows)))
        taken = []
        for reader, port in enumerate(buffer.readers):
            vc = rng.randrange(buffer.vcs)
            context.set(port.vc, vc)
            entry = next((entry for entry in self.stored[vc] if reader in entry[1]), None)
            # a worm starts when the one before it has left the virtual channel
            take = entry is not None and entry[2] == self.stored[vc][0][2] and rng.random() > self.busy
            context.set(port.pop, take)
            if take:
                assert context.get(port.has) >> vc & 1
                assert context.get(port.data) == entry[0], (cycle, reader, vc)
                taken.append((entry, reader))
        gone = [0] * buffer.vcs
        for entry, reader in taken:
            entry[1].discard(reader)
        for vc in range(buffer.vcs):
            while self.stored[vc] and not self.stored[vc][0][1]:
                self.stored[vc].pop(0)
                gone[vc] += 1
        freed = context.get(buffer.freed)
        assert [freed >> vc & 1 for vc in range(buffer.vcs)] == gone, cycle
        self.freed += sum(gone)

        vc = rng.randrange(buffer.vcs)
        write = self.space[vc] > 0 and rng.random() > self.idle
        context.set(buffer.write, write)
        if write:
            if not self.left[vc]:
                self.left[vc] = rng.randint(1, 2 * buffer.depth)
                readers = range(len(buffer.readers))
                self.targets[vc] = (cycle, frozenset(rng.sample(readers, rng.randint(1, len(readers)))))
            self.left[vc] -= 1
            worm, targets = self.targets[vc]
            value = rng.getrandbits(buffer.width)
            context.set(buffer.write_vc, vc)
            context.set(buffer.write_data, value)
            context.set(buffer.write_count, len(targets))
            self.stored[vc].append([value, set(targets), worm, targets])
            self.space[vc] -= 1
        self.space = [space + freed for space, freed in zip(self.space, gone, strict=True)]


# in each size each storage, and each number of readers
@pytest.mark.parametrize(("readers", "storage"), [
    (1, "lutram"), (2, "registers"), slow(1, "registers"), slow(2, "lutram")])
@pytest.mark.parametrize(("vcs", "depth", "width"), [(1, 1, 5), (2, 4, 36), (3, 3, 7), (1, 16, 70), (4, 5, 9)])
def test_every_flit_is_read_once_by_each_reader_in_order(vcs, depth, width, readers, storage):
    buffer = ReplicationBuffer(vcs=vcs, depth=depth, width=width, readers=readers, storage=storage)
    for idle, busy in ((0.0, 0.0), (0.0, 0.6), (0.6, 0.0), (0.4, 0.4)):
        traffic = Traffic(buffer, 7 * vcs + depth, idle, busy)
        bench.simulate(buffer, 300, traffic.step)
        assert traffic.freed > 30


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"depth": 17}, "ReplicationBuffer.depth: 17 is not valid. Allowed: 1 to 16 flits."),
        ({"depth": 0}, "ReplicationBuffer.depth: 0 is not valid. Allowed: 1 to 16 flits."),
        ({"readers": 0}, "ReplicationBuffer.readers: 0 is not valid. Allowed: 1 or more."),
        ({"storage": "sram"}, "ReplicationBuffer.storage: 'sram' is not valid. Allowed: lutram, registers."),
    ],
)
def test_bad_parameters_are_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        ReplicationBuffer(**{"vcs": 1, "depth": 4, "width": 8, **options})
