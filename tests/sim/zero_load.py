"""Cycle of every flit of a worm alone in the network: a max-plus recurrence, independent of the hardware.

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

Interfaces: 2 cycles each way, data and headers alike; a host's flits need the interface's buffer places (loop of
3 cycles: leaves + 2) and payload to the host needs its 4 places. The interface of a destination drops headers.

Packets: the header again in front of each. A packet's first flit leaves an interface t_ns cycles after it is there,
and on one virtual channel everything waits for the packet before: its virtual channels are free 2 cycles after its
tail was sent, its buffer is fetched from in the cycle after the tail left. A reservation needs a credit, of the
consumption channel as of the link. A tail flit leaves the last interface t_nr cycles later than it could.
"""

from dataclasses import dataclass, field

HOST_PLACES = 4


def addresses_in_a_flit(shape, width):
    """Return the number of node addresses in a header flit, beside the bit that marks the last flit of a list."""
    return (width - 1) // sum((extent - 1).bit_length() for extent in shape)


PASS, COPY, USED_UP, LAST = "pass", "copy", "used up", "last"


def roles(path, destinations, capacity):
    """List the role of each router of a path for the worm, with ``capacity`` addresses to a header flit."""
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


@dataclass(frozen=True)
class Flit:
    """One flit on its way: of which packet, a header flit or not, the last one or not."""

    packet: int
    header: bool
    tail: bool = False


@dataclass
class Buffer:
    """The buffer behind a link: how deep it is, who reads it, and what was there when."""

    depth: int
    lag: int  # from the cycle in which a flit leaves to the one in which it is on the next link
    targets: list = field(default_factory=list)  # groups of buffers; one reader a group, all its buffers together
    role: str = PASS
    node: object = None  # the consumption channel that a worm reserves here
    left: list = field(default_factory=list)  # the cycle from which each flit's place is free: that of the last reader
    packet: int = -1  # the one that is passing through, and how many of its flits have
    passed: int = 0
    read: dict = field(default_factory=dict)  # group -> cycle of its last flit

    def room(self):
        """The first cycle in which one more flit may set out for this buffer."""
        return self.left[-self.depth] + 2 if len(self.left) >= self.depth else 0

    def accept(self, flit, cycle):
        """A flit is on the link in this cycle; see when it leaves, and send it on."""
        before = self.left[-1] if self.left else -2
        first, self.packet = flit.packet != self.packet, flit.packet
        self.passed = 0 if first else self.passed + 1
        fetched = max(cycle, before) + 2  # asks in this cycle
        if first and self.role != PASS:
            fetched = max(fetched, self.node.room())
        if first and self.role in (USED_UP, LAST):
            self.left.append(fetched)
            return
        least = max(cycle + 1, before + 1 if self.role == LAST else 0)
        if first:
            least = fetched + (self.role == COPY)
        if self.role == USED_UP and self.passed == 1:
            least = fetched
        for group, buffers in enumerate(self.targets):
            at = max([least, self.read.get(group, -1) + 1, *(buffer.room() for buffer in buffers)])
            self.read[group] = at
            for buffer in buffers:
                buffer.accept(flit, at + self.lag)
        self.left.append(max(self.read.values()))


@dataclass
class Node:
    """A consumption channel at its interface, and the host behind it."""

    depth: int
    t_nr: int = 0
    left: list = field(default_factory=list)
    received: list = field(default_factory=list)  # payload on the host's link
    taken: list = field(default_factory=list)  # the same without t_nr

    room = Buffer.room

    def accept(self, flit, cycle):
        least = max(cycle + 1, self.left[-1] + 1 if self.left else 0)
        if not flit.header:
            if len(self.received) >= HOST_PLACES:
                least = max(least, self.received[-HOST_PLACES] + 2)
            self.taken.append(least + 1)
            least += self.t_nr if flit.tail else 0
            self.received.append(least + 1)
        self.left.append(least)


@dataclass
class Injection:
    """The interface's sending side: the host's flits in, packets out."""

    depth: int
    next: Buffer
    t_ns: int = 0
    left: list = field(default_factory=list)
    sent: int = -2
    packet: int = -1

    room = Buffer.room

    def send(self, flit, there):
        """Send a flit that is there from this cycle on."""
        # a packet's virtual channel is free in the second cycle after the tail of the packet before
        first = flit.packet != self.packet
        at = max(there + first * self.t_ns, self.sent + 1 + first)
        self.packet, self.sent = flit.packet, max(at, self.next.room())
        self.next.accept(flit, self.sent + 1)

    def accept(self, flit, cycle):
        """The host's flit is on the link in this cycle: a header flit, or payload."""
        self.send(flit, max(cycle, self.sent) + 1)
        self.left.append(self.sent)

    def repeat(self, flit):
        """A header flit of a packet behind the first: from the interface's own memory."""
        self.send(flit, self.sent + 1)


def deliveries(parts, headers, length, depth, *, at=0, coupled=True, fast=False, queue=HOST_PLACES, packet=0,
               t_ns=0, t_nr=0, t_hs=0, injection_delay=0):
    """(head, tail) at each destination of a worm alone in the network, in visiting order.

    ``parts`` are the roles of the routers on its path, ``at`` the cycle of its creation. With packets, one virtual
    channel a link: each follows in the places that the one before it leaves.
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
            nodes.append(Node(depth, t_nr))
            router.node = nodes[-1]
            copies = [nodes[-1]]
        router.targets = [links + copies] if coupled else [group for group in (links, copies) if group]
    source = Injection(queue, routers[0], t_ns)
    size = packet or length
    sent = at + injection_delay + t_hs
    for _ in range(headers):
        sent = max(sent + 1, source.room())
        source.accept(Flit(0, True), sent)
    for place in range(length):
        if place and place % size == 0:
            for _ in range(headers):
                source.repeat(Flit(place // size, True))
        sent = max(sent + 1, source.room())
        source.accept(Flit(place // size, False, place % size == size - 1 or place == length - 1), sent)
    return [(node.taken[0], node.taken[-1]) for node in nodes]


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
