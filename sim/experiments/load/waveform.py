"""Waveforms of load experiments, recorded by going back and running the same cycles once more."""

from collections.abc import Sequence
from pathlib import Path

from ...engines.bulk import BulkEngine
from ...engines.deadlock import Deadlock
from ...waves.record import About, record, require_size
from .load import Experiment
from .seed_batch import SeedBatch

__all__ = ["Instance", "rewind_to_deadlock", "rewind_to_window"]

Instance = tuple[str, int]
"""A component: its kind, and which one of these."""


def rewind_to_deadlock(experiment: Experiment, path: Path) -> None:
    """Write how the earliest deadlock of an experiment came about: the instances and cycles that `around` names.

    Where past states do not go back so far, it begins with the oldest one, and has one cycle at least. The experiment
    is of no use after this, but for results that were taken before.
    """
    group = experiment.deadlocked
    assert group is not None
    assert group.found is not None
    found = group.found
    _record(experiment, group, found.first, found.end, path, found.instances, found.lane, found.deadlock)


def rewind_to_window(experiment: Experiment, path: Path, first: int, end: int, instances: Sequence[Instance]) -> None:
    """Write cycles ``first`` to ``end`` - 1 of the first seed. What follows does not change.

    Parameters
    ----------
    experiment : Experiment
        Keeps past states; it has passed cycle ``first``, and is in no deadlock.
    instances : sequence of (str, int)
        Those of the first lane.
    """
    group = experiment.groups[0]
    present = group.capture()
    try:
        _record(experiment, group, first, end, path, instances)
    finally:
        group.restore(present)


def _record(experiment: Experiment, group: SeedBatch, first: int, end: int, path: Path,
            instances: Sequence[Instance], lane: int = 0, deadlock: Deadlock | None = None) -> None:
    past = experiment.pasts[experiment.groups.index(group)]
    assert past is not None
    state = past.before(first)
    begin = max(first, state.cycle)
    end = max(end, begin + 1)

    def act(engine: BulkEngine) -> None:
        require_size(engine, end - begin, instances)
        told = deadlock.to_dict() if deadlock else None
        about = About(group.window.message_of, group.window.worms_before, lane, told)
        record(engine, path, end - begin, instances, about, first=begin)

    group.replay(state, begin, end, act)
