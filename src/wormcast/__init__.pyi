"""Types of the public names. In ``__init__.py``, these imports would count as imports of all modules."""

from .algorithms import Relation, Scheme, Topology, WormcastError, topology
from .sim.api.catalogue import NamesResult, names
from .sim.api.checking import CheckResult, check
from .sim.api.description import NetworkResult, describe
from .sim.api.figures import FigureResult, figure
from .sim.api.hardware_cost import (
    SynthesisResult,
    SynthesisSweepResult,
    VerilogResult,
    synth,
    synth_sweep,
    verilog,
)
from .sim.api.measurement import LoadResult, SaturationResult, SweepResult, find_saturation, load, sweep
from .sim.api.planning import PlanResult, RandomPlansResult, plan, plan_random
from .sim.api.recordings import WaveformResult, read_waveform
from .sim.api.simulation import HuntResult, RunResult, hunt, run
from .sim.host.message import Message

__version__: str
__commit__: str | None

__all__ = [
    "CheckResult",
    "FigureResult",
    "HuntResult",
    "LoadResult",
    "Message",
    "NamesResult",
    "NetworkResult",
    "PlanResult",
    "RandomPlansResult",
    "Relation",
    "RunResult",
    "SaturationResult",
    "Scheme",
    "SweepResult",
    "SynthesisResult",
    "SynthesisSweepResult",
    "Topology",
    "VerilogResult",
    "WaveformResult",
    "WormcastError",
    "__commit__",
    "__version__",
    "check",
    "describe",
    "figure",
    "find_saturation",
    "hunt",
    "load",
    "names",
    "plan",
    "plan_random",
    "read_waveform",
    "run",
    "sweep",
    "synth",
    "synth_sweep",
    "topology",
    "verilog",
]
