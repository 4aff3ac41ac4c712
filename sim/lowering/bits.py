"""Translation of a `Program` over words into a `Program` over single bits."""

from collections.abc import Callable, Sequence

from .errors import LoweringError
from .graph import Graph, Node
from .program import Program, Slot
from .slicing import SHALLOW

__all__ = ["in_bits"]

Bits = list[Node]


def in_bits(program: Program) -> Program:
    """Return the same program with every value a single bit: slots of the state, inputs, outputs and all values
    between.

    The result names inputs and outputs by word and bit, not by word and part of 64 bits.

    Raises
    ------
    LoweringError
        The program has a deep memory: reading a row by its address needs words.
    """
    return _Bits(program).program()


class _Bits:
    def __init__(self, old: Program) -> None:
        self.old = old
        self.graph = Graph()
        self.known: dict[Node, Bits] = {}
        self.slots: list[Slot] = []
        self.first: list[int] = []
        for slot in old.slots:
            if slot.depth:
                raise LoweringError(f"vector_width: 512 is not valid: a memory has {slot.depth} rows. Allowed: 16, 32 "
                                    f"or 64 instances; with 512, memories of at most {SHALLOW} rows.")
            self.first.append(len(self.slots))
            self.slots += [Slot(slot.cell, slot.low + bit, 1, (slot.init[0] >> bit & 1,), slot.row)
                           for bit in range(slot.width)]

    def program(self) -> Program:
        after = {
            self.first[slot] + bit: value
            for slot, node in self.old.next.items() for bit, value in enumerate(self.bits(node))
        }
        return Program(
            graph=self.graph,
            slots=self.slots,
            next={slot: node for slot, node in after.items() if node is not self.graph.node("state", 1, (), slot)},
            reads=[],
            writes=[],
            outputs=self.words(self.old.outputs),
            settled=self.words(self.old.settled),
        )

    def words(self, parts: dict[tuple[str, int], Node]) -> dict[tuple[str, int], Node]:
        """Return the bits of words by word and bit, given the words' parts of up to 64 bits."""
        return {(name, 64 * part + bit): value
                for (name, part), node in parts.items() for bit, value in enumerate(self.bits(node))}

    def bits(self, node: Node) -> Bits:
        """Return the bits of a node of the program's graph, least significant first."""
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [arg for arg in top.args if arg not in self.known]
            if missing and top not in self.known:
                stack += missing
                continue
            stack.pop()
            if top not in self.known:
                self.known[top] = self.made(top, [self.known[arg] for arg in top.args])
        return self.known[node]

    def made(self, node: Node, args: Sequence[Bits]) -> Bits:
        """Return the bits of a node, computed from the bits of its arguments."""
        graph = self.graph
        match node.op:
            case "const":
                return [graph.const(node.data >> bit, 1) for bit in range(node.width)]
            case "state":
                return [graph.node("state", 1, (), self.first[node.data] + bit) for bit in range(node.width)]
            case "input":
                name, part = node.data
                return [graph.node("input", 1, (), (name, 64 * part + bit)) for bit in range(node.width)]
            case "not":
                return [graph.not_(a) for a in args[0]]
            case "and" | "or" | "xor":
                make: Callable[[Node, Node], Node] = {"and": graph.and_, "or": graph.or_, "xor": graph.xor}[node.op]
                return [make(a, b) for a, b in zip(*args, strict=True)]
            case "add":
                return self.sum(args[0], args[1], graph.const(0, 1))
            case "sub":
                return self.sum(args[0], [graph.not_(b) for b in args[1]], graph.const(1, 1))
            case "shl" | "lshr" | "ashr":
                return self.moved(node.op, args[0], args[1])
            case "eq":
                return [graph.all_(graph.not_(graph.xor(a, b)) for a, b in zip(*args, strict=True))]
            case "less":
                less = graph.const(0, 1)
                for a, b in zip(*args, strict=True):
                    less = self.most(graph.not_(a), b, less)
                return [less]
            case "mul":
                total = [graph.const(0, 1)] * node.width
                for place, chosen in enumerate(args[1]):
                    term = [*[graph.const(0, 1)] * place, *(graph.and_(chosen, bit) for bit in args[0])]
                    total = self.sum(total, term[:node.width], graph.const(0, 1))
                return total
            case "udiv":
                return self.divided(*args)[0]
            case "urem":
                return self.divided(*args)[1]
            case "parity":
                return [graph.fold(graph.xor, args[0])]
            case "select":
                return [graph.select(args[0][0], a, b) for a, b in zip(args[1], args[2], strict=True)]
            case "slice":
                return args[0][node.data:node.data + node.width]
            case "concat":
                return [bit for part in args for bit in part]
            case "extend":
                return [*args[0], *args[0][-1:] * (node.width - len(args[0]))]
        raise AssertionError(f"{node.op} has no rule for single bits")

    def most(self, a: Node, b: Node, c: Node) -> Node:
        """Return a bit: at least two of ``a``, ``b`` and ``c`` are set."""
        graph = self.graph
        return graph.or_(graph.and_(a, b), graph.and_(graph.or_(a, b), c))

    def sum(self, a: Bits, b: Bits, carry: Node) -> Bits:
        """Return the sum of two numbers of one width and a carry, modulo 2**width."""
        total = []
        for x, y in zip(a, b, strict=True):
            total.append(self.graph.xor(self.graph.xor(x, y), carry))
            carry = self.most(x, y, carry)
        return total

    def divided(self, a: Bits, b: Bits) -> tuple[Bits, Bits]:
        """Return quotient and remainder. ``b`` is not zero."""
        graph = self.graph
        quotient, rest, divisor = [], [graph.const(0, 1)] * len(b), [*b, graph.const(0, 1)]
        for bit in reversed(a):
            rest = [bit, *rest]
            difference = self.sum(rest, [graph.not_(bit) for bit in divisor], graph.const(1, 1))
            fits = graph.not_(difference[-1])
            quotient.append(fits)
            rest = [graph.select(fits, x, y) for x, y in zip(difference, rest, strict=True)][:-1]
        return quotient[::-1], rest

    def moved(self, op: str, value: Bits, places: Bits) -> Bits:
        """Return ``value`` shifted by ``places``.

        If ``places`` is not less than the width of ``value``, only fill bits are left.
        """
        for level, chosen in enumerate(places):
            by = min(1 << level, len(value))
            fill = [value[-1] if op == "ashr" else self.graph.const(0, 1)] * by
            shifted = [*fill, *value[:-by]] if op == "shl" else [*value[by:], *fill]
            value = [self.graph.select(chosen, x, y) for x, y in zip(shifted, value, strict=True)]
        return value
