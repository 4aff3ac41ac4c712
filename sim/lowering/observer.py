"""Observer: a second kernel of a component, which shows all its signals and changes nothing."""

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
    """Line of a waveform: a signal, a field of one, or a row of a memory.

    Members
    -------
    scope : path of submodules, as Amaranth's simulator names them
    name : its name there: ``\\flit.data`` for a field, ``\\memory[3]`` for a row
    width : bits
    word : the word that holds it and nothing else; None for the clock, and for a signal without bits
    labels : names of its values, if they have names; other values are shown as ``[unknown]``
    """

    scope: tuple[str, ...]
    name: str
    width: int
    word: str | None
    labels: dict[int, str] | None
    clock: bool


@dataclass(frozen=True)
class Observer:
    """Reads the value of every signal of a component in one cycle from the blocks of its kernel.

    ``observe(state, in, out, n_padded, first)`` writes to ``out`` all words of the ``vector_width`` instances from
    ``first`` on, a multiple of that. The values are those of the cycle that the next step ends.

    Members
    -------
    words : dict of name to Word, the largest first, one behind the other
    signals : names of the words; several signals may show the same word
    tile_bytes, vector_width : of the kernel
    compile_seconds : translation and compile time in seconds
    """

    name: str
    words: dict[str, Word]
    signals: tuple[ShownSignal, ...]
    tile_bytes: int
    vector_width: int
    compile_seconds: float
    code: bytes = field(repr=False)

    def allocate(self) -> np.ndarray:
        """Return memory for the output of one call."""
        return aligned(self.vector_width * sum(word.bytes for word in self.words.values()))

    def observe(self, block: Block, first: int, out: np.ndarray) -> None:
        """Write the signals of the instances from ``first`` on to ``out``, given the block's state and inputs."""
        kernel = block.kernel
        if (kernel.name, kernel.tile_bytes, kernel.vector_width) != (self.name, self.tile_bytes, self.vector_width):
            raise LoweringError(f"block: {kernel.name} is not valid: the observer of {self.name} is for another kernel")
        function = _CALL(machine.address(self.code, "observe"))
        function(block.state.ctypes.data, block.inputs.ctypes.data, out.ctypes.data, block.n_padded, first)

    def word(self, out: np.ndarray, name: str) -> np.ndarray:
        """Return word ``name`` as `observe` wrote it: a view, ``[vector_width]`` or ``[parts, vector_width]``."""
        word = self.words[name]
        start = word.offset(self.vector_width)
        found = out[start : start + word.bytes * self.vector_width].view(word.dtype)
        return found if word.parts == 1 else found.reshape(word.parts, self.vector_width)
