"""Killed processes: a command that is killed and resumed must produce the same results as an uninterrupted one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from signal import SIGINT, SIGKILL, SIGTERM, Signals
from typing import Any

from .files import FIGURE, SWEEP
from .sandbox import CommandOutcome, Sandbox, start
from .session import Session
from .trial import MEMORY, SECONDS, CommandFault, Trial, find_faults, run_trial

__all__ = ["KillTrials"]

#: Arguments of the load that is killed, and of its checkpoint.
KILLED_LOAD = ("load", "mesh:3x3", "dual-path", "--rate", "0.02", "--destinations-mean", "2", "--length", "6",
               "--seeds", "2")
CHECKPOINT = ("--checkpoint", "c.state", "--checkpoint-every", "2000", "--json")

#: Signals that end a process. SIGKILL, which allows no clean-up, is drawn most often.
SIGNALS = (SIGKILL, SIGKILL, SIGTERM, SIGINT)

#: Keys of JSON that depend on the clock or on kills.
TIMES = ("cycles_per_second", "seconds", "points_run", "points_kept")

#: Suffixes of files that contain times and are not compared, and of checkpoints, whose contents are compared.
TIMED, CHECKPOINTS = (".sqlite",), (".state",)


@dataclass(frozen=True)
class Job:
    """Command that is killed and resumed.

    Parameters
    ----------
    first : tuple of str
        Command line at first.
    resume : tuple of str
        Command line after a kill, if the file ``kept`` exists.
    kept : str
        File that the command needs to resume.
    files : dict
        Contents of input files by name.
    """

    first: tuple[str, ...]
    resume: tuple[str, ...]
    kept: str
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """Result of a job: exit code, stdout (JSON without times), and files."""

    code: int
    out: Any
    files: Mapping[str, Any]


def _jobs() -> dict[str, Job]:
    """Return all jobs by name."""
    with Sandbox() as sandbox:
        run_trial(Trial((*KILLED_LOAD, "--cycles", "6000", *CHECKPOINT)), sandbox)
        state = sandbox.files()["c.state"]
    resume = ("continue", "c.state", *CHECKPOINT)
    longer = (*resume, "--cycles", "24000")
    sweep = ("sweep", "s.toml", "--out", "o", "--json")
    figure = ("figure", "f.toml", "--quick", "--out", "o", "--json")
    return {
        "load": Job((*KILLED_LOAD, "--cycles", "24000", *CHECKPOINT), resume, "c.state"),
        "continue": Job(longer, longer, "c.state", {"c.state": state}),
        "sweep": Job(sweep, sweep, "s.toml", {"s.toml": SWEEP.replace("cycles = 300", "cycles = 6000").encode()}),
        "figure": Job(figure, figure, "f.toml", {"f.toml": FIGURE.encode()}),
    }


class KillTrials:
    """Trials of jobs that are killed, with the results of the same jobs without kills."""

    def __init__(self) -> None:
        self._jobs = _jobs()
        self._results: dict[str, Result] = {}
        self._seconds: dict[str, float] = {}
        for name, job in self._jobs.items():
            # the first run compiles kernels, the second run is timed
            with Sandbox() as sandbox:
                run_trial(Trial(job.first, job.files), sandbox)
            with Sandbox() as sandbox:
                outcome = run_trial(Trial(job.first, job.files), sandbox)
                self._results[name], self._seconds[name] = _result(outcome, sandbox), outcome.seconds

    def run(self, session: Session, number: int, rng: Random) -> None:
        """Kill a job once, twice or three times, let it end, and compare the result with the uninterrupted job."""
        name = rng.choice([*self._jobs])
        job = self._jobs[name]
        with Sandbox() as sandbox:
            for path, content in job.files.items():
                (sandbox.work / path).write_bytes(content)
            kills, arguments = [], job.first
            for _ in range(rng.choice((1, 1, 2, 3))):
                signal, delay = rng.choice(SIGNALS), rng.uniform(0, self._seconds[name])
                before = sandbox.files().keys()
                outcome = _run_and_kill(arguments, sandbox, signal, delay)
                kills.append(f"{signal.name} after {delay:.2f} s: exit {outcome.code}")
                trial = Trial(arguments, job.files, note="; ".join(kills))
                new_files = sandbox.files().keys() - before
                session.report(f"{number}-killed", trial, outcome, _kill_faults(outcome, signal, new_files))
                arguments = job.resume if (sandbox.work / job.kept).exists() else job.first
            files = {name: content for name, content in sandbox.files().items() if "/" not in name}
            trial = Trial(arguments, files, note="; ".join(kills))
            outcome = run_trial(trial, sandbox)
            faults = [fault for fault in find_faults(trial, outcome, sandbox) if fault.kind != "input changed"]
            faults += _differences(self._results[name], _result(outcome, sandbox))
            session.report(f"{number}-{name}", trial, outcome, faults)


def _run_and_kill(arguments: Sequence[str], sandbox: Sandbox, signal: Signals, delay: float) -> CommandOutcome:
    """Run a command, and send it a signal after a delay in seconds."""
    with start(arguments, sandbox) as running:
        running.sleep(delay)
        running.send(signal)
        limit = running.wait(SECONDS, MEMORY)
        running.stop()
        return running.outcome(limit)


def _kill_faults(outcome: CommandOutcome, signal: Signals, new_files: set[str]) -> list[CommandFault]:
    """Return the faults of a command that received a signal: its exit code, its texts, and half-written files."""
    faults = []
    if outcome.limit:
        faults.append(CommandFault("signal ignored", f"the command still runs after {signal.name}"))
    if outcome.code not in (0, 130, -signal):
        faults.append(CommandFault(f"exit {outcome.code} after {signal.name}", outcome.err[-300:]))
    if "Traceback" in outcome.err:
        faults.append(CommandFault(f"traceback after {signal.name}", outcome.err[-300:]))
    half_written = sorted(name for name in new_files if ".unfinished" in name)
    if signal == SIGINT and outcome.code == 130 and half_written:
        faults.append(CommandFault("half-written after SIGINT", ", ".join(half_written)))
    return faults


def _result(outcome: CommandOutcome, sandbox: Sandbox) -> Result:
    files = {name: _checkpoint_content(sandbox, name) if name.endswith(CHECKPOINTS) else content
             for name, content in sandbox.files().items() if not name.endswith(TIMED)}
    try:
        out = json.loads(outcome.out)
    except ValueError:
        out = outcome.out
    return Result(outcome.code, _without_times(out), files)


def _checkpoint_content(sandbox: Sandbox, name: str) -> Any:
    """Return the content of a checkpoint without times."""
    from wormcast.sim.waves.record import checkpoint

    with checkpoint.opened(sandbox.work / name) as stored:
        return {**{key: array.tobytes() for key, array in stored.arrays().items()}, "": _without_times(stored.content)}


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(entry) for key, entry in value.items() if key not in TIMES}
    return list(map(_without_times, value)) if isinstance(value, list) else value


def _differences(uninterrupted: Result, resumed: Result) -> list[CommandFault]:
    """Return the differences between an uninterrupted job and a resumed one as faults."""
    faults = []
    if resumed.code != uninterrupted.code:
        faults.append(CommandFault("resumed with another exit code",
                                   f"{resumed.code}, uninterrupted {uninterrupted.code}"))
    if resumed.out != uninterrupted.out:
        keys = [key for key in uninterrupted.out if uninterrupted.out[key] != resumed.out.get(key)] if isinstance(
            resumed.out, dict) else ["all"]
        faults.append(CommandFault("resumed with other results", f"in {', '.join(keys)}"))
    if names := sorted(resumed.files.keys() ^ uninterrupted.files.keys()):
        faults.append(CommandFault("files left or missing", ", ".join(names)))
    if names := [name for name, content in uninterrupted.files.items() if resumed.files.get(name, content) != content]:
        faults.append(CommandFault("resumed with other bytes", ", ".join(names)))
    return faults
