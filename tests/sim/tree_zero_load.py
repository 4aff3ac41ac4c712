"""Cycle of every flit of a tree worm alone in the network: a max-plus recurrence, independent of the hardware.

Buffers and interfaces are those of `zero_load`. A switch reads a worm when it has the whole header, whose last flit is
on the link in cycle K. Its first flit leaves by branch b, which goes to one output, or in lockstep to all, in cycle

    leaves[b, 0] = max(K + 2, g + 1 where it is copied and the token is granted in cycle g, a place in each buffer)

and every other flit as in `zero_load`, by each branch at its own pace; a flit is freed when it has left by all.

The token is at the j-th switch of a ring of P in the cycles c with c = j modulo P, counted from reset on. A switch asks
for it from K + 2 on, and holds it from the cycle g in which it is there, until the cycle E in which all its branches
have reported; it is at the next switch in E + 1, and goes on from there. The headers below a switch have arrived in

    arrived = max over its branches of  leaves[b, 0] + 2   to a node
                                        K + 3              ... with a consumption channel for all that may come
                                        arrived + 2        of the switch that it goes to

and E is that switch's own ``arrived``.
"""

from dataclasses import dataclass, field

from .zero_load import HOST_PLACES, Buffer, Flit, Injection, Node

__all__ = ["Ring", "Split", "grow", "send"]


@dataclass
class Ring:
    """A token on its way round so many switches: at switch ``place`` in cycle ``since``."""

    switches: int
    place: int = 0
    since: int = 0

    def granted(self, place, asked):
        """The first cycle, from that in which it is asked for, in which it is at a switch."""
        at = self.since + (place - self.place) % self.switches
        return at + -(-max(asked - at, 0) // self.switches) * self.switches

    def ended(self, place, cycle):
        """Pass the token on after the worm that held it."""
        self.place, self.since = (place + 1) % self.switches, cycle + 1


@dataclass
class Split(Buffer):
    """The buffer behind a link, at a switch that sends what comes on by one branch or by several."""

    headers: int = 1
    ring: Ring | None = None  # of the token that it waits for, and its place there
    place: int = 0
    enough: bool = False  # its nodes have a consumption channel for all that may come
    came: list = field(default_factory=list)
    first: dict = field(default_factory=dict)  # group -> cycle in which the first flit left

    def accept(self, flit, cycle):
        if not flit.header:
            self.go(flit, cycle + 1)
            return
        self.came.append(cycle)
        if len(self.came) < self.headers:
            return
        least = cycle + 2 if self.ring is None else self.ring.granted(self.place, cycle + 2) + 1
        self.go(flit, least)
        self.first = dict(self.read)
        for came in self.came[1:]:
            self.go(flit, came + 1)

    def go(self, flit, least):
        """Send a flit by all branches, not before a cycle."""
        for group, buffers in enumerate(self.targets):
            at = max([least, self.read.get(group, -1) + 1, *(buffer.room() for buffer in buffers)])
            self.read[group] = at
            for buffer in buffers:
                buffer.accept(flit, at + self.lag)
        self.left.append(max(self.read.values()))

    def arrived(self):
        """The cycle in which the switch knows that all headers below have."""
        of_node = {group: self.came[-1] + 3 if self.enough else cycle + 2 for group, cycle in self.first.items()}
        return max(of_node[group] if isinstance(buffer, Node) else buffer.arrived() + 2
                   for group, buffers in enumerate(self.targets) for buffer in buffers)

    def give_back(self):
        """Give back all tokens that were taken here and below."""
        if self.ring is not None:
            self.ring.ended(self.place, self.arrived())
        for buffers in self.targets:
            for buffer in buffers:
                if isinstance(buffer, Split):
                    buffer.give_back()


def grow(ways, depth, *, lockstep=False, fast=False, headers=1, rings=None, enough=False):
    """The tree of a worm: its first buffer, and the nodes by their numbers.

    Parameters
    ----------
    ways : dict of node to list of switches
        What each destination is reached through.
    rings : dict of switch to (Ring, place), optional
        The token that each switch needs to copy a worm.
    """
    nodes = {node: Node(depth) for node in ways}
    switches = {}
    for switch in dict.fromkeys(switch for way in ways.values() for switch in way):
        switches[switch] = Split(depth, 2 if fast else 1, headers=headers, enough=enough)
    for node, way in ways.items():
        for at, after in zip(way, [*(switches[one] for one in way[1:]), nodes[node]], strict=True):
            if not any(after is one for group in switches[at].targets for one in group):
                switches[at].targets.append([after])
    for switch, split in switches.items():
        if len(split.targets) > 1 and rings and switch in rings:
            split.ring, split.place = rings[switch]
        if lockstep:
            split.targets = [[one for group in split.targets for one in group]]
    return switches[next(iter(ways.values()))[0]], nodes


def send(root, length, *, at, headers=1, queue=HOST_PLACES, t_hs=0):
    """Send a worm down its tree, created in cycle ``at``; its tokens are free again when this is through."""
    source, sent = Injection(queue, root), at + t_hs
    for place in range(headers + length):
        sent = max(sent + 1, source.room())
        source.accept(Flit(0, place < headers, place == headers + length - 1), sent)
    root.give_back()
