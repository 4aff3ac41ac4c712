"""``load``: random traffic at a rate, for many cycles."""

import dataclasses
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError, load_relation
from wormcast.algorithms import topology as build_topology

from ..load import DISTRIBUTIONS, Experiment, Interval, Load, Origin, Traffic, lengths, settled, shared
from .app import Exit, Json, SchemeName, TopologyName, app, emit, find_scheme, say, stdout_for_results, table
from .experiments import (
    CheckpointEvery,
    CheckpointOption,
    Instances,
    Keeping,
    Recording,
    Vcd,
    WindowOption,
    drive,
    finish,
    warn,
)
from .hardware import Given, RelationOption, describe_hardware, hardware, resolved_hardware, takes_hardware

__all__ = ["report", "tell"]

TRAFFIC = "Traffic"


@app.command("load")
@takes_hardware("storage")
def load_(
    topology: TopologyName,
    scheme: SchemeName,
    rate: Annotated[float, typer.Option(
        help="Payload flits that a node creates per cycle, a multicast counted once.", rich_help_panel=TRAFFIC)],
    cycles: Annotated[int, typer.Option(help="Cycles of each seed, the warm-up included.")] = 100_000,
    warmup: Annotated[int | None, typer.Option(
        help="Cycles at the start that do not count; default: found.", show_default=False)] = None,
    until_interval: Annotated[bool, typer.Option(
        "--until-interval", help="Begin with a sixteenth of the cycles, and double them until the latency's interval "
        "is within 5 % or the network saturates.")] = False,
    length: Annotated[int, typer.Option(help="Payload flits of a multicast.", rich_help_panel=TRAFFIC)] = 20,
    destinations_mean: Annotated[float, typer.Option(
        help="Mean destinations of a multicast.", rich_help_panel=TRAFFIC)] = 10.0,
    destinations_distribution: Annotated[str, typer.Option(
        metavar="|".join(DISTRIBUTIONS), help="Of their number: that mean; uniform from 1 to 2 x mean - 1; or normal, "
        "clamped.", rich_help_panel=TRAFFIC)] = "fixed",
    destinations_deviation: Annotated[float, typer.Option(
        help="Standard deviation of a normal one.", rich_help_panel=TRAFFIC)] = 0.0,
    multicast_fraction: Annotated[float, typer.Option(
        help="Share of multicasts among the messages.", rich_help_panel=TRAFFIC)] = 1.0,
    unicast_length: Annotated[int, typer.Option(help="Payload flits of a unicast.", rich_help_panel=TRAFFIC)] = 20,
    seed: Annotated[int, typer.Option(help="The first seed.", min=0, rich_help_panel=TRAFFIC)] = 0,
    seeds: Annotated[int, typer.Option(help="How many: seed, seed + 1, ..., side by side.", min=1,
                                       rich_help_panel=TRAFFIC)] = 4,
    relation: RelationOption = None,
    checkpoint: CheckpointOption = None,
    checkpoint_every: CheckpointEvery = None,
    vcd: Vcd = None,
    window: WindowOption = None,
    instances: Instances = None,
    *,
    given: Given,
    json: Json = False,
) -> int:
    """Run random traffic through the routers, with several seeds at a time: latency, throughput, saturation.

    Exit code 3 on a deadlock, and a waveform of how it came about. Intervals are of 95 %, over the seeds.
    """
    origin = Origin(scheme, relation, given.get("configuration"))
    network = build_topology(topology)
    found = find_scheme(scheme, network)
    traffic = Traffic(rate, length, unicast_length, multicast_fraction, destinations_mean, destinations_distribution,
                      destinations_deviation)
    with stdout_for_results():
        if relation is not None:
            found = found.routed_by(load_relation(relation))
        options = hardware(network, found, given)
        keeping = Keeping(checkpoint, checkpoint_every)
        if until_interval and (checkpoint or window):
            raise WormcastError("until-interval: it runs several experiments, --checkpoint and --window go with one")
        for length in lengths(cycles, warmup) if until_interval else [cycles]:
            experiment = Experiment(network, found, traffic, configuration=options, cycles=length, warmup=warmup,
                                    parts=shared(range(seed, seed + seeds)), rewind=True)
            recording = Recording.parse(vcd, window, instances, experiment)
            drive(experiment, origin, keeping, recording)
            if settled(experiment.result()):
                break
        result = finish(experiment, origin, keeping, recording)
    return tell(result, origin, keeping, recording, until_interval=until_interval, json=json)


def tell(result: Load, origin: Origin, keeping: Keeping, recording: Recording, *, until_interval: bool = False,
         json: bool) -> int:
    """Print the result, then which file could not be written, and give the exit code."""
    if json:
        resolved = {
            "topology": result.topology.name, "scheme": origin.scheme, "seeds": len(result.seeds),
            "until_interval": until_interval, "named": origin.named,
            "relation": origin.relation or result.scheme.relation.name, **dataclasses.asdict(result.traffic),
            **resolved_hardware(result.configuration, result.topology, result.scheme),
        }
        files = {"waveform": recording.written, "checkpoint": None if keeping.written is None else keeping.path}
        named = {what: None if path is None else str(path) for what, path in files.items()}
        emit({**result.to_dict(), **named}, resolved, result.seeds[0])
    else:
        report(result)
        if recording.written:
            say(f"waveform: {recording.written}")
        if keeping.written is not None:
            say(f"checkpoint: {keeping.path}, cycle {keeping.written}")
    refused = [sentence for sentence in (recording.refused, keeping.refused) if sentence]
    if result.deadlock:
        for sentence in refused:
            warn(sentence)
        return Exit.DEADLOCK
    if refused:
        raise WormcastError("; ".join(refused))
    return Exit.DONE


def report(result: Load) -> None:
    """Print what a load experiment came to."""
    counted = "" if result.deadlock else f", the first {result.warmup} not counted"
    say(f"{result.scheme.name} on {result.topology.name}, seeds {result.seeds[0]} to {result.seeds[-1]}, "
        f"{result.cycles} cycles each{counted}")
    say(describe_hardware(result.configuration))
    if result.deadlock:
        say(f"deadlock of seed {result.deadlock_seed}, proved in cycle {result.deadlock.at}: each waits for the next")
        for hold in result.deadlock.cycle:
            say(f"  a worm that holds {', '.join(hold.holds)} waits for {' or '.join(hold.waits)}")
        return
    table(["flits per node and cycle", "mean", "95 %"], [
        ["offered (created, a multicast counted once)", *_rounded(result.per_node("created"), 5)],
        ["effective (times destinations)", *_rounded(result.per_node("wanted"), 5)],
        ["accepted (consumed)", *_rounded(result.per_node("consumed"), 5)],
        ["delivered (of completed messages)", *_rounded(result.per_node("completed"), 5)],
    ])
    table(["cycles", "mean", "95 %"], [
        [name, *_rounded(result.span(span), 1)] for name, span in (
            ("latency", "latency"), ("  source queue", "queue_latency"), ("  network", "network_latency"),
            ("  reception", "reception_latency"), ("latency of multicasts", "multicast_latency"),
            ("latency of unicasts", "unicast_latency"))
    ])
    totals = int(result.totals["messages"].sum())
    say(f"{totals} messages received, {result.censored} created and not received by the end")
    precise = "" if result.precise else "; the latency's interval is wider than 5 %"
    say(("saturated" if result.saturated else "not saturated") + precise)


def _rounded(value: Interval, places: int) -> list[object]:
    return [None if number is None else round(number, places) for number in (value.mean, value.half_width)]
