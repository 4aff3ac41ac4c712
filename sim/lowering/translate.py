"""Translation of a `Design` to the `Program` of one clock cycle."""

from collections.abc import Collection, Iterable, Mapping

from .cells import Design, FlipFlop, Memory, Nets, SyncRead, cell_of, net
from .dataflow import PART, Moment, Scene, State
from .errors import LoweringError
from .graph import Graph
from .order import Sources, refuse_paths
from .program import Program, Slot
from .slicing import Pieces, deep_memories, live_bits
from .splitting import refine

__all__ = ["cut", "input_places", "translate"]


def translate(design: Design, inputs: Mapping[str, Nets], outputs: Mapping[str, Nets], whole: bool = True) -> Program:
    """Translate one clock cycle of ``design`` to a `Program`.

    ``inputs`` and ``outputs`` are the nets of each word of ports. ``whole``: values of several bits are computed whole,
    not bit by bit; see `deep_memories`.

    Raises
    ------
    LoweringError
        An output depends on an input in the same cycle (the message names both), or a cell cannot be lowered.
    """
    refuse_paths(design)
    places = input_places(inputs)
    sources = cut(design, places, deep_memories(design, whole))
    graph = Graph()
    slots, keys = _lay_out(design, sources.pieces)
    present: State = {
        key: graph.node("state", slot.width, (), number)
        for number, (key, slot) in enumerate(zip(keys, slots, strict=True))
        if not slot.depth
    }
    deep: dict[int, list[tuple[int, int, int]]] = {}
    for number, slot in enumerate(slots):
        if slot.depth:
            deep.setdefault(slot.cell, []).append((slot.low, slot.width, number))
    scene = Scene(design, sources, graph, places, deep)

    now = Moment(scene, present)
    settled = now.words(outputs)
    after, reads, writes = now.next_state()
    return Program(
        graph=graph,
        slots=slots,
        next={
            number: after[key]
            for number, key in enumerate(keys)
            if after.get(key) is not present.get(key) and after[key].op != "copied"
        },
        reads=reads,
        writes=writes,
        outputs=Moment(scene, after, later=True).words(outputs),
        settled=settled,
    )


def input_places(inputs: Mapping[str, Nets]) -> dict[int, tuple[str, int, int]]:
    """Return for each bit of the inputs its word, its position in the word, and the word's number of bits."""
    return {cell_of(net)[1]: (word, at, len(nets)) for word, nets in inputs.items() for at, net in enumerate(nets)}


def cut(design: Design, places: Mapping[int, tuple[str, int, int]], deep: Collection[int],
        shown: Iterable[Nets] = ()) -> Sources:
    """Cut all cells into pieces, fine enough that no piece depends on itself.

    The values of the nets ``shown`` are computed, too. ``deep`` has the deep memories; see `deep_memories`.
    """
    starts = {
        bit for bit, (word, at, _) in places.items() if at % PART == 0 or places.get(bit - 1, "")[:2] != (word, at - 1)
    }
    live = live_bits(design, shown)
    split: frozenset[int] = frozenset()
    while True:
        pieces = Pieces(design, starts, deep, split)
        refine(pieces)
        sources = Sources(design, pieces, live)
        if not sources.cycle:
            return sources
        if sources.cycle <= split:
            names = ", ".join(design.name(net(cell, 0)) for cell in sorted(sources.cycle))
            raise LoweringError(f"combinational cycle through {names}. Needed: a flip-flop in the cycle.")
        split |= sources.cycle


def _lay_out(design: Design, pieces: Pieces) -> tuple[list[Slot], list[tuple[int, int, int | None]]]:
    """Return slots for all pieces of all registers and memories, and their keys in a `State`."""
    slots: list[Slot] = []
    for index, cell in enumerate(design.cells):
        for low, high in pieces.of(index):
            width, mask = high - low, (1 << high - low) - 1
            if isinstance(cell, FlipFlop | SyncRead):
                slots.append(Slot(index, low, width, (cell.init >> low & mask,)))
            elif isinstance(cell, Memory):
                rows = tuple(row >> low & mask for row in cell.init)
                if index in pieces.deep:
                    slots.append(Slot(index, low, width, rows, depth=cell.depth))
                else:
                    slots += [Slot(index, low, width, (init,), row=row) for row, init in enumerate(rows)]
    return slots, [(slot.cell, slot.low, slot.row) for slot in slots]
