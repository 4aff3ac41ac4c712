"""Receiving end of a link: input decode, replication buffer, and the readers that feed the crossbar."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.channels import channels_of_class
from wormcast.algorithms.typecheck import checked

from .buffer import ReplicationBuffer
from .bundles import OfferSignature, ReaderSignature, by_name, connect_straps, named, strap_ports, straps_of
from .decoders import PathDecoder
from .faults import Cause
from .input_decode import InputDecode, ejection_port_bits
from .input_vc import InputVC, WormState
from .link import LinkSignature
from .logic import any_of, bit_at, take_turns
from .mark import Mark
from .port import PortSpec, numbers_of_links

__all__ = ["InputUnit"]


class InputUnit(wiring.Component):
    """Input port of a switch.

    ::

        link ─▶ decode ──▶ buffer (all VCs) ─ data, more ─▶ reader: selected VC ─▶ flit ─▶ crossbar
          ▲                  │   ▲ ▲                         │    ▲      │
          │credit            │   │ └────────── pop ──────────┘    │      └─▶ request ─▶ allocator
          └───── freed ──────┘   │ has                            │                        │
                                 ▼                                │ eligible               │
                 InputVC, one per VC: route, owned VCs ───────────┘                        │
                    ▲          ▲                                                           │
              offers of outputs   route of the header flit, granted ◀──────────────────────┘

    A flit on the link in cycle t is in the buffer in t + 1. A worm's first header flit, on the link in t, is *fetched*
    in t + 1: its code is latched as the route. The first header flit then requests outputs in t + 2 and, when granted,
    is on the next link in t + 3: **header delay 3**. A data flit is not fetched, so it is on the next link in t + 2:
    **data delay 2**. At a destination the worm reserves a consumption channel first. The reservation of a consumption
    channel delays the header by **one cycle** if the header flit holds further addresses, and by **two** if this flit
    is stripped and the next one is fetched. At a worm's last destination the first payload flit is on the consumption
    link 4 cycles after the last header flit was on the incoming link. The credit of a flit is on the link in the cycle
    after the last of the flit's readers took it. The header and data delays hold if all resources are free.

    Adaptive routing: the worm requests one target that it has chosen. If the chosen target is not expected to be free
    in the next cycle, the worm changes to a target that is expected to be free, and requests this target then. The
    delays of adaptive routing are the same as without it.

    The virtual channels take turns at each reader. A complete request uses up a virtual channel's turn at the reader,
    granted or not. A turn in which reader 0 looks for a header flit to fetch is used up, too. An incomplete request
    does not use up the turn, nor does a request for a virtual channel that another worm has just taken. *Reset*: empty.

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
        the worm needs has taken it. With independent readers, the next worm of a virtual channel starts when each
        reader that the worm in front needs has sent the tail.
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
    readers_{r} : Out(ReaderSignature)
        Reader {r}: its request, and the presented flit.
    vc_{output} : Out
        The virtual channel of an output that the presented worm owns, or takes with the grant.
    offers_{output} : In(OfferSignature)
        The output's virtual channels.
    cause, cause_vc : Out(Cause), Out
        Error of the flit that was on the link in the cycle before, and its virtual channel.
    state_{v} : Out(WormState)
    """

    @checked
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
        links = decoder.ejection + (len(outputs) - decoder.ejection) * self.links_each
        self.network = decoder.reaches(port)
        self.targets = decoder.targets(port)
        self.ejection_ports = decoder.ejection_ports(port)
        if readers == "independent" and self.ejection_ports and self.network:
            self.groups = [self.network, self.ejection_ports]
        else:
            self.groups = [self.network + self.ejection_ports]
        self.turns = [range(spec.vcs)] * len(self.groups)  # virtual channels, which take turns at each reader
        used = {o: outputs[o] for o in self.network + self.ejection_ports}
        super().__init__({
            "link": In(LinkSignature(vcs=spec.vcs, width=width)),
            **strap_ports(decoder),
            "readers": Out(ReaderSignature(outputs=links, turns=spec.vcs, width=width)).array(len(self.groups)),
            "vc": Out(named({output.name: range(output.vcs) for output in used.values()})),
            "offers": In(named({output.name: OfferSignature(
                vcs=output.vcs, classes=self.classes if o in self.ejection_ports else decoder.vc_classes,
            ) for o, output in used.items()})),
            "cause": Out(Cause),
            "cause_vc": Out(range(spec.vcs)),
            "state": Out(WormState).array(spec.vcs),
        })
        #: Members ``offers_{output}``, by the output's number.
        self.offer = dict(zip(used, by_name(self.offers).values(), strict=True))
        #: Members ``vc_{output}``, by the output's number.
        self.out_vc = dict(zip(used, by_name(self.vc).values(), strict=True))

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
        connect_straps(m, self, intake)
        m.d.comb += [
            intake.valid.eq(self.link.valid),
            intake.vc.eq(self.link.vc),
            intake.flit.eq(self.link.flit),
            intake.full.eq(buffer.full),
            buffer.write.eq(self.link.valid),
            buffer.write_vc.eq(self.link.vc),
            buffer.write_data.eq(intake.row),
            buffer.write_count.eq(intake.count),
        ]
        m.d.sync += [
            self.link.credit.eq(buffer.freed),
            # `cause` is registered, because the combinational path through the decoder is long
            self.cause.eq(intake.cause),
            self.cause_vc.eq(self.link.vc),
        ]
        worms = self._worms(m, intake.row_layout(buffer.readers[0].data).code, buffer)
        readers = [_Reader(self, m, r, intake.row_layout, buffer, worms) for r in range(len(self.groups))]
        if len(readers) > 1:
            m.d.comb += buffer.skip.eq(any_of([reader.skips for reader in readers]))
        return m

    def _worms(self, m, code, buffer) -> list[InputVC]:
        """Build the state machines of the virtual channels. ``code``: the code of the flit that reader 0 presents."""
        onward = self.decoder.onward(self.port, self.decoder.request(self.port, code))
        straps = straps_of(self)
        consumption_classes = [self.decoder.consumption_class(self.port, straps, onward, vc_class)
                               for vc_class in self._vc_classes]
        worms = []
        for v in range(self.spec.vcs):
            consumption_class = consumption_classes[v * len(consumption_classes) // self.spec.vcs]
            worm = InputVC(targets={f"{self.outputs[o].name}_{k}": self._channels(o, k) for o, k in self.targets},
                           consumption=self.outputs[self.ejection_ports[0]].vcs if self.ejection_ports else 0,
                           ejection_ports=max(len(self.ejection_ports), 1), choice=self.decoder.adaptive,
                           readers=len(self.groups), classes=self.classes, class_bits=len(consumption_class),
                           absorbs=self.decoder.absorbs)
            m.submodules[f"channel_{v}"] = worm
            worms.append(worm)
            m.d.comb += [
                worm.write.eq(buffer.arrives[v]),
                worm.header_route.consumption_class.eq(consumption_class),
                self.state[v].eq(worm.state),
            ]
            for (o, k), target in zip(self.targets, worm.target, strict=True):
                offer = self.offer[o]
                m.d.comb += [target.vc_free_next.eq(offer.vc_free_next[k]), target.ready.eq(offer.ready)]
            if self.ejection_ports:
                ejection_number = self._ejection_number(code)
                free_next = self._at_ejection_port(lambda offer: offer.vc_free_next, worm)
                header_free_next = self._of_ejection_port(lambda offer: offer.vc_free_next, ejection_number)
                m.d.comb += [
                    worm.ejection_offer.vc_free_next.eq(bit_at(free_next, worm.consumption_class)),
                    worm.ejection_offer.ready.eq(self._at_ejection_port(lambda offer: offer.ready, worm)),
                    worm.header_vc_free_next.eq(Mux(worm.header_route.ends_here, header_free_next[-1],
                                                    bit_at(header_free_next, consumption_class))),
                ]
            if len(self.ejection_ports) > 1:
                m.d.comb += worm.header_route.ejection_port.eq(ejection_number)
        return worms

    @property
    def _vc_classes(self) -> range | tuple[None]:
        """Classes of this input's virtual channels; (None,) if its consumption classes do not depend on them."""
        apart = self.decoder.consumption.by_vc and self.port < self.decoder.links_in
        return range(self.decoder.vc_classes) if apart else (None,)

    @property
    def ejection(self) -> int | None:
        """Number of the first ejection port that worms of this input can use; None without one."""
        return self.ejection_ports[0] if self.ejection_ports else None

    def _channels(self, o: int, k: int) -> list[int]:
        """Return the virtual channels of class ``k`` of an output to another switch."""
        return list(channels_of_class(self.outputs[o].vcs, self.decoder.vc_classes, k))

    def _ejection_number(self, code: Value) -> Value:
        """Return the ejection port's number, which is in the code of a `Mark.FINAL`."""
        return code[2:2 + ejection_port_bits(self.decoder, self.port)]

    def _of_ejection_port(self, of: Callable[[Any], Value], ejection_number: Value) -> Value:
        """Return the value of function ``of`` for the `OfferSignature` bundle of the ejection port with this number."""
        found = [of(self.offer[o]) for o in self.ejection_ports]
        return Array(found)[ejection_number] if len(found) > 1 else found[0]

    def _at_ejection_port(self, of: Callable[[Any], Value], worm: InputVC) -> Value:
        """Return the value of function ``of`` for the `OfferSignature` bundle of a worm's ejection port."""
        return self._of_ejection_port(of, worm.ejection_port if len(self.ejection_ports) > 1 else C(0))

    def consumption_candidate(self, worm: InputVC) -> Value:
        """Return the consumption channel that is offered to a worm's class."""
        def offered(k: int) -> Value:
            return self._at_ejection_port(lambda offer: offer.vc_candidate[k], worm)

        return Array(map(offered, range(self.classes)))[worm.consumption_class]


class _Reader:
    """Builder of one reader of an `InputUnit`, used while the unit is elaborated.

    The reader presents the virtual channels in turn, requests outputs, and takes each flit that a grant sends or
    strips.

    Attributes
    ----------
    skips : Value
        With several readers: mask of the virtual channels whose front flit leaves without being read.
    """

    def __init__(self, unit: InputUnit, m: Module, r: int, row_layout: data.StructLayout, buffer: ReplicationBuffer,
                 worms: list[InputVC]):
        self.unit, self.m, self.r, self.worms = unit, m, r, worms
        self.group, self.ejection_ports, self.decoder = unit.groups[r], unit.ejection_ports, unit.decoder
        self.alone = len(unit.groups) == 1  # the unit has one reader for all outputs
        self.consumes = bool(self.ejection_ports) and self.ejection_ports[0] in self.group
        self.port, self.source = unit.readers[r], buffer.readers[r]
        self.sel = Signal(range(unit.spec.vcs), name=f"reader{r}_sel")
        self.row = Signal(row_layout, name=f"reader{r}_row")
        self._present()
        link_free, link_ready, link_vc_candidate = self._request()
        # in the cycle after a grant the presented worm has a flit (`more`), and is eligible (`eligible_after_grant`)
        more, eligible_after_grant = (Signal(name=f"reader{r}_{name}") for name in ("more", "eligible_after_grant"))
        m.d.comb += more.eq(bit_at(self.source.more | buffer.arrives, self.sel))
        self._pop()
        m.d.comb += eligible_after_grant.eq(
            more & link_ready if self.alone else more & link_ready & ~self.port.flit.tail)
        if self.consumes:
            with m.If(self.port.consumption_request):
                m.d.comb += eligible_after_grant.eq(self._eligible_after_reservation(more, link_free))
        self._answer(buffer, eligible_after_grant, link_vc_candidate)
        # a complete request uses up a channel's turn, granted or not; so does reader 0's search for a header flit
        used = self.port.request.complete
        take_turns(m, f"reader{r}", [worm.readers[r].want for worm in worms], self.sel,
                   used | self.of_presented(lambda worm: worm.unread) if r == 0 else used)

    def of_presented(self, of: Callable[[Any], Value]) -> Value:
        """Apply ``of`` to the worm of the presented virtual channel, and return the result."""
        return Array(of(worm) for worm in self.worms)[self.sel]

    def _present(self) -> None:
        """Drive the presented flit."""
        m, row, flit, code = self.m, self.row, self.port.flit, self.row.code
        self.fetched = self.decoder.request(self.unit.port, code)
        self.ends_here = C(0) if not self.ejection_ports else ~row.head & (code[:2] == Mark.FINAL)
        self.header = row.head | self.ends_here
        self.nothing, self.closing = (Signal(name=f"reader{self.r}_{name}") for name in ("nothing", "closing"))
        m.d.comb += [
            self.port.request.turn.eq(self.sel),
            self.source.vc.eq(self.sel),
            row.eq(self.source.data),
            self.nothing.eq(row.head & self.fetched.nothing),
            # a first header flit while a worm is under way: that worm has lost its tail, and ends here
            self.closing.eq(self.header & ~self.nothing
                            & self.of_presented(lambda worm: worm.readers[self.r].under_way)),
            flit.data.eq(row.data),
            flit.head.eq(row.head | self.closing | (code[:2] == Mark.CUT)),
            flit.tail.eq(self.closing | (~row.head & code[0])),
        ]

    def _request(self) -> tuple[Value, Value, Value]:
        """Drive the request.

        Return (free, ready, candidate) for the presented worm. ``free`` is true if a virtual channel of the worm's link
        will be free. ``ready`` is true if all virtual channels of the worm will have a credit after a grant.
        ``candidate`` is the number of the virtual channel of the worm's link.
        """
        m, unit, port, request = self.m, self.unit, self.port, self.port.request.outputs
        self.links = links = self.of_presented(lambda worm: worm.links)
        requests = Signal(name=f"reader{self.r}_requests")
        # a worm reserves a consumption channel before it requests anything else
        m.d.comb += requests.eq(self.of_presented(lambda worm: worm.readers[self.r].eligible)
                            & ~self.of_presented(lambda worm: worm.wants_consumption))
        if self.consumes:
            m.d.comb += port.consumption_request.eq(self.of_presented(lambda worm: worm.consumption_request))
        free: Value = C(0)
        ready: Value = C(1)
        candidate: Value = C(0)
        for o in self.group:
            offer, vc = unit.offer[o], unit.out_vc[o]
            if o in self.ejection_ports:
                target = self._request_ejection(o, requests)
            else:
                target, link_free, link_candidate = self._link_offer(o)
                m.d.comb += [
                    port.owns.eq(self.of_presented(lambda worm: worm.owns_link)),
                    request[o].eq(requests & target & (port.owns | link_free)),
                    vc.eq(Mux(port.owns, self.of_presented(lambda worm: worm.link_vc), link_candidate)),
                ]
                free |= self._any_class(o, offer.vc_free_next)
                candidate |= Mux(target, vc, 0)
            ready &= ~target | bit_at(offer.ready_after, vc)
        goes = any_of([request[o] for o in self.group if o not in self.ejection_ports])
        stays = request[self.decoder.ejection:].any() if self.consumes else C(0)
        if len(self.group) > 1:
            stays &= port.consumption_request | ~links.any()
        m.d.comb += port.request.complete.eq(goes | stays)
        return free, ready, candidate

    def _request_ejection(self, o: int, requests: Value) -> Value:
        """Request an ejection port; return whether the presented worm is to leave by it."""
        m, unit, offer, vc = self.m, self.unit, self.unit.offer[o], self.unit.out_vc[o]
        consumption_request, mine = self.port.consumption_request, None
        if len(self.ejection_ports) > 1:
            mine = self.of_presented(lambda worm: worm.ejection_port) == self.ejection_ports.index(o)
        target = self.of_presented(lambda worm: worm.here)
        if mine is not None:
            target &= mine
        free = offer.vc_still_free
        if not self.alone:
            # a worm first requests a consumption channel whether one is free or not, so `free` is checked here
            # `sel` settles late in the cycle: each worm's bit of `free` is selected first, then `sel` selects the worm
            free = self.of_presented(lambda worm: bit_at(offer.free, worm.consumption_class))
        reserves = consumption_request & free if mine is None else consumption_request & free & mine
        requests_here = (requests & target) | reserves
        m.d.comb += vc.eq(Mux(consumption_request, self.of_presented(lambda worm: worm.ejection_offer.vc_candidate),
                              self.of_presented(lambda worm: worm.consumption_vc)))
        for c, link in enumerate(numbers_of_links(o, self.decoder.ejection, unit.links_each)):
            m.d.comb += self.port.request.outputs[link].eq(requests_here & (vc == c if unit.separate else 1))
        return target

    def _link_offer(self, o: int) -> tuple[Value, Value, Value]:
        """Return whether an output is requested, whether its requested class has a free virtual channel, and that
        channel's number."""
        ways, offer = self._ways(o), self.unit.offer[o]
        if len(ways) == 1:
            [(way, k)] = ways
            return way, offer.free[k], offer.vc_candidate[k]
        candidate = any_of([Mux(way, offer.vc_candidate[k], 0) for way, k in ways])
        return any_of([way for way, _ in ways]), self._any_class(o, offer.free), candidate

    def _ways(self, o: int) -> list[tuple[Value, int]]:
        """Return for each target at this output its bit of ``links``, and its class."""
        return [(self.links[i], k) for i, (output, k) in enumerate(self.unit.targets) if output == o]

    def _any_class(self, o: int, bits: Value) -> Value:
        """Return the requested class's bit of ``bits``, a member of an output's offer with a bit per class."""
        found = [way & bits[k] for way, k in self._ways(o)]
        return found[0] if len(found) == 1 else any_of(found)

    def _pop(self) -> None:
        """Take the presented flit if it leaves: a grant sends or strips it, or it is dropped."""
        m, port, row, granted = self.m, self.port, self.row, self.port.request.granted
        drops: Value = C(0)
        if self.r == 0:
            # drop flits that go to no output: those before a worm's header, and headers that request nothing
            drops = self.of_presented(lambda worm: worm.unread) & Mux(
                row.head, self.nothing, ~self.ends_here & ~self.of_presented(lambda worm: worm.here))
        halted: Value = C(0)
        stripped: Value = C(0)
        if self.consumes:
            halted = self.of_presented(lambda worm: worm.undecided) & row.head
            # an absorbed worm uses no link, and keeps the rest of its header
            stripped = ~self.links.any() & ~row.head if self.decoder.absorbs else ~self.links.any()
        m.d.comb += port.sends.eq(~port.consumption_request & ~halted)
        strips = port.consumption_request & stripped if self.alone and self.consumes else C(0)
        leaves = granted & (port.sends | strips) & ~self.closing
        m.d.comb += self.source.pop.eq(leaves | drops if self.alone else leaves)
        skip = granted & port.consumption_request & stripped if self.consumes else drops
        self.skips = Mux(skip, Cat(self.sel == v for v in range(len(self.worms))), 0)

    def _eligible_after_reservation(self, more: Value, link_free: Value) -> Value:
        """Return whether a worm that is granted a consumption channel is eligible in the next cycle."""
        # the header flit that reserved the channel stays in the buffer, or is stripped and leaves it
        if self.decoder.absorbs:
            return self.row.head | more
        return Mux(self.links.any(), link_free if self.r == 0 else C(1), more)

    def _answer(self, buffer, eligible_after_grant: Value, link_vc_candidate: Value) -> None:
        """Connect each worm's reader to its flit and its grant, and reader 0 also to the worm's route and the channels
        that the worm may reserve."""
        m, r, port = self.m, self.r, self.port
        for v, worm in enumerate(self.worms):
            one = worm.readers[r]
            m.d.comb += [
                one.presented.eq(self.sel == v),
                one.has.eq(self.source.has[v]),
                one.head.eq(self.header),
                one.tail.eq(port.flit.tail),
                one.granted.eq(port.request.granted & (self.sel == v)),
                one.eligible_after_grant.eq(eligible_after_grant),
            ]
            if not self.alone:
                m.d.comb += self.source.follow[v].eq(~worm.links.any() if r == 0 else ~worm.here)
            if r == 0:
                self._route(worm.header_route)
                m.d.comb += worm.link_vc_candidate.eq(link_vc_candidate)
                if self.ejection_ports:
                    m.d.comb += worm.ejection_offer.vc_candidate.eq(self.unit.consumption_candidate(worm))

    def _route(self, route) -> None:
        """Drive the route in the presented header flit, without its consumption class and its ejection port."""
        m, head, fetched = self.m, self.row.head, self.fetched
        m.d.comb += [
            route.nothing.eq(self.nothing),
            route.links.eq(Cat(head & fetched.targets[i] for i in range(len(self.unit.targets)))),
        ]
        if self.ejection_ports:
            copies = head & fetched.all_of[self.ejection_ports[0]] if len(self.ejection_ports) == 1 else C(0)
            m.d.comb += [
                route.here.eq(self.ends_here | copies),
                route.ends_here.eq(self.ends_here | copies if self.decoder.absorbs else self.ends_here),
            ]
            if self.decoder.absorbs:
                m.d.comb += route.keeps.eq(copies)
