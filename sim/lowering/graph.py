"""Graph of expressions over vectors of instances, with common subexpressions shared and constants folded.

A node of the graph has one value of up to 64 bits in every instance. Equal nodes of the graph are one object, so that a
common subexpression is computed once. The folding rules of `Graph` make the graph smaller and do not change its values.
Each value is *canonical*: no bit at or above ``width`` is set.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from .errors import LoweringError

__all__ = ["Graph", "Node"]

WIDEST = 64


class Node:
    """Value of ``width`` bits: the result of operation ``op`` on ``args``.

    ``data``: an argument that is not a node, such as a constant's value.
    """

    __slots__ = ("args", "data", "index", "op", "sources", "width")

    def __init__(self, index: int, op: str, width: int, args: tuple["Node", ...], data: Any) -> None:
        self.index = index
        self.op = op
        self.width = width
        self.args = args
        self.data = data
        self.sources = tuple(arg.plain for arg in args)  #: ``args``, each without complements around it

    @property
    def plain(self) -> "Node":
        """The graph node without the complements around it: complements are cheap, and are made wherever they are
        used."""
        node = self
        while node.op == "not":
            node = node.args[0]
        return node

    def __repr__(self) -> str:
        inside = ", ".join(f"%{arg.index}" for arg in self.args)
        return f"%{self.index}:{self.width} = {self.op}({inside}{'; ' if inside else ''}{self.data})"

    @property
    def is_const(self) -> bool:
        """The graph node is a constant with the value ``data``."""
        return self.op == "const"

    @property
    def ones(self) -> int:
        """The number with all ``width`` bits set."""
        return (1 << self.width) - 1


class Graph:
    """All nodes of a kernel, in an order in which each follows its arguments."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], Node] = {}

    def node(self, op: str, width: int, args: Sequence[Node] = (), data: Any = None) -> Node:
        """Return the node with this operation, width, arguments and data, without folding."""
        if width > WIDEST:
            raise LoweringError(f"{op}: a result of {width} bits is not valid. Allowed: up to {WIDEST} bits.")
        key = (op, width, tuple(arg.index for arg in args), data)
        found = self.nodes.get(key)
        if found is None:
            found = self.nodes[key] = Node(len(self.nodes), op, width, tuple(args), data)
        return found

    def const(self, value: int, width: int) -> Node:
        """Return ``value`` modulo 2**width."""
        return self.node("const", width, (), value & (1 << width) - 1)

    # Bits in parallel

    def not_(self, a: Node) -> Node:
        """Return ``a`` with all bits inverted."""
        if a.is_const:
            return self.const(~a.data, a.width)
        if a.op == "not":
            return a.args[0]
        return self.node("not", a.width, (a,))

    def and_(self, a: Node, b: Node) -> Node:
        """Return the bitwise conjunction of ``a`` and ``b``."""
        if a.is_const or (not b.is_const and b.index < a.index):
            a, b = b, a
        if b.is_const:
            if a.is_const:
                return self.const(a.data & b.data, a.width)
            if b.data in (0, b.ones):
                return a if b.data else b
        if a is b:
            return a
        if self.opposite(a, b):
            return self.const(0, a.width)
        for x, y in ((a, b), (b, a)):
            if y.op == "and" and x in y.args:
                return y
            if y.op == "or" and x in y.args:
                return x
        return self.node("and", a.width, (a, b))

    def or_(self, a: Node, b: Node) -> Node:
        """Return the bitwise disjunction of ``a`` and ``b``."""
        if a.is_const or (not b.is_const and b.index < a.index):
            a, b = b, a
        if b.is_const:
            if a.is_const:
                return self.const(a.data | b.data, a.width)
            if b.data in (0, b.ones):
                return b if b.data else a
        if a is b:
            return a
        if self.opposite(a, b):
            return self.const(-1, a.width)
        for x, y in ((a, b), (b, a)):
            if y.op == "or" and x in y.args:
                return y
            if y.op == "and" and x in y.args:
                return x
        return self.node("or", a.width, (a, b))

    def xor(self, a: Node, b: Node) -> Node:
        """Return the bitwise exclusive disjunction of ``a`` and ``b``."""
        if a.is_const or (not b.is_const and b.index < a.index):
            a, b = b, a
        if b.is_const:
            if a.is_const:
                return self.const(a.data ^ b.data, a.width)
            if b.data in (0, b.ones):
                return self.not_(a) if b.data else a
        if a is b:
            return self.const(0, a.width)
        if self.opposite(a, b):
            return self.const(-1, a.width)
        return self.node("xor", a.width, (a, b))

    def select(self, condition: Node, a: Node, b: Node) -> Node:
        """Return ``a`` where ``condition`` holds, else ``b``."""
        while condition.op == "not":
            condition, a, b = condition.args[0], b, a
        if condition.is_const:
            return a if condition.data else b
        if a.op == "select" and a.args[0] is condition:
            a = a.args[1]
        if b.op == "select" and b.args[0] is condition:
            b = b.args[2]
        if a is b:
            return a
        if a.width == 1:
            if a.is_const or a is condition:
                return self.or_(condition, b) if a is condition or a.data else self.and_(self.not_(condition), b)
            if b.is_const or b is condition:
                return self.and_(condition, a) if b is condition or not b.data else self.or_(self.not_(condition), a)
            if self.opposite(a, b):
                return self.not_(self.xor(condition, a))
        if b.op == "select" and b.args[1] is a:
            return self.select(self.or_(condition, b.args[0]), a, b.args[2])
        return self.node("select", a.width, (condition, a, b))

    def opposite(self, a: Node, b: Node) -> bool:
        """Return whether ``a`` and ``b`` are complements of each other by their form."""
        return (a.op == "not" and a.args[0] is b) or (b.op == "not" and b.args[0] is a)

    # Arithmetic: both arguments are as wide as the result

    def add(self, a: Node, b: Node) -> Node:
        """Return ``a`` plus ``b`` modulo 2**width."""
        if a.is_const or (not b.is_const and b.index < a.index):
            a, b = b, a
        if b.is_const and a.is_const:
            return self.const(a.data + b.data, a.width)
        if b.is_const and b.data == 0:
            return a
        if a.width == 1:
            return self.xor(a, b)
        return self.node("add", a.width, (a, b))

    def sub(self, a: Node, b: Node) -> Node:
        """Return ``a`` minus ``b`` modulo 2**width."""
        if b.is_const:
            return self.add(a, self.const(-b.data, b.width))
        if a is b:
            return self.const(0, a.width)
        if a.width == 1:
            return self.xor(a, b)
        return self.node("sub", a.width, (a, b))

    def mul(self, a: Node, b: Node) -> Node:
        """Return ``a`` times ``b`` modulo 2**width."""
        if a.is_const:
            a, b = b, a
        if b.is_const:
            if a.is_const:
                return self.const(a.data * b.data, a.width)
            if b.data.bit_count() <= 1:
                shift = b.data.bit_length() - 1
                return self.extend(self.shift(a, shift, a.width), a.width) if b.data else b
        if a.width == 1:
            return self.and_(a, b)
        return self.node("mul", a.width, (a, b))

    def divide(self, a: Node, b: Node) -> Node:
        """Return ``a`` divided by ``b``, unsigned and rounded down; zero if ``b`` is zero."""
        zero = self.const(0, a.width)
        if b.is_const and a.is_const:
            return self.const(a.data // b.data if b.data else 0, a.width)
        if b.is_const and b.data.bit_count() <= 1:
            shift = b.data.bit_length() - 1
            return self.extend(self.slice(a, shift, a.width - shift), a.width) if b.data else zero
        if a.width == 1:
            return self.and_(a, b)
        none = self.eq(b, zero)
        return self.select(none, zero, self.node("udiv", a.width, (a, self.select(none, self.const(1, a.width), b))))

    def remainder(self, a: Node, b: Node) -> Node:
        """Return the remainder of ``a`` divided by ``b``, unsigned; zero if ``b`` is zero."""
        zero = self.const(0, a.width)
        if b.is_const and a.is_const:
            return self.const(a.data % b.data if b.data else 0, a.width)
        if b.is_const and b.data.bit_count() <= 1:
            return self.and_(a, self.const(b.data - 1, a.width)) if b.data else zero
        if a.width == 1:
            return zero
        none = self.eq(b, zero)
        return self.select(none, zero, self.node("urem", a.width, (a, self.select(none, self.const(1, a.width), b))))

    # Functions with a result of one bit

    def eq(self, a: Node, b: Node) -> Node:
        """Return a bit: ``a`` equals ``b``."""
        if a.width == 0 or a is b:
            return self.const(1, 1)
        if a.is_const or (not b.is_const and b.index < a.index):
            a, b = b, a
        if a.is_const:
            return self.const(a.data == b.data, 1)
        if a.width == 1:
            return self.not_(self.xor(a, b))
        if self.opposite(a, b):
            return self.const(0, 1)
        if b.is_const or b.op == "concat":
            if a.op == "not" and b.is_const:
                return self.eq(a.args[0], self.not_(b))
            if a.op == "concat":
                return self.all_(self.eq(x, y) for x, y in self.aligned(a, b))
            if a.op == "select" and b.is_const and a.args[1].is_const and a.args[2].is_const:
                condition, x, y = a.args
                return self.select(condition, self.eq(x, b), self.eq(y, b))
        return self.node("eq", 1, (a, b))

    def aligned(self, a: Node, b: Node) -> Iterable[tuple[Node, Node]]:
        """Yield the corresponding parts of ``a`` and ``b``, both cut wherever ``a`` or ``b`` concatenates two parts."""
        cuts = {0, a.width}
        for side in (a, b):
            position = 0
            if side.op == "concat":
                for part in side.args:
                    position += part.width
                    cuts.add(position)
        places = sorted(cuts)
        for low, high in pairwise(places):
            yield self.slice(a, low, high - low), self.slice(b, low, high - low)

    def less(self, a: Node, b: Node) -> Node:
        """Return a bit: ``a`` is less than ``b``, both unsigned."""
        if a is b or a.width == 0:
            return self.const(0, 1)
        if a.is_const and b.is_const:
            return self.const(a.data < b.data, 1)
        if a.is_const and a.data in (0, a.ones):
            return self.const(0, 1) if a.data else self.not_(self.eq(b, a))
        if b.is_const and b.data in (0, 1, b.ones):
            if b.data == b.ones:
                return self.not_(self.eq(a, b))
            return self.eq(a, self.const(0, a.width)) if b.data else self.const(0, 1)
        if a.width == 1:
            return self.and_(self.not_(a), b)
        return self.node("less", 1, (a, b))

    def parity(self, a: Node) -> Node:
        """Return the exclusive disjunction of all bits of ``a``."""
        if a.is_const:
            return self.const(a.data.bit_count(), 1)
        if a.width == 1:
            return a
        if a.op == "concat":
            return self.fold(self.xor, (self.parity(part) for part in a.args))
        return self.node("parity", 1, (a,))

    # Concatenation and slices

    def slice(self, a: Node, low: int, width: int) -> Node:
        """Return ``width`` bits of ``a`` from bit ``low`` on."""
        if width == a.width:
            return a
        if a.is_const or width == 0:
            return self.const(a.data >> low if a.is_const else 0, width)
        if a.op == "slice":
            return self.slice(a.args[0], a.data + low, width)
        if a.op == "extend" and low < a.args[0].width:
            inner = a.args[0]
            if low + width <= inner.width:
                return self.slice(inner, low, width)
            return self.sign_extend(self.slice(inner, low, inner.width - low), width)
        if a.op == "concat":
            parts, position = [], 0
            for part in a.args:
                first, last = max(low, position), min(low + width, position + part.width)
                if first < last:
                    parts.append(self.slice(part, first - position, last - first))
                position += part.width
            return self.concat(parts)
        if a.op == "select" and (a.args[1].is_const or a.args[2].is_const):
            condition, x, y = a.args
            return self.select(condition, self.slice(x, low, width), self.slice(y, low, width))
        return self.node("slice", width, (a,), low)

    def concat(self, parts: Iterable[Node]) -> Node:
        """Return ``parts`` side by side, least significant first."""
        joined: list[Node] = []
        for outer in parts:
            for part in outer.args if outer.op == "concat" else (outer,):
                if part.width == 0:
                    continue
                last = joined[-1] if joined else None
                if last is not None and last.is_const and part.is_const:
                    joined[-1] = self.const(part.data << last.width | last.data, last.width + part.width)
                elif (
                    last is not None
                    and last.op == part.op == "slice"
                    and last.args == part.args
                    and last.data + last.width == part.data
                ):
                    joined[-1] = self.slice(last.args[0], last.data, last.width + part.width)
                else:
                    joined.append(part)
        if len(joined) <= 1:
            return joined[0] if joined else self.const(0, 0)
        return self.node("concat", sum(part.width for part in joined), joined)

    def extend(self, a: Node, width: int) -> Node:
        """Return ``a``, extended with zeros or cut to ``width`` bits."""
        return self.concat((a, self.const(0, width - a.width))) if width > a.width else self.slice(a, 0, width)

    def sign_extend(self, a: Node, width: int) -> Node:
        """Return ``a``, extended with copies of its highest bit or cut to ``width`` bits."""
        if width <= a.width:
            return self.slice(a, 0, width)
        if a.is_const:
            return self.const(a.data | -(a.data >> a.width - 1) << a.width, width)
        if a.width == 1:
            return self.select(a, self.const(-1, width), self.const(0, width))
        if a.op == "extend":
            a = a.args[0]
        if a.op == "concat" and a.args[-1].is_const and not a.args[-1].data >> a.args[-1].width - 1:
            return self.extend(a, width)
        return self.node("extend", width, (a,))

    def shift(self, a: Node, places: int, width: int) -> Node:
        """Return ``a`` shifted left by ``places``, cut to ``width`` bits."""
        return self.concat((self.const(0, places), self.slice(a, 0, min(a.width, width - places))))

    def shift_by(self, op: str, a: Node, places: Node) -> Node:
        """Return ``a`` shifted by the value of node ``places``. ``op``: shl, lshr or ashr.

        ``places`` must be less than the first power of two that is not less than the width of ``a``.
        """
        if a.is_const and a.data == 0:
            return a
        return self.node(op, a.width, (a, places))

    # Helpers

    def fold(self, function: Callable[[Node, Node], Node], values: Iterable[Node]) -> Node:
        """Combine ``values`` by ``function``, pair by pair, in a balanced tree. ``values`` must not be empty."""
        row = list(values)
        while len(row) > 1:
            pairs = [function(a, b) for a, b in zip(row[::2], row[1::2], strict=False)]
            row = pairs + row[len(row) & ~1 :]
        return row[0]

    def all_(self, conditions: Iterable[Node]) -> Node:
        """Return a bit: all of ``conditions`` hold."""
        return self.fold(self.and_, (*conditions, self.const(1, 1)))

    def any_(self, conditions: Iterable[Node]) -> Node:
        """Return a bit: at least one of ``conditions`` holds."""
        return self.fold(self.or_, (*conditions, self.const(0, 1)))
