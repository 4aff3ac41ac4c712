"""``load``: traffic for many cycles."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from wormcast.algorithms import WormcastError

from ..build.setup import Origin, Setup
from ..common.apart import require_apart
from ..common.schema import options_of
from ..experiments.load import (
    CYCLES,
    PERCENTILES,
    PRECISION,
    SEEDS,
    Experiment,
    Interval,
    Load,
    Saturation,
    Specification,
    Trace,
    Traffic,
    find_saturation,
    lengths,
    settled,
    shared,
)
from ..experiments.load.stages import HEADS, HELD, WAITS, WALK
from .app import (
    Exit,
    Json,
    SchemeName,
    TopologyName,
    app,
    emit,
    say,
    stdout_for_results,
    table,
    user_files,
)
from .experiments import OUTPUTS, Outputs, drive
from .hardware import RelationOption, describe_hardware, takes_hardware
from .options import Given, as_typer, takes
from .progress import progress
from .running import holds_and_waits

__all__ = ["report", "tell"]

PANEL = "Traffic"

#: Of so many messages that are received, one that is not makes a run too short to tell whether it is saturated.
SHORT = 4
KINDS = {"network": "between routers", "injection": "injection", "consumption": "consumption"}


#: What is sent, as typer wants it, in the order of --help.
TRAFFIC: dict[str, Any] = {
    **{name: as_typer(option) for name, option in options_of(Traffic).items()},
    "trace": Annotated[str | None, typer.Option(
        metavar="FILE.jsonl", help='Messages in place of random ones, a line for each: {"cycle": C, "source": NODE, '
        '"destinations": [NODE, ...], "length": flits}, "after": LINE where it waits for that one; .gz too.',
        show_default=False, rich_help_panel=PANEL)],
    "seed": Annotated[int | None, typer.Option(
        help="The first seed, 0 by default.", min=0, show_default=False, rich_help_panel=PANEL)],
    "seeds": Annotated[int | None, typer.Option(
        help=f"How many: seed, seed + 1, ..., side by side; {SEEDS} by default.", min=1, show_default=False,
        rich_help_panel=PANEL)],
}


@app.command("load")
@takes("traffic", TRAFFIC)
@takes("kept", OUTPUTS)
@takes_hardware
def load_(
    topology: TopologyName,
    scheme: SchemeName,
    cycles: Annotated[int | None, typer.Option(
        help=f"Cycles of each seed, the warm-up included; default: {CYCLES}, of a trace until all is received.",
        show_default=False)] = None,
    warmup: Annotated[int | None, typer.Option(
        help="Cycles at the start that do not count; default: found, of a trace none.", show_default=False)] = None,
    until_interval: Annotated[bool, typer.Option(
        "--until-interval", help="Run a sixteenth of the cycles, and go on to twice as many until the latency is as "
        "precise as --precision says, with 30 messages of each seed; or what is delivered, where the network is "
        "saturated.")] = False,
    precision: Annotated[float | None, typer.Option(
        help=f"Half the interval over the mean, at which a mean is precise; {PRECISION} by default.",
        show_default=False)] = None,
    saturation: Annotated[bool, typer.Option(
        "--find-saturation", help="In place of --rate: find the load at which the network saturates, by runs "
        "--until-interval, until half the distance of the rates around it is as precise as --precision says.")] = False,
    relation: RelationOption = None,
    *,
    traffic: Given,
    kept: Given,
    given: Given,
    json: Json = False,
) -> int:
    """Run traffic through the routers, random traffic with several seeds: latency, throughput, saturation.

    Exit code 3 on a deadlock, and a waveform of how it came about. Intervals are of 95 %, over the seeds.
    """
    if saturation:
        return _saturation({**traffic, "cycles": cycles, "precision": precision}, warmup, kept,
                           {"topology": topology, "scheme": scheme, "relation": relation, **given}, json)
    spec = Specification.of({**traffic, "cycles": cycles, "until_interval": until_interval, "precision": precision})
    outputs = Outputs(kept)
    require_apart({**user_files(scheme, relation, topology), "--trace": traffic.get("trace")}, outputs.writes)
    with stdout_for_results():
        setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **given})
        outputs.drawing.require(setup.topology)
        if until_interval and ("checkpoint" in kept or "window" in kept):
            raise WormcastError("until-interval: how many cycles are run is known in the end, --checkpoint and "
                                "--window need to know it before")
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
    """Find the load at which a network saturates, and tell it."""
    for name, others in (("rate", options), ("trace", options), *((name, kept) for name in OUTPUTS)):
        if others.get(name):
            raise WormcastError(f"find-saturation: --{name.replace('_', '-')} is given beside it, it runs several "
                                "experiments with rates of its own")
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


def report_saturation(found: Saturation) -> None:
    """Print where a network saturates, and the loads by which that is known."""
    last = found.probes[-1]
    say(f"{last.scheme.name} on {last.topology.name}: {describe_hardware(last.configuration, last.scheme)}")
    probes = sorted(found.to_dict()["probes"], key=lambda probe: probe["rate"])
    table(["rate", "effective", "delivered", "+-", "latency", "cycles", "state"], [
        [round(probe["rate"], 6), *(None if probe[word] is None else round(probe[word], 4) for word in (
            "effective", "delivered_per_node", "delivered_per_node_half_width")),
         None if probe["latency"]["mean"] is None else round(probe["latency"]["mean"], 1), probe["cycles"],
         "deadlock" if probe["deadlock"] else "saturated" if probe["saturated"] else "steady" if probe["precise"]
         else "imprecise"] for probe in probes])
    low, high = found.rates()
    if found.deadlock:
        say(f"a deadlock at rate {probes[-1]['rate']:g}: wormcast load --rate {probes[-1]['rate']:g} shows it")
    elif found.above is None:
        say(f"not saturated at rate {low:g}, nodes can consume up to {found.highest:g}")
    else:
        apart = (high - low) / (high + low) if low else 1
        say(f"saturated between rate {low:.4g} and {high:.4g} ({apart:.1%} about the mean), the nearest loads tried "
            "with these seeds and cycles; rate: payload flits created per node and cycle, a multicast counted once")


def tell(result: Load, origin: Origin, outputs: Outputs, *, cycles: int | None, warmup: int | None,
         until_interval: bool = False, json: bool) -> int:
    """Print the result and draw it, then say which file could not be written, and give the exit code.

    ``cycles`` and ``warmup`` are what was asked for.
    """
    random = isinstance(result.traffic, Traffic)
    if json:
        setup = Setup(result.topology, result.scheme, result.configuration, origin)
        resolved = setup.to_dict({"seeds": len(result.seeds) if random else None, "cycles": cycles, "warmup": warmup,
                                  "until_interval": until_interval, "precision": result.precision,
                                  **result.traffic.to_dict()})
        files = {what: None if path is None else str(path) for what, path in outputs.files(result).items()}
        emit({**result.to_dict(links=outputs.links), **files}, resolved, result.seeds[0] if random else None)
    else:
        report(result)
        if outputs.links:
            report_links(result)
        outputs.tell()
    outputs.drawing.draw(result, quiet=json)
    refused = outputs.refused
    if result.deadlock:
        for sentence in refused:
            print(f"wormcast: {sentence}", file=sys.stderr)
        return Exit.DEADLOCK
    if refused:
        raise WormcastError("; ".join(refused))
    return Exit.DONE


def report(result: Load) -> None:
    """Print what a load experiment came to."""
    counted = "" if result.deadlock else f", the first {result.warmup} not counted"
    if isinstance(result.traffic, Trace):
        what, whose = f"{result.traffic.path}, {result.cycles} cycles", ""
    else:
        what = f"seeds {result.seeds[0]} to {result.seeds[-1]}, {result.cycles} cycles each"
        whose = f" of seed {result.deadlock_seed}"
    say(f"{result.scheme.name} on {result.topology.name}, {what}{counted}")
    say(f"{describe_hardware(result.configuration, result.scheme)}, "
        f"relation {result.scheme.relation_on(result.topology).name}")
    if result.deadlock:
        say(f"deadlock{whose}, proved in cycle {result.deadlock.at}: each waits for the next")
        for hold in result.deadlock.cycle:
            say(f"  a worm {holds_and_waits(result.topology, hold)}")
        return
    table(["flits per node and cycle", "mean", "95 %"], [
        ["offered (created, a multicast counted once)", *_rounded(result.per_node("created"), 5)],
        ["effective (times destinations)", *_rounded(result.per_node("wanted"), 5)],
        ["accepted (consumed)", *_rounded(result.per_node("consumed"), 5)],
        ["delivered (of completed messages)", *_rounded(result.per_node("completed"), 5)],
    ])
    table(["cycles", "mean", "95 %"], [
        [name, *_rounded(result.span(span), 1)] for name, span in (
            ("latency", "latency"), ("  source queue", "queue_latency"), ("  injection", "injection_latency"),
            ("  transit", "transit_latency"), ("  reception", "reception_latency"),
            ("network latency (injection and transit)", "network_latency"),
            ("latency of multicasts", "multicast_latency"), ("latency of unicasts", "unicast_latency"))
    ])
    table(["waiting cycles", "mean", "95 %"], [
        ["for a link, each hop", *_rounded(result.wait("link"), 2)],
        ["for a consumption channel, each stop", *_rounded(result.wait("consumption"), 2)],
    ])
    report_stages(result)
    table(["percentiles of latency", "mean", "95 %"], [
        *([f"{100 * share:g} %", *_rounded(result.percentile(share), 1)] for share in PERCENTILES.values()),
        ["the longest of each seed", *_rounded(result.longest, 1)]])
    table(["channels", "mean", "95 %"], [
        ["worms for each multicast", *_rounded(result.copies, 3)],
        ["hops for each stop (v-c ratio used)", *_rounded(result.hops_per_destination, 3)],
        ["virtual for each consumption channel (v-c ratio provided)", round(result.vc_ratio, 3), None],
        ["share of virtual channels owned", *_rounded(result.occupancy("network"), 4)],
        ["share of consumption channels owned", *_rounded(result.occupancy("consumption"), 4)]])
    table(["flits per cycle and link", "mean", "95 %", "busiest", "which"], [
        [words, *_rounded(result.utilisation(kind), 4), *_busiest(result, kind)] for kind, words in KINDS.items()])
    if worst := result.worst():
        say("the slowest: " + "; ".join(_slow(result, one) for one in worst[:3]))
    totals = int(result.totals["messages"].sum())
    say(f"{totals} messages received, {result.censored} created and not received by the end")
    precise = "" if result.precise else f"; {result.imprecise}"
    short = "" if result.saturated or SHORT * result.censored <= totals else (
        "; too short a run to tell, by the messages that are not received")
    say(("saturated" if result.saturated else "not saturated") + precise + short)


def report_stages(result: Load) -> None:
    """Print what waits in each stage of a multistage network, and, of worms that are copied, what tokens do."""
    stages = result.stages
    if not any(stages.tokens):
        if len(stages):
            table(["stage", "heads that wait", "95 %"], [
                [one, *_rounded(stages.mean(HEADS, one), 3)] for one in range(len(stages))])
        return
    table(["stage", "tokens", "heads that wait", "wait for the token, cycles each", "held", "walk", "tokens held"], [
        [one, stages.tokens[one], *(_told(value, places) for value, places in (
            (stages.mean(HEADS, one), 3), (stages.each(WAITS, one), 1), (stages.each(HELD, one), 1),
            (stages.each(WALK, one), 2), (stages.mean(HELD, one), 3)))]
        for one in range(len(stages))])
    ceiling = stages.ceiling()
    if ceiling.mean is not None:
        say(f"tokens of the busiest stage would do for {_told(ceiling, 3)} accepted flits per node and cycle, if "
            "they were held as long at that load")


def _told(value: Interval, places: int) -> str | None:
    """A mean with half its 95 % interval; None where nothing was counted."""
    mean, half = _rounded(value, places)
    return None if mean is None else f"{mean}" if half is None else f"{mean} ± {half}"


def _slow(result: Load, message: Mapping[str, int | None]) -> str:
    """Tell which message it is that took long."""
    node = result.topology.node_name(int(message["source"] or 0))
    seed = "" if message["seed"] is None else f" of seed {message['seed']}"
    return f"message {message['message']}{seed}, created at {node} in cycle {message['created']}: {message['latency']}"


def report_links(result: Load) -> None:
    """Print the utilisation of each link, the busiest first."""
    for kind, words in KINDS.items():
        links = sorted(result.link_table(kind), key=lambda link: -link[2])
        table([words, "flits per cycle"],
              [[_name(result, kind, first, second), round(flits, 4)] for first, second, flits in links])


def _busiest(result: Load, kind: str) -> list[object]:
    found = result.busiest(kind)
    return [round(found[2], 4), _name(result, kind, found[0], found[1])] if found else [None, None]


def _name(result: Load, kind: str, first: int | str, second: int | str) -> str:
    """Name a link by its ends, or by its node and, where a node has several, its number there."""
    start, end = (result.topology.node_name(one) if isinstance(one, int) else one for one in (first, second))
    if kind == "network":
        return f"{start} > {end}"
    return start + (f" ({second})" if any(number for _, number in result.ends[kind]) else "")


def _rounded(value: Interval, places: int) -> list[object]:
    return [None if number is None else round(number, places) for number in (value.mean, value.half_width)]
