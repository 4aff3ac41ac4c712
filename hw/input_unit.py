"""The receiving end of a link: decoder, replication buffer, and the readers that feed the crossbar."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .buffer import ReplicationBuffer
from .decoders import Decoder
from .input_vc import InputVC, WormState
from .link import LinkSignature, PortSpec, flit_layout
from .logic import any_of, bit_at

__all__ = ["InputUnit"]


class InputUnit(wiring.Component):
    """One input port of a switch.

    ::

        link ─▶ decoder ─▶ buffer (all VCs) ─▶ reader: sel ─▶ flit ────────────▶ crossbar
                               │ has, more                │
          InputVC, one per VC: targets, owned VCs ─▶ eligible ─▶ request ─▶ allocator
                               ▲                                               │
                               └───── credit ◀── freed ◀── take ◀──────────── won

    A flit on the link in cycle t is in the buffer in t + 1. A worm's first header flit is *fetched* in t + 1
    (its code becomes the request), asks in t + 2 and, when granted, is on the next link in t + 3: **header
    delay 3**. A data flit skips the fetch: **data delay 2**. At a destination the consumption channel is
    reserved first: **one cycle more** if the header flit holds further addresses, **two** if it is stripped
    and the next flit fetched in its place; the first payload flit behind a stripped header is on the
    consumption link 4 cycles after that header was on the network's. The credit of a flit is on the link in
    the cycle after its last reader took it. All figures hold for free resources; ``fast`` delays add one per
    hop.

    Virtual channels that have a use for a reader take turns at it; a turn is used up by a request that reached
    the arbiters or by a fetch, not by a request for a virtual channel that was gone. *Reset*: empty.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    spec, outputs : PortSpec, tuple of PortSpec
        This input, and all outputs of the switch.
    readers : "coupled" or "independent"
        One reader for all of a worm's outputs, which then advance together, or one for the links and one for
        the consumption channels; then a flit is freed when both have taken it, and the next worm of the virtual
        channel starts when both are through.

    Members
    -------
    link : In(LinkSignature)
    strap_{name} : In
        The decoder's straps.
    sel_{r}, flit_{r} : Out
        The virtual channel that reader r presents, and its flit.
    request_{r}, complete_{r} : Out
        The outputs that it asks for, and whether the worm can go with them: a copy alone, without the link whose
        virtual channel has just gone to another header, must not win.
    owns_link_{r}, claims_{r} : Out(1)
        The presented worm owns a virtual channel of its link, else a header flit takes one with its win; the
        request is for a consumption channel, not for a flit time.
    sends_{r} : Out(1)
        A win sends the flit; requests for links always do.
    vc_{o} : Out
        The virtual channel of output o that the presented worm owns, or would take.
    won_{r} : In(1)
        The request was complete, and everything was granted.
    pick_{o}, free_{o}, soon_{o}, ready_{o}, ready_after_{o} : In
        As in `OutputUnit`, for this input's class of worms.
    state_{v} : Out(WormState)
    """

    def __init__(self, port: int, spec: PortSpec, *, outputs: tuple[PortSpec, ...], width: int,
                 decoder: Decoder, readers: str = "coupled", storage: str = "lutram"):
        self.port = port
        self.spec = spec
        self.outputs = outputs
        self.width = width
        self.decoder = decoder
        self.storage = storage
        self.network = decoder.reaches(port)
        self.ejection = decoder.ejection if decoder.delivers(port) else None
        ejection = [] if self.ejection is None else [self.ejection]
        if readers == "independent" and ejection:
            self.groups = [self.network, ejection]
        else:
            self.groups = [self.network + ejection]
        members: dict = {"link": In(LinkSignature(vcs=spec.vcs, width=width))}
        for name, bits in decoder.straps.items():
            members[f"strap_{name}"] = In(bits)
        for r in range(len(self.groups)):
            members |= {
                f"sel_{r}": Out(range(spec.vcs)),
                f"flit_{r}": Out(flit_layout(width)),
                f"request_{r}": Out(len(outputs)),
                f"complete_{r}": Out(1),
                f"owns_link_{r}": Out(1),
                f"claims_{r}": Out(1),
                f"sends_{r}": Out(1),
                f"won_{r}": In(1),
            }
        for o in self.network + ejection:
            vcs = outputs[o].vcs
            members |= {
                f"vc_{o}": Out(range(vcs)),
                f"pick_{o}": In(range(vcs)),
                f"free_{o}": In(1),
                f"soon_{o}": In(1),
                f"ready_{o}": In(vcs),
                f"ready_after_{o}": In(vcs),
            }
        for v in range(spec.vcs):
            members[f"state_{v}"] = Out(WormState)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        decoder, vcs = self.decoder, self.spec.vcs
        code_bits = decoder.code_width(self.port)
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=vcs, depth=self.spec.depth, width=self.width + 1 + max(1, code_bits),
            readers=len(self.groups), storage=self.storage,
        )
        self._write(m, buffer)
        m.d.sync += self.link.credit.eq(buffer.freed)

        worms = []
        for v in range(vcs):
            worm = InputVC(links=[self.outputs[o].vcs for o in self.network],
                           consumption=0 if self.ejection is None else self.outputs[self.ejection].vcs,
                           readers=len(self.groups))
            m.submodules[f"channel_{v}"] = worm
            worms.append(worm)
            m.d.comb += [
                worm.write.eq(self.link.valid & (self.link.vc == v)),
                getattr(self, f"state_{v}").eq(worm.state),
            ]
            sides = [(o, i) for i, o in enumerate(self.network)]
            for o, i in sides if self.ejection is None else [*sides, (self.ejection, "c")]:
                for name in ("soon", "ready"):
                    m.d.comb += getattr(worm, f"{name}_{i}").eq(getattr(self, f"{name}_{o}"))
        for r in range(len(self.groups)):
            self._reader(m, r, buffer, worms)
        return m

    def _write(self, m, buffer):
        """Decode what arrives and store it with its code; count its readers."""
        arriving, vc = self.link.flit, self.link.vc
        straps = {name: getattr(self, f"strap_{name}") for name in self.decoder.straps}
        # per virtual channel: the next header flit is the first of what is left of a worm
        expected = [Signal(init=1, name=f"vc{v}_expects_header") for v in range(self.spec.vcs)]
        first = Signal()
        m.d.comb += first.eq(arriving.head & Array(expected)[vc])
        code, rewritten, strip = self.decoder.decode(m, self.port, straps, arriving.data, first)
        with m.If(self.link.valid):
            m.d.sync += Array(expected)[vc].eq(arriving.tail | strip)
        m.d.comb += [
            buffer.write.eq(self.link.valid),
            buffer.write_vc.eq(vc),
            # only header flits need a code, only the others a tail mark
            buffer.write_data.eq(Cat(rewritten, arriving.head, Mux(arriving.head, code, arriving.tail))),
            buffer.write_count.eq(1),
        ]
        if len(self.groups) > 1:
            request = self.decoder.request(self.port, code)
            onward = [Signal(name=f"vc{v}_arriving_onward") for v in range(self.spec.vcs)]
            here = [Signal(name=f"vc{v}_arriving_here") for v in range(self.spec.vcs)]
            goes_on = Signal()
            stays = Signal()
            m.d.comb += [
                goes_on.eq(Mux(first, Cat(request.all_of[o] for o in self.network).any(), Array(onward)[vc])),
                stays.eq(Array(here)[vc] | (first & request.all_of[self.ejection])),
                buffer.write_count.eq(goes_on + stays),
            ]
            with m.If(self.link.valid):
                m.d.sync += [
                    Array(onward)[vc].eq(goes_on & (arriving.head | ~arriving.tail)),
                    Array(here)[vc].eq(stays & (arriving.head | ~arriving.tail)),
                ]

    def _reader(self, m, r, buffer, worms):
        """Present one virtual channel after the other, ask on its behalf, and take its flit when it wins."""
        vcs, group = self.spec.vcs, self.groups[r]
        sel = Signal(range(vcs), name=f"reader{r}_sel")
        last = Signal(range(vcs), name=f"reader{r}_last")

        def shown(name):
            return Array(getattr(worm, name) for worm in worms)[sel]

        row, flit = getattr(buffer, f"data_{r}"), getattr(self, f"flit_{r}")
        m.d.comb += [
            getattr(self, f"sel_{r}").eq(sel),
            getattr(buffer, f"vc_{r}").eq(sel),
            flit.data.eq(row[:self.width]),
            flit.head.eq(row[self.width]),
            flit.tail.eq(~row[self.width] & row[self.width + 1]),
        ]

        links = shown("links")
        won, sends, tail = getattr(self, f"won_{r}"), getattr(self, f"sends_{r}"), flit.tail
        asks, claims, halted = Signal(name=f"reader{r}_asks"), C(0), C(0)
        m.d.comb += asks.eq(shown(f"eligible_{r}"))
        asks_link = asks
        if self.ejection in group:
            claims = getattr(self, f"claims_{r}")
            m.d.comb += claims.eq(shown("claims"))
        elif self.ejection is not None:
            # the other reader reserves the consumption channel first
            asks_link = asks & ~shown("wants_consumption")
        request, pick_link = getattr(self, f"request_{r}"), C(0)
        link_free, link_ready, strips = C(0), C(1), C(0)
        for o in group:
            free, vc, pick = getattr(self, f"free_{o}"), getattr(self, f"vc_{o}"), getattr(self, f"pick_{o}")
            if o == self.ejection:
                halted = shown("undecided") & flit.head
                target = shown("here")
                m.d.comb += [
                    request[o].eq((asks & target) | (claims & free)),
                    vc.eq(Mux(claims, pick, shown("consumption_vc"))),
                ]
            else:
                owns_link = getattr(self, f"owns_link_{r}")
                target = links[self.network.index(o)]
                m.d.comb += [
                    owns_link.eq(shown("owns_link")),
                    request[o].eq(asks_link & target & (owns_link | free)),
                    vc.eq(Mux(owns_link, shown("link_vc"), pick)),
                ]
                link_free |= target & getattr(self, f"soon_{o}")
                pick_link |= Mux(target, vc, 0)
            link_ready &= ~target | bit_at(getattr(self, f"ready_after_{o}"), vc)

        complete = getattr(self, f"complete_{r}")
        goes = any_of([request[o] for o in group if o != self.ejection])
        stays = request[self.ejection] if self.ejection in group else C(0)
        if len(group) > 1:
            stays &= claims | ~links.any()
        m.d.comb += complete.eq(goes | stays)

        # whether the presented worm is eligible in the next cycle, if it wins now
        more, again = Signal(name=f"reader{r}_more"), Signal(name=f"reader{r}_again")
        m.d.comb += [
            more.eq(bit_at(getattr(buffer, f"more_{r}"), sel) | (self.link.valid & (self.link.vc == sel))),
            again.eq(more & link_ready & ~tail),
        ]
        if self.ejection in group:
            # the flit at which the channel was reserved is still there, or it was stripped and leaves
            onward = links.any()
            with m.If(claims):
                m.d.comb += again.eq(Mux(onward, link_free if r == 0 else C(1), more))
            if len(self.groups) > 1:
                m.d.comb += [buffer.skip.eq(won & claims & ~onward), buffer.skip_vc.eq(sel)]
            else:
                strips = claims & ~onward
        m.d.comb += [
            sends.eq(~claims & ~halted),
            getattr(buffer, f"take_{r}").eq(won & (sends | strips)),
        ]
        fetched = self.decoder.request(self.port, row[self.width + 1:])
        for v, worm in enumerate(worms):
            m.d.comb += [
                getattr(worm, f"shown_{r}").eq(sel == v),
                getattr(worm, f"has_{r}").eq(getattr(buffer, f"has_{r}")[v]),
                getattr(worm, f"head_{r}").eq(flit.head),
                getattr(worm, f"tail_{r}").eq(flit.tail),
                getattr(worm, f"won_{r}").eq(won & (sel == v)),
                getattr(worm, f"again_{r}").eq(again),
            ]
            if r == 0:
                m.d.comb += [
                    worm.fetched_links.eq(Cat(fetched.all_of[o] for o in self.network)),
                    worm.pick_link.eq(pick_link),
                ]
                if self.ejection is not None:
                    m.d.comb += [
                        worm.fetched_here.eq(fetched.all_of[self.ejection]),
                        worm.pick_c.eq(getattr(self, f"pick_{self.ejection}")),
                    ]
            if len(self.groups) > 1:
                inactive = ~worm.links.any() if r == 0 else ~worm.here
                m.d.comb += getattr(buffer, f"follow_{r}")[v].eq(inactive)

        # a request that reached the arbiters has used up its turn, and so has a look at a header flit; who had
        # the turn comes last, whether it still wants one or not: so the win does not matter here
        used = complete | shown("unread") if r == 0 else complete
        turn = Signal(range(vcs), name=f"reader{r}_turn")
        following = Signal(range(vcs), name=f"reader{r}_next")
        m.d.comb += [turn.eq(Mux(used, sel, last)), following.eq(turn)]
        with m.Switch(turn):
            for v in range(vcs):
                with m.Case(v):
                    for w in [(v - k) % vcs for k in range(1, vcs)]:
                        with m.If(getattr(worms[w], f"want_{r}")):
                            m.d.comb += following.eq(w)
        m.d.sync += [last.eq(turn), sel.eq(following)]
