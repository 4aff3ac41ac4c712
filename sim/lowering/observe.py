"""Compilation of a component and its kernel to an observer."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wormcast.algorithms.errors import nearest

from . import machine
from .cells import Design, FlipFlop, Memory, Nets, SyncRead, Variable
from .dataflow import Moment, Scene, State
from .emit import emit_observer
from .errors import LoweringError
from .graph import Graph, Node
from .kernel import Kernel
from .observer import Observer, ShownSignal
from .port_words import PART, Word, group, narrowest
from .program import Program
from .slicing import Pieces
from .state_layout import StateLayout, StateLocation
from .translate import cut, input_places

__all__ = ["observe", "observe_design", "select"]


def observe(component: Any, kernel: Kernel, signals: Sequence[str] | None = None) -> Observer:
    """Compile an observer of ``component`` for the blocks of ``kernel``, which was made from an equal component.

    The observer reads state at the places in the kernel's layout.

    Parameters
    ----------
    signals : sequence of str, optional
        See `select`. Default: all signals.

    Raises
    ------
    LoweringError
        The kernel lacks a register or memory of the component, or has one of another width; or the component lacks one
        of ``signals``.
    """
    from . import netlist  # imports Amaranth

    design, variables = netlist.read_visible(component)
    return observe_design(design, variables if signals is None else select(variables, signals, kernel.name), kernel)


def select(variables: tuple[Variable, ...], signals: Sequence[str], component: str) -> tuple[Variable, ...]:
    """Return the variables with some names, in the order of the names.

    Parameters
    ----------
    signals : sequence of str
        Path of submodules and name of each signal, joined by dots.
    component : str
        Name of the component, for the error.

    Raises
    ------
    LoweringError
        There is no such signal.
    """
    known = {_path(variable): variable for variable in variables}
    for name in signals:
        if name not in known:
            raise LoweringError(f"{name!r} is not a signal of {component}.{nearest(name, known)}")
    return tuple(known[name] for name in signals)


def observe_design(design: Design, variables: tuple[Variable, ...], kernel: Kernel) -> Observer:
    """Compile an observer that computes ``variables`` of ``design``, both from `netlist.read_visible`.

    Errors are as for `observe`.
    """
    started = time.perf_counter()
    _, inputs = group(design.inputs, {name: list(word.ports) for name, word in kernel.inputs.items()}, "inputs")
    shown = {variable.nets: _path(variable) for variable in reversed(variables) if variable.nets}
    words = _words(shown)
    program, layout = _translate(design, inputs, {name: nets for nets, name in shown.items()}, kernel)
    text = emit_observer(program, layout, kernel.inputs, words, kernel.vector_width)
    return Observer(
        name=kernel.name,
        words=words,
        signals=tuple(_signal(variable, shown) for variable in variables),
        tile_bytes=kernel.tile_bytes,
        vector_width=kernel.vector_width,
        code=machine.assemble(machine.compile_ir(text), flag_blocks=True),
        compile_seconds=time.perf_counter() - started,
    )


def _path(variable: Variable) -> str:
    return ".".join((*variable.scope, variable.name))


def _signal(variable: Variable, shown: dict[Nets, str]) -> ShownSignal:
    return ShownSignal(
        scope=variable.scope,
        name=variable.name,
        width=1 if variable.clock else len(variable.nets),
        word=shown.get(variable.nets),
        labels=variable.labels,
        clock=variable.clock,
    )


def _words(shown: dict[Nets, str]) -> dict[str, Word]:
    """Lay out a word for each name, the largest first, so that all are aligned."""
    words = [Word(name, len(nets), narrowest(len(nets)), -(-len(nets) // PART), 0, {name: (0, len(nets))})
             for nets, name in shown.items()]
    placed: dict[str, Word] = {}
    offset = 0
    for word in sorted(words, key=lambda word: -word.bytes):
        placed[word.name] = replace(word, per_instance=offset)
        offset += word.bytes
    return placed


def _translate(
    design: Design, inputs: dict[str, Nets], shown: dict[str, Nets], kernel: Kernel
) -> tuple[Program, StateLayout]:
    """Return a program that computes the words ``shown`` from the present state and inputs, and the state's layout."""
    places = input_places(inputs)
    graph = Graph()
    held = _Held(design, kernel, graph)
    sources = cut(design, places, held.deep, shown.values())
    scene = Scene(design, sources, graph, places, held.deep)
    settled = Moment(scene, held.state(sources.pieces)).words(shown)
    layout = StateLayout(tuple(held.slots), kernel.tile_bytes)
    return Program(graph=graph, slots=[], next={}, reads=[], writes=[], outputs={}, settled=settled), layout


class _Held:
    """State that a kernel keeps of a component's registers and memories, bit by bit.

    Members
    -------
    slots : dict of StateLocation to its number
    deep : as in `Scene`
    """

    def __init__(self, design: Design, kernel: Kernel, graph: Graph) -> None:
        self.design = design
        self.graph = graph
        self.slots: dict[StateLocation, int] = {}
        self.deep: dict[int, list[tuple[int, int, int]]] = {}
        self.nodes: dict[tuple[int, int | None, int], Node] = {}
        for register in design.registers:
            kept = kernel.state.get(register.name)
            if kept is None or kept.width != register.width or (kept.depth is None) != (register.memory is None):
                raise LoweringError(f"kernel: {kernel.name} is not valid: it has no {register.name!r} of "
                                    f"{register.width} bits. Allowed: a kernel of the same component.")
            cells = {at: (cell, bit) for at, cell, bit in register.bits}
            for piece in kept.pieces:
                for row, place in enumerate(piece.places):
                    slot = self.slots.setdefault(place, len(self.slots))
                    if place.depth:
                        self.deep.setdefault(_memory(register.memory), []).append((piece.low, piece.width, slot))
                        continue
                    number = graph.node("state", place.bits, (), slot)
                    for at in range(piece.low, piece.low + piece.width):
                        node = graph.slice(number, piece.shift + at - piece.low, 1)
                        if register.memory is None:
                            cell, bit = cells[at]
                            self.nodes[cell, None, bit] = node
                        else:
                            self.nodes[register.memory, row, at] = node

    def state(self, pieces: Pieces) -> State:
        """Return the graph node of each piece of a register, and of each row of a shallow memory."""
        found: State = {}
        for index, cell in enumerate(self.design.cells):
            rows: Sequence[int | None] = ()
            if isinstance(cell, FlipFlop | SyncRead):
                rows = (None,)
            elif isinstance(cell, Memory) and index not in self.deep:
                rows = range(cell.depth)
            for low, high in pieces.of(index) if rows else ():
                for row in rows:
                    found[index, low, row] = self.graph.concat(self.nodes[index, row, bit] for bit in range(low, high))
        return found


def _memory(cell: int | None) -> int:
    assert cell is not None
    return cell
