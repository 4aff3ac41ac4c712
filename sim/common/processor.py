"""The processor that this runs on."""

from functools import cache

import llvmlite.binding as llvm

__all__ = ["host"]


@cache
def host() -> tuple[str, str]:
    """Name and features of this processor, as LLVM spells them."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
