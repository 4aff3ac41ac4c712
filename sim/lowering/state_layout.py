"""Layout of the state in memory.

State comes in *tiles*. Each tile holds ``vector_width`` instances, the number that a kernel steps at once. In a tile,
each slot of a register or shallow memory is a row of ``vector_width`` numbers, with flags packed to one bit each. A
kernel therefore accesses the state from start to end, tile by tile. The address of a slot is the address of the tile
plus a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .program import Slot

__all__ = ["StateLayout", "StateLocation", "element_bits", "lay_out"]

LINE = 64


@dataclass(frozen=True)
class StateLocation:
    """Place of a slot of the state, ``offset`` bytes into each tile: ``vector_width`` numbers of ``bits`` bits.

    A deep memory has ``depth`` numbers for each instance in turn. With ``bits`` = 1, instance ``i`` has bit ``i % 8``
    of byte ``i // 8``.
    """

    offset: int
    bits: int
    depth: int = 0


@dataclass(frozen=True)
class StateLayout:
    """Places of all slots of the state in a tile, which has ``tile_bytes`` bytes."""

    places: tuple[StateLocation, ...]
    tile_bytes: int


def element_bits(width: int) -> int:
    """Return the size in bits of the number that holds ``width`` bits: 1, 8, 16, 32 or 64."""
    return next(size for size in (1, 8, 16, 32, 64) if width <= size)


def lay_out(slots: Sequence[Slot], vector_width: int) -> StateLayout:
    """Assign a place to every slot of the state, widest first, so that every slot's vector is aligned."""
    # processors gather only numbers of at least 32 bits
    sizes = [max(32, element_bits(slot.width)) if slot.depth else element_bits(slot.width) for slot in slots]
    places: dict[int, StateLocation] = {}
    offset = 0
    for index in sorted(range(len(slots)), key=lambda index: (-sizes[index], index)):
        depth = slots[index].depth
        places[index] = StateLocation(offset, sizes[index], depth)
        offset += sizes[index] * vector_width // 8 * (depth or 1)
    return StateLayout(tuple(places[index] for index in range(len(slots))), -(-offset // LINE) * LINE)
