"""Assertions of every load experiment: no errors on the wire, no message or flit lost or duplicated."""

from collections.abc import Sequence

import numpy as np

from wormcast.algorithms.errors import WireError

from ...build.compatibility import known_to_fit
from ...engines.bulk import BulkEngine
from ...engines.faults import find_faults, lost_worms
from ...host import NOW, UNDER_WAY
from .message_window import MessageWindow

__all__ = ["require_conservation", "require_no_faults"]


def require_no_faults(engine: BulkEngine, seeds: Sequence[int], first_worm: int = 0) -> None:
    """Raise an error if a component has detected an error on the wire, because measurements do not count the flits that
    the component drops.

    Error messages number the worms in the hosts' program from ``first_worm``.

    Raises
    ------
    WireError
        A user's scheme or relation passed the checks of its input, and requests a hop that the routers do not support;
        or this package has a fault.
    """
    faults = find_faults(engine)
    if not faults:
        return
    first, network = faults[0], engine.network
    ours = known_to_fit(network.topology, network.scheme, network.configuration)
    cause = ("This is a fault of wormcast." if ours else
             f"Either scheme {network.scheme.name} or relation {network.scheme.relation.name} requests what the "
             "routers do not support, or wormcast has a fault.")
    raise WireError(f"seed {seeds[first.lane]}, up to cycle {engine.host.counters[NOW]}: "
                    f"{first.place(network.topology)} found an error at {first.port}, {first.cause}{first.flits}"
                    f"{lost_worms(network, engine.host, first, first_worm)}. {cause}")


def require_conservation(window: MessageWindow, table: np.ndarray, seeds: Sequence[int]) -> None:
    """Raise an error if counts of messages, flits or worms in a lane are inconsistent.

    Created messages are received, under way or waiting. Payload flits to deliver were on a link to a host, or are
    outstanding. The running counts of messages, flits, waiting worms and worms under way equal new counts over all
    messages in the window.

    Parameters
    ----------
    table : `TOTALS` records [slices, lanes]
        Sums over each time slice so far.
    seeds : sequence of int
        Seed of each lane.

    Raises
    ------
    RuntimeError
        Counts differ: a bug of this package.
    """
    totals = {name: table[name].sum(axis=0) for name in ("begun", "created", "messages", "wanted", "consumed")}
    made, there = window.audit()
    counts = {**totals, **{f"made_{name}": count for name, count in made.items()}, "counted": window.waiting(),
              **{name: there[name] for name in ("held", "outstanding", "waiting")}}
    for left, right, sentence in (
        (totals["begun"], totals["messages"] + there["held"],
         "{begun} messages are created, {messages} of them received, and {held} on their way or waiting"),
        (totals["wanted"], totals["consumed"] + there["outstanding"],
         "{wanted} flits are to be consumed, {consumed} were on the links to hosts, and {outstanding} are outstanding"),
        (counts["counted"], there["waiting"], "{waiting} worms wait, {counted} are counted"),
        *((totals[name], made[name], f"{{made_{name}}} {what} are created, {{{name}}} are counted")
          for name, what in (("begun", "messages"), ("created", "flits"), ("wanted", "flits to consume"))),
    ):
        for lane in np.flatnonzero(left != right)[:1]:
            raise RuntimeError(f"seed {seeds[lane]}: " + sentence.format_map(
                {name: int(count[lane]) for name, count in counts.items()}))
    under_way = int(there["under_way"].sum())
    if under_way != window.host.counters[UNDER_WAY]:
        raise RuntimeError("the count of worms under way in the hosts' program differs from the number in its records: "
                           f"{window.host.counters[UNDER_WAY]}, {under_way}")
