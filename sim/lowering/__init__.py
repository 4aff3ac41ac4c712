"""Compilation of an Amaranth component into a vector kernel that steps all its instances, and an observer of signals.

The modules ``lower`` and ``observe`` compile kernels and observers. These modules and Amaranth are imported only for
kernels and observers that ``store`` does not find on disk.
"""

from .bitslice import PLANE_WIDTH
from .call import call_native, call_observe, call_step
from .errors import LoweringError
from .kernel import Block, Field, Kernel, aligned
from .machine import vector_bytes
from .native import Native, NativeCall, native
from .observer import Observer, ShownSignal
from .port_words import Word, narrowest
from .store import cache_folder, is_ours, lower_cached, observe_cached

__all__ = [
    "PLANE_WIDTH",
    "Block",
    "Field",
    "Kernel",
    "LoweringError",
    "Native",
    "NativeCall",
    "Observer",
    "ShownSignal",
    "Word",
    "aligned",
    "cache_folder",
    "call_native",
    "call_observe",
    "call_step",
    "is_ours",
    "lower_cached",
    "narrowest",
    "native",
    "observe_cached",
    "vector_bytes",
]
