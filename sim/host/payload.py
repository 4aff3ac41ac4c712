"""Data of payload flits, compiled: the tag of their worm, and their place in the worm."""

import numpy as np

from wormcast.algorithms.compiled import compiled, inlined
from wormcast.hw.options import CONTROL_ANSWER

from .constants import NONE, PACKET, ROW_MASK, SPREAD, TAG_BITS, WIDTH

__all__ = ["free_tag", "joined", "payload", "place_of"]


@inlined
def payload(tag, place, options, part):
    """Return one 64-bit part of a payload flit's data: 16 bits of tag and 16 of place, repeated up to the flit's width.

    If flits are narrow, the first flits of a packet carry the worm's tag and the packet's number, low bits first. The
    tag is also added, modulo 2**width, to the data of each narrow flit after the packet's first one. Later flits of a
    packet therefore have the tag's low bits, which identify the worm while few worms are under way.
    """
    width, spread, packet = options[WIDTH], options[SPREAD], options[PACKET]
    if spread > 1:
        number = place // packet if packet > 0 else 0
        flit = place - number * packet
        piece = (tag | number << TAG_BITS) >> flit * width if flit < spread else 0
        pattern = np.uint64(piece + (tag if flit > 0 else 0))
    else:
        pattern = np.uint64(tag | (place & 0xFFFF) << TAG_BITS)
    word = pattern | pattern << np.uint64(32)
    used = width - 64 * part
    if used < 64:
        word &= (np.uint64(1) << np.uint64(used)) - np.uint64(1)
    return word


@compiled
def place_of(data, width):
    """Return a payload flit's place in its worm, from the first 32 bits of its data; from fewer if it is narrower."""
    return (data >> TAG_BITS) & 0xFFFF & ((1 << min(width, 32) - TAG_BITS) - 1)


@compiled
def joined(word, data, before, width):
    """Join ``word``, the data of a packet's first ``before`` narrow flits, with the next flit's ``data``."""
    return word | (data - word & (1 << width) - 1) << before * width if before > 0 else data


@compiled
def free_tag(tagged, start, bits, rows, messages):
    """Return the next free tag of ``bits`` bits, or -1.

    The tag's low 8 bits are at least ``rows``; with ``messages``, they also differ from those of control packets.
    """
    end = CONTROL_ANSWER if messages else ROW_MASK + 1
    mask = min(len(tagged), 1 << min(bits, TAG_BITS)) - 1
    tag = start & mask
    for _ in range(mask + 1):
        if tagged[tag] < 0 and rows <= tag & ROW_MASK < end:
            return tag
        tag = (tag + 1) & mask
    return NONE
