"""Words: the groups of ports that are a kernel's inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .errors import LoweringError

if TYPE_CHECKING:
    from .cells import Nets, Port

__all__ = ["Word", "group", "narrowest"]

PART = 64


@dataclass(frozen=True)
class Word:
    """Input or output word of a kernel: an array with one number per instance.

    The bits of a number are the values of the word's ports, side by side, the first port at bit 0. A word of up to 64
    bits has ``n_padded`` elements of the narrowest dtype that holds it. A word of more than 64 bits is ``uint64`` of
    shape ``[parts, n_padded]``; bit ``b`` of the word is bit ``b % 64`` of part ``b // 64``. A word's array starts
    ``per_instance * n_padded`` bytes into the block of all input or output words.

    Members
    -------
    ports : dict of port name to (first bit, number of bits)
    """

    name: str
    bits: int
    dtype: np.dtype
    parts: int
    per_instance: int
    ports: dict[str, tuple[int, int]]

    @property
    def bytes(self) -> int:
        """Bytes per instance."""
        return self.parts * self.dtype.itemsize

    def offset(self, n_padded: int) -> int:
        """Return the byte at which the word's array starts in a block of ``n_padded`` instances."""
        return self.per_instance * n_padded


def narrowest(bits: int) -> np.dtype:
    """Return the narrowest unsigned dtype for ``bits`` bits."""
    return np.dtype(next(f"u{size}" for size in (1, 2, 4, 8) if bits <= 8 * size or size == 8))


def group(
    ports: Mapping[str, Port], groups: Mapping[str, Sequence[str]], what: str
) -> tuple[dict[str, Word], dict[str, Nets]]:
    """Arrange ``ports`` in words according to ``groups``. Return the words, and the nets of each word.

    A port with a layout as its shape may be named as a whole, or by its fields.

    Raises
    ------
    LoweringError
        A port, or a field of one, is in no group, in two, or unknown; or a word is empty.
    """
    owners = {(port.name, bit): "" for port in ports.values() for bit in _named_bits(port)}

    words: dict[str, Word] = {}
    nets: dict[str, Nets] = {}
    offset = 0
    for name, members in groups.items():
        inside: dict[str, tuple[int, int]] = {}
        joined: list[int] = []
        for member in members:
            port, start, width = _find(ports, member, f"{what}[{name!r}]")
            for bit in range(start, start + width):
                if owners.get((port.name, bit)):
                    raise LoweringError(f"{what}[{name!r}]: {member!r} is not valid: it is in "
                                        f"{owners[port.name, bit]!r} already. Allowed: each port in one word.")
                owners[port.name, bit] = name
            inside[member] = (len(joined), width)
            joined += port.nets[start : start + width]
        if not joined:
            raise LoweringError(f"{what}[{name!r}]: {members!r} is not valid: it has no bits. Needed: "
                                "ports with one bit or more.")
        parts = -(-len(joined) // PART)
        words[name] = Word(name, len(joined), narrowest(len(joined)), parts, offset, inside)
        nets[name] = tuple(joined)
        offset += words[name].bytes
    missing = dict.fromkeys(port for (port, _), owner in owners.items() if not owner)
    if missing:
        raise LoweringError(f"{what}: {', '.join(missing)} is missing. Needed: every port in a word.")
    return words, nets


def _find(ports: Mapping[str, Port], name: str, where: str) -> tuple[Port, int, int]:
    """Find the port or field ``name``. Return the port, and the first bit and the width of the port or field in it."""
    for port in ports.values():
        if name == port.name:
            return port, 0, len(port.nets)
        if name in port.fields:
            return port, *port.fields[name]
    raise LoweringError(f"{where}: {name!r} is not valid. Allowed: {', '.join(ports) or 'none'}.")


def _named_bits(port: Port) -> set[int]:
    """Return the bits of ``port`` that are in any field, or all bits if it has no fields. Other bits are padding."""
    if not port.fields:
        return set(range(len(port.nets)))
    return {bit for start, width in port.fields.values() for bit in range(start, start + width)}
