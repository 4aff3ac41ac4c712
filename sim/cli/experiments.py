"""Running, checkpointing and recording of load experiments, for ``load`` and ``continue``."""

import contextlib
import dataclasses
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from wormcast.algorithms import Topology, WormcastError

from ..api.arguments import window_of
from ..build.network import Network
from ..build.setup import Origin
from ..common.atomic_write import require_writable, whole_file
from ..common.csv_file import write_csv
from ..common.figure_file import draw_file, files_of_picture
from ..common.picture_style import PictureOptions
from ..common.progress import pause_of, progress
from ..drawing import require_drawable
from ..experiments.load import (
    Experiment,
    Load,
    keep,
    load_sheet,
    rewind_to_deadlock,
    rewind_to_message,
    rewind_to_window,
)
from ..experiments.load.rewind import Instance
from ..waves.record import find_instances, require_waveform, whole_waveform
from .app import Interrupted, say
from .messages import MessagesOutput
from .options import PICTURE, Given, picture_options, picture_paths, say_files
from .waveform_report import deadlock_file, waveform_files

__all__ = ["Outputs", "TableOutput", "drive"]


@dataclasses.dataclass
class CheckpointOutput:
    """Checkpoint file, interval in cycles, cycle of the last checkpoint, and the error if the last writing failed."""

    path: Path | None
    every: int | None
    written: int | None = None
    refused: str | None = None

    def __post_init__(self) -> None:
        if self.path is None and self.every is not None:
            raise WormcastError(f"checkpoint-every: {self.every} is not valid without --checkpoint. "
                                "Needed: --checkpoint FILE.")
        if self.path is not None:
            require_writable(self.path)

    def write(self, experiment: Experiment, origin: Origin) -> None:
        """Write the checkpoint. If writing fails, the previous file stays unchanged, and the error is raised."""
        if self.path is not None:
            with whole_file(self.path) as unfinished:
                keep(experiment, origin, unfinished)
            self.written = experiment.now

    def try_to_write(self, experiment: Experiment, origin: Origin) -> None:
        """Write the checkpoint. If writing fails, store the error and let the run continue."""
        self.refused = None
        try:
            self.write(experiment, origin)
        except WormcastError as error:
            self.refused = str(error)

    def next(self, now: int) -> int | None:
        """Return the cycle of the next checkpoint; None without an interval."""
        return None if self.every is None else (now // self.every + 1) * self.every


@dataclasses.dataclass
class WaveformOutput:
    """Waveform that a load experiment records: of a window of cycles, of the slowest message, or of a deadlock."""

    vcd: Path | None
    window: tuple[int, int] | None
    instances: list[Instance]
    around_worst: bool = False
    shown: str = ""  # description of the recorded message; empty for other recordings
    written: Path | None = None
    refused: str | None = None

    @classmethod
    def parse(cls, given: Given, experiment: Experiment) -> "WaveformOutput":
        """Read the options. The window must not begin before the experiment's current cycle."""
        vcd, window, instances = (given.get(name) for name in ("vcd", "window", "instances"))
        if vcd is not None:
            require_waveform(vcd)
        cycles = window_of(window)
        if "around_worst" in given:
            for name, other in (("window", window), ("instances", instances)):
                if other is not None:
                    raise WormcastError(f"{name}: {other} is not valid with --around-worst: the message determines "
                                        "the cycles and instances. Allowed: one of the two options.")
            if vcd is None:
                raise WormcastError("--around-worst is not valid without --vcd. Needed: --vcd FILE.")
            return cls(vcd, None, [], around_worst=True)
        if cycles is None:
            if instances is not None:
                raise WormcastError(f"instances: {instances} is not valid without --window. Needed: "
                                    f"{'--vcd FILE and ' * (vcd is None)}--window A:B.")
            return cls(vcd, None, [])
        if vcd is None:
            raise WormcastError(f"window: {window} is not valid without --vcd. Needed: --vcd FILE.")
        now, last = experiment.groups[0].now, experiment.cycles
        if now == last:
            raise WormcastError(f"window: {window} is not valid: the experiment has run all its {last} cycles. "
                                f"Needed: --cycles above {last}.")
        if not now <= cycles[0] < cycles[1] <= (cycles[1] if last is None else last):
            raise WormcastError(f"window: {window!r} is not valid. Allowed: A:B with {now} <= A < B"
                                + ("." if last is None else f" <= {last}."))
        lane = Network(experiment.topology, experiment.scheme, experiment.configuration)
        return cls(vcd, cycles, find_instances(lane, "all" if instances is None else instances))

    def pause(self) -> int | None:
        """Return the first cycle in which the window can be recorded: the one after the window's first cycle.

        The result is None without a window, or if the recording of the waveform has already succeeded or failed.
        """
        return self.window[0] + 1 if self.window and not self.written and not self.refused else None

    def take_window(self, experiment: Experiment) -> None:
        """Record the window of cycles once the experiment has passed the window's first cycle, unless there is a
        deadlock."""
        pause = self.pause()
        if pause is None or experiment.deadlocked or experiment.groups[0].now < pause:
            return
        assert self.window is not None
        first, last = self.window
        self._write(self.vcd, lambda unfinished: rewind_to_window(experiment, unfinished, first, last, self.instances))

    def miss_window(self, experiment: Experiment) -> None:
        """Store an error if the experiment ended before the first cycle of the window to record."""
        if self.window and not self.written and not self.refused:
            self.refused = (f"window: {self.window[0]}:{self.window[1]} is not valid: the last message is received in "
                            f"cycle {experiment.now}. Allowed: A below {experiment.now}.")

    def take_worst(self, experiment: Experiment, result: Load) -> None:
        """Record the message with the largest latency, if ``--around-worst`` is given."""
        if not self.around_worst:
            return
        worst = next(iter(result.worst()), None)
        if worst is None:
            self.refused = ("--around-worst is not valid: no message of the measured cycles is received by the "
                            "end. Allowed: with more --cycles, or a shorter --warmup.")
            return
        seed, of_seed = (worst["seed"], f" of seed {worst['seed']}") if worst["seed"] is not None else (
            result.seeds[0], "")
        message, created, latency = (int(worst[name] or 0) for name in ("message", "created", "latency"))

        def record(unfinished: Path) -> None:
            worms = rewind_to_message(experiment, unfinished, seed, message, created, created + latency)
            numbers = ", ".join(map(str, worms))
            self.shown = f", message {message}{of_seed}, worm{'s' * (len(worms) > 1)} {numbers}"

        self._write(self.vcd, record)

    def take_deadlock(self, experiment: Experiment) -> None:
        """Record the cycles that lead to a deadlock, unless a window has been recorded or its recording has failed."""
        if not self.written and not self.refused:
            self._write(self.vcd or deadlock_file(), lambda unfinished: rewind_to_deadlock(experiment, unfinished))

    def _write(self, path: Path | None, record: Callable[[Path], None]) -> None:
        """Write the waveform. An error is stored and reported after the results, so that the results are not lost."""
        assert path is not None
        try:
            with whole_waveform(path) as unfinished:
                record(unfinished)
            self.written = path
        except WormcastError as error:
            self.refused = str(error)


@dataclasses.dataclass(frozen=True)
class PictureOutput:
    """Picture of the utilisation of links, if a path is set."""

    path: Path | None
    options: PictureOptions

    def require(self, topology: Topology) -> None:
        """Refuse a network that cannot be drawn, or a file that cannot be written, before the run."""
        if self.path:
            require_drawable(topology, self.path)
            for file in files_of_picture(self.path, self.options).values():
                require_writable(file)

    def draw(self, result: Load, *, quiet: bool) -> None:
        """Draw the picture, unless there is a deadlock. Unless ``quiet``, print the picture's file name."""
        if self.path and not result.deadlock:
            draw_file(self.path, lambda: load_sheet(result).figure, self.options)
        if self.path and not quiet:
            if result.deadlock:
                say("no picture, as a deadlock has no measurements")
            else:
                say_files(self.path, self.options)


class TableOutput:
    """CSV file with all options and results, if requested, and the error if it could not be written.

    Parameters
    ----------
    path : Path or None
    """

    def __init__(self, path: Path | None):
        self.path = path
        self.written = False
        self.refused: str | None = None
        if path is None:
            return
        if path.suffix != ".csv":
            raise WormcastError(f"csv: {path} is not valid. Allowed: a file NAME.csv.")
        require_writable(path)

    def write(self, rows: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        """Write the rows. An error is stored, and reported later."""
        if self.path is None:
            return
        try:
            with whole_file(self.path) as unfinished:
                write_csv(rows(), unfinished)
            self.written = True
        except WormcastError as error:
            self.refused = str(error)

    def report_file(self) -> None:
        """Print the name of the written file."""
        if self.written:
            say(f"table: {self.path}")


class Outputs:
    """Output files of a load experiment, as requested by the options `OUTPUTS`.

    Parameters
    ----------
    given : mapping of str to Any
        The options given by the user.
    """

    def __init__(self, given: Given):
        self.links: bool = given.get("links", False)
        self.keeping = CheckpointOutput(given.get("checkpoint"), given.get("checkpoint_every"))
        look = {name: value for name, value in given.items() if name in PICTURE}
        self.drawing = PictureOutput(given.get("plot"), picture_options(look, given.get("plot")))
        self.messages = MessagesOutput(given)
        self.table = TableOutput(given.get("csv"))
        self.recording = WaveformOutput(None, None, [])
        self._given = given

    @property
    def writes(self) -> dict[str, Path | None]:
        """All files that the experiment may write, by option."""
        return {"--checkpoint": self.keeping.path, **picture_paths(self.drawing.path, self.drawing.options),
                "--csv": self.table.path, "--messages-out": self.messages.path,
                **waveform_files(self._given.get("vcd"))}

    def begin(self, experiment: Experiment) -> None:
        """Before the run, refuse output options that are not valid for this experiment."""
        self.recording = WaveformOutput.parse(self._given, experiment)
        self.messages.begin(experiment)

    def finish(self, experiment: Experiment, origin: Origin, result: Load) -> None:
        """Write the files of a finished experiment, except the picture. Errors are stored, to be reported later."""
        if result.deadlock:
            self.recording.take_deadlock(experiment)
            self.messages.leave_out()
        else:
            self.recording.miss_window(experiment)
            self.messages.finish(result.warmup)
            self.recording.take_worst(experiment, result)
            self.keeping.try_to_write(experiment, origin)

    def files(self, result: Load) -> dict[str, Path | None]:
        """Return the written files by their JSON keys."""
        return {"waveform": self.recording.written,
                "checkpoint": None if self.keeping.written is None else self.keeping.path,
                "plot": None if result.deadlock else self.drawing.path,
                "csv": self.table.path if self.table.written else None,
                "messages_out": self.messages.path if self.messages.written else None}

    def report_files(self) -> None:
        """Print the names of the written files, except the picture."""
        if self.recording.written:
            say(f"waveform: {self.recording.written}{self.recording.shown}")
        self.table.report_file()
        if self.messages.summary:
            say(self.messages.summary)
        if self.keeping.written is not None:
            say(f"checkpoint: {self.keeping.path}, cycle {self.keeping.written}")

    @property
    def refused(self) -> list[str]:
        """Errors of files that could not be written."""
        return [sentence for sentence in (
            self.recording.refused, self.table.refused, self.messages.refused, self.keeping.refused) if sentence]


def drive(experiment: Experiment, origin: Origin, outputs: Outputs) -> Load:
    """Run an experiment to its end, write checkpoints and waveforms meanwhile, and return its result.

    Raises
    ------
    Interrupted
        The user stopped the experiment, and it can be continued from its checkpoint.
    typer.Abort
        The user stopped the experiment, and no checkpoint file is set.
    """
    keeping, recording = outputs.keeping, outputs.recording
    following = keeping.next(experiment.now)
    often = pause_of(experiment.cycles)
    with _stopped_by_ctrl_c(experiment), progress(experiment.cycles, "cycles", experiment.now) as show:
        while not experiment.finished and not experiment.stopped:
            pauses = (following, recording.pause(), None if often is None else experiment.now + often)
            experiment.run(min((cycle for cycle in pauses if cycle is not None), default=None))
            show(experiment.now)
            recording.take_window(experiment)
            if following is not None and following <= experiment.now and not experiment.finished:
                following = keeping.next(experiment.now)
                keeping.try_to_write(experiment, origin)
    if experiment.finished:
        return experiment.result()
    if keeping.path is None:
        raise typer.Abort
    keeping.write(experiment, origin)
    raise Interrupted(f"interrupted in cycle {experiment.now}; to continue: wormcast continue {keeping.path}")


@contextlib.contextmanager
def _stopped_by_ctrl_c(experiment: Experiment) -> Iterator[None]:
    """Stop an experiment at its next step on Ctrl-C. A second Ctrl-C raises KeyboardInterrupt."""
    def stop(*_: object) -> None:
        # the interrupted code could ignore an exception of this signal handler, so the handler raises none
        experiment.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # shells set background jobs to ignore Ctrl-C
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
