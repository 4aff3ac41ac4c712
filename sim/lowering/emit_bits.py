"""Translation of a `Program` over single bits to LLVM IR.

One bit in 512 instances is one value of 512 bits, and all operations on values are bitwise. The code for 512 routers
usually has fewer operations than the code of `emit` for 64 routers. Inputs and outputs are words: input words are
converted to planes of bits before a step, and planes to output words after the step.
"""

from collections.abc import Mapping, Sequence

from .bitslice import PLANE_BYTES, PLANE_WIDTH, conversions, planes_of, used_bytes
from .graph import Node
from .phases import Phase, Store, needs, phases
from .port_words import Word
from .program import Program
from .state_layout import StateLayout

__all__ = ["emit_bits"]

TYPE = "<8 x i64>"
ONES = "splat (i64 -1)"

#: Number of operations of a phase, a part of a kernel's code.
#: Larger phases have more live values than a processor has registers; smaller ones pass more values through memory.
SIZE = 300


class _Body:
    """Code of one phase."""

    def __init__(self, layout: StateLayout, places: Mapping[str, int], phase: Phase) -> None:
        self.layout = layout
        self.places = places
        self.phase = phase
        self.lines: list[str] = []
        self.known: dict[Node, str] = {}
        self.fresh = 0
        self.read = {node.data: node for step in phase.steps for node in needs(step) if node.op == "state"}
        for step in phase.steps:
            if isinstance(step, Store):
                self.store(step)
                continue
            assert isinstance(step, Node)  # no step reads or writes a deep memory: `in_bits` refuses them
            if step in phase.kept:
                self.write(self.value(step), "between", phase.kept[step])
            else:
                self.value(step)

    def put(self, text: str) -> str:
        """Append an instruction and return the name of its value."""
        self.fresh += 1
        self.lines.append(f"  %t{self.fresh} = {text}")
        return f"%t{self.fresh}"

    def load(self, base: str, offset: int) -> str:
        """Load the value ``offset`` bytes past ``base``."""
        pointer = self.put(f"getelementptr i8, ptr %{base}, i64 {offset}")
        return self.put(f"load {TYPE}, ptr {pointer}, align 64")

    def write(self, value: str, base: str, offset: int) -> None:
        """Write a value ``offset`` bytes past ``base``."""
        pointer = self.put(f"getelementptr i8, ptr %{base}, i64 {offset}")
        self.lines.append(f"  store {TYPE} {value}, ptr {pointer}, align 64")

    def store(self, step: Store) -> None:
        """Store the next value of a slot of the state, or a bit of an output word."""
        value = self.value(step.value)
        if isinstance(step.place, int):
            if step.place in self.read:  # later steps of the phase may need the present value
                self.value(self.read[step.place])
            self.write(value, "tile", self.layout.places[step.place].offset)
        else:
            word, bit = step.place
            self.write(value, "out", PLANE_BYTES * (self.places[word] + bit))

    def value(self, node: Node) -> str:
        """Return the name of the value of ``node``.

        Arguments of ``node`` other than complements have been emitted before.
        """
        if node not in self.known:
            self.known[node] = self.made(node)
        return self.known[node]

    def made(self, node: Node) -> str:
        """Emit ``node`` and return the name of its value."""
        if node in self.phase.taken:
            return self.load("between", self.phase.taken[node])
        match node.op:
            case "const":
                return ONES if node.data else "zeroinitializer"
            case "state":
                return self.load("tile", self.layout.places[node.data].offset)
            case "input":
                word, bit = node.data
                return self.load("in", PLANE_BYTES * (self.places[word] + bit))
        args = [self.value(arg) for arg in node.args]
        match node.op:
            case "not":
                return self.put(f"xor {TYPE} {args[0]}, {ONES}")
            case "select":
                taken = self.put(f"and {TYPE} {args[0]}, {args[1]}")
                against = self.put(f"xor {TYPE} {args[0]}, {ONES}")
                left = self.put(f"and {TYPE} {against}, {args[2]}")
                return self.put(f"or {TYPE} {taken}, {left}")
        return self.put(f"{node.op} {TYPE} {args[0]}, {args[1]}")


def emit_bits(program: Program, layout: StateLayout, inputs: Mapping[str, Word], outputs: Mapping[str, Word],
              affine: bool) -> tuple[str, int]:
    """Return the LLVM IR of ``program``, and the number of bit operations of a step of one tile.

    Parameters
    ----------
    affine : bool
        See `conversions`.
    """
    # registers are stored before the rows of shallow memories, because registers read the rows' present values
    later = sorted(program.next.items(), key=lambda item: program.slots[item[0]].row is not None)
    stores = [*(Store(bit, node) for bit, node in program.outputs.items()),
              *(Store(slot, node) for slot, node in later)]
    settled = [Store(place, node) for place, node in program.settled.items()]
    step, operations = _function("step", stores, layout, inputs, outputs)
    settle, _ = _function("settle", settled, layout, {}, outputs)
    declare = "declare <64 x i8> @llvm.x86.vgf2p8affineqb.512(<64 x i8>, <64 x i8>, i8)" if affine else ""
    attributes = 'attributes #0 = { noinline nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'
    convert = conversions((*inputs.values(), *outputs.values()), affine)
    return "\n".join((convert, step, settle, declare, attributes, "")), operations


def _places(words: Mapping[str, Word]) -> tuple[dict[str, int], int]:
    """Return the number of each word's first plane (a plane: one bit of 512 instances), and the count of planes."""
    places, count = {}, 0
    for name, word in words.items():
        places[name] = count
        count += planes_of(word)
    return places, count


def _converted(what: str, block: str, words: Mapping[str, Word]) -> list[str]:
    """Return the calls that turn the words of a block into planes (one bit of 512 instances), or planes into words."""
    lines = []
    places, _ = _places(words)
    for name, word in words.items():
        size = word.dtype.itemsize
        for part in range(word.parts):
            first, used = places[name] + 64 * part, used_bytes(word, part)
            mark = f"%{block}_{places[name]}_{part}"
            lines += [
                f"  {mark}_a = mul i64 %n, {word.per_instance + part * size}",
                f"  {mark}_b = getelementptr i8, ptr %{block}, i64 {mark}_a",
                f"  {mark}_c = getelementptr i{8 * size}, ptr {mark}_b, i64 %i",
            ]
            for byte in range(used if what == "planes" else 1):
                start = PLANE_BYTES * (first + 8 * byte)
                lines.append(f"  {mark}_{byte} = getelementptr i8, ptr %{block}_planes, i64 {start}")
                function, shift = (f"planes_{size}", f", i{8 * size} {8 * byte}") if what == "planes" else (
                    f"words_{size}x{used}", "")
                lines.append(f"  call void @{function}(ptr {mark}_c, ptr {mark}_{byte}{shift})")
    return lines


def _function(name: str, stores: Sequence[Store], layout: StateLayout, inputs: Mapping[str, Word],
              outputs: Mapping[str, Word]) -> tuple[str, int]:
    """Return a function over all tiles with its phases in LLVM IR, and its number of operations for one tile."""
    (in_places, in_planes), (out_places, out_planes) = _places(inputs), _places(outputs)
    cut, between = phases(stores, SIZE, lambda _: PLANE_BYTES)
    texts, calls = [], []
    for number, phase in enumerate(cut):
        body = _Body(layout, {**in_places, **out_places}, phase)
        parameters = ", ".join(f"ptr noalias %{what}" for what in ("tile", "in", "out", "between"))
        texts += [f"define internal void @{name}_{number}({parameters}) #0 {{", *body.lines, "  ret void", "}"]
        calls.append(f"  call void @{name}_{number}(ptr %tile, ptr %in_planes, ptr %out_planes, ptr %between)")
    unused = [PLANE_BYTES * (out_places[word.name] + bit)
              for word in outputs.values() for bit in range(word.bits, planes_of(word))]
    zeros = [line for at in unused for line in (
        f"  %zero_{at} = getelementptr i8, ptr %out_planes, i64 {at}",
        f"  store {TYPE} zeroinitializer, ptr %zero_{at}, align 64")]
    sizes = {"in_planes": PLANE_BYTES * in_planes, "out_planes": PLANE_BYTES * out_planes, "between": between}
    room = [f"  %{what} = alloca i8, i64 {max(size, 1)}, align 64" for what, size in sizes.items()]
    texts.append(f"""
define void @{name}(ptr noalias %state, ptr noalias %in, ptr noalias %out, i64 %n) #0 {{
entry:
{chr(10).join([*room, *zeros])}
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %loop ]
  %tile = phi ptr [ %state, %entry ], [ %next, %loop ]
{chr(10).join([*_converted("planes", "in", inputs), *calls, *_converted("words", "out", outputs)])}
  %following = add nuw nsw i64 %i, {PLANE_WIDTH}
  %next = getelementptr i8, ptr %tile, i64 {layout.tile_bytes}
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
""")
    return "\n".join(texts), sum(isinstance(step, Node) for phase in cut for step in phase.steps)
