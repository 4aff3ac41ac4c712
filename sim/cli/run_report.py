"""Printed report of a run."""

from typing import TYPE_CHECKING

import numpy as np

from wormcast.algorithms import Topology

from ..build.whole_worms import whole_worms
from ..common.text import resource_text
from ..engines.faults import lost_worms
from ..experiments.contention import CAUSES, WAITS
from ..experiments.run import Run
from .app import count, say, table
from .hardware import describe_hardware

if TYPE_CHECKING:
    from ..engines.deadlock import Deadlock, Hold

__all__ = ["at_rest", "describe_deadlock", "holds_and_waits", "report", "ties_left", "unwarranted"]


def unwarranted(result: Run) -> str | None:
    """Return a warning if a run had no deadlock although worms are replicated from buffers too small for them."""
    longest = max((message.length for message in result.messages if len(message.destinations) > 1), default=None)
    whole = whole_worms(result.network.topology, [result.network.scheme], result.network.configuration, longest)
    lucky = result.outcome == "delivered" and longest is not None and whole is not None and not whole.fits
    return whole.warning if whole is not None and lucky else None


def ties_left(result: Run) -> str:
    """Return a note if the formula of a run's latency assumes signed ties, but the routers send all ties upwards."""
    worms, topology = result.worms, result.network.topology
    if worms.signs is None or result.network.configuration.ties == "signed":
        return ""
    # a formula exists only for worms with one destination
    ahead = (topology.coordinates[worms.destinations] - topology.coordinates[worms.source]) % np.array(topology.shape)
    down = worms.signs[:, None] >> np.arange(ahead.shape[1]) & 1
    some = (down.astype(bool) & (2 * ahead == np.array(topology.shape))).any()
    return "; it assumes --ties signed: the scheme sends some ties downwards" if some else ""


def report(result: Run) -> None:
    """Print the result of a run."""
    network = result.network.topology
    configuration = result.network.configuration
    unfinished = {"stalled": "not finished by --timeout,", "error": "an error on the wire,"}.get(result.outcome)
    ending = f"{unfinished} after {result.cycles} cycles" if unfinished else result.ending
    say(f"{result.network.scheme.name} on {network.name}: {ending} "
        f"({count(len(result.worms), 'worm')}, {count(result.header_flits, 'header flit')}; engine {result.engine})")
    say(f"{describe_hardware(configuration, result.network.scheme)}, "
        f"relation {result.network.scheme.relation_on(network).name}")
    rows: list[list[object]] = []
    for index in range(len(result.messages)):
        message = result.message_to_dict(index)
        rows += [
            [index, network.node_name(message["source"]), network.node_name(node), times["head"], times["tail"],
             times["received"], None if times["received"] is None else times["received"] - message["created"]]
            for node, times in result.deliveries_of(index).items()
        ]
    table(["message", "from", "to", "head", "tail", "received", "latency"], rows)
    if result.contention is not None:
        rows = [[index, words, *(waits[cause][wait] for wait in WAITS)]
                for index, waits in enumerate(result.contention) for cause, words in CAUSES.items()]
        table(["message", "waited behind", *(f"cycles for {wait}s" for wait in WAITS)], rows, title="waiting cycles")
    if result.residences:
        table(["interface", "packets forwarded", "cycles stored", "since first copy", "peak"], [
            [network.node_name(one.node), one.forwarded, round(one.resident / one.forwarded, 1),
             round(one.copied / one.forwarded, 1), one.peak] for one in result.residences])
    if configuration.requests_rows:
        found = result.admission
        wait = "" if found["admission_wait"] is None else f", {found['admission_wait']:.1f} cycles each"
        say(f"rows: {found['admitted']} of the messages admitted{wait}; {count(found['requests'], 'request')}, "
            f"{count(found['refusals'], 'refusal')}; {100 * found['control_share']:.1f} % of all flits are of control "
            "packets")
    for fault in result.faults:
        say(f"error on the wire: {fault.place(network)}, port {fault.port}, "
            f"virtual channel {fault.vc}: {fault.cause}{fault.flits}"
            f"{lost_worms(result.network, result.host, fault) if result.outcome == 'error' else ''}")
    if result.deadlock:
        say(describe_deadlock(result))


def holds_and_waits(topology: Topology, hold: "Hold") -> str:
    """Return the channels that a worm of a deadlock holds and waits for, in words."""
    held, asked = ([resource_text(topology, one) for one in names] for names in (hold.holds, hold.waits))
    return f"holds {', '.join(held)}; waits for {' or '.join(asked)}"


def describe_deadlock(result: Run) -> str:
    """Return a run's deadlock, the cycle of waiting worms, in words."""
    if result.deadlock is None:
        return "no deadlock"
    lines = [f"deadlock, proved in cycle {result.deadlock.at}: each worm waits for the next"]
    for hold in result.deadlock.cycle:
        visits = " ".join(map(result.network.topology.node_name, map(int, result.worms.visits(hold.worm))))
        source = result.network.topology.node_name(int(result.worms.source[hold.worm]))
        lines.append(f"  {hold.name} (from {source} to {visits}) {holds_and_waits(result.network.topology, hold)}")
    return "\n".join([*lines, f"  {at_rest(result.deadlock)}"])


def at_rest(deadlock: "Deadlock") -> str:
    """Return the last cycle in which a host sent or received a flit of a deadlock's worms, in words."""
    return f"no host has sent or received a flit of these worms since cycle {deadlock.moved}"
