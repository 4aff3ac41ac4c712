"""Operators of Amaranth's netlist, on values of any width.

Each value, of any width, is a list of graph nodes of 64 bits (`Wide`); the last node may be narrower. LLVM would
compute vectors of integers of more than 64 bits one instance at a time. `OPERATORS` maps operators to functions of
``(graph, inputs, width)``. The result of each function in `OPERATORS` has at least ``width`` bits.
"""

from collections.abc import Callable, Sequence

from .errors import LoweringError
from .graph import Graph, Node

__all__ = ["OPERATORS", "Wide", "bits", "lookup", "part", "to_wide"]

LIMB = 64

Wide = list[Node]


def width_of(wide: Wide) -> int:
    """Return the number of bits of ``wide``."""
    return sum(limb.width for limb in wide)


def bits(graph: Graph, wide: Wide, low: int, width: int) -> Node:
    """Return ``width`` (at most 64) bits of ``wide`` from bit ``low`` on. Bits past the end of ``wide`` are zeros."""
    parts, position = [], 0
    for limb in wide:
        first, last = max(low, position), min(low + width, position + limb.width)
        if first < last:
            parts.append(graph.slice(limb, first - position, last - first))
        position += limb.width
    return graph.extend(graph.concat(parts), width)


def to_wide(graph: Graph, parts: Sequence[Node], width: int) -> Wide:
    """Return ``parts`` side by side, least significant first, extended with zeros or cut to ``width`` bits."""
    loose = list(parts)
    total = width_of(loose)
    while total < width:
        loose.append(graph.const(0, min(LIMB, width - total)))
        total += loose[-1].width
    return [bits(graph, loose, low, min(LIMB, width - low)) for low in range(0, max(width, 1), LIMB)]


def any_set(graph: Graph, wide: Wide) -> Node:
    """Return a bit: at least one bit of ``wide`` is set."""
    return graph.any_(graph.not_(graph.eq(limb, graph.const(0, limb.width))) for limb in wide)


def all_set(graph: Graph, wide: Wide) -> Node:
    """Return a bit: all bits of ``wide`` are set."""
    return graph.all_(graph.eq(limb, graph.const(-1, limb.width)) for limb in wide)


def add(graph: Graph, a: Wide, b: Wide, carry: Node | None = None) -> Wide:
    """Return ``a`` plus ``b`` plus ``carry`` modulo 2**width, for two values of one width."""
    result = []
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        total = graph.add(x, y)
        out = graph.less(total, x)
        if carry is not None:
            with_carry = graph.add(total, graph.extend(carry, x.width))
            out = graph.or_(out, graph.less(with_carry, total))
            total = with_carry
        carry = out if index + 1 < len(a) else None
        result.append(total)
    return result


def subtract(graph: Graph, a: Wide, b: Wide) -> Wide:
    """Return ``a`` minus ``b`` modulo 2**width, for two values of one width."""
    if len(a) == 1:
        return [graph.sub(a[0], b[0])]
    return add(graph, a, [graph.not_(limb) for limb in b], graph.const(1, 1))


def negate(graph: Graph, a: Wide) -> Wide:
    """Return zero minus ``a``."""
    return subtract(graph, [graph.const(0, limb.width) for limb in a], a)


def equal(graph: Graph, a: Wide, b: Wide) -> Node:
    """Return a bit: ``a`` equals ``b``, for two values of one width."""
    return graph.all_(graph.eq(x, y) for x, y in zip(a, b, strict=True))


def less(graph: Graph, a: Wide, b: Wide) -> Node:
    """Return a bit: ``a`` is less than ``b``, unsigned."""
    result = graph.const(0, 1)
    for x, y in zip(a, b, strict=True):
        result = graph.or_(graph.less(x, y), graph.and_(graph.eq(x, y), result))
    return result


def flip_sign(graph: Graph, a: Wide) -> Wide:
    """Return ``a`` with the highest bit inverted, which maps signed order to unsigned."""
    top = a[-1]
    if top.width == 0:
        return a
    return [*a[:-1], graph.xor(top, graph.const(1 << top.width - 1, top.width))]


def sign_of(graph: Graph, a: Wide) -> Node:
    """Return the highest bit of ``a``."""
    top = a[-1]
    return graph.slice(top, top.width - 1, 1) if top.width else graph.const(0, 1)


def select(graph: Graph, condition: Node, a: Wide, b: Wide) -> Wide:
    """Return ``a`` where ``condition`` holds, else ``b``."""
    return [graph.select(condition, x, y) for x, y in zip(a, b, strict=True)]


def shift(graph: Graph, op: str, a: Wide, places: Wide) -> Wide:
    """Return ``a`` shifted by ``places``.

    ``op``: shl, lshr or ashr. If ``places`` is not less than the width of ``a``, only fill bits are left: zeros, or the
    sign for ashr.
    """
    width = width_of(a)
    fill = [graph.const(0, limb.width) for limb in a]
    if op == "ashr":
        fill = [graph.sign_extend(sign_of(graph, a), limb.width) if limb.width else limb for limb in a]
    inside = min((width - 1).bit_length(), width_of(places)) if width else 0
    low = bits(graph, places, 0, inside)
    beyond = any_set(graph, to_wide(graph, parts_from(graph, places, inside), width_of(places) - inside))
    if low.is_const or len(a) > 1:
        for bit in range(inside):
            moved = shift_constant(graph, op, a, 1 << bit, fill)
            a = select(graph, graph.slice(low, bit, 1), moved, a)
    elif inside:
        a = [graph.shift_by(op, a[0], low)]
    return select(graph, beyond, fill, a)


def parts_from(graph: Graph, wide: Wide, low: int) -> list[Node]:
    """Return the bits of ``wide`` from ``low`` on, in nodes of up to 64 bits."""
    width = width_of(wide)
    return [bits(graph, wide, start, min(LIMB, width - start)) for start in range(low, width, LIMB)]


def shift_constant(graph: Graph, op: str, a: Wide, places: int, fill: Wide) -> Wide:
    """Return ``a`` shifted by a constant number of places; the vacated bits are filled with bits of ``fill``."""
    width = width_of(a)
    if places >= width:
        return fill
    if op == "shl":
        zeros = to_wide(graph, [], places)
        return to_wide(graph, [*zeros, *parts_from(graph, a, 0)], width)
    kept = parts_from(graph, a, places)
    above = [bits(graph, fill, start, min(LIMB, places - start)) for start in range(0, places, LIMB)]
    return to_wide(graph, [*kept, *above], width)


def magnitude(graph: Graph, a: Wide) -> Wide:
    """Return the absolute value of ``a`` as an unsigned number of the same width."""
    return select(graph, sign_of(graph, a), negate(graph, a), a)


def single(a: Wide, what: str) -> Node:
    """Return the only graph node of ``a``; refuse values of more than 64 bits."""
    if len(a) > 1:
        raise LoweringError(f"{what}: an operand of {width_of(a)} bits is not valid. Allowed: up to {LIMB} bits.")
    return a[0]


def divide(graph: Graph, a: Wide, b: Wide) -> Wide:
    """Return ``a`` divided by ``b``, unsigned and rounded down; zero if ``b`` is zero."""
    return [graph.divide(single(a, "division"), single(b, "division"))]


def remainder(graph: Graph, a: Wide, b: Wide) -> Wide:
    """Return the remainder of ``a`` divided by ``b``, unsigned; zero if ``b`` is zero."""
    return [graph.remainder(single(a, "modulo"), single(b, "modulo"))]


def divide_signed(graph: Graph, a: Wide, b: Wide) -> Wide:
    """Return ``a`` divided by ``b``, signed and rounded down; zero if ``b`` is zero."""
    x, y = magnitude(graph, a), magnitude(graph, b)
    quotient, rest = divide(graph, x, y), remainder(graph, x, y)
    opposite = graph.xor(sign_of(graph, a), sign_of(graph, b))
    # a negative quotient with a remainder is rounded down to -(q + 1), which is ~q
    negative = select(graph, any_set(graph, rest), [graph.not_(q) for q in quotient], negate(graph, quotient))
    result = select(graph, opposite, negative, quotient)
    return select(graph, any_set(graph, b), result, [graph.const(0, limb.width) for limb in a])


def remainder_signed(graph: Graph, a: Wide, b: Wide) -> Wide:
    """Return the remainder of ``a`` divided by ``b``, signed, with the sign of ``b``; zero if ``b`` is zero."""
    rest = remainder(graph, magnitude(graph, a), magnitude(graph, b))
    signed = select(graph, sign_of(graph, a), negate(graph, rest), rest)
    opposite = graph.xor(sign_of(graph, a), sign_of(graph, b))
    corrected = graph.and_(opposite, any_set(graph, rest))
    result = select(graph, corrected, add(graph, signed, b), signed)
    return select(graph, any_set(graph, b), result, [graph.const(0, limb.width) for limb in a])


def lookup(graph: Graph, index: Node, entries: Sequence[Node], default: Node) -> Node:
    """Return entry ``index`` of ``entries``, or ``default`` past the last entry."""
    row = list(entries)
    used = (len(row) - 1).bit_length() if row else 0
    if not row:
        return default
    used = min(used, index.width)
    for bit in range(used):
        if len(row) & 1:
            row.append(default)
        chosen = graph.slice(index, bit, 1)
        row = [graph.select(chosen, b, a) for a, b in zip(row[::2], row[1::2], strict=True)]
    high = graph.slice(index, used, index.width - used)
    return graph.select(graph.eq(high, graph.const(0, high.width)), row[0], default)


def part(graph: Graph, value: Wide, offset: Wide, width: int, stride: int, signed: bool) -> Wide:
    """Return ``width`` bits of ``value`` from bit ``offset * stride``; past the end zeros or (``signed``) the sign."""
    size = width_of(value)
    sign = sign_of(graph, value) if signed else graph.const(0, 1)
    count = -(-size // stride) if stride else 1
    if stride == 0 or count == 0 or (len(offset) == 1 and (count <= 8 or size > LIMB) and count <= 128):
        index = offset[0] if stride else graph.const(0, 1)
        result = []
        for start in range(0, max(width, 1), LIMB):
            step = min(LIMB, width - start)
            fill = graph.sign_extend(sign, step) if step else graph.const(0, 0)
            entries = []
            for place in range(count):
                low = place * stride + start
                kept = min(step, max(size - low, 0))
                above = graph.sign_extend(sign, step - kept) if step > kept else graph.const(0, 0)
                entries.append(graph.concat((bits(graph, value, low, kept), above)))
            result.append(lookup(graph, index, entries, fill))
        return result
    places = width_of(offset) + stride.bit_length()
    limbs = to_wide(graph, offset, places)
    if stride & stride - 1 == 0:
        zeros = [graph.const(0, stride.bit_length() - 1)]
        amount = to_wide(graph, [*zeros, *offset], places)
    else:
        amount = [graph.mul(single(limbs, "the offset of a part"), graph.const(stride, places))]
    moved = shift(graph, "ashr" if signed else "lshr", value, amount)
    beyond = [graph.sign_extend(sign, min(LIMB, width - low)) for low in range(size, width, LIMB)]
    return to_wide(graph, [*moved, *beyond], width)


def multiply(graph: Graph, a: Wide, b: Wide) -> Wide:
    """Return ``a`` times ``b`` modulo 2**width, for two values of one width."""
    return [graph.mul(single(a, "multiplication"), single(b, "multiplication"))]


def _limbs(name: str) -> Callable[[Graph, Sequence[Wide], int], Wide]:
    def apply(graph: Graph, inputs: Sequence[Wide], width: int) -> Wide:
        return [getattr(graph, name)(*limbs) for limbs in zip(*inputs, strict=True)]

    return apply


def _parity(graph: Graph, inputs: Sequence[Wide], width: int) -> Wide:
    return [graph.fold(graph.xor, (graph.parity(limb) if limb.width else graph.const(0, 1) for limb in inputs[0]))]


OPERATORS: dict[str, Callable[[Graph, Sequence[Wide], int], Wide]] = {
    "~": _limbs("not_"),
    "&": _limbs("and_"),
    "|": _limbs("or_"),
    "^": _limbs("xor"),
    "m": lambda g, i, w: select(g, i[0][0], i[1], i[2]),
    "b": lambda g, i, w: [any_set(g, i[0])],
    "r|": lambda g, i, w: [any_set(g, i[0])],
    "r&": lambda g, i, w: [all_set(g, i[0])],
    "r^": _parity,
    "-": lambda g, i, w: negate(g, i[0]) if len(i) == 1 else subtract(g, *i),
    "+": lambda g, i, w: add(g, i[0], i[1]),
    "*": lambda g, i, w: multiply(g, *i),
    "u//": lambda g, i, w: divide(g, *i),
    "s//": lambda g, i, w: divide_signed(g, *i),
    "u%": lambda g, i, w: remainder(g, *i),
    "s%": lambda g, i, w: remainder_signed(g, *i),
    "<<": lambda g, i, w: shift(g, "shl", *i),
    "u>>": lambda g, i, w: shift(g, "lshr", *i),
    "s>>": lambda g, i, w: shift(g, "ashr", *i),
    "==": lambda g, i, w: [equal(g, *i)],
    "!=": lambda g, i, w: [g.not_(equal(g, *i))],
    "u<": lambda g, i, w: [less(g, i[0], i[1])],
    "u>": lambda g, i, w: [less(g, i[1], i[0])],
    "u<=": lambda g, i, w: [g.not_(less(g, i[1], i[0]))],
    "u>=": lambda g, i, w: [g.not_(less(g, i[0], i[1]))],
    "s<": lambda g, i, w: [less(g, flip_sign(g, i[0]), flip_sign(g, i[1]))],
    "s>": lambda g, i, w: [less(g, flip_sign(g, i[1]), flip_sign(g, i[0]))],
    "s<=": lambda g, i, w: [g.not_(less(g, flip_sign(g, i[1]), flip_sign(g, i[0])))],
    "s>=": lambda g, i, w: [g.not_(less(g, flip_sign(g, i[0]), flip_sign(g, i[1])))],
}
"""Function of every operator of the netlist."""
