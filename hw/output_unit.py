"""Sending end of a link: owners, credits and the output register of one output port."""

from amaranth.hdl import Array, C, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from .bundles import OfferSignature, SendSignature
from .link import LinkSignature
from .logic import any_of
from .port import PortSpec

__all__ = ["OutputUnit"]


class OutputUnit(wiring.Component):
    """Output port: owner and credits of each virtual channel, and the register that drives the link.

    ::

        vc_allocate (late in the cycle) ─▶ offer: free[class]; vc_candidate[class]: VC that the next header may take
        send: vc_active, vc, tail ──▶ register ──▶ busy[vc], credits[vc]: change one cycle after the grant
        send: flit ─────────────────▶ register ──▶ link

    The state is updated from the *registered* send, so that the path from the grant ends at a flip-flop. An input
    prepares the request of the next cycle: from ``ready`` if it sends no flit on the virtual channel in this cycle,
    else from ``ready_after``.

    *Latency*: a send is on the link in the next cycle, with ``extra_stage`` two cycles later. A virtual channel can be
    taken again two cycles after the send of a tail, at the earliest. *Throughput*: one flit per cycle. If only one
    virtual channel sends, it sends min(1, depth / 4) flits per cycle (min(1, depth / 5) with ``extra_stage``), because
    of the credit loop. *Reset*: all virtual channels free, with all their credits.

    If a credit is a chunk of flits, the first flit of a worm and the first flit of each further chunk use a credit.
    A receiver may return a credit in the cycle in which the flit that used the credit is on the link, or later.

    The output unit cannot correct a false credit: a credit for a flit that was not sent. A false credit is detected if
    its virtual channel has all its credits, and no flit on the link; with ``extra_stage``, no flit on the link in the
    next cycle, too. From the cycle after a false credit on, ``credit_error`` is set. After the false credit the virtual
    channel sends at most one more flit: a flit that is granted in the cycle of the credit, or the first flit on a
    consumption channel that is reserved in this cycle. If a credit is for a chunk, ``ready`` is cleared one cycle
    later, and the virtual channel sends at most two more flits.

    Parameters
    ----------
    port : PortSpec
    width : int
        Bits of a flit.
    classes : list of int
        For each class of worms, the mask of the virtual channels that it may take. A network port has one class per
        class of virtual channels; an ejection port has one per consumption class, and a last one for worms that may
        take any channel.
    extra_stage : bool
        A register between allocation and crossbar (the ``fast`` delays).
    separate : bool
        A link for each virtual channel in place of one for all.
    empty : bool
        True: a header takes a virtual channel only if the sender has all its credits, so that the receiver's buffer is
        empty.
    reports : bool
        The link's receiver reports arrivals. Not for separate links.

    Members
    -------
    sends_{n} : In(SendSignature)
        Flit that the crossbar sends on link {n}, or reservation of a virtual channel.
    vc_allocate : In(1)
        A header takes ``vc_candidate`` of a class in this cycle.
    offer : Out(OfferSignature)
        The virtual channels that headers may take, and those that can send.
    credit_error : Out(vcs)
        In an earlier cycle a false credit was detected.
    links_{n} : Out(LinkSignature)
    """

    @checked
    def __init__(self, port: PortSpec, *, width: int, classes: list[int], extra_stage: bool = False,
                 separate: bool = False, empty: bool = False, reports: bool = False):
        if not classes or any(not 0 < mask < 1 << port.vcs for mask in classes):
            raise WormcastError(f"OutputUnit.classes: {classes} is not valid. Allowed: one mask or more, each from 1 "
                                f"to {(1 << port.vcs) - 1}.")
        self.port = port
        self.classes = classes
        self.extra_stage = extra_stage
        self.separate = separate
        self.empty = empty
        self.has_reports = reports
        links, vcs = (port.vcs, 1) if separate else (1, port.vcs)
        super().__init__({
            "sends": In(SendSignature(vcs=vcs, width=width, reports=reports)).array(links),
            "vc_allocate": In(1),
            "offer": Out(OfferSignature(vcs=port.vcs, classes=len(classes))),
            "credit_error": Out(port.vcs),
            "links": Out(LinkSignature(vcs=vcs, width=width, arrived=reports)).array(links),
        })

    def elaborate(self, platform):
        m = Module()
        vcs = self.port.vcs
        usable = Signal(vcs)
        for number, (send, link) in enumerate(zip(self.sends, self.links, strict=True)):
            of = f"_{number}" if self.separate else ""
            active, sent, tail = (Signal(name=f"{name}{of}") for name in ("active", "sent", "sent_tail"))
            vc = Signal(range(vcs), name=f"sent_vc{of}")
            m.d.sync += [active.eq(send.vc_active), sent.eq(send.send), link.flit.eq(send.flit)]
            if not self.separate:
                m.d.sync += vc.eq(send.vc)
            if self.extra_stage:
                m.d.sync += [tail.eq(send.tail), link.valid.eq(sent), link.vc.eq(vc)]
            else:
                m.d.comb += [tail.eq(link.flit.tail), link.valid.eq(sent), link.vc.eq(vc)]
            for v in [number] if self.separate else range(vcs):
                mine = C(1) if self.separate else vc == v
                returned = link.credit[0 if self.separate else v]
                awaits = self._awaits(m, v, send, link, active & mine) if self.has_reports else C(0)
                self._channel(m, v, active & mine, sent & mine, tail, returned, awaits, usable)
        self._offer_vcs(m, usable)
        return m

    def _awaits(self, m, v, send, link, active):
        """Return 1 if the report of a worm on a virtual channel is still missing in the next cycle."""
        awaits, now_awaits = Signal(name=f"vc{v}_awaits"), Signal(name=f"vc{v}_now_awaits")
        reported = Signal(name=f"vc{v}_reported")  # the worm of the registered send has reports
        m.d.sync += [reported.eq(send.reports), awaits.eq(now_awaits)]
        m.d.comb += now_awaits.eq((awaits | (active & reported)) & ~link.arrived[v])
        return now_awaits

    def _channel(self, m, v, active, sent, tail, returned, awaits, usable):
        """Track owner and credits of one virtual channel."""
        busy = Signal(name=f"vc{v}_busy")
        now_busy = Signal(name=f"vc{v}_now_busy")
        m.d.comb += now_busy.eq(Mux(active, ~tail, busy))
        m.d.sync += busy.eq(now_busy)
        after = self._credits(m, v, sent, tail, returned)
        m.d.comb += usable[v].eq(~now_busy & ~awaits & (after == 0 if self.empty else self.offer.ready[v]))

    def _credits(self, m, v, sent, tail, returned):
        """Count the credits in use; return the value that the count has in the next cycle."""
        if self.port.chunk > 1:
            return self._chunks(m, v, sent, tail, returned)
        depth = self.port.depth
        # the value depth + 1 marks a virtual channel that received a credit too many
        stopped = depth + 1
        spent = Signal(range(depth + 2), name=f"vc{v}_spent")
        after = Signal(range(depth + 2), name=f"vc{v}_spent_after")
        some = range(1, depth + 1)
        returns = Array([stopped, *(k - 1 for k in some), stopped])[spent]
        sends = Array([1, *(min(k + 1, depth) for k in some), stopped])[spent]
        m.d.comb += [
            # the credit of a flit may come back while the flit is on the link
            after.eq(Mux(returned == sent, spent, Mux(returned, returns, sends))),
            self.credit_error[v].eq(spent == stopped),
            self.offer.ready[v].eq(after < depth),
            self.offer.ready_after[v].eq(after < depth - 1 if depth > 1 else 0),
        ]
        m.d.sync += spent.eq(after)
        return after

    def _chunks(self, m, v, sent, tail, returned):
        """Count the credits in use if a credit is a chunk: the first flit of a chunk uses one."""
        port = self.port
        spent = Signal(range(port.credits + 1), name=f"vc{v}_spent")
        after = Signal(range(port.credits + 1), name=f"vc{v}_spent_after")
        place = Signal(range(port.chunk), name=f"vc{v}_place")  # position in its chunk of the flit that is sent next
        now_place = Signal(range(port.chunk), name=f"vc{v}_now_place")
        stopped = Signal(name=f"vc{v}_stopped")
        begins = Signal(name=f"vc{v}_begins_chunk")
        some = Signal(name=f"vc{v}_has_credit")
        m.d.comb += [
            begins.eq(sent & (place == 0)),
            after.eq(Mux(begins == returned, spent, Mux(begins, spent + 1, spent - 1))),
            now_place.eq(Mux(sent, Mux(tail | (place == port.chunk - 1), 0, place + 1), place)),
            some.eq((after != port.credits) & ~stopped),
            self.credit_error[v].eq(stopped),
            self.offer.ready[v].eq(Mux(now_place == 0, some, ~stopped)),
            self.offer.ready_after[v].eq(Mux(now_place == port.chunk - 1, some, ~stopped)),
        ]
        m.d.sync += [spent.eq(after), place.eq(now_place), stopped.eq(stopped | (returned & ~begins & (spent == 0)))]
        return after

    def _offer_vcs(self, m, usable):
        """Choose for each class the virtual channel that the next header of the class may take."""
        vcs, offer = self.port.vcs, self.offer
        next_candidate = [Signal(range(vcs), name=f"next_candidate_{k}") for k in range(len(self.classes))]
        allocated: Value = C(0)
        if len(self.classes) > 1:
            allocated = Signal()
            m.d.sync += allocated.eq(self.vc_allocate)
            m.d.comb += offer.vc_still_free.eq(~allocated)
        else:
            m.d.comb += offer.vc_still_free.eq(offer.free[0])
        for k, mask in enumerate(self.classes):
            members = [v for v in range(vcs) if mask >> v & 1]
            candidate = Signal(range(vcs), init=members[0], name=f"candidate_{k}")
            free = Signal(init=1, name=f"free_{k}")
            m.d.comb += [offer.vc_candidate[k].eq(candidate), offer.free[k].eq(free & ~allocated)]
            # the next candidate is another usable channel, because a header may take the present one in this cycle
            others = Signal(name=f"others_{k}")
            m.d.comb += next_candidate[k].eq(candidate)
            with m.Switch(candidate):
                for i, v in enumerate(members):
                    with m.Case(v):
                        for w in reversed(members[i + 1:] + members[:i]):
                            with m.If(usable[w]):
                                m.d.comb += [next_candidate[k].eq(w), others.eq(1)]
            m.d.sync += candidate.eq(next_candidate[k])
            m.d.comb += offer.vc_free_next[k].eq(any_of([usable[w] for w in members]))
            here = Array(usable)[candidate]
            if len(self.classes) == 1:
                m.d.sync += free.eq(others | (here & ~self.vc_allocate))
            else:
                # `free` does not depend on `vc_allocate`: the number of the taken channel is known late in the cycle
                # in the cycle after a take, `allocated` withholds the offers of all classes
                m.d.sync += free.eq(others | here)
