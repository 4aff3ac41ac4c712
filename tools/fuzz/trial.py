"""Trials: a command with its files, its execution, and its faults."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from signal import SIGINT

from .sandbox import GRACE, CommandOutcome, Sandbox, start

__all__ = ["CommandFault", "Trial", "find_faults", "keep_trial", "run_trial"]

#: Exit codes of docs/contract.md without 1 (error in the program) and 130 (interruption).
CODES = (0, 2, 3, 4, 5, 6)

#: Limits of a command: seconds of processor time, and bytes of memory.
SECONDS, MEMORY = 60.0, 4 << 30

#: Seconds until SIGINT for commands with large numbers, which may run long but must be interruptible.
PATIENCE = 4.0

#: Largest length of a refusal, in characters.
LONGEST = 2000

#: Options that name output files, and outputs that commands write without an option.
OUTPUTS = ("--out", "--plot", "--vcd", "--replay", "--checkpoint", "--messages-out", "--toml")
DEFAULT_OUTPUTS = ("out", "wormcast-deadlock.vcd")

#: Words of Python's own errors, which no refusal contains.
PYTHON_WORDS = re.compile(
    r"<class '|object at 0x|Traceback|NoneType|unexpected keyword|has no attribute|not subscriptable|not iterable|"
    r"not callable|unhashable|out of bounds for axis|could not broadcast|unsupported operand|invalid literal|"
    r"cannot unpack|not supported between")

#: Notices on stderr that are not part of a refusal.
NOTICE = re.compile(r"wormcast: compiling [^\n]* \(first use only[^\n]*\)\n")


@dataclass(frozen=True)
class Trial:
    """Command line of a trial, and its files.

    Parameters
    ----------
    arguments : tuple of str
        Words after ``wormcast``.
    files : dict
        Contents of files in the working directory, by path.
    long : bool
        The command may run long, because it has large numbers.
    note : str
        Description of the mutation.
    """

    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    long: bool = False
    note: str = ""

    def __str__(self) -> str:
        return shlex.join(["wormcast", *self.arguments])


@dataclass(frozen=True)
class CommandFault:
    """Fault of a command: its kind, by which faults are counted, and its details."""

    kind: str
    text: str


def run_trial(trial: Trial, sandbox: Sandbox, *, seconds: float = SECONDS, memory: float = MEMORY) -> CommandOutcome:
    """Run a trial in a sandbox, with limits of time and memory. After the time limit, send SIGINT to the command."""
    _write_files(trial.files, sandbox.work)
    with start(trial.arguments, sandbox) as running:
        limit = running.wait(min(seconds, PATIENCE) if trial.long else seconds, memory)
        if limit == "time":
            running.send(SIGINT)
            if running.wait(GRACE, memory):
                limit = "interrupt"
        running.stop()
        return running.outcome(limit)


def _write_files(files: Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def find_faults(trial: Trial, outcome: CommandOutcome, sandbox: Sandbox) -> list[CommandFault]:
    """Return the faults of a trial: exceeded limits, wrong exit codes and texts, unexpected files."""
    return [*_limit_faults(trial, outcome), *_answer_faults(trial, outcome), *_file_faults(trial, outcome, sandbox)]


def _limit_faults(trial: Trial, outcome: CommandOutcome) -> Iterable[CommandFault]:
    if outcome.limit == "time" and not trial.long:
        yield CommandFault("time", f"the command runs for more than {outcome.seconds:.0f} s")
    if outcome.limit == "interrupt":
        yield CommandFault("interrupt", f"the command still runs {GRACE:.0f} s after SIGINT")
    if outcome.limit == "memory":
        yield CommandFault("memory", f"the command uses {outcome.peak / 2**30:.1f} GiB")


def _answer_faults(trial: Trial, outcome: CommandOutcome) -> Iterable[CommandFault]:
    """Yield the faults in a command's exit code, stdout and stderr."""
    errors = re.findall(r"^(\w[\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Stop\w*)\b.*)$", outcome.err, re.M)
    if "Traceback (most recent call last)" in outcome.err:
        lines = re.findall(r'File "([^"]+)", line (\d+)', outcome.err)
        where = ":".join(lines[-1]) if lines else ""
        yield CommandFault(f"traceback {where}", errors[-1] if errors else outcome.err[-200:])
        return
    if outcome.limit in ("memory", "interrupt"):
        return
    codes = (*CODES, 130) if outcome.limit == "time" else CODES
    if outcome.code not in codes:
        yield CommandFault(f"exit {outcome.code}", outcome.err[-300:].strip() or outcome.out[-300:].strip())
    if warning := re.search(r"^.*\b\w+Warning: .*$", outcome.err, re.M):
        yield CommandFault("warning", warning[0])
    if outcome.code == 2:
        yield from _refusal_faults(trial, outcome)
    if _wants_json(trial.arguments) and outcome.code in (0, 3, 5, 6):
        try:
            json.loads(outcome.out, parse_constant=_refuse_constant)
        except ValueError as error:
            yield CommandFault("json", f"stdout is not JSON: {error}")


def _refusal_faults(trial: Trial, outcome: CommandOutcome) -> Iterable[CommandFault]:
    lines = NOTICE.sub("", outcome.err).splitlines()
    has_code = any(name.endswith(".py") for name in trial.files)  # user code may print, and refusals quote its errors
    if not lines or not lines[-1].startswith("wormcast: "):
        yield CommandFault("refusal without a sentence", outcome.err[-300:])
    elif len(lines) > 1 and not has_code:
        yield CommandFault("refusal of several lines", "\n".join(lines[-4:]))
    elif (words := PYTHON_WORDS.search(lines[-1])) and not has_code:
        yield CommandFault(f"refusal in Python's words: {words[0]}", lines[-1][:600])
    elif len(lines[-1]) > LONGEST:
        yield CommandFault("refusal too long", f"{len(lines[-1])} characters: {lines[-1][:200]}")


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether the command must print JSON, because ``--json`` is certainly one of its options.

    A ``--json`` directly behind another option does not count, because it may be the value of that option. With
    ``--help`` or ``--version`` the result is False, because the command then prints no JSON.
    """
    return any(word == "--json" and not before.startswith("--") for before, word in pairwise(arguments)) and not (
        {"--help", "--version"} & set(arguments))


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not allowed")


def _file_faults(trial: Trial, outcome: CommandOutcome, sandbox: Sandbox) -> Iterable[CommandFault]:
    """Yield the faults of the files in the sandbox after the command."""
    files = sandbox.files()
    outputs = tuple(map(os.path.normpath, (*_named_outputs(trial.arguments), *DEFAULT_OUTPUTS)))
    for name, content in trial.files.items():
        if files.get(os.path.normpath(name)) != content and not any(_belongs(name, output) for output in outputs):
            yield CommandFault("input changed", f"{name} has been changed")
    for name in files.keys() - set(map(os.path.normpath, trial.files)):
        if "__pycache__" in name:  # bytecode of a user's Python file
            continue
        if ".unfinished" in name and outcome.limit != "interrupt":
            yield CommandFault("half-written", f"{name} has been left behind")
        elif not any(_belongs(name, output) for output in outputs):
            yield CommandFault("written elsewhere", f"{name} is not an output of the command line")
        elif outcome.code == 2 and name in outputs:
            yield CommandFault("written and refused", f"{name}, exit code 2: {outcome.err[-200:].strip()}")
    outside = [path for path in outcome.written if not _may_write(path, sandbox, outputs)]
    if outside:
        yield CommandFault("written outside", f"{outside[0]} has been written")


def _named_outputs(arguments: Sequence[str]) -> Iterable[str]:
    for option, value in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, joined = option.partition("=")
        if name in OUTPUTS:
            yield joined if equals else value


def _belongs(name: str, output: str) -> bool:
    """Return whether a name is in an output folder, or begins with an output's name without its suffix."""
    stem = output.removesuffix(Path(output).suffix) or output
    return name.startswith((f"{output}{os.sep}", f"{stem}")) or output == "."


def _may_write(path: str, sandbox: Sandbox, outputs: Iterable[str]) -> bool:
    if path.startswith((str(sandbox.root), os.devnull, "/proc/", _cache())) or "__pycache__" in path:
        return True
    if any(name in path for name in (".cache/", ".matplotlib", "/fontconfig", ".config/")):
        return True
    return any(path.startswith(os.path.realpath(os.path.join(sandbox.work, output))) for output in outputs)


def _cache() -> str:
    from wormcast.algorithms.kept_files import cache_folder

    return str(cache_folder().parent)


def keep_trial(folder: Path, trial: Trial, outcome: CommandOutcome, faults: Sequence[CommandFault]) -> str:
    """Write a trial with its files and faults to a folder. Return a command line that repeats the trial."""
    kept = folder.resolve()
    kept.mkdir(parents=True, exist_ok=True)
    _write_files(trial.files, kept)
    command = f"cd {shlex.quote(str(kept))} && {trial}"
    lines = [command, trial.note, *(f"{fault.kind}: {fault.text}" for fault in faults), "", outcome.err]
    (kept / "fault.txt").write_text("\n".join(lines), errors="replace")
    return command
