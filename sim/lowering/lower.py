"""Compilation of a component to a kernel."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from . import machine
from .bits import in_bits
from .bitslice import PLANE_WIDTH
from .cells import Design, Memory
from .emit import emit
from .emit_bits import emit_bits
from .errors import LoweringError
from .kernel import Field, Kernel, Piece
from .port_words import group
from .program import Program
from .state_layout import StateLayout, lay_out
from .translate import translate

__all__ = ["lower", "lower_design"]

WIDTHS = (16, 32, 64, PLANE_WIDTH)


def lower(
    component: Any,
    *,
    inputs: Mapping[str, Sequence[str]],
    outputs: Mapping[str, Sequence[str]],
    name: str = "top",
    vector_width: int | None = None,
) -> Kernel:
    """Compile ``component`` to a kernel that steps all its instances at once.

    Parameters
    ----------
    component : an elaboratable with a ``signature``
        The component's ports are named by their path: members joined by dots, dimensions by underscores, as in
        ``north.flit`` or ``in_0.valid``. If the shape of a port is a layout, its fields may be named instead:
        ``north.flit.data``. Words that hold one port of several bits, or ports of one bit only, need no shifting and
        are faster.
    inputs, outputs : dict of word name to port names
        Ports of one word are side by side, the first at bit 0; see `Word`. Every bit of every port must be in exactly
        one word; only the padding of layouts may be left out.
    name : str
        Name of the kernel in messages.
    vector_width : 16, 32, 64 or 512
        Number of instances per pass. By default, the width is the number of bytes in this processor's vector registers.
        With a width of 512, every bit of 512 instances is a vector, which is faster per instance for routers in blocks
        of hundreds of instances. A width of 512 excludes deep memories.

    Raises
    ------
    LoweringError
        A bit of a port is in no word or in two words; an output depends on an input in the same cycle; or a cell cannot
        be lowered.
    """
    from . import netlist  # imports Amaranth

    return lower_design(netlist.read(component), inputs=inputs, outputs=outputs, name=name, vector_width=vector_width)


def lower_design(
    design: Design,
    *,
    inputs: Mapping[str, Sequence[str]],
    outputs: Mapping[str, Sequence[str]],
    name: str = "top",
    vector_width: int | None = None,
) -> Kernel:
    """Compile an elaborated component. Parameters other than ``design``, and errors, are as for `lower`."""
    started = time.perf_counter()
    width = machine.vector_bytes() if vector_width is None else vector_width
    if width not in WIDTHS:
        raise LoweringError(f"vector_width: {width} is not valid. Allowed: 16, 32, 64 or 512 instances.")
    input_words, input_nets = group(design.inputs, inputs, "inputs")
    output_words, output_nets = group(design.outputs, outputs, "outputs")
    program = translate(design, input_nets, output_nets, whole=width != PLANE_WIDTH)
    if width == PLANE_WIDTH:
        program = in_bits(program)
    layout = lay_out(program.slots, width)
    if width == PLANE_WIDTH:
        text, operations = emit_bits(program, layout, input_words, output_words, machine.affine())
    else:
        text, operations = emit(program, layout, input_words, output_words, width)
    code = machine.assemble(machine.compile_ir(text), flag_blocks=width != PLANE_WIDTH)
    return Kernel(
        name=name,
        inputs=input_words,
        outputs=output_words,
        state=_fields(design, program, layout),
        tile_bytes=layout.tile_bytes,
        vector_width=width,
        operations=operations,
        compile_seconds=time.perf_counter() - started,
        code=code,
    )


def _fields(design: Design, program: Program, layout: StateLayout) -> dict[str, Field]:
    """Return each register and memory by name, with the places of its bits in a tile."""
    slots: dict[int, list[int]] = {}
    for index, slot in enumerate(program.slots):
        slots.setdefault(slot.cell, []).append(index)
    fields: dict[str, Field] = {}
    for register in design.registers:
        pieces = []
        if register.memory is not None:
            memory = design.cells[register.memory]
            assert isinstance(memory, Memory)
            columns: dict[int, list[int]] = {}
            for index in slots.get(register.memory, ()):
                columns.setdefault(program.slots[index].low, []).append(index)
            for low, indices in columns.items():
                init = tuple(value for index in indices for value in program.slots[index].init)
                places = tuple(layout.places[index] for index in indices)
                pieces.append(Piece(low, program.slots[indices[0]].width, 0, places, init))
            fields[register.name] = Field(register.name, register.width, memory.depth, tuple(pieces))
            continue
        bits = {(cell, bit): at for at, cell, bit in register.bits}
        for cell in dict.fromkeys(cell for _, cell, _ in register.bits):
            for index in slots.get(cell, ()):
                slot = program.slots[index]
                # run: consecutive bits of the slot that are consecutive in the register, too
                run: list[tuple[int, int]] = []
                for bit in range(slot.low, slot.low + slot.width + 1):
                    at = bits.get((cell, bit), -1)
                    if bit == slot.low + slot.width:
                        at = -1
                    if run and at != run[-1][1] + 1:
                        first, low = run[0]
                        mask = (1 << len(run)) - 1
                        shift = first - slot.low
                        init = (slot.init[0] >> shift & mask,)
                        pieces.append(Piece(low, len(run), shift, (layout.places[index],), init))
                        run = []
                    if at >= 0:
                        run.append((bit, at))
        fields[register.name] = Field(register.name, register.width, None, tuple(pieces))
    return fields
