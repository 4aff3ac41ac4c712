"""One component, with all the options that its cost depends on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.lib import wiring

from wormcast.algorithms import WormcastError
from wormcast.hw.router import Blueprint

from ...build.components import DEFAULTS, blueprint_of, build_component
from ...build.configuration import HOST_FIELDS, Configuration
from ...build.setup import Origin, Setup
from ...common.schema import Option, options_of
from ...experiments.option_grid import Sweep, named_point
from .breakdown import Breakdown, breakdown
from .flow import Synthesis, synthesise
from .targets import find_target

__all__ = ["OPTIONS", "SynthesisPoint", "build", "points"]

#: The options of ``wormcast synth`` that a component is built and synthesised by.
OPTIONS: dict[str, Option] = {one.name: one for one in (
    Option("target"), Option("topology"), Option("scheme"), Option("relation"), Option("relations"),
    Option("area_delay", int), Option("configuration"),
    *(one for name, one in options_of(Configuration).items() if name not in HOST_FIELDS),
)}
TARGET = "ecp5"


@dataclass(frozen=True, eq=False)
class SynthesisPoint:
    """A component to be synthesised.

    Parameters
    ----------
    what : str
        Name of the component, one of `COMPONENTS`.
    port : str, optional
        The router's port that it belongs to.
    kind : str, optional
        The kind of routers that it belongs to.
    name : str
        Its swept options: ``vcs 2, buffer 4``.
    given : dict
        Its options as they are given.
    resolved : dict
        All options.
    blueprint : Blueprint
        What it is built by.
    """

    what: str
    port: str | None
    kind: str | None
    name: str
    given: dict[str, Any]
    resolved: dict[str, Any]
    blueprint: Blueprint

    def component(self) -> wiring.Component:
        """Build the component."""
        return build_component(self.blueprint, self.what, self.port, self.kind)

    def synthesise(self, seeds: Sequence[int], progress: Callable[[str], None], workers: int = 1) -> Synthesis:
        """Synthesise, place and route it, as `synthesise` does."""
        return synthesise(self.component(), seeds=seeds, progress=progress, workers=workers, **self._settings)

    def breakdown(self, progress: Callable[[str], None]) -> Breakdown:
        """Tell which block of it costs what, as `breakdown` does."""
        return breakdown(self.component(), progress=progress, **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        return {name: self.resolved[name] for name in ("target", "storage", "area_delay")}


def points(what: str, port: str | None, sweep: Sweep, kind: str | None = None) -> list[SynthesisPoint]:
    """Build all points of a sweep, in its order.

    Raises
    ------
    WormcastError
        One cannot be built: its name, and why.
    """
    return sweep.points(lambda given, name: build(what, port, given, name, kind))


def build(what: str, port: str | None, given: Mapping[str, Any], name: str = "",
          kind: str | None = None) -> SynthesisPoint:
    """Resolve the options of a component, and make sure that it can be built.

    Parameters
    ----------
    given : mapping
        Of `OPTIONS`, as for `blueprint_of`, for ECP5 if nothing is said. Buffers are then of what the target has for
        them.
    """
    with named_point(name):
        options = dict(given)
        family, area_delay = options.pop("target", TARGET), options.pop("area_delay", None)
        if area_delay is not None and area_delay < 1:
            raise WormcastError(f"area-delay: {area_delay} is given, it must be at least 1 ps")
        target = find_target(family)
        blueprint = blueprint_of({"storage": next(iter(target.storages)), **options})
        target.require(blueprint.configuration.storage)
        build_component(blueprint, what, port, kind)
    setup = Setup(blueprint.topology, blueprint.scheme, blueprint.configuration, Origin.of({**DEFAULTS, **given}))
    resolved = {"target": family, **setup.to_dict({"relations": ",".join(blueprint.decoded), "area_delay": area_delay},
                                                  named="configuration", without=HOST_FIELDS)}
    return SynthesisPoint(what, port, kind, name, dict(given), resolved, blueprint)
