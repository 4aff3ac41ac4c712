"""Invariants of an input unit's registers."""

from amaranth.hdl import Cat, Const, Mux
from amaranth.lib import data

from wormcast.hw.input_decode import FrameState, row_layout
from wormcast.hw.mark import Mark

from .harness import entry, implies, on_ring
from .reference import Queue

__all__ = ["Receiver"]


class Receiver:
    """One virtual channel of an input unit: the flits that it stores, and with one reader the worm in front.

    Parameters
    ----------
    inside : Inside
        Of an input unit.
    v : int
        The virtual channel.

    Members
    -------
    queue : Queue
        The flits that it stores.
    arrives : Value
        A flit is on the link.
    """

    def __init__(self, m, inside, v):
        self.unit, self.inside, self.v = inside.component, inside, v
        unit = self.unit
        self.depth = unit.spec.depth
        self.readers = len(unit.groups)
        self.queue = Queue(f"port{unit.port}_vc{v}", depth=self.depth, width=0, readers=self.readers)
        self.arrives = unit.link.valid & (unit.link.vc == v)
        self.take = [inside[f"buffer.vc{v}_pop{r}"] for r in range(self.readers)]
        self.skip = inside[f"buffer.vc{v}_skip"] if self.readers > 1 else Const(0)
        targets = Const(1)
        if self.readers > 1:
            stays = inside["intake.stays"]
            targets = Cat(inside["intake.count"] != stays, stays)
        self.queue.step(m, write=self.arrives, data=Const(0), targets=targets, take=self.take, skip=self.skip)

    @property
    def stored(self):
        """Number of flits that have arrived and are not freed."""
        return self.queue.count

    def rules(self):
        """Rules that the proof of the buffer assumes of its readers, for this input's readers."""
        buffer = self.inside.parts["buffer"].component
        follow = [reader.follow[self.v] if self.readers > 1 else Const(0) for reader in buffer.readers]
        return self.queue.rules(take=self.take, skip=self.skip, follow=follow)

    def worm(self, name):
        """A signal of the worm in front."""
        return self.inside[f"channel_{self.v}.{name}"]

    @property
    def first(self):
        """Row of the oldest flit."""
        return self.inside[f"buffer.vc{self.v}_read0_at"] if self.depth > 1 else Const(0)

    def places(self):
        """Rows from that of the oldest flit on, also the rows without flits."""
        layout = row_layout(self.unit.width, max(2, self.unit.decoder.code_width(self.unit.port)))
        rows = [self.inside[f"buffer.vc{self.v}_row{k}"] for k in range(self.depth)]
        return [data.View(layout, entry(rows, on_ring(self.first + i, self.depth))) for i in range(self.depth)]

    def invariants(self, m, harness):
        """Assert the invariants in the harness, for one reader."""
        stored, depth, worm = self.stored, self.depth, self.worm
        filled = self.inside[f"buffer.vc{self.v}_filled0"]
        harness.invariant(m, self.queue.passed[0] == 0)
        harness.invariant(m, stored <= depth)
        harness.invariant(m, implies(stored == depth, filled))
        harness.invariant(m, implies(stored == 0, ~filled))
        if depth > 1:
            harness.invariant(m, self.first < depth)
            harness.invariant(m, self.inside[f"buffer.vc{self.v}_write_at"] == on_ring(self.first + stored, depth))

        # of a worm that asks for something, a flit is there
        delivers = self.unit.ejection is not None
        wants = worm("wants_consumption") if delivers else Const(0)
        harness.invariant(m, implies(wants | (worm("readers__0__eligible") & worm("active")), stored != 0))
        harness.invariant(m, implies(worm("owns_link"), worm("goes_on")))
        # the header flit that asks for a link, or for a consumption channel, is still there
        places = self.places()
        for i, row in enumerate(places):
            request = self.unit.decoder.request(self.unit.port, row.code)
            asked = request.nothing | request.all_of.any()
            harness.invariant(m, implies((stored > i) & row.head, asked))
        waits = worm("goes_on") & ~worm("owns_link")
        harness.invariant(m, implies(waits, (stored != 0) & places[0].head))
        if not delivers:
            return
        harness.invariant(m, implies(wants, worm("here") & ~worm("owns_link")))
        harness.invariant(m, implies(worm("ends_here"), worm("here")))

        ends = [~row.head & (row.code[:2] == Mark.FINAL) for row in places]
        harness.invariant(m, implies(wants, places[0].head | ends[0]))
        # the mark of a worm's end never stands behind a header flit
        listed = self.inside[f"intake.vc{self.v}_frame"].matches(FrameState.LIST, FrameState.START)
        for i in range(depth):
            harness.invariant(m, implies((stored == i + 1) & places[i].head, listed))
            if i:
                harness.invariant(m, implies((stored > i) & places[i - 1].head, ~ends[i]))
        harness.invariant(m, implies(worm("undecided"), Mux(stored == 0, listed, ~ends[0])))
        harness.invariant(m, implies(wants & ~worm("goes_on") & ~worm("ends_here"), places[0].head))
