"""Receiving end of a link whose worms are replicated: input decode, replication buffer, a reader per branch."""

from typing import Any

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..buffer import ReplicationBuffer
from ..decoders.bit_string import BitStringDecoder
from ..faults import Cause
from ..input_unit import take_turns
from ..link import LinkSignature, flit_layout
from ..logic import bit_at, bits_for
from ..port import PortSpec
from .branches import branches_of
from .buffer import BranchBuffer
from .input_decode import TreeInputDecode
from .worm import TreeState, TreeWorm

__all__ = ["TreeInput"]


class TreeInput(wiring.Component):
    """Input port of a switch that replicates worms to several outputs.

    ::

        link ─▶ intake ──▶ buffer (all VCs) ─┬─▶ reader of output 0 ─▶ flit ─▶ crossbar
                  │ known                    ├─▶ reader of output 1 ─▶ ...
                  ▼                          └─▶ ...
          TreeWorm, one per VC ─▶ eligible ─▶ request ─▶ allocator ─▶ won
                  ▲ arrived, granted                       (a flit is freed when all its branches have taken it)
                  └──▶ tells, needs_token

    *asynchronous*: for each output a reader with its own read port; each branch of a worm advances at its own pace,
    within the depth of the buffer. *synchronous*: one reader; a worm takes the virtual channels of all its outputs at
    once, or waits, and each flit is sent to all of them in the same cycle. *serial*: one read port, at which the
    branches take turns, one copy per cycle; otherwise they are independent.

    *Latency*, with free resources, from link to link: header 3 cycles (from its last flit), data 2; with ``fast``
    delays 1 more. A header that needs the token takes 1 more, if the token is at this switch. *Throughput*: a flit per
    cycle and output; serial: a flit per cycle for all outputs together. *Reset*: empty.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    spec, outputs : PortSpec, tuple of PortSpec
        This input, and all outputs of the switch.
    decoder : BitStringDecoder
    replication : "asynchronous", "synchronous" or "serial"
    storage : "lutram" or "registers"
    separate : bool
        Each consumption channel has its own link.
    reports : bool
        Arrivals are reported on the links from and to other switches.
    tokens : bool
        Worms that are replicated here wait for a token.
    consumed : bool
        As in `TreeWorm`.

    Members
    -------
    link : In(LinkSignature)
    strap_{name} : In
        The decoder's straps.
    sel_{r}, flit_{r}, place_{r} : Out
        Branch that reader r presents, its flit, and the number of that flit in the header.
    request_{r}, complete_{r} : Out
        The requested outputs; 1 if these are all outputs that the branch needs.
    owns_link_{r}, claims_{r} : Out(1)
        The presented branch owns its virtual channels; it does not own them, and a grant takes them.
    sends_{r} : Out(1)
        A grant sends the flit. Always 1.
    vc_{o} : Out
        The virtual channel of output o that the presented branch owns, or takes with the grant.
    won_{r} : In(1)
        The request is complete, and all of it is granted.
    pick_{o}_{k}, free_{o}, soon_{o}, held_{o}, ready_{o}, ready_after_{o} : In
        As in `OutputUnit`, of output o; there is one class.
    cause, cause_vc : Out(Cause), Out
        Error of the flit that was on the link in the cycle before, and its virtual channel.
    reports_{r} : Out(1)
        The presented worm reports its arrival. Only with reports.
    arrived_{o} : In
        Reports that arrive by output o from another switch. Only with reports.
    needs_token, ends_token, granted : Out(vcs), Out(vcs), In(vcs)
        For each virtual channel, as in `TreeWorm`. Only with tokens.
    state_{v} : Out(TreeState)
    """

    def __init__(self, port: int, spec: PortSpec, *, outputs: tuple[PortSpec, ...], decoder: BitStringDecoder,
                 replication: str = "asynchronous", storage: str = "lutram", separate: bool = False,
                 reports: bool = False, tokens: bool = False, consumed: bool = False):
        self.port = port
        self.spec = spec
        self.outputs = outputs
        self.decoder = decoder
        self.width = decoder.header.flit_width
        self.replication = replication
        self.storage = storage
        self.separate = separate
        self.has_reports = reports
        self.has_tokens = tokens
        self.consumed = consumed
        self.leads = decoder.leads(port)
        self.exits = decoder.exits(port)
        self.links_each = outputs[-1].vcs if separate else 1  # number of links of each ejection port
        self.links = decoder.ejection + (len(outputs) - decoder.ejection) * self.links_each
        self.branches = branches_of(self.leads, replication)
        self.groups = self.branches if replication == "asynchronous" else [self.leads]
        # the virtual channel and the branch of each turn at a reader
        self.turns = [[(v, b) for v in range(spec.vcs)
                       for b in ([r] if replication == "asynchronous" else range(len(self.branches)))]
                      for r in range(len(self.groups))]
        members: dict = {"link": In(LinkSignature(vcs=spec.vcs, width=self.width, arrived=self.answers))}
        for name, bits in decoder.straps.items():
            members[f"strap_{name}"] = In(bits)
        for r, turns in enumerate(self.turns):
            members |= {
                f"sel_{r}": Out(range(len(turns))),
                f"flit_{r}": Out(flit_layout(self.width)),
                f"place_{r}": Out(bits_for(decoder.flits)),
                f"request_{r}": Out(self.links),
                f"complete_{r}": Out(1),
                f"owns_link_{r}": Out(1),
                f"claims_{r}": Out(1),
                f"sends_{r}": Out(1),
                f"won_{r}": In(1),
                **({f"reports_{r}": Out(1)} if reports else {}),
            }
        for o in self.leads:
            vcs = outputs[o].vcs
            members |= {
                f"vc_{o}": Out(range(vcs)),
                f"pick_{o}_0": In(range(vcs)),
                f"free_{o}": In(1),
                f"soon_{o}": In(1),
                f"held_{o}": In(1),
                f"ready_{o}": In(vcs),
                f"ready_after_{o}": In(vcs),
                **({f"arrived_{o}": In(vcs)} if reports and o not in self.exits else {}),
            }
        members |= {"cause": Out(Cause), "cause_vc": Out(range(spec.vcs))}
        if tokens:
            members |= {"needs_token": Out(spec.vcs), "ends_token": Out(spec.vcs), "granted": In(spec.vcs)}
        for v in range(spec.vcs):
            members[f"state_{v}"] = Out(TreeState)
        super().__init__(members)

    @property
    def answers(self) -> bool:
        """The input sends reports back on its link, which comes from another switch."""
        return self.has_reports and self.port < self.decoder.links_in

    @property
    def shared(self) -> bool:
        """The branches share a read port."""
        return self.replication == "serial" and len(self.branches) > 1

    def elaborate(self, platform):
        m = Module()
        vcs, readers = self.spec.vcs, len(self.branches)
        m.submodules.intake = intake = TreeInputDecode(self.port, vcs=vcs, decoder=self.decoder)
        size: dict[str, Any] = {"vcs": vcs, "depth": self.spec.depth, "width": intake.row_layout.size,
                                "storage": self.storage}
        buffer: Any = (BranchBuffer(readers=readers, shared=self.shared, **size) if readers > 1 else
                       ReplicationBuffer(**size))
        m.submodules.buffer = buffer
        stored = buffer.some if readers > 1 else buffer.has_0
        m.d.comb += [
            intake.valid.eq(self.link.valid),
            intake.vc.eq(self.link.vc),
            intake.flit.eq(self.link.flit),
            *(getattr(intake, f"strap_{name}").eq(getattr(self, f"strap_{name}")) for name in self.decoder.straps),
            intake.full.eq(buffer.full),
            buffer.write.eq(self.link.valid),
            buffer.write_vc.eq(self.link.vc),
            buffer.write_data.eq(intake.row),
            *([buffer.write_count.eq(1)] if readers == 1 else []),
        ]
        m.d.sync += [
            self.link.credit.eq(buffer.freed),
            self.cause.eq(intake.cause),
            self.cause_vc.eq(self.link.vc),
        ]
        # room for a worm per flit of the buffer, as each worm has at least one flit
        room = self.spec.depth
        worms = []
        for v in range(vcs):
            worm = TreeWorm(outputs=[self.outputs[o].vcs for o in self.leads], exits=len(self.exits),
                            groups=[[self.leads.index(o) for o in branch] for branch in self.branches], room=room,
                            reports=self.has_reports, tokens=self.has_tokens, consumed=self.consumed)
            m.submodules[f"channel_{v}"] = worm
            worms.append(worm)
            m.d.comb += [
                worm.known.eq(intake.known & (intake.vc == v)),
                worm.branches.eq(intake.branches),
                worm.write.eq(buffer.arrives[v]),
                worm.some.eq(stored[v]),
                getattr(self, f"state_{v}").eq(worm.state),
            ]
            for i, o in enumerate(self.leads):
                m.d.comb += [
                    getattr(worm, f"soon_{i}").eq(getattr(self, f"soon_{o}")),
                    getattr(worm, f"ready_{i}").eq(getattr(self, f"ready_{o}")),
                    getattr(worm, f"pick_{i}").eq(getattr(self, f"pick_{o}_0")),
                ]
                if self.has_reports and o not in self.exits:
                    m.d.comb += getattr(worm, f"arrived_{i}").eq(getattr(self, f"arrived_{o}"))
            if self.has_reports:
                m.d.comb += worm.reports.eq(intake.reports)
            if self.answers:
                m.d.sync += self.link.arrived[v].eq(worm.tells)
            if self.has_tokens:
                m.d.comb += [
                    self.needs_token[v].eq(worm.needs_token),
                    self.ends_token[v].eq(worm.ends_token),
                    worm.granted.eq(self.granted[v]),
                ]
            for b in range(readers):
                m.d.comb += getattr(worm, f"has_{b}").eq(getattr(buffer, f"has_{b}")[v])
                if readers > 1:
                    m.d.comb += getattr(buffer, f"needs_{b}")[v].eq(getattr(worm, f"left_{b}"))
            if readers > 1:
                m.d.comb += buffer.between[v].eq(worm.over | worm.drops)
        for r in range(len(self.groups)):
            self._reader(m, r, intake.row_layout, buffer, worms)
        return m

    def _reader(self, m, r, layout: data.StructLayout, buffer, worms):
        """Build a reader, which presents one branch of one virtual channel's worm in each cycle.

        The reader requests the outputs of the presented branch. A grant sends one flit of the presented branch. After
        each request, granted or not, another branch or virtual channel that can move has its turn.
        """
        turns, readers = self.turns[r], len(self.branches)
        sel = Signal(range(len(turns)), name=f"reader{r}_sel")
        vc = Signal(range(len(worms)), name=f"reader{r}_vc")
        branch = Signal(range(max(readers, 1)), name=f"reader{r}_branch")
        row, flit = Signal(layout, name=f"reader{r}_row"), getattr(self, f"flit_{r}")

        def shown(of) -> Value:
            """Return ``of(worm, branch)`` for the presented branch."""
            return Array(of(worms[v], b) for v, b in turns)[sel]

        begins, closing = Signal(name=f"reader{r}_begins"), Signal(name=f"reader{r}_closing")
        owned, won, tail = shown(lambda worm, b: getattr(worm, f"owned_{b}")), getattr(self, f"won_{r}"), flit.tail
        place = getattr(self, f"place_{r}")
        m.d.comb += [
            getattr(self, f"sel_{r}").eq(sel),
            vc.eq(Array(v for v, _ in turns)[sel]),
            branch.eq(Array(b for _, b in turns)[sel]),
            row.eq(getattr(buffer, f"data_{0 if self.shared else r}")),
            *([buffer.choice.eq(branch)] if self.shared else []),
            place.eq(row.code),
            begins.eq(row.head & (place == 0)),
            # the next worm's first header flit: the worm in front has lost its tail, and is ended here
            closing.eq(begins & owned),
            flit.data.eq(row.data),
            flit.head.eq(row.head | row.code[1]),
            tail.eq(closing | (~row.head & row.code[0])),
            getattr(self, f"owns_link_{r}").eq(owned),
            getattr(self, f"claims_{r}").eq(~owned),
            getattr(self, f"sends_{r}").eq(1),
        ]
        if self.has_reports:
            reporting = shown(lambda worm, b: worm.reporting)
            m.d.comb += getattr(self, f"reports_{r}").eq(reporting & ~owned)
            with m.If(begins & reporting):
                m.d.comb += flit.data[0].eq(1)
        with m.If(closing):
            m.d.comb += flit.head.eq(1)

        asks = shown(lambda worm, b: getattr(worm, f"eligible_{b}"))
        request, refused, ready = getattr(self, f"request_{r}"), C(0), C(1)
        for o in self.groups[r]:
            i, out_vc = self.leads.index(o), getattr(self, f"vc_{o}")
            target = shown(lambda worm, b, o=o, i=i: worm.targets[i] if o in self.branches[b] else C(0))
            free = owned | getattr(self, f"free_{o}")
            m.d.comb += out_vc.eq(Mux(owned, shown(lambda worm, b, i=i: getattr(worm, f"vc_{i}")),
                                      getattr(self, f"pick_{o}_0")))
            asked = asks & free if len(self.groups) > 1 else asks & target & free
            for link, here in self._links(o, out_vc):
                m.d.comb += request[link].eq(asked & here)
            refused |= target & ~free
            ready &= ~target | bit_at(getattr(self, f"ready_after_{o}"), out_vc)
        more, again, drops = (Signal(name=f"reader{r}_{name}") for name in ("more", "again", "drops"))
        if len(self.groups) > 1:
            m.d.comb += getattr(self, f"complete_{r}").eq(request.any())
        else:
            m.d.comb += getattr(self, f"complete_{r}").eq(asks & ~refused)
        more_of = [getattr(buffer, f"more_{b}") | buffer.arrives for b in range(readers)]
        m.d.comb += again.eq(more & ready & ~tail)
        leaves = won & ~closing
        if self.shared:
            m.d.comb += more.eq(bit_at(Array(more_of)[branch], vc))
        else:
            m.d.comb += more.eq(bit_at(more_of[r], vc))
        for b in range(readers) if len(self.groups) == 1 else [r]:
            m.d.comb += [getattr(buffer, f"vc_{b}").eq(vc),
                         getattr(buffer, f"take_{b}").eq(leaves & (branch == b) if self.shared else leaves)]
        for v, b in turns:
            mine, worm = sel == turns.index((v, b)), worms[v]
            m.d.comb += [
                getattr(worm, f"won_{b}").eq(won & mine),
                getattr(worm, f"tail_{b}").eq(tail),
                getattr(worm, f"again_{b}").eq(again),
            ]
        if r == 0:
            self._drop(m, buffer, worms, sel, vc, drops, begins, row, leaves)
        take_turns(m, f"reader{r}", [getattr(worms[v], f"want_{b}") for v, b in turns], sel,
                   request.any() | drops)
        return m

    def _drop(self, m, buffer, worms, sel, vc, drops, begins, row, leaves):
        """Drop the flits of a worm that requests nothing."""
        turns, skips = self.turns[0], Signal(name="skips")
        m.d.comb += drops.eq(Array(worms[v].drops & worms[v].some if b == 0 else C(0) for v, b in turns)[sel])
        ends = ~row.head & row.code[0]
        # a header flit of the next worm: the dropped worm has no tail
        behind = begins & Array(worm.owned_0 for worm in worms)[vc]
        m.d.comb += skips.eq(drops & ~behind)
        for v, worm in enumerate(worms):
            m.d.comb += [worm.dropped.eq(drops & (vc == v)), worm.drop_ends.eq(ends | behind)]
        if len(self.branches) > 1:
            m.d.comb += buffer.skip.eq(Mux(skips, Cat(vc == v for v in range(len(worms))), 0))
        else:
            m.d.comb += buffer.take_0.eq(leaves | skips)

    def _links(self, o: int, vc: Value) -> list[tuple[int, Value]]:
        """Return the allocator's numbers of an output's links, each with 1 if the virtual channel ``vc`` is on this
        link."""
        if o < self.decoder.ejection:
            return [(o, C(1))]
        first = self.decoder.ejection + (o - self.decoder.ejection) * self.links_each
        return [(first + link, vc == link if self.separate else C(1)) for link in range(self.links_each)]
