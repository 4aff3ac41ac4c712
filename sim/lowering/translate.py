"""From a `Design` to the expressions that one clock cycle computes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from . import operators
from .cells import (
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
    net,
)
from .errors import LoweringError
from .graph import Graph, Node
from .pieces import BITWISE, SHALLOW, Piece, Pieces, columns, live_bits, mixed, predecessors
from .refine import refine

__all__ = ["Program", "Slot", "Write", "translate"]

PART = 64
@dataclass(frozen=True)
class Slot:
    """A piece of state: bits ``low`` to ``low + width`` of ``cell``, of row ``row`` of a shallow memory, or of
    all ``depth`` rows of a deep one. ``init`` holds one value, or one per row."""

    cell: int
    low: int
    width: int
    init: tuple[int, ...]
    row: int | None = None
    depth: int = 0


@dataclass(frozen=True)
class Write:
    """A write to a deep memory: ``data`` to row ``address`` of ``slot`` where ``enable`` holds."""

    slot: int
    address: Node
    enable: Node
    data: Node


@dataclass
class Program:
    """All that a cycle does: registers take ``next``, deep memories ``writes``, then ``outputs`` are made.

    ``settled`` are the outputs as functions of the present state, for use after somebody changed it.
    """

    graph: Graph
    slots: list[Slot] = field(default_factory=list)
    next: dict[int, Node] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    outputs: dict[tuple[str, int], Node] = field(default_factory=dict)
    settled: dict[tuple[str, int], Node] = field(default_factory=dict)


def translate(design: Design, inputs: Mapping[str, Nets], outputs: Mapping[str, Nets]) -> Program:
    """Translate one cycle of ``design``, whose ports are grouped in words of the given nets.

    Raises
    ------
    LoweringError
        If an output depends on an input in the same cycle, or something has no lowering; it names both.
    """
    _refuse_paths(design)
    place = {bit: (word, at) for word, nets in inputs.items() for at, bit in enumerate(map(_bit, nets))}
    cuts = {
        bit
        for bit, (word, at) in place.items()
        if at % PART == 0 or place.get(bit - 1) != (word, at - 1)
    }
    live = live_bits(design)
    split: frozenset[int] = frozenset()
    while True:
        pieces = Pieces(design, cuts, split)
        refine(pieces)
        sources = _Sources(design, pieces, live)
        order = sources.order()
        if not isinstance(order, frozenset):
            break
        if order <= split:
            names = ", ".join(design.name(net(cell, 0)) for cell in sorted(order))
            raise LoweringError(f"combinational cycle through {names}")
        split |= order
    sizes = {word: len(nets) for word, nets in inputs.items()}
    return _Translator(design, pieces, sources, order, place, sizes).program(outputs)


def _bit(net: int) -> int:
    return cell_of(net)[1]


def _refuse_paths(design: Design) -> None:
    """Refuse a component in which an output depends on an input in the same cycle."""
    inputs = {net: port.name for port in design.inputs.values() for net in port.nets}
    clean: set[int] = set()
    for port in design.outputs.values():
        pending = [net for net in port.nets if net > 1]
        while pending:
            here = pending.pop()
            if here in inputs:
                raise LoweringError(
                    f"output {port.name!r} depends on input {inputs[here]!r} in the same cycle: "
                    "every output must come from flip-flops"
                )
            if here not in clean:
                clean.add(here)
                cell, bit = cell_of(here)
                pending += [
                    source for nets in predecessors(design.cells[cell], bit) for source in nets if source > 1
                ]


class _Sources:
    """Which pieces each piece needs in the same cycle."""

    def __init__(self, design: Design, pieces: Pieces, live: list[int]) -> None:
        self.design = design
        self.live = live
        self.ends = [dict(pieces.of(index)) for index in range(len(design.cells))]
        self.starts = [
            [low for low, high in spans.items() for _ in range(low, high)] for spans in self.ends
        ]

    def piece(self, net: int) -> Piece:
        """Piece that ``net`` is in."""
        cell, bit = cell_of(net)
        return cell, self.starts[cell][bit]

    def of(self, piece: Piece) -> Iterator[Piece]:
        """Pieces that ``piece`` needs."""
        index, low = piece
        cell = self.design.cells[index]
        high = self.ends[index][low]
        groups: list[Nets] = []
        if columns(cell) and not isinstance(cell, FlipFlop):
            for start, nets in columns(cell):
                groups.append(nets[max(low - start, 0) : max(high - start, 0)])
            if isinstance(cell, AssignmentList):
                groups += [(a.condition,) for a in cell.assignments if a.start < high and low < a.start + len(a.value)]
            else:
                groups += mixed(cell)
        else:
            top = min(high, self.live[index].bit_length()) - 1
            groups += predecessors(cell, max(top, low))
        for nets in groups:
            for source in nets:
                if source > 1:
                    yield self.piece(source)

    def order(self) -> list[Piece] | frozenset[int]:
        """Live pieces, each after those it needs; or the cells of a cycle, those that can be cut if any."""
        done: set[Piece] = set()
        order: list[Piece] = []
        for index, spans in enumerate(self.ends):
            for low, high in spans.items():
                if (index, low) in done or not self.live[index] >> low & (1 << high - low) - 1:
                    continue
                path: dict[Piece, Iterator[Piece]] = {(index, low): self.of((index, low))}
                stack = [(index, low)]
                while stack:
                    for source in path[stack[-1]]:
                        if source in path:
                            cycle = stack[stack.index(source) :]
                            cells = frozenset(cell for cell, _ in cycle if columns(self.design.cells[cell]))
                            return cells or frozenset(cell for cell, _ in cycle)
                        if source not in done:
                            path[source] = self.of(source)
                            stack.append(source)
                            break
                    else:
                        piece = stack.pop()
                        del path[piece]
                        done.add(piece)
                        order.append(piece)
        return order


class _Translator:
    def __init__(
        self,
        design: Design,
        pieces: Pieces,
        sources: _Sources,
        order: list[Piece],
        place: dict[int, tuple[str, int]],
        sizes: dict[str, int],
    ) -> None:
        self.design = design
        self.pieces = pieces
        self.sources = sources
        self.live = sources.live
        self.ends = sources.ends
        self.order = order
        self.place = place
        self.sizes = sizes
        self.graph = Graph()
        self.out = Program(self.graph)
        self.slots: dict[tuple[int, int, int | None], int] = {}

    def program(self, outputs: Mapping[str, Nets]) -> Program:
        self.lay_out()
        present = self.present()
        now = _Moment(self, present)
        self.out.settled = now.words(outputs)
        after = now.state_after()
        for key, value in after.items():
            if value is not present[key]:
                self.out.next[self.slots[key]] = value
        self.out.outputs = _Moment(self, after, later=True).words(outputs)
        return self.out

    def lay_out(self) -> None:
        """Give every piece of every register and memory a slot."""
        for index, cell in enumerate(self.design.cells):
            for low, high in self.pieces.of(index):
                mask = (1 << high - low) - 1
                if isinstance(cell, FlipFlop | SyncRead):
                    self.add(index, low, high, (cell.init >> low & mask,))
                elif isinstance(cell, Memory):
                    rows = tuple(row >> low & mask for row in cell.init)
                    if cell.depth > SHALLOW:
                        self.add(index, low, high, rows, depth=cell.depth)
                    else:
                        for row, value in enumerate(rows):
                            self.add(index, low, high, (value,), row=row)

    def add(
        self, cell: int, low: int, high: int, init: tuple[int, ...], row: int | None = None, depth: int = 0
    ) -> None:
        self.slots[cell, low, row] = len(self.out.slots)
        self.out.slots.append(Slot(cell, low, high - low, init, row, depth))

    def present(self) -> dict[tuple[int, int, int | None], Node]:
        """State at the start of the cycle."""
        return {
            key: self.graph.node("state", self.out.slots[slot].width, (), slot)
            for key, slot in self.slots.items()
            if not self.out.slots[slot].depth
        }


class _Moment:
    """Values of all pieces, given a state: the present one, or (``later``) that after the clock edge."""

    def __init__(
        self, translator: _Translator, state: dict[tuple[int, int, int | None], Node], later: bool = False
    ) -> None:
        self.of = translator
        self.graph = translator.graph
        self.state = state
        self.later = later
        self.values: dict[Piece, Node] = {}

    def words(self, outputs: Mapping[str, Nets]) -> dict[tuple[str, int], Node]:
        """Parts of the output words."""
        self.make({net for nets in outputs.values() for net in nets})
        return {
            (name, part): node for name, nets in outputs.items() for part, node in enumerate(self.wide(nets))
        }

    def make(self, wanted: set[int] | None = None) -> None:
        """Compute all pieces, or those that ``wanted`` nets need."""
        needed: set[Piece] = set()
        if wanted is not None:
            pending = [self.of.sources.piece(net) for net in wanted if net > 1]
            while pending:
                here = pending.pop()
                if here not in needed:
                    needed.add(here)
                    pending += self.of.sources.of(here)
        for index, low in self.of.order:
            if (index, low) in self.values or (wanted is not None and (index, low) not in needed):
                continue
            try:
                self.values[index, low] = self.piece(index, low, self.of.ends[index][low])
            except LoweringError as error:
                where = self.of.design.cells[index].source or "no line known"
                raise LoweringError(f"{error} ({self.of.design.name(net(index, low))}, {where})") from None

    # Nets to nodes

    def run_nodes(self, nets: Nets) -> list[Node]:
        """Nodes of ``nets``, least significant first, each at most 64 bits."""
        parts: list[Node] = []
        previous = -1
        position = 0
        for run in self.of.pieces.runs(nets):
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
        """Bits of one piece of ``cell``."""
        starts = self.of.pieces.bounds[cell]
        start = max(bound for bound in starts if bound <= low)
        return self.graph.slice(self.values[cell, start], low - start, width)

    def wide(self, nets: Nets) -> operators.Wide:
        """``nets`` as a wide value."""
        return operators.to_wide(self.graph, self.run_nodes(nets), len(nets))

    def narrow(self, nets: Nets) -> Node:
        """``nets``, at most 64 of them, as one node."""
        return self.graph.concat(self.run_nodes(nets))

    def one(self, net: int) -> Node:
        """One net."""
        return self.narrow((net,))

    # Cells to nodes

    def piece(self, index: int, low: int, high: int) -> Node:
        """Value of the piece of cell ``index`` from ``low`` to ``high``."""
        graph = self.graph
        cell = self.of.design.cells[index]
        used = min(high, self.of.live[index].bit_length())
        match cell:
            case Inputs():
                word, at = self.of.place.get(low, ("", 0))
                if not word:
                    return graph.const(0, high - low)
                width = min(PART, self.of.sizes[word] - at // PART * PART)
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
                value = self.narrow(cell.default[low:high])
                for a in cell.assignments:
                    if a.start <= low and high <= a.start + len(a.value):
                        chosen = self.narrow(a.value[low - a.start : high - a.start])
                        value = graph.select(self.one(a.condition), chosen, value)
                return value
            case AsyncRead():
                return self.row(cell.memory, low, self.narrow(cell.address))
        raise LoweringError(f"no lowering for a cell of kind {type(cell).__name__}")

    def matches(self, nets: Nets, pattern: str) -> Node:
        """Whether ``nets`` fit ``pattern``."""
        fixed = [(net, int(bit)) for net, bit in zip(nets, reversed(pattern), strict=True) if bit != "-"]
        value = self.wide(tuple(net for net, _ in fixed))
        wanted = sum(bit << place for place, (_, bit) in enumerate(fixed))
        parts = [self.graph.const(wanted >> low, PART) for low in range(0, len(fixed), PART)]
        return operators.equal(self.graph, value, operators.to_wide(self.graph, parts, len(fixed)))

    def priority(self, cell: PriorityMatch, bit: int) -> Node:
        """Whether input ``bit`` is the first that is set."""
        graph = self.graph
        here = self.one(cell.inputs[bit])
        before = [self.one(net) for net in cell.inputs[:bit]]
        clash = [other for other in before if not exclusive(here, other)]
        return graph.and_(self.one(cell.enable), graph.and_(here, graph.not_(graph.any_(clash))))

    # Memories

    def row(self, memory: int, low: int, address: Node) -> Node:
        """Piece of row ``address``, zero past the end."""
        cell = self.of.design.cells[memory]
        assert isinstance(cell, Memory)
        width = self.of.ends[memory][low] - low
        zero = self.graph.const(0, width)
        if cell.depth <= SHALLOW:
            rows = [self.state[memory, low, row] for row in range(cell.depth)]
            return operators.lookup(self.graph, address, rows, zero)
        slot = self.of.slots[memory, low, None]
        inside = self.inside(address, cell.depth)
        read = self.graph.node("gather", width, (self.graph.select(inside, address, self.graph.const(0, address.width)),),
                               (slot, self.later))  # fmt: skip
        return self.graph.select(inside, read, zero)

    def inside(self, address: Node, depth: int) -> Node:
        """Whether ``address`` names a row."""
        if depth >> address.width:
            return self.graph.const(1, 1)
        return self.graph.less(address, self.graph.const(depth, address.width))

    def state_after(self) -> dict[tuple[int, int, int | None], Node]:
        """State after the clock edge; writes to deep memories go to the program."""
        self.make()
        graph, design = self.graph, self.of.design
        after = dict(self.state)
        for index, cell in enumerate(design.cells):
            for low, high in self.of.pieces.of(index):
                if isinstance(cell, FlipFlop):
                    after[index, low, None] = self.narrow(cell.data[low:high])
                elif isinstance(cell, SyncRead):
                    address = self.narrow(cell.address)
                    value = self.row(cell.memory, low, address)
                    for number in cell.transparent:
                        port = design.cells[number]
                        assert isinstance(port, WritePort)
                        same = graph.eq(address, self.narrow(port.address))
                        taken = graph.and_(same, self.one(port.enable[low]))
                        value = graph.select(taken, self.narrow(port.data[low:high]), value)
                    after[index, low, None] = graph.select(self.one(cell.enable), value, self.state[index, low, None])
        for port in design.cells:
            if not isinstance(port, WritePort):
                continue
            memory = design.cells[port.memory]
            assert isinstance(memory, Memory)
            address = self.narrow(port.address)
            for low, high in self.of.pieces.of(port.memory):
                enable, data = self.one(port.enable[low]), self.narrow(port.data[low:high])
                if memory.depth > SHALLOW:
                    allowed = graph.and_(enable, self.inside(address, memory.depth))
                    self.of.out.writes.append(Write(self.of.slots[port.memory, low, None], address, allowed, data))
                    continue
                for row in range(memory.depth):
                    hit = graph.and_(enable, graph.eq(address, graph.const(row, address.width)))
                    key = (port.memory, low, row)
                    after[key] = graph.select(hit, data, after[key])
        return after


def exclusive(a: Node, b: Node) -> bool:
    """Whether two conditions are known never to hold together."""
    known = dict(_literals(a))
    return any(node in known and known[node] != value for node, value in _literals(b))


def _literals(a: Node) -> Iterator[tuple[Node, int]]:
    """Values that some nodes must have for ``a`` to hold."""
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
