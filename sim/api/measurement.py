"""Load experiments, searches for saturation, and sweeps over options."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from wormcast.algorithms import WormcastError
from wormcast.algorithms.typecheck import checked, plain, require_kind

from ..build.configuration import UNTIMED_FIELDS
from ..build.limits import PRECISION
from ..build.setup import Origin, Setup
from ..build.traffic import Traffic
from ..common.exit_codes import Exit
from ..common.progress import pause_of, watched
from ..common.progress import progress as progress_bar
from ..common.text import count
from .arguments import known
from .event_options import NO_EVENTS, Counting
from .option_types import HardwareOptions, PathLike, RelationLike, SchemeLike, TopologyLike, TrafficOptions
from .results import CommandResult
from .simulation import TIMED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..experiments.events import EventSums
    from ..experiments.load import Experiment, Interval, Load, Saturation, Specification
    from ..experiments.option_grid import Sweep
    from ..experiments.sweep import MemoryStore, Point, ResultStore

__all__ = ["LoadResult", "LoadTask", "SaturationResult", "SweepResult", "find_saturation", "load", "measure_points",
           "sweep"]

TRAFFIC = {*TrafficOptions.__annotations__}

#: Columns of the table that a notebook shows: options that identify a load experiment, and its measurements.
SUBJECT = ("topology", "scheme", "rate")
MEASURED = ("latency_mean", "latency_half_width", "effective", "delivered_per_node", "saturated", "deadlock")


class LoadOptions(HardwareOptions, TrafficOptions, total=False):
    """Hardware options, and options of random traffic."""


#: Options of the experiment in a table of `sweep`, between the options of the traffic and the options of the hardware.
EXPERIMENT = ("cycles", "until_interval", "seed", "seeds", "warmup", "precision")


def _row(load: "Load", configuration: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Return the cells of a load experiment by column, with the columns of a table of `sweep`.

    ``configuration`` is the configuration of a result. ``options`` has values of options that ``configuration`` lacks.
    """
    from ..experiments.sweep import cells_of, plain_results

    options = {**configuration, "configuration": configuration["named"], **options}
    first = ("topology", "scheme", "relation", *load.traffic.to_dict(), *EXPERIMENT, "configuration")
    left_out = {"named", "zero_load_multiple", "events", "energy", *UNTIMED_FIELDS}
    return {**{name: options[name] for name in first},
            **{name: value for name, value in options.items() if name not in left_out},
            **cells_of(plain_results(load))}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LoadResult(CommandResult):
    """Result of `load` with one rate or a trace: latency, throughput and whether the network is saturated.

    Parameters
    ----------
    load : Load
        The measurements. docs/experiments.md defines them.
    links : bool
        `to_dict` includes the utilisation of each link.
    counted : tuple of str
        Keys that events add to `to_dict`: ``events``, and with a table of costs also ``energy``. Default: none.
    """

    load: "Load"
    links: bool = False
    counted: tuple[str, ...] = ()

    @classmethod
    def of(cls, load: "Load", origin: Origin, *, cycles: int | None, warmup: int | None, until_interval: bool = False,
           links: bool = False, counting: Counting = NO_EVENTS) -> "LoadResult":
        """Return the result of an experiment. ``cycles`` and ``warmup`` are the values of the options with these
        names; ``counting`` are the options of events."""
        load = counting.priced(load)
        random = isinstance(load.traffic, Traffic)
        setup = Setup(load.topology, load.scheme, load.configuration, origin)
        resolved = setup.to_dict({"seeds": len(load.seeds) if random else None, "cycles": cycles, "warmup": warmup,
                                  "until_interval": until_interval, "precision": load.precision,
                                  **load.traffic.to_dict(), **counting.to_dict()})
        return cls(configuration=resolved, seed=load.seeds[0] if random else None,
                   files=dict.fromkeys(("waveform", "checkpoint", "plot", "csv", "messages_out")), load=load,
                   links=links, counted=counting.keys)

    @property
    def latency(self) -> float | None:
        """Mean latency in cycles, from the creation of a message to its last receipt.

        The property is None after a deadlock, or if no counted message is received.
        """
        return self.load.span("latency").mean

    @property
    def throughput(self) -> float | None:
        """Payload flits of completed messages, times destinations, per node and cycle; None after a deadlock."""
        return self.load.per_node("completed").mean

    @property
    def latency_half_width(self) -> float | None:
        """Half the 95 % confidence interval of the mean latency.

        The property is None after a deadlock, or if fewer than two seeds have counted messages that are received.
        """
        return self.load.span("latency").half_width

    @property
    def rate(self) -> float | None:
        """Payload flits that a node creates per cycle, as requested; None for a trace."""
        return self.load.rate

    @property
    def saturated(self) -> bool | None:
        """The network is saturated; None after a deadlock."""
        return None if self.deadlock else self.load.saturated

    @property
    def precise(self) -> bool | None:
        """The mean latency is as precise as the option ``precision``; None after a deadlock."""
        return None if self.deadlock else self.load.precise

    @property
    def deadlock(self) -> bool:
        """The experiment ended in a deadlock."""
        return self.load.deadlock is not None

    @property
    def events(self) -> "EventSums | None":
        """Events in routers and interfaces, and their energy; None after a deadlock, or if events were not counted."""
        return self.load.events

    @property
    def energy(self) -> float | None:
        """Energy per payload flit received, in pJ; None after a deadlock, or without the option ``energy``."""
        return None if self.events is None or self.events.table is None else self.events.energy_per_flit().mean

    @property
    def exit_code(self) -> Exit:
        """Exit code of ``wormcast load``."""
        return Exit.DEADLOCK if self.deadlock else Exit.DONE

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: network, scheme and rate, then each measurement that is a single value."""
        from ..experiments.sweep import cells_of, plain_results

        return [{"topology": self.load.topology.name, "scheme": self.load.scheme.name, "rate": self.rate,
                 **cells_of(plain_results(self.load))}]

    def table_row(self) -> dict[str, Any]:
        """Return all options and measurements by column, with the columns of a table of `sweep`."""
        return _row(self.load, self.configuration, seed=self.seed)

    def link_rows(self) -> list[dict[str, Any]]:
        """Return a row for each link: its kind, its ends, and its flits per cycle."""
        from ..experiments.load.utilisation import LINKS

        return [{"kind": kind, "from": first, "to": second, "flits_per_cycle": flits}
                for kind in LINKS for first, second, flits in self.load.link_table(kind)]

    def _shown(self) -> list[dict[str, Any]]:
        return [{name: row[name] for name in (*SUBJECT, *MEASURED) if name in row} for row in self.rows()]

    def _figure(self) -> "Figure":
        """Return a picture of the network with the utilisation of its links.

        Raises
        ------
        WormcastError
            The network cannot be drawn, or the experiment ended in a deadlock.
        """
        from ..experiments.load.drawing import load_sheet

        if self.load.deadlock:
            raise WormcastError(f"plot: the experiment ended in a deadlock in cycle {self.load.deadlock.at}, so it has "
                                "no utilisation to draw. Needed: a result whose attribute deadlock is None.")
        return load_sheet(self.load).figure

    def _data(self) -> dict[str, Any]:
        found = {} if self.events is None else self.events.to_dict()
        return {**self.load.to_dict(links=self.links), **{key: found.get(key) for key in self.counted}}

    def _lines(self) -> list[str]:
        load = self.load
        what = f"{load.scheme.name} on {load.topology.name}"
        if load.rate is not None:
            what += f", rate {load.rate:g}"
        if load.deadlock:
            return [f"{what}: deadlock, proved in cycle {load.deadlock.at}"]
        latency, delivered = load.span("latency"), load.per_node("completed")
        return [f"{what}: {load.state}",
                f"latency {_with_interval(latency, 1)} cycles",
                f"delivered {_with_interval(delivered, 5)} flits per node and cycle"]


def _with_interval(value: "Interval", places: int) -> str:
    """Return a mean and half its 95 % interval as text."""
    if value.mean is None:
        return "unknown"
    return f"{value.mean:.{places}f}" + ("" if value.half_width is None else f" ± {value.half_width:.{places}f}")


@dataclass(frozen=True, eq=False)
class LoadTask:
    """A load experiment, ready to run.

    Parameters
    ----------
    setup : Setup
    spec : Specification
        Traffic, cycles and seeds.
    experiment : Experiment
    further : list of int
        Numbers of cycles to which the experiment is extended until the interval of its mean is narrow enough.
    until_interval : bool
        The experiment may end early, at a smaller number of cycles than requested.
    counting : Counting
    """

    setup: Setup
    spec: "Specification"
    experiment: "Experiment"
    further: list[int]
    until_interval: bool
    counting: Counting

    @classmethod
    def of(cls, named: Mapping[str, Any], given: Mapping[str, Any], *, warmup: int | None = None,
           precision: float | None = None, until_interval: bool = False, rewind: bool = False, events: bool = False,
           energy: PathLike | None = None) -> "LoadTask":
        """Resolve options.

        Parameters
        ----------
        named : mapping
            Topology, scheme, relation and hardware options, as for `Setup.of`.
        given : mapping
            Options of the traffic, the cycles and the seeds, as for `Specification.of`.
        rewind : bool
            Keep past states, so that waveforms can be recorded after the run.
        events, energy
            As in `load`.
        """
        from ..experiments.load import Experiment, Specification, lengths, shared

        spec = Specification.of({**given, "until_interval": until_interval, "precision": precision})
        setup = Setup.of(named)
        counting = Counting.of(events, energy)
        first, further = spec.cycles, list[int]()
        if until_interval and first is not None:
            first, *further = lengths(first, warmup)
        experiment = Experiment(setup.topology, setup.scheme, spec.traffic, configuration=setup.configuration,
                                cycles=first, warmup=warmup, parts=shared(spec.seed_numbers), rewind=rewind,
                                precision=PRECISION if precision is None else precision, events=counting.events)
        counting.require_width(experiment.configuration)
        return cls(setup, spec, experiment, further, until_interval, counting)

    def perform(self, drive: "Callable[[Experiment], Load]") -> "Load":
        """Run the experiment with ``drive``, extend the experiment as often as needed, and return the last result."""
        from ..experiments.load import settled

        results = [drive(self.experiment)]
        for length in self.further:
            if settled(results):
                break
            self.experiment.extend(length)
            results.append(drive(self.experiment))
        return results[-1]

    def result(self, load: "Load", **others: Any) -> LoadResult:
        """Return the `LoadResult` of the task; for ``others`` see `LoadResult.of`."""
        return LoadResult.of(load, self.setup.origin, cycles=self.spec.cycles, warmup=self.experiment.warmup,
                             until_interval=self.until_interval, counting=self.counting, **others)


@overload
def load(topology: TopologyLike, scheme: SchemeLike, rate: float | None = None, *,
         trace: PathLike | None = None, cycles: int | None = None, warmup: int | None = None,
         until_interval: bool = False, precision: float | None = None, relation: RelationLike | None = None,
         seed: int | None = None, seeds: int | None = None, events: bool = False, energy: PathLike | None = None,
         progress: bool = True, **options: Unpack[LoadOptions]) -> LoadResult: ...


@overload
def load(topology: TopologyLike, scheme: SchemeLike, rate: Sequence[float], *,
         cycles: int | None = None, warmup: int | None = None,
         until_interval: bool = False, precision: float | None = None, relation: RelationLike | None = None,
         seed: int | None = None, seeds: int | None = None, progress: bool = True,
         **options: Unpack[LoadOptions]) -> "SweepResult": ...


@checked
def load(
    topology: TopologyLike,
    scheme: SchemeLike,
    rate: float | Sequence[float] | None = None,
    *,
    trace: PathLike | None = None,
    cycles: int | None = None,
    warmup: int | None = None,
    until_interval: bool = False,
    precision: float | None = None,
    relation: RelationLike | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    events: bool = False,
    energy: PathLike | None = None,
    progress: bool = True,
    **options: Unpack[LoadOptions],
) -> "LoadResult | SweepResult":
    """Simulate random traffic with several seeds, or a trace, and measure latency and throughput.

    Parameters
    ----------
    topology, scheme, relation
        As for `run`.
    rate : float or sequence of float
        Payload flits that a node creates per cycle. A sequence gives a curve: a `SweepResult` with a point per rate.
    trace : path, optional
        File of messages in place of random traffic.
    cycles : int, optional
        Cycles of each seed, with the warm-up. Default: 100000; for a trace until all messages are received.
    warmup : int, optional
        Cycles at the start that are not measured. Default: determined from the results; for a trace 0.
    until_interval : bool
        Stop early: run a sixteenth of the cycles, and double them until the mean latency is as precise as
        ``precision``.
    precision : float, optional
        Largest ratio of half the 95 % interval to the mean for which a mean counts as precise. Default: 0.05.
    seed, seeds : int, optional
        First seed, and number of seeds. Default: 24 and 4.
    events : bool
        Count events in routers and interfaces: buffer writes and reads, crossbar passes, flits on links.
    energy : path, optional
        TOML file with the cost of each event in pJ. With this option, events are counted, and their energy is computed.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    **options
        Options of the traffic and the hardware, for example ``destinations_mean=8`` or ``vcs=4``.
    """
    hardware, traffic = _parts("load", options)
    measured = {"cycles": cycles, "seed": seed, "seeds": seeds}
    if isinstance(rate, Sequence) and not isinstance(rate, str):
        if trace is not None:
            raise WormcastError(f"trace: {trace} is not valid with a list of rates. Allowed: rate or trace.")
        entries = {"topology": topology, "scheme": scheme, "relation": relation, **hardware, **traffic, **measured,
                   "rate": [*rate], "warmup": warmup, "precision": precision,
                   "until_interval": until_interval or None, "events": events or None,
                   "energy": None if energy is None else os.fspath(energy)}
        return sweep({name: value for name, value in entries.items() if value is not None}, progress=progress)
    if rate is None and trace is None:
        raise WormcastError("rate is missing. Needed: rate or trace.")
    task = LoadTask.of({"topology": topology, "scheme": scheme, "relation": relation, **hardware},
                       {**traffic, "rate": rate, "trace": None if trace is None else os.fspath(trace), **measured},
                       warmup=warmup, precision=precision, until_interval=until_interval, events=events, energy=energy)
    with watched(progress):
        return task.result(task.perform(lambda experiment: _drive(experiment, progress)))


def _drive(experiment: "Experiment", shown: bool) -> "Load":
    """Run an experiment to its end, with a progress bar."""
    step = pause_of(experiment.cycles, shown=shown)
    with progress_bar(experiment.cycles, "cycles", experiment.now, shown=shown) as show:
        while not experiment.finished:
            experiment.run(None if step is None else experiment.now + step)
            show(experiment.now)
    return experiment.result()


def _parts(function: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the hardware options and the traffic options. Refuse other options."""
    options = known(function, given, TIMED | TRAFFIC)
    return ({name: value for name, value in options.items() if name in TIMED},
            {name: value for name, value in options.items() if name in TRAFFIC})


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SaturationResult(CommandResult):
    """Result of `find_saturation`: two rates between which the network saturates.

    Parameters
    ----------
    saturation : Saturation
        Bounds, and the load experiments of the search.
    """

    saturation: "Saturation"

    @property
    def rates(self) -> tuple[float, float]:
        """Highest simulated rate at which the network does not saturate, and lowest simulated rate at which it does.

        The first rate is 0 if all simulated rates saturate the network. The second rate is the highest rate that the
        traffic can have if no simulated rate saturates the network.
        """
        return self.saturation.rates()

    @property
    def slow_rates(self) -> tuple[float, float] | None:
        """Highest rate with a mean latency up to the limit, and lowest rate with a mean latency above the limit.

        The limit is ``zero_load_multiple`` times the latency at zero load. The property is None without
        ``zero_load_multiple``.
        """
        return None if self.saturation.limit is None else self.saturation.slow_rates()

    @property
    def exit_code(self) -> Exit:
        """Exit code of ``wormcast load --find-saturation``."""
        return Exit.DEADLOCK if self.saturation.deadlock else Exit.DONE

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each load experiment of the search, by rising rate, without the experiment at zero load."""
        from ..experiments.sweep import cells_of

        probes = sorted(self.saturation.to_dict()["probes"], key=lambda probe: probe["rate"])
        return [cells_of(probe) for probe in probes]

    def table_rows(self) -> list[dict[str, Any]]:
        """Return `LoadResult.table_row` of each load experiment, by rising rate; the experiment at zero load, if any,
        is included."""
        assert self.saturation.probes
        every = [*self.saturation.probes, *filter(None, [self.saturation.zero_load])]
        return [_row(load, self.configuration, rate=load.rate, seed=self.seed, until_interval=True)
                for load in sorted(every, key=lambda load: load.rate or 0)]

    def _data(self) -> dict[str, Any]:
        return self.saturation.to_dict()

    def _lines(self) -> list[str]:
        found, last = self.saturation, self.saturation.probes[-1]
        what, (low, high) = f"{last.scheme.name} on {last.topology.name}", self.rates
        if found.deadlock:
            return [f"{what}: deadlock at rate {found.deadlock.rate:g}"]
        if found.above is None:
            lines = [f"{what}: not saturated at rate {low:g}"]
        else:
            lines = [f"{what}: saturates between rate {low:.4g} and {high:.4g}"]
        if (slow := self.slow_rates) is not None and found.slow_above is not None:
            lines.append(f"latency above {found.multiple:g} x zero load between rate {slow[0]:.4g} and {slow[1]:.4g}")
        return [*lines, count(len(found.probes) + (found.zero_load is not None), "load experiment")]


@checked
def find_saturation(
    topology: TopologyLike,
    scheme: SchemeLike,
    *,
    cycles: int | None = None,
    warmup: int | None = None,
    precision: float | None = None,
    zero_load_multiple: float | None = None,
    relation: RelationLike | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    progress: bool = True,
    **options: Unpack[LoadOptions],
) -> SaturationResult:
    """Find the rate at which a network saturates, by bisection.

    Parameters
    ----------
    precision : float, optional
        The search ends if half the distance between the two rates in `SaturationResult.rates`, divided by their mean,
        is at most this number. A load experiment of the search ends when its mean latency is as precise as this number.
        Default: 0.05.
    zero_load_multiple : float, optional
        Also find the rate at which the mean latency exceeds this multiple of the latency at zero load, which is
        measured. Range: above 1.
    topology, scheme, cycles, warmup, relation, seed, seeds, progress, options
        As for `load`.
    """
    from ..experiments.load import Specification
    from ..experiments.load import find_saturation as search

    hardware, traffic = _parts("find_saturation", options)
    spec = Specification.of({**traffic, "rate": 0.0, "cycles": cycles, "seed": seed, "seeds": seeds,
                             "precision": precision})
    precision = PRECISION if precision is None else precision
    assert isinstance(spec.traffic, Traffic)
    assert spec.cycles is not None
    setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **hardware})
    probes = search(setup.topology, setup.scheme, spec.traffic, configuration=setup.configuration, cycles=spec.cycles,
                    warmup=warmup, seeds=spec.seed_numbers, precision=precision, multiple=zero_load_multiple)
    with watched(progress), progress_bar(None, "loads", shown=progress) as show:
        for found in probes:
            show(len(found.probes))
    asked = {name: value for name, value in spec.traffic.to_dict().items() if name != "rate"}
    resolved = setup.to_dict({"seeds": spec.seeds, "cycles": spec.cycles, "warmup": warmup, "precision": precision,
                              "zero_load_multiple": zero_load_multiple, **asked})
    return SaturationResult(configuration=resolved, seed=spec.seed, files={"csv": None}, saturation=found)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SweepResult(CommandResult):
    """Result of `sweep`, or of `load` with several rates: a load experiment for each combination of options.

    Parameters
    ----------
    sweep : Sweep
        Options with one value, and options with several values.
    points : list of Point
        The load experiments of the sweep.
    results : list of dict
        Measurements of each point.
    new : int
        Number of points that this call ran; the results of the other points were stored before.
    """

    sweep: "Sweep"
    points: "list[Point]"
    results: list[dict[str, Any]]
    new: int

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each point: its swept options, its other options, its measurements."""
        from ..experiments.sweep import row

        return [row(self.sweep, point, result) for point, result in zip(self.points, self.results, strict=True)]

    def _figure(self) -> "Figure":
        """Return a figure with curves of the latency, and beside them curves of the delivered flits.

        Raises
        ------
        WormcastError
            No option with numbers is swept, or there are too many curves.
        """
        from ..experiments.sweep import curves_figure, require_drawable

        require_drawable(self.sweep, Path("plot.svg"))
        return curves_figure(self.sweep, self.points, self.results)

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    def _shown(self) -> list[dict[str, Any]]:
        columns = dict.fromkeys((*self.sweep.swept, *MEASURED))
        return [{name: row[name] for name in columns} for row in self.rows()]

    @property
    def deadlocks(self) -> int:
        """Number of points in deadlock."""
        return sum(result["deadlock"] is not None for result in self.results)

    def _data(self) -> dict[str, Any]:
        return {"points": [{"options": point.resolved, "given": point.given, "result": result}
                           for point, result in zip(self.points, self.results, strict=True)],
                "deadlocks": self.deadlocks}

    def _lines(self) -> list[str]:
        swept = " x ".join(f"{len(values)} {name}" for name, values in self.sweep.swept.items()) or "one point"
        saturated = sum(bool(result["saturated"]) for result in self.results)
        return [f"{self.sweep.name}: {count(len(self.points), 'point')} ({swept}), {self.new} run now",
                f"{saturated} saturated, {self.deadlocks} in deadlock"]


@checked
def sweep(
    options: Mapping[str, Any] | PathLike,
    *,
    out: PathLike | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> SweepResult:
    """Run `load` for all combinations of option values.

    Parameters
    ----------
    options : mapping or path
        Options of `load` by name, with names or objects for topologies, schemes and relations; a list of values sweeps
        an option. A path names a TOML file with options of `load`.
    out : path, optional
        Folder of finished points, which are not run again. With ``out``, ``options`` must have names, not objects.
        Default: points are kept in memory.
    scheduler : str, optional
        Address of a dask.distributed cluster. Default: this machine.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    """
    from ..experiments.sweep import MemoryStore, ResultStore, points, read, require_cluster, sweep_of

    if isinstance(options, Mapping):
        for name in options:
            require_kind("option", name, str)
        given = {name: plain(value) for name, value in options.items() if value is not None}
        found, objects = sweep_of("sweep", given)
    else:
        found, objects = read(Path(options)), {}
    if scheduler is not None:
        require_cluster()
    for name, value in (("out", out), ("scheduler", scheduler)):
        if value is not None and objects:
            raise WormcastError(f"{name}: {os.fspath(value)} is not valid with objects in place of names. Allowed: "
                                "names of topologies, schemes and relations.")
    every = points(found, objects)
    if out is None:
        return measure_points(found, every, MemoryStore(), scheduler, shown=progress)
    with ResultStore(Path(out) / f"{found.name}.sqlite") as store:
        return measure_points(found, every, store, scheduler, shown=progress)


def measure_points(sweep: "Sweep", points: "list[Point]", store: "ResultStore | MemoryStore",
                   scheduler: str | None = None, *, shown: bool = True) -> SweepResult:
    """Run the points of a sweep that are not in ``store``, and return the results of all."""
    from ..experiments.sweep import missing, over_same_cycles, run_missing, run_on_cluster

    to_run = missing(points, store)
    done = run_missing(to_run, store) if scheduler is None or not to_run else run_on_cluster(to_run, store, scheduler)
    with watched(shown), contextlib.closing(done), progress_bar(len(to_run), "points", shown=shown) as show:
        for number, _ in enumerate(done, start=1):
            show(number)
    results = over_same_cycles(points, [store[point.key] for point in points])
    seed = None if "seed" in sweep.swept else points[0].resolved["seed"]
    return SweepResult(configuration={**sweep.fixed, **sweep.swept}, seed=seed,
                       files=dict.fromkeys(("csv", "parquet", "plot")), sweep=sweep, points=points, results=results,
                       new=len(to_run))
