"""When every flit of a worm alone in the network is where: a max-plus recurrence, independent of the hardware.

A flit that lies on link h in cycle t[h, k] *leaves* the buffer behind that link in cycle

    leaves[h, k] = max( t[h, k] + 1                  data, and header flits behind the first
                        t[h, k] + 2                  first header flit: it is fetched before
                        t[h, k] + 3                  ... at a destination on the way: and a channel reserved
                        leaves[h, k - 1] + 1         one flit a cycle
                        leaves[h + 1, k - D] + 2 )   for each link h + 1 that it goes to: a credit

and is on the next link one cycle later (``paper``; two with ``fast``), which with one target is

    t[h, k] = max(t[h - 1, k] + 2 (+ 1 for a header), t[h, k - 1] + 1, t[h + 1, k - D] + 2).

Where a header flit is used up (it held the own address alone) it leaves with the reservation, in t + 2, and goes
nowhere; the flit behind it takes its place in max(leaves[h, used] + 2, t[h, k] + 2) on the way (fetched anew), or
follows in leaves[h, used] + 1 at the last destination. Coupled: a copy for the node leaves with the flit itself;
independent: each of both leaves as it can, and the buffer is free of the flit with the later.

Interfaces: 2 cycles each way, data and headers alike; a host's flits need the interface's 4 buffer places (loop of
3 cycles: leaves + 2) and payload to the host needs its 4 places. The interface of a destination drops headers.
"""

from dataclasses import dataclass, field

HOST_PLACES = 4
PASS, COPY, USED_UP, LAST = "pass", "copy", "used up", "last"


def roles(path, destinations, capacity):
    """What each router of a path is to the worm, with so many addresses to a header flit."""
    found = []
    visit = 0
    for node in path:
        if visit == len(destinations) or node != destinations[visit]:
            found.append(PASS)
            continue
        visit += 1
        if visit == len(destinations):
            found.append(LAST)
        else:
            found.append(USED_UP if visit % capacity == 0 else COPY)
    assert visit == len(destinations), "the path ends before the last destination"
    return found


@dataclass
class Buffer:
    """The buffer behind a link: how deep it is, who reads it, and what was there when."""

    depth: int
    lag: int  # from the cycle in which a flit leaves to the one in which it is on the next link
    targets: list = field(default_factory=list)  # groups of buffers; one reader a group, all its buffers together
    role: str = PASS
    interface: bool = False  # no header is fetched here
    arrives: dict = field(default_factory=dict)
    leaves: dict = field(default_factory=dict)  # the cycle from which its place is free: that of the last reader
    read: dict = field(default_factory=dict)  # (group, flit) -> cycle

    def room(self, k):
        """The first cycle in which flit k may set out for this buffer."""
        return self.leaves[k - self.depth] + 2 if k - self.depth in self.leaves else 0

    def accept(self, k, cycle, headers):
        """Flit k is on the link in this cycle; see when it leaves, and send it on."""
        first = not self.arrives
        self.arrives[k] = cycle
        header = k < headers and not self.interface
        if header and first and self.role in (USED_UP, LAST):
            self.leaves[k] = cycle + 2
            return
        least = cycle + 1
        begins = min(self.arrives)
        if header and first:
            least = cycle + (3 if self.role == COPY else 2)
        if self.role == LAST:
            least = max(least, self.leaves[begins] + 1)
        if self.role == USED_UP and k == begins + 1:
            least = max(cycle + 2, self.leaves[begins] + 2)
        for group, buffers in enumerate(self.targets):
            at = max([least, self.read.get((group, k - 1), -1) + 1, *(buffer.room(k) for buffer in buffers)])
            self.read[group, k] = at
            for buffer in buffers:
                buffer.accept(k, at + self.lag, headers)
        self.leaves[k] = max(self.read[group, k] for group in range(len(self.targets)))


@dataclass
class Node:
    """A consumption channel at its interface, and the host behind it."""

    depth: int
    arrives: dict = field(default_factory=dict)
    leaves: dict = field(default_factory=dict)
    received: dict = field(default_factory=dict)

    room = Buffer.room

    def accept(self, k, cycle, headers):
        least = max(cycle + 1, self.leaves.get(k - 1, -1) + 1)
        if k >= headers:
            if k - HOST_PLACES in self.received:
                least = max(least, self.received[k - HOST_PLACES] + 2)
            self.received[k] = least + 1
        self.arrives[k] = cycle
        self.leaves[k] = least


def deliveries(parts, headers, length, depth, *, at=0, coupled=True, fast=False):
    """(head, tail) at each destination of a worm alone in the network, in visiting order.

    ``parts`` are the roles of the routers on its path, ``at`` the cycle of its creation.
    """
    lag = 2 if fast else 1
    nodes = []
    routers = []
    for role in parts:
        routers.append(Buffer(depth, lag, role=role))
    for place, router in enumerate(routers):
        links = [routers[place + 1]] if place + 1 < len(routers) else []
        copies = []
        if router.role != PASS:
            nodes.append(Node(depth))
            copies = [nodes[-1]]
        router.targets = [links + copies] if coupled else [group for group in (links, copies) if group]
    source = Buffer(HOST_PLACES, 1, [[routers[0]]], interface=True)
    sent = at
    for k in range(headers + length):
        sent = max(sent + 1, source.room(k))
        source.accept(k, sent, headers)
    return [(node.received[headers], node.received[headers + length - 1]) for node in nodes]


def closed_form(parts, headers, length, depth, *, at=0, fast=False):
    """The same without a recurrence in time, for coupled readers and D >= 4 (``fast``: D >= 5).

    Let the first of what is left of the header, flit s, be on a link in u: at + 3 on the network's. A router adds
    3 to u, a destination on the way 4, and 5 where the flit is used up, which adds 1 to s; the first payload flit is
    on the last consumption link 4 after. ``fast`` adds 1 at each router. Flit j is on that link in

        x[h](j) = max over m >= 0 of  u[h + m] + (j - m D) - s[h + m] + 2 m

    as far as there is a flit j - m D (one that was used up counts as if it had gone on, but a cycle earlier). The term
    m = 0 is the stream without a gap; the others are the waits for credits behind a header that is being decoded
    further on, which the copies of a coupled worm share. The terms grow with m by 5 - D at most, 6 - D at
    destinations (``fast``: 1 more): none from D = 6 on (``fast``: 7). The last destination sees none: its payload
    comes in u + 4 + 2 and without a gap.
    """
    more = 1 if fast else 0
    u, s = at + 3, 0
    links = [(u, s)]
    for role in parts:
        u += {PASS: 3, COPY: 4, USED_UP: 5, LAST: 4}[role] + more
        s += role in (USED_UP, LAST)
        links.append((u, s))

    def on_link(h, j):
        u, s = links[h]
        found = u + j - s
        if h + 1 < len(links) and j - depth >= s:
            if j - depth >= links[h + 1][1]:
                found = max(found, on_link(h + 1, j - depth) + 2)
            else:
                found = max(found, u + 5 + more)
        return found

    return [(on_link(h + 1, headers) + 2, on_link(h + 1, headers + length - 1) + 2)
            for h, role in enumerate(parts) if role != PASS]
