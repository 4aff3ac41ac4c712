"""From one Amaranth component to one vector kernel that steps all its instances at once."""

from .call import call_step
from .errors import LoweringError
from .kernel import Block, Field, Kernel, aligned
from .lower import lower
from .store import cache_folder, lower_cached
from .words import Word, narrowest

__all__ = [
    "Block",
    "Field",
    "Kernel",
    "LoweringError",
    "Word",
    "aligned",
    "cache_folder",
    "call_step",
    "lower",
    "lower_cached",
    "narrowest",
]
