"""Receiving end of a link: input decode, replication buffer, and the readers that feed the crossbar."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.channels import channels_of_class

from .buffer import ReplicationBuffer
from .decoders import PathDecoder
from .faults import Cause
from .input_decode import InputDecode, exit_bits
from .input_vc import InputVC, WormState
from .link import LinkSignature, flit_layout
from .logic import any_of, bit_at
from .mark import Mark
from .port import PortSpec

__all__ = ["InputUnit", "take_turns"]


class InputUnit(wiring.Component):
    """Input port of a switch.

    ::

        link ─▶ intake ──▶ buffer (all VCs) ─▶ reader: sel ─▶ flit ────────────▶ crossbar
                               │ has, more                │
          InputVC, one per VC: targets, owned VCs ─▶ eligible ─▶ request ─▶ allocator
                               ▲                                               │
                               └───── credit ◀── freed ◀── take ◀──────────── won

    A flit on the link in cycle t is in the buffer in t + 1. A worm's first header flit, on the link in t, is *fetched*
    in t + 1: its code is latched as the route. The header flit requests outputs in t + 2 and, when granted, is on the
    next link in t + 3: **header delay 3**. A data flit skips the fetch: **data delay 2**. At a destination the worm
    reserves a consumption channel first. The reservation of a consumption channel takes **one cycle more** if the
    header flit holds further addresses, and **two** if it is stripped and the next flit is fetched. At a worm's last
    destination the first payload flit is on the consumption link 4 cycles after the last header flit was on the
    incoming link. The credit of a flit is on the link in the cycle after its last reader took it. The delays of this
    unit hold for free resources. With the option ``delays="fast"`` each flit takes one cycle more in each switch.

    Adaptive routing: the worm requests one target that it has chosen. If the chosen target is not expected to be free
    in the next cycle, the worm changes to a target that is, and requests it then. The delays of adaptive routing are
    the same as without it.

    The virtual channels take turns at each reader. A complete request uses up the turn, granted or not. A fetch uses up
    the turn, too. An incomplete request does not use up the turn, nor does a request for a virtual channel that another
    worm has just taken. *Reset*: empty.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    spec, outputs : PortSpec, tuple of PortSpec
        This input, and all outputs of the switch.
    width : int
        Data bits of a flit.
    decoder : PathDecoder
    readers : "coupled" or "independent"
        ``coupled``: one reader for all outputs of a worm, which advance in lockstep. ``independent``: one reader for
        the links, and one for the consumption channels. With independent readers a flit is freed when each reader that
        the worm needs has taken it. The next worm of the virtual channel starts when each of these readers has sent the
        tail.
    storage : "lutram" or "registers"
    separate : bool
        Each consumption channel has its own link.

    Members
    -------
    link : In(LinkSignature)
    strap_{name} : In
        The decoder's straps.
    table : In(Decoder.table_layout)
        Writes to the decoder's table, if it has one.
    sel_{r}, flit_{r} : Out
        The virtual channel that reader r presents, and its flit.
    request_{r}, complete_{r} : Out
        The requested outputs; the request has all outputs that must be granted together. A reader that sends a flit to
        a link and a consumption channel needs both at once. A request that only reserves a consumption channel is
        complete.
    owns_link_{r}, claims_{r} : Out(1)
        The presented worm owns a virtual channel of its link (if 0, a grant gives it one); the request reserves a
        consumption channel, and sends no flit on it.
    sends_{r} : Out(1)
        A grant sends the flit; always true for requests for links.
    vc_{o} : Out
        The virtual channel of output o that the presented worm owns, or takes with the grant.
    won_{r} : In(1)
        The request is complete, and all of it is granted.
    pick_{o}_{k}, free_{o}, soon_{o}, held_{o}, ready_{o}, ready_after_{o} : In
        As in `OutputUnit`, of output o and class k.
    cause, cause_vc : Out(Cause), Out
        Error of the flit that was on the link in the cycle before, and its virtual channel.
    state_{v} : Out(WormState)
    """

    def __init__(self, port: int, spec: PortSpec, *, outputs: tuple[PortSpec, ...], width: int,
                 decoder: PathDecoder, readers: str = "coupled", storage: str = "lutram", separate: bool = False):
        self.port = port
        self.spec = spec
        self.outputs = outputs
        self.width = width
        self.decoder = decoder
        self.storage = storage
        self.separate = separate
        self.classes = len(decoder.consumption) + 1
        self.links_each = outputs[-1].vcs if separate else 1  # number of links of each ejection port
        self.links = decoder.ejection + (len(outputs) - decoder.ejection) * self.links_each
        self.network = decoder.reaches(port)
        self.targets = decoder.targets(port)
        self.exits = decoder.exits(port)
        if readers == "independent" and self.exits and self.network:
            self.groups = [self.network, self.exits]
        else:
            self.groups = [self.network + self.exits]
        self.turns = [range(spec.vcs)] * len(self.groups)  # virtual channels, which take turns at each reader
        members: dict = {"link": In(LinkSignature(vcs=spec.vcs, width=width))}
        for name, bits in decoder.straps.items():
            members[f"strap_{name}"] = In(bits)
        if decoder.table_layout is not None:
            members["table"] = In(decoder.table_layout)
        for r in range(len(self.groups)):
            members |= {
                f"sel_{r}": Out(range(spec.vcs)),
                f"flit_{r}": Out(flit_layout(width)),
                f"request_{r}": Out(self.links),
                f"complete_{r}": Out(1),
                f"owns_link_{r}": Out(1),
                f"claims_{r}": Out(1),
                f"sends_{r}": Out(1),
                f"won_{r}": In(1),
            }
        for o in self.network + self.exits:
            vcs, classes = outputs[o].vcs, self.classes if o in self.exits else decoder.vc_classes
            members |= {
                f"vc_{o}": Out(range(vcs)),
                **{f"pick_{o}_{k}": In(range(vcs)) for k in range(classes)},
                f"free_{o}": In(classes),
                f"soon_{o}": In(classes),
                f"held_{o}": In(1),
                f"ready_{o}": In(vcs),
                f"ready_after_{o}": In(vcs),
            }
        members |= {"cause": Out(Cause), "cause_vc": Out(range(spec.vcs))}
        for v in range(spec.vcs):
            members[f"state_{v}"] = Out(WormState)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        vcs = self.spec.vcs
        m.submodules.intake = intake = InputDecode(
            self.port, vcs=vcs, width=self.width, decoder=self.decoder, outputs=self.network, readers=len(self.groups)
        )
        m.submodules.buffer = buffer = ReplicationBuffer(
            vcs=vcs, depth=self.spec.depth, width=intake.row_layout.size,
            readers=len(self.groups), storage=self.storage,
        )
        m.d.comb += [
            intake.valid.eq(self.link.valid),
            intake.vc.eq(self.link.vc),
            intake.flit.eq(self.link.flit),
            *(getattr(intake, f"strap_{name}").eq(strap) for name, strap in self._straps.items()),
            *([] if self.decoder.table_layout is None else [intake.table.eq(self.table)]),
            intake.full.eq(buffer.full),
            buffer.write.eq(self.link.valid),
            buffer.write_vc.eq(self.link.vc),
            buffer.write_data.eq(intake.row),
            buffer.write_count.eq(intake.count),
        ]
        m.d.sync += [
            self.link.credit.eq(buffer.freed),
            # registered: the combinational path through the decoder is long
            self.cause.eq(intake.cause),
            self.cause_vc.eq(self.link.vc),
        ]

        code = intake.row_layout(buffer.data_0).code
        fetched = self.decoder.request(self.port, code)
        onward = self.decoder.onward(self.port, fetched)
        kinds = [self.decoder.consumption_class(self.port, self._straps, onward, vc_class)
                 for vc_class in self._vc_classes]
        worms = []
        for v in range(vcs):
            kind = kinds[v * len(kinds) // vcs]
            worm = InputVC(links=[self._channels(o, k) for o, k in self.targets],
                           consumption=self.outputs[self.exits[0]].vcs if self.exits else 0,
                           exits=max(len(self.exits), 1), choice=self.decoder.adaptive,
                           readers=len(self.groups), classes=self.classes, class_bits=len(kind),
                           absorbs=self.decoder.absorbs)
            m.submodules[f"channel_{v}"] = worm
            worms.append(worm)
            m.d.comb += [
                worm.write.eq(buffer.arrives[v]),
                worm.fetched_kind.eq(kind),
                getattr(self, f"state_{v}").eq(worm.state),
            ]
            for i, (o, k) in enumerate(self.targets):
                m.d.comb += [
                    getattr(worm, f"soon_{i}").eq(getattr(self, f"soon_{o}")[k]),
                    getattr(worm, f"ready_{i}").eq(getattr(self, f"ready_{o}")),
                ]
            if self.exits:
                way_out = self._exit(code)
                soon, soon_fetched = self._at_exit("soon_{o}", worm), self._of_exit("soon_{o}", way_out)
                m.d.comb += [
                    worm.soon_c.eq(bit_at(soon, worm.kind)),
                    worm.fetched_soon.eq(Mux(worm.fetched_ends_here, soon_fetched[-1], bit_at(soon_fetched, kind))),
                    worm.ready_c.eq(self._at_exit("ready_{o}", worm)),
                ]
            if len(self.exits) > 1:
                m.d.comb += worm.fetched_exit.eq(way_out)
        unread: list = []
        for r in range(len(self.groups)):
            self._reader(m, r, intake, buffer, worms, unread)
        if len(self.groups) > 1:
            m.d.comb += buffer.skip.eq(any_of(unread))
        return m

    @property
    def _straps(self) -> dict[str, Value]:
        return {name: getattr(self, f"strap_{name}") for name in self.decoder.straps}

    @property
    def _vc_classes(self) -> range | tuple[None]:
        """Classes of this input's virtual channels; (None,) if its consumption classes do not depend on them."""
        apart = self.decoder.consumption.by_vc and self.port < self.decoder.links_in
        return range(self.decoder.vc_classes) if apart else (None,)

    @property
    def ejection(self) -> int | None:
        """Number of the first ejection port that worms of this input can use; None without one."""
        return self.exits[0] if self.exits else None

    def _channels(self, o: int, k: int) -> list[int]:
        """Return the virtual channels of class ``k`` of an output to another switch."""
        return list(channels_of_class(self.outputs[o].vcs, self.decoder.vc_classes, k))

    def _exit(self, code: Value) -> Value:
        """Return the number of the ejection port in the code of a `Mark.FINAL`."""
        return code[2:2 + exit_bits(self.decoder, self.port)]

    def _of_exit(self, member: str, way_out: Value) -> Value:
        """Return a member of the ejection port ``exits[way_out]``.

        In ``member``, ``{o}`` stands for the output's number.
        """
        members = [getattr(self, member.format(o=o)) for o in self.exits]
        return Array(members)[way_out] if len(members) > 1 else members[0]

    def _at_exit(self, member: str, worm: InputVC) -> Value:
        """Return a member of a worm's ejection port, named as in `_of_exit`."""
        return self._of_exit(member, worm.exit if len(self.exits) > 1 else C(0))

    def _pick(self, worm: InputVC) -> Value:
        """Return the consumption channel that is offered to a worm's class."""
        return Array(self._at_exit(f"pick_{{o}}_{k}", worm) for k in range(self.classes))[worm.kind]

    def _reader(self, m, r, intake, buffer, worms, unread):
        """Present the virtual channels in turn, request outputs, and take each flit that a grant sends or strips.

        With several readers, masks of virtual channels whose front flit leaves unread are appended to ``unread``.
        """
        vcs, group = self.spec.vcs, self.groups[r]
        sel = Signal(range(vcs), name=f"reader{r}_sel")

        def shown(name):
            return Array(getattr(worm, name) for worm in worms)[sel]

        row, flit = Signal(intake.row_layout, name=f"reader{r}_row"), getattr(self, f"flit_{r}")
        marked, code = row.head, row.code
        fetched = self.decoder.request(self.port, code)
        ends_here = C(0) if not self.exits else ~marked & (code[:2] == Mark.FINAL)
        header = marked | ends_here
        nothing, closing = Signal(name=f"reader{r}_nothing"), Signal(name=f"reader{r}_closing")
        m.d.comb += [
            getattr(self, f"sel_{r}").eq(sel),
            getattr(buffer, f"vc_{r}").eq(sel),
            row.eq(getattr(buffer, f"data_{r}")),
            nothing.eq(marked & fetched.nothing),
            # the next worm's first header flit: the worm in front has lost its tail, and is ended here
            closing.eq(header & ~nothing & shown(f"under_way_{r}")),
            flit.data.eq(row.data),
            flit.head.eq(marked | closing | (code[:2] == Mark.CUT)),
            flit.tail.eq(closing | (~marked & code[0])),
        ]

        links = shown("links")
        won, sends, tail = getattr(self, f"won_{r}"), getattr(self, f"sends_{r}"), flit.tail
        # flits for no output: before a worm's header, or a header that requests nothing
        drops = C(0)
        if r == 0:
            drops = shown("unread") & Mux(marked, nothing, ~ends_here & ~shown("here"))
        asks, claims, halted = Signal(name=f"reader{r}_asks"), C(0), C(0)
        # a worm reserves a consumption channel before it requests anything else
        m.d.comb += asks.eq(shown(f"eligible_{r}") & ~shown("wants_consumption"))
        consumes = bool(self.exits) and self.exits[0] in group
        if consumes:
            claims = getattr(self, f"claims_{r}")
            m.d.comb += claims.eq(shown("claims"))
        request, pick_link = getattr(self, f"request_{r}"), C(0)
        link_free, link_ready, strips, skips = C(0), C(1), C(0), C(0)
        for o in group:
            vc = getattr(self, f"vc_{o}")
            if o in self.exits:
                halted = shown("undecided") & marked
                mine = shown("exit") == self.exits.index(o) if len(self.exits) > 1 else None
                target = shown("here") if mine is None else shown("here") & mine
                pick = Array(worm.pick_c for worm in worms)[sel]
                free = getattr(self, f"held_{o}")
                if len(self.groups) > 1:
                    # a worm's first claim is made without a check for a free channel, which is made here
                    # each worm's bit of `free` is selected before the worm, as `sel` is late
                    free = Array(bit_at(getattr(self, f"free_{o}"), worm.kind) for worm in worms)[sel]
                asks_here = (asks & target) | (claims & free if mine is None else claims & free & mine)
                m.d.comb += vc.eq(Mux(claims, pick, shown("consumption_vc")))
                first = self.decoder.ejection + (o - self.decoder.ejection) * self.links_each
                for link in range(self.links_each):
                    m.d.comb += request[first + link].eq(asks_here & (vc == link if self.separate else 1))
            else:
                owns_link = getattr(self, f"owns_link_{r}")
                target, free, pick = self._way(o, links)
                m.d.comb += [
                    owns_link.eq(shown("owns_link")),
                    request[o].eq(asks & target & (owns_link | free)),
                    vc.eq(Mux(owns_link, shown("link_vc"), pick)),
                ]
                link_free |= self._any_class(o, links, "soon")
                pick_link |= Mux(target, vc, 0)
            link_ready &= ~target | bit_at(getattr(self, f"ready_after_{o}"), vc)

        complete = getattr(self, f"complete_{r}")
        goes = any_of([request[o] for o in group if o not in self.exits])
        stays = request[self.decoder.ejection:].any() if consumes else C(0)
        if len(group) > 1:
            stays &= claims | ~links.any()
        m.d.comb += complete.eq(goes | stays)

        # `again`: if the presented worm is granted in this cycle, it is eligible in the next one
        more, again = Signal(name=f"reader{r}_more"), Signal(name=f"reader{r}_again")
        m.d.comb += [
            more.eq(bit_at(getattr(buffer, f"more_{r}") | buffer.arrives, sel)),
            # with two readers, this one requests nothing after the tail: the other reader may still need the worm
            again.eq(more & link_ready & (~tail if len(self.groups) > 1 else C(1))),
        ]
        if consumes:
            # the flit with which the channel was reserved stays, or it is stripped and leaves
            onward = links.any()
            # an absorbed worm uses no link, and keeps the rest of its header
            stripped = ~onward & ~marked if self.decoder.absorbs else ~onward
            with m.If(claims):
                if self.decoder.absorbs:
                    m.d.comb += again.eq(marked | more)
                else:
                    m.d.comb += again.eq(Mux(onward, link_free if r == 0 else C(1), more))
            if len(self.groups) > 1:
                skips = won & claims & stripped
            else:
                strips = claims & stripped
        m.d.comb += sends.eq(~claims & ~halted)
        leaves = won & (sends | strips) & ~closing
        presented = Cat(sel == v for v in range(vcs))
        if len(self.groups) == 1:
            m.d.comb += buffer.take_0.eq(leaves | drops)
        else:
            m.d.comb += getattr(buffer, f"take_{r}").eq(leaves)
            unread.append(Mux(skips if consumes else drops, presented, 0))
        for v, worm in enumerate(worms):
            m.d.comb += [
                getattr(worm, f"shown_{r}").eq(sel == v),
                getattr(worm, f"has_{r}").eq(getattr(buffer, f"has_{r}")[v]),
                getattr(worm, f"head_{r}").eq(header),
                getattr(worm, f"tail_{r}").eq(flit.tail),
                getattr(worm, f"won_{r}").eq(won & (sel == v)),
                getattr(worm, f"again_{r}").eq(again),
            ]
            if r == 0:
                m.d.comb += [
                    worm.fetched_nothing.eq(nothing),
                    worm.fetched_links.eq(Cat(marked & fetched.targets[i] for i in range(len(self.targets)))),
                    worm.pick_link.eq(pick_link),
                ]
                if self.exits:
                    copies = marked & fetched.all_of[self.exits[0]] if len(self.exits) == 1 else C(0)
                    m.d.comb += [
                        worm.fetched_here.eq(ends_here | copies),
                        worm.fetched_ends_here.eq(ends_here | copies if self.decoder.absorbs else ends_here),
                        worm.pick_c.eq(self._pick(worm)),
                    ]
                    if self.decoder.absorbs:
                        m.d.comb += worm.fetched_keeps.eq(copies)
            if len(self.groups) > 1:
                inactive = ~worm.links.any() if r == 0 else ~worm.here
                m.d.comb += getattr(buffer, f"follow_{r}")[v].eq(inactive)

        # a complete request uses up the turn, granted or not; so does the search of reader 0 for a header flit
        take_turns(m, f"reader{r}", [getattr(worm, f"want_{r}") for worm in worms], sel,
                   complete | shown("unread") if r == 0 else complete)

    def _ways(self, o: int, links: Value) -> list[tuple[Value, int]]:
        """Return for each target at this output its bit of ``links``, and its class."""
        return [(links[i], k) for i, (output, k) in enumerate(self.targets) if output == o]

    def _any_class(self, o: int, links: Value, name: str) -> Value:
        """Return, of an output's member with a bit per class, the bit of the requested class."""
        found = [way & getattr(self, f"{name}_{o}")[k] for way, k in self._ways(o, links)]
        return found[0] if len(found) == 1 else any_of(found)

    def _way(self, o: int, links: Value) -> tuple[Value, Value, Value]:
        """Return three values of an output: it is requested; its requested class has a free virtual channel; the number
        of that channel."""
        ways = self._ways(o, links)
        picks = [getattr(self, f"pick_{o}_{k}") for _, k in ways]
        if len(ways) == 1:
            return ways[0][0], getattr(self, f"free_{o}")[ways[0][1]], picks[0]
        pick = any_of([Mux(way, value, 0) for (way, _), value in zip(ways, picks, strict=True)])
        return any_of([way for way, _ in ways]), self._any_class(o, links, "free"), pick


def take_turns(m: Module, name: str, wants: list[Value], sel: Signal, used: Value) -> None:
    """Select one of the requesters of a buffer's reader at a time, in turn.

    The requester that had the last turn comes last, even if it requests no further turn. The selection therefore does
    not depend on the grant.
    """
    count = len(wants)
    last, turn, following = (Signal(range(count), name=f"{name}_{what}") for what in ("last", "turn", "next"))
    m.d.comb += [turn.eq(Mux(used, sel, last)), following.eq(turn)]
    with m.Switch(turn):
        for v in range(count):
            with m.Case(v):
                for w in [(v - k) % count for k in range(1, count)]:
                    with m.If(wants[w]):
                        m.d.comb += following.eq(w)
    m.d.sync += [last.eq(turn), sel.eq(following)]
