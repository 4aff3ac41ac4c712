"""From a `Program` to LLVM IR.

The text holds two functions of one shape, ``step`` and ``settle``, each a loop over tiles of ``lanes``
instances whose body is straight-line vector code. A value of one bit is a vector of ``i1`` (a mask); other
values take the narrowest of 8, 16, 32 and 64 bits per instance.
"""

from collections.abc import Callable, Iterable, Mapping

from .graph import Node
from .layout import Layout, lane_bytes
from .program import Program
from .words import Word

__all__ = ["INSTRUCTIONS", "emit"]


def lane(width: int) -> int:
    """Bits that a value of ``width`` bits takes in each instance."""
    return 1 if width <= 1 else 8 * lane_bytes(width)


class Body:
    """The straight-line code for one tile."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        inputs: Mapping[str, Word],
        outputs: Mapping[str, Word],
        lanes: int,
    ) -> None:
        self.program = program
        self.layout = layout
        self.inputs = inputs
        self.outputs = outputs
        self.lanes = lanes
        self.lines: list[str] = []
        self.known: dict[Node, str] = {}
        self.intrinsics: set[str] = set()
        self.operations = 0
        self.fresh = 0

    def type(self, bits: int) -> str:
        """Vector type of ``bits`` bits per instance."""
        return f"<{self.lanes} x i{bits}>"

    def put(self, text: str) -> str:
        """Append an instruction and return the name of its value."""
        self.fresh += 1
        self.operations += 1
        self.lines.append(f"  %t{self.fresh} = {text}")
        return f"%t{self.fresh}"

    def splat(self, value: int, bits: int) -> str:
        """Constant, equal in all instances."""
        if not value:
            return "zeroinitializer"
        return f"splat (i1 {'true' if value else 'false'})" if bits == 1 else f"splat (i{bits} {value})"

    def masked(self, value: str, width: int, bits: int) -> str:
        """``value`` without what lies above ``width``."""
        if width == bits:
            return value
        return self.put(f"and {self.type(bits)} {value}, {self.splat((1 << width) - 1, bits)}")

    def resize(self, value: str, old: int, new: int) -> str:
        """``value`` in lanes of ``new`` bits, cut or with zeros above."""
        if old == new:
            return value
        return self.put(f"{'zext' if new > old else 'trunc'} {self.type(old)} {value} to {self.type(new)}")

    def to_mask(self, value: str, bits: int, bit: int) -> str:
        """Bit ``bit`` of each lane as a mask."""
        if bits == 1:
            return value
        alone = self.put(f"and {self.type(bits)} {value}, {self.splat(1 << bit, bits)}")
        return self.put(f"icmp ne {self.type(bits)} {alone}, zeroinitializer")

    def address(self, base: str, offset: int) -> str:
        """Pointer ``offset`` bytes past ``base``."""
        self.fresh += 1
        self.lines.append(f"  %t{self.fresh} = getelementptr i8, ptr {base}, i64 {offset}")
        return f"%t{self.fresh}"

    def value(self, node: Node) -> str:
        """Name of the value of ``node``, after emitting what it needs."""
        stack = [node]
        while stack:
            top = stack[-1]
            if top in self.known:
                stack.pop()
                continue
            missing = [arg for arg in top.args if arg not in self.known]
            if missing:
                stack += reversed(missing)
                continue
            self.known[top] = INSTRUCTIONS[top.op](self, top)
            stack.pop()
        return self.known[node]

    def store(self, node: Node, pointer: str, size: int, align: int) -> None:
        """Store ``node`` in lanes of ``size`` bytes."""
        value = self.resize(self.value(node), lane(node.width), 8 * size)
        self.operations += 1
        self.lines.append(f"  store {self.type(8 * size)} {value}, ptr {pointer}, align {align}")

    def store_state(self, slot: int, node: Node) -> None:
        """Give register ``slot`` its next value; the present one is read before, as others may need it."""
        self.value(node)
        self.value(self.program.graph.node("state", node.width, (), slot))
        place = self.layout.places[slot]
        self.store(node, self.address("%tile", place.offset), place.bytes, min(64, self.lanes * place.bytes))

    def store_word(self, name: str, part: int, node: Node) -> None:
        """Store part ``part`` of output word ``name``."""
        word = self.outputs[name]
        size = word.dtype.itemsize
        self.value(node)
        pointer = self.word_pointer("out", word, part)
        self.store(node, pointer, size, min(64, self.lanes * size))

    def word_pointer(self, block: str, word: Word, part: int) -> str:
        """Pointer to the lanes of this tile in a word; all parts of all words lie in one run of columns."""
        column = word.per_instance + part * word.dtype.itemsize
        self.fresh += 3
        a, b, c = (f"%t{self.fresh - k}" for k in (2, 1, 0))
        self.lines.append(f"  {a} = mul i64 %n, {column}")
        self.lines.append(f"  {b} = getelementptr i8, ptr %{block}, i64 {a}")
        self.lines.append(f"  {c} = getelementptr i{8 * word.dtype.itemsize}, ptr {b}, i64 %i")
        return c

    def elements(self, slot: int, address: str, bits: int) -> str:
        """Pointers to row ``address`` of a deep memory, for each instance."""
        place = self.layout.places[slot]
        row = self.resize(address, bits, 64)
        first = ", ".join(f"i64 {index * place.depth}" for index in range(self.lanes))
        index = self.put(f"add {self.type(64)} {row}, <{first}>")
        base = self.address("%tile", place.offset)
        return self.put(f"getelementptr i{8 * place.bytes}, ptr {base}, {self.type(64)} {index}")

    def scatter(self, slot: int, address: Node, enable: Node, data: Node) -> None:
        """Write a deep memory."""
        size = self.layout.places[slot].bytes
        mask = self.value(enable)
        value = self.resize(self.value(data), lane(data.width), 8 * size)
        pointers = self.elements(slot, self.value(address), lane(address.width))
        kind = f"v{self.lanes}i{8 * size}"
        name = f"@llvm.masked.scatter.{kind}.v{self.lanes}p0"
        types = f"{self.type(8 * size)}, <{self.lanes} x ptr>, i32, {self.type(1)}"
        self.intrinsics.add(f"declare void {name}({types})")
        self.operations += 1
        self.lines.append(
            f"  call void {name}({self.type(8 * size)} {value}, <{self.lanes} x ptr> {pointers}, "
            f"i32 {size}, {self.type(1)} {mask})"
        )


def _const(body: Body, node: Node) -> str:
    return body.splat(node.data, lane(node.width))


def _state(body: Body, node: Node) -> str:
    place = body.layout.places[node.data]
    bits = 8 * place.bytes
    pointer = body.address("%tile", place.offset)
    loaded = body.put(f"load {body.type(bits)}, ptr {pointer}, align {min(64, body.lanes * place.bytes)}")
    return body.to_mask(loaded, bits, 0) if node.width == 1 else loaded


def _input(body: Body, node: Node) -> str:
    name, part = node.data
    word = body.inputs[name]
    bits = 8 * word.dtype.itemsize
    pointer = body.word_pointer("in", word, part)
    loaded = body.put(f"load {body.type(bits)}, ptr {pointer}, align {min(64, body.lanes * word.dtype.itemsize)}")
    if node.width == 1:
        return body.to_mask(loaded, bits, 0)
    narrow = body.resize(loaded, bits, lane(node.width))
    return body.masked(narrow, node.width, lane(node.width))


def _binary(instruction: str, overflows: bool = False) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        a, b = (body.known[arg] for arg in node.args)
        bits = lane(node.width)
        value = body.put(f"{instruction} {body.type(bits)} {a}, {b}")
        return body.masked(value, node.width, bits) if overflows else value

    return make


def _compare(condition: str) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        a, b = (body.known[arg] for arg in node.args)
        return body.put(f"icmp {condition} {body.type(lane(node.args[0].width))} {a}, {b}")

    return make


def _not(body: Body, node: Node) -> str:
    bits = lane(node.width)
    return body.put(f"xor {body.type(bits)} {body.known[node.args[0]]}, {body.splat(node.ones, bits)}")


def _select(body: Body, node: Node) -> str:
    condition, a, b = (body.known[arg] for arg in node.args)
    kind = body.type(lane(node.width))
    return body.put(f"select {body.type(1)} {condition}, {kind} {a}, {kind} {b}")


def _slice(body: Body, node: Node) -> str:
    (source,) = node.args
    value, bits, low = body.known[source], lane(source.width), node.data
    if node.width == 1:
        return body.to_mask(value, bits, low)
    if low:
        value = body.put(f"lshr {body.type(bits)} {value}, {body.splat(low, bits)}")
    value = body.resize(value, bits, lane(node.width))
    return value if low + node.width == source.width else body.masked(value, node.width, lane(node.width))


def _concat(body: Body, node: Node) -> str:
    bits = lane(node.width)
    kind = body.type(bits)
    result, position = "", 0
    for part in node.args:
        value, here = body.known[part], position
        position += part.width
        if part.is_const:
            if not part.data:
                continue
            value = body.splat(part.data << here, bits)
        elif part.width == 1:
            flag = f"{kind} {body.splat(1 << here, bits)}"
            value = body.put(f"select {body.type(1)} {value}, {flag}, {kind} zeroinitializer")
        else:
            value = body.resize(value, lane(part.width), bits)
            if here:
                value = body.put(f"shl {kind} {value}, {body.splat(here, bits)}")
        result = body.put(f"or {kind} {result}, {value}") if result else value
    return result or "zeroinitializer"


def _extend(body: Body, node: Node) -> str:
    (source,) = node.args
    bits = lane(node.width)
    value = body.resize(body.known[source], lane(source.width), bits)
    if source.width < bits:
        by = body.splat(bits - source.width, bits)
        value = body.put(f"shl {body.type(bits)} {value}, {by}")
        value = body.put(f"ashr {body.type(bits)} {value}, {by}")
    return body.masked(value, node.width, bits)


def _shift(instruction: str) -> Callable[[Body, Node], str]:
    def make(body: Body, node: Node) -> str:
        source, places = node.args
        bits = lane(node.width)
        value = body.known[source]
        by = body.resize(body.known[places], lane(places.width), bits)
        if instruction == "ashr" and node.width < bits:
            up = body.splat(bits - node.width, bits)
            value = body.put(f"shl {body.type(bits)} {value}, {up}")
            value = body.put(f"ashr {body.type(bits)} {value}, {up}")
        value = body.put(f"{instruction} {body.type(bits)} {value}, {by}")
        return value if instruction == "lshr" else body.masked(value, node.width, bits)

    return make


def _parity(body: Body, node: Node) -> str:
    (source,) = node.args
    bits = lane(source.width)
    name = f"@llvm.ctpop.v{body.lanes}i{bits}"
    body.intrinsics.add(f"declare {body.type(bits)} {name}({body.type(bits)})")
    count = body.put(f"call {body.type(bits)} {name}({body.type(bits)} {body.known[source]})")
    return body.to_mask(count, bits, 0)


def _gather(body: Body, node: Node) -> str:
    slot, _ = node.data
    (address,) = node.args
    bits = 8 * body.layout.places[slot].bytes
    pointers = body.elements(slot, body.known[address], lane(address.width))
    name = f"@llvm.masked.gather.v{body.lanes}i{bits}.v{body.lanes}p0"
    kind = body.type(bits)
    body.intrinsics.add(f"declare {kind} {name}(<{body.lanes} x ptr>, i32, {body.type(1)}, {kind})")
    value = body.put(
        f"call {kind} {name}(<{body.lanes} x ptr> {pointers}, i32 {bits // 8}, "
        f"{body.type(1)} splat (i1 true), {kind} poison)"
    )
    return body.to_mask(value, bits, 0) if node.width == 1 else body.resize(value, bits, lane(node.width))


INSTRUCTIONS: dict[str, Callable[[Body, Node], str]] = {
    "const": _const,
    "state": _state,
    "input": _input,
    "gather": _gather,
    "not": _not,
    "and": _binary("and"),
    "or": _binary("or"),
    "xor": _binary("xor"),
    "add": _binary("add", overflows=True),
    "sub": _binary("sub", overflows=True),
    "mul": _binary("mul", overflows=True),
    "udiv": _binary("udiv"),
    "urem": _binary("urem"),
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
"""What each kind of node becomes."""


def _function(name: str, body: Body) -> str:
    return f"""
define void @{name}(ptr noalias %state, ptr noalias %in, ptr noalias %out, i64 %n) #0 {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %following, %loop ]
  %tile = phi ptr [ %state, %entry ], [ %next, %loop ]
{chr(10).join(body.lines)}
  %following = add nuw nsw i64 %i, {body.lanes}
  %next = getelementptr i8, ptr %tile, i64 {body.layout.tile_bytes}
  %more = icmp slt i64 %following, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def emit(
    program: Program, layout: Layout, inputs: Mapping[str, Word], outputs: Mapping[str, Word], lanes: int
) -> tuple[str, int]:
    """Return the LLVM IR of ``program`` and how many vector operations a step of one tile has."""
    step = Body(program, layout, inputs, outputs, lanes)
    for slot, node in program.next.items():
        step.store_state(slot, node)
    for write in program.writes:
        # all that reads the memory as it was comes first
        for node in (write.address, write.enable, write.data):
            step.value(node)
    for write in program.writes:
        step.scatter(write.slot, write.address, write.enable, write.data)
    for (word, part), node in program.outputs.items():
        step.store_word(word, part, node)

    settle = Body(program, layout, inputs, outputs, lanes)
    for (word, part), node in program.settled.items():
        settle.store_word(word, part, node)

    declarations: Iterable[str] = sorted(step.intrinsics | settle.intrinsics)
    attributes = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'
    text = _function("step", step) + _function("settle", settle) + "\n".join((*declarations, attributes, ""))
    return text, step.operations
