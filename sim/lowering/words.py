"""Words: the groups of ports through which a kernel meets the world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .cells import Design, Nets, Port
from .errors import LoweringError

__all__ = ["Word", "group"]

PART = 64


@dataclass(frozen=True)
class Word:
    """One array of words, and which ports it carries.

    The ports lie side by side, the first at bit 0. Up to 64 bits the array has ``n_padded`` elements of the
    narrowest dtype that holds them; above, it is ``uint64`` of shape ``[parts, n_padded]``, bit ``b`` of the
    word being bit ``b % 64`` of part ``b // 64``. It starts ``per_instance * n_padded`` bytes into its block.

    Members
    -------
    ports : dict of port name to (first bit, bits)
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
        """Byte at which the array starts in a block of ``n_padded`` instances."""
        return self.per_instance * n_padded


def narrowest(bits: int) -> np.dtype:
    """The unsigned dtype for ``bits`` bits."""
    return np.dtype(next(f"u{size}" for size in (1, 2, 4, 8) if bits <= 8 * size or size == 8))


def group(
    design: Design, ports: Mapping[str, Port], groups: Mapping[str, Sequence[str]], what: str
) -> tuple[dict[str, Word], dict[str, Nets]]:
    """Arrange ``ports`` in words as ``groups`` says; return the words and the nets in each.

    Raises
    ------
    LoweringError
        If a port is in no group, in two, or unknown; or a word is empty.
    """
    words: dict[str, Word] = {}
    nets: dict[str, Nets] = {}
    seen: set[str] = set()
    offset = 0
    for name, members in groups.items():
        inside: dict[str, tuple[int, int]] = {}
        joined: list[int] = []
        for port in members:
            if port not in ports:
                raise LoweringError(f"{what}[{name!r}] names {port!r}: the {what} are {', '.join(ports) or 'none'}")
            if port in seen:
                raise LoweringError(f"{what}[{name!r}] names {port!r}, which already is in a word")
            seen.add(port)
            inside[port] = (len(joined), len(ports[port].nets))
            joined += ports[port].nets
        if not joined:
            raise LoweringError(f"{what}[{name!r}] has no bits")
        parts = -(-len(joined) // PART)
        words[name] = Word(name, len(joined), narrowest(len(joined)), parts, offset, inside)
        nets[name] = tuple(joined)
        offset += words[name].bytes
    missing = [name for name in ports if name not in seen]
    if missing:
        raise LoweringError(f"every port must be in a word, but of the {what} {', '.join(missing)} is in none")
    return words, nets
