"""The multicast schemes, by name: ``SCHEMES["dual-path"]``.

A new scheme is one file with a subclass of `Scheme`, and one ``SCHEMES.add`` here. Other packages add theirs
by an entry point in the group ``wormcast.schemes``.
"""

from ..registry import Registry
from .base import Scheme
from .dual_path import DualPath
from .individual import Individual

__all__ = ["SCHEMES", "Scheme"]

SCHEMES: Registry[Scheme] = Registry("scheme", Scheme, "wormcast.schemes")  # type: ignore[type-abstract]
SCHEMES.add("individual", Individual())
SCHEMES.add("dual-path", DualPath())
