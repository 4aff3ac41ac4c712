"""Receiving end of a link whose worms are replicated: input decode, replication buffer, a reader per branch."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..buffer import ReplicationBuffer
from ..bundles import OfferSignature, ReaderSignature, by_name, connect_straps, named, strap_ports
from ..decoders.branching import TreeDecoder
from ..faults import Cause
from ..link import LinkSignature
from ..logic import bit_at, bits_for, take_turns
from ..port import PortSpec, numbers_of_links
from .buffer import BranchBuffer
from .input_decode import TreeInputDecode
from .switch_spec import branches_of
from .worm import TreeState, TreeWorm

__all__ = ["TreeInput"]


class TreeInput(wiring.Component):
    """Input port of a switch that replicates worms to several outputs.

    ::

        link ─▶ decode ──▶ buffer (all VCs) ─┬─▶ reader of output 0 ─▶ flit ─▶ crossbar
                  │ known                    ├─▶ reader of output 1 ─▶ …
                  ▼                          └─▶ …     (a flit is freed when all branches of its worm have taken it)
          TreeWorm, one per VC ─▶ eligible ─▶ request ─▶ allocator ─▶ granted
            inputs: arrived (reports), token_granted; outputs: report, needs_token

    *asynchronous*: for each output a reader with its own read port; each branch of a worm advances at its own pace,
    within the depth of the buffer. *synchronous*: one reader; a worm takes the virtual channels of all its outputs at
    once, or waits, and each flit is sent to all of them in the same cycle. *serial*: one read port, at which the
    branches take turns, one copy per cycle; otherwise the branches are independent.

    *Latency*, with free resources, from link to link: header 3 cycles (from its last flit), data 2; with ``fast``
    delays 1 more. A header that needs the token takes 1 cycle more, if the token is at this switch. *Throughput*: a
    flit per cycle and output; serial: a flit per cycle for all outputs together. *Reset*: empty.

    Parameters
    ----------
    port : int
        Index of the port in the decoder's list.
    spec, outputs : PortSpec, tuple of PortSpec
        This input, and all outputs of the switch.
    decoder : TreeDecoder
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
    readers_{r} : Out(ReaderSignature)
        Reader {r}: its request, and the flit of the presented branch. A branch that does not own its virtual channels
        requests them. A grant always sends the flit of the presented branch.
    vc_{output} : Out
        The virtual channel of an output that the presented branch owns, or takes with the grant.
    offers_{output} : In(OfferSignature)
        The output's virtual channels; there is one class.
    cause, cause_vc : Out(Cause), Out
        Error of the flit that was on the link in the cycle before, and its virtual channel.
    arrived_{output} : In
        Reports from the switch behind the output, a bit for each virtual channel: all branches of the worm that was
        sent on this channel have arrived. Only with reports.
    needs_token, ends_token, token_granted : Out(vcs), Out(vcs), In(vcs)
        For each virtual channel, as in `TreeWorm`. Only with tokens.
    state_{v} : Out(TreeState)
    """

    def __init__(self, port: int, spec: PortSpec, *, outputs: tuple[PortSpec, ...], decoder: TreeDecoder,
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
        self.ejection_ports = decoder.ejection_ports(port)
        self.links_each = outputs[-1].vcs if separate else 1  # number of links of each ejection port
        links = decoder.ejection + (len(outputs) - decoder.ejection) * self.links_each
        self.branches = branches_of(self.leads, replication)
        self.groups = self.branches if replication == "asynchronous" else [self.leads]
        # for each reader, its turns: pairs of virtual channel and branch
        self.turns = [[(v, b) for v in range(spec.vcs)
                       for b in ([r] if replication == "asynchronous" else range(len(self.branches)))]
                      for r in range(len(self.groups))]
        used = {o: outputs[o] for o in self.leads}
        network = {o: port for o, port in used.items() if o not in self.ejection_ports}
        super().__init__({
            "link": In(LinkSignature(vcs=spec.vcs, width=self.width, arrived=self.sends_reports)),
            **strap_ports(decoder),
            "readers": Out(ReaderSignature(
                outputs=links, turns=len(self.turns[0]), width=self.width, place_bits=bits_for(decoder.codes),
                reports=reports,
            )).array(len(self.groups)),
            "vc": Out(named({output.name: range(output.vcs) for output in used.values()})),
            "offers": In(named({output.name: OfferSignature(vcs=output.vcs, classes=1) for output in used.values()})),
            **({"arrived": In(named({output.name: output.vcs for output in network.values()}))} if reports else {}),
            "cause": Out(Cause),
            "cause_vc": Out(range(spec.vcs)),
            **({"needs_token": Out(spec.vcs), "ends_token": Out(spec.vcs),
                "token_granted": In(spec.vcs)} if tokens else {}),
            "state": Out(TreeState).array(spec.vcs),
        })
        #: Members ``offers_{output}``, by the output's number.
        self.offer = dict(zip(used, by_name(self.offers).values(), strict=True))
        #: Members ``vc_{output}``, by the output's number.
        self.out_vc = dict(zip(used, by_name(self.vc).values(), strict=True))
        #: Members ``arrived_{output}``, by the output's number.
        self.arrived_by = dict(zip(network, by_name(self.arrived).values(), strict=True)) if reports else {}

    @property
    def sends_reports(self) -> bool:
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
        connect_straps(m, self, intake)
        m.d.comb += [
            intake.valid.eq(self.link.valid),
            intake.vc.eq(self.link.vc),
            intake.flit.eq(self.link.flit),
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
        worms = [self._worm(m, v, intake, buffer) for v in range(vcs)]
        for r in range(len(self.groups)):
            self._reader(m, r, intake.row_layout, buffer, worms)
        return m

    def _worm(self, m, v: int, intake: TreeInputDecode, buffer) -> TreeWorm:
        """Add the state machine of a virtual channel."""
        # room for a worm per flit of the buffer, because each worm has at least one flit
        worm = TreeWorm(outputs={self.outputs[o].name: self.outputs[o].vcs for o in self.leads},
                        ejection_ports=len(self.ejection_ports),
                        groups=[[self.leads.index(o) for o in branch] for branch in self.branches],
                        room=self.spec.depth, reports=self.has_reports, tokens=self.has_tokens, consumed=self.consumed)
        m.submodules[f"channel_{v}"] = worm
        replicates = len(self.branches) > 1
        m.d.comb += [
            worm.known.eq(intake.known & (intake.vc == v)),
            worm.branches.eq(intake.branches),
            worm.write.eq(buffer.arrives[v]),
            worm.some.eq(buffer.some[v] if replicates else buffer.readers[0].has[v]),
            self.state[v].eq(worm.state),
        ]
        for o, target in zip(self.leads, worm.offer, strict=True):
            offer = self.offer[o]
            m.d.comb += [
                target.vc_free_next.eq(offer.vc_free_next),
                target.ready.eq(offer.ready),
                target.vc_candidate.eq(offer.vc_candidate[0]),
            ]
        if self.has_reports:
            m.d.comb += worm.reports.eq(intake.reports)
            wiring.connect(m, wiring.flipped(self.arrived), worm.arrived)
        if self.sends_reports:
            m.d.sync += self.link.arrived[v].eq(worm.report)
        if self.has_tokens:
            m.d.comb += [
                self.needs_token[v].eq(worm.needs_token),
                self.ends_token[v].eq(worm.ends_token),
                worm.token_granted.eq(self.token_granted[v]),
            ]
        for branch, source in zip(worm.branch, buffer.readers, strict=True):
            m.d.comb += branch.has.eq(source.has[v])
            if replicates:
                m.d.comb += source.needs[v].eq(branch.left)
        if replicates:
            m.d.comb += buffer.between[v].eq(worm.over | worm.drops)
        return worm

    def _reader(self, m, r, layout: data.StructLayout, buffer, worms):
        """Build a reader, which presents one branch of one virtual channel's worm in each cycle.

        The reader requests the outputs of the presented branch. A grant sends one flit of the presented branch. After
        each request, granted or not, another branch or virtual channel that can move has its turn.
        """
        turns, readers, port = self.turns[r], len(self.branches), self.readers[r]
        sel = Signal(range(len(turns)), name=f"reader{r}_sel")
        vc = Signal(range(len(worms)), name=f"reader{r}_vc")
        branch = Signal(range(max(readers, 1)), name=f"reader{r}_branch")
        row, flit, granted = Signal(layout, name=f"reader{r}_row"), port.flit, port.request.granted

        def of_presented(of: Callable[[TreeWorm, int], Value]) -> Value:
            """Apply ``of`` to the presented branch and its worm, and return the result."""
            return Array(of(worms[v], b) for v, b in turns)[sel]

        begins, closing = Signal(name=f"reader{r}_begins"), Signal(name=f"reader{r}_closing")
        owned = of_presented(lambda worm, b: worm.branch[b].owned)
        m.d.comb += [
            port.request.turn.eq(sel),
            vc.eq(Array(v for v, _ in turns)[sel]),
            branch.eq(Array(b for _, b in turns)[sel]),
            row.eq(buffer.data if self.shared else buffer.readers[r].data),
            *([buffer.choice.eq(branch)] if self.shared else []),
            port.place.eq(row.code),
            begins.eq(row.head & self.decoder.begins(port.place)),
            # a first header flit while a worm is under way: that worm has lost its tail, and ends here
            closing.eq(begins & owned),
            flit.data.eq(row.data),
            flit.head.eq(row.head | row.code[1]),
            flit.tail.eq(closing | (~row.head & row.code[0])),
            port.owns.eq(owned),
            port.consumption_request.eq(~owned),
            port.sends.eq(1),
        ]
        if self.has_reports:
            reporting = of_presented(lambda worm, b: worm.reporting)
            m.d.comb += port.reports.eq(reporting & ~owned)
            with m.If(begins & reporting):
                m.d.comb += flit.data[self.decoder.mark].eq(1)
        with m.If(closing):
            m.d.comb += flit.head.eq(1)

        ready = self._request(m, r, of_presented, owned)
        more, eligible_after_grant, drops = (Signal(name=f"reader{r}_{name}")
                                             for name in ("more", "eligible_after_grant", "drops"))
        more_of = [source.more | buffer.arrives for source in buffer.readers]
        m.d.comb += [
            more.eq(bit_at(Array(more_of)[branch] if self.shared else more_of[r], vc)),
            eligible_after_grant.eq(more & ready & ~flit.tail),
        ]
        leaves = granted & ~closing
        for b in range(readers) if len(self.groups) == 1 else [r]:
            m.d.comb += [
                buffer.readers[b].vc.eq(vc),
                buffer.readers[b].pop.eq(leaves & (branch == b) if self.shared else leaves),
            ]
        for turn, (v, b) in enumerate(turns):
            one = worms[v].branch[b]
            m.d.comb += [
                one.granted.eq(granted & (sel == turn)),
                one.tail.eq(flit.tail),
                one.eligible_after_grant.eq(eligible_after_grant),
            ]
        if r == 0:
            self._drop(m, buffer, worms, sel, vc, drops, begins, row, leaves)
        take_turns(m, f"reader{r}", [worms[v].branch[b].want for v, b in turns], sel,
                   port.request.outputs.any() | drops)

    def _request(self, m, r, of_presented, owned) -> Value:
        """Request the outputs of the presented branch; return whether all these outputs will have a credit after a
        grant."""
        request, alone = self.readers[r].request, len(self.groups) == 1
        requests = of_presented(lambda worm, b: worm.branch[b].eligible)
        refused, ready = C(0), C(1)
        for o in self.groups[r]:
            i, offer, out_vc = self.leads.index(o), self.offer[o], self.out_vc[o]
            target = of_presented(lambda worm, b, o=o, i=i: worm.targets[i] if o in self.branches[b] else C(0))
            free = owned | offer.free
            m.d.comb += out_vc.eq(Mux(owned, of_presented(lambda worm, b, i=i: worm.out_vc[i]), offer.vc_candidate[0]))
            requested = requests & target & free if alone else requests & free
            for link, here in self._links(o, out_vc):
                m.d.comb += request.outputs[link].eq(requested & here)
            refused |= target & ~free
            ready &= ~target | bit_at(offer.ready_after, out_vc)
        m.d.comb += request.complete.eq(requests & ~refused if alone else request.outputs.any())
        return ready

    def _drop(self, m, buffer, worms, sel, vc, drops, begins, row, leaves):
        """Drop the flits of a worm that requests nothing."""
        turns, skips = self.turns[0], Signal(name="skips")
        m.d.comb += drops.eq(Array(worms[v].drops & worms[v].some if b == 0 else C(0) for v, b in turns)[sel])
        ends = ~row.head & row.code[0]
        # a header flit of the next worm: the dropped worm has no tail
        behind = begins & Array(worm.branch[0].owned for worm in worms)[vc]
        m.d.comb += skips.eq(drops & ~behind)
        for v, worm in enumerate(worms):
            m.d.comb += [worm.dropped.eq(drops & (vc == v)), worm.drop_ends.eq(ends | behind)]
        if len(self.branches) > 1:
            m.d.comb += buffer.skip.eq(Mux(skips, Cat(vc == v for v in range(len(worms))), 0))
        else:
            m.d.comb += buffer.readers[0].pop.eq(leaves | skips)

    def _links(self, o: int, vc: Value) -> list[tuple[int, Value]]:
        """Return a pair for each link of an output: the link's number in the allocator, and 1 if virtual channel ``vc``
        is on the link."""
        numbers = numbers_of_links(o, self.decoder.ejection, self.links_each)
        return [(link, vc == c if self.separate and len(numbers) > 1 else C(1)) for c, link in enumerate(numbers)]
