"""``load``: load experiments with random traffic or a trace."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from wormcast.algorithms import WormcastError
from wormcast.algorithms import topology as build_topology
from wormcast.algorithms.errors import option_text

from ..api.measurement import LoadTask, find_saturation
from ..build.limits import CYCLES, FIRST_SEED, MOST_SEEDS, PRECISION, SEEDS
from ..build.traffic import Traffic
from ..common.option import options_of
from ..common.path_conflicts import require_apart
from .app import Json, SchemeName, TopologyName, emit_result, stdout_for_results
from .commands import command
from .hardware import RelationOption, takes_hardware
from .named import user_files
from .options import EnergyOption, EventsOption, Given, as_typer, takes
from .outputs import LOAD_OUTPUTS, OUTPUTS

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
@takes("kept", LOAD_OUTPUTS)
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
        "as precise as --precision, with 30 messages or more of each seed. Far beyond saturation, the precision of the "
        "throughput counts, not that of the latency.",
    )] = False,
    precision: Annotated[float | None, typer.Option(
        help="Largest ratio of half the 95 % interval to the mean for which a mean counts as precise. "
        f"Default: {PRECISION}.", show_default=False)] = None,
    saturation: Annotated[bool, typer.Option(
        "--find-saturation", help="In place of --rate: find the rate at which the network saturates, by bisection with "
        "runs as by --until-interval. The search ends when half the distance between the highest rate without "
        "saturation and the lowest rate with saturation, divided by the mean of these two rates, is at most "
        "--precision.")] = False,
    events: EventsOption = False,
    energy: EnergyOption = None,
    zero_load_multiple: Annotated[float | None, typer.Option(
        metavar="MULTIPLE", help="With --find-saturation: also find the rate at which the mean latency exceeds this "
        "multiple of the latency at zero load, which is measured at a thousandth of the highest rate. Range: above 1.",
        show_default=False)] = None,
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
    from .experiments import Outputs, TableOutput, drive
    from .load_report import report_load, report_saturation

    named: dict[str, Any] = {"topology": topology, "scheme": scheme, "relation": relation}
    counting = {**({"events": True} if events else {}), **({"energy": energy} if energy else {})}
    if saturation:
        of_one = [name for name in OUTPUTS if name != "csv"]
        for name, others in (("rate", traffic), ("trace", traffic), *((name, counting) for name in counting),
                             *((name, kept) for name in of_one)):
            if name in others:
                raise WormcastError(f"{option_text(name, others[name])} is not valid with --find-saturation: the "
                                    "search runs several experiments with its own rates. Allowed: one of the two "
                                    "options.")
        out = TableOutput(kept.get("csv"))
        require_apart(user_files(scheme, relation, topology), {"--csv": out.path})
        with stdout_for_results():
            found = find_saturation(**named, cycles=cycles, warmup=warmup, precision=precision,
                                    zero_load_multiple=zero_load_multiple, **traffic, **given)
        out.write(found.table_rows)
        if json:
            emit_result(replace(found, files={"csv": str(out.path) if out.written else None}))
        else:
            report_saturation(found.saturation)
            out.report_file()
        if out.refused:
            raise WormcastError(out.refused)
        return found.exit_code
    if zero_load_multiple is not None:
        raise WormcastError(f"zero-load-multiple: {zero_load_multiple:g} is not valid without --find-saturation. "
                            "Needed: --find-saturation.")
    if "rate" not in traffic and "trace" not in traffic:
        raise WormcastError("rate is missing. Needed: --rate, --trace or --find-saturation.")
    outputs = Outputs(kept)
    require_apart({**user_files(scheme, relation, topology), "--trace": traffic.get("trace"), "--energy": energy},
                  outputs.writes)
    with stdout_for_results():
        network = build_topology(topology)
        outputs.drawing.require(network)
        for other in ("checkpoint", "window"):
            if until_interval and other in kept:
                raise WormcastError(f"--until-interval is not valid with --{other}: it ends the experiment when the "
                                    "mean is precise, in a cycle that is not known before the run. Allowed: one of "
                                    "the two options.")
        if counting and "checkpoint" in kept:
            raise WormcastError(f"{option_text(*next(iter(counting.items())))} is not valid with --checkpoint: a "
                                "checkpoint holds no events. Allowed: one of the two options.")
        task = LoadTask.of({**named, **given, "topology": network}, {**traffic, "cycles": cycles}, warmup=warmup,
                           precision=precision, until_interval=until_interval, rewind=True, events=events,
                           energy=energy)
        outputs.begin(task.experiment)
        result = task.perform(lambda experiment: drive(experiment, task.setup.origin, outputs))
        outputs.finish(task.experiment, task.setup.origin, result)
    return report_load(task.result(result, links=outputs.links), outputs, json=json)
