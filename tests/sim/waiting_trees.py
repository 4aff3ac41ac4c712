"""Many trees of unicasts through the routers, and beside each the sends of each of its nodes alone in the network.

A tree is (root, unicasts), a unicast (sender, receiver, step), in the order of the sends. ``late`` says how much later
each of its messages arrives, counted from its sender's receipt, than in a network in which nobody else sends.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from wormcast.algorithms import AT_ONCE, Worms, find_scheme, topology
from wormcast.sim import hardware
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.host import UNDELIVERED, check_receipts, lay_out

LANES = 64
MOST_ROOM = 4000  # cycles that a tree may take


@dataclass
class Growing:
    """A tree that grows by one unicast at a time, and what Theorem 1 of [Hou] says of the next one; sets and loops."""

    ways: dict
    root: int
    unicasts: list = field(default_factory=list)

    def __post_init__(self):
        self.receipt = {self.root: None}  # the unicast by which each node got it
        self.step = {self.root: 0}  # in which it got it
        self.last = {}  # step of each node's last send
        self.used = {}  # first links of that step

    def may_send(self, sender, receiver, gap):
        """Step of a node's next unicast, so many after the one before; None where Definition 1 forbids it."""
        link = self.ways[sender, receiver][0]
        last = self.last.get(sender)
        step = self.step[sender] + 1 + gap if last is None else last + gap
        return None if last == step and link in self.used[sender] else step

    def condition(self, earlier, later):
        """Return whether one of the conditions holds for two unicasts, each (sender, receiver, step, place)."""
        (u, v, t, place), (x, y, _, _) = earlier, later
        if not set(self.ways[u, v]) & set(self.ways[x, y]):
            return True
        above, at = [], self.receipt[x]
        while at is not None:
            above.append((*self.unicasts[at], at))
            at = self.receipt[self.unicasts[at][0]]
        if any(k == place for *_, k in above):
            return True
        first = self.ways[u, v][0]
        if u == x and self.ways[x, y][0] == first:
            return True
        return any(sender == u and step > t and self.ways[u, w][0] == first for sender, w, step, _ in above)

    def holds(self, sender, receiver, step):
        """Return whether Theorem 1's conditions hold for a further unicast together with all earlier ones."""
        new = (sender, receiver, step, len(self.unicasts))
        for place, one in enumerate(self.unicasts):
            other = (*one, place)
            if not (self.condition(other, new) if one[2] <= step else self.condition(new, other)):
                return False
        return True

    def add(self, sender, receiver, step):
        if self.last.get(sender) != step:
            self.used[sender] = set()
        self.last[sender] = step
        self.used[sender].add(self.ways[sender, receiver][0])
        self.receipt[receiver], self.step[receiver] = len(self.unicasts), step
        self.unicasts.append((sender, receiver, step))


def ways_on(name):
    """Links of the ways between all nodes."""
    network = topology(name)
    routes = find_scheme("individual", network).on(network).relation.on(network)
    return {(u, v): tuple(one // len(routes.classes) for one in routes.channels(u, [v]))
            for u in range(network.nodes) for v in range(network.nodes) if u != v}


def grow(random, ways, nodes, *, keep):
    """A random tree to random nodes: what would not keep Theorem 1's conditions is left out, or not (``keep``)."""
    order = random.permutation(nodes)[:random.integers(3, min(nodes, 40) + 1)].tolist()
    tree = Growing(ways, order[0])
    for receiver in order[1:]:
        for _ in range(6):
            informed = list(tree.receipt)
            # who has it for long sends as often as who has just got it
            sender = informed[random.integers(len(informed))]
            step = tree.may_send(sender, receiver, int(random.integers(2)))
            if step is not None and (not keep or tree.holds(sender, receiver, step)):
                tree.add(sender, receiver, step)
                break
    return tree.root, tree.unicasts


class Arena:
    """Tori side by side, on which trees are sent one after the other."""

    def __init__(self, name, **options):
        built = topology(name)
        scheme = find_scheme("individual", built)
        self.network = Network(built, scheme, hardware(built, scheme, {"configuration": "dcf_torus", **options}), LANES)
        self._engine = None

    def run(self, trees, lengths):
        """Send trees; give the cycle of each unicast's last flit, counted from its sender's receipt or the creation."""
        room = self._room(trees, lengths)
        slots = -(-len(trees) // LANES)
        offsets = np.cumsum([0, *(len(unicasts) for _, unicasts in trees)])
        rows = [row for tree, first in zip(trees, offsets, strict=False) for row in _rows(tree, int(first))]
        source, visits, rank, after = (np.array(column) for column in zip(*rows, strict=True))
        worms = Worms(offsets, source.astype(np.int32), rank.astype(np.int32), after, np.arange(len(visits) + 1),
                      visits.astype(np.int32))
        at = np.arange(len(trees)) // LANES * room
        host = lay_out(self.network, at, np.array(lengths), worms, lane=np.arange(len(trees)) % LANES)
        engine = BulkEngine(self.network, host)
        engine.run(int(room) * (slots + 1))
        assert host.counters[UNDELIVERED] == 0, "a tree takes longer than the cycles that it has"
        check_receipts(host)
        created = np.repeat(at, np.diff(offsets))
        released = np.where(after == AT_ONCE, created, host.received[np.maximum(after, 0)])
        times = host.tail - released
        return [times[first:end].tolist() for first, end in pairwise(offsets)]

    def _room(self, trees, lengths):
        """Cycles after which every tree is through, and all is at rest."""
        hosts = self.network.configuration.t_hs + self.network.configuration.t_hr
        sends = max(len(unicasts) for _, unicasts in trees)
        return min(MOST_ROOM * (1 + hosts), sends * (max(lengths) + 60 + hosts) + 200)


def _rows(tree, first):
    """Sender, receiver, rank and release of each unicast, the first one in this row."""
    root, unicasts = tree
    receipt, sent, found = {root: AT_ONCE}, {}, []
    for row, (sender, receiver, _) in enumerate(unicasts):
        found.append((sender, receiver, sent.get(sender, 0), receipt[sender]))
        sent[sender] = sent.get(sender, 0) + 1
        receipt[receiver] = first + row
    return found


def late(arena, trees, lengths):
    """Return the delay of each unicast of each tree in cycles, against a run of its sender's unicasts alone."""
    alone, numbers = [], []
    for number, (_, unicasts) in enumerate(trees):
        for sender in dict.fromkeys(one for one, _, _ in unicasts):
            places = [place for place, one in enumerate(unicasts) if one[0] == sender]
            alone.append((sender, [unicasts[place] for place in places]))
            numbers.append((number, places))
    together = arena.run(trees, lengths)
    apart = arena.run(alone, [lengths[number] for number, _ in numbers])
    found = [list(times) for times in together]
    for (number, places), times in zip(numbers, apart, strict=True):
        for place, time in zip(places, times, strict=True):
            found[number][place] -= time
    return found
