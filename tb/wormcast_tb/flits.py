"""Flits as tuples of head mark, tail mark and data, and worms as sequences of flits."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Flit", "Worm", "make_worm"]


class Flit(NamedTuple):
    """A flit.

    Parameters
    ----------
    head, tail : int
        Marks, 0 or 1: each header flit has ``head``, the last payload flit has ``tail``. A flit with both marks ends a
        worm that an error has cut off, and its data have no meaning.
    data : int
    """

    head: int
    tail: int
    data: int

    @property
    def cuts(self) -> bool:
        """Flag: the flit terminates a worm that an error has cut off."""
        return bool(self.head and self.tail)


@dataclass(frozen=True)
class Worm:
    """A worm observed on a link.

    Parameters
    ----------
    flits : tuple of Flit
    vc : int
        Virtual channel of the worm.
    cycles : tuple of int
        Cycle in which each flit was on the link, counted from reset.
    """

    flits: tuple[Flit, ...]
    vc: int
    cycles: tuple[int, ...]

    @property
    def header(self) -> tuple[int, ...]:
        """Data of the worm's header flits."""
        return tuple(flit.data for flit in self.flits if flit.head and not flit.tail)

    @property
    def payload(self) -> tuple[int, ...]:
        """Data of the worm's payload flits; of a damaged worm, the data of the payload flits before the cut."""
        return tuple(flit.data for flit in self.flits if not flit.head)

    @property
    def cut(self) -> bool:
        """Flag: an error has cut off the worm."""
        return self.flits[-1].cuts


def make_worm(header: Iterable[int], payload: Iterable[int]) -> tuple[Flit, ...]:
    """Make the flits of a worm: header flits, then payload flits, the last one with the tail mark."""
    data = list(payload)
    if not data:
        raise ValueError("make_worm: payload is missing. Needed: at least one flit.")
    last = len(data) - 1
    return (*(Flit(1, 0, value) for value in header),
            *(Flit(0, int(place == last), value) for place, value in enumerate(data)))
