"""What a component is made of: one small data class per kind of cell.

A *net* is one bit, and is an ``int``: 0 and 1 are the constants, every other net is
``cell << 16 | bit``, bit ``bit`` of the output of ``design.cells[cell]``. Cell 0 drives the input ports.
``source`` is ``file:line``, or empty.
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
    """Number of the net that carries bit ``bit`` of ``cell``."""
    return cell << 16 | bit


def cell_of(net: Net) -> tuple[int, int]:
    """Cell and bit that drive ``net``, which is no constant."""
    return net >> 16, net & 0xFFFF


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Anything in the netlist; ``width`` bits of output, none for a memory or its write port."""

    source: str
    width: int


@dataclass(frozen=True, kw_only=True)
class Inputs(Cell):
    """The input ports, side by side."""


@dataclass(frozen=True, kw_only=True)
class Operator(Cell):
    """An operator of Amaranth's netlist: ``~ - + * & ^ | u// s% << u>> == s< b r| m`` and so on."""

    operator: str
    inputs: tuple[Nets, ...]


@dataclass(frozen=True, kw_only=True)
class Part(Cell):
    """``width`` bits of ``value`` from bit ``offset * stride``; beyond its end zeros, or the sign."""

    value: Nets
    signed: bool
    offset: Nets
    stride: int


@dataclass(frozen=True, kw_only=True)
class Matches(Cell):
    """One bit: ``value`` equals one of ``patterns`` (most significant first, ``-`` is any)."""

    value: Nets
    patterns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PriorityMatch(Cell):
    """The first of ``inputs`` that is set stays, the others are cleared; all are without ``enable``."""

    enable: Net
    inputs: Nets


@dataclass(frozen=True)
class Assignment:
    """``value`` goes to the bits from ``start`` where ``condition`` holds."""

    condition: Net
    start: int
    value: Nets


@dataclass(frozen=True, kw_only=True)
class AssignmentList(Cell):
    """``default``, then each of ``assignments`` in turn."""

    default: Nets
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, kw_only=True)
class FlipFlop(Cell):
    """A register of domain ``sync``; ``data`` is its next value."""

    data: Nets
    init: int


@dataclass(frozen=True, kw_only=True)
class Memory(Cell):
    """``depth`` rows of ``columns`` bits; its ports are cells of their own."""

    name: str
    columns: int
    depth: int
    init: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class WritePort(Cell):
    """Writes the bits of ``data`` that ``enable`` names to row ``address``."""

    memory: int
    data: Nets
    address: Nets
    enable: Nets


@dataclass(frozen=True, kw_only=True)
class AsyncRead(Cell):
    """Row ``address`` of the memory, zero past the end."""

    memory: int
    address: Nets


@dataclass(frozen=True, kw_only=True)
class SyncRead(Cell):
    """Row ``address`` a cycle later; ``transparent`` are the write ports whose data it sees at once."""

    memory: int
    address: Nets
    enable: Net
    transparent: tuple[int, ...]
    init: int


@dataclass(frozen=True)
class Port:
    """One port of the component, named by the path of its member: ``north.flit``, ``in_0.valid``.

    Where its shape is a layout, ``fields`` are the names, first bits and widths of the fields in it, those
    of nested layouts too: ``north.flit.data``.
    """

    name: str
    nets: Nets
    fields: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Register:
    """A name that a person knows and the bits behind it.

    ``bits`` holds ``(bit of the name, cell, bit of the cell)`` for a register or the data of a synchronous
    read port; a memory has ``memory``, its cell, instead.
    """

    name: str
    width: int
    bits: tuple[tuple[int, int, int], ...] = ()
    memory: int | None = None


@dataclass(frozen=True)
class Variable:
    """What a waveform shows under one name: a signal, a field of one, or a row of a memory.

    ``scope`` is the path of submodules, ``nets`` are its bits: none for the clock, and for a signal of no bits.
    ``labels`` are the names of its values where they have names.
    """

    scope: tuple[str, ...]
    name: str
    nets: Nets
    labels: dict[int, str] | None = None
    clock: bool = False


@dataclass(frozen=True)
class Design:
    """One component, flattened."""

    cells: tuple[Cell, ...]
    inputs: dict[str, Port]
    outputs: dict[str, Port]
    registers: tuple[Register, ...]
    names: dict[Net, str] = field(repr=False)

    def digest(self, *beside: object) -> str:
        """Digest of all but ``names`` and the lines of cells, and of data beside it: one for designs that act alike."""
        found = hashlib.sha256()
        for cell in self.cells:
            parts = [value for name, value in vars(cell).items() if name != "source"]
            found.update(f"{type(cell).__name__} {parts}\n".encode())
        found.update(repr((self.inputs, self.outputs, self.registers, beside)).encode())
        return found.hexdigest()

    def name(self, net: Net) -> str:
        """Name of a signal that ``net`` is a bit of, or what drives it, for messages."""
        if net in self.names:
            return self.names[net]
        cell, bit = cell_of(net)
        what = self.cells[cell]
        return f"bit {bit} of a {type(what).__name__} at {what.source or 'an unknown line'}"
