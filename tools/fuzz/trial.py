"""Trials: a command with its files, how it is run, and what counts as a fault."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from signal import SIGINT

from .guarded import GRACE, Ended, Place, start

__all__ = ["Fault", "Trial", "attempt", "faults_of", "keep"]

#: Exit codes of docs/interfaces.md, without 1, an error of the program, and 130, an interruption.
CODES = (0, 2, 3, 4, 5, 6)

#: Seconds and bytes that a command may use.
SECONDS, MEMORY = 60.0, 4 << 30

#: Seconds of commands that were given large numbers: they may take long, if they can be interrupted.
PATIENCE = 4.0

#: Most characters of a refusal.
LONGEST = 2000

#: Options that name what is written, and what is written without them.
OUTPUTS = ("--out", "--plot", "--vcd", "--replay", "--checkpoint", "--messages-out", "--toml")
USUAL = ("out", "wormcast-deadlock.vcd")

#: Words that no sentence for users has: those of Python's own errors.
PYTHONS = re.compile(
    r"<class '|object at 0x|Traceback|NoneType|unexpected keyword|has no attribute|not subscriptable|"
    r"not iterable|not callable|unhashable|out of bounds for axis|could not broadcast|"
    r"unsupported operand|invalid literal|cannot unpack|not supported between"
)

#: Notices that are no part of a refusal.
NOTICE = re.compile(r"wormcast: compiling [^\n]*, which takes a while, but only once\n")


@dataclass(frozen=True)
class Trial:
    """A command to be tried.

    Parameters
    ----------
    arguments : tuple of str
        Behind ``wormcast``.
    files : dict
        Contents of files by name, in its working directory.
    long : bool
        It may take long, as it was given large numbers.
    note : str
        How it was made.
    """

    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    long: bool = False
    note: str = ""

    def __str__(self) -> str:
        return shlex.join(["wormcast", *self.arguments])


@dataclass(frozen=True)
class Fault:
    """Something that no command may do: its kind, by which faults are counted, and what happened."""

    kind: str
    text: str


def attempt(trial: Trial, place: Place, *, seconds: float = SECONDS, memory: float = MEMORY) -> Ended:
    """Run a trial in a folder, with limits of time and memory."""
    for name, content in trial.files.items():
        (place.work / name).parent.mkdir(parents=True, exist_ok=True)
        (place.work / name).write_bytes(content)
    with start(trial.arguments, place) as running:
        limit = running.wait(min(seconds, PATIENCE) if trial.long else seconds, memory)
        if limit == "time":
            running.send(SIGINT)
            if running.wait(GRACE, memory):
                limit = "interrupt"
        running.__exit__()
        return running.ended(limit)


def faults_of(trial: Trial, ended: Ended, place: Place) -> list[Fault]:
    """Judge how a trial ended, and which files it left."""
    return [*_limits(trial, ended), *_answer(trial, ended), *_files(trial, ended, place)]


def _limits(trial: Trial, ended: Ended) -> Iterable[Fault]:
    if ended.limit == "time" and not trial.long:
        yield Fault("time", f"no end after {ended.seconds:.0f} s")
    if ended.limit == "interrupt":
        yield Fault("interrupt", f"no end {GRACE:.0f} s after SIGINT")
    if ended.limit == "memory":
        yield Fault("memory", f"uses {ended.peak / 2**30:.1f} GiB")


def _answer(trial: Trial, ended: Ended) -> Iterable[Fault]:
    """What is wrong with the exit code and the texts."""
    traceback = re.findall(r"^(\w[\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Stop\w*)\b.*)$", ended.err, re.M)
    if "Traceback (most recent call last)" in ended.err:
        places = re.findall(r'File "([^"]+)", line (\d+)', ended.err)
        where = ":".join(places[-1]) if places else ""
        yield Fault(f"traceback {where}", traceback[-1] if traceback else ended.err[-200:])
        return
    if ended.limit in ("memory", "interrupt"):
        return
    codes = (*CODES, 130) if ended.limit == "time" else CODES
    if ended.code not in codes:
        yield Fault(f"exit {ended.code}", ended.err[-300:].strip() or ended.out[-300:].strip())
    if warning := re.search(r"^.*\b\w+Warning: .*$", ended.err, re.M):
        yield Fault("warning", warning[0])
    if ended.code == 2:
        yield from _refusal(trial, ended)
    if _wants_json(trial.arguments) and ended.code in (0, 3, 5, 6):
        try:
            json.loads(ended.out, parse_constant=_no_number)
        except ValueError as error:
            yield Fault("json", f"stdout is no JSON: {error}")


def _refusal(trial: Trial, ended: Ended) -> Iterable[Fault]:
    lines = NOTICE.sub("", ended.err).splitlines()
    own = any(name.endswith(".py") for name in trial.files)
    if not lines or not lines[-1].startswith("wormcast: "):
        yield Fault("refusal without a sentence", ended.err[-300:])
    elif len(lines) > 1 and not own:  # which may print
        yield Fault("refusal of several lines", "\n".join(lines[-4:]))
    elif (words := PYTHONS.search(lines[-1])) and not own:  # whose errors are quoted
        yield Fault(f"refusal in Python's words: {words[0]}", lines[-1][:600])
    elif len(lines[-1]) > LONGEST:
        yield Fault("refusal too long", f"{len(lines[-1])} characters: {lines[-1][:200]}")


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` is given, and not as the value of another option."""
    return any(word == "--json" and not before.startswith("--") for before, word in pairwise(arguments)) and not (
        {"--help", "--version"} & set(arguments)
    )


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is given")


def _files(trial: Trial, ended: Ended, place: Place) -> Iterable[Fault]:
    """What is wrong with the files that are there now."""
    there = place.files()
    named = tuple(map(os.path.normpath, (*_named(trial.arguments), *USUAL)))
    for name, content in trial.files.items():
        if there.get(os.path.normpath(name)) != content and not any(_belongs(name, one) for one in named):
            yield Fault("input changed", f"{name} is not what it was")
    for name in there.keys() - set(map(os.path.normpath, trial.files)):
        if "__pycache__" in name:  # of a user's Python file
            continue
        if ".unfinished" in name and ended.limit != "interrupt":
            yield Fault("half-written", f"{name} is left")
        elif not any(_belongs(name, one) for one in named):
            yield Fault("written elsewhere", f"{name} was not named")
        elif ended.code == 2 and name in named:
            yield Fault("written and refused", f"{name} is there, with exit code 2: {ended.err[-200:].strip()}")
    outside = [path for path in ended.wrote if not _may_write(path, place, named)]
    if outside:
        yield Fault("written outside", f"{outside[0]} was written")


def _named(arguments: Sequence[str]) -> Iterable[str]:
    for option, value in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, joined = option.partition("=")
        if name in OUTPUTS:
            yield joined if equals else value


def _belongs(name: str, named: str) -> bool:
    """Whether a file is what was named, in it, or beside it: ``run.vcd.gtkw`` beside ``run.vcd``."""
    stem = named.removesuffix(Path(named).suffix) or named
    return name.startswith((f"{named}{os.sep}", f"{stem}")) or named == "."


def _may_write(path: str, place: Place, named: Iterable[str]) -> bool:
    if path.startswith((str(place.root), os.devnull, "/proc/", _cache())) or "__pycache__" in path:
        return True
    if any(name in path for name in (".cache/", ".matplotlib", "/fontconfig", ".config/")):
        return True
    return any(path.startswith(os.path.realpath(os.path.join(place.work, one))) for one in named)


def _cache() -> str:
    from wormcast.algorithms.kept_files import cache_folder

    return str(cache_folder().parent)


def keep(folder: Path, number: str, trial: Trial, ended: Ended, faults: Sequence[Fault]) -> str:
    """Keep a trial with its files; return a command line that repeats it."""
    kept = folder.resolve() / number
    kept.mkdir(parents=True, exist_ok=True)
    for name, content in trial.files.items():
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        (kept / name).write_bytes(content)
    command = f"cd {shlex.quote(str(kept))} && {trial}"
    told = [f"{fault.kind}: {fault.text}" for fault in faults]
    (kept / "fault.txt").write_text("\n".join([command, trial.note, *told, "", ended.err]), errors="replace")
    return command
