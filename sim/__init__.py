"""Simulation: network composition, engines, host programs, experiments, command line.

    from wormcast.algorithms import SCHEMES, topology
    from wormcast.sim import Traffic, hardware, load

    mesh, scheme = topology("mesh:8x8"), SCHEMES["dual-path"]
    result = load(mesh, scheme, Traffic(rate=0.008), configuration=hardware(mesh, scheme, {"vcs": 2}), cycles=20_000)
    result.to_dict()["latency"]

``run`` sends given messages, ``load`` random traffic or a trace. An `Experiment` can be paused and continued; ``keep``
stores it in a file and ``resume`` reads it. ``build`` builds a network from options, ``lowering`` compiles it, and
``engines`` simulate it with the host programs of ``host``. ``experiments`` measure, ``waves`` and ``drawing`` show
results, ``export`` writes Verilog and FPGA projects, ``cli`` contains the commands.
"""

if __name__ != "wormcast.sim":
    raise ImportError(f"import this package as wormcast.sim, not as {__name__}")

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .build.configuration import Configuration
    from .build.configurations import CONFIGURATIONS, hardware
    from .build.network import Network
    from .build.setup import Origin
    from .experiments.load import (
        Experiment,
        Interval,
        Load,
        Trace,
        Traffic,
        keep,
        load,
        load_until_interval,
        resume,
    )
    from .experiments.run import Run, run
    from .host.message import Message
else:
    __getattr__ = lazily(__name__, {
        "build.configuration": ("Configuration",),
        "build.configurations": ("CONFIGURATIONS", "hardware"),
        "build.network": ("Network",),
        "build.setup": ("Origin",),
        "experiments.load": ("Experiment", "Interval", "Load", "Trace", "Traffic", "keep", "load",
                             "load_until_interval", "resume"),
        "experiments.run": ("Run", "run"),
        "host.message": ("Message",),
    })

__all__ = [
    "CONFIGURATIONS",
    "Configuration",
    "Experiment",
    "Interval",
    "Load",
    "Message",
    "Network",
    "Origin",
    "Run",
    "Trace",
    "Traffic",
    "hardware",
    "keep",
    "load",
    "load_until_interval",
    "resume",
    "run",
]
