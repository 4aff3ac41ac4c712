# amaranth: UnusedElaboratable=no
# (an interface creates its processor to check the parameters, and may never be elaborated)
"""The one communication processor of a network interface, which serves packets to send and received packets."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError

from ..logic import any_of
from ..options import MOST_DELAY, SERVICE_ORDERS

__all__ = ["CommunicationProcessor"]


class CommunicationProcessor(wiring.Component):
    """Processor that serves the packets in all queues of an interface, one at a time ([Sivaram98], section 3.1).

    ::

        arrives ─▶ list of packets, oldest first ─▶ oldest packet that can start ─▶ t_ns or t_nr ─▶ done
                                    waits (the first packet of a queue can start) ─▲

    The list has an entry for each packet that is stored and not begun, with the packet's queue. Queues are first in,
    first out. The processor begins the oldest packet whose queue has ``waits`` = 1; a packet whose queue cannot start
    waits, and younger packets of other queues pass it. So a queue that waits for the network stops no other queue. With
    the order ``receive-first``, received packets that can start come before packets to send; with ``send-first``, after
    them. A packet that has begun is not interrupted. Of packets that arrive in the same cycle, received packets count
    as older than packets to send, and otherwise the packet of the queue with the lower number as the older one.

    *Latency*: a packet that arrives in cycle t can begin in t + 1. A packet that begins in cycle t is done in cycle t +
    max(cycles, 1) - 1. *Throughput*: a packet in max(cycles, 1) cycles. *Reset*: no packets.

    Parameters
    ----------
    receive, send : int
        Number of queues with received packets, and with packets to send.
    packets : int
        Packets that all queues together can store.
    t_nr, t_ns : int
        Cycles for a received packet, and for a packet to send. Range: 0 to 65535; 0 takes a cycle, like 1.
    order : "arrival", "receive-first" or "send-first"

    Members
    -------
    arrives : In(receive + send)
        A packet is stored in this queue. Queues with received packets have the lowest numbers.
    waits : In(receive + send)
        The oldest packet of this queue that is not served can start. From the cycle after ``done`` on, ``waits``
        belongs to the queue's next packet.
    done : Out(receive + send)
        The oldest packet of this queue is served in this cycle.
    """

    def __init__(self, *, receive: int, send: int, packets: int, t_nr: int, t_ns: int, order: str):
        for field, value in (("t_nr", t_nr), ("t_ns", t_ns)):
            if not 0 <= value <= MOST_DELAY:
                raise WormcastError(f"CommunicationProcessor.{field}: {value} is not valid. Allowed: 0 to "
                                    f"{MOST_DELAY}.")
        if order not in SERVICE_ORDERS:
            raise WormcastError(f"CommunicationProcessor.order: {order!r} is not valid. Allowed: "
                                f"{', '.join(SERVICE_ORDERS)}.")
        self.receive = receive
        self.queues = receive + send
        self.packets = packets
        self.cycles = [max(t_nr, 1)] * receive + [max(t_ns, 1)] * send
        self.order = order
        super().__init__({"arrives": In(self.queues), "waits": In(self.queues), "done": Out(self.queues)})

    def elaborate(self, platform):
        m = Module()
        count, last = self.packets, max(self.cycles) - 1
        # the list: entry 0 is the oldest packet; in each entry at most one queue has its bit set
        entries = [Signal(count, name=f"queue{k}_entries") for k in range(self.queues)]
        serves = Signal(self.queues)  # queue of the packet that has begun
        left = Signal(range(last + 1))  # remaining cycles of the packet that has begun, less 1
        can, candidates, chosen, below = (Signal(count, name=name) for name in ("can", "candidates", "chosen", "below"))
        begins, now = (Signal(self.queues, name=name) for name in ("begins", "now"))
        now_left = Signal(range(last + 1))
        idle = serves == 0
        startable = [of & waits.replicate(count) for of, waits in zip(entries, self.waits, strict=True)]
        received, sent = any_of(startable[:self.receive]), any_of(startable[self.receive:])
        m.d.comb += can.eq(received | sent)
        if self.order == "arrival":
            m.d.comb += candidates.eq(can)
        else:
            first = received if self.order == "receive-first" else sent
            m.d.comb += candidates.eq(Mux(first.any(), first, can))
        m.d.comb += [
            chosen.eq(Mux(idle, candidates & -candidates, 0)),  # its lowest bit
            below.eq(chosen - 1),  # all entries if no entry is chosen
            begins.eq(Cat((of & chosen).any() for of in entries)),
            now.eq(serves | begins),
            now_left.eq(left),
            self.done.eq(Mux(now_left == 0, now, 0)),
        ]
        for k, cycles in enumerate(self.cycles):
            with m.If(begins[k]):
                m.d.comb += now_left.eq(cycles - 1)
        m.d.sync += [serves.eq(now & ~self.done), left.eq(Mux(now_left == 0, 0, now_left - 1))]

        kept = [(of & below) | (of >> 1 & ~below) for of in entries]
        used = any_of(kept)
        for of, arrives, remaining in zip(entries, self.arrives, kept, strict=True):
            free = Signal(count, name=f"{of.name}_free")  # the first free entry
            m.d.comb += free.eq(Mux(arrives, ~used & (used + 1), 0))
            m.d.sync += of.eq(remaining | free)
            used = used | free
        return m
