"""A second kernel of a component, which shows all its signals and changes nothing."""

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
    """One line of a waveform: a signal, a field of one, or a row of a memory.

    Members
    -------
    scope : path of submodules, as Amaranth's simulator names them
    name : its name there; of a field ``\\flit.data``, of a row ``\\memory[3]``
    width : bits
    word : the word that it is in alone; None for the clock, and for what has no bits
    labels : names of its values where they have names; others are ``[unknown]``
    """

    scope: tuple[str, ...]
    name: str
    width: int
    word: str | None
    labels: dict[int, str] | None
    clock: bool


@dataclass(frozen=True)
class Observer:
    """Shows what every signal of a component has in one cycle, from the blocks of its kernel.

    ``observe(state, in, out, n_padded, first)`` writes all words of the ``vector_width`` instances from ``first``
    on, a multiple of that, to ``out``: the values that they have in the cycle that the next step ends.

    Members
    -------
    words : dict of name to Word, the largest first, one behind the other
    signals : what the words are called; several may show the same word
    tile_bytes, vector_width : of the kernel
    compile_seconds : time it took to translate and compile
    """

    name: str
    words: dict[str, Word]
    signals: tuple[ShownSignal, ...]
    tile_bytes: int
    vector_width: int
    compile_seconds: float
    code: bytes = field(repr=False)

    def allocate(self) -> np.ndarray:
        """Return the memory for what one call shows."""
        return aligned(self.vector_width * sum(word.bytes for word in self.words.values()))

    def observe(self, block: Block, first: int, out: np.ndarray) -> None:
        """Write to ``out`` what the instances from ``first`` on show, given the block's state and inputs."""
        kernel = block.kernel
        if (kernel.name, kernel.tile_bytes, kernel.vector_width) != (self.name, self.tile_bytes, self.vector_width):
            raise LoweringError(f"the block belongs to {kernel.name}, not to what {self.name} observes")
        function = _CALL(machine.address(self.code, "observe"))
        function(block.state.ctypes.data, block.inputs.ctypes.data, out.ctypes.data, block.n_padded, first)

    def word(self, out: np.ndarray, name: str) -> np.ndarray:
        """Word ``name`` as `observe` has written it: a view, ``[vector_width]`` or ``[parts, vector_width]``."""
        word = self.words[name]
        start = word.offset(self.vector_width)
        found = out[start : start + word.bytes * self.vector_width].view(word.dtype)
        return found if word.parts == 1 else found.reshape(word.parts, self.vector_width)
