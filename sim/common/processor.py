"""Processor of this machine."""

from functools import cache

import llvmlite.binding as llvm

__all__ = ["host"]


@cache
def host() -> tuple[str, str]:
    """Return name and features of this processor in LLVM's spelling."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
