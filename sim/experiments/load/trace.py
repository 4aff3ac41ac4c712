"""Traffic from a file: a line for each message."""

import contextlib
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

import numpy as np

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.kinds import require_kind

from .created import NO_WAITS, Created
from .traffic import LONGEST

__all__ = ["MOST_CYCLES", "Trace", "TraceSource"]

MOST_CYCLES = 2**32

#: Longest line, in bytes: a message to all nodes of the largest network has a twentieth of it.
LONGEST_LINE = 1 << 20

KEYS = {"cycle", "source", "destinations", "length"}


class Line(NamedTuple):
    """One line of a trace, and the byte behind it."""

    cycle: int
    source: int
    destinations: list[int]
    length: int
    after: list[int]
    end: int


class Facts(NamedTuple):
    """What is known of a trace that has been read from beginning to end."""

    lines: int
    last: int  # cycle of the last line
    most_destinations: int


@dataclass(frozen=True)
class Trace:
    """The messages of a file of JSON lines, in the order of their cycles.

    A line is ``{"cycle": C, "source": NODE, "destinations": [NODE, ...], "length": L}``, and may have ``"after": K`` or
    ``"after": [K, ...]``, numbers of earlier lines, the first being 0: the message is created in cycle C, or in the
    cycle in which its source notes the last of its receipts of those lines' messages, whichever is later. A message to
    one node counts as a unicast.

    The file is read once to check all of it, and again, as time goes on, while it is run; it must stay as it is.

    Parameters
    ----------
    path : str
        The file; compressed by gzip if its name ends in ``.gz``.

    Attributes
    ----------
    sha256 : str
        Digest of the file's bytes, as ``sha256sum`` gives it.

    Raises
    ------
    WormcastError
        The file cannot be read; and see `facts`.
    """

    path: str
    sha256: str = field(init=False)
    _stamp: tuple[int, int] = field(init=False, repr=False, compare=False)
    _facts: dict[Topology, Facts] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_kind("trace", self.path, str, os.PathLike)
        object.__setattr__(self, "path", os.fspath(self.path))
        if os.path.exists(self.path) and not os.path.isfile(self.path):  # what can be read only once
            raise WormcastError(f"trace: {self.path} is no ordinary file, it must be one")
        try:
            with open(self.path, "rb") as opened:
                object.__setattr__(self, "_stamp", _stamp(opened))
                object.__setattr__(self, "sha256", hashlib.file_digest(opened, "sha256").hexdigest())
        except OSError as error:
            raise WormcastError(f"trace: {self.path} cannot be read: {error.strerror}") from error

    def facts(self, topology: Topology) -> Facts:
        """Read all of it; what is in memory does not grow with it.

        Raises
        ------
        WormcastError
            The file cannot be read or has no line; a line is no message of this network, is not in the order of the
            cycles, or waits for a receipt that its source never gets.
        """
        if topology not in self._facts:
            self._facts[topology] = self._check(topology)
        return self._facts[topology]

    def _check(self, topology: Topology) -> Facts:
        lines, last, most = 0, 0, 0
        row = -(-topology.nodes // 8)
        with tempfile.TemporaryFile() as sets:  # each line's destinations, a bit for each node
            for line in self.read(topology):
                with self._named(lines):
                    if line.cycle < last:
                        raise WormcastError(f"cycle {line.cycle} is given behind one of cycle {last}, lines must be in "
                                            "the order of their cycles")
                    for other in line.after:
                        sets.seek(other * row + line.source // 8)
                        if not sets.read(1)[0] >> line.source % 8 & 1:
                            raise WormcastError(f"after {other} is given, of which node "
                                                f"{topology.node_name(line.source)}, the source, is no destination")
                if line.after:
                    sets.seek(lines * row)
                sets.write(sum(1 << node for node in line.destinations).to_bytes(row, "little"))
                lines, last, most = lines + 1, line.cycle, max(most, len(line.destinations))
        if not lines:
            raise WormcastError(f"trace: {self.path} has no line, it must have one for each message")
        return Facts(lines, last, most)

    def read(self, topology: Topology, start: int = 0, number: int = 0) -> Iterator[Line]:
        """Read the lines from a byte on, which is where line ``number`` begins.

        Raises
        ------
        WormcastError
            A line is no message of this network, whatever the others say; the file is no longer what it was.
        """
        end = start
        try:
            with self._open() as opened:
                self._check_same(opened)
                opened.seek(start)
                while text := opened.readline(LONGEST_LINE):
                    end += len(text)
                    with self._named(number):
                        line = _line(topology, text, number, end)
                    yield line
                    number += 1
                self._check_same(opened)
        except (OSError, EOFError, zlib.error) as error:
            raise WormcastError(f"trace: {self.path} cannot be read: {getattr(error, 'strerror', None) or error}"
                                ) from error

    def _check_same(self, opened: IO[bytes]) -> None:
        if _stamp(opened) != self._stamp:
            raise WormcastError(f"trace: {self.path} has changed since it was given, it must stay as it is")

    def _open(self) -> IO[bytes]:
        if self.path.endswith(".gz"):
            return gzip.open(self.path)  # type: ignore[return-value]
        return open(self.path, "rb")

    @contextlib.contextmanager
    def _named(self, number: int) -> Iterator[None]:
        """Name the line in what is refused of it."""
        try:
            yield
        except WormcastError as error:
            raise WormcastError(f"trace: {self.path}, line {number} (from 0): {error}") from error

    def most_destinations(self, topology: Topology) -> int:
        """Most destinations of a message."""
        return self.facts(topology).most_destinations

    def check(self, topology: Topology, links: np.ndarray) -> None:
        """Refuse a file that is no trace of this network; a finite one may ask for more than nodes take at a time."""
        self.facts(topology)

    def source(self, topology: Topology, seed: int) -> "TraceSource":
        """Begin its messages; the seed means nothing."""
        return TraceSource(self, topology)

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON: its path and what is in it."""
        return {"trace": self.path, "trace_sha256": self.sha256}


def _stamp(opened: IO[bytes]) -> tuple[int, int]:
    """What tells whether a file has been written to."""
    told = os.fstat(opened.fileno())
    return told.st_size, told.st_mtime_ns


def _line(topology: Topology, text: bytes, number: int, end: int) -> Line:
    """Take a line apart."""
    if len(text) == LONGEST_LINE:
        raise WormcastError(f"{LONGEST_LINE} bytes or more are given, a line must have fewer")
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WormcastError(f"no JSON is given: {error}") from error
    if not isinstance(entry, dict) or set(entry) - {"after"} != KEYS:
        what = f"{{{', '.join(sorted(entry))}}}" if isinstance(entry, dict) else "no JSON object"
        raise WormcastError(f"{what} is given, it must have {', '.join(sorted(KEYS))}, and may have after")
    for key, least, most in (("cycle", 0, MOST_CYCLES - 1), ("length", 1, LONGEST)):
        if type(entry[key]) is not int or not least <= entry[key] <= most:
            raise WormcastError(f"{key} {entry[key]!r} is given, allowed are {least} to {most}")
    nodes, after = entry["destinations"], entry.get("after", [])
    if not isinstance(nodes, list) or not nodes:
        raise WormcastError(f"destinations {nodes!r} is given, it must be a list of nodes, one or more")
    source = _node(topology, entry["source"])
    destinations = [_node(topology, node) for node in nodes]
    if len({source, *destinations}) <= len(destinations):
        raise WormcastError("a destination is given twice, or is the source; destinations must be distinct other nodes")
    if not isinstance(after, list):
        after = [after]
    if any(type(other) is not int or not 0 <= other < number for other in after) or len(set(after)) < len(after):
        raise WormcastError(f"after {entry['after']!r} is given, allowed are numbers of earlier lines, each once")
    return Line(entry["cycle"], source, destinations, entry["length"], after, end)


def _node(topology: Topology, node: Any) -> int:
    if type(node) is int and 0 <= node < topology.nodes:
        return node
    if isinstance(node, bool):
        raise WormcastError(f"node {node!r} is given, it must be a whole number or text")
    return topology.node(node)


class TraceSource:
    """The messages of a trace, read as time goes on: the same ones, however the time is cut.

    Parameters
    ----------
    trace : Trace
    topology : Topology
    """

    def __init__(self, trace: Trace, topology: Topology):
        self.trace = trace
        self.topology = topology
        self.state = np.zeros(2, np.int64)

    @property
    def state(self) -> np.ndarray:
        """Where it is in the (uncompressed) file: byte and number of the next line; it goes on from one that is set."""
        return np.array([self._start, self._number])

    @state.setter
    def state(self, state: np.ndarray) -> None:
        self._start, self._number = map(int, state)
        self._lines = self.trace.read(self.topology, self._start, self._number)
        self._next = next(self._lines, None)

    @property
    def ended(self) -> bool:
        """Whether there are no further messages."""
        return self._next is None

    def until(self, cycle: int) -> Created:
        """Read the messages of all cycles before this one that are not read yet."""
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
