"""Assertions of every load experiment: no errors on the wire, no message or flit lost or duplicated."""

from collections.abc import Sequence

import numpy as np

from wormcast.algorithms import E_CUBE, HAMILTONIAN, WormcastError

from ...engines.bulk import BulkEngine
from ...engines.faults import find_faults
from ...host import NOW, UNDER_WAY
from .message_window import MessageWindow

__all__ = ["require_conservation", "require_no_faults"]


def require_no_faults(engine: BulkEngine, seeds: Sequence[int]) -> None:
    """Raise an error if a component has detected an error on the wire: the flits that it drops are not measured.

    Raises
    ------
    WormcastError
        The user's relation requests a hop that the routers do not support.
    RuntimeError
        The relation belongs to this package: a bug.
    """
    faults = find_faults(engine)
    if not faults:
        return
    first, network = faults[0], engine.network
    sentence = (f"seed {seeds[first.lane]}, up to cycle {engine.host.counters[NOW]}: {first.place(network.topology)} "
                f"found an error at {first.port}, {first.cause}")
    relation = network.scheme.relation
    if relation in (E_CUBE, HAMILTONIAN):
        raise RuntimeError(sentence)
    raise WormcastError(f"relation: {relation.name} is not valid: it requests a hop that the routers do not support; "
                        f"{sentence}")


def require_conservation(window: MessageWindow, table: np.ndarray, seeds: Sequence[int]) -> None:
    """Compare counts of created, waiting, outstanding and received messages and flits, and of flits on links to hosts.

    Parameters
    ----------
    table : `TOTALS` records [slices, lanes]
        All sums so far.
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
        *((totals[name], made[name], f"of {what} {{made_{name}}} are created, {{{name}}} counted")
          for name, what in (("begun", "messages"), ("created", "flits"), ("wanted", "flits to consume"))),
    ):
        for lane in np.flatnonzero(left != right)[:1]:
            raise RuntimeError(f"seed {seeds[lane]}: " + sentence.format_map(
                {name: int(count[lane]) for name, count in counts.items()}))
    under_way = int(there["under_way"].sum())
    if under_way != window.host.counters[UNDER_WAY]:
        raise RuntimeError(f"{under_way} worms are under way, the hosts count {window.host.counters[UNDER_WAY]}")
