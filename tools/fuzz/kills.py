"""Killed processes: what is resumed ends in the bytes of what was never killed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from signal import SIGINT, SIGKILL, SIGTERM, Signals
from typing import TYPE_CHECKING, Any

from .files import FIGURE, SWEEP
from .guarded import Ended, Place, start
from .trial import MEMORY, SECONDS, Fault, Trial, attempt, faults_of

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Undisturbed"]

LOAD = ("mesh:3x3", "dual-path", "--rate", "0.02", "--destinations-mean", "2", "--length", "6", "--seeds", "2")
STATE = ("--checkpoint", "c.state", "--checkpoint-every", "2000", "--json")

#: Signals that end a process; most of them without a chance to clean up.
SIGNALS = (SIGKILL, SIGKILL, SIGTERM, SIGINT)

#: Keys of JSON that depend on the clock.
TIMES = ("cycles_per_second", "seconds", "points_run", "points_kept")

#: Endings of files that hold times, and of those that are compared as checkpoints.
TIMED, STATES = (".sqlite",), (".state",)


@dataclass(frozen=True)
class Job:
    """A command that is killed.

    Parameters
    ----------
    first : tuple of str
        What is run at first.
    again : tuple of str
        What is run after a kill, if ``kept`` is there.
    kept : str
        A file by which it goes on.
    files : dict
        Contents of files that it reads.
    """

    first: tuple[str, ...]
    again: tuple[str, ...]
    kept: str
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What a job comes to: exit code, JSON without times, and files."""

    code: int
    told: Any
    files: Mapping[str, Any]


def jobs() -> dict[str, Job]:
    """Return all jobs by name."""
    with Place() as place:
        attempt(Trial(("load", *LOAD, "--cycles", "6000", *STATE)), place)
        state = place.files()["c.state"]
    goes_on = ("continue", "c.state", *STATE)
    sweep = SWEEP.replace("cycles = 300", "cycles = 6000").encode()
    return {
        "load": Job(("load", *LOAD, "--cycles", "24000", *STATE), goes_on, "c.state"),
        "continue": Job(
            (*goes_on, "--cycles", "24000"), (*goes_on, "--cycles", "24000"), "c.state", {"c.state": state}
        ),
        "sweep": Job(
            ("sweep", "s.toml", "--out", "o", "--json"),
            ("sweep", "s.toml", "--out", "o", "--json"),
            "s.toml",
            {"s.toml": sweep},
        ),
        "figure": Job(
            ("figure", "f.toml", "--quick", "--out", "o", "--json"),
            ("figure", "f.toml", "--quick", "--out", "o", "--json"),
            "f.toml",
            {"f.toml": FIGURE.encode()},
        ),
    }


class Undisturbed:
    """Jobs, and what each comes to if nobody kills it."""

    def __init__(self) -> None:
        self._jobs = jobs()
        self._results: dict[str, Result] = {}
        self._seconds: dict[str, float] = {}
        for name, job in self._jobs.items():
            with Place() as place:
                attempt(Trial(job.first, job.files), place)  # compiles what the others then need no time for
            with Place() as place:
                ended = attempt(Trial(job.first, job.files), place)
                self._results[name], self._seconds[name] = _result(ended, place), ended.seconds

    def kill(self, session: "Session", number: int, rng: Random) -> None:
        """Kill a job once, twice or three times, let it end, and compare what it has come to."""
        name = rng.choice([*self._jobs])
        job = self._jobs[name]
        with Place() as place:
            for path, content in job.files.items():
                (place.work / path).write_bytes(content)
            killed, arguments = [], job.first
            for _ in range(rng.choice((1, 1, 2, 3))):
                number_of, delay = rng.choice(SIGNALS), rng.uniform(0, self._seconds[name])
                before = place.files().keys()
                ended = _killed(arguments, place, number_of, delay)
                killed.append(f"{number_of.name} after {delay:.2f} s: exit {ended.code}")
                trial = Trial(arguments, job.files, note="; ".join(killed))
                more = place.files().keys() - before
                session.report(f"{number}-killed", trial, ended, _interrupted(ended, number_of, more))
                arguments = job.again if (place.work / job.kept).exists() else job.first
            trial = Trial(
                arguments,
                {name: content for name, content in place.files().items() if "/" not in name},
                note="; ".join(killed),
            )
            ended = attempt(trial, place)
            faults = [fault for fault in faults_of(trial, ended, place) if fault.kind != "input changed"]
            session.report(
                f"{number}-{name}", trial, ended, [*faults, *_differences(self._results[name], _result(ended, place))]
            )


def _killed(arguments: Sequence[str], place: Place, number: Signals, delay: float) -> Ended:
    with start(arguments, place) as running:
        running.pause(delay)
        running.send(number)
        limit = running.wait(SECONDS, MEMORY)
        running.__exit__()
        return running.ended(limit)


def _interrupted(ended: Ended, number: Signals, more: set[str]) -> list[Fault]:
    """What is wrong with how a signal ended a command, and with the files that are there since."""
    faults = []
    if ended.limit:
        faults.append(Fault("signal ignored", f"{number.name} did not end it"))
    if ended.code not in (0, 130, -number):
        faults.append(Fault(f"exit {ended.code} after {number.name}", ended.err[-300:]))
    if "Traceback" in ended.err:
        faults.append(Fault(f"traceback after {number.name}", ended.err[-300:]))
    if number == SIGINT and ended.code == 130 and (left := sorted(name for name in more if ".unfinished" in name)):
        faults.append(Fault("half-written after SIGINT", ", ".join(left)))
    return faults


def _result(ended: Ended, place: Place) -> Result:
    files = {
        name: _state(place, name) if name.endswith(STATES) else content
        for name, content in place.files().items()
        if not name.endswith(TIMED)
    }
    try:
        told = json.loads(ended.out)
    except ValueError:
        told = ended.out
    return Result(ended.code, _without_times(told), files)


def _state(place: Place, name: str) -> Any:
    """Content of a checkpoint without times."""
    from wormcast.sim.waves.record import checkpoint

    with checkpoint.opened(place.work / name) as stored:
        return {**{key: array.tobytes() for key, array in stored.arrays().items()}, "": _without_times(stored.content)}


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(one) for key, one in value.items() if key not in TIMES}
    return list(map(_without_times, value)) if isinstance(value, list) else value


def _differences(whole: Result, resumed: Result) -> list[Fault]:
    """What differs between a job that was killed and one that was not."""
    faults = []
    if resumed.code != whole.code:
        faults.append(Fault("resumed with another exit code", f"{resumed.code}, undisturbed {whole.code}"))
    if resumed.told != whole.told:
        keys = (
            [key for key in whole.told if whole.told[key] != resumed.told.get(key)]
            if isinstance(resumed.told, dict)
            else ["all"]
        )
        faults.append(Fault("resumed with other results", f"in {', '.join(keys)}"))
    if more := sorted(resumed.files.keys() ^ whole.files.keys()):
        faults.append(Fault("files left or missing", ", ".join(more)))
    if differing := [name for name, content in whole.files.items() if resumed.files.get(name, content) != content]:
        faults.append(Fault("resumed with other bytes", ", ".join(differing)))
    return faults
