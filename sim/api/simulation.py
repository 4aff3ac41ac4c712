"""Runs of given messages, and hunts for messages that deadlock."""

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.announcements import announce
from wormcast.algorithms.errors import MessageError
from wormcast.algorithms.typecheck import checked

from ..build.configuration import UNTIMED_FIELDS
from ..build.limits import HUNT_CYCLES, MOST_RUN_CYCLES, MOST_RUN_LENGTH
from ..build.setup import HARDWARE, Setup
from ..build.traffic import LONGEST
from ..common.atomic_write import whole_file
from ..common.exit_codes import Exit
from ..common.progress import progress as progress_bar
from ..common.progress import watched
from ..common.text import count, resource_text
from .arguments import known, require_at_least, window_of
from .event_options import Counting
from .option_types import HardwareOptions, PathLike, RelationLike, SchemeLike, TopologyLike
from .replays import Replay
from .results import CommandResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..engines.deadlock import Deadlock
    from ..experiments.events import EventSums
    from ..experiments.formula import Formula
    from ..experiments.hunt import Hunt
    from ..experiments.message_file import MessageFile
    from ..experiments.run import Run
    from ..host import Message

__all__ = ["REST", "HuntResult", "RunResult", "hunt", "run"]

#: Cycles recorded after the last flit that a host sent or received: enough for all blocked worms to come to rest.
REST = 500

#: Hardware options of runs: the options that can change what happens in a cycle.
TIMED = HARDWARE - {*UNTIMED_FIELDS}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunResult(CommandResult):
    """Result of `run`: deliveries of all messages, or the reason why some are missing.

    Parameters
    ----------
    run : Run
        The simulation.
    setup : Setup
        Topology, scheme and hardware.
    counted : tuple of str
        Keys that the result of `to_dict` also has if events are counted: ``events``, and with a table of costs
        ``energy``. Default: none.
    """

    run: "Run"
    setup: Setup
    counted: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """``delivered``, ``deadlock``, ``stalled`` or ``error``."""
        return self.run.outcome

    @property
    def exit_code(self) -> Exit:
        """Exit code of ``wormcast run``."""
        return {"delivered": Exit.DONE, "deadlock": Exit.DEADLOCK, "stalled": Exit.UNFINISHED,
                "error": Exit.INTERNAL}[self.outcome]

    @property
    def cycles(self) -> int:
        """Number of simulated cycles."""
        return self.run.cycles

    @property
    def delivered(self) -> bool:
        """All messages are received."""
        return self.outcome == "delivered"

    @property
    def deadlock(self) -> "Deadlock | None":
        """Proof of a deadlock: the worms that wait for each other in a cycle; None without a deadlock."""
        return self.run.deadlock

    @property
    def events(self) -> "EventSums | None":
        """Events in routers and interfaces, and their energy; None if events were not counted."""
        return self.run.events

    @property
    def messages(self) -> "tuple[Message, ...]":
        """The messages."""
        return self.run.messages

    @property
    def latencies(self) -> list[int | None]:
        """Cycles from the creation of each message to its last receipt; None if a receipt is missing."""
        return [self.run.message_to_dict(index)["latency"] for index in range(len(self.run.messages))]

    @cached_property
    def formula(self) -> "Formula | None":
        """A paper's formula for the latency of a single broadcast; None if no formula applies to the run."""
        scheme, messages = self.setup.scheme, self.run.messages
        if len(messages) != 1 or self.outcome != "delivered" or scheme.relation is not scheme.own_relation:
            return None
        from ..experiments.formula import formula_of

        return formula_of(self.setup.topology, scheme, self.run.network.configuration, messages[0])

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each delivery, with the columns and node names of the printed table."""
        name = self.setup.topology.node_name
        found = []
        for index in range(len(self.run.messages)):
            message = self.run.message_to_dict(index)
            for node, times in self.run.deliveries_of(index).items():
                received = times["received"]
                found.append({"message": index, "from": name(message["source"]), "to": name(node), **times,
                              "latency": None if received is None else received - message["created"]})
        return found

    def deadlock_rows(self) -> list[dict[str, Any]]:
        """Return a row for each worm of a deadlock's cycle: the channels that the worm holds, and those that it waits
        for, with nodes named as in printed tables; no rows without a deadlock."""
        def named(resources: Iterable[str]) -> list[str]:
            return [resource_text(self.setup.topology, one) for one in resources]

        return [{"worm": hold.name, "holds": ", ".join(named(hold.holds)), "waits for": " or ".join(named(hold.waits))}
                for hold in (self.deadlock.cycle if self.deadlock else ())]

    def _figure(self) -> "Figure":
        """Return a Gantt chart of the hosts, and of the interfaces if the interfaces do work of their own."""
        from ..experiments.gantt import gantt_figure
        from ..experiments.interface_bars import interfaces_work
        from ..experiments.interface_gantt import interfaces_figure

        return (interfaces_figure if interfaces_work(self.run) else gantt_figure)(self.run)

    def replay(self, path: PathLike | None = None) -> "Replay":
        """Record the run, and return its replay, cycle by cycle, for a browser. A notebook shows the replay.

        Parameters
        ----------
        path : path, optional
            File ``.html`` to write.

        Raises
        ------
        WormcastError
            The file cannot be written, or the waveform would have too many signals and cycles.
        """
        return _replay(self.run, path)

    def _data(self) -> dict[str, Any]:
        found = {} if self.events is None else self.events.to_dict()
        return {**self.run.to_dict(), "formula": self.formula and self.formula.to_dict(),
                **{key: found[key] for key in self.counted}}

    def _lines(self) -> list[str]:
        run = self.run
        text = (f"{self.setup.scheme.name} on {self.setup.topology.name}: {run.ending} "
                f"({count(len(run.worms), 'worm')}, {count(run.header_flits, 'header flit')}; engine {run.engine})")
        known = [latency for latency in self.latencies if latency is not None]
        spread = f"latency {min(known)}" + (f" to {max(known)}" if len(known) > 1 else "") if known else "no latency"
        return [text, f"{count(len(run.messages), 'message')}, {spread}"]


def _replay(run: "Run", path: PathLike | None) -> Replay:
    """Record a run, and return its replay; see `RunResult.replay`."""
    from ..waves.record import find_instances
    from ..waves.view import read_waveform

    sent = run.host.injected[run.host.injected >= 0]
    first = int(sent.min()) if len(sent) else 0
    end = min(run.cycles, int(run.host.touched.max()) + REST)
    with tempfile.TemporaryDirectory() as folder:
        waveform = Path(folder, "run.vcd")
        run.record(waveform, first, end, find_instances(run.network, "all"))
        return Replay.of(read_waveform(waveform).trimmed(), path)


@checked
def run(
    topology: TopologyLike,
    scheme: SchemeLike,
    source: int | str | None = None,
    destinations: int | str | Iterable[int | str] | None = None,
    length: int | None = None,
    *,
    messages: "PathLike | Sequence[Message] | None" = None,
    relation: RelationLike | None = None,
    engine: str = "bulk",
    vcd: PathLike | None = None,
    window: str | Sequence[int] | None = None,
    instances: str | None = None,
    contention: bool = False,
    events: bool = False,
    energy: PathLike | None = None,
    timeout: int = 1_000_000,
    seed: int = 0,
    progress: bool = True,
    **hardware: Unpack[HardwareOptions],
) -> RunResult:
    """Simulate one multicast, or several messages, on the router hardware.

    Parameters
    ----------
    topology, scheme
        By name, as on the command line, or objects.
    source, destinations, length
        The multicast: source node, destination nodes (``"all"``: all other nodes), payload in flits.
    messages : path or sequence of Message, optional
        Messages in place of ``source``, ``destinations`` and ``length``. A path names a file as for ``--messages``.
    relation
        Routing relation, by name or an object. Default: the scheme's.
    engine : "bulk" or "amaranth"
        ``bulk`` is compiled, ``amaranth`` is the reference simulator.
    vcd : path, optional
        Waveform to write.
    window : (int, int) or str, optional
        First cycle of the waveform, and the cycle after its last one. Default: the whole run.
    instances : str, optional
        Instances in the waveform, as for ``--instances``. Default: all.
    contention : bool
        Measure the causes of waiting.
    events, energy
        As for `load`. Events are counted in all cycles of the run.
    timeout : int
        Cycles after which an unfinished run is stopped.
    seed : int
        Recorded in the result. Runs are deterministic.
    progress : bool
        Announce long work on a terminal.
    **hardware
        Hardware options of the command, for example ``vcs=4``.
    """
    options = known("run", hardware, TIMED)
    require_at_least(0, seed=seed)
    setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **options})
    file = None if messages is None or not isinstance(messages, (str, os.PathLike)) else _file(messages)
    counting = Counting.of(events, energy)
    posted = _messages(setup.topology, {"source": source, "destinations": destinations, "length": length}, messages,
                       file)
    cycles = window_of(window)
    from ..experiments.run import run as simulate  # a slow import, which refusals do not need

    with (watched(progress), _messages_named(file), announce("simulating"),
          _whole(vcd, engine) if vcd is not None else contextlib.nullcontext() as unfinished):
        found = simulate(setup.topology, setup.scheme, posted, setup.configuration, engine=engine, vcd=unfinished,
                         window=cycles, instances=instances, timeout=timeout, contention=contention,
                         events=counting.events, costs=counting.table)
    built = dataclasses.replace(setup, configuration=found.network.configuration)
    resolved = built.to_dict({"engine": engine, "timeout": timeout, "contention": contention,
                              "messages": [dataclasses.asdict(message) for message in posted], **counting.to_dict()})
    files = {"waveform": None if vcd is None else os.fspath(vcd), "plot": None, "replay": None}
    return RunResult(configuration=resolved, seed=seed, files=files, run=found, setup=built,
                     counted=counting.keys)


def _whole(vcd: PathLike, engine: str) -> contextlib.AbstractContextManager[Path]:
    """Return a context manager for the waveform's unfinished file. With engine amaranth, no viewer layouts are
    written."""
    from ..waves.record import whole_waveform

    return whole_waveform(Path(vcd)) if engine == "bulk" else whole_file(Path(vcd))


def _file(path: PathLike) -> "MessageFile":
    from ..experiments.message_file import MessageFile

    return MessageFile(os.fspath(path), "messages", MOST_RUN_CYCLES, MOST_RUN_LENGTH)


def _messages(network: Topology, single: dict[str, Any], messages: Any, file: "MessageFile | None"
              ) -> "Sequence[Message]":
    """Return the given messages, the messages of a file, or the one message that ``single`` describes."""
    given = [name for name, value in single.items() if value is not None]
    dashed = [f"--{name}" for name in single]
    if messages is not None:
        if given:
            raise WormcastError(f"{given[0]}: {single[given[0]]} is not valid with --messages. Allowed: "
                                f"--messages, or {', '.join(dashed)}.")
        if file is None:
            return messages
        from ..experiments.message_file import messages_in

        return messages_in(file, network)
    missing = [name for name, value in single.items() if value is None]
    if missing:
        raise WormcastError(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Needed: "
                            f"{', '.join(dashed[:-1])} and {dashed[-1]} together, or --messages alone.")
    from ..host import Message

    start, destinations = network.node(single["source"], "source"), single["destinations"]
    ends = [destinations] if isinstance(destinations, int) else destinations
    return [Message(0, start, tuple(network.destination_set(ends, start)), single["length"])]


@contextlib.contextmanager
def _messages_named(file: "MessageFile | None") -> Iterator[None]:
    """Add the file's name and the message's number to the refusal of a message from a file."""
    try:
        yield
    except MessageError as error:
        if file is None:
            raise
        raise file.refused(error.message, error.reason) from error


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HuntResult(CommandResult):
    """Result of `hunt`: the fewest messages found that deadlock, or none.

    Parameters
    ----------
    hunt : Hunt
        The search.
    setup : Setup
        Topology, scheme and hardware.
    written : dict of str to Path
        Files that the command has written, by content.
    command : str or None
        Command line that sends the messages again.
    """

    hunt: "Hunt"
    setup: Setup
    written: dict[str, Path] = field(default_factory=dict)
    command: str | None = None

    @property
    def found(self) -> bool:
        """A deadlock was found."""
        return self.run is not None

    @property
    def exit_code(self) -> Exit:
        """Exit code of ``wormcast hunt``."""
        return Exit.DEADLOCK if self.found else Exit.DONE

    @property
    def run(self) -> "Run | None":
        """Run of the messages, which ends in the deadlock; None if no deadlock was found."""
        return self.hunt.result

    @property
    def messages(self) -> "tuple[Message, ...]":
        """Messages that deadlock; empty if no deadlock was found."""
        return () if self.run is None else self.run.messages

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each message of the reduced deadlock."""
        name = self.setup.topology.node_name
        return [{"cycle": one.at, "source": name(one.source), "destinations": " ".join(map(name, one.destinations)),
                 "length": one.length} for one in self.messages]

    def _figure(self) -> "Figure":
        """Return a Gantt chart of the deadlock.

        Raises
        ------
        WormcastError
            No deadlock was found.
        """
        if self.run is None:
            raise WormcastError("plot: no deadlock was found, so there is nothing to draw. Needed: a result whose "
                                "attribute found is True.")
        from ..experiments.gantt import gantt_figure

        return gantt_figure(self.run)

    def replay(self, path: PathLike | None = None) -> Replay:
        """Return the replay of the deadlock; see `RunResult.replay`.

        Raises
        ------
        WormcastError
            No deadlock was found.
        """
        if self.run is None:
            raise WormcastError("replay: no deadlock was found, so there is nothing to replay. Needed: a result "
                                "whose attribute found is True.")
        return _replay(self.run, path)

    def _data(self) -> dict[str, Any]:
        found, result = self.hunt, self.run
        if result is None:
            return {"found": False, "searched": dataclasses.asdict(found.searched)}
        return {
            "found": True, "searched": dataclasses.asdict(found.searched), "fewer": dataclasses.asdict(found.fewer),
            "first": found.first, "tried": found.tried, "minimal": found.minimal,
            "messages": [dataclasses.asdict(message) for message in result.messages],
            "deadlock": None if result.deadlock is None else result.deadlock.to_dict(),
            "files": {what: str(path) for what, path in self.written.items()}, "command": self.command,
        }

    def _lines(self) -> list[str]:
        what = f"{self.setup.scheme.name} on {self.setup.topology.name}"
        extent = f"{self.hunt.searched.cycles} cycles of {count(self.hunt.searched.networks, 'network')} searched"
        if not self.found:
            return [f"{what}: no deadlock found (no proof)", extent]
        minimal = ", minimal" if self.hunt.minimal else ""
        return [f"{what}: a deadlock of {count(len(self.messages), 'message')}{minimal}", extent]


@checked
def hunt(
    topology: TopologyLike,
    scheme: SchemeLike,
    *,
    cycles: int = HUNT_CYCLES,
    length: str | int | Sequence[int] | None = None,
    relation: RelationLike | None = None,
    seed: int = 0,
    progress: bool = True,
    **hardware: Unpack[HardwareOptions],
) -> HuntResult:
    """Simulate random traffic to find messages that deadlock, and reduce these messages to a minimal example.

    Parameters
    ----------
    topology, scheme, relation, hardware
        As for `run`.
    cycles : int
        Number of simulated cycles, summed over all networks, after which the search for a deadlock ends. Networks are
        simulated in batches, and the search ends with a whole batch. The cycles of later searches for smaller examples
        are not counted.
    length : int, (int, int) or "A:B", optional
        Shortest and longest payload of a message in flits; one number: all payloads have this length.
    seed : int
        Seed of the random messages.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    """
    setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation,
                      **known("hunt", hardware, TIMED)})
    from ..experiments.hunt import hunt as search
    from ..experiments.hunt import usual_lengths

    lengths = usual_lengths(setup.configuration) if length is None else _lengths(length)
    with watched(progress), progress_bar(cycles, "cycles", shown=progress) as show:
        found = search(setup.topology, setup.scheme, configuration=setup.configuration, cycles=cycles,
                       lengths=lengths, seed=seed, on_batch=show)
    said = length if isinstance(length, str) else "{}:{}".format(*lengths)
    return HuntResult(configuration=setup.to_dict({"cycles": cycles, "length": said}), seed=seed, hunt=found,
                      setup=setup)


def _lengths(given: str | int | Sequence[int]) -> tuple[int, int]:
    """Return the shortest and the longest length: A and B of a text A:B, the two numbers of a pair, or one number
    twice."""
    parts = str(given).split(":") if isinstance(given, str | int) else [*map(str, given)]
    if not (1 <= len(parts) <= 2 and all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts)):
        parts = ["0"]
    shortest, longest = int(parts[0]), int(parts[-1])
    if not 1 <= shortest <= longest <= LONGEST:
        raise WormcastError(f"length: {given!r} is not valid. Allowed: A:B with 1 <= A <= B <= {LONGEST}, the fewest "
                            "and the most flits, or one number of flits.")
    return shortest, longest
