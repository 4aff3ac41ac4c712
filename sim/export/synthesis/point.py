"""A component to synthesise, with all options that affect its cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from amaranth.lib import wiring

from wormcast.algorithms import WormcastError
from wormcast.hw.router import Blueprint

from ...build.components import DEFAULTS, blueprint_of, build_component, host_port_of
from ...build.configuration import HOST_FIELDS, Configuration
from ...build.host_port import HostPort
from ...build.setup import Origin, Setup
from ...build.stream_network import resolved as resolved_port
from ...common.option import Option, options_of
from ...experiments.option_grid import Sweep, named_point
from ..clocking import RESETS, ClockEnabled, is_clocked, require_clock, require_reset
from .breakdown import Breakdown, breakdown
from .flow import Synthesis, synthesise
from .targets import find_target

__all__ = ["OPTIONS", "SynthesisPoint", "build", "points"]

#: Options of ``wormcast synth`` for building and synthesising a component.
OPTIONS: dict[str, Option] = {one.name: one for one in (
    Option("target"), Option("topology"), Option("scheme"), Option("relation"), Option("relations"),
    Option("area_delay", int), Option("reset", allowed=RESETS), Option("clock_enable", bool), Option("configuration"),
    *options_of(HostPort).values(),
    *(one for name, one in options_of(Configuration).items() if name not in HOST_FIELDS),
)}
TARGET = "ecp5"


@dataclass(frozen=True, eq=False)
class SynthesisPoint:
    """A component to synthesise.

    Parameters
    ----------
    what : str
        Name of the component, one of `COMPONENTS`.
    port : str, optional
        Port of the router that the component belongs to.
    kind : str, optional
        Kind of routers that the component belongs to.
    name : str
        Values of the swept options at this point: ``vcs 2, buffer 4``.
    given : dict
        Options as given by the user.
    resolved : dict
        All options, with defaults.
    blueprint : Blueprint
    host_port : HostPort
        Port between an interface and its host.
    """

    what: str
    port: str | None
    kind: str | None
    name: str
    given: dict[str, Any]
    resolved: dict[str, Any]
    blueprint: Blueprint
    host_port: HostPort

    def component(self) -> wiring.Component:
        """Build the component."""
        component = build_component(self.blueprint, self.what, self.port, self.kind, self.host_port)
        return ClockEnabled(component) if self.resolved["clock_enable"] else component

    def synthesise(self, seeds: Sequence[int], progress: Callable[[str], None], workers: int = 1,
                   runs: int = 1) -> Synthesis:
        """Synthesise, place and route the component; see `synthesise`."""
        return synthesise(self.component(), seeds=seeds, runs=runs, progress=progress, workers=workers,
                          **self._settings)

    def breakdown(self, progress: Callable[[str], None]) -> Breakdown:
        """Synthesise the component block by block; see `breakdown`."""
        return breakdown(self.component(), progress=progress, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        return {name: self.resolved[name] for name in ("target", "storage", "area_delay", "reset")}


def points(what: str, port: str | None, sweep: Sweep, kind: str | None = None) -> list[SynthesisPoint]:
    """Return the points of a sweep, in the order of the sweep, with checked options. Nothing is synthesised."""
    return sweep.points(lambda given, name: build(what, port, given, name, kind))


def build(what: str, port: str | None, given: Mapping[str, Any], name: str = "",
          kind: str | None = None) -> SynthesisPoint:
    """Resolve the options of a component, and check that it can be built.

    Parameters
    ----------
    given : mapping
        Options of `OPTIONS`, as for `blueprint_of`. The default target is ECP5. The default of ``storage`` is the first
        of the target's ``storages``.
    """
    with named_point(name):
        options = dict(given)
        family, area_delay = options.pop("target", TARGET), options.pop("area_delay", None)
        if area_delay is not None and area_delay < 1:
            raise WormcastError(f"area-delay: {area_delay} is not valid. Allowed: 1 ps or more.")
        reset, clock_enable = options.pop("reset", "sync"), options.pop("clock_enable", False)
        require_reset(reset)
        host_port = host_port_of(what, {name: options.pop(name) for name in options_of(HostPort) if name in options})
        target = find_target(family)
        options.setdefault("storage", next(iter(target.storages)))
        target.require(options["storage"])
        blueprint = blueprint_of(options)
        component = build_component(blueprint, what, port, kind, host_port)
        if reset != "sync" or clock_enable:
            require_clock(what, reset=reset, clock_enable=clock_enable, clocked=is_clocked(component))
        port_to_host = asdict(resolved_port(host_port, blueprint))
    setup = Setup(blueprint.topology, blueprint.scheme, blueprint.configuration, Origin.of({**DEFAULTS, **given}))
    own = {"relations": ",".join(blueprint.decoded), "area_delay": area_delay, "reset": reset,
           "clock_enable": clock_enable, **port_to_host}
    resolved = {"target": family, **setup.to_dict(own, named="configuration", without=HOST_FIELDS)}
    return SynthesisPoint(what, port, kind, name, dict(given), resolved, blueprint, host_port)

