"""Report of a load experiment."""

import dataclasses
import sys
from collections.abc import Mapping

from wormcast.algorithms import WormcastError

from ..api.measurement import LoadResult
from ..build.traffic import Traffic
from ..common.text import rounded
from ..experiments.load import PERCENTILES, Interval, Load, Saturation, Trace
from ..experiments.load.stages import HEADS, HELD, WAITS, WALK
from .app import emit_result, say, table
from .event_report import report_events, report_places
from .experiments import Outputs
from .hardware import describe_hardware
from .run_report import at_rest, holds_and_waits

__all__ = ["report", "report_load", "report_saturation"]

#: Rows of the table of requests for rows, by key.
ADMISSION_ROWS = {"requests": "requests", "refusals": "refusals by destinations",
                  "own_refusals": "refusals by the own interface", "releases": "releases",
                  "admission_wait": "cycles from first request to last grant",
                  "control_share": "control flits, share of injected flits"}

KINDS = {"network": "between routers", "injection": "injection", "consumption": "consumption"}


def report_saturation(found: Saturation) -> None:
    """Print the load at which a network saturates, and the results of all loads that the search ran."""
    last = found.probes[-1]
    say(f"{last.scheme.name} on {last.topology.name}: {describe_hardware(last.configuration, last.scheme)}")
    probes = sorted(found.to_dict()["probes"], key=lambda probe: probe["rate"])
    table(["rate", "effective", "delivered", "+-", "latency", "cycles", "state"], [
        [round(probe["rate"], 6), *(rounded(probe[word], 4) for word in (
            "effective", "delivered_per_node", "delivered_per_node_half_width")),
         rounded(probe["latency"]["mean"], 1), probe["cycles"],
         "deadlock" if probe["deadlock"] else "saturated" if probe["saturated"] else "steady" if probe["precise"]
         else "imprecise"] for probe in probes])
    if found.deadlock:
        rate = found.deadlock.rate
        say(f"deadlock at rate {rate:g}; to see it: wormcast load --rate {rate:g}")
        return
    low, high = found.rates()
    if found.above is None:
        say(f"not saturated at rate {low:g}; the highest rate that these nodes can create and consume is "
            f"{found.highest:g}")
    else:
        say(f"saturates between rate {_apart(low, high)}, with these seeds and "
            "cycles; rate: payload flits created per node and cycle, without replies; a multicast counted once")
    if found.zero_load is None:
        return
    latency, (low, high) = found.zero_load.span("latency"), found.slow_rates()
    say(f"latency at zero load: {_with_interval(latency, 1)} cycles, measured at rate {found.zero_load.rate:.4g}")
    limit = f"{found.multiple:g} x the latency at zero load ({found.limit:.1f} cycles)"
    say(f"latency not above {limit} at rate {low:g}" if found.slow_above is None else
        f"latency above {limit} between rate {_apart(low, high)}")


def _apart(low: float, high: float) -> str:
    """Return two rates as text, with half their distance as a share of their mean."""
    return f"{low:.4g} and {high:.4g} ({(high - low) / (high + low) if low else 1:.1%} about the mean)"


def report_load(result: LoadResult, outputs: Outputs, *, json: bool) -> int:
    """Print and draw the result, report files that could not be written, and return the exit code."""
    load = result.load
    outputs.table.write(lambda: [result.table_row()])
    if json:
        files = {what: None if path is None else str(path) for what, path in outputs.files(load).items()}
        emit_result(dataclasses.replace(result, files=files))
    else:
        report(load)
        if load.events is not None:
            report_events(load.events)
        if result.links:
            report_links(load)
            if load.events is not None:
                report_places(load.events)
        outputs.report_files()
    outputs.drawing.draw(load, quiet=json)
    refused = outputs.refused
    if result.deadlock:
        for sentence in refused:
            print(f"wormcast: {sentence}", file=sys.stderr)
    elif refused:
        raise WormcastError("; ".join(refused))
    return result.exit_code


def report(result: Load) -> None:
    """Print the results of a load experiment."""
    counted = "" if result.deadlock else f", the first {result.warmup} not counted"
    if isinstance(result.traffic, Trace):
        what, whose = f"{result.traffic.path}, {result.cycles} cycles", ""
    else:
        first, *others = result.seeds
        what = f"seeds {first} to {others[-1]}, {result.cycles} cycles each" if others else (
            f"seed {first}, {result.cycles} cycles")
        whose = f" of seed {result.deadlock_seed}"
    say(f"{result.scheme.name} on {result.topology.name}, {what}{counted}")
    say(f"{describe_hardware(result.configuration, result.scheme)}, "
        f"relation {result.scheme.relation_on(result.topology).name}")
    if isinstance(result.traffic, Traffic):  # the first line names a trace
        say(f"traffic: {result.traffic.words}")
    if result.deadlock:
        say(f"deadlock{whose}, proved in cycle {result.deadlock.at}: each worm waits for the next")
        for hold in result.deadlock.cycle:
            say(f"  a worm {holds_and_waits(result.topology, hold)}")
        say(f"  {at_rest(result.deadlock)}")
        return
    nominal: list[object] = ["nominal (in the long run)", rounded(result.nominal, 5), None]
    table(["flits per node and cycle", "mean", "+-"], [
        *([] if isinstance(result.traffic, Trace) else [nominal]),
        ["offered (created; a multicast counts once)", *_rounded(result.per_node("created"), 5)],
        ["effective (created, times destinations)", *_rounded(result.per_node("wanted"), 5)],
        ["accepted (consumed)", *_rounded(result.per_node("consumed"), 5)],
        ["delivered (of completed messages)", *_rounded(result.per_node("completed"), 5)],
    ])
    table(["cycles", "mean", "+-"], [
        [name, *_rounded(result.span(span), 1)] for name, span in (
            ("latency", "latency"), ("  source queue", "queue_latency"), ("  injection", "injection_latency"),
            ("  transit", "transit_latency"), ("  reception", "reception_latency"),
            ("network latency (injection and transit)", "network_latency"),
            ("latency of multicasts", "multicast_latency"), ("latency of unicasts", "unicast_latency"))
    ])
    report_exchanges(result)
    if result.configuration.requests_rows:
        table(["admission, per admitted message", "mean", "+-"], [
            [ADMISSION_ROWS[name], *_rounded(value, 3 if name == "control_share" else 1)]
            for name, value in result.admission().items()])
    table(["waiting cycles", "mean", "+-"], [
        ["for a link, per hop", *_rounded(result.wait("link"), 2)],
        ["for a consumption channel, per destination", *_rounded(result.wait("consumption"), 2)],
    ])
    report_stages(result)
    table(["percentiles of latency", "mean", "+-"], [
        *([f"{100 * share:g} %", *_rounded(result.percentile(share), 1)] for share in PERCENTILES.values()),
        ["maximum of each seed", *_rounded(result.longest, 1)]])
    table(["channels", "mean", "+-"], [
        ["worms per multicast", *_rounded(result.copies, 3)],
        ["hops per destination (v-c ratio used)", *_rounded(result.hops_per_destination, 3)],
        ["virtual / consumption channels (v-c ratio provided)", round(result.vc_ratio, 3), None],
        ["share of virtual channels held", *_rounded(result.occupancy("network"), 4)],
        ["share of consumption channels held", *_rounded(result.occupancy("consumption"), 4)]])
    table(["flits per cycle and link", "mean", "+-", "busiest", "link"], [
        [words, *_rounded(result.utilisation(kind), 4), *_busiest(result, kind)] for kind, words in KINDS.items()])
    if len(result.seeds) > 1:
        say("+-: half the 95 % confidence interval over the seeds")
    if worst := result.worst():
        say("largest latencies: " + "; ".join(_slow(result, one) for one in worst[:3]))
    totals = int(result.totals["messages"].sum())
    say(f"{totals} messages received, {result.censored} created and not received by the end" +
        (", which the latencies do not include" if result.censored else ""))
    say(result.state)


def report_exchanges(result: Load) -> None:
    """Print round trips and outstanding requests, if destinations reply to messages."""
    if not result.replies or not isinstance(result.traffic, Traffic):
        return
    limit = f"limit {result.traffic.outstanding}" if result.traffic.outstanding else "no limit"
    table(["requests and replies, cycles", "mean", "+-"], [
        ["latency of requests", *_rounded(result.request_latency, 1)],
        ["latency of replies", *_rounded(result.span("reply_latency"), 1)],
        ["round trip (request created to last reply)", *_rounded(result.span("round_trip_latency"), 1)],
        ["  of it, held at the host by --outstanding", *_rounded(result.span("outstanding_wait"), 1)],
        *([f"round trip, {100 * share:g} %", *_rounded(result.round_trip_percentile(share), 1)]
          for share in PERCENTILES.values()),
        ["round trip, maximum of each seed", *_rounded(result.round_trip_percentile(1), 1)],
        [f"outstanding requests of a node ({limit})", *_rounded(result.outstanding, 3)]])


def report_stages(result: Load) -> None:
    """Print the waiting headers in each stage of a multistage network, and the use of tokens."""
    stages = result.stages
    if not any(stages.tokens):
        if len(stages):
            table(["stage", "waiting headers", "+-"], [
                [one, *_rounded(stages.mean(HEADS, one), 3)] for one in range(len(stages))])
        return
    table(["stage", "tokens", "waiting headers", "wait for the token, cycles each", "held", "walk", "tokens held"], [
        [one, stages.tokens[one], *(_with_interval(value, places) for value, places in (
            (stages.mean(HEADS, one), 3), (stages.each(WAITS, one), 1), (stages.each(HELD, one), 1),
            (stages.each(WALK, one), 2), (stages.mean(HELD, one), 3)))]
        for one in range(len(stages))])
    ceiling = stages.ceiling()
    if ceiling.mean is not None:
        say(f"tokens of the busiest stage limit the load to {_with_interval(ceiling, 3)} accepted flits per node and "
            "cycle, if they are held as long at that load")


def _with_interval(value: Interval, places: int) -> str | None:
    """Return a mean and half its 95 % interval as text; None if nothing was counted."""
    mean, half = _rounded(value, places)
    return None if mean is None else f"{mean}" if half is None else f"{mean} ± {half}"


def _slow(result: Load, message: Mapping[str, int | None]) -> str:
    """Return a message and its latency in words."""
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
    return [round(found[2], 4), _name(result, kind, found[0], found[1])] if found and found[2] else [None, None]


def _name(result: Load, kind: str, first: int | str, second: int | str) -> str:
    """Return a link's name: its ends; for an injection or consumption link its node, and a number if there are
    several."""
    start, end = (result.topology.node_name(one) if isinstance(one, int) else one for one in (first, second))
    if kind == "network":
        return f"{start} > {end}"
    return start + (f" ({second})" if any(number for _, number in result.ends[kind]) else "")


def _rounded(value: Interval, places: int) -> list[object]:
    return [rounded(number, places) for number in (value.mean, value.half_width)]
