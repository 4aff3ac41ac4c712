"""The graph's folding rules change no value: random expressions against Python's integers."""

import random

import pytest

from wormcast.sim.lowering.graph import Graph

SAMPLES = 24


def signed(value, width):
    return value - (value >> width - 1 << width)


#: Operations on two values of one width: what the graph's method of this name must return, modulo 2**width.
PAIRS = {
    "and_": lambda a, b: a & b, "or_": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "divide": lambda a, b: a // b if b else 0,
    "remainder": lambda a, b: a % b if b else 0, "eq": lambda a, b: a == b, "less": lambda a, b: a < b,
}
BITS = ("eq", "less")

#: Value of a node from those of its arguments.
NODES = {
    "not": lambda a: ~a, "and": PAIRS["and_"], "or": PAIRS["or_"], "xor": PAIRS["xor"], "add": PAIRS["add"],
    "sub": PAIRS["sub"], "mul": PAIRS["mul"], "udiv": lambda a, b: a // b, "urem": lambda a, b: a % b,
    "eq": PAIRS["eq"], "less": PAIRS["less"], "select": lambda c, a, b: a if c else b,
    "parity": lambda a: a.bit_count(),
}


def value(node, leaves, known):
    """The node's value in one sample."""
    if node.index not in known:
        args = [value(arg, leaves, known) for arg in node.args]
        match node.op:
            case "const":
                found = node.data
            case "leaf":
                found = leaves[node.data]
            case "slice":
                found = args[0] >> node.data
            case "extend":
                found = signed(args[0], node.args[0].width)
            case "concat":
                found, low = 0, 0
                for part, arg in zip(node.args, args, strict=True):
                    found, low = found | arg << low, low + part.width
            case op:
                found = NODES[op](*args)
        assert node.op == "const" or node.width, node
        known[node.index] = int(found) & (1 << node.width) - 1
    return known[node.index]


def grow(graph, rng, terms):
    """Add a random operation on random terms. A term is a node and its expected value in each sample."""
    a, xs = rng.choice(terms)
    width = a.width
    alike = [term for term in terms if term[0].width == width]
    b, ys = rng.choice(alike)
    bits = [term for term in terms if term[0].width == 1]
    kind = rng.choice([*PAIRS, "not_", "parity", "select", "slice", "concat", "extend", "sign_extend", "shift",
                       "rejoin", "joined"])
    if kind in PAIRS:
        node = getattr(graph, kind)(a, b)
        values = [PAIRS[kind](x, y) for x, y in zip(xs, ys, strict=True)]
        width = 1 if kind in BITS else width
    elif kind == "not_":
        node, values = graph.not_(a), [~x for x in xs]
    elif kind == "parity":
        node, values, width = graph.parity(a), [x.bit_count() for x in xs], 1
    elif kind == "select":
        c, cs = rng.choice(bits)
        node, values = graph.select(c, a, b), [x if c else y for c, x, y in zip(cs, xs, ys, strict=True)]
    elif kind == "slice":
        low = rng.randrange(a.width)
        width = rng.randint(1, a.width - low)
        node, values = graph.slice(a, low, width), [x >> low for x in xs]
    elif kind == "concat":
        d, zs = rng.choice(terms)
        node, width = graph.concat((a, d)), a.width + d.width
        values = [x | z << a.width for x, z in zip(xs, zs, strict=True)]
    elif kind == "rejoin":  # slices that follow each other, or do not
        low, high = (rng.randrange(width + 1) for _ in range(2))
        node, width = graph.concat((graph.slice(a, 0, low), graph.slice(a, high, width - high))), low + width - high
        values = [x & (1 << low) - 1 | x >> high << low for x in xs]
    elif kind == "joined":  # two concatenations with parts of different widths
        d, zs = rng.choice(terms)
        node, width = graph.eq(graph.concat((a, d)), graph.concat((d, b))), 1
        values = [x | z << a.width == z | y << d.width for x, y, z in zip(xs, ys, zs, strict=True)]
    elif kind == "shift":
        places = rng.randrange(width)
        node, values = graph.shift(a, places, width), [x << places for x in xs]
    else:
        wide = rng.randint(1, width + 3)
        node = getattr(graph, kind)(a, wide)
        values = [x if kind == "extend" else signed(x, width) for x in xs]
        width = wide
    assert node.width == width, kind
    return node, [int(x) & (1 << width) - 1 for x in values], kind


@pytest.mark.parametrize("seed", range(40))
def test_folding_changes_no_value(seed):
    """Also of constants, and of terms that occur several times or as complements."""
    rng, graph, terms, leaves = random.Random(seed), Graph(), [], [{} for _ in range(SAMPLES)]
    for width in (1, 1, 2, 3, 3, 5):
        name = f"leaf {len(terms)}"
        for sample in leaves:
            sample[name] = rng.choice([0, 1, (1 << width) - 1, rng.randrange(1 << width)]) & (1 << width) - 1
        terms.append((graph.node("leaf", width, (), name), [sample[name] for sample in leaves]))
    for width in (1, 2, 3, 5):
        for number in {0, 1, 2, (1 << width) - 1, 1 << width - 1, rng.randrange(1 << width)}:
            node = graph.const(number, width)
            terms.append((node, [node.data] * SAMPLES))
    for _ in range(400):
        node, values, kind = grow(graph, rng, terms)
        for sample, expected in zip(leaves, values, strict=True):
            assert value(node, sample, {}) == expected, (kind, node)
        if 1 <= node.width <= 8:
            terms.append((node, values))
