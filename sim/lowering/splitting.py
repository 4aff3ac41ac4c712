"""Optional splits that make kernels faster.

A 36-bit word that is only moved costs less as 32 bits and 4 than as one number of 64. A cell that uses two flags of a
word need not extract the flags if they are pieces of their own. Cutting a word into 32 pieces does not pay, even if a
cell reads every bit of the word. The cost of each candidate cut is therefore estimated, together with all cuts that
follow from it in registers, selections and memories that the word passes. A cut is made if the sum of costs falls. The
unit of cost is one vector instruction on bytes.
"""

from itertools import pairwise

from .cells import AsyncRead, Memory, Nets, SyncRead, WritePort, cell_of
from .slicing import Pieces, columns, mixed, size

__all__ = ["refine"]

Place = tuple[int, int]
PASSES = 2


def cost_of_width(width: int) -> float:
    """Return the cost of one instruction on values of ``width`` bits.

    A value of one bit is slightly cheaper than a byte.
    """
    return 0.75 if width == 1 else float(next(size for size in (1, 2, 4, 8) if width <= 8 * size or size == 8))


def refine(pieces: Pieces) -> None:
    """Add to ``pieces`` the cuts that lower the cost."""
    _Refiner(pieces).run()
    pieces.bound()


class _Refiner:
    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.cuts = pieces.cuts
        self.cells = pieces.design.cells
        self.users: dict[int, set[int]] = {}
        self.reads: dict[int, list[Nets]] = {}
        self.ports: dict[int, int] = {}
        for index, cell in enumerate(self.cells):
            if isinstance(cell, WritePort):
                self.reads[index] = [cell.address, cell.data]
            else:
                self.reads[index] = [*(nets for _, nets in columns(cell)), *mixed(cell)]
            if isinstance(cell, AsyncRead | SyncRead | WritePort):
                self.ports[cell.memory] = self.ports.get(cell.memory, 0) + 1
            for nets in self.reads[index]:
                for net in nets:
                    if net > 1:
                        self.users.setdefault(pieces.home(cell_of(net)[0]), set()).add(index)

    def run(self) -> None:
        for _ in range(PASSES):
            changed = False
            tried: set[Place] = set()
            for place in self.candidates():
                if place in tried or place[1] in self.cuts[place[0]]:
                    continue
                new = self.closure(place)
                tried |= new
                touched = {cell for cell, _ in new}
                touched |= {user for cell in touched for user in self.users.get(cell, ())}
                before = sum(map(self.cost, touched))
                for cell, bit in new:
                    self.cuts[cell].add(bit)
                if sum(map(self.cost, touched)) < before:
                    changed = True
                else:
                    for cell, bit in new:
                        self.cuts[cell].discard(bit)
            if not changed:
                return

    def candidates(self) -> list[Place]:
        """Return candidate cuts: at the ends of parts that cells read, and after 8, 16 or 32 bits of wider pieces.

        A piece of w bits is cut after its first b bits, with b = 8, 16 or 32, only if b < w < 2b.
        """
        found: set[Place] = set()
        for index, inputs in self.reads.items():
            if index in self.pieces.joined:
                continue
            for nets in inputs:
                for run in self.pieces.runs(nets):
                    if run.cell is not None:
                        home = self.pieces.home(run.cell)
                        found |= {(home, run.low), (home, run.low + (1 if run.repeats else run.width))}
        for home in self.pieces.joined:
            last = 0
            for cut in (*sorted(self.cuts[home]), size(self.cells[home])):
                found |= {(home, last + bits) for bits in (8, 16, 32) if bits < cut - last < 2 * bits}
                last = cut
        inside = {(h, b) for h, b in found if h in self.pieces.joined and 0 < b < size(self.cells[h])}
        return sorted(inside - {(h, b) for h, b in inside if b in self.cuts[h]})

    def closure(self, place: Place) -> set[Place]:
        """Return the cut at ``place``, and all cuts that follow from it.

        A cut of a cell also cuts the cells with independent bits that this cell reads, and those that read this cell.
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
                    if self.pieces.home(cell) in self.pieces.joined:
                        pending.append((self.pieces.home(cell), source))
            for user in self.pieces.users.get(home, ()):
                for start, nets in self.pieces.joined[user]:
                    for at in range(1, len(nets)):
                        if nets[at] > 1 and nets[at] == nets[at - 1] + 1:
                            cell, source = cell_of(nets[at])
                            if source == bit and self.pieces.home(cell) == home:
                                pending.append((user, start + at))
        return new

    def cost(self, index: int) -> float:
        """Return the cost of computing cell ``index`` and of assembling its inputs from pieces."""
        cell = self.cells[index]
        total = 0.0
        if self.pieces.home(index) == index:
            widths = self.widths(index)
            if isinstance(cell, Memory):
                ports = self.ports.get(index, 0)
                deep = index in self.pieces.deep
                each = (40.0 + 5 * max(4, cost_of_width(64)) if deep else cell.depth * 1.0) * (ports + (not deep))
                total += sum(each * (1 if deep else cost_of_width(width)) for width in widths)
            elif index in self.pieces.joined:
                weight = 2 * max(len(columns(cell)) - 1, 1)
                total += sum(weight * cost_of_width(width) for width in widths)
        return total + sum(self.bring(nets, index) for nets in self.reads[index])

    def widths(self, home: int) -> list[int]:
        """Return the widths of the pieces of cell ``home``."""
        bounds = [0, *sorted(self.cuts[home]), size(self.cells[home])]
        return [high - low for low, high in pairwise(bounds)]

    def bring(self, nets: Nets, user: int) -> float:
        """Return the cost of cutting and joining pieces to ``nets``, as cell ``user`` reads them."""
        total = 0.0
        runs = list(self.pieces.runs(nets))
        for run in runs:
            if run.cell is not None:
                home = self.pieces.home(run.cell)
                bounds = [0, *sorted(self.cuts[home]), size(self.cells[home])]
                low = max(bound for bound in bounds if bound <= run.low)
                high = min(bound for bound in bounds if bound > run.low)
                if run.repeats or run.width < high - low:
                    total += 1.5 * cost_of_width(high - low)
        together = user not in self.pieces.joined and not isinstance(self.cells[user], WritePort)
        if together and len(runs) > 1:
            total += 1.5 * (len(runs) - 1) * cost_of_width(len(nets))
        return total
