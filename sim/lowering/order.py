"""Dependencies between bits within a cycle, and the order of evaluation that follows."""

from collections.abc import Iterator

from .cells import AssignmentList, Design, FlipFlop, Nets, cell_of
from .errors import LoweringError
from .slicing import Piece, Pieces, predecessors

__all__ = ["Sources", "refuse_paths"]


def refuse_paths(design: Design) -> None:
    """Refuse a component in which an output depends on an input in the same cycle."""
    inputs = {net: port.name for port in design.inputs.values() for net in port.nets}
    clean: set[int] = set()
    for port in design.outputs.values():
        pending = [net for net in port.nets if net > 1]
        while pending:
            here = pending.pop()
            if here in inputs:
                raise LoweringError(
                    f"output {port.name!r} is not valid: it depends on input {inputs[here]!r} in the same cycle. "
                    "Allowed: outputs from flip-flops."
                )
            if here not in clean:
                clean.add(here)
                cell, bit = cell_of(here)
                pending += [source for nets in predecessors(design.cells[cell], bit) for source in nets if source > 1]


class Sources:
    """Pieces that each piece depends on in the same cycle.

    Members
    -------
    order : list of Piece
        Pieces with a live bit, each after the pieces that it depends on.
    cycle : set of int
        Cells of a dependency loop, empty if there is none. If the loop has cells with independent bits, ``cycle`` has
        only these cells, because they can be cut more finely.
    """

    def __init__(self, design: Design, pieces: Pieces, live: list[int]) -> None:
        self.design = design
        self.pieces = pieces
        self.live = live
        self.ends = [dict(pieces.of(index)) for index in range(len(design.cells))]
        self.starts = [[low for low, high in spans.items() for _ in range(low, high)] for spans in self.ends]
        self.order: list[Piece] = []
        self.cycle: frozenset[int] = frozenset()
        self._sort()

    def piece(self, net: int) -> Piece:
        """Return the piece that contains ``net``."""
        cell, bit = cell_of(net)
        return cell, self.starts[cell][bit]

    def of(self, piece: Piece) -> Iterator[Piece]:
        """Yield the pieces that ``piece`` depends on."""
        index, low = piece
        cell = self.design.cells[index]
        high = self.ends[index][low]
        groups: list[Nets] = []
        columns = self.pieces.columns[index]
        if columns and not isinstance(cell, FlipFlop):
            for start, nets in columns:
                groups.append(nets[max(low - start, 0) : max(high - start, 0)])
            if isinstance(cell, AssignmentList):
                groups += [(a.condition,) for a in cell.assignments if a.start < high and low < a.start + len(a.value)]
            else:
                groups += self.pieces.mixed[index]
        else:
            top = min(high, self.live[index].bit_length()) - 1
            groups += predecessors(cell, max(top, low))
        for nets in groups:
            for source in nets:
                if source > 1:
                    yield source >> 16, self.starts[source >> 16][source & 0xFFFF]

    def _sort(self) -> None:
        done: set[Piece] = set()
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
                            cells = frozenset(cell for cell, _ in cycle if self.pieces.columns[cell])
                            self.cycle = cells or frozenset(cell for cell, _ in cycle)
                            return
                        if source not in done:
                            path[source] = self.of(source)
                            stack.append(source)
                            break
                    else:
                        piece = stack.pop()
                        del path[piece]
                        done.add(piece)
                        self.order.append(piece)
