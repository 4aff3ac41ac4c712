"""Translation of cells to expressions: the values of a design before or after a clock edge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from . import operators
from .cells import (
    Assignment,
    AssignmentList,
    AsyncRead,
    Design,
    FlipFlop,
    Inputs,
    Matches,
    Memory,
    Nets,
    Operator,
    Part,
    PriorityMatch,
    SyncRead,
    WritePort,
    cell_of,
)
from .errors import LoweringError
from .graph import Graph, Node
from .order import Sources
from .program import Read, Write
from .slicing import BITWISE, Piece, columns, mixed

__all__ = ["Moment", "Scene", "State"]

PART = 64

State = dict[tuple[int, int, int | None], Node]
"""Expression (`Node`) of each piece of state, by cell, first bit, and row of a shallow memory (None for a register)."""


@dataclass(frozen=True)
class Scene:
    """Data that all objects of `Moment` for a design share.

    ``places`` has for each input bit its word, its position in the word, and the word's number of bits. ``deep`` has
    for each deep memory its slots in the program's state, as (first bit, number of bits, number of the slot).
    """

    design: Design
    sources: Sources
    graph: Graph
    places: Mapping[int, tuple[str, int, int]]
    deep: Mapping[int, Sequence[tuple[int, int, int]]]


class Moment:
    """Values of all pieces for the present state, or (``later``) for the state after the clock edge."""

    def __init__(self, scene: Scene, state: State, later: bool = False) -> None:
        self.scene = scene
        self.design = scene.design
        self.pieces = scene.sources.pieces
        self.starts = scene.sources.starts
        self.ends = scene.sources.ends
        self.graph = scene.graph
        self.state = state
        self.later = later
        self.values: dict[Piece, Node] = {}

    def words(self, outputs: Mapping[str, Nets]) -> dict[tuple[str, int], Node]:
        """Return the graph nodes of the output words, by word and part of 64 bits."""
        self.make({net for nets in outputs.values() for net in nets})
        return {(name, part): node for name, nets in outputs.items() for part, node in enumerate(self.wide(nets))}

    def make(self, wanted: set[int] | None = None) -> None:
        """Compute the values of all cells' pieces with a used bit, or only of the pieces that nets ``wanted`` depend
        on."""
        needed: set[Piece] = set()
        if wanted is not None:
            pending = [self.scene.sources.piece(net) for net in wanted if net > 1]
            while pending:
                here = pending.pop()
                if here not in needed:
                    needed.add(here)
                    pending += self.scene.sources.of(here)
        for index, low in self.scene.sources.order:
            if (index, low) in self.values or (wanted is not None and (index, low) not in needed):
                continue
            try:
                self.values[index, low] = self.piece(index, low, self.ends[index][low])
            except LoweringError as error:
                signal = _reader(self.design, index)
                where = self.design.cells[index].source or "no line known"
                raise LoweringError(f"{error} (for {signal}, {where})") from None

    # Nets to nodes

    def run_nodes(self, nets: Nets) -> list[Node]:
        """Return the graph nodes of ``nets``, least significant first, each of at most 64 bits."""
        parts: list[Node] = []
        previous = -1
        position = 0
        for run in self.pieces.runs(nets):
            if run.cell is None:
                low = 0
                while low < run.width:
                    step = min(PART, run.width - low)
                    parts.append(self.graph.const(run.low >> low, step))
                    low += step
            else:
                bit = self.bits(run.cell, run.low, 1 if run.repeats else run.width)
                if not run.repeats:
                    same = run.width == 1 and parts and nets[position] == previous
                    if same and parts[-1].width < PART:
                        parts[-1] = self.graph.sign_extend(parts[-1], parts[-1].width + 1)
                    else:
                        parts.append(bit)
                else:
                    left = run.width
                    if parts and nets[position] == previous and parts[-1].width < PART:
                        step = min(PART - parts[-1].width, left)
                        parts[-1] = self.graph.sign_extend(parts[-1], parts[-1].width + step)
                        left -= step
                    while left:
                        step = min(PART, left)
                        parts.append(self.graph.sign_extend(bit, step))
                        left -= step
            position += run.width
            previous = nets[position - 1]
        return parts

    def bits(self, cell: int, low: int, width: int) -> Node:
        """Return ``width`` output bits of ``cell`` from ``low`` on, which must all be in one piece."""
        start = self.starts[cell][low]
        return self.graph.slice(self.values[cell, start], low - start, width)

    def wide(self, nets: Nets) -> operators.Wide:
        """Return ``nets`` as a wide value (see `operators`)."""
        return operators.to_wide(self.graph, self.run_nodes(nets), len(nets))

    def narrow(self, nets: Nets) -> Node:
        """Concatenate up to 64 ``nets`` to one node of the graph."""
        return self.graph.concat(self.run_nodes(nets))

    def one(self, net: int) -> Node:
        """Return the graph node of one net."""
        return self.graph.const(net, 1) if net < 2 else self.bits(net >> 16, net & 0xFFFF, 1)

    # Cells to nodes

    def piece(self, index: int, low: int, high: int) -> Node:
        """Return the value of a piece of cell ``index``: bits ``low`` to ``high`` - 1."""
        graph = self.graph
        cell = self.design.cells[index]
        used = min(high, self.scene.sources.live[index].bit_length())
        match cell:
            case Inputs():
                if low not in self.scene.places:
                    return graph.const(0, high - low)
                word, at, size = self.scene.places[low]
                width = min(PART, size - at // PART * PART)
                return graph.slice(graph.node("input", width, (), (word, at // PART)), at % PART, high - low)
            case FlipFlop() | SyncRead():
                return self.state[index, low, None]
            case Operator(operator="m", inputs=(condition, a, b)):
                choice = [[self.narrow(nets)] for nets in (condition, a[low:high], b[low:high])]
                return operators.OPERATORS["m"](graph, choice, high - low)[0]
            case Operator() if cell.operator in BITWISE:
                values = [[self.narrow(nets[low:high])] for nets in cell.inputs]
                return operators.OPERATORS[cell.operator](graph, values, high - low)[0]
            case Operator():
                inputs = cell.inputs
                if cell.operator in ("+", "-", "*"):
                    inputs = tuple(nets[:used] for nets in inputs)
                elif cell.operator == "<<":
                    inputs = (inputs[0][:used], inputs[1])
                values = [self.wide(nets) for nets in inputs]
                result = operators.OPERATORS[cell.operator](graph, values, used)
                return operators.bits(graph, result, low, high - low)
            case Part():
                result = operators.part(
                    graph, self.wide(cell.value), self.wide(cell.offset), cell.width, cell.stride, cell.signed
                )
                return operators.bits(graph, result, low, high - low)
            case Matches():
                return graph.any_(self.matches(cell.value, pattern) for pattern in cell.patterns)
            case PriorityMatch():
                return self.priority(cell, low)
            case AssignmentList():
                return self.assigned(cell, low, high)
            case AsyncRead():
                return self.row(cell.memory, low, self.narrow(cell.address))
        raise LoweringError(f"a cell of kind {type(cell).__name__} is not valid in a component that is compiled")

    def assigned(self, cell: AssignmentList, low: int, high: int) -> Node:
        """Return the value of bits ``low`` to ``high`` - 1 of ``cell`` after all its assignments."""
        graph = self.graph
        value = self.narrow(cell.default[low:high])
        group: list[Assignment] = []

        def flags() -> Node:
            # a disjunction of assignments that exclude each other is cheaper than a chain of selections
            conditions = [self.one(given.condition) for given in group]
            values = [self.one(given.value[low - given.start]) for given in group]
            kept = graph.and_(value, graph.not_(graph.any_(conditions)))
            return graph.any_([*map(graph.and_, conditions, values), kept])

        for given in cell.assignments:
            if not (given.start <= low and high <= given.start + len(given.value)):
                continue
            if high - low > 1:
                chosen = self.narrow(given.value[low - given.start : high - given.start])
                value = graph.select(self.one(given.condition), chosen, value)
                continue
            if not all(self.apart(given.condition, other.condition) for other in group):
                value = flags()
                group = []
            group.append(given)
        return flags() if group else value

    def apart(self, a: int, b: int) -> bool:
        """Return whether two conditions belong to different branches of one decision."""
        branches = dict(self.branches(a))
        return any(branches.get(cell, bit) != bit for cell, bit in self.branches(b))

    def branches(self, condition: int) -> Iterator[tuple[int, int]]:
        """Yield the `PriorityMatch` cells that ``condition`` depends on, each with the bit that must be set."""
        while condition > 1:
            cell, bit = cell_of(condition)
            decision = self.design.cells[cell]
            if not isinstance(decision, PriorityMatch):
                return
            yield cell, bit
            condition = decision.enable

    def matches(self, nets: Nets, pattern: str) -> Node:
        """Return a bit: ``nets`` match ``pattern``."""
        fixed = [(net, int(bit)) for net, bit in zip(nets, reversed(pattern), strict=True) if bit != "-"]
        value = self.wide(tuple(net for net, _ in fixed))
        wanted = sum(bit << place for place, (_, bit) in enumerate(fixed))
        parts = [self.graph.const(wanted >> low, PART) for low in range(0, len(fixed), PART)]
        return operators.equal(self.graph, value, operators.to_wide(self.graph, parts, len(fixed)))

    def priority(self, cell: PriorityMatch, bit: int) -> Node:
        """Return output ``bit`` of a `PriorityMatch`: ``cell`` is enabled, and input ``bit`` is its first set input."""
        graph = self.graph
        here = self.one(cell.inputs[bit])
        before = [self.one(net) for net in cell.inputs[:bit]]
        clash = [other for other in before if not exclusive(here, other)]
        return graph.and_(self.one(cell.enable), graph.and_(here, graph.not_(graph.any_(clash))))

    # Memories

    def row(self, memory: int, low: int, address: Node) -> Node:
        """Return a piece of row ``address`` of a memory; zero past the last row."""
        cell = self.design.cells[memory]
        assert isinstance(cell, Memory)
        high = self.ends[memory][low]
        zero = self.graph.const(0, high - low)
        if memory not in self.scene.deep:
            rows = [self.state[memory, low, row] for row in range(cell.depth)]
            return operators.lookup(self.graph, address, rows, zero)
        inside = self.inside(address, cell.depth)
        safe = self.graph.select(inside, address, self.graph.const(0, address.width))
        parts = []
        for start, size, slot in self.scene.deep[memory]:
            first, last = max(low, start), min(high, start + size)
            if first < last:
                gathered = self.graph.node("gather", size, (safe,), (slot, self.later))
                parts.append(self.graph.slice(gathered, first - start, last - first))
        return self.graph.select(inside, self.graph.concat(parts), zero)

    def inside(self, address: Node, depth: int) -> Node:
        """Return a bit: ``address`` is less than ``depth``, so that the row exists."""
        if depth >> address.width:
            return self.graph.const(1, 1)
        return self.graph.less(address, self.graph.const(depth, address.width))

    def sync_row(self, cell: SyncRead, low: int, high: int) -> Node:
        """Return bits ``low`` to ``high`` - 1 of the row that the enabled read port ``cell`` reads at a clock edge."""
        graph = self.graph
        address = self.narrow(cell.address)
        value = self.row(cell.memory, low, address)
        for number in cell.transparent:
            port = self.design.cells[number]
            assert isinstance(port, WritePort)
            same = graph.eq(address, self.narrow(port.address))
            taken = graph.and_(same, self.one(port.enable[low]))
            value = graph.select(taken, self.narrow(port.data[low:high]), value)
        return value

    def copied_from(self, cell: SyncRead, low: int, high: int) -> int | None:
        """Return the slot of a deep memory that a read port's piece is copied from, or None.

        A piece of one bit is never copied, because the single bits of all instances are packed together.
        """
        pieces = {(start, start + size): slot for start, size, slot in self.scene.deep.get(cell.memory, ())}
        return None if cell.transparent or high - low == 1 else pieces.get((low, high))

    def next_state(self) -> tuple[State, list[Read], list[Write]]:
        """Return the state after the clock edge, and the `Read` and `Write` objects of deep memories at this edge."""
        self.make()
        graph, design = self.graph, self.design
        after = dict(self.state)
        reads: list[Read] = []
        writes: list[Write] = []
        for index, cell in enumerate(design.cells):
            for low, high in self.pieces.of(index):
                if isinstance(cell, FlipFlop):
                    after[index, low, None] = self.narrow(cell.data[low:high])
                elif isinstance(cell, SyncRead):
                    old = self.state[index, low, None]
                    slot, enable = self.copied_from(cell, low, high), self.one(cell.enable)
                    if slot is None:
                        after[index, low, None] = graph.select(enable, self.sync_row(cell, low, high), old)
                    else:
                        reads.append(Read(old.data, slot, self.narrow(cell.address), enable))
                        after[index, low, None] = graph.node("copied", old.width, (), old.data)
        for port in design.cells:
            if not isinstance(port, WritePort):
                continue
            memory = design.cells[port.memory]
            assert isinstance(memory, Memory)
            address = self.narrow(port.address)
            slots = {low: slot for low, _, slot in self.scene.deep.get(port.memory, ())}
            for low, high in self.pieces.of(port.memory):
                enable, data = self.one(port.enable[low]), self.narrow(port.data[low:high])
                if port.memory in self.scene.deep:
                    allowed = graph.and_(enable, self.inside(address, memory.depth))
                    writes.append(Write(slots[low], address, allowed, data))
                    continue
                for row in range(memory.depth):
                    hit = graph.and_(enable, graph.eq(address, graph.const(row, address.width)))
                    key = (port.memory, low, row)
                    after[key] = graph.select(hit, data, after[key])
        return after, reads, writes


def exclusive(a: Node, b: Node) -> bool:
    """Return whether the form of two conditions shows that they never hold together."""
    known = dict(_literals(a))
    return any(node in known and known[node] != value for node, value in _literals(b))


def _literals(a: Node) -> Iterator[tuple[Node, int]]:
    """Yield graph nodes, each with the value that it must have for ``a`` to hold."""
    if a.op == "and":
        for arg in a.args:
            yield from _literals(arg)
    elif a.op == "eq" and a.args[1].is_const:
        yield a.args[0], a.args[1].data
    elif a.op == "not":
        yield a.args[0], 0
        if a.args[0].op == "or":
            for arg in a.args[0].args:
                yield arg, 0
    if a.op not in ("const",):
        yield a, 1


def _reader(design: Design, index: int) -> str:
    """Return the name of a signal that contains a bit of cell ``index``, or else of a signal that depends on the cell
    through the fewest other cells. If no named signal depends on the cell, return ``an output``."""
    near = {index}
    while True:
        known = [name for bit, name in sorted(design.names.items()) if cell_of(bit)[0] in near and bit > 1]
        if known:
            return known[0]
        users = {
            user
            for user, cell in enumerate(design.cells)
            if user not in near
            for nets in (*(nets for _, nets in columns(cell)), *mixed(cell))
            if any(bit > 1 and cell_of(bit)[0] in near for bit in nets)
        }
        if not users:
            return "an output"
        near |= users
