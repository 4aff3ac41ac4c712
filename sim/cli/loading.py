"""``load``: load experiments with random traffic or a trace."""

from typing import Annotated, Any

import typer

from wormcast.algorithms import WormcastError

from ..build.limits import CYCLES, FIRST_SEED, MOST_SEEDS, PRECISION, SEEDS
from ..build.setup import Setup
from ..build.traffic import Traffic
from ..common.option import options_of
from ..common.path_conflicts import require_apart
from .app import Exit, Json, SchemeName, TopologyName, emit, stdout_for_results
from .commands import command
from .hardware import RelationOption, takes_hardware
from .named import user_files
from .options import Given, as_typer, takes
from .outputs import OUTPUTS
from .progress import progress

__all__: list[str] = []

PANEL = "Traffic"

#: Typer annotations of the traffic options, in the order of --help.
TRAFFIC: dict[str, Any] = {
    **{name: as_typer(option) for name, option in options_of(Traffic).items()},
    "trace": Annotated[str | None, typer.Option(
        metavar="FILE.jsonl", help='Messages in place of random traffic, one per line: {"cycle": C, "source": NODE, '
        '"destinations": [NODE, ...], "length": FLITS}. With "after": K a message waits until its source has received '
        "message K; the first message is 0. May be compressed: .jsonl.gz.",
        show_default=False, rich_help_panel=PANEL)],
    "seed": Annotated[int | None, typer.Option(
        help=f"First seed of the random traffic. Default: {FIRST_SEED}.", min=0, show_default=False,
        rich_help_panel=PANEL)],
    "seeds": Annotated[int | None, typer.Option(
        help=f"Number of seeds (seed, seed + 1, ...), simulated side by side. Default: {SEEDS}.", min=1,
        max=MOST_SEEDS,
        show_default=False, rich_help_panel=PANEL)],
}


@command("load")
@takes("traffic", TRAFFIC)
@takes("kept", OUTPUTS)
@takes_hardware
def load_(
    topology: TopologyName,
    scheme: SchemeName,
    cycles: Annotated[int | None, typer.Option(
        help=f"Cycles of each seed, including the warm-up. Default: {CYCLES}; for a trace until all messages are "
        "received.", show_default=False)] = None,
    warmup: Annotated[int | None, typer.Option(
        help="Cycles at the start that are not measured. Default: determined from the results; for a trace 0.",
        show_default=False)] = None,
    until_interval: Annotated[bool, typer.Option(
        "--until-interval", help="Stop early: run a sixteenth of the cycles, and double them until the mean latency is "
        "as precise as --precision, with 30 messages of each seed. In saturation the throughput counts, not the "
        "latency.",
    )] = False,
    precision: Annotated[float | None, typer.Option(
        help="Half the 95 % interval over the mean, at which a mean counts as precise. "
        f"Default: {PRECISION}.", show_default=False)] = None,
    saturation: Annotated[bool, typer.Option(
        "--find-saturation", help="In place of --rate: find the rate at which the network saturates, by bisection with "
        "runs as by --until-interval. It ends when half the distance of the two nearest rates, divided by their "
        "mean, is at most --precision.")] = False,
    relation: RelationOption = None,
    *,
    traffic: Given,
    kept: Given,
    given: Given,
    json: Json = False,
) -> int:
    """Exit code 3: deadlock; a waveform shows the cycles before it. Intervals are 95 % confidence intervals over the
    seeds.
    """
    from ..experiments.load import Experiment, Specification, lengths, settled, shared
    from .experiments import Outputs, drive
    from .load_report import tell

    if saturation:
        return _saturation({**traffic, "cycles": cycles, "precision": precision}, warmup, kept,
                           {"topology": topology, "scheme": scheme, "relation": relation, **given}, json)
    if "rate" not in traffic and "trace" not in traffic:
        raise WormcastError("rate is missing. Needed: --rate, --trace or --find-saturation.")
    spec = Specification.of({**traffic, "cycles": cycles, "until_interval": until_interval, "precision": precision})
    outputs = Outputs(kept)
    require_apart({**user_files(scheme, relation, topology), "--trace": traffic.get("trace")}, outputs.writes)
    with stdout_for_results():
        setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **given})
        outputs.drawing.require(setup.topology)
        if until_interval and ("checkpoint" in kept or "window" in kept):
            raise WormcastError("until-interval: on is not valid with --checkpoint or --window: the number of cycles "
                                "is not known before the run")
        first, further = spec.cycles, list[int]()
        if until_interval and first is not None:
            first, *further = lengths(first, warmup)
        experiment = Experiment(setup.topology, setup.scheme, spec.traffic, configuration=setup.configuration,
                                cycles=first, warmup=warmup, parts=shared(spec.seed_numbers), rewind=True,
                                precision=PRECISION if precision is None else precision)
        outputs.begin(experiment)
        results = [drive(experiment, setup.origin, outputs)]
        for length in further:
            if settled(results):
                break
            experiment.extend(length)
            results.append(drive(experiment, setup.origin, outputs))
        result = results[-1]
        outputs.finish(experiment, setup.origin, result)
    return tell(result, setup.origin, outputs, cycles=spec.cycles, warmup=experiment.warmup,
                until_interval=until_interval, json=json)


def _saturation(options: dict[str, Any], warmup: int | None, kept: Given, named: dict[str, Any], json: bool) -> int:
    """Find the load at which a network saturates, and print it."""
    from ..experiments.load import Specification, find_saturation
    from .load_report import report_saturation

    for name, others in (("rate", options), ("trace", options), *((name, kept) for name in OUTPUTS)):
        if others.get(name):
            raise WormcastError(f"{name}: {others[name]} is not valid with --find-saturation: the "
                                "search runs several experiments with its own rates")
    spec = Specification.of({**options, "rate": 0.0})
    precision = PRECISION if options["precision"] is None else options["precision"]
    assert isinstance(spec.traffic, Traffic)
    assert spec.cycles is not None
    with stdout_for_results():
        setup = Setup.of(named)
        search = find_saturation(
            setup.topology, setup.scheme, spec.traffic, configuration=setup.configuration, cycles=spec.cycles,
            warmup=warmup, seeds=spec.seed_numbers, precision=precision)
        with progress(None, "loads") as show:
            for found in search:
                show(len(found.probes))
    if json:
        asked = {name: value for name, value in spec.traffic.to_dict().items() if name != "rate"}
        emit(found.to_dict(), setup.to_dict({"seeds": spec.seeds, "cycles": spec.cycles, "warmup": warmup,
                                             "precision": precision, **asked}), spec.seed)
    else:
        report_saturation(found)
    return Exit.DEADLOCK if found.deadlock else Exit.DONE
