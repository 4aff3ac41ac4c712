# amaranth: UnusedElaboratable=no
"""The buffer of a tree input against a queue, and how far each branch of a worm has come in it."""

from amaranth.hdl import Cat, Module, Mux, Signal

from wormcast.hw.tree.buffer import BranchBuffer

from .harness import Harness, Inside, Property, entry, implies
from .mutants import Mutant
from .reference import Queue

__all__ = ["BranchHarness"]


class BranchHarness(Harness):
    """The buffer of a tree input, with any writer and any worms. The branches of a worm read at any pace.

    All branches of a worm begin in the same cycle, after a cycle between two worms. A branch takes only stored flits. A
    branch ends when it takes its last flit, which is the same flit for all branches of the worm. Flits are dropped
    unread only in cycles between two worms.
    """

    component = "BranchBuffer"
    properties = (
        Property("order", "Each branch of a worm reads each flit of the worm exactly once, in the order of the writes.",
                 Mutant("tree.buffer.BranchBuffer._channel", "Mux(between, following, Mux(", "Mux(0, following, Mux(")),
        Property("has", "For each branch, `has` is 1 if and only if at least one flit waits for it, and `more` if and "
                        "only if at least two flits wait.",
                 Mutant("tree.buffer.BranchBuffer._channel", "_changed(unread, comes, pop)", "unread")),
        Property("freed", "A flit is freed in the cycle in which the last branch of its worm takes it, or in which it "
                          "is dropped unread, and in no other cycle.",
                 Mutant("tree.buffer.BranchBuffer._channel", "~any_of(stays)", "1")),
        Property("overflow", "`some` is 1 if and only if a flit is stored, and `full` if and only if the number of "
                             "stored flits equals the depth. A write to a full virtual channel changes nothing.",
                 Mutant("tree.buffer.BranchBuffer._channel", "same & filled", "filled")),
    )

    def __init__(self, *, vcs, depth, width, readers):
        super().__init__()
        self.buffer = BranchBuffer(vcs=vcs, depth=depth, width=width, readers=readers)

    def elaborate(self, platform):
        m = Module()
        dut = self.buffer
        self.leave_free(dut.write, dut.write_vc, dut.write_data, dut.between, dut.skip)
        self.assume(m, dut.write_vc < dut.vcs)
        for reader in dut.readers:
            self.leave_free(reader.vc, reader.pop, reader.needs)
            self.assume(m, reader.vc < dut.vcs)
        inside = Inside(dut)
        m.submodules.buffer = inside.fragment
        for v in range(dut.vcs):
            self._channel(m, v, Queue(f"vc{v}", depth=dut.depth, width=dut.width, readers=1), inside)
        return m

    def _channel(self, m, v, queue, inside):
        dut, readers = self.buffer, range(len(self.buffer.readers))
        between, skip, count = dut.between[v], dut.skip[v], queue.count
        needs = [reader.needs[v] for reader in dut.readers]
        take = [Signal(name=f"vc{v}_takes{r}") for r in readers]
        passed = [Signal(range(dut.depth + 1), name=f"vc{v}_branch{r}_passed") for r in readers]
        # the branches of the worm under way; which of them had their tail to send, and took a flit, a cycle ago
        began, member = Signal(init=1, name=f"vc{v}_began"), Signal(len(readers), name=f"vc{v}_member")
        needed, took = Signal(len(readers), name=f"vc{v}_needed"), Signal(len(readers), name=f"vc{v}_took")
        branches = Signal(len(readers), name=f"vc{v}_branches")
        done, write = Signal(name=f"vc{v}_done"), Signal(name=f"vc{v}_writes")
        m.d.comb += [
            branches.eq(Mux(began, Cat(needs), member)),
            done.eq(Cat(needs).any() & Cat(~branches[r] | (passed[r] + take[r] != 0) for r in readers).all()),
            write.eq(dut.write & (dut.write_vc == v) & (count < dut.depth)),
        ]
        m.d.sync += [began.eq(between), member.eq(Mux(between, 0, branches)), needed.eq(Cat(needs)), took.eq(Cat(take))]

        self.assume(m, implies(between, ~Cat(needs).any()))
        self.assume(m, implies(skip, between & (count != 0)))
        for r, reader in enumerate(dut.readers):
            m.d.comb += take[r].eq(reader.pop & (reader.vc == v))
            self.assume(m, implies(take[r], needs[r] & (passed[r] < count)))
            self.assume(m, began | (needs[r] == needed[r]) | (needed[r] & took[r]))
            for other in readers:
                ended = branches[other] & ~needs[other]
                self.assume(m, implies(branches[r] & ended, Mux(needs[r], passed[r] < passed[other],
                                                                passed[r] == passed[other])))

            self.claim(m, "order", implies(take[r], reader.data == entry(queue.data, passed[r])))
            self.claim(m, "has", implies(needs[r], reader.has[v] == (passed[r] < count)))
            self.claim(m, "has", implies(needs[r], reader.more[v] == (passed[r] + 1 < count)))
            reached = passed[r] + take[r]
            m.d.sync += passed[r].eq(Mux(between, 0, reached - (done & branches[r])))
        self.claim(m, "freed", dut.freed[v] == (done | skip))
        self.claim(m, "overflow", dut.full[v] == (count == dut.depth))
        self.claim(m, "overflow", dut.some[v] == (count != 0))
        self.claim(m, "overflow", dut.arrives[v] == write)
        queue.step(m, write=write, data=dut.write_data, targets=1, take=[done], skip=skip)

        # of the queue and the branches: they are as the environment keeps them, and one of them is the last
        self.invariant(m, (count <= dut.depth) & (queue.front < dut.depth) & (queue.passed[0] == 0))
        self.invariant(m, implies(began, ~(member | needed).any()))
        self.invariant(m, (needed & ~member) == 0)
        self.invariant(m, (took & ~needed) == 0)
        self.invariant(m, implies(member.any(), Cat(member[r] & (passed[r] == 0) for r in readers).any()))
        for r in readers:
            self.invariant(m, passed[r] <= count)
            self.invariant(m, member[r] | (passed[r] == 0))
            for other in readers:
                self.invariant(m, implies(
                    member[r] & member[other] & ~needed[other],
                    Mux(needed[r], (passed[r] < passed[other]) | (took[r] & (passed[r] == passed[other])),
                        passed[r] == passed[other])))
        # of the registers
        self.invariants_of(m, queue.stored(inside))
        self.invariants_of(m, queue.stands(inside, "front_at", "filled", 0))
        for r in readers:
            with m.If(began | member[r]):
                self.invariants_of(m, queue.stands(inside, f"read{r}_at", f"filled{r}", passed[r]))
