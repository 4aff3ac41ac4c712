"""Random worms through many instances of a deep switch, identified by their flits, and queues of expected flits."""

from dataclasses import dataclass, field

import numpy as np

from wormcast.algorithms.compiled import compiled
from wormcast.sim.engines.port_packing import credit_word, data_word

__all__ = ["Traffic"]

#: Worms of an input that are remembered: more than can be under way.
RING = 256
#: Columns of an input, and of an output.
ROOM, PLACE, AT, SIZE, NUMBER, PAUSE = range(6)
FROM, WORM, NEXT, IN_CHUNK, OWED, HELD = range(6)
#: Faults of a flit that an output sends, and of a credit.
NOTHING, NOBODYS, NO_HEADER, OUT_OF_ORDER, CHANGED, MARKS, CREDIT = range(7)


@dataclass
class Traffic:
    """Worms of all sizes, from one flit of payload on, to all sets of outputs, with pauses on both sides.

    A worm with several copies fits the buffer, one with a single copy has up to ``longest`` flits. Each instance has
    its own mixture: how often senders pause, how long worms are, how often credits stand still.

    Attributes
    ----------
    flits : int
        Flits that have been sent.
    ends, masks : array
        How many worms have ended in each place of a row, and gone to each set of outputs.
    wrong : tuple of int
        The first thing wrong: what, instance, port, cycle.
    """

    switch: object
    kernel: object
    count: int
    longest: int = 640
    seed: int = 1
    flits: int = field(default=0, init=False)

    def __post_init__(self):
        switch, n = self.switch, self.count
        inputs, outputs = len(switch.inputs), len(switch.outputs)
        self.senders = np.zeros((n, inputs, 6), np.int64)
        self.senders[:, :, ROOM] = switch.rows
        self.receivers = np.zeros((n, outputs, 6), np.int64)
        self.receivers[:, :, FROM] = -1
        self.worms = np.zeros((n, inputs, RING, 2), np.int64)  # mask, size
        self.due = np.zeros((n, outputs, inputs, RING), np.int64)
        self.ends_of_due = np.zeros((n, outputs, inputs, 2), np.int64)
        self.ends = np.zeros(switch.chunk, np.int64)
        self.masks = np.zeros(1 << outputs, np.int64)
        self.found = np.zeros(4, np.int64)
        self.chunks = np.array([port.chunk for port in switch.outputs])

    def run(self, cycles):
        """Send worms for this number of cycles, then wait until all have left. Return the number of cycles in all."""
        switch, n, cycle = self.switch, self.count, 0
        block = self.kernel.allocate(n)
        inputs, outputs = [[port.name for port in ports] for ports in (switch.inputs, switch.outputs)]
        marks, data, back = (np.zeros((len(outputs), n), np.int64), np.zeros((len(outputs), n), np.int64),
                             np.zeros((len(inputs), n), np.int64))
        credits, sent, says = (np.zeros((len(outputs), n), np.uint8), np.zeros((len(inputs), n), np.uint8),
                               np.zeros((len(inputs), n), np.uint16))
        seeded(self.seed)
        while cycle < cycles or self.under_way:
            for o, name in enumerate(outputs):
                marks[o], data[o] = block.output(f"{name}_out")[:n], block.output(data_word(f"{name}_out"))[:n]
            for i, name in enumerate(inputs):
                back[i] = block.output(credit_word(f"{name}_in"))[:n]
            self.flits += step(marks, data, back, credits, sent, says, self.senders, self.receivers, self.worms,
                               self.due, self.ends_of_due, self.ends, self.masks, self.found, self.chunks,
                               np.array([cycle, cycle < cycles, switch.rows, switch.chunk, switch.branching.flits,
                                         self.longest]))
            for o, name in enumerate(outputs):
                block.input(credit_word(f"{name}_out"))[:n] = credits[o]
            for i, name in enumerate(inputs):
                block.input(f"{name}_in")[:n], block.input(data_word(f"{name}_in"))[:n] = sent[i], says[i]
            self.kernel.step(block)
            cycle += 1
            assert cycle < 3 * cycles + 3_000, "worms stand still"
            assert self.found[0] == NOTHING, self.wrong
        assert not block.output("fault")[:n].any()
        return cycle

    @property
    def wrong(self):
        return tuple(self.found.tolist())

    @property
    def under_way(self):
        """Return whether worms are still in the switch, or credits are outstanding."""
        puts, gets = self.ends_of_due[..., 0], self.ends_of_due[..., 1]
        return ((puts != gets).any() or (self.receivers[:, :, [FROM]] >= 0).any() or self.receivers[:, :, OWED].any()
                or (self.senders[:, :, ROOM] != self.switch.rows).any() or self.senders[:, :, SIZE].any())


@compiled
def seeded(seed):
    np.random.seed(seed)


@compiled
def payload(port, number, place):
    """Data of a flit of a worm, also of header flits after the first."""
    return (number * 40503 + port * 7919 + place * 257) & 0xFFFF


@compiled
def step(marks, data, back, credits, sent, says, senders, receivers, worms, due, ends_of_due, ends, masks, found,
         chunks, told):
    """A cycle of all instances: look at what left, then say what comes; the number of flits."""
    flits = 0
    for lane in range(senders.shape[0]):
        for o in range(receivers.shape[1]):
            credits[o, lane] = give(lane, receivers[lane, o], told)  # a cycle behind the flit at the earliest
            if marks[o, lane] & 1:
                receive(lane, o, marks[o, lane] >> 1, data[o, lane], receivers, worms, due, ends_of_due, found, chunks,
                        told)
        for i in range(senders.shape[1]):
            flits += send(lane, i, back[i, lane], senders[lane, i], sent, says, worms, due, ends_of_due, ends, masks,
                          found, told)
    return flits


@compiled
def report(found, what, lane, port, cycle):
    if found[0] == 0:
        found[0], found[1], found[2], found[3] = what, lane, port, cycle


@compiled
def receive(lane, o, flags, says, receivers, worms, due, ends_of_due, found, chunks, told):
    """Look at a flit that left: of a worm that must leave here next among those of its input."""
    at, headers = receivers[lane, o], told[4]
    head, tail = flags & 1, flags >> 1 & 1
    if at[FROM] < 0:
        port = says >> 8 & 7
        if not head or port >= due.shape[2]:
            return report(found, NO_HEADER, lane, o, told[0])
        put, get = ends_of_due[lane, o, port]
        if put == get:
            return report(found, NOBODYS, lane, o, told[0])
        number = due[lane, o, port, get % RING]
        ends_of_due[lane, o, port, 1] += 1
        if says != header(port, number, worms[lane, port, number % RING, 0]):
            report(found, OUT_OF_ORDER, lane, o, told[0])
        at[FROM], at[WORM], at[NEXT] = port, number, 1
    else:
        if says != payload(at[FROM], at[WORM], at[NEXT]):
            report(found, CHANGED, lane, o, told[0])
        at[NEXT] += 1
    size = worms[lane, at[FROM], at[WORM] % RING, 1]
    if head != (at[NEXT] <= headers) or tail != (at[NEXT] == size):
        report(found, MARKS, lane, o, told[0])
    at[OWED] += at[IN_CHUNK] == 0
    at[IN_CHUNK] = 0 if tail else (at[IN_CHUNK] + 1) % chunks[o]
    if tail:
        at[FROM] = -1
    return None


@compiled
def give(lane, at, told):
    """Return whether the neighbour returns a credit. Some neighbours pause for many cycles now and then."""
    if at[HELD]:
        at[HELD] -= 1
    elif told[1] and np.random.random() < (0.0, 0.002, 0.02)[lane % 3]:
        at[HELD] = np.random.randint(1, 400 if lane % 3 == 1 else 40)
    elif at[OWED] and (not told[1] or np.random.random() < (1.0, 0.9, 0.4)[lane // 3 % 3]):
        at[OWED] -= 1
        return 1
    return 0


@compiled
def header(port, number, mask):
    return mask | port << 8 | (number & 31) << 11


@compiled
def send(lane, i, back, at, sent, says, worms, due, ends_of_due, ends, masks, found, told):
    """Say what comes by an input; whether a flit does."""
    chunk, headers = told[3], told[4]
    ready = at[ROOM] > 0 or at[PLACE] > 0
    at[ROOM] += back & 1
    if at[ROOM] > told[2]:
        report(found, CREDIT, lane, i, told[0])
    sent[i, lane] = 0
    if at[SIZE] == 0 and told[1]:
        if at[PAUSE]:
            at[PAUSE] -= 1
        else:
            draw(lane, i, at, worms, due, ends_of_due, masks, told)
    if at[SIZE] == 0 or not ready or np.random.random() < (0.0, 0.0, 0.3)[lane // 9 % 3]:
        return 0
    first, tail = at[AT] == 0, at[AT] == at[SIZE] - 1
    number = at[NUMBER]
    says[i, lane] = header(i, number, worms[lane, i, number % RING, 0]) if first else payload(i, number, at[AT])
    sent[i, lane] = 1 | (at[AT] < headers) << 1 | tail << 2
    at[ROOM] -= at[PLACE] == 0
    at[AT] += 1
    if tail:
        ends[at[PLACE]] += 1
        at[PLACE], at[SIZE] = 0, 0
        at[PAUSE] = np.random.randint(0, (1, 4, 100)[lane // 27 % 3])
    else:
        at[PLACE] = (at[PLACE] + 1) % chunk
    return 1


@compiled
def draw(lane, i, at, worms, due, ends_of_due, masks, told):
    """Return the next worm of an input: its outputs and its length."""
    rows, chunk, headers, longest = told[2], told[3], told[4], told[5]
    outputs, room = due.shape[1], rows * chunk - headers
    mask = 1 << np.random.randint(0, outputs) if np.random.random() < 0.4 else np.random.randint(1, 1 << outputs)
    most = max(room, longest - headers) if mask & mask - 1 == 0 else room
    kind = np.random.randint(0, (4, 8, 40)[lane // 81 % 3])
    if kind == 0:
        length = np.random.randint(1, most + 1)
    elif kind == 1:
        length = most
    else:  # around one row, or two
        length = min(most, max(1, np.random.randint(1, 3) * chunk - headers + np.random.randint(-2, 3)))
    at[NUMBER] += 1
    number = at[NUMBER]
    at[AT], at[SIZE] = 0, headers + length
    worms[lane, i, number % RING, 0], worms[lane, i, number % RING, 1] = mask, headers + length
    masks[mask] += 1
    for o in range(outputs):
        if mask >> o & 1:
            due[lane, o, i, ends_of_due[lane, o, i, 0] % RING] = number
            ends_of_due[lane, o, i, 0] += 1
