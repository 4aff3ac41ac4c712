"""Where each piece of state lies in memory.

State comes in *tiles*: each holds ``lanes`` instances, the number a kernel steps at once, and within it each
slot is a row of ``lanes`` numbers. So a kernel works through memory from front to back, and every address in
it is the tile's plus a constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .program import Slot

__all__ = ["Layout", "Place", "lane_bytes", "lay_out"]

LINE = 64


@dataclass(frozen=True)
class Place:
    """``offset`` bytes into each tile: ``lanes`` numbers of ``bytes`` bytes, or of a deep memory, for each lane
    in turn, ``depth`` of them."""

    offset: int
    bytes: int
    depth: int = 0


@dataclass(frozen=True)
class Layout:
    """Places of all slots, in a tile of ``tile_bytes``."""

    places: tuple[Place, ...]
    tile_bytes: int


def lane_bytes(width: int) -> int:
    """Bytes of the number that holds ``width`` bits."""
    return next(size for size in (1, 2, 4, 8) if width <= 8 * size)


def lay_out(slots: Sequence[Slot], lanes: int) -> Layout:
    """Give every slot a place, widest first, so that each is aligned to its vector."""
    sizes = [max(4, lane_bytes(slot.width)) if slot.depth else lane_bytes(slot.width) for slot in slots]
    places: dict[int, Place] = {}
    offset = 0
    for index in sorted(range(len(slots)), key=lambda index: (-sizes[index], index)):
        depth = slots[index].depth
        places[index] = Place(offset, sizes[index], depth)
        offset += sizes[index] * lanes * (depth or 1)
    return Layout(tuple(places[index] for index in range(len(slots))), -(-offset // LINE) * LINE)
