"""Cells of a netlist: one small data class per kind of cell.

A *net* is one bit, and is an ``int``. Nets 0 and 1 are the constants 0 and 1. From 2 on, a net is ``cell << 16 | bit``:
bit ``bit`` of the output of ``design.cells[cell]``. The bits of the component's input ports are output bits of cell 0.
A cell's ``source`` is the ``file:line`` of the Amaranth code that made the cell, or empty.
"""

import hashlib
from dataclasses import dataclass, field

__all__ = [
    "Assignment",
    "AssignmentList",
    "AsyncRead",
    "Cell",
    "Design",
    "FlipFlop",
    "Inputs",
    "Matches",
    "Memory",
    "Net",
    "Nets",
    "Operator",
    "Part",
    "Port",
    "PriorityMatch",
    "Register",
    "SyncRead",
    "Variable",
    "WritePort",
    "cell_of",
    "net",
]

Net = int
Nets = tuple[int, ...]


def net(cell: int, bit: int) -> Net:
    """Return the number of the net that carries bit ``bit`` of ``cell``."""
    return cell << 16 | bit


def cell_of(net: Net) -> tuple[int, int]:
    """Return the cell and bit that drive ``net``, which must not be a constant."""
    return net >> 16, net & 0xFFFF


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Cell of the netlist, with ``width`` bits of output: 0 for a memory and a write port."""

    source: str
    width: int


@dataclass(frozen=True, kw_only=True)
class Inputs(Cell):
    """Cell whose output has all bits of the component's input ports."""


@dataclass(frozen=True, kw_only=True)
class Operator(Cell):
    """An operator of Amaranth's netlist: ``~ - + * & ^ | u// s% << u>> == s< b r| m`` and so on."""

    operator: str
    inputs: tuple[Nets, ...]


@dataclass(frozen=True, kw_only=True)
class Part(Cell):
    """``width`` bits of ``value`` from bit ``offset * stride`` on.

    Bits past the end of ``value`` are zeros, or copies of its highest bit if ``signed``.
    """

    value: Nets
    signed: bool
    offset: Nets
    stride: int


@dataclass(frozen=True, kw_only=True)
class Matches(Cell):
    """One bit: ``value`` equals one of ``patterns`` (most significant bit first; ``-`` matches 0 and 1)."""

    value: Nets
    patterns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PriorityMatch(Cell):
    """``inputs`` with only the first set bit kept: all other bits are 0. If ``enable`` is 0, all output bits are 0."""

    enable: Net
    inputs: Nets


@dataclass(frozen=True)
class Assignment:
    """Assignment of ``value`` to the bits from ``start`` on, where ``condition`` holds."""

    condition: Net
    start: int
    value: Nets


@dataclass(frozen=True, kw_only=True)
class AssignmentList(Cell):
    """Value ``default``, changed by each of ``assignments`` in turn."""

    default: Nets
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, kw_only=True)
class FlipFlop(Cell):
    """Register of domain ``sync``. ``data`` is the register's next value."""

    data: Nets
    init: int


@dataclass(frozen=True, kw_only=True)
class Memory(Cell):
    """Memory of ``depth`` rows of ``columns`` bits. The memory's ports are separate cells."""

    name: str
    columns: int
    depth: int
    init: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class WritePort(Cell):
    """Port that writes the bits of ``data`` selected by ``enable`` to row ``address``."""

    memory: int
    data: Nets
    address: Nets
    enable: Nets


@dataclass(frozen=True, kw_only=True)
class AsyncRead(Cell):
    """Asynchronous read port: row ``address`` of the memory; zero past the last row."""

    memory: int
    address: Nets


@dataclass(frozen=True, kw_only=True)
class SyncRead(Cell):
    """Synchronous read port: at the clock edge, its output becomes row ``address`` if ``enable`` is 1.

    The row that is read includes data that the write ports ``transparent`` write at the same clock edge.
    """

    memory: int
    address: Nets
    enable: Net
    transparent: tuple[int, ...]
    init: int


@dataclass(frozen=True)
class Port:
    """Port of the component, named by the path of its member: ``north.flit``, ``in_0.valid``.

    If the port's shape is a layout, ``fields`` has the names of its fields, such as ``north.flit.data``, with first bit
    and width of each. ``fields`` includes the fields of nested layouts.
    """

    name: str
    nets: Nets
    fields: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Register:
    """Named register or memory, and its bits.

    For a register, or the data of a synchronous read port, ``bits`` has (bit of the register, cell, bit of the cell).
    For a memory, ``bits`` is empty and ``memory`` is the memory's cell.
    """

    name: str
    width: int
    bits: tuple[tuple[int, int, int], ...] = ()
    memory: int | None = None


@dataclass(frozen=True)
class Variable:
    """Signal, row of a memory, or field of a signal or row, as a waveform shows it under one name.

    ``scope`` is the path of submodules. ``nets`` are the bits of the `Variable`: empty for the clock and for a signal
    without bits. ``labels`` are the names of the signal's values, if they have names.
    """

    scope: tuple[str, ...]
    name: str
    nets: Nets
    labels: dict[int, str] | None = None
    clock: bool = False


@dataclass(frozen=True)
class Design:
    """Flat netlist of a component: the cells of all its submodules, its ports and its registers."""

    cells: tuple[Cell, ...]
    inputs: dict[str, Port]
    outputs: dict[str, Port]
    registers: tuple[Register, ...]
    names: dict[Net, str] = field(repr=False)

    def digest(self, *beside: object) -> str:
        """Return a digest of the design and of ``beside``, without ``names`` and source lines.

        Designs that differ only in ``names`` and source lines have the same digest.
        """
        found = hashlib.sha256()
        for cell in self.cells:
            parts = [value for name, value in vars(cell).items() if name != "source"]
            found.update(f"{type(cell).__name__} {parts}\n".encode())
        found.update(repr((self.inputs, self.outputs, self.registers, beside)).encode())
        return found.hexdigest()

    def name(self, net: Net) -> str:
        """Return the name of a signal that contains ``net``, or else a description of the cell that drives ``net``."""
        if net in self.names:
            return self.names[net]
        cell, bit = cell_of(net)
        what = self.cells[cell]
        return f"bit {bit} of a {type(what).__name__} at {what.source or 'an unknown line'}"
