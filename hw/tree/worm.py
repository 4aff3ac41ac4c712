"""State machine of one virtual channel of a tree input: a worm's branches, and the report of its arrival."""

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, memory, wiring
from amaranth.lib.wiring import In, Out

from ..logic import any_of, bit_at, bits_for

__all__ = ["TreeState", "TreeWorm"]


class TreeState(enum.Enum, shape=3):
    """State of the worm at the front of an input virtual channel. Waveforms show it."""

    IDLE = 0  #: no worm, or its header has not been fetched
    WANTS_TOKEN = 1  #: waits for the group's token before it is replicated
    BRANCHES = 2  #: a branch waits for a virtual channel
    MOVES = 3  #: each branch that has not sent its tail owns its virtual channels
    AWAITS_REPORTS = 4  #: all flits are sent; waits for the branches' reports
    DROPPED = 5  #: requests nothing, and is dropped


class TreeWorm(wiring.Component):
    """State of one input virtual channel: the worm at its front, and a queue of known worms behind it.

    ::

        known ─▶ queue ─ fetch ─▶ targets ─┬─ several, with tokens: needs token ─ granted ─┐
                                           └───────────────────────────────────────────────┴─▶ each branch:
            requests a virtual channel ─▶ owns it, sends ─ tail ─▶ left := 0
                                            └─ arrived ─▶ reported
            left = 0 for all branches, all reports received ─▶ fetch

    A *branch* is the copy of a worm for one output, or, in lockstep, the copies for all outputs. Branches are
    independent: each requests, sends and ends at its own pace. ``left`` marks the branches that have not sent their
    tail. The next worm is fetched when all tails are sent and all reports have arrived.

    *Reports*: a worm requests reports from its branches if its report bit is set, or if it is replicated here. When a
    worm has all reports of its branches, it sends its own report, if its report bit is set, and releases the token, if
    it holds the token. A branch to a consumption channel has arrived when it owns a channel; with enough channels for
    all worms that can arrive (``consumed``), it has arrived at once. A worm that requests nothing reports at once.

    The requests of a cycle come from registers, see `InputVC`. *Latency*: a worm that is known with a flit in cycle t
    requests its outputs in t + 2, with a token at this switch in t + 3. *Reset*: idle.

    Parameters
    ----------
    outputs : list of int
        Virtual channels of each output that worms can use.
    exits : int
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
    known, branches, reports : In
        An arriving worm is known in this cycle; its outputs; its report bit. See `TreeInputDecode`.
    write : In(1)
        A flit for this virtual channel is on the link.
    some, has_{b} : In(1)
        A flit is stored; a flit is stored that branch b has not read.
    won_{b}, tail_{b}, again_{b} : In(1)
        The request of branch b is granted; its flit is the worm's last; after a grant the branch is eligible in the
        next cycle.
    dropped, drop_ends : In(1)
        A flit of a worm that requests nothing leaves; it is the worm's last flit.
    soon_{o}, ready_{o}, pick_{o} : In
        State of the outputs' virtual channels, as in `OutputUnit`, and the channel that a grant takes.
    arrived_{o} : In(vcs)
        Reports that arrive by an output from another switch. Only with reports.
    granted : In(1)
        The worm holds the token from the next cycle on. Only with tokens.
    targets : Out(outputs)
        The outputs of the worm.
    left_{b}, owned_{b} : Out(1)
        The branch has not sent its tail; it owns its virtual channels. In a worm that requests nothing, ``owned_0`` is
        set when the first flit has left.
    vc_{o} : Out
        The virtual channel of an output that its branch owns.
    eligible_{b}, want_{b} : Out(1)
        The branch requests; it needs its reader in the next cycle, if its request is not granted in this one.
    over : Out(1)
        No worm is under way: the next one may be fetched.
    drops : Out(1)
        The worm requests nothing: its flits leave unread.
    splits : Out(1)
        The worm is replicated here, and its branches report.
    reporting : Out(1)
        The branches of the worm report.
    needs_token, ends_token : Out(1)
        The worm requests the token; all its branches have reported, and it releases the token.
    tells : Out(1)
        A pulse that reports that all headers of the worm have arrived.
    state : Out(TreeState)
    """

    def __init__(self, *, outputs: list[int], exits: int, groups: list[list[int]], room: int, reports: bool = False,
                 tokens: bool = False, consumed: bool = False):
        self.outputs_vcs = outputs
        self.exits = exits
        self.groups = groups
        self.room = room
        self.has_reports = reports
        self.has_tokens = tokens
        self.consumed = consumed
        members: dict = {
            "known": In(1),
            "branches": In(len(outputs)),
            "write": In(1),
            "some": In(1),
            "dropped": In(1),
            "drop_ends": In(1),
            "targets": Out(len(outputs)),
            "over": Out(1),
            "drops": Out(1),
            "state": Out(TreeState),
        }
        for b in range(len(groups)):
            members |= {f"{name}_{b}": In(1) for name in ("has", "won", "tail", "again")}
            members |= {f"{name}_{b}": Out(1) for name in ("eligible", "want", "left", "owned")}
        for o, vcs in enumerate(outputs):
            members |= {f"soon_{o}": In(1), f"ready_{o}": In(vcs), f"pick_{o}": In(range(vcs)),
                        f"vc_{o}": Out(range(vcs))}
        if reports:
            members |= {"reports": In(1), "splits": Out(1), "reporting": Out(1), "tells": Out(1)}
            members |= {f"arrived_{o}": In(vcs) for o, vcs in enumerate(outputs[:len(outputs) - exits])}
        if tokens:
            members |= {"granted": In(1), "needs_token": Out(1), "ends_token": Out(1)}
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        fetch = Signal()
        over = self.over
        entry, waits = self._queue(m, fetch)
        asked, says = entry[:len(self.targets)], entry[len(self.targets):]
        m.d.comb += fetch.eq(over & waits)
        with m.If(over):
            m.d.sync += self.targets.eq(Mux(fetch, asked, 0))
        m.d.sync += self.drops.eq(Mux(fetch, ~asked.any(), self.drops & ~(self.dropped & self.drop_ends)))
        split = Signal()
        told: Value = C(1)
        may_go: Value = C(1)
        m.d.comb += split.eq(_several(asked))
        if self.has_reports:
            told = self._report(m, fetch, split, asked, says)
        if self.has_tokens:
            with m.If(fetch):
                m.d.sync += self.needs_token.eq(split)
            with m.Elif(self.granted):
                m.d.sync += self.needs_token.eq(0)
            may_go = ~self.needs_token | self.granted
        left, owned = (self._of_branches(name) for name in ("left", "owned"))
        m.d.comb += over.eq(~Cat(left).any() & ~self.drops & told)

        for b, group in enumerate(self.groups):
            won = getattr(self, f"won_{b}")
            mine = Cat(asked[o] for o in group).any()
            # a worm that is being fetched has requested nothing yet, so no grant is lost
            begun = won | self.dropped if b == 0 else won
            m.d.sync += [
                left[b].eq(Mux(fetch, mine, left[b] & ~(won & getattr(self, f"tail_{b}")))),
                owned[b].eq(Mux(over, 0, owned[b] | begun)),
            ]
            for o in group:
                with m.If(~owned[b]):
                    m.d.sync += getattr(self, f"vc_{o}").eq(getattr(self, f"pick_{o}"))
            flit = getattr(self, f"has_{b}") | self.write
            free = self._all(group, self.targets, lambda o: getattr(self, f"soon_{o}"))
            ready = self._all(group, self.targets,
                              lambda o: bit_at(getattr(self, f"ready_{o}"), getattr(self, f"vc_{o}")))
            begins = fetch & mine & self._all(group, asked, lambda o: getattr(self, f"soon_{o}"))
            if self.has_tokens:
                begins &= ~split
            lost = begins | (left[b] & may_go & flit & Mux(owned[b], ready, free))
            m.d.sync += getattr(self, f"eligible_{b}").eq(Mux(won, getattr(self, f"again_{b}"), lost))
            unwanted = self.drops & (self.some | self.write) if b == 0 else C(0)
            m.d.comb += getattr(self, f"want_{b}").eq(lost | unwanted)
        self._say(m, over)
        return m

    def _of_branches(self, name: str) -> list[Any]:
        """Return the members with this name of all branches."""
        return [getattr(self, f"{name}_{b}") for b in range(len(self.groups))]

    def _queue(self, m, fetch) -> tuple[Value, Value]:
        """Queue the known worms that are not fetched; return the first one, and 1 if there is one."""
        known = Cat(self.branches, self.reports) if self.has_reports else self.branches
        if self.room == 1:
            kept, full = Signal(len(known), name="queued"), Signal(name="queue_full")
            m.d.sync += full.eq(self.known | (full & ~fetch))
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
        with m.If(fetch):
            m.d.sync += get.eq(get + 1)
        # registered, for timing: a worm requests outputs in the cycle after its fetch
        waits = Signal(name="queue_waits")
        m.d.sync += waits.eq(self.known | Mux(fetch, put != (get + 1)[:len(get)], waits))
        return read.data, waits

    def _all(self, group, targets, of) -> Value:
        """Return 1 if ``of(output)`` is 1 for all targets of a group."""
        if len(group) == 1:
            return of(group[0])
        return Cat(~targets[o] | of(o) for o in group).all()

    def _report(self, m, fetch, split, asked, says) -> Value:
        """Collect the branches' reports, and send the worm's own; return 1 if neither is outstanding."""
        network = len(self.targets) - self.exits
        # outputs whose report is outstanding
        awaited = Signal(len(self.targets))
        answers = Signal()
        untold = Signal()
        branch = {o: b for b, group in enumerate(self.groups) for o in group}
        owned = self._of_branches("owned")
        arrives: list[Value] = [owned[branch[o]] & bit_at(getattr(self, f"arrived_{o}"), getattr(self, f"vc_{o}"))
                                for o in range(network)]
        arrives += [C(1) if self.consumed else owned[branch[o]] for o in range(network, len(self.targets))]
        splits = split if network or not self.consumed else C(0)
        m.d.comb += [
            self.reporting.eq(answers | self.splits),
            self.tells.eq(untold & ~awaited.any()),
        ]
        m.d.sync += awaited.eq(Mux(fetch, Mux(says | splits, asked, 0), awaited & ~Cat(arrives)))
        with m.If(fetch):
            m.d.sync += [answers.eq(says), untold.eq(says), self.splits.eq(splits)]
        with m.Elif(self.tells):
            m.d.sync += untold.eq(0)
        if self.has_tokens:
            m.d.comb += self.ends_token.eq(self.splits & ~awaited.any())
        return ~awaited.any() & ~untold

    def _say(self, m, over):
        """Drive ``state``."""
        left = Cat(self._of_branches("left"))
        with m.If(self.drops):
            m.d.comb += self.state.eq(TreeState.DROPPED)
        with m.Elif(self.needs_token if self.has_tokens else C(0)):
            m.d.comb += self.state.eq(TreeState.WANTS_TOKEN)
        with m.Elif((left & ~Cat(self._of_branches("owned"))).any()):
            m.d.comb += self.state.eq(TreeState.BRANCHES)
        with m.Elif(left.any()):
            m.d.comb += self.state.eq(TreeState.MOVES)
        with m.Elif(self.targets.any() & ~over):
            m.d.comb += self.state.eq(TreeState.AWAITS_REPORTS)


def _several(bits: Value) -> Value:
    """Return 1 if two bits or more are set."""
    return any_of([bits[i] & bits[:i].any() for i in range(1, len(bits))])
