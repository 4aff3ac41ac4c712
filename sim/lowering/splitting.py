"""Optional splits that make kernels faster.

A 36-bit word that is only moved costs less as 32 bits and 4 than as one number of 64. A cell that uses two flags of a
word need not extract the flags if they are pieces of their own. Cutting a word into 32 pieces costs more than it saves,
even if a cell reads every bit of the word. The cost of each candidate cut is therefore estimated, together with all
cuts that follow from it in registers, selections and memories that the word passes. A cut is made if the sum of costs
falls. The unit of cost is one vector instruction on bytes.
"""

from bisect import bisect_right
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from .cells import AsyncRead, Memory, Nets, SyncRead, WritePort, cell_of
from .slicing import Pieces, columns, mixed, size

__all__ = ["refine"]

Place = tuple[int, int]
PASSES = 2


@cache
def cost_of_width(width: int) -> float:
    """Return the cost of one instruction on values of ``width`` bits.

    A value of one bit is slightly cheaper than a byte.
    """
    return 0.75 if width == 1 else float(next(size for size in (1, 2, 4, 8) if width <= 8 * size or size == 8))


def refine(pieces: Pieces) -> None:
    """Add to ``pieces`` the cuts that lower the cost."""
    _Refiner(pieces).run()
    pieces.bound()


class _Input(NamedTuple):
    """Input of cells.

    ``joined``: the cells with this input have independent bits. ``together``: the bits of the input are joined to one
    number.
    """

    nets: Nets
    joined: bool
    together: bool


class _Refiner:
    """Search for cuts that lower the cost.

    All sums of costs are exact: each cost is a multiple of 1/8. Only the costs that a cut changes are computed again.
    """

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.cuts = pieces.cuts
        self.cells = pieces.design.cells
        self.ports: dict[int, int] = {}
        self.inputs: dict[_Input, int] = {}  # number of cells with this input
        self.readers: dict[int, set[int]] = {}  # inputs, by their order in ``inputs``, that have bits of a cell
        self.followers: dict[Place, list[Place]] = {}  # cuts that follow from a cut in a cell that is read
        for index, cell in enumerate(self.cells):
            joined = index in pieces.joined
            is_write = isinstance(cell, WritePort)
            if isinstance(cell, AsyncRead | SyncRead | WritePort):
                self.ports[cell.memory] = self.ports.get(cell.memory, 0) + 1
            for nets in (cell.address, cell.data) if isinstance(cell, WritePort) else (
                    *(nets for _, nets in columns(cell)), *mixed(cell)):
                given = _Input(nets, joined, not joined and not is_write)
                self.inputs[given] = self.inputs.get(given, 0) + 1
        self.weighted = list(self.inputs.items())
        for number, (given, _) in enumerate(self.weighted):
            for source in {net >> 16 for net in given.nets if net > 1}:
                self.readers.setdefault(pieces.homes[source], set()).add(number)
        for index, inputs in pieces.joined.items():
            for start, nets in inputs:
                for at, (before, net) in enumerate(pairwise(nets), start + 1):
                    if net > 1 and net == before + 1:
                        place = pieces.homes[net >> 16], net & 0xFFFF
                        self.followers.setdefault(place, []).append((index, at))
        self.bounds = [self.bounds_of(index) for index in range(len(self.cells))]
        self.own_costs: dict[int, float] = {}
        self.input_costs: dict[int, float] = {}

    def run(self) -> None:
        for _ in range(PASSES):
            changed = False
            tried: set[Place] = set()
            for place in self.candidates():
                if place in tried or place[1] in self.cuts[place[0]]:
                    continue
                new = self.closure(place)
                tried |= new
                homes = {home for home, _ in new}
                inputs: set[int] = set().union(*(self.readers.get(home, ()) for home in homes))
                before = self.cost(homes, inputs)
                kept = ({home: self.own_costs.pop(home) for home in homes},
                        {number: self.input_costs.pop(number) for number in inputs})
                self.make(new, homes)
                if self.cost(homes, inputs) < before:
                    changed = True
                else:
                    self.make(new, homes, undo=True)
                    self.own_costs |= kept[0]
                    self.input_costs |= kept[1]
            if not changed:
                return

    def make(self, new: set[Place], homes: set[int], undo: bool = False) -> None:
        """Make cuts, or undo them."""
        for home, bit in new:
            (self.cuts[home].discard if undo else self.cuts[home].add)(bit)
        for home in homes:
            self.bounds[home] = self.bounds_of(home)

    def bounds_of(self, index: int) -> list[int]:
        """Return the first bits of the pieces of a cell, and the cell's number of bits."""
        return [0, *sorted(self.cuts[index]), size(self.cells[index])]

    def candidates(self) -> list[Place]:
        """Return candidate cuts: at the ends of parts that cells read, and after 8, 16 or 32 bits of wider pieces.

        A piece of w bits is cut after its first b bits, with b = 8, 16 or 32, only if b < w < 2b.
        """
        found: set[Place] = set()
        for given in self.inputs:
            if given.joined:
                continue
            for run in self.pieces.runs(given.nets):
                if run.cell is not None:
                    home = self.pieces.homes[run.cell]
                    found |= {(home, run.low), (home, run.low + (1 if run.repeats else run.width))}
        for home in self.pieces.joined:
            for low, high in pairwise(self.bounds[home]):
                found |= {(home, low + bits) for bits in (8, 16, 32) if bits < high - low < 2 * bits}
        inside = {(h, b) for h, b in found if h in self.pieces.joined and 0 < b < size(self.cells[h])}
        return sorted(inside - {(h, b) for h, b in inside if b in self.cuts[h]})

    def closure(self, place: Place) -> set[Place]:
        """Return the cut at ``place``, and all cuts that follow from it.

        A cut of a cell also cuts the cells with independent bits that this cell reads, and the cells with independent
        bits that read it.
        """
        new: set[Place] = set()
        pending = [place]
        while pending:
            here = pending.pop()
            home, bit = here
            if here in new or bit in self.cuts[home]:
                continue
            new.add(here)
            for start, nets in self.pieces.joined[home]:
                at = bit - start
                if 0 < at < len(nets) and nets[at] > 1 and nets[at] == nets[at - 1] + 1:
                    cell, source = cell_of(nets[at])
                    if self.pieces.homes[cell] in self.pieces.joined:
                        pending.append((self.pieces.homes[cell], source))
            pending += self.followers.get(here, ())
        return new

    def cost(self, homes: set[int], inputs: set[int]) -> float:
        """Return the cost of computing cells, and of assembling inputs from pieces for all cells with these inputs."""
        for home in homes - self.own_costs.keys():
            self.own_costs[home] = self.own(home)
        for number in inputs - self.input_costs.keys():
            given, count = self.weighted[number]
            self.input_costs[number] = count * self.bring(given)
        return sum(map(self.own_costs.__getitem__, homes)) + sum(map(self.input_costs.__getitem__, inputs))

    def own(self, home: int) -> float:
        """Return the cost of computing cell ``home``, or of the rows and ports of memory ``home``."""
        cell = self.cells[home]
        widths = [high - low for low, high in pairwise(self.bounds[home])]
        if isinstance(cell, Memory):
            ports = self.ports.get(home, 0)
            deep = home in self.pieces.deep
            each = (40.0 + 5 * max(4, cost_of_width(64)) if deep else cell.depth * 1.0) * (ports + (not deep))
            return sum(each * (1 if deep else cost_of_width(width)) for width in widths)
        weight = 2 * max(len(columns(cell)) - 1, 1)
        return sum(weight * cost_of_width(width) for width in widths)

    def bring(self, given: "_Input") -> float:
        """Return the cost of cutting and joining pieces to an input, as one cell reads it."""
        total = 0.0
        count = 0
        for run in self.pieces.runs(given.nets):
            count += 1
            if run.cell is not None:
                bounds = self.bounds[self.pieces.homes[run.cell]]
                after = bisect_right(bounds, run.low)
                width = bounds[after] - bounds[after - 1]
                if run.repeats or run.width < width:
                    total += 1.5 * cost_of_width(width)
        if given.together and count > 1:
            total += 1.5 * (count - 1) * cost_of_width(len(given.nets))
        return total
