"""Waveforms of load experiments, recorded by simulating from a past state again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wormcast.algorithms import WormcastError

from ...engines.bulk import BulkEngine
from ...engines.deadlock import Deadlock
from ...waves.record import RecordingFacts, instances_at, record, require_size
from .experiment import Experiment
from .seed_batch import SeedBatch

__all__ = ["Instance", "rewind_to_deadlock", "rewind_to_message", "rewind_to_window"]

Instance = tuple[str, int]
"""Component: its kind, and its index among the components of this kind."""

#: Number of cycles recorded before a message's creation, and after its last receipt.
MARGIN = 10


def rewind_to_deadlock(experiment: Experiment, path: Path) -> None:
    """Write a waveform of the earliest deadlock of an experiment: the instances and cycles that `around` selects.

    If all past states are later than the first cycle, the waveform begins with the oldest state. The waveform has at
    least one cycle. The experiment cannot continue after this call.
    """
    group = experiment.deadlocked
    assert group is not None
    assert group.found is not None
    found = group.found
    _record(experiment, group, found.first, found.end, path, found.instances, found.lane, found.deadlock)


def rewind_to_window(experiment: Experiment, path: Path, first: int, end: int, instances: Sequence[Instance]) -> None:
    """Write a waveform of cycles ``first`` to ``end`` - 1 of the first seed. The experiment continues unchanged.

    Parameters
    ----------
    experiment : Experiment
        An experiment that keeps past states, has passed cycle ``first``, and is not in a deadlock.
    instances : sequence of (str, int)
        Instances of the first lane.
    """
    group = experiment.groups[0]
    present = group.capture()
    try:
        _record(experiment, group, first, end, path, instances)
    finally:
        group.restore(present)


def rewind_to_message(experiment: Experiment, path: Path, seed: int, message: int, created: int,
                      received: int) -> list[int]:
    """Write a waveform of one message, from 10 cycles before its creation to 10 cycles after its last receipt.

    The waveform has the routers on the paths of the message's worms, and the interfaces of its source and destinations.
    If the relation has several candidates, only routers on the preferred path are recorded. The experiment continues
    unchanged.

    Parameters
    ----------
    experiment : Experiment
        An experiment that keeps past states, has passed cycle ``received``, and is not in a deadlock.
    seed, message : int
        The message's seed, and its number in that seed.
    created, received : int
        Cycles of the message's creation and of its last receipt.

    Returns
    -------
    list of int
        The message's worms, as numbered in the waveform.

    Raises
    ------
    WormcastError
        All past states are later than the message's creation, or the waveform is too large.
    """
    group = next(one for one in experiment.groups if seed in one.seeds)
    past = experiment.pasts[experiment.groups.index(group)]
    assert past is not None
    present = group.capture()
    lane, state = group.seeds.index(seed), past.before(created) if len(past) else present
    if state.cycle > created:
        raise WormcastError(f"message {message} is not valid: it was created in cycle {created}, before the oldest "
                            f"stored state. Allowed: messages created from cycle {state.cycle} on.")
    try:
        group.restore(state)
        group.window.extend(created + 1)
        worms, instances = _way(group, lane, message)
        _record(experiment, group, max(0, created - MARGIN), min(received + MARGIN, present.cycle - 1) + 1, path,
                instances, lane)
    finally:
        group.restore(present)
    return worms


def _way(group: SeedBatch, lane: int, message: int) -> tuple[list[int], list[Instance]]:
    """Return a message's worms, as numbered in waveforms, and the routers and interfaces on their paths."""
    window, network = group.window, group.window.network
    mine = (window.messages["lane"] == lane) & (window.messages["message"] == message)
    number = window.messages_before + int(np.flatnonzero(mine)[0])
    worms = np.flatnonzero(window.message_of == number)
    scheme, routes = network.scheme, network.scheme.relation.on(network.topology)
    switches, nodes = list[int](), list[int]()
    for row in window.host.worms[worms]:
        source = int(row["source"]) % network.nodes
        visits = (window.host.deliveries["node"][row["delivery"]:row["delivery_end"]] % network.nodes).tolist()
        taken = np.array(scheme.channels(routes, source, visits), np.int64) // len(routes.classes)
        switches += [int(network.topology.injections[source, 0]), *network.topology.links[taken, 2].tolist()]
        nodes += [source, *visits]
    return (window.worms_before + worms).tolist(), instances_at(network, switches, nodes, lane)


def _record(experiment: Experiment, group: SeedBatch, first: int, end: int, path: Path,
            instances: Sequence[Instance], lane: int = 0, deadlock: Deadlock | None = None) -> None:
    past = experiment.pasts[experiment.groups.index(group)]
    assert past is not None
    state = past.before(first)
    begin = max(first, state.cycle)
    end = max(end, begin + 1)

    def act(engine: BulkEngine) -> None:
        require_size(engine, end - begin, instances)
        about = RecordingFacts(group.window.message_of, group.window.worms_before, lane,
                      deadlock.to_dict() if deadlock else None)
        record(engine, path, end - begin, instances, about, first=begin)

    group.replay(state, begin, end, act)
