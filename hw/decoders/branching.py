"""Base classes of decoders for inputs that send a worm to several outputs."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from wormcast.algorithms.headers import Header

from .. import hdl
from .base import Decoder

if TYPE_CHECKING:
    from amaranth.hdl import Module, Value, ValueLike

__all__ = ["BranchingDecoder", "CopyingDecoder", "TreeDecoder"]


class BranchingDecoder(Decoder):
    """Decoder that collects information from each header flit, and then computes all outputs of a worm.

    Attributes
    ----------
    header : Header
    flits : int
        Number of header flits after which a worm's outputs are known at the latest.
    variable_length : bool
        More header flits may follow after the flit that determines the outputs, as headers have no fixed length.
    strips : int
        Header flits that the branches to other switches lose at a switch where `drops` is set.
    adaptive : bool
        The outputs to other switches may be alternatives (see `alternatives`).
    """

    header: Header
    flits: int
    variable_length = False
    strips = 0
    adaptive = False

    def leads(self, port: int) -> list[int]:
        """Return the outputs, to other switches and to nodes, that a worm from input ``port`` may take."""
        return self.reaches(port) + self.ejection_ports(port)

    def choices(self, port: int) -> list[int]:
        """Return the outputs to other switches that may be alternatives for a worm from input ``port``."""
        return [o for o in self.leads(port) if o < self.ejection] if self.adaptive else []

    @abstractmethod
    def seen(self, m: Module, port: int, straps: dict[str, Value], flit: Value, place: Value) -> Value:
        """Return the information in the header flit number ``place``. The input keeps the OR of this information over
        the header flits up to now."""

    def branches(self, m: Module, port: int, straps: dict[str, Value], seen: Value, commit: Value) -> Value:
        """Return the outputs, a bit for each of `leads`, from the collected information. Default: the information.

        ``commit`` is 1 in the cycle in which the worm's outputs are determined. When ``commit`` is 1, a decoder that
        takes outputs in turn changes to the next outputs, for the next worm.
        """
        return seen

    def alternatives(self, port: int, straps: dict[str, Value], seen: Value) -> ValueLike:
        """Return whether the outputs to other switches are alternatives: the worm leaves by one of them, a free one. If
        these outputs are no alternatives, a branch leaves by each of them. The switch asks only decoders with
        `adaptive`.
        """
        return hdl.C(0)

    def known(self, port: int, straps: dict[str, Value], seen: Value, place: Value) -> ValueLike:
        """Return whether the outputs are known when header flit number ``place`` has arrived."""
        return place == self.flits - 1

    def unreachable(self, port: int, straps: dict[str, Value], seen: Value) -> ValueLike:
        """Return whether some destination cannot be reached from here. The worm still goes to its other destinations.
        """
        return hdl.C(0)

    def branch_flit(self, m: Module, output: int, straps: dict[str, Value], table: Any, flit: Value,
               place: Value, *, sent: Value, ends: Value) -> Value | None:
        """Return the header flit number ``place`` of the branch by an output; None if the flit is not changed.

        ``table``: writes to the table of this output. The tables of outputs are numbered after those of the inputs.
        ``sent``, ``ends``: the output sends a flit in this cycle; the flit is its worm's last one.
        """
        return None

    def drops(self, port: int, straps: dict[str, Value], seen: Value) -> ValueLike:
        """Return whether the branches to other switches lose header flits here."""
        return hdl.C(0)


Table = tuple[tuple[bool, ...], ...]


class BitCell(NamedTuple):
    """Bits of a header flit that are decoded together: in each flit and for each strap value, all of them go to the
    same outputs.

    Parameters
    ----------
    bits : list of int
    goes : list of Table
        By output: True where the bits go there, for each code of a header flit and each digit that may decide.
    """

    bits: list[int]
    goes: list[Table]


class TreeDecoder(BranchingDecoder):
    """Decoder of the headers of a `TreeSwitch`.

    A buffer row has a code for each header flit, by which an output selects the bits that its branch keeps. By default
    the code is the number of the flit in its header.

    Attributes
    ----------
    codes : int
        Number of codes of header flits.
    mark : int
        Number of the bit in a worm's first header flit that requests a report.
    """

    codes: int
    mark: int

    def seen_bits(self, port: int) -> int:
        """Return the width of `seen` at an input. By default, `seen` is the outputs."""
        return len(self.leads(port))

    @abstractmethod
    def carried(self, output: int) -> list[BitCell]:
        """Return all bits of a header flit, in cells, for the branch by an output."""

    @abstractmethod
    def chosen(self, table: Table, straps: dict[str, Value], code: Value) -> Value:
        """Return 1 if the bits of a cell go to an output in the header flit with this code; ``table`` is the output's
        entry in the cell's ``goes``."""

    def code(self, seen: Value, place: Value) -> Value:
        """Return the code of header flit number ``place``, by which an output selects the bits that its branch keeps.

        ``seen`` has the bits that the decoder has collected from the header up to this flit.
        """
        return place

    def begins(self, code: Value) -> Value:
        """Return whether the header flit with this code is its worm's first one."""
        return code == 0

    def reports(self, flit: Value) -> Value:
        """Return whether the worm that begins with this header flit is to be reported."""
        return flit[self.mark]


class CopyingDecoder(BranchingDecoder):
    """Decoder of worms with several destinations, which may return to their previous switch."""

    def reaches(self, port):
        return super().reaches(port) if port >= self.links_in else list(range(self.ejection))
