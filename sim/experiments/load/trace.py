"""Trace: traffic from a file of messages."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.errors import unreadable
from wormcast.algorithms.typecheck import require_kind

from ...build.limits import MOST_LOAD_CYCLES
from ...build.traffic import LONGEST
from ...host import NEVER
from ..message_file import Line, MessageFile, unreceived
from .created import NO_WAITS, Created

__all__ = ["Trace", "TraceSource"]


class TraceFacts(NamedTuple):
    """Facts of a trace that has been read completely."""

    lines: int
    last: int  # cycle of the last line
    most_destinations: int


@dataclass(frozen=True)
class Trace:
    """Messages of a file (`MessageFile`) with lines in the order of their cycles.

    A message is created in its cycle, or in the cycle in which its source notes the last receipt of the messages that
    it is ``after``, whichever is later. A message to one node counts as a unicast.

    The file is read once for a complete check, and again step by step during the simulation. The file must not change
    until the simulation has ended.

    Parameters
    ----------
    path : str

    Attributes
    ----------
    sha256 : str
        Digest of the file's bytes, as printed by ``sha256sum``.
    """

    path: str
    sha256: str = field(init=False)
    _file: MessageFile = field(init=False, repr=False, compare=False)
    _stamp: tuple[int, int] = field(init=False, repr=False, compare=False)
    _facts: dict[Topology, TraceFacts] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind("trace", self.path, str, os.PathLike)
        object.__setattr__(self, "path", os.fspath(self.path))
        object.__setattr__(self, "_file", MessageFile(self.path, "trace", MOST_LOAD_CYCLES - 1, LONGEST))
        if os.path.exists(self.path) and not os.path.isfile(self.path):  # a pipe can be read only once
            raise WormcastError(f"trace: {self.path} is not valid. Allowed: a regular file.")
        object.__setattr__(self, "_stamp", self._stamp_now())
        with open(self.path, "rb") as opened:
            object.__setattr__(self, "sha256", hashlib.file_digest(opened, "sha256").hexdigest())

    def _stamp_now(self) -> tuple[int, int]:
        """Return size and modification time of the file, which change when it is written to."""
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise unreadable("trace", Path(self.path), error) from error
        return status.st_size, status.st_mtime_ns

    def read(self, topology: Topology, start: int = 0, number: int = 0) -> Iterator[Line]:
        """Read the lines from byte ``start`` on, at which line ``number`` begins.

        Raises
        ------
        WormcastError
            See `MessageFile.read`; or the file has changed.
        """
        self._check_same()
        yield from self._file.read(topology, start, number)
        self._check_same()

    def _check_same(self) -> None:
        if self._stamp_now() != self._stamp:
            raise WormcastError(f"trace: {self.path} has changed while it was used. Needed: a file that stays the "
                                "same.")

    def facts(self, topology: Topology) -> TraceFacts:
        """Read and check the whole file. Memory grows with the file's length only if the file is a JSON list.

        Raises
        ------
        WormcastError
            The file cannot be read or has no line; a line is not a message of this network, is not in the order of the
            cycles, or waits for a receipt that its source never gets.
        """
        if topology not in self._facts:
            self._facts[topology] = self._check(topology)
        return self._facts[topology]

    def _check(self, topology: Topology) -> TraceFacts:
        lines, last, most = 0, 0, 0
        row = -(-topology.nodes // 8)
        with tempfile.TemporaryFile() as sets:  # each line's destinations, a bit for each node
            for line in self.read(topology):
                with self._file.named(lines):
                    if line.cycle < last:
                        raise WormcastError(f"cycle {line.cycle} is not valid after a message with cycle {last}. "
                                            "Needed: messages in the order of their cycles.")
                    for other in line.after:
                        if not _is_destination(sets, row, line.source, other):
                            receives = partial(_is_destination, sets, row, line.source)
                            raise unreceived(other, lines, topology.node_title(line.source),
                                             filter(receives, range(lines)))
                if line.after:
                    sets.seek(lines * row)
                sets.write(sum(1 << node for node in line.destinations).to_bytes(row, "little"))
                lines, last, most = lines + 1, line.cycle, max(most, len(line.destinations))
        if not lines:
            raise self._file.without_messages()
        return TraceFacts(lines, last, most)

    def most_destinations(self, topology: Topology) -> int:
        """Return the greatest number of destinations of a message."""
        return self.facts(topology).most_destinations

    def check(self, topology: Topology, links: np.ndarray) -> None:
        """Refuse a file that is not a trace of this network. The nodes' bandwidth is not checked, because the messages
        of a trace are finite in number."""
        self.facts(topology)

    def source(self, topology: Topology, seed: int) -> "TraceSource":
        """Return a stream of the messages. The seed is ignored."""
        return TraceSource(self, topology)

    @property
    def words(self) -> str:
        """The trace in words."""
        return f"trace {self.path}"

    def to_dict(self) -> dict[str, Any]:
        """Return the trace's path and digest as plain data for JSON."""
        return {"trace": self.path, "trace_sha256": self.sha256}


def _is_destination(sets: IO[bytes], row: int, node: int, line: int) -> bool:
    """Return whether a node is a destination of a line. ``sets`` has ``row`` bytes for each line, a bit for each
    node."""
    sets.seek(line * row + node // 8)
    return bool(sets.read(1)[0] >> node % 8 & 1)


class TraceSource:
    """Messages of a trace, read as time proceeds. The cycles for which `until` is called do not affect the messages."""

    def __init__(self, trace: Trace, topology: Topology):
        self.trace = trace
        self.topology = topology
        self.state = np.zeros(2, np.int64)

    @property
    def state(self) -> np.ndarray:
        """Position in the (uncompressed) file: byte and number of the next line.

        If the position is set, reading continues there.
        """
        return np.array([self._start, self._number])

    @state.setter
    def state(self, state: np.ndarray) -> None:
        self._start, self._number = map(int, state)
        self._lines = self.trace.read(self.topology, self._start, self._number)
        self._next = next(self._lines, None)

    @property
    def ended(self) -> bool:
        """There are no further messages."""
        return self._next is None

    @property
    def next(self) -> int:
        """Cycle of the next message, or `NEVER`."""
        return NEVER if self._next is None else self._next.cycle

    def until(self, cycle: int) -> Created:
        """Read the messages of all cycles before ``cycle`` that are not read yet."""
        lines: list[Line] = []
        waits: list[tuple[int, int]] = []
        while self._next is not None and self._next.cycle < cycle:
            line = self._next
            waits += [(len(lines), self._number - other) for other in line.after]
            lines.append(line)
            self._start, self._number = line.end, self._number + 1
            self._next = next(self._lines, None)
        counts = np.array([len(line.destinations) for line in lines], np.int64)
        return Created(
            at=np.array([line.cycle for line in lines], np.int64),
            source=np.array([line.source for line in lines], np.int32),
            length=np.array([line.length for line in lines], np.int64),
            multicast=counts > 1,
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            destinations=np.array([node for line in lines for node in line.destinations], np.int32),
            waits=np.array(waits, np.int64) if waits else NO_WAITS,
        )
