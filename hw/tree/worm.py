"""State machine of one virtual channel of a tree input: a worm's branches, and the report of its arrival."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, memory, wiring
from amaranth.lib.wiring import In, Out

from ..bundles import by_name, named
from ..input_vc import TargetSignature
from ..logic import any_of, bit_at, bits_for

__all__ = ["BranchSignature", "TreeState", "TreeWorm"]


class TreeState(enum.Enum, shape=3):
    """State of the worm at the front of an input virtual channel. Waveforms show it."""

    IDLE = 0  #: no worm, or its header has not been fetched
    WANTS_TOKEN = 1  #: the worm waits for the group's token before it is replicated
    BRANCHES = 2  #: a branch waits for a virtual channel
    MOVES = 3  #: each branch that has not sent its tail owns its virtual channels
    AWAITS_REPORTS = 4  #: all flits are sent; the worm waits for the branches' reports
    DROPPED = 5  #: the worm requests nothing, and is dropped


class BranchSignature(wiring.Signature):
    """A branch of a worm and its reader, seen from the worm.

    Members
    -------
    has : In(1)
        A flit is stored that the branch has not read.
    granted : In(1)
        The request of the branch is granted.
    tail : In(1)
        The flit that the branch requests to send is the worm's last one.
    eligible_after_grant : In(1)
        The branch is eligible in the next cycle if its request is granted in this one.
    eligible : Out(1)
        The branch requests its outputs in this cycle.
    want : Out(1)
        The branch needs a turn of its reader in the next cycle, unless its request is granted in this one.
    left : Out(1)
        The branch has not sent its tail.
    owned : Out(1)
        The branch owns its virtual channels. In a worm that requests nothing, ``owned`` of branch 0 is set when the
        first flit has left.
    """

    def __init__(self):
        super().__init__({
            **{name: In(1) for name in ("has", "granted", "tail", "eligible_after_grant")},
            **{name: Out(1) for name in ("eligible", "want", "left", "owned")},
        })


class TreeWorm(wiring.Component):
    """State of one input virtual channel: the worm at its front, and a queue of known worms behind it.

    ::

        known ─▶ queue ─ pop ─▶ targets ─┬─ several, with tokens: needs token ─ granted ─┐
                                         └───────────────────────────────────────────────┴─▶ each branch:
            requests a virtual channel ─▶ owns it, sends ─ tail ─▶ left := 0
                                            └─ arrived ─▶ reported
            left = 0 for all branches, all reports received ─▶ pop

    A *branch* is the copy of a worm for one output, or, with synchronous replication, the copies for all outputs.
    Branches are independent: each requests, sends and ends at its own pace. ``left`` marks the branches that have not
    sent their tail. The next worm is fetched when all tails are sent and all reports have arrived.

    *Reports*: a worm requests reports from its branches if its report bit is set, or if it is replicated here. When a
    worm has all reports of its branches, it sends its own report, if its report bit is set, and releases the token, if
    it holds the token. A branch to a consumption channel has arrived when it owns a channel; with enough channels for
    all worms that can arrive (``consumed``), it has arrived at once. A worm that requests nothing reports at once.

    The requests of a cycle come from registers, see `InputVC`. *Latency*: a worm that becomes known in cycle t, with no
    worm in front of it, requests its outputs in t + 2, or in t + 3 if the worm needs the token and the token is at this
    switch. *Reset*: idle.

    Parameters
    ----------
    outputs : dict of str to int
        Virtual channels of each output that worms can use, by name.
    ejection_ports : int
        Number of ejection ports, which are the last ones of ``outputs``.
    groups : list of list of int
        The outputs of each branch.
    room : int
        Maximum number of worms that are known and not fetched.
    reports : bool
        Arrivals are reported.
    tokens : bool
        A worm that is replicated here needs the token. Only with ``reports``.
    consumed : bool
        There are enough consumption channels for all worms that can arrive.

    Members
    -------
    known : In(1)
        An arriving worm is known in this cycle (see `TreeInputDecode`).
    branches, reports : In
        With ``known``: outputs and report bit of the arriving worm.
    write : In(1)
        A flit arrives for this virtual channel: ``arrives`` of the buffer.
    some : In(1)
        A flit is stored in the buffer of this virtual channel.
    branch_{b} : Out(BranchSignature)
        Branch {b} of the worm.
    dropped : In(1)
        A flit of a worm that requests nothing leaves the buffer.
    drop_ends : In(1)
        With ``dropped``: the flit is the worm's last one.
    target_{output} : In(TargetSignature)
        State of an output's virtual channels, and the channel that a grant takes.
    arrived_{output} : In(vcs)
        Reports that arrive by an output from another switch. Only with reports.
    token_granted : In(1)
        The worm holds the token from the next cycle on. Only with tokens.
    targets : Out(outputs)
        The outputs of the worm.
    vc_{output} : Out
        The virtual channel that the worm's branch owns at this output.
    over : Out(1)
        No worm is under way: the next one may be fetched.
    drops : Out(1)
        The worm requests nothing: its flits leave unread.
    splits : Out(1)
        The worm is replicated here, and its branches report.
    reporting : Out(1)
        The branches of the worm report their arrival.
    needs_token : Out(1)
        The worm requests the token. Only with tokens.
    ends_token : Out(1)
        All branches of the worm have reported, and the worm releases the token. Only with tokens.
    report : Out(1)
        A pulse that reports that the headers of all branches of the worm have arrived.
    state : Out(TreeState)
    """

    def __init__(self, *, outputs: dict[str, int], ejection_ports: int, groups: list[list[int]], room: int,
                 reports: bool = False, tokens: bool = False, consumed: bool = False):
        self.ejection_ports = ejection_ports
        self.groups = groups
        self.room = room
        self.has_reports = reports
        self.has_tokens = tokens
        self.consumed = consumed
        from_switches = dict(list(outputs.items())[:len(outputs) - ejection_ports])
        super().__init__({
            "known": In(1),
            "branches": In(len(outputs)),
            "write": In(1),
            "some": In(1),
            "branch": Out(BranchSignature()).array(len(groups)),
            "dropped": In(1),
            "drop_ends": In(1),
            "target": In(wiring.Signature({name: Out(TargetSignature(vcs=vcs, candidates=True))
                                           for name, vcs in outputs.items()})),
            "targets": Out(len(outputs)),
            "vc": Out(named({name: range(vcs) for name, vcs in outputs.items()})),
            "over": Out(1),
            "drops": Out(1),
            "state": Out(TreeState),
            **({"reports": In(1), "splits": Out(1), "reporting": Out(1), "report": Out(1),
                "arrived": In(named(from_switches))} if reports else {}),
            **({"token_granted": In(1), "needs_token": Out(1), "ends_token": Out(1)} if tokens else {}),
        })
        self.offer = list(by_name(self.target).values())  #: Members ``target_{output}``, by the output's number.
        self.out_vc = list(by_name(self.vc).values())  #: Members ``vc_{output}``, by the output's number.

    def elaborate(self, platform):
        m = Module()
        pop = Signal()
        over = self.over
        entry, waits = self._queue(m, pop)
        requested, report_bit = entry[:len(self.targets)], entry[len(self.targets):]
        m.d.comb += pop.eq(over & waits)
        with m.If(over):
            m.d.sync += self.targets.eq(Mux(pop, requested, 0))
        m.d.sync += self.drops.eq(Mux(pop, ~requested.any(), self.drops & ~(self.dropped & self.drop_ends)))
        split = Signal()
        reported: Value = C(1)
        may_go: Value = C(1)
        m.d.comb += split.eq(_several(requested))
        if self.has_reports:
            reported = self._report(m, pop, split, requested, report_bit)
        if self.has_tokens:
            with m.If(pop):
                m.d.sync += self.needs_token.eq(split)
            with m.Elif(self.token_granted):
                m.d.sync += self.needs_token.eq(0)
            may_go = ~self.needs_token | self.token_granted
        m.d.comb += over.eq(~Cat(branch.left for branch in self.branch).any() & ~self.drops & reported)

        for b, (branch, group) in enumerate(zip(self.branch, self.groups, strict=True)):
            mine = Cat(requested[o] for o in group).any()
            # a worm that is being fetched has requested nothing yet, so no grant is lost
            begun = branch.granted | self.dropped if b == 0 else branch.granted
            m.d.sync += [
                branch.left.eq(Mux(pop, mine, branch.left & ~(branch.granted & branch.tail))),
                branch.owned.eq(Mux(over, 0, branch.owned | begun)),
            ]
            for o in group:
                with m.If(~branch.owned):
                    m.d.sync += self.out_vc[o].eq(self.offer[o].vc_candidate)
            flit = branch.has | self.write
            free = self._all(group, self.targets, lambda o: self.offer[o].vc_free_next)
            ready = self._all(group, self.targets, lambda o: bit_at(self.offer[o].ready, self.out_vc[o]))
            begins = pop & mine & self._all(group, requested, lambda o: self.offer[o].vc_free_next)
            if self.has_tokens:
                begins &= ~split
            lost = begins | (branch.left & may_go & flit & Mux(branch.owned, ready, free))
            m.d.sync += branch.eligible.eq(Mux(branch.granted, branch.eligible_after_grant, lost))
            unwanted = self.drops & (self.some | self.write) if b == 0 else C(0)
            m.d.comb += branch.want.eq(lost | unwanted)
        self._drive_state(m, over)
        return m

    def _queue(self, m, pop) -> tuple[Value, Value]:
        """Queue the worms that are known and not fetched; return the first worm of the queue, and 1 if the queue has a
        worm."""
        known = Cat(self.branches, self.reports) if self.has_reports else self.branches
        if self.room == 1:
            kept, full = Signal(len(known), name="queued"), Signal(name="queue_full")
            m.d.sync += full.eq(self.known | (full & ~pop))
            with m.If(self.known):
                m.d.sync += kept.eq(known)
            return kept, full
        bits = bits_for(self.room)
        store: memory.Memory = memory.Memory(shape=len(known), depth=1 << bits, init=[],
                                             attrs={"ram_style": "distributed"})
        m.submodules.queue = store
        write, read = store.write_port(), store.read_port(domain="comb")
        put, get = Signal(bits + 1, name="queue_put"), Signal(bits + 1, name="queue_get")
        m.d.comb += [write.en.eq(self.known), write.addr.eq(put[:bits]), write.data.eq(known),
                     read.addr.eq(get[:bits])]
        with m.If(self.known):
            m.d.sync += put.eq(put + 1)
        with m.If(pop):
            m.d.sync += get.eq(get + 1)
        # registered, for timing: a worm requests outputs in the cycle after its fetch
        waits = Signal(name="queue_waits")
        m.d.sync += waits.eq(self.known | Mux(pop, put != (get + 1)[:len(get)], waits))
        return read.data, waits

    def _all(self, group, targets, of) -> Value:
        """Return 1 if ``of(output)`` is 1 for each output of a group that is a target."""
        if len(group) == 1:
            return of(group[0])
        return Cat(~targets[o] | of(o) for o in group).all()

    def _report(self, m, pop, split, requested, report_bit) -> Value:
        """Collect the branches' reports, and send the worm's own; return 1 if neither is outstanding."""
        network = len(self.targets) - self.ejection_ports
        # outputs whose report is outstanding
        awaited = Signal(len(self.targets))
        reports_itself = Signal()
        own_report_due = Signal()
        owned = {o: branch.owned for branch, group in zip(self.branch, self.groups, strict=True) for o in group}
        arrives: list[Value] = [owned[o] & bit_at(arrived, self.out_vc[o])
                                for o, arrived in enumerate(by_name(self.arrived).values())]
        arrives += [C(1) if self.consumed else owned[o] for o in range(network, len(self.targets))]
        splits = split if network or not self.consumed else C(0)
        m.d.comb += [
            self.reporting.eq(reports_itself | self.splits),
            self.report.eq(own_report_due & ~awaited.any()),
        ]
        m.d.sync += awaited.eq(Mux(pop, Mux(report_bit | splits, requested, 0), awaited & ~Cat(arrives)))
        with m.If(pop):
            m.d.sync += [reports_itself.eq(report_bit), own_report_due.eq(report_bit), self.splits.eq(splits)]
        with m.Elif(self.report):
            m.d.sync += own_report_due.eq(0)
        if self.has_tokens:
            m.d.comb += self.ends_token.eq(self.splits & ~awaited.any())
        return ~awaited.any() & ~own_report_due

    def _drive_state(self, m, over):
        """Drive ``state``."""
        left, owned = (Cat(of) for of in zip(*((branch.left, branch.owned) for branch in self.branch), strict=True))
        with m.If(self.drops):
            m.d.comb += self.state.eq(TreeState.DROPPED)
        with m.Elif(self.needs_token if self.has_tokens else C(0)):
            m.d.comb += self.state.eq(TreeState.WANTS_TOKEN)
        with m.Elif((left & ~owned).any()):
            m.d.comb += self.state.eq(TreeState.BRANCHES)
        with m.Elif(left.any()):
            m.d.comb += self.state.eq(TreeState.MOVES)
        with m.Elif(self.targets.any() & ~over):
            m.d.comb += self.state.eq(TreeState.AWAITS_REPORTS)


def _several(bits: Value) -> Value:
    """Return 1 if two bits or more are set."""
    return any_of([bits[i] & bits[:i].any() for i in range(1, len(bits))])
