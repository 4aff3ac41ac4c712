# amaranth: UnusedElaboratable=no
"""A deep link: an output unit whose credits are chunks, wires, and the input unit of a deep switch."""

from amaranth.hdl import Module, Mux
from amaranth.lib import data, wiring
from mask_decoder import MaskDecoder

from wormcast.hw import PortSpec
from wormcast.hw.deep.input_unit import DeepInput
from wormcast.hw.link import flit_layout
from wormcast.hw.output_unit import OutputUnit

from .harness import Harness, Inside, Property, implies
from .link import Crossbar
from .mutants import Mutant
from .rows import Rows

__all__ = ["DeepLinkHarness"]


class DeepLinkHarness(Harness):
    """An output unit, a link, and the input unit of a deep switch.

    The sender keeps to the signals of the output unit. Flits are arbitrary, and need not form worms. The allocator
    answers arbitrarily. The readers fetch rows by the rules of the `ChunkBuffer` proof. The number of readers that take
    a flit in cut-through is at most the number of its worm's branches.

    Parameters
    ----------
    rows, chunk : int
    outputs : int
        Of the receiver.
    """

    component = "OutputUnit, link, DeepInput"
    properties = (
        Property("conserved", "The number of chunks that the sender has spent is the sum of four numbers: the rows "
                              "with flits, the row that begins with the arriving flit, the credits to be returned, and "
                              "the credits on their way. The number of spent chunks never exceeds the number of rows.",
                 Mutant("output_unit.OutputUnit._chunks", "tail | (place == port.chunk - 1)",
                        "place == port.chunk - 1")),
        Property("room", "No flit arrives at a full buffer, and no credit arrives for a chunk that was not spent, "
                         "wherever a worm is cut off.",
                 Mutant("deep.input_unit.DeepInput.elaborate", "store.ends.eq(arrived.tail)",
                        "store.ends.eq(intake.row.tail)")),
        Property("rows", "Rows are written and closed by the rules that the proof of the rows assumes.",
                 Mutant("deep.input_unit.DeepInput._close", "self.passes & self.closes", "self.passes")),
        Property("offered", "The link is offered to headers only while no worm owns it and it has a credit.",
                 Mutant("output_unit.OutputUnit._offer_vcs", "others | (here & ~self.vc_allocate)", "others | here")),
    )

    def __init__(self, *, rows: int, chunk: int, outputs: int):
        super().__init__()
        decoder = MaskDecoder(inputs=1, outputs=outputs)
        port = PortSpec("in_0", depth=rows * chunk, chunk=chunk)
        self.rows, self.chunk, self.flit = rows, chunk, flit_layout(outputs)
        self.sender = OutputUnit(port, width=outputs, classes=[1])
        self.receiver = DeepInput(0, port, outputs=outputs, decoder=decoder)

    def elaborate(self, platform):
        m = Module()
        sender, receiver = self.sender, self.receiver
        inside_sender, inside = Inside(sender), Inside(receiver)
        m.submodules.sender, m.submodules.receiver = inside_sender.fragment, inside.fragment
        [link] = sender.links
        wiring.connect(m, link, receiver.link)
        crossbar = Crossbar(m, self, sender)
        self.leave_free(receiver.granted, receiver.still_read, receiver.follows, receiver.fetch, receiver.fetch_row)
        rows = Rows(m, self, inside.parts["store"])
        for rule in rows.fetches():
            self.assume(m, rule)
        told = inside.parts["window"].component.worm_info
        self.assume(m, receiver.follows <= told)

        spent, arrives = inside_sender["vc0_spent"], inside["arrives"]
        comes = arrives & ~rows.begun & ~rows.over
        self.claim(m, "conserved", spent == rows.used + comes + rows.due + link.credit)
        self.claim(m, "conserved", spent + inside_sender["vc0_begins_chunk"] <= self.rows)
        self.claim(m, "room", ~(arrives & inside.parts["store"].component.full))
        self.claim(m, "room", ~sender.credit_error)
        for rule in rows.writes():
            self.claim(m, "rows", rule)
        self.claim(m, "offered", implies(sender.offer.free, ~crossbar.owned & sender.offer.ready))
        self.claim(m, "offered", implies(sender.offer.free, spent < self.rows))
        if self.inductive:
            self._invariants(m, rows, crossbar, inside_sender, inside)
        return m

    def _invariants(self, m, rows, crossbar, sender, inside):
        unit, [link], chunk = self.sender, self.sender.links, self.chunk
        rows.invariants(m, self)
        # the sender: its place is that of the flit on the link, as the receiver will have it
        busy, arrived = sender["vc0_now_busy"], data.View(self.flit, inside["arrived"])
        after = Mux(inside["arrives"], Mux(arrived.tail | (rows.bank == chunk - 1), 0, rows.bank + 1), rows.bank)
        self.invariant(m, sender["vc0_place"] == after)
        self.invariant(m, ~sender["vc0_stopped"])
        self.invariant(m, busy == crossbar.owned)
        self.invariant(m, ~link.valid | sender["active"])
        self.invariant(m, implies(crossbar.may & crossbar.owned, unit.offer.ready))
        self.invariant(m, implies(sender["vc0_now_place"] != 0, busy))
        # the receiver: filled rows that are not closed pass the window, or are closed in this cycle
        window, store = inside.parts["window"].component, inside.parts["store"].component
        self.invariant(m, rows.kept - rows.closed == store.close + (window.valid & window.flit[-1]))
        under_way, within, lost, told = (inside[f"intake.{name}"] for name in (
            "under_way", "within", "lost", "branches_known"))
        self.invariant(m, implies(~under_way, ~within & ~lost & ~told))
        self.invariant(m, implies(within & ~lost, told))
        self.invariant(m, implies(rows.void, lost))
