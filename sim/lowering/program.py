"""What one clock cycle computes."""

from dataclasses import dataclass

from .graph import Graph, Node

__all__ = ["Program", "Read", "Slot", "Write"]


@dataclass(frozen=True)
class Slot:
    """A piece of state: bits ``low`` to ``low + width`` of ``cell``, of row ``row`` of a shallow memory, or of
    all ``depth`` rows of a deep one. ``init`` holds one value, or one per row."""

    cell: int
    low: int
    width: int
    init: tuple[int, ...]
    row: int | None = None
    depth: int = 0


@dataclass(frozen=True)
class Read:
    """A read of a deep memory at the clock edge: register ``into`` takes row ``address`` of ``slot``, zero past the
    end, where ``enable`` holds. It sees the rows as they were before any `Write`."""

    into: int
    slot: int
    address: Node
    enable: Node


@dataclass(frozen=True)
class Write:
    """A write to a deep memory: ``data`` to row ``address`` of ``slot`` where ``enable`` holds."""

    slot: int
    address: Node
    enable: Node
    data: Node


@dataclass(frozen=True)
class Program:
    """All that a cycle does: registers take ``next`` or ``reads``, deep memories ``writes``, then ``outputs`` are made.

    ``settled`` are the outputs as functions of the present state, for use after somebody changed it.
    """

    graph: Graph
    slots: list[Slot]
    next: dict[int, Node]
    reads: list[Read]
    writes: list[Write]
    outputs: dict[tuple[str, int], Node]
    settled: dict[tuple[str, int], Node]
