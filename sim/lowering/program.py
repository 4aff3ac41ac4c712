"""Expressions for the state and the outputs after one clock cycle, from which a kernel is compiled."""

from dataclasses import dataclass

from .graph import Graph, Node

__all__ = ["Program", "Read", "Slot", "Write"]


@dataclass(frozen=True)
class Slot:
    """Piece of state: ``width`` bits of ``cell`` from bit ``low`` on.

    In a memory, a slot has bits of row ``row`` (shallow memory) or of all ``depth`` rows (deep memory). ``init``
    holds one initial value, for a deep memory one per row.
    """

    cell: int
    low: int
    width: int
    init: tuple[int, ...]
    row: int | None = None
    depth: int = 0


@dataclass(frozen=True)
class Read:
    """Read of a deep memory at the clock edge, in instances in which ``enable`` holds.

    Register ``into`` gets row ``address`` of ``slot``, zero past the last row. A read returns the row as it was before
    all `Write` of the same cycle.
    """

    into: int
    slot: int
    address: Node
    enable: Node


@dataclass(frozen=True)
class Write:
    """Write to a deep memory: ``data`` to row ``address`` of ``slot``, in instances in which ``enable`` holds."""

    slot: int
    address: Node
    enable: Node
    data: Node


@dataclass(frozen=True)
class Program:
    """All computations of a cycle.

    ``next`` has the new values of the slots of state of registers and shallow memories. ``reads`` copy rows of deep
    memories to registers, and ``writes`` change rows of deep memories. ``outputs`` are the output words after the clock
    edge that ends the cycle. ``settled`` are the output words as functions of the present state, for use after
    registers were written from outside.
    """

    graph: Graph
    slots: list[Slot]
    next: dict[int, Node]
    reads: list[Read]
    writes: list[Write]
    outputs: dict[tuple[str, int], Node]
    settled: dict[tuple[str, int], Node]
