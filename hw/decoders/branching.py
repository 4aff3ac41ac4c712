"""What a decoder offers to inputs that send a worm by any number of outputs."""

from abc import abstractmethod

from amaranth.hdl import Module, Value

from wormcast.algorithms.headers import Header

from .base import Decoder

__all__ = ["BranchingDecoder"]


class BranchingDecoder(Decoder):
    """Finds the outputs of a worm flit by flit: what each header flit shows is collected, and then says them all.

    Attributes
    ----------
    header : Header
    flits : int
        Header flits after which a worm's outputs are known.
    """

    header: Header
    flits: int

    @abstractmethod
    def leads(self, port: int) -> list[int]:
        """Outputs, to other switches and to nodes, that a worm from input ``port`` may take."""

    @abstractmethod
    def seen(self, m: Module, port: int, straps: dict[str, Value], flit: Value, place: Value) -> Value:
        """What the header flit at a place shows; of all flits up to it the OR is kept."""

    @abstractmethod
    def branches(self, port: int, seen: Value) -> Value:
        """The outputs, a bit for each of `leads`, by what all header flits have shown."""
