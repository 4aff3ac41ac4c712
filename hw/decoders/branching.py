"""What a decoder offers to inputs that send a worm by any number of outputs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from wormcast.algorithms.headers import Header

from .. import hdl
from .base import Decoder

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value, ValueLike

__all__ = ["BranchingDecoder", "CopyingDecoder"]


class BranchingDecoder(Decoder):
    """Finds the outputs of a worm flit by flit: what each header flit shows is collected, and then says them all.

    Attributes
    ----------
    header : Header
    flits : int
        Most header flits after which a worm's outputs are known.
    goes_on : bool
        More header flits may come then: headers have no fixed length.
    strips : int
        Header flits that the copies to other switches lose at a switch where `drops` says so.
    """

    header: Header
    flits: int
    goes_on = False
    strips = 0

    def leads(self, port: int) -> list[int]:
        """Outputs, to other switches and to nodes, that a worm from input ``port`` may take."""
        return self.reaches(port) + self.exits(port)

    @abstractmethod
    def seen(self, m: Module, port: int, straps: dict[str, Value], flit: Value, place: Value) -> Value:
        """What the header flit at a place shows; of all flits up to it the OR is kept."""

    def branches(self, m: Module, port: int, straps: dict[str, Value], seen: Value, taken: Value) -> Value:
        """The outputs, a bit for each of `leads`, by what the header flits have shown: here just that. ``taken``: the
        worm goes by them, so that the next one may go by others."""
        return seen

    def known(self, port: int, straps: dict[str, Value], seen: Value, place: Value) -> ValueLike:
        """Whether the outputs are known with the header flit at a place."""
        return place == self.flits - 1

    def astray(self, port: int, straps: dict[str, Value], seen: Value) -> ValueLike:
        """Whether some destination can not be reached from here; the others can."""
        return hdl.C(0)

    def passed(self, m: Module, output: int, straps: dict[str, Value], table: Any, flit: Value,
                place: Value) -> Value | None:
        """What the copy by an output carries in place of the header flit at a place; None: the same.

        ``table``: writes to the table of this output, whose number comes behind those of the inputs.
        """
        return None

    def drops(self, port: int, straps: dict[str, Value], seen: Value) -> ValueLike:
        """Whether the copies to other switches lose flits here."""
        return hdl.C(0)


class CopyingDecoder(BranchingDecoder):
    """Of worms with several destinations, which may go back to the switch that they came from."""

    def reaches(self, port):
        return super().reaches(port) if port >= self.links_in else list(range(self.ejection))
