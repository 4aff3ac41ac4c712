# amaranth: UnusedElaboratable=no
# (a `RowAdmission` creates its `PacketQueue` to check the parameters, and may never be elaborated)
"""Admission of messages to a smart interface: grants rows of the child table to requests, or refuses them."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.typecheck import checked

from ...link import LinkSignature, flit_layout
from ...logic import bit_at
from ...options import CONTROL_ANSWER, LABEL_BITS, PACKET_BITS, RELEASE, REQUEST_LEAF, ROW_BITS
from ..packet_queue import PacketQueue

__all__ = ["RowAdmission"]

NUMBER_BITS = LENGTH_BITS = 8
KIND_BITS, ROW_FIELD_BITS = 2, 6

control_word = data.StructLayout({"control": ROW_BITS, "row": ROW_FIELD_BITS, "kind": KIND_BITS, "node": LABEL_BITS})
"""Word at the start of a control packet."""


class ControlField(enum.IntEnum, shape=3):
    """The field of a control packet to which the next flit belongs."""

    WORD = 0
    NUMBER = 1
    PACKETS = 2
    LABEL = 3
    LENGTH = 4
    HEADER = 5
    IGNORED = 6


#: The next field after each field. After `ControlField.NUMBER`, the next field depends on the kind of the packet.
FOLLOWING = {ControlField.WORD: ControlField.NUMBER, ControlField.PACKETS: ControlField.LABEL,
             ControlField.LABEL: ControlField.LENGTH, ControlField.LENGTH: ControlField.HEADER,
             ControlField.HEADER: ControlField.LENGTH}


class RowAdmission(wiring.Component):
    """Admission to the rows of the child table, which control packets and the node's own host request and release.

    ::

        consumed ─▶ fields of the control packet ─┬▶ table ─▶ ChildTable
        host ─────▶ the own host's row ───────────┘
                    rows: used, source, number, packets left
                    answer's header, then granted or refused ─▶ PacketQueue ─▶ front, has

    A control packet is a unicast of one packet. The low 8 bits of its first payload flit are `CONTROL`. The first
    ceil(32 / width) payload flits hold a word of 32 bits, low bits first: 8 bits `CONTROL`, 6 bits row, 2 bits kind, 16
    bits source. These flits follow, all fields in their low bits:

    - request: number (8 bits); packets of the message, minus one (8 bits); label (16 bits in ceil(16 / width) flits);
      then lists of header flits, each after a flit with its length (8 bits). The first list is the header of the
      answer. Each child has one of the others.
    - release: number.

    A request is granted if its row is free when its number arrives, else it is refused. No request waits for a row. A
    granted request writes the row into the child table. After the request's last flit the answer is stored: the first
    list, then a word of 32 bits: 8 bits `CONTROL_ANSWER`, the row, `GRANTED` or `REFUSED`, and the request's label. A
    release frees the row if the row was granted to a request of the same source and number. Otherwise the release has
    no effect.

    A row is also free again when all packets of its message are through. A packet of a row with children is through
    when its packet buffer entry is freed; a packet of a row without children, when its tail goes to the host.

    The first flit of a row from the own host is a request, too: if the row is free, the flit's credit is sent in the
    next cycle, else never. While a control packet arrives, the own host is refused. The host sends the other flits of a
    granted row without a pause. A first flit with bit 7 set gives the row back.

    *Control packets are always taken*: they need no row, no entry of the packet buffer, and no credit of the network. A
    source has at most one unanswered request at a node, so a place for the answer is free. A control packet waits only
    while a control packet arrives on another channel, while an answer is stored (ceil(32 / width) cycles), and while
    the own host writes a row (one cycle per flit).

    *Latency*: a flit for the child table is on ``table`` in the cycle after its arrival. If the tail of a request
    arrives in cycle t, the first flit of its answer is on ``front`` in cycle t + ceil(32 / width) + 2. *Throughput*: a
    flit of control packets per cycle; ceil(32 / width) cycles more after each request. *Reset*: all rows are free.

    Parameters
    ----------
    rows, channels, width : int
        As in `Forwarding`.
    sources : int
        Nodes that may request rows. Range: 1 to 256.
    header_flits : int
        Maximum number of header flits of an answer.
    counts : bool
        The child table has the number of packets, as in `ChildTable`.

    Members
    -------
    consumed : In(1)
        A flit is taken from a consumption channel.
    consumed_vc, consumed_flit : In
        While ``consumed`` is 1: consumption channel of the flit, and the flit itself.
    control : In(1)
        While ``consumed`` is 1: the flit belongs to a control packet.
    closed : Out(channels)
        Channels whose control flits are not taken in this cycle. Combinational, from ``host.valid``.
    host : In(LinkSignature)
        From the host: rows of the child table. The first flit of a row requests the row. The request is granted if the
        credit of this flit is sent in the next cycle, and refused if it is not.
    table : Out(1)
        There is a flit for the child table.
    table_flit : Out
        The flit for the child table.
    children : In(rows)
        Rows that have children.
    freed, freed_row : In
        An entry of the packet buffer is freed, and its row.
    used : Out(rows)
        Rows in use.
    has : Out(1)
        There is a flit of an answer to send.
    front : Out
        The flit to send.
    pop : In(1)
        The flit on ``front`` is taken.
    """

    @checked
    def __init__(self, *, rows: int, channels: int, width: int, sources: int, header_flits: int, counts: bool):
        self.rows = rows
        self.channels = channels
        self.width = width
        self.counts = counts
        self.word_flits = -(-control_word.size // width)
        self.label_flits = -(-LABEL_BITS // width)
        self.answers = PacketQueue(channels=1, places=sources, flits=header_flits + self.word_flits, width=width)
        flit = flit_layout(width)
        super().__init__({
            "consumed": In(1), "consumed_vc": In(range(channels)), "consumed_flit": In(flit), "control": In(1),
            "closed": Out(channels),
            "host": In(LinkSignature(vcs=1, width=width)),
            "table": Out(1), "table_flit": Out(flit),
            "children": In(rows),
            "freed": In(1), "freed_row": In(range(rows)),
            "used": Out(rows),
            "has": Out(1), "front": Out(flit), "pop": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        rows = range(self.rows)
        # events, one bit for each row
        taken, granted, numbered, given_back, through = (Signal(self.rows, name=f"row_{event}") for event in (
            "taken", "granted", "numbered", "given_back", "through"))
        own = Signal(self.rows)  # rows that the own host has taken
        under_way = Signal()  # a control packet arrives: its first flit has been taken, its tail has not
        host_row, host_writes, host_numbers, host_table = self._host(m, under_way, own, taken, given_back)
        row, numbers, table, table_flit = self._control(m, under_way, host_writes, own, granted, given_back)
        self._count(m, through)
        packets = Signal(PACKET_BITS)  # with `numbered`: packets of the message, minus one
        m.d.comb += [
            packets.eq(Mux(host_numbers, self.host.flit.data, self.consumed_flit.data)),
            numbered.eq(Cat((host_numbers & (host_row == r)) | (numbers & (row == r)) for r in rows)),
        ]
        m.d.sync += [
            own.eq((own | taken) & ~granted),
            self.table.eq(host_table | table),
            self.table_flit.eq(Mux(host_table, self.host.flit, table_flit)),
        ]
        for r in rows:
            left = Signal(PACKET_BITS, name=f"row{r}_left")
            with m.If(taken[r] | granted[r]):
                m.d.sync += self.used[r].eq(1)
            with m.Elif(given_back[r] | (through[r] & (left == 0))):
                m.d.sync += self.used[r].eq(0)
            with m.If(numbered[r]):
                m.d.sync += left.eq(packets)
            with m.Elif(through[r]):
                m.d.sync += left.eq(left - 1)
        return m

    def _host(self, m, under_way, own, taken, given_back):
        """Grant the own host's request for a row, and receive the flits of the granted row.

        Return the row, 1 while the host writes it, 1 with the flit that has the number of packets, and 1 with a flit
        for the child table.
        """
        flit, valid = self.host.flit, self.host.valid
        writes, named = Signal(name="host_writes"), Signal(name="host_has_numbered")
        row, requested = Signal(range(self.rows), name="host_row"), Signal(range(self.rows), name="host_requests")
        first, back, grant = Signal(name="host_first"), Signal(name="host_gives_back"), Signal(name="host_granted")
        exists = Signal(name="host_row_exists")
        numbers, table = Signal(name="host_numbers"), Signal(name="host_table")
        m.d.comb += [
            requested.eq(flit.data),
            first.eq(valid & ~writes),
            back.eq(flit.data[ROW_BITS - 1]),
            exists.eq(flit.data[:ROW_BITS - 1] < self.rows),
            grant.eq(first & exists & ~back & ~under_way & ~bit_at(self.used, requested)),
            numbers.eq(valid & writes & ~named),
            table.eq(grant | (valid & writes & (named | int(self.counts)))),
            taken.eq(Mux(grant, 1 << requested, 0)),
        ]
        for r in range(self.rows):
            with m.If(first & exists & back & (requested == r) & own[r]):
                m.d.comb += given_back[r].eq(1)
        m.d.sync += self.host.credit.eq(grant | (valid & writes))
        with m.If(grant):
            m.d.sync += [writes.eq(1), named.eq(0), row.eq(requested)]
        with m.Elif(valid & writes):
            m.d.sync += [writes.eq(~(flit.head & flit.tail)), named.eq(1)]
        return row, writes, numbers, table

    def _control(self, m, under_way, host_writes, own, granted, given_back):
        """Decode control packets, decide, and store answers.

        Return the row, 1 with the flit that has the number of packets of a granted request, 1 with a flit for the child
        table, and this flit.
        """
        flit, taking = self.consumed_flit, Signal(name="taking")
        field, last = Signal(ControlField), Signal()  # `last`: the flit is the last one of its field
        at = Signal(range(max(self.word_flits, self.label_flits)))
        left = Signal(LENGTH_BITS)  # header flits of the list
        word, label = Signal(self.word_flits * self.width), Signal(self.label_flits * self.width)
        fields = data.View(control_word, word[:control_word.size])
        row = Signal(range(self.rows), name="control_row")
        owner = Signal(range(self.channels))  # channel of the control packet that arrives
        for_answer = Signal(init=1)  # the list is the header of the answer
        addressed = Signal()  # a flit of the answer's header is stored
        grants = Signal()  # the request is granted
        is_request, releases, numbers, lists = Signal(), Signal(), Signal(), Signal()
        cut = Signal()
        closes = Signal()  # the last flit of a request that writes a row
        table, table_flit = Signal(name="control_table"), Signal(flit_layout(self.width), name="control_flit")
        exists = fields.row < self.rows
        m.d.comb += [
            row.eq(fields.row),
            taking.eq(self.consumed & self.control),
            cut.eq(flit.head),
            is_request.eq(taking & (field == ControlField.NUMBER) & (fields.kind != RELEASE)),
            releases.eq(taking & (field == ControlField.NUMBER) & (fields.kind == RELEASE) & exists & ~cut),
            granted.eq(Mux(is_request & exists & ~bit_at(self.used, row) & ~cut, 1 << row, 0)),
            numbers.eq(taking & (field == ControlField.PACKETS) & grants),
            lists.eq(taking & (field == ControlField.HEADER)),
            last.eq(1),
            closes.eq(taking & flit.tail & grants & (fields.kind != REQUEST_LEAF)),
            table.eq(granted.any() | (numbers & int(self.counts) & (fields.kind != REQUEST_LEAF))
                     | (lists & ~for_answer & grants) | closes),
            table_flit.data.eq(Mux(is_request, row, flit.data)),
            table_flit.head.eq(is_request | closes),
            table_flit.tail.eq(Mux(is_request, fields.kind == REQUEST_LEAF, closes | (lists & (left == 1)))),
        ]
        for r in range(self.rows):
            source, number = Signal(LABEL_BITS, name=f"row{r}_source"), Signal(NUMBER_BITS, name=f"row{r}_number")
            with m.If(granted[r]):
                m.d.sync += [source.eq(fields.node), number.eq(flit.data)]
            with m.If((releases & (row == r) & ~own[r] & (source == fields.node) & (number == flit.data[:NUMBER_BITS]))
                      | (taking & flit.tail & cut & grants & (row == r))):
                m.d.comb += given_back[r].eq(1)
        with m.If(taking):
            m.d.sync += under_way.eq(1)
            with m.Switch(field):
                with m.Case(ControlField.WORD):
                    m.d.comb += last.eq(at == self.word_flits - 1)
                    m.d.sync += [self._flits(word)[at].eq(flit.data), owner.eq(self.consumed_vc)]
                with m.Case(ControlField.NUMBER):
                    m.d.sync += grants.eq(granted.any())
                with m.Case(ControlField.LABEL):
                    m.d.comb += last.eq(at == self.label_flits - 1)
                    m.d.sync += self._flits(label)[at].eq(flit.data)
                with m.Case(ControlField.LENGTH):
                    m.d.sync += left.eq(flit.data)
                with m.Case(ControlField.HEADER):
                    m.d.comb += last.eq(left == 1)
                    m.d.sync += [left.eq(left - 1), addressed.eq(addressed | for_answer)]
            m.d.sync += at.eq(Mux(last, 0, at + 1))
            with m.If(last), m.Switch(field):
                for now, following in FOLLOWING.items():
                    with m.Case(now):
                        m.d.sync += field.eq(following)
                with m.Case(ControlField.NUMBER):
                    m.d.sync += field.eq(Mux(is_request, ControlField.PACKETS, ControlField.IGNORED))
            with m.If(lists & last):
                m.d.sync += for_answer.eq(0)
        ends = taking & flit.tail
        answers = self._answer(m, flit, lists & for_answer, ends & (addressed | (lists & for_answer)),
                               grants & ~(ends & cut), fields.row, label)
        with m.If(ends):
            m.d.sync += [under_way.eq(0), field.eq(ControlField.WORD), at.eq(0), for_answer.eq(1), addressed.eq(0),
                         grants.eq(0)]
        m.d.comb += self.closed.eq(Cat(
            answers | self.host.valid | host_writes | (under_way & (owner != v)) for v in range(self.channels)))
        return row, numbers, table, table_flit

    def _flits(self, word):
        """Return the parts of a word that are the data of its flits."""
        # with an index in place of `word_select`, whose product of index and width makes a multiplier
        return Array(word[k:k + self.width] for k in range(0, len(word), self.width))

    def _answer(self, m, flit, header, ends, grants, row, label):
        """Store the answer: its header as it arrives, and its word after the request's tail.

        Return 1 while the word is stored.
        """
        queue = m.submodules.answers = self.answers
        writes, at = Signal(name="answers_now"), Signal(range(self.word_flits), name="answer_at")
        word = Signal(self.word_flits * self.width, name="answer")
        verdict, of_row = Signal(name="answer_granted"), Signal(ROW_FIELD_BITS, name="answer_row")
        m.d.comb += [
            word.eq(Cat(C(CONTROL_ANSWER, ROW_BITS), of_row, verdict, C(0, KIND_BITS - 1), label[:LABEL_BITS])),
            queue.write.eq(header | writes),
            queue.flit.head.eq(~writes),
            queue.flit.tail.eq(writes & (at == self.word_flits - 1)),
            queue.flit.data.eq(Mux(writes, self._flits(word)[at], flit.data)),
            queue.served.eq(queue.waiting),
            self.has.eq(queue.has),
            self.front.eq(queue.front),
            queue.pop.eq(self.pop),
        ]
        with m.If(ends):
            m.d.sync += [writes.eq(1), at.eq(0), verdict.eq(grants), of_row.eq(row)]
        with m.Elif(writes):
            m.d.sync += [writes.eq(~queue.flit.tail), at.eq(at + 1)]
        return writes

    def _count(self, m, through):
        """Find the rows of which a packet is through: its entry is freed, or, without children, the host gets its
        tail."""
        flit, first = self.consumed_flit, Signal(name="first")
        within = Signal(self.channels)  # a packet's first payload flit has been taken
        packet_rows = Array(Signal(range(self.rows), name=f"vc{v}_row") for v in range(self.channels))
        belongs = Signal(self.channels)  # the packet belongs to a row of the child table
        row, known, arrives = Signal(range(self.rows)), Signal(name="known"), Signal(name="arrives")
        m.d.comb += [
            first.eq(~bit_at(within, self.consumed_vc)),
            row.eq(Mux(first, flit.data, packet_rows[self.consumed_vc])),
            known.eq(Mux(first, flit.data[:ROW_BITS] < self.rows, bit_at(belongs, self.consumed_vc))),
            arrives.eq(self.consumed & ~self.control & (~flit.head | (flit.tail & ~first))),
        ]
        with m.If(arrives):
            m.d.sync += [
                within.bit_select(self.consumed_vc, 1).eq(~flit.tail),
                belongs.bit_select(self.consumed_vc, 1).eq(known),
                packet_rows[self.consumed_vc].eq(row),
            ]
        for r in range(self.rows):
            with m.If((arrives & known & flit.tail & (row == r) & ~self.children[r])
                      | (self.freed & (self.freed_row == r))):
                m.d.comb += through[r].eq(1)
