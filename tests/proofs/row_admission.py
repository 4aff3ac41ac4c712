# amaranth: UnusedElaboratable=no
"""Rows of a smart network interface that are granted to requests, against a model of the rows and of the answers."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from wormcast.hw.interface.smart import RowAdmission
from wormcast.hw.options import CONTROL, CONTROL_ANSWER, RELEASE, REQUEST_LEAF

from .harness import Harness, Property, entry, implies
from .mutants import Mutant

__all__ = ["RowAdmissionHarness"]

WHERE = "interface.smart.row_admission.RowAdmission"

#: Flits of a control packet by their place: each field takes one flit of 32 bits.
WORD, NUMBER, PACKETS, LABEL, LENGTH, HEADER, CHILDREN = range(7)


class RowAdmissionHarness(Harness):
    """Admission of messages to the rows of a child table, with flits of 32 bits.

    Requests and releases have any row, source, number, label and contents, and arrive over all consumption channels,
    between packets of data. A control packet ends in a tail, or, if it was cut off after its first flit, in a flit with
    both marks. The header of an answer has one flit. A flit of a control packet arrives only on a channel that is not
    closed. At most `sources` requests are without a sent answer. The own host requests rows, writes them and
    gives rows back in any cycle. The first flit of a row has the head mark alone, and the second one does not end the
    row. The packets of a message come only after its row is written, and not more than the stated number. The flits of
    answers are taken in arbitrary cycles.

    Parameters
    ----------
    rows, channels, sources : int
        As of `RowAdmission`.
    """

    component = "RowAdmission"
    properties = (
        Property("owner", "No two sources own a row: a row is granted to a request, and to the own host, only if it is "
                          "free. The flits that write a row are not mixed with those of another row.",
                 Mutant(f"{WHERE}._control", "exists & ~bit_at(self.used, row) & ~cut", "exists & ~cut")),
        Property("decided", "A request is decided in the cycle in which its number arrives: it is granted if and only "
                            "if its row is free, otherwise it is refused. The answer has this decision. The own host "
                            "is granted a row if and only if the row is free and no control packet arrives.",
                 Mutant(f"{WHERE}._control", "grants.eq(granted.any())", "grants.eq(1)")),
        Property("taken", "No request waits for a row: a control packet waits only for one that arrives on another "
                          "channel, for an answer that is stored, and for the own host.",
                 Mutant(f"{WHERE}._control", "(under_way & (owner != v))", "under_way")),
        Property("kept", "A row stays in use until its message's last packet is through, until its owner gives it "
                         "back, until a release with source and number of its own request arrives, or until its "
                         "request is cut off.",
                 Mutant(f"{WHERE}._control", "number == flit.data[:NUMBER_BITS]", "number == number")),
        Property("freed", "In the cycle after one of these events the row is free.",
                 Mutant(f"{WHERE}.elaborate", "(through[r] & (left == 0))", "(through[r] & 0)")),
        Property("answered", "Each request is answered once. The answer has the request's header, row and label. "
                             "Answers leave whole, in the order of their requests. Nothing else is answered.",
                 Mutant(f"{WHERE}._control", "addressed.eq(0),", "addressed.eq(1),")),
        Property("lost", "No answer is lost: from the third cycle after a request's tail on, the answer is presented, "
                         "or one before it.",
                 Mutant(f"{WHERE}._control", "ends & (addressed | (lists & for_answer))", "ends & addressed")),
    )

    def __init__(self, *, rows: int, channels: int, sources: int):
        super().__init__()
        self.admission = RowAdmission(rows=rows, channels=channels, width=32, sources=sources, header_flits=1,
                                      counts=False)

    def elaborate(self, platform):
        m = Module()
        unit = self.admission
        m.submodules.admission = unit
        self.leave_free(unit.consumed, unit.consumed_vc, unit.consumed_flit, unit.control, unit.host.valid,
                        unit.host.flit, unit.children, unit.freed, unit.freed_row, unit.pop)
        rows = range(unit.rows)
        self.used = [Signal(name=f"row{r}_in_use") for r in rows]
        self.writes = Signal(name="host_is_writing")
        self._control(m)
        self._host(m)
        through = self._packets(m)
        fields = self.fields
        packets = Mux(self.host_numbers, unit.host.flit.data, unit.consumed_flit.data)[:8]
        for r in rows:
            own = Signal(name=f"row{r}_own")
            source, number = Signal(16, name=f"row{r}_source"), Signal(8, name=f"row{r}_number")
            due, numbered = Signal(9, name=f"row{r}_due"), Signal(name=f"row{r}_has_number")
            takes, asks = self.takes & (self.host_row == r), self.grants & (fields["row"] == r)
            over = Signal(name=f"row{r}_over")
            written = ~(self.granted & (fields["row"] == r)) & ~(self.writes & (self.writing_row == r))
            self.assume(m, implies(through[r], self.used[r] & written & numbered & (due != 0)))
            m.d.comb += over.eq(self.used[r] & (
                (through[r] & (due == 1)) | (self.gives_back & (self.host_row == r) & own)
                | (self.releases & (fields["row"] == r) & ~own & (source == fields["node"])
                   & (number == unit.consumed_flit.data[:8]))
                | (self.cuts & self.granted & (fields["row"] == r))))
            with m.If(takes | asks):
                m.d.sync += [self.used[r].eq(1), own.eq(takes), source.eq(fields["node"]),
                             number.eq(unit.consumed_flit.data), numbered.eq(0)]
            with m.Elif(over):
                m.d.sync += self.used[r].eq(0)
            with m.If((self.host_numbers & (self.writing_row == r))
                      | (self.numbers & self.granted & (fields["row"] == r))):
                m.d.sync += [due.eq(packets + 1), numbered.eq(1)]
            with m.Elif(through[r]):
                m.d.sync += due.eq(due - 1)
            self.claim(m, "kept", implies(self.used[r], unit.used[r]))
            self.claim(m, "freed", implies(~self.used[r], ~unit.used[r]))
        self._table(m)
        self._answers(m)
        return m

    def _control(self, m):
        """Find the fields of the control packet that arrives, and the decision on it."""
        unit = self.admission
        flit, at = unit.consumed_flit, Signal(range(CHILDREN + 1), name="control_at")
        word = Signal(32, name="control_word")
        now = Mux(at == WORD, flit.data, word)
        self.fields = fields = {"row": now[8:14], "kind": now[14:16], "node": now[16:32]}
        taken, owner = Signal(name="control_taken"), Signal.like(unit.consumed_vc, name="control_owner")
        ends, request = Signal(name="control_ends"), fields["kind"] != RELEASE
        self.assume(m, unit.consumed_vc < unit.channels)
        self.assume(m, implies(unit.consumed & unit.control, ~entry(unit.closed, unit.consumed_vc)))
        m.d.comb += [taken.eq(unit.consumed & unit.control), ends.eq(taken & flit.tail)]
        cut = flit.tail & flit.head
        self.assume(m, implies(taken & (at == WORD),
                               (flit.data[:8] == CONTROL) & (fields["kind"] <= RELEASE) & ~flit.head & ~flit.tail))
        self.assume(m, implies(taken & flit.head, flit.tail))
        whole = Mux(request, Mux(fields["kind"] == REQUEST_LEAF, at == HEADER, at == CHILDREN), at == NUMBER)
        self.assume(m, implies(ends & ~cut, whole))
        # a leaf's request has no more flits, and a release has none after its number
        self.assume(m, implies(taken & (at == HEADER) & (fields["kind"] == REQUEST_LEAF), flit.tail))
        self.assume(m, implies(taken & (at == NUMBER) & ~request, flit.tail))
        self.assume(m, implies(taken & (at == LENGTH), flit.data == 1))
        with m.If(taken):
            m.d.sync += [at.eq(Mux(flit.tail, WORD, Mux(at == CHILDREN, CHILDREN, at + 1))), owner.eq(unit.consumed_vc)]
            with m.If(at == WORD):
                m.d.sync += word.eq(flit.data)
        free = Signal(name="row_is_free")
        self.grants, self.granted = Signal(name="grants"), Signal(name="was_granted")
        exists = fields["row"] < unit.rows
        m.d.comb += [
            free.eq(exists & ~entry(self.used, fields["row"][:max(unit.rows - 1, 1).bit_length()])),
            self.grants.eq(taken & (at == NUMBER) & request & free & ~cut),
        ]
        with m.If(ends):
            m.d.sync += self.granted.eq(0)
        with m.Elif(self.grants):
            m.d.sync += self.granted.eq(1)
        self.under_way = at != WORD
        self.releases = taken & (at == NUMBER) & ~request & ~cut
        self.numbers, self.cuts = taken & (at == PACKETS), ends & cut
        self.ends_request = ends & request & ((at == HEADER) | (at == CHILDREN))
        self.verdict = self.granted & ~cut
        self.header_now, self.at_header = flit.data, taken & (at == HEADER)
        self.label_now, self.at_label = flit.data, taken & (at == LABEL)
        stored = Signal(name="answer_is_stored")
        m.d.sync += stored.eq(self.ends_request)
        for v in range(unit.channels):
            waits = stored | unit.host.valid | self.writes | (self.under_way & (owner != v))
            self.claim(m, "taken", implies(unit.closed[v], waits))

    def _host(self, m):
        """Find the own host's request, and the flits that write its row."""
        unit = self.admission
        valid, flit, writes = unit.host.valid, unit.host.flit, self.writes
        named = Signal(name="host_named")
        bits = max(unit.rows - 1, 1).bit_length()
        first, exists = valid & ~writes, flit.data[:7] < unit.rows
        self.host_row, self.writing_row = flit.data[:7], Signal(7, name="host_writes_row")
        self.takes, self.gives_back = Signal(name="host_takes"), Signal(name="host_back")
        m.d.comb += [
            self.takes.eq(first & exists & ~flit.data[7] & ~self.under_way & ~entry(self.used, flit.data[:bits])),
            self.gives_back.eq(first & exists & flit.data[7]),
        ]
        self.host_numbers = valid & writes & ~named
        with m.If(self.takes):
            m.d.sync += [writes.eq(1), named.eq(0), self.writing_row.eq(self.host_row)]
        with m.Elif(valid & writes):
            m.d.sync += [writes.eq(~(flit.head & flit.tail)), named.eq(1)]
        # the number of packets is not the last flit of a row
        self.assume(m, implies(self.host_numbers, ~(flit.head & flit.tail)))
        # the first flit of a row has the head mark; with both marks the row has no children, and it gives none back
        self.assume(m, implies(first, flit.head & ~flit.tail))
        credit = Signal(name="credit_due")
        m.d.sync += credit.eq(self.takes | (valid & writes))
        self.claim(m, "decided", unit.host.credit == credit)

    def _packets(self, m):
        """Return for each row whether a packet is through, by the flits of data and the entries that are freed."""
        unit = self.admission
        flit = unit.consumed_flit
        within = Signal(unit.channels, name="data_within")
        row, known = ([Signal(shape, name=f"data{v}_{name}") for v in range(unit.channels)]
                      for name, shape in (("row", 8), ("known", 1)))
        data = unit.consumed & ~unit.control
        first = ~entry(within, unit.consumed_vc)
        self.assume(m, implies(unit.consumed & unit.control, first))
        # no header flits arrive; the first payload flit is not the one that a cut-off worm ends with
        self.assume(m, implies(data, ~flit.head | (flit.tail & ~first)))
        for v in range(unit.channels):
            with m.If(data & (unit.consumed_vc == v)):
                m.d.sync += within[v].eq(~flit.tail)
                with m.If(first):
                    m.d.sync += [row[v].eq(flit.data), known[v].eq(1)]
        of = Mux(first, flit.data[:8], entry(row, unit.consumed_vc))
        self.assume(m, unit.freed_row < unit.rows)
        return [(data & flit.tail & (of == r) & ~unit.children[r]) | (unit.freed & (unit.freed_row == r))
                for r in range(unit.rows)]

    def _table(self, m):
        """Check the flits for the child table: whole rows, and only rows that were free."""
        unit = self.admission
        within, free = Signal(name="row_is_written"), Signal(unit.rows, name="were_free")
        begins = Signal(name="row_was_granted")
        flit = unit.table_flit
        m.d.sync += [free.eq(~Cat(self.used)), begins.eq(self.takes | self.grants)]
        with m.If(unit.table):
            m.d.sync += within.eq(~(flit.head & flit.tail))
        bits = max(unit.rows - 1, 1).bit_length()
        self.claim(m, "owner", implies(unit.table & ~within,
                                       flit.head & (flit.data[:8] < unit.rows) & entry(free, flit.data[:bits])))
        self.claim(m, "owner", implies(begins, unit.table & ~within))
        self.claim(m, "decided", implies(unit.table & ~within, begins))

    def _answers(self, m):
        """Count the answers that are due, and follow any one."""
        unit = self.admission
        answer = unit.front
        owed, at = Signal(8, name="answers_due"), Signal(name="answer_at")
        asked = Signal(name="answer_is_due")  # the request that arrives will be answered
        leaves = Signal(name="answer_leaves")
        self.assume(m, implies(unit.pop, unit.has))
        begins = self.at_header  # the first flit of an answer is stored
        self.assume(m, implies(begins, owed < unit.answers.places))
        m.d.comb += [leaves.eq(unit.pop & at), asked.eq(self.ends_request)]
        m.d.sync += owed.eq(owed + asked - leaves)
        with m.If(unit.pop):
            m.d.sync += at.eq(~at)
        self.claim(m, "answered", implies(unit.has, owed != 0))
        self.claim(m, "answered", implies(unit.has, (answer.head == ~at) & (answer.tail == at)))
        since = Signal(2, name="cycles_since_request", init=3)
        m.d.sync += since.eq(Mux(asked, 0, Mux(since == 3, 3, since + 1)))
        self.claim(m, "lost", implies((since >= 2) & (owed != 0), unit.has))

        header, label = Signal(32, name="asked_header"), Signal(16, name="asked_label")
        with m.If(self.at_header):
            m.d.sync += header.eq(self.header_now)
        with m.If(self.at_label):
            m.d.sync += label.eq(self.label_now)
        watch = self.free(name="watch")
        known, ahead = Signal(name="answer_known"), Signal.like(owed, name="answers_ahead")
        known_header, known_word = Signal(32, name="known_header"), Signal(32, name="known_word")
        mine = unit.has & (ahead == 0)
        word = Cat(Const(CONTROL_ANSWER, 8), self.fields["row"], self.verdict, Const(0, 1), label)
        with m.If(known):
            m.d.sync += [ahead.eq(ahead - leaves), known.eq(~leaves | (ahead != 0))]
            self.claim(m, "answered", implies(mine & ~at, answer.data == known_header))
            self.claim(m, "answered", implies(mine & at, (answer.data ^ known_word) & ~(1 << 14) == 0))
            self.claim(m, "decided", implies(mine & at, answer.data[14] == known_word[14]))
        with m.Elif(watch & asked):
            m.d.sync += [known.eq(1), ahead.eq(owed - leaves), known_word.eq(word),
                         known_header.eq(Mux(self.at_header, self.header_now, header))]
