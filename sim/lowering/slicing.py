"""Division of the outputs of cells into pieces of at most 64 bits.

A cell with independent bits (a selection, a bitwise operator, a register, the columns of a memory) is cut where its
inputs have several sources or are assigned separately. For example, a 36-bit word of two sources becomes pieces of 32
bits and 4, and a vector of flags becomes single bits. A dependency loop through a cell disappears if a cut puts the
loop's entry and exit into different pieces of the cell.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from .cells import (
    AssignmentList,
    AsyncRead,
    Cell,
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

__all__ = ["BITWISE", "NetRun", "Piece", "Pieces", "columns", "deep_memories", "live_bits", "mixed", "predecessors",
           "size"]

WIDEST = 64
SHALLOW = 32
"""Memories with at most this number of rows have a slot per row, read by selection; deeper ones have arrays of rows."""
COPIED = 16
"""Like ``SHALLOW``, for memories whose rows are only copied to registers: only instances that copy a row cost time."""
BITWISE = {"~", "&", "|", "^", "m"}
PREFIX = {"+", "-", "*", "<<"}

Piece = tuple[int, int]
"""Cell, and first bit of one of its pieces."""


def size(cell: Cell) -> int:
    """Return the number of bits of a cell's output, or of a memory's row."""
    return cell.columns if isinstance(cell, Memory) else cell.width


def deep_memories(design: Design, whole: bool) -> frozenset[int]:
    """Return the deep memories, which are stored as arrays: one array for each piece, with all rows.

    ``whole``: values are not split into bits, so rows can be copied.
    """
    selected = {cell.memory for cell in design.cells if isinstance(cell, AsyncRead)
                or (isinstance(cell, SyncRead) and (cell.transparent or cell.width == 1))}
    return frozenset(
        index for index, cell in enumerate(design.cells) if isinstance(cell, Memory)
        and cell.depth > (COPIED if whole and index not in selected else SHALLOW)
    )


class NetRun:
    """Neighbouring nets from one piece of ``cell``, from constants (``cell`` is None), or copies of one bit.

    ``low`` is the position of the run's first bit in the cell's output, or the value of the constants. If ``repeats``
    is true, all nets of the run are the same bit ``low`` of the cell.
    """

    __slots__ = ("cell", "low", "repeats", "width")

    def __init__(self, cell: int | None, low: int, width: int, repeats: bool = False) -> None:
        self.cell = cell
        self.low = low
        self.width = width
        self.repeats = repeats


def columns(cell: Cell) -> list[tuple[int, Nets]]:
    """Return as (start, nets) the inputs whose bit ``i`` affects only bit ``start + i`` of the output."""
    match cell:
        case Operator(operator="m", inputs=(_, a, b)):
            return [(0, a), (0, b)]
        case Operator(operator=operator, inputs=inputs) if operator in BITWISE:
            return [(0, nets) for nets in inputs]
        case AssignmentList():
            return [(0, cell.default), *((a.start, a.value) for a in cell.assignments)]
        case FlipFlop():
            return [(0, cell.data)]
    return []


def mixed(cell: Cell) -> list[Nets]:
    """Return the inputs that are not among `columns`: a bit of these may affect output bits at other positions."""
    match cell:
        case Operator(operator="m"):
            return [cell.inputs[0]]
        case Operator() if cell.operator in BITWISE:
            return []
        case Operator():
            return list(cell.inputs)
        case Part():
            return [cell.value, cell.offset]
        case Matches():
            return [cell.value]
        case PriorityMatch():
            return [(cell.enable, *cell.inputs)]
        case AssignmentList():
            return [tuple(a.condition for a in cell.assignments)]
        case AsyncRead():
            return [cell.address]
        case SyncRead():
            return [cell.address, (cell.enable,)]
        case WritePort():
            return [cell.address, cell.enable, cell.data]
    return []


def predecessors(cell: Cell, bit: int) -> Iterator[Nets]:
    """Yield the nets that bit ``bit`` of the output of ``cell`` may depend on in the same cycle."""
    match cell:
        case FlipFlop() | Inputs() | SyncRead():
            return
        case PriorityMatch():
            yield (cell.enable, *cell.inputs[: bit + 1])
        case Operator(operator="<<", inputs=(value, places)):
            yield value[: bit + 1]
            yield places
        case Operator() if cell.operator in PREFIX:
            yield from (nets[: bit + 1] for nets in cell.inputs)
        case AssignmentList():
            yield (cell.default[bit],)
            for a in cell.assignments:
                if a.start <= bit < a.start + len(a.value):
                    yield (a.condition, a.value[bit - a.start])
        case _:
            yield from ((nets[bit],) for _, nets in columns(cell))
            yield from mixed(cell)


def is_whole(cell: Cell) -> bool:
    """Return whether all bits of a cell's output have the same `predecessors`."""
    return isinstance(cell, Matches | Part | AsyncRead) or (
        isinstance(cell, Operator) and cell.operator not in BITWISE and cell.operator not in PREFIX)


def live_bits(design: Design, shown: Iterable[Nets] = ()) -> list[int]:
    """Return a mask for each cell: its bits that anything observable depends on.

    Registers, memories, output ports and ``shown`` nets are observable. An addition is computed only as wide as its
    used bits.
    """
    live = [0] * len(design.cells)
    pending: list[tuple[int, int]] = []

    def need(nets: Nets) -> None:
        for net in nets:
            if net > 1:
                cell, bit = cell_of(net)
                if not live[cell] >> bit & 1:
                    live[cell] |= 1 << bit
                    pending.append((cell, bit))

    for index, cell in enumerate(design.cells):
        if isinstance(cell, FlipFlop | SyncRead):
            live[index] = (1 << cell.width) - 1
        if isinstance(cell, FlipFlop):
            need(cell.data)
        elif isinstance(cell, WritePort | SyncRead):
            for nets in mixed(cell):
                need(nets)
    for nets in (*(port.nets for port in design.outputs.values()), *shown):
        need(nets)
    whole: set[int] = set()
    while pending:
        index, bit = pending.pop()
        cell = design.cells[index]
        if is_whole(cell):
            if index in whole:
                continue
            whole.add(index)
        for nets in predecessors(cell, bit):
            need(nets)
    return live


#: In memories with at least this number of rows, the fields of the data to write do not cut the rows.
#: Cuts would multiply the size of the state.
DEEP = 32


class Pieces:
    """Positions at which the outputs of the cells in ``design`` are cut into pieces.

    The input ports (cell 0) are cut at ``input_cuts``, the cells in ``split`` into single bits. ``deep`` has the deep
    memories; see `deep_memories`.

    Members
    -------
    cuts : list of set of int, one per cell
    joined : dict of cell to list of (start, nets)
        The cells with independent bits, and the inputs of their bits from ``start`` on.
    users : dict of cell to the cells of ``joined`` that read its bits
    homes : list of int, one per cell
        Cell whose entry in ``cuts`` applies: for a memory's port the memory, else the cell itself.
    columns, mixed : list, one per cell
        See the functions of these names.
    """

    def __init__(self, design: Design, input_cuts: set[int], deep: Collection[int],
                 split: frozenset[int] = frozenset()) -> None:
        self.design = design
        self.deep = deep
        self.homes = [cell.memory if isinstance(cell, AsyncRead | SyncRead | WritePort) else index
                      for index, cell in enumerate(design.cells)]
        self.columns = [columns(cell) for cell in design.cells]
        self.mixed = [mixed(cell) for cell in design.cells]
        self.cuts: list[set[int]] = [set() for _ in design.cells]
        self.cuts[0] |= input_cuts
        self.joined: dict[int, list[tuple[int, Nets]]] = {}
        self.users: dict[int, set[int]] = {}
        for index, cell in enumerate(design.cells):
            where = self.homes[index]
            if isinstance(cell, WritePort):
                if not self._is_deep(cell.memory):
                    self.joined.setdefault(cell.memory, []).append((0, cell.data))
                self.cuts[cell.memory] |= {
                    bit for bit in range(1, len(cell.enable)) if cell.enable[bit] != cell.enable[bit - 1]
                }
            elif self.columns[index]:
                self.joined[index] = self.columns[index]
            elif isinstance(cell, Memory):
                self.joined.setdefault(index, [])
            if isinstance(cell, PriorityMatch) or index in split:
                self.cuts[where] |= set(range(1, cell.width))
        for index, inputs in self.joined.items():
            for _, nets in inputs:
                for net in nets:
                    if net > 1:
                        self.users.setdefault(self.homes[net >> 16], set()).add(index)
        self._settle(set(self.joined))
        while wide := self._cut_wide():
            self._settle(wide)
        self.bound()

    def _is_deep(self, memory: int) -> bool:
        """Return whether the fields of written data leave a memory's rows uncut.

        A cell that reads an uncut row cuts it into its fields.
        """
        cell = self.design.cells[memory]
        return isinstance(cell, Memory) and (cell.depth >= DEEP or memory in self.deep)

    def bound(self) -> None:
        """Compute the bounds of all pieces."""
        self.bounds = [
            [0, *sorted(cut for cut in self.cuts[self.homes[index]] if cut < size(cell)), size(cell)]
            for index, cell in enumerate(self.design.cells)
        ]

    def _settle(self, pending: set[int]) -> None:
        """Propagate cuts from cell to cell until nothing changes."""
        while pending:
            index = pending.pop()
            cell = self.design.cells[index]
            width = size(cell)
            found: set[int] = set()
            for start, nets in self.joined[index]:
                found |= {start, start + len(nets)}
                for bit in range(1, len(nets)):
                    a, b = nets[bit - 1], nets[bit]
                    if a > 1 and b == a + 1:
                        if b & 0xFFFF in self.cuts[self.homes[b >> 16]]:
                            found.add(start + bit)
                    elif not (a == b or (a < 2 and b < 2)):
                        found.add(start + bit)
            found = {cut for cut in found if 0 < cut < width}
            if not found <= self.cuts[index]:
                self.cuts[index] |= found
                pending |= self.users.get(index, set())

    def _cut_wide(self) -> set[int]:
        changed = set()
        for index, cell in enumerate(self.design.cells):
            width = size(cell)
            if self.homes[index] == index:
                last = 0
                for cut in (*sorted(self.cuts[index]), width):
                    for extra in range(last + WIDEST, cut, WIDEST):
                        self.cuts[index].add(extra)
                        changed |= self.users.get(index, set()) | ({index} & self.joined.keys())
                    last = cut
        return changed

    def of(self, index: int) -> list[tuple[int, int]]:
        """Return the pieces of cell ``index`` as (first bit, bit after the last one)."""
        bounds = self.bounds[index]
        return [(a, b) for a, b in pairwise(bounds) if a < b]

    def runs(self, nets: Nets) -> Iterator[NetRun]:
        """Yield ``nets`` as runs (`NetRun`), as few as possible."""
        position, count = 0, len(nets)
        while position < count:
            first = nets[position]
            end = position + 1
            if first < 2:
                while end < count and nets[end] < 2:
                    end += 1
                value = sum(bit << place for place, bit in enumerate(nets[position:end]))
                yield NetRun(None, value, end - position)
            elif end < count and nets[end] == first:
                while end < count and nets[end] == first:
                    end += 1
                cell, bit = cell_of(first)
                yield NetRun(cell, bit, end - position, repeats=True)
            else:
                cell, bit = cell_of(first)
                cuts = self.cuts[self.homes[cell]]
                # a repeated bit ends the run before its second copy
                offset = bit - position
                while end < count and nets[end] == first + end - position and end + offset not in cuts:
                    end += 1
                yield NetRun(cell, bit, end - position)
            position = end
