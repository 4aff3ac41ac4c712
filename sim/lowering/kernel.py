"""Compiled component, and the memory of its instances."""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wormcast.algorithms.phrases import count

from . import machine
from .errors import LoweringError
from .port_words import Word
from .state_layout import StateLocation

__all__ = ["Block", "Field", "Kernel", "Piece"]

LINE = 64
PART = 64
FULL = (1 << PART) - 1
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


@dataclass(frozen=True)
class Piece:
    """``width`` bits of a register, or of each row of a memory, from bit ``low`` on, and their places.

    ``shift`` is the position of the piece's first bit in the number stored at each of ``places``. A register's piece
    has one place in a tile, a shallow memory's piece has one place per row, and a deep memory's piece has one for all
    rows. ``init`` has one value per row, for a register one value.
    """

    low: int
    width: int
    shift: int
    places: tuple[StateLocation, ...]
    init: tuple[int, ...]


@dataclass(frozen=True)
class Field:
    """Register, or memory of ``depth`` rows (None for a register), and its pieces."""

    name: str
    width: int
    depth: int | None
    pieces: tuple[Piece, ...]


@dataclass(eq=False)
class Block:
    """State and words of ``n`` instances, padded to ``n_padded``, a multiple of 64 and of the kernel's vector width.

    ``state``, ``inputs`` and ``outputs`` are flat arrays of bytes at addresses that are multiples of 64. Instances
    beyond ``n`` are stepped, too; their inputs are what the arrays contain, at first zeros.
    """

    kernel: "Kernel"
    n: int
    n_padded: int
    state: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray

    def input(self, name: str) -> np.ndarray:
        """Return input word ``name``: a view, ``[n_padded]`` or ``[parts, n_padded]``."""
        return _view(self.inputs, self.kernel.input(name), self.n_padded)

    def output(self, name: str) -> np.ndarray:
        """Return output word ``name``: a view, ``[n_padded]`` or ``[parts, n_padded]``."""
        return _view(self.outputs, self.kernel.output(name), self.n_padded)

    def copy(self) -> "Block":
        """Return a copy of the block, with arrays of its own: a checkpoint."""
        arrays = [aligned(array.size) for array in (self.state, self.inputs, self.outputs)]
        for new, old in zip(arrays, (self.state, self.inputs, self.outputs), strict=True):
            new[:] = old
        return Block(self.kernel, self.n, self.n_padded, *arrays)


@dataclass(frozen=True)
class Kernel:
    """Compiled component. All instances of a block are stepped together.

    ``step(state, in, out, n_padded)`` at ``address`` does one clock cycle of all instances. A step computes the next
    state from the state and the input words, and the output words from the next state. The reset of domain ``sync`` is
    never asserted.

    Members
    -------
    inputs, outputs : dict of str to Word
        Words by name.
    state : dict of str to Field
        Registers and memories. A key of ``state`` is the path of submodules and the name: ``input_0.vc_1.target``.
    state_bytes : float
        Bytes of state per instance, padding included.
    vector_width : int
        Number of instances that one pass through the code steps.
    operations : int
        Number of operations in the LLVM IR of one pass of ``step``.
    compile_seconds : float
        Translation and compile time in seconds.
    """

    name: str
    inputs: dict[str, Word]
    outputs: dict[str, Word]
    state: dict[str, Field]
    tile_bytes: int
    vector_width: int
    operations: int
    compile_seconds: float
    code: bytes = field(repr=False)

    def __hash__(self) -> int:
        return hash(self.code)

    @property
    def state_bytes(self) -> float:
        """Bytes of state per instance."""
        return self.tile_bytes / self.vector_width

    @property
    def address(self) -> int:
        """Address of ``step`` in this process. The code is loaded at the first use."""
        return machine.address(self.code, "step")

    def input(self, name: str) -> Word:
        """Return input word ``name``."""
        return _look_up(self.inputs, name, f"an input word of {self.name}")

    def output(self, name: str) -> Word:
        """Return output word ``name``."""
        return _look_up(self.outputs, name, f"an output word of {self.name}")

    def flags(self, name: str) -> list[int]:
        """Return, for each bit of a register from bit 0 on, the byte offset of its flags in a tile.

        Raises
        ------
        LoweringError
            The bits are not stored as flags.
        """
        pieces = sorted(self._register(name).pieces, key=lambda piece: piece.low)
        if any(piece.width != 1 or piece.places[0].bits != 1 for piece in pieces):
            raise LoweringError(f"flags: {name!r} is not valid: the bits of this register of {self.name} are not "
                                "stored one by one. Needed: a kernel with vector_width 512, or a register of one bit.")
        return [piece.places[0].offset for piece in pieces]

    def allocate(self, n: int) -> Block:
        """Return a block of ``n`` instances after reset, with the outputs that follow from the initial registers."""
        if n < 1:
            raise LoweringError(f"n: {n} is not valid. Allowed: 1 or more.")
        unit = max(LINE, self.vector_width)
        n_padded = -(-n // unit) * unit
        inputs, outputs = (
            aligned(n_padded * sum(word.bytes for word in words.values())) for words in (self.inputs, self.outputs)
        )
        block = Block(self, n, n_padded, aligned(n_padded // self.vector_width * self.tile_bytes), inputs, outputs)
        for register in self.state.values():
            for piece in register.pieces:
                for row, init in enumerate(piece.init):
                    self._put(block, piece, row, self._get(block, piece, row) | np.uint64(init << piece.shift))
        self.settle(block)
        return block

    def step(self, block: Block, cycles: int = 1) -> None:
        """Do ``cycles`` clock cycles with constant inputs."""
        function = _CALL(self.address)
        for _ in range(cycles):
            function(*self._pointers(block))

    def settle(self, block: Block) -> None:
        """Recompute the outputs from the state. Call `settle` after registers were written."""
        _CALL(machine.address(self.code, "settle"))(*self._pointers(block))

    def read(self, block: Block, name: str) -> np.ndarray:
        """Return a register of each of the ``n`` instances, ``[n]``, or a memory, ``[n, depth]``.

        The values are ``uint64``; for more than 64 bits, they are Python integers in an object array.
        """
        parts = self.read_parts(block, name)
        return parts[0] if len(parts) == 1 else sum(part.astype(object) << PART * k for k, part in enumerate(parts))

    def write(self, block: Block, name: str, value: Any) -> None:
        """Write a register, or a memory, in all ``n`` instances; ``value`` broadcasts to the shape of `read`.

        A write changes the outputs only at the next step, or by a call of `settle`.
        """
        register = self._register(name)
        values = np.asarray(value)
        if values.dtype.kind not in "ui":
            values = np.asarray(value, object)
        for extreme in map(int, (values.min(initial=0), values.max(initial=0))):
            if not 0 <= extreme < 1 << register.width:
                raise LoweringError(f"write: {extreme} is not valid for {name}. Allowed: 0 to "
                                    f"{(1 << register.width) - 1} ({count(register.width, 'bit')}).")
        parts = [values.astype(np.uint64)] if register.width <= PART else [
            np.asarray(values.astype(object) >> PART * k & FULL, np.uint64) for k in range(_parts(register))]
        self.write_parts(block, name, np.stack([np.broadcast_to(part, _shape(block, register)) for part in parts]))

    def read_parts(self, block: Block, name: str) -> np.ndarray:
        """Return the values of `read`, each cut into ``uint64`` parts, the least significant first.

        The shape is ``[parts, n]`` for a register and ``[parts, n, depth]`` for a memory.
        """
        register = self._register(name)
        parts = np.zeros((_parts(register), *_shape(block, register)), np.uint64)
        rows = parts.reshape(len(parts), block.n, -1)
        for piece in register.pieces:
            part, low = divmod(piece.low, PART)
            for row in range(rows.shape[2]):
                value = self._get(block, piece, row)[: block.n] >> np.uint64(piece.shift) & _mask(piece)
                rows[part, :, row] |= value << np.uint64(low)
                if low + piece.width > PART:
                    rows[part + 1, :, row] |= value >> np.uint64(PART - low)
        return parts

    def write_parts(self, block: Block, name: str, parts: np.ndarray) -> None:
        """Write values in the form of `read_parts`. Bits beyond the register's width are ignored."""
        register = self._register(name)
        rows = parts.reshape(len(parts), block.n, -1)
        for piece in register.pieces:
            part, low = divmod(piece.low, PART)
            mask, shift = _mask(piece), np.uint64(piece.shift)
            for row in range(rows.shape[2]):
                value = rows[part, :, row] >> np.uint64(low)
                if low + piece.width > PART:
                    value |= rows[part + 1, :, row] << np.uint64(PART - low)
                numbers = self._get(block, piece, row)
                numbers[: block.n] = numbers[: block.n] & ~(mask << shift) | (value & mask) << shift
                self._put(block, piece, row, numbers)

    def _register(self, name: str) -> Field:
        return _look_up(self.state, name, f"a register of {self.name}")

    def _pointers(self, block: Block) -> tuple[int, int, int, int]:
        if block.kernel is not self and block.kernel != self:
            raise LoweringError(f"block: {block.kernel.name} is not valid. Allowed: blocks of this {self.name}.")
        return block.state.ctypes.data, block.inputs.ctypes.data, block.outputs.ctypes.data, block.n_padded

    def _row(self, block: Block, piece: Piece, row: int) -> tuple[np.ndarray, int]:
        """Return a view ``[tiles, ...]`` of the stored numbers with the bits ``piece`` of ``row``, and their width.

        If the numbers have one bit, each byte of the view packs eight numbers.
        """
        place = piece.places[0 if piece.places[0].depth else row]
        tiles = block.state.reshape(-1, self.tile_bytes)
        size = place.bits * self.vector_width // 8 * (place.depth or 1)
        found = tiles[:, place.offset : place.offset + size].view(f"u{max(place.bits // 8, 1)}")
        return found[:, row :: place.depth] if place.depth else found, place.bits

    def _get(self, block: Block, piece: Piece, row: int) -> np.ndarray:
        """Return the stored numbers with the bits ``piece`` of ``row`` of all instances, as a new array."""
        found, bits = self._row(block, piece, row)
        flat = np.unpackbits(found, axis=1, bitorder="little") if bits == 1 else found
        return flat.reshape(-1).astype(np.uint64)

    def _put(self, block: Block, piece: Piece, row: int, numbers: np.ndarray) -> None:
        """Write the stored numbers with the bits ``piece`` of ``row`` of all instances."""
        found, bits = self._row(block, piece, row)
        flat = numbers.reshape(found.shape[0], -1).astype(found.dtype)
        found[...] = np.packbits(flat, axis=1, bitorder="little") if bits == 1 else flat


def _look_up(fields: Mapping[str, Any], name: str, kind: str) -> Any:
    if name not in fields:
        raise LoweringError(f"{name!r} is not {kind}. Allowed: {', '.join(fields) or 'none'}.")
    return fields[name]


def _parts(register: Field) -> int:
    """Return the number of 64-bit numbers that hold a register's value, at least 1."""
    return max(1, -(-register.width // PART))


def _shape(block: Block, register: Field) -> tuple[int, ...]:
    return (block.n,) if register.depth is None else (block.n, register.depth)


def _mask(piece: Piece) -> np.uint64:
    return np.uint64((1 << piece.width) - 1)


def aligned(size: int) -> np.ndarray:
    """Return zeroed bytes at an address that is a multiple of 64."""
    raw = np.zeros(size + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size]


def _view(block: np.ndarray, word: Word, n_padded: int) -> np.ndarray:
    start = word.offset(n_padded)
    found = block[start : start + word.bytes * n_padded].view(word.dtype)
    return found if word.parts == 1 else found.reshape(word.parts, n_padded)
