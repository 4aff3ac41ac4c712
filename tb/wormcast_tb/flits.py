"""Flits and worms, as numbers: what is put on a link and what is taken from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Flit", "Worm", "make_worm"]


class Flit(NamedTuple):
    """A flit.

    Parameters
    ----------
    head, tail : int
        Marks, 0 or 1: each header flit has ``head``, the last payload flit ``tail``. A flit with both ends a worm that
        an error has cut off; its data say nothing.
    data : int
    """

    head: int
    tail: int
    data: int

    @property
    def cuts(self) -> bool:
        """Whether it ends a worm that an error has cut off."""
        return bool(self.head and self.tail)


@dataclass(frozen=True)
class Worm:
    """A worm that was seen on a link.

    Parameters
    ----------
    flits : tuple of Flit
    vc : int
        The virtual channel that it came by.
    cycles : tuple of int
        The cycle in which each flit was on the link, counted from reset.
    """

    flits: tuple[Flit, ...]
    vc: int
    cycles: tuple[int, ...]

    @property
    def header(self) -> tuple[int, ...]:
        """Data of its header flits."""
        return tuple(flit.data for flit in self.flits if flit.head and not flit.tail)

    @property
    def payload(self) -> tuple[int, ...]:
        """Data of its payload flits; of a worm that was cut off, those before the cut."""
        return tuple(flit.data for flit in self.flits if not flit.head)

    @property
    def cut(self) -> bool:
        """Whether an error has cut it off."""
        return self.flits[-1].cuts


def make_worm(header: Iterable[int], payload: Iterable[int]) -> tuple[Flit, ...]:
    """Make the flits of a worm: the header's, then the payload's, the last one with the tail mark.

    Raises
    ------
    ValueError
        There is no payload.
    """
    data = list(payload)
    if not data:
        raise ValueError("make_worm: no payload is given, a worm has from one flit of it")
    last = len(data) - 1
    return (*(Flit(1, 0, value) for value in header),
            *(Flit(0, int(place == last), value) for place, value in enumerate(data)))
