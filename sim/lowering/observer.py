"""Observer: a second kernel of a component, which computes its signals and does not change its state."""

import ctypes
from dataclasses import dataclass, field

import numpy as np

from . import machine
from .errors import LoweringError
from .kernel import Block, aligned
from .port_words import Word

__all__ = ["Observer", "ShownSignal"]

_CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@dataclass(frozen=True)
class ShownSignal:
    """Line of a waveform: a signal, a field of a signal, or a row of a memory.

    Members
    -------
    scope : tuple of str
        Path of submodules, as Amaranth's simulator names them.
    name : str
        Name in Amaranth's waveforms: ``\\flit.data`` for a field, ``\\memory[3]`` for a row.
    width : int
        Number of bits.
    word : str or None
        Word whose value is the signal's value; None for the clock, and for a signal without bits.
    labels : dict of int to str, or None
        Names of the signal's values, if they have names; other values are shown as ``[unknown]``.
    """

    scope: tuple[str, ...]
    name: str
    width: int
    word: str | None
    labels: dict[int, str] | None
    clock: bool


@dataclass(frozen=True)
class Observer:
    """Compiled function that computes the values of signals of a component, all or some, from a block of its kernel.

    ``observe(state, in, out, n_padded, first)`` writes to ``out`` all words of the ``vector_width`` instances from
    ``first`` on. ``first`` must be a multiple of ``vector_width``. The values belong to the present cycle, which the
    kernel's next step ends.

    Members
    -------
    words : dict of str to Word
        Words by name, in the order of their addresses: the largest first.
    signals : tuple of ShownSignal
        The signals that are computed; several signals may show the same word.
    tile_bytes, vector_width : int
        As in the kernel.
    compile_seconds : float
        Translation and compile time in seconds.
    """

    name: str
    words: dict[str, Word]
    signals: tuple[ShownSignal, ...]
    tile_bytes: int
    vector_width: int
    compile_seconds: float
    code: bytes = field(repr=False)

    def allocate(self) -> np.ndarray:
        """Return memory for the output of one call of `observe`."""
        return aligned(self.vector_width * sum(word.bytes for word in self.words.values()))

    def observe(self, block: Block, first: int, out: np.ndarray) -> None:
        """Compute the signals of the ``vector_width`` instances from ``first`` on, and write them to ``out``."""
        kernel = block.kernel
        if (kernel.name, kernel.tile_bytes, kernel.vector_width) != (self.name, self.tile_bytes, self.vector_width):
            raise LoweringError(f"block: {kernel.name} is not valid: the observer of {self.name} is for another "
                                "kernel. Allowed: blocks of the observer's kernel.")
        function = _CALL(self.address)
        function(block.state.ctypes.data, block.inputs.ctypes.data, out.ctypes.data, block.n_padded, first)

    @property
    def address(self) -> int:
        """Address of ``observe`` in this process. The code is loaded at the first use."""
        return machine.address(self.code, "observe")

    def word(self, out: np.ndarray, name: str) -> np.ndarray:
        """Return word ``name`` as `observe` wrote it: a view, ``[vector_width]`` or ``[parts, vector_width]``."""
        word = self.words[name]
        start = word.offset(self.vector_width)
        found = out[start : start + word.bytes * self.vector_width].view(word.dtype)
        return found if word.parts == 1 else found.reshape(word.parts, self.vector_width)
