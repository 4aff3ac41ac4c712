"""Multicast in switched networks, at register-transfer level.

    import wormcast as wc

    wc.plan("mesh:8x8", "dual-path", "3.2", ["5.0", "1.4"])
    wc.run("mesh:8x8", "dual-path", "3.2", ["5.0", "1.4"], length=20).to_dict()
    wc.check("mesh:4x4", "dual-path", consumption=1).plot()
    wc.load("mesh:8x8", "dual-path", rate=[0.004, 0.008, 0.012]).plot()

Each command of the command line is a function, except ``continue``, ``demo`` and ``doctor``; ``list`` is `names`,
``wave`` is `read_waveform`, and ``synth --sweep`` is `synth_sweep`. A function has the options of its command, except
most options for files. ``topology`` returns a `Topology`, and `describe` its description and picture. Each function but
``topology`` returns a result with ``to_dict``, ``to_dataframe`` and ``to_arrow``. Most results have ``plot``.
Topologies, schemes and relations are names or objects. Input that is not valid raises `WormcastError`.

``wormcast.algorithms`` plans multicasts, ``wormcast.hw`` contains routers and interfaces, ``wormcast.sim`` simulates
them.
"""

from typing import Any

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

__version__: str

__commit__: str | None
"""git commit of this installation, 40 or 64 hexadecimal digits; None if it is unknown."""

#: Module of each public name, imported at the first use of the name.
_MODULES = {
    name: module
    for module, names in {
        "algorithms.errors": ("WormcastError",),
        "algorithms.routing.base": ("Relation",),
        "algorithms.schemes.base": ("Scheme",),
        "algorithms.topologies": ("topology",),
        "algorithms.topologies.base": ("Topology",),
        "sim.api.catalogue": ("NamesResult", "names"),
        "sim.api.checking": ("CheckResult", "check"),
        "sim.api.description": ("NetworkResult", "describe"),
        "sim.api.figures": ("FigureResult", "figure"),
        "sim.api.hardware_cost": (
            "SynthesisResult", "SynthesisSweepResult", "VerilogResult", "synth", "synth_sweep", "verilog"),
        "sim.api.measurement": ("LoadResult", "SaturationResult", "SweepResult", "find_saturation", "load", "sweep"),
        "sim.api.planning": ("PlanResult", "RandomPlansResult", "plan", "plan_random"),
        "sim.api.recordings": ("WaveformResult", "read_waveform"),
        "sim.api.simulation": ("HuntResult", "RunResult", "hunt", "run"),
        "sim.host.message": ("Message",),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        value: Any = metadata.version("wormcast")
    elif name == "__commit__":
        from pathlib import Path

        from .algorithms.commit import commit_of

        value = commit_of(Path(__file__).parent)
    elif name in _MODULES:
        value = vars(import_module(f"{__name__}.{_MODULES[name]}"))[name]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
