"""Messages in a file, the same for every command that takes one: a line of JSON for each."""

import contextlib
import functools
import gzip
import io
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.file_schema import ALLOWED, FileSchema, given

from ..host import Message

__all__ = ["Line", "MessageFile", "message_schema", "messages_in", "write_messages"]

#: Longest line, in bytes: a message to all nodes of the largest network has a twentieth of it.
LONGEST_LINE = 1 << 20

#: In place of a list of destinations: all other nodes.
ALL = "all"

NODE = {"anyOf": [{"type": "integer"}, {"type": "string"}], ALLOWED: "a node, by number or name"}
EARLIER = {"type": "integer", "minimum": 0, ALLOWED: "the number of an earlier line"}


@functools.cache
def message_schema(most_cycles: int, most_length: int) -> FileSchema:
    """JSON Schema of a line of such a file; see `MessageFile` for the limits."""
    return FileSchema("a message", {
        "type": "object", "required": ["cycle", "source", "destinations", "length"], "additionalProperties": False,
        ALLOWED: "a JSON object with cycle, source, destinations, length",
        "properties": {
            "cycle": {"type": "integer", "minimum": 0, "maximum": most_cycles, "description": "When it is created"},
            "source": NODE,
            "destinations": {"anyOf": [{"enum": [ALL]}, {"type": "array", "items": NODE, "minItems": 1}],
                             ALLOWED: f"a list of nodes, one or more, or {ALL!r}"},
            "length": {"type": "integer", "minimum": 1, "maximum": most_length, "description": "Payload flits"},
            "after": {"anyOf": [EARLIER, {"type": "array", "items": EARLIER}],
                      ALLOWED: "numbers of earlier lines", "description": "Lines that its source receives before"},
        }})


class Line(NamedTuple):
    """One line of a file of messages, and the byte behind it."""

    cycle: int
    source: int
    destinations: list[int]
    length: int
    after: list[int]
    end: int


@dataclass(frozen=True)
class MessageFile:
    """A file of JSON lines, each a message.

    A line is ``{"cycle": C, "source": NODE, "destinations": [NODE, ...], "length": L}``, and may have ``"after": K`` or
    ``"after": [K, ...]``, numbers of earlier lines, the first being 0. A file that begins with ``[`` is one JSON list
    of such messages, with ``at`` in place of ``cycle``: read whole, and taken for its entries' lines. A byte order mark
    before all, and blank lines, are ignored; the latter have no number.

    Nothing of it is in memory.

    Parameters
    ----------
    path : str
        The file; compressed by gzip if its name ends in ``.gz``.
    what : str
        What sentences call it: the option that it is given by.
    most_cycles, most_length : int
        The last cycle and the most payload flits that a message may have.
    """

    path: str
    what: str
    most_cycles: int
    most_length: int

    def read(self, topology: Topology, start: int = 0, number: int = 0) -> Iterator[Line]:
        """Read the lines from a byte on, which is where line ``number`` begins.

        Raises
        ------
        WormcastError
            The file cannot be read; a line is no message of this network, whatever the others say.
        """
        end = start
        try:
            with open(self.path, "rb") as opened:
                lines = self._lines(opened)
                if start:
                    lines.seek(start)
                while text := lines.readline(LONGEST_LINE):
                    begins, end = not end, end + len(text)
                    if begins:
                        text = text.removeprefix(BOM_UTF8)
                    if not text.strip():
                        continue
                    with self.named(number):
                        line = self._line(topology, text, number, end)
                    yield line
                    number += 1
        except (OSError, EOFError, zlib.error) as error:
            raise WormcastError(f"{self.what}: {self.path} cannot be read: {getattr(error, 'strerror', None) or error}"
                                ) from error

    def _lines(self, opened: io.BufferedReader) -> IO[bytes]:
        """The file's lines; of a list one for each entry."""
        lines: Any = gzip.open(opened) if self.path.endswith(".gz") else opened  # noqa: SIM115
        if not lines.peek(1).removeprefix(BOM_UTF8).lstrip().startswith(b"["):
            return lines
        try:
            entries = json.loads(lines.read())  # which knows the byte order mark
        except (ValueError, RecursionError) as error:
            raise WormcastError(f"{self.what}: {self.path} begins with [ and is no JSON list: {error}") from error
        renamed = ({"cycle" if key == "at" else key: value for key, value in entry.items()}
                   if isinstance(entry, dict) else entry for entry in entries)
        return io.BytesIO("".join(json.dumps(entry) + "\n" for entry in renamed).encode())

    @contextlib.contextmanager
    def named(self, number: int) -> Iterator[None]:
        """Name the line in what is refused of it."""
        try:
            yield
        except WormcastError as error:
            raise self.refused(number, str(error)) from error

    def refused(self, number: int, why: str) -> WormcastError:
        """What to raise of a line."""
        return WormcastError(f"{self.what}: {self.path}, line {number} (from 0): {why}")

    def _line(self, topology: Topology, text: bytes, number: int, end: int) -> Line:
        """Take a line apart."""
        if len(text) == LONGEST_LINE:
            raise WormcastError(f"{LONGEST_LINE} bytes or more are given, a line must have fewer")
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise WormcastError(f"no JSON is given: {error}") from error
        message_schema(self.most_cycles, self.most_length).require(entry)
        nodes, after = entry["destinations"], entry.get("after", [])
        source = _node(topology, entry["source"])
        destinations = (topology.destination_set(ALL, source) if nodes == ALL
                        else [_node(topology, node) for node in nodes])
        if len({source, *destinations}) <= len(destinations):
            raise WormcastError("a destination is given twice, or is the source; destinations must be distinct other "
                                "nodes")
        if not isinstance(after, list):
            after = [after]
        if any(other >= number for other in after) or len(set(after)) < len(after):
            raise WormcastError(f"after: {given(entry['after'])} is given, allowed are numbers of earlier lines, each "
                                "once")
        return Line(entry["cycle"], source, destinations, entry["length"], after, end)


def _node(topology: Topology, node: Any) -> int:
    return node if type(node) is int and 0 <= node < topology.nodes else topology.node(node)


def messages_in(file: MessageFile, topology: Topology) -> list[Message]:
    """Read all messages of a file, in any order of their cycles.

    Raises
    ------
    WormcastError
        See `MessageFile.read`.
    """
    return [Message(line.cycle, line.source, tuple(line.destinations), line.length, tuple(line.after))
            for line in file.read(topology)]


def write_messages(messages: Iterable[Message], topology: Topology, path: Path) -> None:
    """Write messages as such a file, nodes by their names."""
    lines = []
    for message in messages:
        line = {"cycle": message.at, "source": topology.node_name(message.source),
                "destinations": [topology.node_name(node) for node in message.destinations], "length": message.length}
        lines.append(json.dumps(line | ({"after": list(message.after)} if message.after else {})) + "\n")
    path.write_text("".join(lines))
