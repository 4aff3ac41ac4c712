"""Descriptions of histories, worms and deadlocks in words."""

from collections.abc import Sequence

from ...build.configuration import CHANNEL_FIELDS, unusual
from ...common.text import consumption_text, count
from .history import History

__all__ = ["describe", "describe_deadlock", "describe_worm", "milestones", "name_any"]


def describe(history: History) -> list[str]:
    """Describe a history: a line with scheme, network and cycles, and a line with the hardware if it is known."""
    hardware = history.configuration
    options = []
    if "vcs" in hardware and "buffer" in hardware:
        options.append(f"{count(hardware['vcs'], 'VC')} x {count(hardware['buffer'], 'flit')}")
    if history.vc_classes > 1:
        options.append(f"{history.vc_classes} classes of VCs")
    if "consumption" in hardware:
        options.append(consumption_text(hardware["consumption"], hardware.get("ejection", "one")))
    if "tokens" in hardware and hardware.get("buffer_kind") != "deep" and history.replicates:
        options.append("no tokens" if hardware["tokens"] == "off" else "tokens")
    options += unusual(hardware, CHANNEL_FIELDS)
    return [f"{history.scheme} on {history.topology.name}, cycles {history.first} to {history.end - 1}",
            *filter(None, [", ".join(options)])]


def describe_worm(history: History, number: int) -> str:
    """Describe a worm: ``worm 3: 0.0 to 0.2 1.2``."""
    worm, name = history.worms[number], history.topology.node_name
    return f"worm {number}: {name(worm.source)} to {' '.join(map(name, worm.destinations))}"


def describe_deadlock(history: History) -> list[str]:
    """Describe a deadlock: a heading, and for each worm a line with the requested resource and the worm that holds it.

    If the history has no deadlock, the list is empty.
    """
    if history.deadlock is None:
        return []
    steps = history.deadlock["cycle"]
    rest = history.at_rest(step["worm"] for step in steps)
    last = f", last flit of its worms on a link in cycle {rest - 1}" if rest > history.first else ""
    lines = [f"deadlock, proved in cycle {history.deadlock['at']}{last}:"]
    for step, then in zip(steps, [*steps[1:], steps[0]], strict=True):
        asked = name_any(history, step["waits"])
        lines.append(f"worm {step['worm']} waits for {asked}, held by worm {then['worm']}")
    return lines


def milestones(history: History) -> list[tuple[str, int, str]]:
    """Return the milestones of a deadlock: name, cycle, and an explanation of the cycles since the milestone before.

    There are up to three milestones. At the first milestone the knot closes, if this is recorded
    (`History.knot_closed`). After the second milestone no flit of the deadlock's worms is on a link. The third
    milestone is the cycle of the proof. If the history has no deadlock, the list is empty.
    """
    if history.deadlock is None:
        return []
    rest, closed = history.at_rest(step["worm"] for step in history.deadlock["cycle"]), history.knot_closed()
    found = []
    if closed is not None:
        found.append(("the knot closed in cycle", closed,
                      "from then on the worms of the knot wait only for one another"))
    if rest > history.first:
        found.append(("no flit is on a link after cycle", rest - 1, "until then flits fill the buffers"))
    return [*found, ("proved in cycle", history.deadlock["at"],
                     "the simulator searches only after a long standstill")]


def name_any(history: History, resources: Sequence[str]) -> str:
    """Name requested resources: ``cons:0.2:0 or :1``; ``link:0.1>0.2:*`` for any virtual channel of a link.

    If switches replicate worms, a header needs all requested outputs, which are joined by *and*. Otherwise any of the
    requested outputs suffices, and their names are joined by *or*.
    """
    by_name: dict[str, list[str]] = {}
    for resource in resources:
        name, _, number = history.resource_name(resource).rpartition(":")
        by_name.setdefault(name, []).append(number)
    vcs = history.configuration.get("vcs", 1)
    between = " and " if history.replicates else " or "
    return between.join(f"{name}:*" if ">" in name and len(numbers) == vcs > 1 else f"{name}:{' or :'.join(numbers)}"
                       for name, numbers in by_name.items())
