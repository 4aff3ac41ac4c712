"""Point of a sweep: a load experiment."""

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import wormcast
from wormcast.algorithms import Scheme, Topology, file_digest, find_scheme, topology, user_file
from wormcast.algorithms.source_digest import source_digest

from ...build.compatibility import require_sendable
from ...build.configuration import UNTIMED_FIELDS, Configuration
from ...build.limits import PRECISION
from ...build.network import Network
from ...build.setup import Setup
from ...build.traffic import Traffic
from ...common.stop import Stop
from ..energy_table import EnergyTable, read_energy
from ..events import EventSums
from ..load import Experiment, Load, Specification, Trace, check, load_until_interval, shared
from ..option_grid import Sweep, named_point
from .file import REPETITIONS

__all__ = ["LATER", "Point", "build_point", "plain_results", "points"]

#: Version of the results. Increase the version when keys of results or their meaning change.
RESULTS = 6

#: Key in a stored result for the results of the same experiment with longer warm-ups.
LATER = "later"

#: Options whose values may name a user's file.
BY_NAME = ("topology", "scheme", "relation")

Objects = Mapping[str, Mapping[str, Any]]
"""Objects in place of names, by option and name."""

NONE: Objects = {}


@dataclass(frozen=True, eq=False)
class Point:
    """Load experiment, checked without running it.

    Parameters
    ----------
    name : str
        The point's swept options: ``scheme dual-path, rate 0.002``.
    given : dict
        The point's options as in the file of the sweep.
    resolved : dict
        All options with the values with which the point is run, defaults included.
    key : str
        Everything that the results depend on, as JSON: options, version, digests of code and of files in options.
    files : dict
        Paths of the files that options name, by option. The option's value begins with the path.
    events : bool
        Count events in routers and interfaces.
    costs : EnergyTable or None
        Costs of the events.
    """

    name: str
    given: dict[str, Any]
    resolved: dict[str, Any]
    key: str
    files: dict[str, str]
    network: Topology
    scheme: Scheme
    traffic: Traffic | Trace
    configuration: Configuration
    events: bool = False
    costs: EnergyTable | None = None

    @property
    def size(self) -> float:
        """Relative duration: its cycles."""
        return self.resolved["cycles"]

    def run(self, workers: int | None = None, stop: Stop | None = None) -> dict[str, Any]:
        """Run the experiment, and return its results as plain data: without times, so they are equal on all machines.

        After a deadlock, results are null except the deadlock itself, the nominal load and the number of simulated
        cycles, because traffic before a deadlock is not in a steady state. If the warm-up is found automatically,
        ``later`` has the results with longer warm-ups (`Experiment.later_results`), see `over_same_cycles`. Points
        with ``until_interval`` have no ``later``. ``workers`` threads share the seeds, see `load`. With the option
        ``replications``, results have the results of each seed, too.

        Raises
        ------
        KeyboardInterrupt
            A stop was requested.
        """
        seed, seeds = self.resolved["seed"], self.resolved["seeds"]
        numbers = (0,) if seed is None else range(seed, seed + seeds)
        cycles, warmup, precision = (self.resolved[name] for name in ("cycles", "warmup", "precision"))
        with named_point(self.name):
            if self.resolved["until_interval"]:
                return self._plain(load_until_interval(
                    self.network, self.scheme, self.traffic, configuration=self.configuration, cycles=cycles,
                    warmup=warmup, seeds=numbers, workers=workers, precision=precision, events=self.events,
                    stop=stop))
            experiment = Experiment(self.network, self.scheme, self.traffic, configuration=self.configuration,
                                    cycles=cycles, warmup=warmup, parts=shared(numbers, workers), precision=precision,
                                    events=self.events, stop=stop)
            experiment.run_whole()
            result = experiment.result()
            found = experiment.warmup is None
            later = {LATER: [self._plain(one) for one in experiment.later_results(result.first)]} if found else {}
            return self._plain(result) | later

    def _plain(self, result: Load) -> dict[str, Any]:
        """Return `plain_results`, and the events of all routers and interfaces, with their energy."""
        plain = plain_results(result)
        if self.given.get(REPETITIONS):
            plain[REPETITIONS] = result.repetitions()
        if not self.events:
            return plain
        if result.events is None:
            counted = _nulls(EventSums.zero(self.network, self.costs).summary())
        else:
            counted = replace(result.events, table=self.costs).summary()
        return plain | counted


def points(sweep: Sweep, objects: Objects = NONE) -> list[Point]:
    """Build and check all points of a sweep, in their order. For ``objects`` see `sweep_of`."""
    return sweep.points(functools.partial(build_point, objects=objects, found={}))


def build_point(given: dict[str, Any], name: str, objects: Objects = NONE,
                found: dict[tuple[str | None, ...], tuple[Topology, Scheme]] | None = None) -> Point:
    """Build and check a point: see `Point` for the parameters. Error messages begin with the point's name.

    Parameters
    ----------
    objects : mapping
        Topologies, schemes and relations that the options name, by option and name, as from `sweep_of`.
    found : dict, optional
        Networks and schemes of other points of the same sweep, by names. Points with the same names share network and
        scheme, so that hardware is built once.
    """
    found = {} if found is None else found
    with named_point(name):
        names = tuple(given.get(what) for what in BY_NAME)
        if names not in found:
            found[names] = _named(names, objects)
        network, scheme = found[names]
        spec = Specification.of(given)
        traffic = _read_once(spec.traffic) if isinstance(spec.traffic, Trace) else spec.traffic
        setup = Setup.on(network, scheme, given)
        experiment = {
            "cycles": spec.cycles, "until_interval": given.get("until_interval", False), "seed": spec.seed,
            "seeds": spec.seeds, "warmup": given.get("warmup"), "precision": given.get("precision", PRECISION),
        }
        check(network, traffic, setup.configuration, spec.cycles, experiment["warmup"], spec.seed_numbers,
              experiment["precision"])
        costs = None if given.get("energy") is None else read_energy(Path(given["energy"]))
        events = costs is not None or given.get("events", False)
        configuration = setup.configuration.for_headers(network, scheme, traffic.most_destinations(network))
        if costs is not None:
            costs.require_width(configuration.flit_width)
        Network(network, scheme, configuration)
        if isinstance(traffic, Traffic):
            require_sendable(network, scheme, configuration)
    counting: dict[str, Any] = {"events": True, "energy": given.get("energy")} if events else {}
    if given.get(REPETITIONS):
        counting[REPETITIONS] = True
    resolved = replace(setup, configuration=configuration).to_dict(
        {**traffic.to_dict(), **experiment, **counting}, named="configuration", without=UNTIMED_FIELDS)
    texts = {f"{what}_text": file_digest(given.get(what)) for what in BY_NAME}
    version = {"version": wormcast.__version__, "results": RESULTS, "code": _code()}
    priced = {} if costs is None else {"energy_table": asdict(costs)}
    key = json.dumps({**version, **texts, **priced, **resolved}, sort_keys=True)
    return Point(name, given, resolved, key, _files(given), network, scheme, traffic, configuration, events, costs)


@functools.cache
def _code() -> str:
    return source_digest([__file__])


def _named(names: tuple[str | None, ...], objects: Objects) -> tuple[Topology, Scheme]:
    """Return the network and the scheme that a point's names of network, scheme and relation stand for."""
    if not objects:
        return _of_names(names, tuple(map(file_digest, names)))
    network, scheme, relation = (objects.get(what, NONE).get(name or "", name)
                                 for what, name in zip(BY_NAME, names, strict=True))
    built = topology(network)
    return built, find_scheme(scheme, built, relation)


@functools.cache
def _of_names(names: tuple[str | None, ...], digests: tuple[str | None, ...]) -> tuple[Topology, Scheme]:
    """Return the same objects for the same names and contents of users' files, so that hardware is built once."""
    network, scheme, relation = names
    assert network is not None
    assert scheme is not None
    built = _topology(network, digests[0])
    return built, find_scheme(scheme, built, relation)


@functools.cache
def _topology(name: str, digest: str | None) -> Topology:
    """Return the same object for the same content of a user's file, so that all schemes share a network."""
    return topology(name)


@functools.cache
def _read_once(trace: Trace) -> Trace:
    """Return the same object for equal traces, so that a file is checked once for all points."""
    return trace


def _files(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths of the files that options name, by option."""
    paths = {**{what: user_file(given.get(what)) for what in BY_NAME},
             **{name: given.get(name) for name in ("trace", "energy")}}
    return {option: path for option, path in paths.items() if path and Path(path).is_file()}


def plain_results(result: Load) -> dict[str, Any]:
    """Return a result as plain data, equal on all machines; after a deadlock, with None for all measurements."""
    found = result.to_dict()
    del found["cycles_per_second"], found["worst"], found["stages"]
    if result.deadlock:
        found = {name: value if name in ("nominal", "cycles", "deadlock") else _nulls(value)
                 for name, value in found.items()}
    # the results ``warmup`` and ``cycles`` are renamed, because options have these names, too
    found["warmup_used"], found["cycles_simulated"] = found.pop("warmup"), found.pop("cycles")
    return found


def _nulls(value: Any) -> Any:
    """Replace each value of a result, also in nested mappings, by None."""
    return {name: _nulls(one) for name, one in value.items()} if isinstance(value, Mapping) else None
