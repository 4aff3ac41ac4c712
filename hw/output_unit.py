"""The sending end of a link: owners, credits and the output register of one output port."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .link import LinkSignature, PortSpec, flit_layout

__all__ = ["OutputUnit"]


class OutputUnit(wiring.Component):
    """One output port: which virtual channels are free, how many credits each has, and the register that
    drives the link.

    ::

        take (late) ──▶ free[class], pick[class]          the virtual channel that the next header may take
        touch, vc, tail ──▶ stage ──▶ busy[vc], credits[vc]   follow one cycle behind the grant
        flit ──────────────▶ register ──▶ link

    The state follows the *registered* send, so that the grant ends at a flip-flop; whoever asks for the next
    cycle corrects for the send in between with ``ready`` (not sending now) or ``ready_after`` (sending now).

    *Latency*: a send is on the link in the next cycle (two cycles later with ``extra_stage``). A virtual
    channel can be taken two cycles after the send of a tail. *Throughput*: one flit per cycle; a virtual
    channel gets min(1, depth / 4) of it (depth / 5 with ``extra_stage``): the credit loop. *Reset*: all
    virtual channels free, with all their credits.

    Parameters
    ----------
    port : PortSpec
    width : int
        Bits of a flit.
    classes : list of int
        For each class of worms, the mask of virtual channels that it may take. Network ports have one class,
        an ejection port one per consumption class.
    extra_stage : bool
        A register between allocation and crossbar (the ``fast`` delays).

    Members
    -------
    touch : In(1)
        A flit is sent, or a virtual channel reserved, on ``vc``; ``send`` distinguishes them.
    send, vc, tail : In
    flit : In(flit_layout(width))
        The crossbar's output: in the cycle of ``send``, or one later with ``extra_stage``.
    take : In(classes)
        A header takes ``pick`` of this class in this cycle.
    free, pick_{k} : Out
        Per class: a virtual channel can be taken now, and which.
    soon : Out(classes)
        ``free`` of the next cycle, if no header takes one now.
    ready, ready_after : Out(vcs)
        In the next cycle this virtual channel has a credit, if nothing / one flit is sent on it now.
    link : Out(LinkSignature)
    """

    def __init__(self, port: PortSpec, *, width: int, classes: list[int], extra_stage: bool = False):
        self.port = port
        self.classes = classes
        self.extra_stage = extra_stage
        kinds = len(classes)
        super().__init__({
            "touch": In(1),
            "send": In(1),
            "vc": In(range(port.vcs)),
            "tail": In(1),
            "flit": In(flit_layout(width)),
            "take": In(kinds),
            "free": Out(kinds),
            "soon": Out(kinds),
            **{f"pick_{k}": Out(range(port.vcs)) for k in range(kinds)},
            "ready": Out(port.vcs),
            "ready_after": Out(port.vcs),
            "link": Out(LinkSignature(vcs=port.vcs, width=width)),
        })

    def elaborate(self, platform):
        m = Module()
        vcs, depth = self.port.vcs, self.port.depth
        touched = Signal()
        sent = Signal()
        vc = Signal(range(vcs))
        tail = Signal()
        m.d.sync += [touched.eq(self.touch), sent.eq(self.send), vc.eq(self.vc)]
        if self.extra_stage:
            m.d.sync += [tail.eq(self.tail), self.link.valid.eq(sent), self.link.vc.eq(vc)]
        else:
            m.d.comb += [tail.eq(self.link.flit.tail & ~self.link.flit.head), self.link.valid.eq(sent),
                         self.link.vc.eq(vc)]
        m.d.sync += self.link.flit.eq(self.flit)

        usable = Signal(vcs)
        for v in range(vcs):
            busy = Signal(name=f"vc{v}_busy")
            now_busy = Signal(name=f"vc{v}_now_busy")
            m.d.comb += now_busy.eq(Mux(touched & (vc == v), ~tail, busy))
            m.d.sync += busy.eq(now_busy)
            # thermometer: bit k says that more than k credits are held
            credits = Signal(depth, init=(1 << depth) - 1, name=f"vc{v}_credits")
            after = Signal(depth, name=f"vc{v}_credits_after")
            spent, returned = sent & (vc == v), self.link.credit[v]
            up, down = Cat(1, credits)[:depth], Cat(credits[1:], 0)
            m.d.comb += [
                after.eq(Mux(returned, Mux(spent, credits, up), Mux(spent, down, credits))),
                self.ready[v].eq(after[0]),
                self.ready_after[v].eq(after[1] if depth > 1 else 0),
                usable[v].eq(~now_busy & after[0]),
            ]
            m.d.sync += credits.eq(after)

        picks = [getattr(self, f"pick_{k}") for k in range(len(self.classes))]
        following = [Signal(range(vcs), name=f"following_{k}") for k in range(len(self.classes))]
        for k, mask in enumerate(self.classes):
            members = [v for v in range(vcs) if mask >> v & 1]
            pick = Signal(range(vcs), init=members[0], name=f"picked_{k}")
            free = Signal(init=1, name=f"free_{k}")
            m.d.comb += [picks[k].eq(pick), self.free[k].eq(free)]
            # move to another usable channel whenever there is one: then only the current pick can be taken
            others = Signal(name=f"others_{k}")
            m.d.comb += following[k].eq(pick)
            with m.Switch(pick):
                for i, v in enumerate(members):
                    with m.Case(v):
                        for w in reversed(members[i + 1:] + members[:i]):
                            with m.If(usable[w]):
                                m.d.comb += [following[k].eq(w), others.eq(1)]
            m.d.sync += pick.eq(following[k])
            m.d.comb += self.soon[k].eq(others | Array(usable)[pick])
            # a channel shared with another class must not be offered in the cycle after that class took it
            stolen = [
                self.take[j] & (picks[j] == following[k])
                for j, other in enumerate(self.classes) if j != k and mask & other
            ]
            m.d.sync += free.eq((others | (Array(usable)[pick] & ~self.take[k])) & ~Cat(stolen).any())
        return m
