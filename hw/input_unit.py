"""The receiving end of a link: decoder, replication buffer, and the readers that feed the crossbar."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .buffer import ReplicationBuffer
from .decoders import Decoder
from .input_vc import InputVC, WormState
from .link import LinkSignature, PortSpec, flit_layout

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
    request_{r} : Out(outputs)
    asks_link_{r}, asks_consumption_{r} : Out(1)
        The request is for a virtual channel of a link (to be taken with the header flit), or for a consumption
        channel (nothing is sent); else for a flit time.
    sends_{r} : Out(1)
        A win sends the flit.
    owned_vc_{o} : Out
        The virtual channel of output o that the presented worm owns.
    won_{r} : In(1)
    pick_{o}, free_{o}, soon_{o}, pick_after_{o}, ready_{o}, ready_after_{o} : In
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
                f"asks_link_{r}": Out(1),
                f"asks_consumption_{r}": Out(1),
                f"sends_{r}": Out(1),
                f"won_{r}": In(1),
            }
        for o in self.network + ejection:
            vcs = outputs[o].vcs
            members |= {
                f"owned_vc_{o}": Out(range(vcs)),
                f"pick_{o}": In(range(vcs)),
                f"free_{o}": In(1),
                f"soon_{o}": In(1),
                f"pick_after_{o}": In(1),
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
                for name in ("pick", "soon", "pick_after", "ready", "ready_after"):
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
                    Array(onward)[vc].eq(goes_on & ~arriving.tail),
                    Array(here)[vc].eq(stays & ~arriving.tail),
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

        request, asks, consumption = getattr(self, f"request_{r}"), Signal(name=f"reader{r}_asks"), C(0)
        m.d.comb += asks.eq(shown(f"eligible_{r}"))
        if self.ejection is not None:
            consumption = getattr(self, f"asks_consumption_{r}")
            m.d.comb += consumption.eq(shown("wants_consumption"))
        halted = C(0)
        for o in group:
            if o == self.ejection:
                halted = shown("undecided") & flit.head
                gate = shown("here") & (~consumption | getattr(self, f"free_{o}"))
                m.d.comb += getattr(self, f"owned_vc_{o}").eq(shown("consumption_vc"))
            else:
                wants_link = getattr(self, f"asks_link_{r}")
                m.d.comb += wants_link.eq(shown("wants_link"))
                links = shown("links")
                gate = links[self.network.index(o)] & ~consumption & (~wants_link | getattr(self, f"free_{o}"))
                m.d.comb += getattr(self, f"owned_vc_{o}").eq(shown("link_vc"))
            m.d.comb += request[o].eq(asks & gate)

        asked, won, sends = Signal(name=f"reader{r}_asked"), Signal(name=f"reader{r}_won"), Signal()
        m.d.comb += [
            asked.eq(request.any()),
            won.eq(asked & getattr(self, f"won_{r}")),
            sends.eq(~consumption & ~halted),
            getattr(self, f"sends_{r}").eq(sends),
            getattr(buffer, f"take_{r}").eq(won & sends),
        ]
        if self.ejection in group:
            m.d.comb += [
                buffer.skip.eq(won & consumption & ~shown("links").any()),
                buffer.skip_vc.eq(sel),
            ]
        fetched = self.decoder.request(self.port, row[self.width + 1:])
        for v, worm in enumerate(worms):
            m.d.comb += [
                getattr(worm, f"shown_{r}").eq(sel == v),
                getattr(worm, f"has_{r}").eq(getattr(buffer, f"has_{r}")[v]),
                getattr(worm, f"more_{r}").eq(getattr(buffer, f"more_{r}")[v]),
                getattr(worm, f"head_{r}").eq(flit.head),
                getattr(worm, f"tail_{r}").eq(flit.tail),
                getattr(worm, f"won_{r}").eq(won & (sel == v)),
            ]
            if r == 0:
                m.d.comb += worm.fetched_links.eq(Cat(fetched.all_of[o] for o in self.network))
                if self.ejection is not None:
                    m.d.comb += worm.fetched_here.eq(fetched.all_of[self.ejection])
            if len(self.groups) > 1:
                inactive = ~worm.links.any() if r == 0 else ~worm.here
                m.d.comb += getattr(buffer, f"follow_{r}")[v].eq(inactive)

        # a request that reached the arbiters has used up its turn, and so has a look at a header flit
        used = asked | shown("unread") if r == 0 else asked
        turn = Signal(range(vcs), name=f"reader{r}_turn")
        m.d.comb += turn.eq(Mux(used, sel, last))
        m.d.sync += last.eq(turn)
        following = {}
        for suffix in ("", "_after"):
            following[suffix] = Signal(range(vcs), name=f"reader{r}_next{suffix}")
            m.d.comb += following[suffix].eq(turn)
            # of the shown channel both cases are prepared; the others cannot win now
            wants = Signal(vcs, name=f"reader{r}_wants{suffix}")
            for v, worm in enumerate(worms):
                lost, after = getattr(worm, f"want_{r}"), getattr(worm, f"want_after_{r}")
                m.d.comb += wants[v].eq(Mux(sel == v, after, lost) if suffix else lost)
            with m.Switch(turn):
                for v in range(vcs):
                    with m.Case(v):
                        for w in [v, *((v - k) % vcs for k in range(1, vcs))]:
                            with m.If(wants[w]):
                                m.d.comb += following[suffix].eq(w)
        m.d.sync += sel.eq(Mux(won & ~halted, following["_after"], following[""]))
