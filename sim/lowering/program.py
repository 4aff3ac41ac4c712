"""Computation of one clock cycle."""

from dataclasses import dataclass

from .graph import Graph, Node

__all__ = ["Program", "Read", "Slot", "Write"]


@dataclass(frozen=True)
class Slot:
    """Piece of state: ``width`` bits of ``cell`` from bit ``low`` on.

    For a memory, they are bits of row ``row`` (shallow memory) or of all ``depth`` rows (deep memory). ``init`` holds
    one initial value, or one per row.
    """

    cell: int
    low: int
    width: int
    init: tuple[int, ...]
    row: int | None = None
    depth: int = 0


@dataclass(frozen=True)
class Read:
    """Read of a deep memory at the clock edge, where ``enable`` holds.

    Register ``into`` gets row ``address`` of ``slot``, zero past the last row. A read returns the rows before any
    `Write` of the same cycle.
    """

    into: int
    slot: int
    address: Node
    enable: Node


@dataclass(frozen=True)
class Write:
    """Write to a deep memory: ``data`` to row ``address`` of ``slot`` where ``enable`` holds."""

    slot: int
    address: Node
    enable: Node
    data: Node


@dataclass(frozen=True)
class Program:
    """All steps of a cycle.

    Registers and shallow memories get the values ``next`` or ``reads``, deep memories ``writes``; then ``outputs`` are
    computed. ``settled`` are the outputs as functions of the present state, for use after registers were written from
    outside.
    """

    graph: Graph
    slots: list[Slot]
    next: dict[int, Node]
    reads: list[Read]
    writes: list[Write]
    outputs: dict[tuple[str, int], Node]
    settled: dict[tuple[str, int], Node]
