"""Random expressions and random small designs, from any source of random numbers."""

from amaranth.hdl import Array, Cat, Const, EnableInserter, Module, Mux, ResetInserter, Shape, Signal, Value, unsigned
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RandomExpressions", "RandomMachine", "expression"]


def shape(rng, wide):
    """A shape, up to ``wide`` bits, often a width at which lanes change."""
    width = rng.choice([1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 36, 63, 64, 65, 127, 128, 129, 300])
    if rng.random() < 0.6 or width > wide:
        width = rng.randrange(1, min(wide, 20) + 1)
    return Shape(width, rng.random() < 0.4)


def leaf(rng, leaves):
    """A signal, or now and then a constant."""
    if rng.random() < 0.15:
        kind = shape(rng, 40)
        return Const(rng.getrandbits(kind.width), kind)
    return rng.choice(leaves)


def settled(value):
    """``value`` with its width fixed by a slice: Amaranth's simulator does not cut what it shifts."""
    return value[:] if len(value) else value


def narrow(value, width):
    """``value`` cut to at most ``width`` bits, its sign kept."""
    if len(value) <= width:
        return value
    return value[:width].as_signed() if value.shape().signed else value[:width]


def expression(rng, leaves, depth):
    """A random expression over ``leaves``, every operator of the language among them."""
    if depth == 0:
        return leaf(rng, leaves)

    def sub():
        return expression(rng, leaves, rng.randrange(depth))

    kind = rng.randrange(24)
    a = narrow(sub(), 300)
    match kind:
        case 0:
            return a + sub()
        case 1:
            return a - sub()
        case 2:
            return narrow(a, 30) * narrow(sub(), 30)
        case 3:
            return narrow(a, 40) // narrow(sub(), 40)
        case 4:
            return narrow(a, 40) % narrow(sub(), 40)
        case 5:
            return a & sub()
        case 6:
            return a | sub()
        case 7:
            return a ^ sub()
        case 8:
            return ~a
        case 9:
            return -a
        case 10:
            return narrow(a, 200) << narrow(sub(), rng.randrange(1, 7)).as_unsigned()
        case 11:
            return a >> narrow(sub(), rng.randrange(1, 12)).as_unsigned()
        case 12:
            b = sub()
            return rng.choice([a < b, a <= b, a > b, a >= b, a == b, a != b])
        case 13:
            return rng.choice([a.any(), a.all(), a.xor(), a.bool()])
        case 14:
            return Mux(sub(), a, sub())
        case 15:
            return Cat(a, sub(), leaf(rng, leaves))
        case 16:
            low = rng.randrange(len(a) + 1)
            high = rng.randrange(low, len(a) + 1)
            return Cat(a[low:high], Const(1, 1))
        case 17:
            return settled(a).bit_select(narrow(sub(), 6).as_unsigned(), rng.randrange(0, 12))
        case 18:
            return settled(a).word_select(narrow(sub(), 4).as_unsigned(), rng.randrange(1, 9))
        case 19:
            return a.rotate_left(rng.randrange(9)) if rng.random() < 0.5 else a.rotate_right(rng.randrange(9))
        case 20:
            entries = [narrow(sub(), 70) for _ in range(rng.randrange(1, 6))]
            return Value.cast(Array(entries)[narrow(sub(), 3).as_unsigned()])
        case 21:
            pattern = "".join(rng.choice("01-") for _ in range(len(a)))
            return a.matches(pattern, rng.getrandbits(len(a))) if not a.shape().signed else a.matches(pattern)
        case 22:
            return a.as_signed() if rng.random() < 0.5 and len(a) else a.as_unsigned()
        case _:
            return abs(a) if rng.random() < 0.5 else a.replicate(rng.randrange(1, 4))


class RandomExpressions(wiring.Component):
    """Registers, each of which takes a random expression over the inputs."""

    def __init__(self, rng, *, count=4, depth=4, wide=300):
        shapes = [shape(rng, wide) for _ in range(3)]
        members = {f"i{index}": In(kind) for index, kind in enumerate(shapes)}
        leaves = [Signal(kind, name=f"i{index}") for index, kind in enumerate(shapes)]
        values = [narrow(expression(rng, leaves, depth), 400) for _ in range(count)]
        members |= {f"o{index}": Out(Shape(max(len(value), 1))) for index, value in enumerate(values)}
        super().__init__(members)
        self.leaves = leaves
        self.values = values

    def elaborate(self, platform):
        m = Module()
        for index, value in enumerate(self.leaves):
            m.d.comb += value.eq(getattr(self, f"i{index}"))
        for index, value in enumerate(self.values):
            m.d.sync += getattr(self, f"o{index}").eq(value)
        return m


class RandomMachine(wiring.Component):
    """A few registers and memories of odd depth under random control; everything is shown at the outputs."""

    def __init__(self, rng):
        self.shapes = [shape(rng, 70) for _ in range(3)]
        self.kept = [shape(rng, 70) for _ in range(rng.randrange(1, 5))]
        members = {f"i{index}": In(kind) for index, kind in enumerate(self.shapes)}
        members |= {f"o{index}": Out(kind) for index, kind in enumerate(self.kept)}
        self.memories = []
        for index in range(rng.randrange(3)):
            granularity = rng.choice([None, 1, 4])
            width = rng.choice([4, 12, 36, 72]) if granularity else rng.choice([1, 5, 36, 65])
            depth = rng.choice([1, 2, 3, 5, 8, 13, 20, 37, 64])
            self.memories.append((width, depth, granularity, rng.choice(["comb", "sync", "through"])))
            members[f"m{index}"] = Out(width)
        super().__init__(members)
        self.module = self.build(rng)

    def build(self, rng):
        m = Module()
        inputs = [getattr(self, f"i{index}") for index in range(len(self.shapes))]
        registers = [
            Signal(kind, name=f"r{index}", init=rng.getrandbits(max(kind.width - 1, 0) or 1) >> (kind.width == 1),
                   reset_less=rng.random() < 0.3)
            for index, kind in enumerate(self.kept)
        ]  # fmt: skip
        wires = [Signal(unsigned(rng.randrange(1, 70)), name=f"w{index}", init=rng.randrange(2)) for index in range(2)]
        leaves = [*inputs, *registers]
        for wire in wires:
            self.assign(m, rng, m.d.comb, [wire], leaves, 2)
            leaves = [*leaves, wire]
        inner = Module()
        for _ in range(3):
            self.assign(inner, rng, inner.d.sync, registers, leaves, 2)
        for index, (width, depth, granularity, kind) in enumerate(self.memories):
            init = [rng.getrandbits(width) for _ in range(rng.randrange(depth + 1))]
            part = memory.Memory(shape=width, depth=depth, init=init)
            inner.submodules[f"memory_{index}"] = part
            writers = [part.write_port(granularity=granularity) for _ in range(rng.randrange(1, 3))]
            for writer in writers:
                inner.d.comb += [
                    writer.addr.eq(expression(rng, leaves, 1)),
                    writer.data.eq(expression(rng, leaves, 1)),
                    writer.en.eq(expression(rng, leaves, 1)),
                ]
            reader = part.read_port(
                domain="comb" if kind == "comb" else "sync",
                transparent_for=writers[: rng.randrange(len(writers) + 1)] if kind == "through" else (),
            )
            inner.d.comb += reader.addr.eq(rng.choice(leaves))
            shown = getattr(self, f"m{index}")
            if kind == "comb":
                inner.d.sync += shown.eq(reader.data)
            else:
                inner.d.comb += [reader.en.eq(rng.choice(leaves)), shown.eq(reader.data)]
        gate = rng.randrange(3)
        control = Signal(name="control")
        m.d.comb += control.eq(rng.choice(leaves)[0])
        m.submodules.inner = (
            inner if gate == 0 else ResetInserter(control)(inner) if gate == 1 else EnableInserter(control)(inner)
        )
        for index, register in enumerate(registers):
            m.d.comb += getattr(self, f"o{index}").eq(register)
        return m

    def assign(self, m, rng, domain, targets, leaves, depth):
        """Random statements that assign ``targets``, whole or in part, under conditions."""

        def statement():
            target = rng.choice(targets)
            value = expression(rng, leaves, 2)
            kind = rng.randrange(4)
            if kind == 0:
                low = rng.randrange(len(target))
                return target[low : rng.randrange(low, len(target)) + 1].eq(value)
            if kind == 1:
                return target.bit_select(narrow(rng.choice(leaves), 3).as_unsigned(), rng.randrange(1, 4)).eq(value)
            return target.eq(value)

        kind = rng.randrange(4)
        if depth == 0 or kind == 0:
            domain += statement()
        elif kind == 1:
            with m.If(expression(rng, leaves, 1).bool()):
                self.assign(m, rng, domain, targets, leaves, depth - 1)
            with m.Elif(expression(rng, leaves, 1).bool()):
                domain += statement()
            with m.Else():
                self.assign(m, rng, domain, targets, leaves, depth - 1)
        elif kind == 2:
            with m.Switch(narrow(rng.choice(leaves), 3).as_unsigned()):
                with m.Case(0):
                    domain += statement()
                with m.Case(1):
                    self.assign(m, rng, domain, targets, leaves, depth - 1)
                if rng.random() < 0.5:
                    with m.Default():
                        domain += statement()
        else:
            domain += statement()
            with m.If(rng.choice(leaves)[0]):
                self.assign(m, rng, domain, targets, leaves, depth - 1)

    def elaborate(self, platform):
        return self.module
