"""Translation of a `Program` to LLVM IR.

A kernel has two functions with the same parameters, ``step`` and ``settle``. Each function is a loop over tiles of
``vector_width`` instances that calls one phase after the other (see `phases`). An observer, which computes the signals
that a waveform shows, has one function, for one tile. A phase is straight-line code, apart from loops for ports of deep
memories. A value of one bit is a *flag*: the flags of a tile's instances are the bits of one integer. Flags are
computed in scalar units, because a processor has more scalar units than units for vector masks. A value of several bits
is a vector with 8, 16, 32 or 64 bits per instance, the least number that suffices.

Runs of steps on flags are basic blocks of their own (`flag_runs`), because LLVM can select their instructions fast
(`machine.assemble`).

Writes to a deep memory, and copies of its rows to registers, are loops over the instances that enable the port in the
cycle. Few instances enable a port in a cycle, and vector gathers and scatters are slow on all processors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

from .graph import Node
from .phases import Move, Phase, Step, Store, flag_runs, needs, phases
from .port_words import Word
from .program import Program, Read, Write
from .state_layout import StateLayout, element_bits

__all__ = ["INSTRUCTIONS", "emit", "emit_observer"]

#: Steps of a phase. LLVM takes longer for larger phases; smaller phases pass more values on through memory.
#: Kernels with phases of 300 to 1000 steps run equally fast.
SIZE = 700


@dataclass(frozen=True)
class Blocks:
    """Memory that a kernel works on: the state, and the input and output words.

    The state is stored in tiles of ``vector_width`` instances.
    """

    layout: StateLayout
    inputs: Mapping[str, Word]
    outputs: Mapping[str, Word]
    vector_width: int


class Body:
    """Code of one phase for one tile."""

    def __init__(self, blocks: Blocks, phase: Phase) -> None:
        self.phase = phase
        self.layout = blocks.layout
        self.inputs = blocks.inputs
        self.outputs = blocks.outputs
        self.vector_width = blocks.vector_width
        self.lines: list[str] = []
        self.known: dict[Node, str] = {}
        self.masks: dict[Node, str] = {}
        self.cut: dict[tuple[Node, int, int], str] = {}
        self.intrinsics: set[str] = set()
        self.operations = 0
        self.fresh = 0
        self.block = "body"
        self.spilled: dict[Node, str] = {}
        self.allocas: list[str] = []
        self.read = {node.data: node for step in phase.steps for node in needs(step) if node.op == "state"}
        for number, (_, run) in enumerate(flag_runs(phase.steps)):
            if number:
                # a mask would be widened to cross from one block to the next
                self.masks.clear()
                self.block = f"part{number}"
                self.lines += [f"  br label %{self.block}", f"{self.block}:"]
            for step in run:
                self.do(step)

    def do(self, step: Step) -> None:
        """Emit one step."""
        match step:
            case Node():
                value = self.value(step)
                if step in self.phase.kept:
                    self.store(self.kind(step), value, self.address("%between", self.phase.kept[step]),
                               self.value_align(step))
            case Store(place=int(slot), value=node):
                self.store_state(slot, node)
            case Store(place=(name, part), value=node):
                self.store_word(name, part, node)
            case Write():
                self.write(step)
            case tuple():
                self.reads(step)

    def type(self, bits: int) -> str:
        """Return the vector type of ``bits`` bits per instance."""
        return f"<{self.vector_width} x i{bits}>"

    def kind(self, node: Node) -> str:
        """Return the LLVM type of the values of ``node``."""
        return f"i{self.vector_width}" if node.width == 1 else self.type(element_bits(node.width))

    def put(self, text: str) -> str:
        """Append an instruction and return the name of its value."""
        self.fresh += 1
        self.operations += 1
        self.lines.append(f"  %t{self.fresh} = {text}")
        return f"%t{self.fresh}"

    def splat(self, value: int, bits: int) -> str:
        """Return a vector constant, equal in all instances."""
        return f"splat (i{bits} {value})" if value else "zeroinitializer"

    def masked(self, value: str, width: int, bits: int) -> str:
        """Clear the bits of ``value`` from ``width`` on."""
        if width == bits:
            return value
        return self.put(f"and {self.type(bits)} {value}, {self.splat((1 << width) - 1, bits)}")

    def resize(self, value: str, old: int, new: int) -> str:
        """Convert ``value`` to elements of ``new`` bits: truncate, or fill with zeros."""
        if old == new:
            return value
        return self.put(f"{'zext' if new > old else 'trunc'} {self.type(old)} {value} to {self.type(new)}")

    def flags(self, node: Node, mask: str) -> str:
        """Return the flags of ``node`` as one integer, given its value as a vector of ``i1``."""
        self.masks[node] = mask
        return self.put(f"bitcast {self.type(1)} {mask} to i{self.vector_width}")

    def bit(self, node: Node, value: str, bits: int, bit: int) -> str:
        """Return the flags of ``node``: bit ``bit`` of each element of ``value``."""
        alone = self.put(f"and {self.type(bits)} {value}, {self.splat(1 << bit, bits)}")
        return self.flags(node, self.put(f"icmp ne {self.type(bits)} {alone}, zeroinitializer"))

    def mask(self, node: Node) -> str:
        """Return the flags of ``node`` as a vector of ``i1``."""
        if node not in self.masks:
            self.masks[node] = self.put(f"bitcast i{self.vector_width} {self.known[node]} to {self.type(1)}")
        return self.masks[node]

    def window(self, node: Node, low: int, width: int) -> tuple[str, int, int]:
        """Return a vector with ``width`` bits of ``node`` from bit ``low`` on, in elements as narrow as possible.

        Returns the vector, the width of its elements in bits, and the position of bit ``low`` in an element. Calls for
        neighbouring bits of a node may return the same vector.
        """
        value, bits = self.known[node], element_bits(node.width)
        base = 0
        for smaller in (32, max(element_bits(width), 8)):
            start = (low - base) // smaller * smaller if smaller == 32 else (low - base) // 8 * 8
            if smaller < bits and low - base + width <= start + smaller:
                base += start
                value = self.cut.setdefault((node, smaller, base), "") or self.narrowed(value, bits, start, smaller)
                self.cut[node, smaller, base] = value
                bits = smaller
        return value, bits, low - base

    def narrowed(self, value: str, bits: int, start: int, smaller: int) -> str:
        """Return the bits of ``value`` from ``start`` on, in elements of ``smaller`` bits."""
        if start:
            value = self.put(f"lshr {self.type(bits)} {value}, {self.splat(start, bits)}")
        return self.resize(value, bits, smaller)

    def widened(self, node: Node, bits: int) -> str:
        """Return the vector of ``node`` in elements of ``bits`` bits."""
        if node.width == 1:
            return self.put(f"zext {self.type(1)} {self.mask(node)} to {self.type(bits)}")
        return self.resize(self.known[node], element_bits(node.width), bits)

    def address(self, base: str, offset: int) -> str:
        """Return a pointer ``offset`` bytes past ``base``."""
        self.fresh += 1
        self.lines.append(f"  %t{self.fresh} = getelementptr i8, ptr {base}, i64 {offset}")
        return f"%t{self.fresh}"

    def value(self, node: Node) -> str:
        """Return the name of the value of ``node``. Emit its arguments first."""
        stack = [node]
        while stack:
            top = stack[-1]
            if top in self.known:
                stack.pop()
                continue
            if top in self.phase.taken:
                pointer = self.address("%between", self.phase.taken[top])
                self.known[top] = self.put(f"load {self.kind(top)}, ptr {pointer}, align {self.value_align(top)}")
                stack.pop()
                continue
            missing = [arg for arg in top.args if arg not in self.known]
            if missing:
                stack += reversed(missing)
                continue
            self.known[top] = INSTRUCTIONS[top.op](self, top)
            stack.pop()
        return self.known[node]

    def store(self, kind: str, value: str, pointer: str, align: int) -> None:
        """Store a vector, or flags."""
        self.operations += 1
        self.lines.append(f"  store {kind} {value}, ptr {pointer}, align {align}")

    def align(self, bits: int) -> int:
        """Return the alignment in bytes, at most 64, of a row of ``vector_width`` numbers with ``bits`` bits each."""
        return min(64, self.vector_width * bits // 8)

    def value_align(self, node: Node) -> int:
        """Return the alignment in bytes of a value in the memory between phases."""
        return self.align(element_bits(node.width))

    def store_state(self, slot: int, node: Node) -> None:
        """Store the next value of a slot of the state. Before storing, load the slot's present value if a step of the
        phase needs it."""
        self.value(node)
        if slot in self.read:
            self.value(self.read[slot])
        place = self.layout.places[slot]
        pointer = self.address("%tile", place.offset)
        self.store(self.kind(node), self.known[node], pointer, self.align(place.bits))

    def store_word(self, name: str, part: int, node: Node) -> None:
        """Store part ``part`` of output word ``name``."""
        word = self.outputs[name]
        bits = 8 * word.dtype.itemsize
        self.value(node)
        pointer = self.word_pointer("out", word, part)
        self.store(self.type(bits), self.widened(node, bits), pointer, self.align(bits))

    def word_pointer(self, block: str, word: Word, part: int) -> str:
        """Return a pointer to this tile's instances in a part of a word.

        In a block, the parts of all words follow one another. Each part is an array of all instances.
        """
        column = word.per_instance + part * word.dtype.itemsize
        self.fresh += 3
        a, b, c = (f"%t{self.fresh - k}" for k in (2, 1, 0))
        self.lines.append(f"  {a} = mul i64 %n, {column}")
        self.lines.append(f"  {b} = getelementptr i8, ptr %{block}, i64 {a}")
        self.lines.append(f"  {c} = getelementptr i{8 * word.dtype.itemsize}, ptr {b}, i64 %i")
        return c

    def elements(self, slot: int, address: Node) -> str:
        """Return pointers to row ``address`` of a deep memory, for each instance."""
        place = self.layout.places[slot]
        row = self.widened(address, 32)
        first = ", ".join(f"i32 {index * place.depth}" for index in range(self.vector_width))
        index = self.put(f"add {self.type(32)} {row}, <{first}>")
        base = self.address("%tile", place.offset)
        return self.put(f"getelementptr i{place.bits}, ptr {base}, {self.type(32)} {index}")

    def spill(self, node: Node) -> None:
        """Store a vector in memory, so that its elements can be read one by one."""
        if node not in self.spilled:
            bits = max(8, element_bits(node.width))
            self.value(node)
            value = self.widened(node, bits)
            self.spilled[node] = f"%kept{len(self.allocas)}"
            self.allocas.append(f"  {self.spilled[node]} = alloca {self.type(bits)}, align 64")
            self.store(self.type(bits), value, self.spilled[node], 64)

    def element(self, node: Node, instance: str, bits: int) -> str:
        """Return the element of one instance, stored by `spill`, as a number of ``bits`` bits."""
        kept = max(8, element_bits(node.width))
        return self.resized(self.loaded(self.spilled[node], kept, instance), kept, bits)

    def resized(self, value: str, old: int, new: int) -> str:
        """Convert a number to ``new`` bits: truncate, or fill with zeros."""
        return value if old == new else self.put(f"{'zext' if new > old else 'trunc'} i{old} {value} to i{new}")

    def loaded(self, base: str, bits: int, place: str) -> str:
        """Load element ``place`` of an array whose numbers have ``bits`` bits."""
        return self.put(f"load i{bits}, ptr {self.put(f'getelementptr i{bits}, ptr {base}, i64 {place}')}")

    @contextmanager
    def each(self, flags: str) -> Iterator[str]:
        """Emit a loop over the instances whose flag is set. Yields the LLVM value that is the instance's number."""
        width = self.vector_width
        self.fresh += 1
        head, do, after = (f"{name}{self.fresh}" for name in ("head", "do", "after"))
        self.intrinsics.add(f"declare i{width} @llvm.cttz.i{width}(i{width}, i1)")
        self.lines += [f"  br label %{head}", f"{head}:",
                       f"  %left{head} = phi i{width} [ {flags}, %{self.block} ], [ %rest{head}, %{do} ]"]
        some = self.put(f"icmp ne i{width} %left{head}, 0")
        self.lines += [f"  br i1 {some}, label %{do}, label %{after}", f"{do}:"]
        found = self.put(f"call i{width} @llvm.cttz.i{width}(i{width} %left{head}, i1 true)")
        below = self.put(f"sub i{width} %left{head}, 1")
        self.lines.append(f"  %rest{head} = and i{width} %left{head}, {below}")
        yield self.resized(found, width, 64)
        self.lines += [f"  br label %{head}", f"{after}:"]
        self.block = after

    def row(self, slot: int, address: Node, instance: str) -> tuple[str, str]:
        """Return the index of an instance's row in its tile, and whether the row exists.

        A tile stores a memory's rows instance by instance. If the row does not exist, the result is the index of row 0.
        """
        depth = self.layout.places[slot].depth
        row = self.element(address, instance, 64)
        there = self.put(f"icmp ult i64 {row}, {depth}")
        first = self.put(f"mul i64 {instance}, {depth}")
        return self.put(f"add i64 {first}, {self.put(f'select i1 {there}, i64 {row}, i64 0')}"), there

    def reads(self, ports: Sequence[Read]) -> None:
        """Copy the rows of one address from deep memories to registers, in the instances that enable the read."""
        self.value(ports[0].enable)
        self.spill(ports[0].address)
        with self.each(self.known[ports[0].enable]) as instance:
            place, there = self.row(ports[0].slot, ports[0].address, instance)
            for port in ports:
                old, new = self.layout.places[port.slot], self.layout.places[port.into]
                value = self.loaded(self.address("%tile", old.offset), old.bits, place)
                value = self.put(f"select i1 {there}, i{old.bits} {value}, i{old.bits} 0")
                register = self.address("%tile", new.offset)
                pointer = self.put(f"getelementptr i{new.bits}, ptr {register}, i64 {instance}")
                self.store(f"i{new.bits}", self.resized(value, old.bits, new.bits), pointer, new.bits // 8)

    def write(self, port: Write) -> None:
        """Write to a deep memory in the instances that enable the write.

        In an instance that enables the write, the address must be the address of an existing row.
        """
        self.value(port.enable)
        self.spill(port.address)
        self.spill(port.data)
        memory = self.layout.places[port.slot]
        with self.each(self.known[port.enable]) as instance:
            place, _ = self.row(port.slot, port.address, instance)
            base = self.address("%tile", memory.offset)
            pointer = self.put(f"getelementptr i{memory.bits}, ptr {base}, i64 {place}")
            self.store(f"i{memory.bits}", self.element(port.data, instance, memory.bits), pointer, memory.bits // 8)


def _const(body: Body, node: Node) -> str:
    if node.width == 1:
        body.masks[node] = f"splat (i1 {'true' if node.data else 'false'})"
        return str(-node.data)
    return body.splat(node.data, element_bits(node.width))


def _state(body: Body, node: Node) -> str:
    place = body.layout.places[node.data]
    pointer = body.address("%tile", place.offset)
    return body.put(f"load {body.kind(node)}, ptr {pointer}, align {body.align(place.bits)}")


def _input(body: Body, node: Node) -> str:
    name, part = node.data
    word = body.inputs[name]
    bits = 8 * word.dtype.itemsize
    pointer = body.word_pointer("in", word, part)
    loaded = body.put(f"load {body.type(bits)}, ptr {pointer}, align {body.align(bits)}")
    if node.width == 1:
        return body.bit(node, loaded, bits, 0)
    narrow = body.resize(loaded, bits, element_bits(node.width))
    return body.masked(narrow, node.width, element_bits(node.width))


def _logic(instruction: str) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        a, b = (body.known[arg] for arg in node.args)
        return body.put(f"{instruction} {body.kind(node)} {a}, {b}")

    return make


def _arithmetic(instruction: str, overflows: bool = True) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        a, b = (body.known[arg] for arg in node.args)
        value = body.put(f"{instruction} {body.kind(node)} {a}, {b}")
        return body.masked(value, node.width, element_bits(node.width)) if overflows else value

    return make


def _compare(condition: str) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        a, b = (body.known[arg] for arg in node.args)
        return body.flags(node, body.put(f"icmp {condition} {body.kind(node.args[0])} {a}, {b}"))

    return make


def _not(body: Body, node: Node) -> str:
    ones = "-1" if node.width == 1 else body.splat(node.ones, element_bits(node.width))
    return body.put(f"xor {body.kind(node)} {body.known[node.args[0]]}, {ones}")


def _select(body: Body, node: Node) -> str:
    condition, a, b = node.args
    kind = body.kind(node)
    if node.width > 1:
        chosen, other = body.known[a], body.known[b]
        return body.put(f"select {body.type(1)} {body.mask(condition)}, {kind} {chosen}, {kind} {other}")
    taken = body.put(f"and {kind} {body.known[condition]}, {body.known[a]}")
    against = body.put(f"xor {kind} {body.known[condition]}, -1")
    left = body.put(f"and {kind} {against}, {body.known[b]}")
    return body.put(f"or {kind} {taken}, {left}")


def _slice(body: Body, node: Node) -> str:
    (source,) = node.args
    value, bits, low = body.window(source, node.data, node.width)
    if node.width == 1:
        return body.bit(node, value, bits, low)
    if low:
        value = body.put(f"lshr {body.type(bits)} {value}, {body.splat(low, bits)}")
    value = body.resize(value, bits, element_bits(node.width))
    last = node.data + node.width == source.width and bits == element_bits(source.width)
    return value if last else body.masked(value, node.width, element_bits(node.width))


def _concat(body: Body, node: Node) -> str:
    places, position = [], 0
    for part in node.args:
        places.append((position, part))
        position += part.width
    return _joined(body, places, element_bits(node.width))


def _joined(body: Body, places: list[tuple[int, Node]], bits: int) -> str:
    """Join graph nodes at bit positions in elements of ``bits`` bits.

    If both halves of the elements have graph nodes, the low half at least two, and no graph node crosses the middle,
    each half is joined first, in narrower vectors. Instructions on narrower vectors cost less.
    """
    kind, half = body.type(bits), bits // 2
    low = [(at, part) for at, part in places if at + part.width <= half]
    high = [(at - half, part) for at, part in places if at >= half]
    if bits > 8 and len(low) > 1 and high and len(low) + len(high) == len(places):
        value = body.resize(_joined(body, low, half), half, bits)
        above = body.resize(_joined(body, high, half), half, bits)
        above = body.put(f"shl {kind} {above}, {body.splat(half, bits)}")
        return body.put(f"or {kind} {value}, {above}")
    result = ""
    for at, part in places:
        if part.is_const:
            if not part.data:
                continue
            value = body.splat(part.data << at, bits)
        elif part.width == 1:
            flag = f"{kind} {body.splat(1 << at, bits)}"
            value = body.put(f"select {body.type(1)} {body.mask(part)}, {flag}, {kind} zeroinitializer")
        else:
            value = body.widened(part, bits)
            if at:
                value = body.put(f"shl {kind} {value}, {body.splat(at, bits)}")
        result = body.put(f"or {kind} {result}, {value}") if result else value
    return result or "zeroinitializer"


def _extend(body: Body, node: Node) -> str:
    (source,) = node.args
    bits = element_bits(node.width)
    value = body.widened(source, bits)
    if source.width < bits:
        by = body.splat(bits - source.width, bits)
        value = body.put(f"shl {body.type(bits)} {value}, {by}")
        value = body.put(f"ashr {body.type(bits)} {value}, {by}")
    return body.masked(value, node.width, bits)


def _shift(instruction: str) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        source, places = node.args
        bits = element_bits(node.width)
        value = body.known[source]
        by = body.widened(places, bits)
        if instruction == "ashr" and node.width < bits:
            up = body.splat(bits - node.width, bits)
            value = body.put(f"shl {body.type(bits)} {value}, {up}")
            value = body.put(f"ashr {body.type(bits)} {value}, {up}")
        value = body.put(f"{instruction} {body.type(bits)} {value}, {by}")
        return value if instruction == "lshr" else body.masked(value, node.width, bits)

    return make


def _parity(body: Body, node: Node) -> str:
    (source,) = node.args
    bits = element_bits(source.width)
    name = f"@llvm.ctpop.v{body.vector_width}i{bits}"
    body.intrinsics.add(f"declare {body.type(bits)} {name}({body.type(bits)})")
    count = body.put(f"call {body.type(bits)} {name}({body.type(bits)} {body.known[source]})")
    return body.bit(node, count, bits, 0)


def _gather(body: Body, node: Node) -> str:
    slot, _ = node.data
    (address,) = node.args
    place, width = body.layout.places[slot], body.vector_width
    bits, kind = place.bits, body.type(place.bits)
    name = f"@llvm.masked.gather.v{width}i{bits}.v{width}p0"
    body.intrinsics.add(f"declare {kind} {name}(<{width} x ptr>, i32, {body.type(1)}, {kind})")
    arguments = f"i32 {bits // 8}, {body.type(1)} splat (i1 true), {kind} poison"
    if address.op == "const":
        # waveforms show each row of a memory: calls of one function compile faster than a gather for each row
        function = f"@row_of_{place.depth}_i{bits}"
        first = ", ".join(f"i32 {index * place.depth}" for index in range(width))
        body.intrinsics.add(f"""define internal {kind} {function}(ptr %row) #0 {{
  %pointers = getelementptr i{bits}, ptr %row, {body.type(32)} <{first}>
  %value = call {kind} {name}(<{width} x ptr> %pointers, {arguments})
  ret {kind} %value
}}""")
        row = body.address("%tile", place.offset + address.data * bits // 8)
        value = body.put(f"call {kind} {function}(ptr {row})")
    else:
        value = body.put(f"call {kind} {name}(<{width} x ptr> {body.elements(slot, address)}, {arguments})")
    return body.bit(node, value, bits, 0) if node.width == 1 else body.resize(value, bits, element_bits(node.width))


class Tile(Body):
    """Code of one phase of an observer (`emit_observer`). An observer's output words hold a single tile."""

    def word_pointer(self, block: str, word: Word, part: int) -> str:
        """Return a pointer to the instances of this tile in a part of a word."""
        if block == "in":
            return super().word_pointer(block, word, part)
        return self.address("%out", (word.per_instance + part * word.dtype.itemsize) * self.vector_width)


INSTRUCTIONS: dict[str, Callable[[Body, Node], str]] = {
    "const": _const,
    "state": _state,
    "copied": _state,
    "input": _input,
    "gather": _gather,
    "not": _not,
    "and": _logic("and"),
    "or": _logic("or"),
    "xor": _logic("xor"),
    "add": _arithmetic("add"),
    "sub": _arithmetic("sub"),
    "mul": _arithmetic("mul"),
    "udiv": _arithmetic("udiv", overflows=False),
    "urem": _arithmetic("urem", overflows=False),
    "shl": _shift("shl"),
    "lshr": _shift("lshr"),
    "ashr": _shift("ashr"),
    "eq": _compare("eq"),
    "less": _compare("ult"),
    "parity": _parity,
    "select": _select,
    "slice": _slice,
    "concat": _concat,
    "extend": _extend,
}
"""Function that emits the instructions of each kind of graph node."""


ATTRIBUTES = 'attributes #0 = { noinline nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'


#: Parameters of a phase: ``tile``, the state of the tile; ``in`` and ``out``, the input and output words;
#: ``between``, the memory for values that one phase computes and later phases use;
#: ``n``, the number of all instances, padding included (`Block.n_padded`);
#: ``i``, the number of instances before the tile.
PARAMETERS = ("ptr noalias %tile", "ptr noalias %in", "ptr noalias %out", "ptr noalias %between", "i64 %n", "i64 %i")


class _Phases:
    """Functions of the phases that ``stores`` need, and the calls of these functions in order."""

    def __init__(self, name: str, blocks: Blocks, stores: Sequence[Move], body: type[Body] = Body) -> None:
        cut, between = phases(stores, SIZE, lambda node: blocks.vector_width * element_bits(node.width) // 8)
        self.between = f"  %between = alloca i8, i64 {max(between, 1)}, align 64"
        self.texts: list[str] = []
        self.calls: list[str] = []
        self.intrinsics: set[str] = set()
        self.operations = 0
        arguments = ", ".join(parameter.replace("noalias ", "") for parameter in PARAMETERS)
        for number, phase in enumerate(cut):
            made = body(blocks, phase)
            self.operations += made.operations
            self.intrinsics |= made.intrinsics
            self.texts += [f"define internal void @{name}_{number}({', '.join(PARAMETERS)}) #0 {{", *made.allocas,
                           "  br label %body", "body:", *made.lines, "  ret void", "}"]
            self.calls.append(f"  call void @{name}_{number}({arguments})")


def _loop(name: str, blocks: Blocks, made: _Phases) -> str:
    """Return a function that calls the phases for one tile after the other."""
    return f"""
define void @{name}(ptr noalias %state, ptr noalias %in, ptr noalias %out, i64 %n) #0 {{
entry:
{made.between}
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %loop ]
  %tile = phi ptr [ %state, %entry ], [ %next, %loop ]
{chr(10).join(made.calls)}
  %following = add nuw nsw i64 %i, {blocks.vector_width}
  %next = getelementptr i8, ptr %tile, i64 {blocks.layout.tile_bytes}
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def _text(*made: _Phases) -> str:
    """Return the functions of all phases, and declarations of the intrinsics that they call."""
    intrinsics = sorted(set().union(*(one.intrinsics for one in made)))
    return "\n".join((*(line for one in made for line in one.texts), *intrinsics, ATTRIBUTES, ""))


def emit(
    program: Program, layout: StateLayout, inputs: Mapping[str, Word], outputs: Mapping[str, Word], vector_width: int
) -> tuple[str, int]:
    """Return the LLVM IR of ``program``, and the number of operations in the code that steps one tile."""
    blocks = Blocks(layout, inputs, outputs, vector_width)

    def together(port: Read) -> tuple[int, int, int]:
        return port.address.index, port.enable.index, layout.places[port.slot].depth

    # registers are stored before the rows of shallow memories, because registers read the rows' present values
    later = sorted(program.next.items(), key=lambda item: program.slots[item[0]].row is not None)
    # deep memories are read before they are written, because a read returns the row as it was before the writes
    step = _Phases("step", blocks, [
        *(Store(slot, node) for slot, node in later),
        *(tuple(group) for _, group in groupby(sorted(program.reads, key=together), together)),
        *program.writes,
        *(Store(place, node) for place, node in program.outputs.items()),
    ])
    settle = _Phases("settle", blocks, [Store(place, node) for place, node in program.settled.items()])
    return _loop("step", blocks, step) + _loop("settle", blocks, settle) + _text(step, settle), step.operations


def emit_observer(
    program: Program, layout: StateLayout, inputs: Mapping[str, Word], shown: Mapping[str, Word], vector_width: int
) -> str:
    """Return the LLVM IR of ``observe``.

    ``observe`` computes the words in ``shown`` (signals for waveforms) from the present state and inputs, for the tile
    that begins with instance ``i``.
    """
    blocks = Blocks(layout, inputs, shown, vector_width)
    made = _Phases("observe", blocks, [Store(place, node) for place, node in program.settled.items()], Tile)
    return f"""
define void @observe(ptr noalias %state, ptr noalias %in, ptr noalias %out, i64 %n, i64 %i) #0 {{
{made.between}
  %number = udiv i64 %i, {vector_width}
  %before = mul i64 %number, {layout.tile_bytes}
  %tile = getelementptr i8, ptr %state, i64 %before
{chr(10).join(made.calls)}
  ret void
}}
""" + _text(made)
