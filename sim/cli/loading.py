"""``load``: random traffic at a rate, for many cycles."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import load_relation
from wormcast.algorithms import topology as build_topology

from ..drawing import require_drawable
from ..load import DISTRIBUTIONS, Interval, Load, Traffic, draw_utilisation, load, load_until_interval
from .app import Exit, Json, SchemeName, TopologyName, app, emit, find_scheme, say, stdout_for_results, table
from .files import require_writable, whole_file
from .hardware import Given, RelationOption, describe_hardware, hardware, resolved_hardware, takes_hardware

TRAFFIC = "Traffic"
KINDS = {"network": "between routers", "injection": "injection", "consumption": "consumption"}


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
    links: Annotated[bool, typer.Option("--links", help="Tell the utilisation of each link too.")] = False,
    plot: Annotated[Path | None, typer.Option(
        help="Draw the network, a mesh of two dimensions, and how busy its links are into this .svg or .png.")] = None,
    *,
    given: Given,
    json: Json = False,
) -> int:
    """Run random traffic through the routers, with several seeds at a time: latency, throughput, saturation.

    Exit code 3 on a deadlock. Intervals are of 95 %, over the seeds.
    """
    network = build_topology(topology)
    if plot:
        require_drawable(network, plot)
        require_writable(plot)
    found = find_scheme(scheme, network)
    traffic = Traffic(rate, length, unicast_length, multicast_fraction, destinations_mean, destinations_distribution,
                      destinations_deviation)
    with stdout_for_results():
        if relation is not None:
            found = found.routed_by(load_relation(relation))
        experiment = load_until_interval if until_interval else load
        result = experiment(network, found, traffic, configuration=hardware(network, found, given), cycles=cycles,
                            warmup=warmup, seeds=range(seed, seed + seeds))
    if json:
        resolved = {
            "topology": network.name, "scheme": scheme, "seeds": seeds, "until_interval": until_interval,
            "named": given.get("configuration"), "relation": relation or found.relation.name,
            **dataclasses.asdict(traffic), **resolved_hardware(result.configuration, network, found),
        }
        emit(result.to_dict(links=links), resolved, seed)
    else:
        report(result)
        if links:
            report_links(result)
    if plot and not result.deadlock:
        with whole_file(plot) as unfinished:
            draw_utilisation(result, unfinished, plot.suffix[1:])
    if plot and not json:
        say("no drawing, as nothing is measured in a deadlock" if result.deadlock else f"drawing: {plot}")
    return Exit.DEADLOCK if result.deadlock else Exit.DONE


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
            ("latency", "latency"), ("  source queue", "queue_latency"), ("  injection", "injection_latency"),
            ("  transit", "transit_latency"), ("  reception", "reception_latency"),
            ("network latency (injection and transit)", "network_latency"),
            ("latency of multicasts", "multicast_latency"), ("latency of unicasts", "unicast_latency"))
    ])
    table(["waiting cycles", "mean", "95 %"], [
        ["for a link, each hop", *_rounded(result.wait("link"), 2)],
        ["for a consumption channel, each stop", *_rounded(result.wait("consumption"), 2)],
    ])
    table(["flits per cycle and link", "mean", "95 %", "busiest", "which"], [
        [words, *_rounded(result.utilisation(kind), 4), *_busiest(result, kind)] for kind, words in KINDS.items()])
    totals = int(result.totals["messages"].sum())
    say(f"{totals} messages received, {result.censored} created and not received by the end")
    precise = "" if result.precise else "; the latency's interval is wider than 5 %"
    say(("saturated" if result.saturated else "not saturated") + precise)


def report_links(result: Load) -> None:
    """Print the utilisation of each link, the busiest first."""
    for kind, words in KINDS.items():
        links = sorted(result.link_table(kind), key=lambda link: -link[2])
        table([words, "flits per cycle"], [[_name(result, kind, *ends), round(flits, 4)] for *ends, flits in links])


def _busiest(result: Load, kind: str) -> list[object]:
    found = result.busiest(kind)
    return [round(found[2], 4), _name(result, kind, *found[:2])] if found else [None, None]


def _name(result: Load, kind: str, first: int, second: int) -> str:
    """Name a link by its ends, or by its node and, where a node has several, its number there."""
    name = result.topology.node_name
    if kind == "network":
        return f"{name(first)} > {name(second)}"
    return name(first) + (f" ({second})" if len(result.links[kind]) > 1 else "")


def _rounded(value: Interval, places: int) -> list[object]:
    return [None if number is None else round(number, places) for number in (value.mean, value.half_width)]
