"""Subject of a proof: a component, its environment's allowed behaviour, and the properties that must hold."""

from contextlib import contextmanager
from typing import NamedTuple

from amaranth.hdl import Array, Assert, Assume, Cat, Elaboratable, Fragment, Mux, Signal, Value

from wormcast.hw.buffer import ReplicationBuffer
from wormcast.hw.deep.chunk_buffer import ChunkBuffer
from wormcast.hw.tree.buffer import BranchBuffer

from .mutants import Mutant

__all__ = ["Harness", "Inside", "Property", "entry", "implies", "on_ring", "total"]


def implies(condition, consequence) -> Value:
    """Return whether ``consequence`` holds wherever ``condition`` does."""
    return ~Value.cast(condition).bool() | Value.cast(consequence).bool()


def total(bits) -> Value:
    """Return the number of bits that are set."""
    return sum(map(Value.cast, bits), Value.cast(0))


def entry(values, index) -> Value:
    """Return the value at an index; a single value needs no index."""
    values = list(values)
    return Array(values)[index] if len(values) > 1 else Value.cast(values[0])


def on_ring(at, size) -> Value:
    """Return position ``at`` modulo ``size``, for ``at`` less than twice ``size``."""
    at = Value.cast(at)
    return Mux(at >= size, at - size, at)


@contextmanager
def rows_shown():
    """Elaborate buffers in this context with a signal for each row, ``vc0_row0`` and so on.

    Each row of a `ChunkBuffer` has a signal for each flit, ``row0_bank0``, and for its counter, ``row0_pending``. All
    are read through ports that only the proof has.
    """
    kinds = {kind: kind.elaborate for kind in (ReplicationBuffer, BranchBuffer, ChunkBuffer)}

    def show(m, memory, address, shape, name):
        port, row = memory.read_port(domain="comb"), Signal(shape, name=name)
        m.d.comb += [port.addr.eq(address), row.eq(port.data)]

    def with_rows(self, platform):
        m = kinds[type(self)](self, platform)
        if isinstance(self, ChunkBuffer):
            for k in range(self.rows):
                for bank in range(self.chunk):
                    show(m, getattr(m.submodules, f"bank_{bank}"), k, self.width, f"row{k}_bank{bank}")
                show(m, m.submodules.pending, k, self.needed.shape(), f"row{k}_pending")
            return m
        for v in range(self.vcs):
            for k in range(self.depth):
                show(m, m.submodules.memory, v << (self.depth - 1).bit_length() | k, self.width, f"vc{v}_row{k}")
        return m

    for kind in kinds:
        kind.elaborate = with_rows
    try:
        yield
    finally:
        for kind, elaborate in kinds.items():
            kind.elaborate = elaborate


class Inside:
    """A component, elaborated, and its registers and wires by their names.

    The names are those in the sources, with those of the submodules in front: ``"buffer.vc0_level1"``. A row of a
    buffer's memory has one too: ``"buffer.vc0_row3"``, ``"store.row3_bank1"``.

    Parameters
    ----------
    component : Elaboratable

    Attributes
    ----------
    fragment : Fragment
        The elaborated component, to add as a submodule.
    component : Elaboratable
    parts : dict of str to Inside
        Its submodules.
    """

    def __init__(self, component):
        with rows_shown():
            self._open(Fragment.get(component, None))

    def _open(self, fragment):
        self.fragment = fragment
        self.component = fragment.origins[0] if fragment.origins else None
        self.signals = {signal.name: signal for statements in fragment.statements.values()
                        for statement in statements for signal in statement._lhs_signals()}
        self.parts = {}
        for inner, name, _ in fragment.subfragments:
            self.parts[name] = part = object.__new__(Inside)
            part._open(inner)

    def __getitem__(self, path: str) -> Signal:
        """Return the signal of this name. Otherwise raise an error with the existing names."""
        part, name = self, path
        while "." in name:
            outer, name = name.split(".", 1)
            part = part.parts[outer]
        if name not in part.signals:
            known = ", ".join(sorted(part.signals))
            raise KeyError(f"{path} is no signal of the component; there are {known}")
        return part.signals[name]


class Property(NamedTuple):
    """A property to prove.

    Parameters
    ----------
    name : str
    sentence : str
    mutant : Mutant
        A change of the component that breaks it.
    """

    name: str
    sentence: str
    mutant: Mutant


class Harness(Elaboratable):
    """Base of all proofs.

    A subclass lists its ``properties``. It elaborates the component inside its own module, drives or leaves free the
    component's inputs, and says with `assume` what the environment keeps to, with `claim` what each sentence means, and
    with `invariant` what holds of the component's registers besides: that is proved together with the claims, and makes
    the induction close.

    Attributes
    ----------
    component : str
        Name of the component on the page.
    properties : tuple of Property
    only : str or None
        Check the claims of this property alone.
    inductive : bool
        Check the invariants too.
    inputs : list of Signal
        Inputs that the environment chooses freely in each cycle.
    """

    component: str
    properties: tuple[Property, ...]

    def __init__(self):
        self.only: str | None = None
        self.inductive = False
        self.inputs: list[Signal] = []

    def verilog(self) -> str | None:
        """Design as SystemVerilog with the top module ``proof_formal``, or None for the output of `elaborate`."""
        return None

    def free(self, shape=1, *, name: str) -> Signal:
        """Return a new signal that the environment chooses."""
        signal = Signal(shape, name=name)
        self.inputs.append(signal)
        return signal

    def leave_free(self, *signals) -> None:
        """Let the environment choose these inputs of the component."""
        # yosys-smtbmc stumbles over inputs without bits
        self.inputs.extend(value for value in map(Value.cast, signals) if len(value))

    def assume(self, m, condition) -> None:
        """Assume a rule of the environment."""
        m.d.comb += Assume(condition, src_loc_at=1)

    def claim(self, m, name: str, condition) -> None:
        """Claim a part of the property ``name``."""
        if name not in {known.name for known in self.properties}:
            raise KeyError(f"{type(self).__name__} has no property {name!r}")
        if self.only in (None, name):
            m.d.comb += Assert(condition, src_loc_at=1)

    def invariant(self, m, condition) -> None:
        """Assert a condition of every reachable state."""
        if self.inductive:
            m.d.comb += Assert(condition, src_loc_at=1)

    def invariants_of(self, m, conditions) -> None:
        """Assert conditions of every reachable state."""
        for condition in conditions:
            self.invariant(m, condition)

    def thermometer(self, m, bits, count) -> None:
        """Assert that bit k of ``bits`` is set where ``count`` is more than k."""
        self.invariant(m, bits == Cat(count > k for k in range(len(bits))))
