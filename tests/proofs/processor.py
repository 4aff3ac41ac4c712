# amaranth: UnusedElaboratable=no
"""The one communication processor of an interface against a list of packets, oldest first."""

from amaranth.hdl import Module, Mux, Signal

from wormcast.hw.interface.communication_processor import CommunicationProcessor

from .harness import Harness, Inside, Property, entry, implies, total
from .mutants import Mutant

__all__ = ["ProcessorHarness"]

WHERE = "interface.communication_processor.CommunicationProcessor.elaborate"


class ProcessorHarness(Harness):
    """The communication processor. Packets arrive at any time. In each cycle, each queue can start its oldest
    packet or not.

    All queues together never store more packets than the processor is built for.
    """

    component = "CommunicationProcessor"
    properties = (
        Property("order", "The packet that begins is, of the packets whose queue can start, the oldest one; with an "
                          "order other than arrival, the oldest one of the preferred side.",
                 Mutant(WHERE, "chosen.eq(Mux(idle, candidates & -candidates, 0))",
                        "chosen.eq(Mux(idle, can & -can, 0) & 1)")),
        Property("idle", "The processor is idle only while no stored packet can start: a queue that cannot start stops "
                         "no other queue.",
                 Mutant(WHERE, "begins.eq(Cat((of & chosen).any() for of in entries))",
                        "begins.eq(Cat((of & chosen & 1).any() for of in entries))")),
        Property("once", "Each packet is served exactly once.",
                 Mutant(WHERE, "kept = [(of & below) | (of >> 1 & ~below) for of in entries]", "kept = entries")),
        Property("cycles", "A packet is served for exactly the cycles of its side, without interruption.",
                 Mutant(WHERE, "now_left.eq(cycles - 1)", "now_left.eq(0)")),
    )

    def __init__(self, *, receive, send, packets, t_nr, t_ns, order):
        super().__init__()
        self.processor = CommunicationProcessor(receive=receive, send=send, packets=packets, t_nr=t_nr, t_ns=t_ns,
                                                order=order)

    def elaborate(self, platform):
        m = Module()
        processor, queues = self.processor, range(self.processor.queues)
        inside = Inside(processor)
        m.submodules.processor = inside.fragment
        self.leave_free(processor.arrives, processor.waits)
        size = processor.packets
        count = Signal(range(size + 1), name="stored")  # packets that have not begun
        listed = [Signal(range(len(queues) + 1), name=f"packet{i}") for i in range(size)]  # their queues, oldest first
        busy, serves = Signal(name="busy"), Signal(range(len(queues)), name="service")
        spent = Signal(range(max(processor.cycles) + 1), name="spent")
        self.assume(m, count + busy + total(processor.arrives) <= size)

        can = [(i < count) & entry(processor.waits, listed[i]) for i in range(size)]
        received = [listed[i] < processor.receive for i in range(size)]
        preferred = can
        if processor.order != "arrival":
            side = [one if processor.order == "receive-first" else ~one for one in received]
            first = [one & here for one, here in zip(can, side, strict=True)]
            preferred = [Mux(total(first) != 0, here, one) for here, one in zip(first, can, strict=True)]
        begins, place, which = Signal(name="begins"), Signal(range(size), name="place"), Signal.like(listed[0])
        m.d.comb += begins.eq(~busy & (total(can) != 0))
        for i in reversed(range(size)):
            with m.If(preferred[i]):
                m.d.comb += [place.eq(i), which.eq(listed[i])]
        now, spends = Signal.like(serves, name="now_service"), Signal.like(spent, name="now_spent")
        done = Signal(name="ends")
        m.d.comb += [
            now.eq(Mux(busy, serves, which)),
            spends.eq(Mux(busy, spent + 1, 1)),
            done.eq((busy | begins) & (spends == entry(processor.cycles, now))),
        ]
        m.d.sync += [busy.eq((busy | begins) & ~done), serves.eq(now), spent.eq(spends)]

        begun = inside["begins"]
        for k in queues:
            self.claim(m, "order", implies(begun[k], begins & (which == k)))
            self.claim(m, "once", inside["serves"][k] == (busy & (serves == k)))
            self.claim(m, "once", total((i < count) & (listed[i] == k) for i in range(size))
                       == total(inside[f"queue{k}_entries"]))
            self.claim(m, "cycles", implies(processor.done[k], (busy | begins) & (now == k)))
        self.claim(m, "idle", implies(begins, begun != 0))
        self.claim(m, "cycles", (processor.done != 0) == done)

        kept = [Mux(begins & (place <= i), listed[i + 1] if i + 1 < size else 0, listed[i]) for i in range(size)]
        following = count - begins
        for k in queues:
            kept = [Mux(processor.arrives[k] & (following == i), k, of) for i, of in enumerate(kept)]
            following = following + processor.arrives[k]
        m.d.sync += [count.eq(following), *(listed[i].eq(kept[i]) for i in range(size))]
        if self.inductive:
            self.invariant(m, count + busy <= size)
            self.invariant(m, implies(busy, inside["left"] + spent + 1 == entry(processor.cycles, serves)))
            self.invariant(m, implies(busy, spent != 0))
            for i in range(size):
                for k in queues:
                    self.invariant(m, inside[f"queue{k}_entries"][i] == ((i < count) & (listed[i] == k)))
        return m
